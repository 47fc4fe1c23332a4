//! Lists the files of the catalog, so that a new drive is a new file and nothing else.

#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    reason = "it speaks to cargo, and writes where cargo says"
)]

use std::path::{Path, PathBuf};
use std::{env, fs};

fn main() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../catalog");
    println!("cargo::rerun-if-changed={}", folder.display());
    let files = fs::read_dir(&folder).expect("the catalog is part of the source");
    let paths = files.map(|file| file.expect("the catalog can be listed").path());
    let mut drives: Vec<_> =
        paths.filter(|path| path.extension().is_some_and(|ending| ending == "toml")).collect();
    drives.sort_by_key(|path| path.file_stem().map(ToOwned::to_owned));
    let entry =
        |path: &PathBuf| format!("({:?}, include_str!({path:?})),\n", path.file_stem().expect("it has one"));
    let list = format!("&[{}]", drives.iter().map(entry).collect::<String>());
    let target = Path::new(&env::var("OUT_DIR").expect("cargo sets it")).join("catalog.rs");
    fs::write(target, list).expect("cargo's folder can be written");
}
