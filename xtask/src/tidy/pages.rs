//! Checks the project's pages: links work, every procedure has a manual, and each guarantee on pages about safety names
//! existing tests. Their names are in code font after `Test:` or `Tests:`, or in the last column of a table of tests.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Links to missing files, and procedures without a manual.
pub(super) fn broken_links(root: &Path) -> anyhow::Result<Vec<String>> {
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

/// Crates with procedures.
const PROCEDURE_ROOMS: [&str; 3] = ["likenew-measuring", "likenew-restoring", "likenew-explaining"];

/// Procedures without a page beside their file. A crate in which no procedure is found is a violation, too.
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

/// Link targets in a Markdown text.
fn targets(text: &str) -> impl Iterator<Item = &str> {
    text.match_indices("](").filter_map(|(at, mark)| text[at + mark.len()..].split(')').next())
}

/// Pages with guarantees.
const PAGES: [&str; 3] =
    ["docs/explanation/safety.md", "docs/explanation/refresh.md", "docs/explanation/erase.md"];

/// Tests named on these pages that do not exist.
pub(super) fn unkept_guarantees(root: &Path, sources: &[PathBuf]) -> anyhow::Result<Vec<String>> {
    let mut known = BTreeSet::new();
    for path in sources {
        known.extend(tests_in(&std::fs::read_to_string(path)?));
    }
    let mut violations = Vec::new();
    for page in PAGES {
        let text = std::fs::read_to_string(root.join(page))?;
        let named = tests_named(&text);
        if named.is_empty() {
            violations.push(format!("{page}: no guarantee names the test that keeps it"));
        }
        let missing = named.into_iter().filter(|name| {
            let function = name.rsplit("::").next().unwrap_or(name);
            !known.contains(function)
        });
        violations.extend(missing.map(|name| format!("{page}: there is no test {name}")));
    }
    Ok(violations)
}

/// Names of functions with `#[test]`.
fn tests_in(source: &str) -> Vec<String> {
    let mut tests = Vec::new();
    let mut is_marked = false;
    for line in source.lines().map(str::trim) {
        if line == "#[test]" {
            is_marked = true;
        } else if let Some(rest) = line.strip_prefix("fn ").filter(|_| is_marked) {
            let name = rest.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default();
            tests.push(name.to_owned());
            is_marked = false;
        }
    }
    tests
}

/// Names in code font from `Test:` or `Tests:` to the end of the paragraph or item, and in tables whose last column is
/// `test`.
fn tests_named(page: &str) -> Vec<String> {
    let mut names = Vec::new();
    let (mut is_listed, mut is_in_table) = (false, false);
    for line in page.lines() {
        is_in_table = line.starts_with('|') && (is_in_table || line.ends_with("| test |"));
        if is_in_table {
            let last = line.trim_end_matches('|').rsplit('|').next().unwrap_or_default();
            names.extend(last.split('`').skip(1).step_by(2).filter(|span| is_name(span)).map(str::to_owned));
            continue;
        }
        let item = line.trim_start();
        if item.is_empty() || item.starts_with("- ") || item.starts_with('#') || item.starts_with('|') {
            is_listed = false;
        }
        let starts = ["Test: ", "Tests: "].iter().find_map(|mark| line.find(mark));
        is_listed |= starts.is_some();
        if is_listed {
            let spans = line[starts.unwrap_or(0)..].split('`').skip(1).step_by(2);
            names.extend(spans.filter(|span| is_name(span)).map(str::to_owned));
        }
    }
    names
}

/// Whether the text looks like a test's name, with or without modules.
fn is_name(text: &str) -> bool {
    let function = text.rsplit("::").next().unwrap_or(text);
    function.contains('_')
        && text.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || "_:".contains(c))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_are_found_by_their_mark() {
        let source = "#[test]\n#[ignore = \"long\"]\nfn one_two() {}\n\nfn helper_of() {}\n    #[test]\n    fn three_four(x in 0..2) {}\n";
        assert_eq!(tests_in(source), ["one_two", "three_four"]);
    }

    #[test]
    fn names_stand_after_the_mark_up_to_the_end_of_the_item() {
        let table =
            "| promise | test |\n|---|---|\n| `no_name` | `g_h`, `…_i` |\n\n| a | b |\n| c | `not_d` |\n";
        assert_eq!(tests_named(table), ["g_h"]);
        let page = "- Kept. Tests: `cuts::a_b`,\n  `c_d` (`likenew-real`).\n- `not_this`\n\nTest: `e_f`\n\n`nor_this`\n";
        assert_eq!(tests_named(page), ["cuts::a_b", "c_d", "e_f"]);
    }
}
