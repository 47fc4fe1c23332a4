//! For build scripts: the files of a folder as a constant, so that a new one is a new file and nothing else.

use std::path::Path;
use std::{env, fs};

/// Writes `OUT_DIR/NAME.rs`: the names and texts of the folder's TOML files as `&[(&str, &str)]`, by name.
pub(crate) fn embed(folder: &str, name: &str) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    println!("cargo::rerun-if-changed={}", folder.display());
    let files = fs::read_dir(&folder).expect("the folder is part of the source");
    let paths = files.map(|file| file.expect("the folder can be listed").path());
    let mut paths: Vec<_> =
        paths.filter(|path| path.extension().is_some_and(|ending| ending == "toml")).collect();
    paths.sort_by_key(|path| path.file_stem().map(ToOwned::to_owned));
    let entries = paths.iter().map(|path| {
        let name = path.file_stem().expect("it has one");
        format!("({name:?}, include_str!({path:?})),\n")
    });
    let list = format!("&[{}]", entries.collect::<String>());
    let target = Path::new(&env::var("OUT_DIR").expect("cargo sets it")).join(format!("{name}.rs"));
    fs::write(target, list).expect("cargo's folder can be written");
}
