//! Links of the project's pages lead somewhere, and every procedure has its manual.

use std::path::Path;

/// Links to missing files, and procedures without a manual.
pub(super) fn violations(root: &Path) -> anyhow::Result<Vec<String>> {
    let mut violations = Vec::new();
    for path in super::files(&[root.to_owned()], "md") {
        let text = std::fs::read_to_string(&path)?;
        let folder = path.parent().expect("a file lies in a folder");
        for target in targets(&text).filter(|target| !target.contains("://") && !target.starts_with('#')) {
            let file = target.split('#').next().unwrap_or(target);
            if !folder.join(file).exists() {
                violations.push(format!(
                    "{}: the link to {target} leads nowhere",
                    path.strip_prefix(root)?.display()
                ));
            }
        }
    }
    violations.extend(procedures_without_manual(root)?);
    Ok(violations)
}

/// Where procedures are.
const PROCEDURE_ROOMS: [&str; 3] = ["likenew-measuring", "likenew-restoring", "likenew-explaining"];

/// Procedures that have no page beside their file; and a complaint where no procedure was found at all.
fn procedures_without_manual(root: &Path) -> anyhow::Result<Vec<String>> {
    let mut violations = Vec::new();
    for room in PROCEDURE_ROOMS {
        let mut procedures = 0;
        for path in super::files(&[root.join("crates").join(room).join("src")], "rs") {
            if !std::fs::read_to_string(&path)?.contains("impl Procedure for") {
                continue;
            }
            procedures += 1;
            if !path.with_extension("md").exists() {
                let name = path.strip_prefix(root)?.display();
                violations.push(format!("{name}: a procedure has a manual page beside it"));
            }
        }
        if procedures == 0 {
            violations.push(format!("crates/{room}: no procedure was found, so that no manual was checked"));
        }
    }
    Ok(violations)
}

/// The targets of the links of a Markdown text.
fn targets(text: &str) -> impl Iterator<Item = &str> {
    text.match_indices("](").filter_map(|(at, mark)| text[at + mark.len()..].split(')').next())
}
