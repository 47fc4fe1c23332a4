//! Checks each crate's dependencies against the table in ARCHITECTURE.md. Also checks features: a build of the whole
//! workspace, with tests, turns on more features of dependencies. What works there could fail in the program that users
//! build alone.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use anyhow::Context as _;
use xshell::{Shell, cmd};

/// Crates whose manifest differs from the table.
pub(super) fn wrong_imports(root: &Path) -> anyhow::Result<Vec<String>> {
    let text = std::fs::read_to_string(root.join("ARCHITECTURE.md")).context("ARCHITECTURE.md")?;
    let allowed = table(&text);
    let mut violations = Vec::new();
    let mut folders = vec![root.join("xtask")];
    for entry in std::fs::read_dir(root.join("crates"))? {
        folders.push(entry?.path());
    }
    for folder in folders {
        let name = folder.strip_prefix(root)?.to_string_lossy().into_owned();
        let imports = imports(&folder.join("Cargo.toml"))?;
        match allowed.get(&name) {
            None => violations.push(format!("{name} has no row in ARCHITECTURE.md")),
            Some(allowed) if *allowed != imports => {
                violations.push(format!("{name} imports {imports:?}, and ARCHITECTURE.md says {allowed:?}"));
            }
            Some(_) => {}
        }
    }
    violations.sort();
    Ok(violations)
}

/// Crates that each folder may import, from the table's rows about folders with a manifest.
fn table(text: &str) -> BTreeMap<String, Vec<String>> {
    let rows = text.lines().filter(|line| line.starts_with("| `crates/") || line.starts_with("| `xtask`"));
    rows.filter_map(|row| {
        let columns: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).collect();
        let [room, _, imports] = columns[..] else { return None };
        let mut imports: Vec<String> = imports
            .split(',')
            .map(|import| import.trim().to_owned())
            .filter(|import| !import.is_empty())
            .collect();
        imports.sort();
        Some((room.trim_matches('`').to_owned(), imports))
    })
    .collect()
}

/// The crates of the workspace that a manifest depends on, except for tests.
fn imports(manifest: &Path) -> anyhow::Result<Vec<String>> {
    let text = std::fs::read_to_string(manifest).with_context(|| manifest.display().to_string())?;
    let manifest: toml::Table = text.parse()?;
    let names =
        manifest.get("dependencies").and_then(toml::Value::as_table).into_iter().flat_map(toml::Table::keys);
    let mut rooms: Vec<String> =
        names.filter_map(|name| name.strip_prefix("likenew-")).map(str::to_owned).collect();
    rooms.sort();
    Ok(rooms)
}

/// Dependencies whose further features only add functions. A call without its feature does not compile, so behavior
/// cannot differ.
const ADDING: [&str; 14] = [
    "ahash",
    "num-bigint",
    "num-rational",
    "proc-macro2",
    "quote",
    "regex-automata",
    "serde_spanned",
    "strum",
    "syn",
    "toml_datetime",
    "toml_parser",
    "toml_writer",
    "twox-hash",
    "winnow",
];

/// The program's dependencies that get more features in a build of the whole workspace.
pub(super) fn leaked_features(root: &Path) -> anyhow::Result<Vec<String>> {
    let sh = Shell::new()?;
    sh.change_dir(root);
    let tree = |scope: &[&str]| -> anyhow::Result<BTreeMap<String, BTreeSet<String>>> {
        let text = cmd!(sh, "cargo tree --prefix none --format {FORMAT} {scope...}").quiet().read()?;
        Ok(features(&text))
    };
    let alone = tree(&["--package", "likenew", "--edges", "normal"])?;
    let with_tests = tree(&["--workspace", "--edges", "normal,build,dev"])?;
    Ok(more(&alone, &with_tests))
}

const FORMAT: &str = "{p}|{f}";

/// Features by package, from lines such as `toml v1.0.0|default,parse`.
fn features(tree: &str) -> BTreeMap<String, BTreeSet<String>> {
    let mut by_package: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (package, features) in tree.lines().filter_map(|line| line.split_once('|')) {
        // A repeated package has a mark after its features.
        let features = features.trim_end_matches(" (*)").split(',').filter(|feature| !feature.is_empty());
        // Name and version; a source may follow.
        let package = package.split(' ').take(2).collect::<Vec<_>>().join(" ");
        by_package.entry(package).or_default().extend(features.map(str::to_owned));
    }
    by_package
}

fn more(
    alone: &BTreeMap<String, BTreeSet<String>>,
    with_tests: &BTreeMap<String, BTreeSet<String>>,
) -> Vec<String> {
    let known = |package: &str| ADDING.iter().any(|name| package.split(' ').next() == Some(name));
    let differing = alone.iter().filter(|(package, _)| !known(package)).filter_map(|(package, features)| {
        let more: Vec<&str> = with_tests.get(package)?.difference(features).map(String::as_str).collect();
        (!more.is_empty()).then(|| {
            let more = more.join(", ");
            format!(
                "{package}: tests run with {more}, and users without: ask for it in the workspace's Cargo.toml, or list \
                 the package in xtask/src/tidy/features.rs if it only adds functions"
            )
        })
    });
    differing.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_read() {
        let text = "| room | what | imports |\n|---|---|---|\n| `crates/a` | x | stats, core |\n| `crates/b` | y | |\n";
        let table = table(text);
        assert_eq!(table["crates/a"], ["core", "stats"]);
        assert!(table["crates/b"].is_empty());
    }

    #[test]
    fn what_tests_add_is_named() {
        let alone = features("regex v1.0.0|std\nlikenew v0.1.0 (/here)|\nwinnow v1.0.0|\n");
        let with_tests =
            features("regex v1.0.0|std,unicode (*)\nlikenew v0.1.0 (/here)|\nwinnow v1.0.0|std\n");
        let leaks = more(&alone, &with_tests);
        assert!(
            leaks.len() == 1 && leaks[0].starts_with("regex v1.0.0: tests run with unicode,"),
            "{leaks:?}"
        );
        assert_eq!(more(&with_tests, &alone), Vec::<String>::new());
    }
}
