//! All parsers as targets, with inputs that they accept.

mod bundles;
mod real;
mod runs;
mod stored_files;
mod text_formats;
mod traces;

use std::path::{Path, PathBuf};

use likenew_report::labeled_document::LabeledDocument;
use likenew_report::terminal::{Terminal, View, show};

use crate::{Input, Target};

/// All targets.
pub fn all() -> Vec<Target> {
    [
        text_formats::targets(),
        traces::targets(),
        real::targets(),
        stored_files::targets(),
        runs::targets(),
        bundles::targets(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// A path in the workspace.
fn place(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)
}

/// The contents of a file in the workspace.
fn file(path: &str) -> Vec<u8> {
    let path = place(path);
    std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Each file in a folder of the workspace as an input, sorted by name.
fn named_files(folder: &str) -> Vec<(String, Input)> {
    let entries = std::fs::read_dir(place(folder)).unwrap_or_else(|error| panic!("{folder}: {error}"));
    let mut paths: Vec<PathBuf> =
        entries.map(|entry| entry.expect("a folder that can be read").path()).collect();
    paths.retain(|path| path.is_file());
    paths.sort();
    let named = |path: &PathBuf| {
        let name = path.file_name().expect("a file has a name").to_string_lossy().into_owned();
        (name, vec![std::fs::read(path).expect("a file that can be read")])
    };
    paths.iter().map(named).collect()
}

/// Each file with this ending in a folder of the workspace, as an input.
fn files(folder: &str, ending: &str) -> Vec<Input> {
    let files = named_files(folder).into_iter().filter(|(name, _)| name.ends_with(ending));
    let inputs: Vec<Input> = files.map(|(_, input)| input).collect();
    assert!(!inputs.is_empty(), "{folder} has files");
    inputs
}

/// Inputs of one part each.
fn texts(texts: &[&str]) -> Vec<Input> {
    texts.iter().map(|text| vec![text.as_bytes().to_vec()]).collect()
}

/// A temporary folder, in memory if possible.
fn memory_folder() -> tempfile::TempDir {
    let memory = Path::new("/dev/shm");
    let made = if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() };
    made.expect("a folder for inputs that are files")
}

/// The first part, if it is text.
fn text(parts: &[Vec<u8>]) -> Option<&str> {
    std::str::from_utf8(parts.first()?).ok()
}

/// Shows documents in every view. Checks that the screen keeps to its lines.
fn show_all_views(documents: &[LabeledDocument]) {
    for view in [View::Screen, View::Details, View::Line] {
        let terminal =
            Terminal { view, details_command: Some("likenew report".into()), ..Terminal::default() };
        let text = show(documents, &terminal);
        assert!(view != View::Screen || text.lines().count() <= 30, "a screen has at most 30 lines");
    }
}
