//! Words that users should not see, and prose that is hard to read.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use syn::visit::Visit;

use super::files;

/// Longer lines do not fit a terminal of 100 columns.
const COLUMNS_MAX: usize = 100;
/// Longer paragraphs are not read.
const PARAGRAPH_LINES_MAX: usize = 8;

/// What is refused, and what to say instead. Words match whole, in any case.
const PHRASES: &[(&str, &str)] = &[
    ("reads in order", "sequential read"),
    ("writes in order", "sequential write"),
    ("one at a time", "QD1"),
    ("32 at a time", "QD32"),
    ("I/Os a second", "IOPS"),
    ("what is free", "TRIM"),
    ("own books", "device counters"),
    ("simulated twin", "when new (simulated)"),
    ("its maker promises", "rated"),
    ("first check of it", "baseline"),
    ("with what chance", "likely"),
    ("cure", "fix"),
    ("cures", "fix"),
    ("clue", "evidence"),
    ("clues", "evidence"),
    ("rung", "step"),
    ("rungs", "steps"),
    ("what is usual", "normal range"),
    ("page of the map", "mapping table"),
    ("erased at once", "erase unit (superblock)"),
    ("collection begins by itself", "idle GC starts after"),
    ("bucket of credits", "burst credits"),
    ("stands still", "stalls"),
    ("weak place", "slow region"),
    ("weak places", "slow regions"),
    ("turns a minute", "rpm"),
    ("keep one level", "not steady"),
    ("does not hold", "✗ problem, or a plain answer"),
    ("problem found", "✗ problem"),
    ("files of our own", "temporary files"),
    ("what lies there", "existing data"),
    ("brings it back", "restores"),
    ("gone through", "use"),
    ("can not", "cannot"),
    ("no setting of it", "unknown setting"),
    ("held against", "compared with"),
    ("looks at it", "probes"),
    ("colour", "color"),
    ("catalogue", "catalog"),
    ("behaviour", "behavior"),
    ("neighbour", "neighbor"),
];

/// Pages still to be rewritten: this one is written by `cargo xtask reproduce`.
const TO_DO: &[&str] = &["docs/explanation/reproduction.md"];

/// Refused phrases in what users read, and wide lines and long paragraphs in docs.
pub(super) fn offences(root: &Path) -> anyhow::Result<Vec<String>> {
    let mut offences = Vec::new();
    for path in files(&[root.join("crates")], "rs").into_iter().filter(|path| is_wording(path)) {
        let name = path.strip_prefix(root)?.display().to_string();
        let text = std::fs::read_to_string(&path)?;
        let file = syn::parse_file(&text).with_context(|| format!("could not read {name} as Rust"))?;
        let mut literals = Literals::default();
        literals.visit_file(&file);
        for (line, text) in literals.0 {
            offences.extend(phrases(&text).map(|(bad, good)| refused(&name, line, bad, good)));
        }
    }
    for path in documents(root) {
        let name = path.strip_prefix(root)?.display().to_string();
        if TO_DO.contains(&&*name) {
            continue;
        }
        let text = std::fs::read_to_string(&path)?;
        for (index, line) in text.lines().enumerate() {
            offences.extend(phrases(line).map(|(bad, good)| refused(&name, index + 1, bad, good)));
        }
        if name.ends_with(".md") {
            offences.extend(shape(&text).into_iter().map(|offence| format!("{name}:{offence}")));
        }
    }
    Ok(offences)
}

fn refused(name: &str, line: usize, bad: &str, good: &str) -> String {
    format!("{name}:{line}: \"{bad}\"; say \"{good}\"")
}

fn is_wording(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name == "wording.rs")
        || path.parent().and_then(Path::file_name).is_some_and(|folder| folder == "wording")
}

/// README, pages of docs, messages and manual pages. Decisions are left out, because they keep the words of
/// their time.
fn documents(root: &Path) -> Vec<PathBuf> {
    let docs = root.join("docs");
    let mut all = vec![root.join("README.md")];
    all.extend(files(&[docs.clone(), root.join("crates")], "md"));
    all.extend(files(&[docs.join("messages")], "txt"));
    all.retain(|path| !path.starts_with(docs.join("decisions")) && path.is_file());
    all
}

