//! Reads `catalog/rated`, refuses what is wrong by file and line, and writes the rest in one piece, so that nothing is parsed
//! when a drive is looked up.

#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    reason = "it speaks to cargo, and writes where cargo says"
)]

use std::path::Path;
use std::{env, fs};

#[path = "src/book.rs"]
#[allow(dead_code, unreachable_pub, reason = "the library uses the rest")]
mod book;
#[path = "src/reading.rs"]
mod reading;

fn main() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../catalog/rated");
    println!("cargo::rerun-if-changed={}", folder.display());
    let files = fs::read_dir(&folder).expect("the rated figures are part of the source");
    let paths = files.map(|file| file.expect("the folder can be listed").path());
    let mut paths: Vec<_> =
        paths.filter(|path| path.extension().is_some_and(|extension| extension == "toml")).collect();
    paths.sort();
    let texts: Vec<(String, String)> = paths
        .iter()
        .map(|path| {
            let file = path.file_name().expect("a file of the folder").display();
            (
                format!("catalog/rated/{file}"),
                fs::read_to_string(path).expect("a file of the folder can be read"),
            )
        })
        .collect();
    let book = match reading::read(&texts) {
        Ok(book) => book,
        Err(wrong) => {
            for line in &wrong {
                println!("cargo::error={line}");
            }
            return;
        }
    };
    let bytes = postcard::to_stdvec(&book).expect("a book of plain values");
    let target = Path::new(&env::var("OUT_DIR").expect("cargo sets it")).join("rated.bin");
    fs::write(target, bytes).expect("cargo's folder can be written");
}
