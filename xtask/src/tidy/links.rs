//! Links of the project's pages lead somewhere, and every procedure has its manual.

use std::path::Path;

/// Links to missing files, and procedures without a manual.
pub(super) fn offences(root: &Path) -> anyhow::Result<Vec<String>> {
    let mut offences = Vec::new();
    for path in super::files(&[root.to_owned()], "md") {
        let text = std::fs::read_to_string(&path)?;
        let folder = path.parent().expect("a file lies in a folder");
        for target in targets(&text).filter(|target| !target.contains("://") && !target.starts_with('#')) {
            let file = target.split('#').next().unwrap_or(target);
            if !folder.join(file).exists() {
                offences.push(format!(
                    "{}: the link to {target} leads nowhere",
                    path.strip_prefix(root)?.display()
                ));
            }
        }
    }
    for path in super::files(&[root.join("crates/likenew-procedures/src")], "rs") {
        let is_procedure = std::fs::read_to_string(&path)?.contains("impl Procedure for");
        if is_procedure && !path.with_extension("md").exists() {
            offences.push(format!(
                "{}: a procedure has a manual page beside it",
                path.strip_prefix(root)?.display()
            ));
        }
    }
    Ok(offences)
}

/// The targets of the links of a Markdown text.
fn targets(text: &str) -> impl Iterator<Item = &str> {
    text.match_indices("](").filter_map(|(at, mark)| text[at + mark.len()..].split(')').next())
}
