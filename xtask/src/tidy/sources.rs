//! Refuses long functions, and certain words outside of certain crates.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use syn::spanned::Spanned as _;
use syn::visit::Visit;

use super::literals::is_for_tests;

/// Most lines of a function. Chosen: what fits a tall window, and can be read in one look.
const FUNCTION_LINES_MAX: usize = 70;

/// Functions that are too long, except in tests.
pub(super) fn long_functions(root: &Path, sources: &[PathBuf]) -> anyhow::Result<Vec<String>> {
    let mut violations = Vec::new();
    for path in sources {
        let name = path.strip_prefix(root)?.display().to_string();
        if name.contains("/tests/") || name.ends_with("tests.rs") {
            continue;
        }
        let text = std::fs::read_to_string(path)?;
        let file = syn::parse_file(&text).with_context(|| format!("could not read {name} as Rust"))?;
        let mut long = LongFunctions::default();
        long.visit_file(&file);
        violations.extend(long.0.into_iter().map(|(function, lines)| {
            format!("{name}: {function} has {lines} lines, and may have {FUNCTION_LINES_MAX}")
        }));
    }
    Ok(violations)
}

#[derive(Default)]
struct LongFunctions(Vec<(String, usize)>);

impl LongFunctions {
    fn record_if_long(&mut self, name: &syn::Ident, body: &syn::Block) {
        let span = body.span();
        let lines = span.end().line - span.start().line + 1;
        if lines > FUNCTION_LINES_MAX {
            self.0.push((name.to_string(), lines));
        }
    }
}

impl<'ast> Visit<'ast> for LongFunctions {
    fn visit_item_mod(&mut self, module: &'ast syn::ItemMod) {
        if !is_for_tests(&module.attrs) {
            syn::visit::visit_item_mod(self, module);
        }
    }

    fn visit_item_fn(&mut self, function: &'ast syn::ItemFn) {
        if !is_for_tests(&function.attrs) {
            self.record_if_long(&function.sig.ident, &function.block);
            syn::visit::visit_item_fn(self, function);
        }
    }

    fn visit_impl_item_fn(&mut self, function: &'ast syn::ImplItemFn) {
        self.record_if_long(&function.sig.ident, &function.block);
        syn::visit::visit_impl_item_fn(self, function);
    }
}

/// Lines with refused words, and files without a module doc.
pub(super) fn refused_words(root: &Path, sources: &[PathBuf]) -> anyhow::Result<Vec<String>> {
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
    /// Parts of paths where the words are allowed.
    free: &'static [&'static str],
    reason: &'static str,
}

const RULES: [Rule; 2] = [
    Rule {
        words: &["unsafe {", "unsafe fn", "unsafe impl"],
        free: &["likenew-real/", "tidy/sources.rs"],
        reason: "unsafe code stands in likenew-real alone",
    },
    Rule {
        words: &["TODO", "FIXME", "XXX"],
        free: &["tidy/sources.rs"],
        reason: "finish it or leave it out",
    },
];

/// Whether the line contains the word, and not only as the end of a longer one.
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
