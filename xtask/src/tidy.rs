//! Checks rules of the project that no compiler checks.

mod circles;
mod literals;
mod manifests;
mod pages;
mod prose;
mod sources;

use std::path::{Path, PathBuf};

use anyhow::bail;
use walkdir::WalkDir;

use crate::root;

/// Checks all rules, and prints violations.
pub(crate) fn run() -> anyhow::Result<()> {
    let root = root();
    let mut violations = manifests::wrong_imports(&root)?;
    violations.extend(manifests::leaked_features(&root)?);
    violations.extend(circles::violations(&root, &sources(&root))?);
    violations.extend(sources::long_functions(&root, &sources(&root))?);
    violations.extend(sources::refused_words(&root, &sources(&root))?);
    violations.extend(pages::broken_links(&root)?);
    violations.extend(prose::refused_phrases(&root)?);
    violations.extend(prose::stray_sentences(&root)?);
    violations.extend(pages::unkept_guarantees(&root, &sources(&root))?);
    violations.extend(leftovers(&root));
    if violations.is_empty() {
        println!("tidy: no violations");
        return Ok(());
    }
    for violation in &violations {
        println!("violation: {violation}");
    }
    bail!("tidy: {} violations", violations.len())
}

/// Drafts, and files that editors and merges leave behind, which `git add` might include.
fn leftovers(root: &Path) -> impl Iterator<Item = String> {
    let of_ending = |ending| files(&[root.to_owned()], ending);
    let paths = ["bak", "new", "orig", "rej", "swp"].into_iter().flat_map(of_ending);
    paths.map(|path| format!("{}: a draft or leftover; remove it", path.display()))
}

/// All Rust files of the workspace.
pub(crate) fn sources(root: &Path) -> Vec<PathBuf> {
    files(&[root.join("crates"), root.join("xtask")], "rs")
}

/// All files with this ending below these folders, sorted.
pub(crate) fn files(folders: &[PathBuf], ending: &str) -> Vec<PathBuf> {
    let ours = |name: &str| !matches!(name, "target" | "node_modules" | ".git" | "dist");
    let mut files: Vec<PathBuf> = folders
        .iter()
        .flat_map(|folder| {
            WalkDir::new(folder).into_iter().filter_entry(move |e| ours(&e.file_name().to_string_lossy()))
        })
        .filter_map(Result::ok)
        .map(walkdir::DirEntry::into_path)
        .filter(|path| path.extension().is_some_and(|extension| extension == ending))
        .collect();
    files.sort();
    files
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_draft_is_a_violation() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("wording.rs.new"), "").unwrap();
        std::fs::write(folder.path().join("wording.rs"), "").unwrap();
        let drafts: Vec<String> = super::leftovers(folder.path()).collect();
        assert!(matches!(&drafts[..], [draft] if draft.contains("wording.rs.new: ")), "{drafts:?}");
    }
}
