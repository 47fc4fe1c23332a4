//! The rules of the project that no compiler checks. Violations fail; long files and functions are only
//! named.

mod circles;
mod guarantees;
mod imports;
mod links;
mod phrases;
mod sizes;
mod words;

use std::path::{Path, PathBuf};

use anyhow::bail;
use walkdir::WalkDir;

use crate::root;

/// Checks everything and prints the violations.
pub(crate) fn run() -> anyhow::Result<()> {
    let root = root();
    for question in sizes::questions(&sources(&root))? {
        println!("question: {question}");
    }
    let mut offences = imports::offences(&root)?;
    offences.extend(circles::offences(&root, &sources(&root))?);
    offences.extend(words::offences(&root, &sources(&root))?);
    offences.extend(links::offences(&root)?);
    offences.extend(phrases::offences(&root)?);
    offences.extend(guarantees::offences(&root, &sources(&root))?);
    if offences.is_empty() {
        println!("tidy: nothing to mend");
        return Ok(());
    }
    for offence in &offences {
        println!("offence: {offence}");
    }
    bail!("{} offences against the rules of the house", offences.len())
}

/// All Rust files of the workspace.
fn sources(root: &Path) -> Vec<PathBuf> {
    files(&[root.join("crates"), root.join("xtask")], "rs")
}

/// All files with this ending below these folders, sorted.
fn files(folders: &[PathBuf], ending: &str) -> Vec<PathBuf> {
    let ours = |name: &str| !matches!(name, "target" | "node_modules" | ".git" | "dist");
    let mut files: Vec<PathBuf> = folders
        .iter()
        .flat_map(|folder| {
            WalkDir::new(folder).into_iter().filter_entry(move |e| ours(&e.file_name().to_string_lossy()))
        })
        .filter_map(Result::ok)
        .map(walkdir::DirEntry::into_path)
        .filter(|path| path.extension().is_some_and(|found| found == ending))
        .collect();
    files.sort();
    files
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_house_is_tidy() {
        super::run().unwrap();
    }
}
