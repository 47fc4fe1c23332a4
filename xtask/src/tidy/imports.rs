//! Imports form a star: compares each crate's manifest with the table in ARCHITECTURE.md.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::Context as _;

/// Crates whose manifest and table differ.
pub(super) fn violations(root: &Path) -> anyhow::Result<Vec<String>> {
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

/// Folder → crates it may import, from the rows whose first column is a folder with a manifest.
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

/// The crates that a manifest depends on, without those for tests.
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
}
