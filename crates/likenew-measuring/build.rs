//! Lists the files of the applications, so that a new one is a new file and nothing else.

#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    reason = "it speaks to cargo, and writes where cargo says"
)]

#[path = "../likenew-sim/toml_files.rs"]
mod toml_files;

fn main() {
    toml_files::embed("../../apps", "apps");
}