/// Lines that are too wide and paragraphs that are too long, outside of code and tables.
fn shape(text: &str) -> Vec<String> {
    let mut offences = Vec::new();
    let (mut is_code, mut paragraph) = (false, 0);
    for (index, line) in text.lines().enumerate() {
        let start = line.trim_start();
        if start.starts_with("```") {
            is_code = !is_code;
        }
        let is_prose = !is_code && !start.starts_with(['|', '#', '`']) && !start.is_empty();
        paragraph = if !is_prose || is_item(start) { 0 } else { paragraph + 1 };
        if paragraph == PARAGRAPH_LINES_MAX + 1 {
            offences.push(format!("{}: a paragraph of more than {PARAGRAPH_LINES_MAX} lines", index + 1));
        }
        // A link cannot be broken.
        if is_prose && line.chars().count() > COLUMNS_MAX && !line.contains("](") && !line.contains("://") {
            offences.push(format!("{}: a line of more than {COLUMNS_MAX} columns", index + 1));
        }
    }
    offences
}

/// Each item of a list begins a paragraph.
fn is_item(start: &str) -> bool {
    let number = start.trim_start_matches(|c: char| c.is_ascii_digit());
    start.starts_with("- ")
        || start.starts_with("* ")
        || (number.len() < start.len() && number.starts_with(". "))
}

/// Refused phrases in a text, as whole words.
fn phrases(text: &str) -> impl Iterator<Item = (&'static str, &'static str)> {
    let lower = text.to_lowercase();
    PHRASES.iter().copied().filter(move |(bad, _)| contains_words(&lower, &bad.to_lowercase()))
}

fn contains_words(text: &str, words: &str) -> bool {
    let is_letter = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(words)
        .any(|(at, _)| !text[..at].ends_with(is_letter) && !text[at + words.len()..].starts_with(is_letter))
}

/// String literals with their lines, including those in macros.
#[derive(Default)]
struct Literals(Vec<(usize, String)>);

impl Literals {
    fn take(&mut self, tokens: proc_macro2::TokenStream) {
        for token in tokens {
            match token {
                proc_macro2::TokenTree::Group(group) => self.take(group.stream()),
                proc_macro2::TokenTree::Literal(literal) => {
                    let line = literal.span().start().line;
                    if let syn::Lit::Str(text) = syn::Lit::new(literal) {
                        self.0.push((line, text.value()));
                    }
                }
                _ => {}
            }
        }
    }
}

impl<'ast> Visit<'ast> for Literals {
    fn visit_lit_str(&mut self, text: &'ast syn::LitStr) {
        self.0.push((text.span().start().line, text.value()));
    }

    fn visit_macro(&mut self, one: &'ast syn::Macro) {
        self.take(one.tokens.clone());
    }

    /// Doc comments are attributes.
    fn visit_attribute(&mut self, _: &'ast syn::Attribute) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phrases_match_as_whole_words() {
        let found = |text: &str| phrases(text).map(|(bad, _)| bad).collect::<Vec<_>>();
        assert_eq!(found("The Cure is here"), ["cure"]);
        assert!(found("secure and incurable").is_empty());
        assert_eq!(found("it can not be said"), ["can not"]);
    }

    #[test]
    fn shape_leaves_code_and_tables_alone() {
        let long = "word ".repeat(30);
        assert_eq!(shape(&long).len(), 1);
        assert!(shape(&format!("```\n{long}\n```\n| {long} |")).is_empty());
        assert_eq!(shape(&"line\n".repeat(9)), ["9: a paragraph of more than 8 lines"]);
        assert!(shape(&"- item\n".repeat(20)).is_empty());
    }

    #[test]
    fn literals_are_found_in_macros_too() {
        let file =
            syn::parse_file("/// a cure\nfn f() -> String { format!(\"a cure {}\", g(\"b\")) }").unwrap();
        let mut literals = Literals::default();
        literals.visit_file(&file);
        assert_eq!(literals.0.len(), 2, "{:?}", literals.0);
    }
}
