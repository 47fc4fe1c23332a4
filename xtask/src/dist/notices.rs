//! The licences of everything that the binary contains: crates, C libraries in crates, and packages of the web page.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use serde_json::Value;
use xshell::{Shell, cmd};

use super::TRIPLE;
use crate::root;

/// How the names of licence files begin.
const LICENCE_FILES: [&str; 5] = ["LICENSE", "LICENCE", "COPYING", "NOTICE", "UNLICENSE"];
/// Folders of C code inside of crates, which has licences of its own.
const C_CODE: [&str; 2] = ["zstd", "sqlite3"];

/// All notices as one Markdown text, each distinct text once.
pub(super) fn collect(sh: &Shell) -> anyhow::Result<String> {
    let mut holders: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let mut overview = String::new();
    for Crate { name, licence, folder } in crates(sh)? {
        let texts = licence_texts(&folder)?;
        let lack = if texts.is_empty() { " (its authors publish no text with it)" } else { "" };
        overview += &format!("- {name}: {licence}{lack}\n");
        for text in texts {
            holders.entry(text).or_default().insert(name.clone());
        }
    }
    let page = root().join("web/dist/licenses.md");
    let page =
        std::fs::read_to_string(&page).with_context(|| format!("could not read {}", page.display()))?;
    let mut text = format!(
        "# Third-party software\n\nThe program contains these crates, under these licences:\n\n{overview}"
    );
    for (licence, names) in holders {
        let names: Vec<String> = names.into_iter().collect();
        text += &format!("\n## {}\n\n{}\n", names.join(", "), licence.trim_end());
    }
    Ok(format!("{text}\n# Software in the pages of reports\n\n{}\n", page.trim_end()))
}

struct Crate {
    name: String,
    licence: String,
    folder: PathBuf,
}

/// All crates that are linked, other than our own.
fn crates(sh: &Shell) -> anyhow::Result<Vec<Crate>> {
    let tree =
        cmd!(sh, "cargo tree --locked --package likenew --edges normal,no-proc-macro --target {TRIPLE}")
            .args(["--prefix", "none", "--format", "{p}"])
            .quiet()
            .read()?;
    let linked: BTreeSet<(&str, &str)> = tree
        .lines()
        .filter_map(|line| {
            let mut words = line.split(' ');
            Some((words.next()?, words.next()?.strip_prefix('v')?))
        })
        .collect();
    let metadata =
        cmd!(sh, "cargo metadata --locked --format-version 1 --filter-platform {TRIPLE}").quiet().read()?;
    let metadata: Value = serde_json::from_str(&metadata)?;
    let packages = metadata["packages"].as_array().context("cargo lists no packages")?;
    let mut crates = Vec::new();
    for package in packages.iter().filter(|package| !package["source"].is_null()) {
        let field = |name: &str| package[name].as_str().unwrap_or_default();
        if linked.contains(&(field("name"), field("version"))) {
            crates.push(Crate {
                name: format!("{} {}", field("name"), field("version")),
                licence: field("license").to_owned(),
                folder: Path::new(field("manifest_path"))
                    .parent()
                    .context("a manifest lies in a folder")?
                    .to_owned(),
            });
        }
    }
    crates.sort_by(|a, b| a.name.cmp(&b.name));
    anyhow::ensure!(crates.len() > 100, "only {} crates were found", crates.len());
    Ok(crates)
}

/// The texts of all licence files of a crate.
fn licence_texts(folder: &Path) -> anyhow::Result<Vec<String>> {
    let folders = std::iter::once(folder.to_owned()).chain(C_CODE.iter().map(|name| folder.join(name)));
    let mut texts = Vec::new();
    for folder in folders.filter(|folder| folder.is_dir()) {
        for entry in std::fs::read_dir(folder)? {
            let path = entry?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy().to_uppercase();
            if path.is_file() && LICENCE_FILES.iter().any(|start| name.starts_with(start)) {
                texts.push(std::fs::read_to_string(&path)?.replace("\r\n", "\n"));
            }
        }
    }
    Ok(texts)
}
