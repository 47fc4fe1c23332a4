//! Shows documents that were written with `--json`: `show text 80 FILE…` on a terminal, `show html FILE…` as a page.

use std::error::Error;
use std::fs;

use likenew_report::document::Document;
use likenew_report::labelled::{Labelled, label_all};
use likenew_report::terminal::{Terminal, show};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["text", width, ref files @ ..] => {
            print!("{}", show(&read(files)?, &Terminal { width: width.parse()?, colour: false }));
        }
        ["html", ref files @ ..] => print!("{}", likenew_report::html::page(&read(files)?)?),
        _ => return Err("write: show text COLUMNS FILE… or show html FILE…".into()),
    }
    Ok(())
}

fn read(files: &[&str]) -> Result<Vec<Labelled>, Box<dyn Error>> {
    let document = |file: &&str| -> Result<Document, Box<dyn Error>> {
        Ok(Document::from_json(&fs::read_to_string(file)?).map_err(|error| format!("{file}: {error}"))?)
    };
    Ok(label_all(files.iter().map(document).collect::<Result<_, _>>()?))
}
