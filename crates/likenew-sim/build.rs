//! Lists the files of the catalog, so that a new drive is a new file and nothing else.

#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    reason = "it speaks to cargo, and writes where cargo says"
)]

#[path = "toml_files.rs"]
mod toml_files;

fn main() {
    toml_files::embed("../../catalog", "catalog");
}
