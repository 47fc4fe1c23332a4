//! Words that are refused in certain crates.

use std::path::{Path, PathBuf};

/// Lines with a refused word.
pub(super) fn violations(root: &Path, sources: &[PathBuf]) -> anyhow::Result<Vec<String>> {
    let mut violations = Vec::new();
    for path in sources {
        let name = path.strip_prefix(root)?.to_string_lossy().into_owned();
        let text = std::fs::read_to_string(path)?;
        if !text.starts_with("//!") {
            violations.push(format!("{name}: a file says first what it promises (//!)"));
        }
        for (index, line) in text.lines().enumerate() {
            let rules = RULES.iter().filter(|rule| !rule.free.iter().any(|free| name.contains(free)));
            for rule in rules.filter(|rule| rule.words.iter().any(|word| contains_word(line, word))) {
                violations.push(format!("{name}:{}: {}", index + 1, rule.reason));
            }
        }
    }
    Ok(violations)
}

struct Rule {
    words: &'static [&'static str],
    /// Parts of paths in which the words are allowed.
    free: &'static [&'static str],
    reason: &'static str,
}

const RULES: [Rule; 2] = [
    Rule {
        words: &["unsafe {", "unsafe fn", "unsafe impl"],
        free: &["likenew-real/", "tidy/words.rs"],
        reason: "unsafe code stands in likenew-real alone",
    },
    Rule { words: &["TODO", "FIXME", "XXX"], free: &["tidy/words.rs"], reason: "finish it or leave it out" },
];

/// Whether the line has the word by itself rather than as part of a longer one.
fn contains_word(line: &str, word: &str) -> bool {
    line.match_indices(word).any(|(at, _)| !line[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_inside_another_is_no_violation() {
        assert!(contains_word("let x = unsafe { y };", "unsafe {"));
        assert!(!contains_word("let not_unsafe { y }", "unsafe {"));
    }
}
