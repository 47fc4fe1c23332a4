//! Refuses words that users should not see, and prose that is hard to read.
//!
//! Sentences for users must be in a `wording.rs`, below a folder `wording`, at the variants of an error, or with the
//! data of a diagnosis that they describe, such as a cause.

use std::path::{Path, PathBuf};

use anyhow::Context as _;

use super::files;
use super::literals::{LiteralContext, literals};

/// Fewest words of a sentence; shorter texts are names, units, keys or paths.
const WORDS_MIN: usize = 4;

/// Characters of a sentence that a violation shows.
const START_LENGTH: usize = 70;

/// Sources without sentences for users: measurements of the instrument and their reports, errors of our own build, and
/// words by which other programs' output is parsed.
const EXEMPT: [&str; 4] = [
    "crates/likenew-bench/",
    "crates/likenew-fuzz/",
    "crates/likenew-rated/src/reading.rs",
    "crates/likenew-real/src/facts/reported/",
];

/// Sources with sentences at the data that they describe: evidence and fixes of a cause, a reference, a symptom, a
/// step, what prevents a step, and a drive's class.
const DESCRIBED: [&str; 6] = [
    "crates/likenew-diagnosis/src/causes/",
    "crates/likenew-diagnosis/src/settings.rs",
    "crates/likenew-diagnosis/src/site.rs",
    "crates/likenew-diagnosis/src/steps.rs",
    "crates/likenew-diagnosis/src/symptom.rs",
    "crates/likenew-rated/src/class.rs",
];

/// Exceptions: end of the path, beginning of the text, and why it is no sentence.
const ALLOWED: &[(&str, &str, &str)] = &[
    ("core/src/shell.rs", "", "command lines, nothing else"),
    ("cli/src/commands.rs", "likenew ", "an example of a command"),
    ("cli/src/commands.rs", "sudo likenew ", "an example of a command"),
    ("procedures/src/all.rs", "likenew ", "an example of a command"),
    ("facts/file_system.rs", "echo {rule}", "a command line"),
    ("facts/file_system.rs", "rm {UNMAP_RULES}", "a command line"),
    ("facts/drive_answers.rs", "Amazon E", "the name of a model, as the device tells it"),
    ("facts/drive_answers.rs", "Microsoft NVMe Direct Disk", "the name of a model, as the device tells it"),
    ("facts/kernel_log.rs", "Assuming drive cache: write through", "words of a driver in the kernel's log"),
    ("facts/kernel_log.rs", "limiting SATA link speed", "words of a driver in the kernel's log"),
    ("facts/kernel_log.rs", "not running at top speed", "words of a driver in the kernel's log"),
    ("facts/machine.rs", "ATA SMART READ", "the name of a command"),
    ("fio/src/job.rs", "likenew workload {} stream", "the mark of an exported job, which is read back"),
    ("generator/parts.rs", "{key} = {{ value", "a line of TOML"),
    ("history/src/database.rs", "PRAGMA ", "settings of SQLite"),
    ("history/src/database.rs", "SELECT ", "SQL"),
    ("history/src/queries.rs", "", "SQL, nothing else"),
    ("history/src/sync.rs", "", "SQL, nothing else"),
    ("scan/content.rs", "databases and disk images", "the name of a group of files"),
    ("src/plan.rs", "likenew refresh journal: ", "the first bytes of every journal, by which it is known"),
    ("src/samples.rs", "message sample {", "a schema, in Parquet's notation"),
    ("trace/src/formats/iolog.rs", "fio version {number} iolog", "the first line of fio's format"),
    ("trace/src/formats/iolog.rs", "{FILE} {action} {offset} {length}", "a line of fio's format"),
    ("likenew-real/src/tracefs.rs", "(dev == {device}", "a filter of the kernel's tracing"),
];

/// Finds sentences in other places.
pub(super) fn stray_sentences(root: &Path) -> anyhow::Result<Vec<String>> {
    let mut violations = Vec::new();
    for path in files(&[root.join("crates")], "rs") {
        let name = path.strip_prefix(root)?.display().to_string();
        if is_test(&name) || EXEMPT.iter().any(|exempt| name.starts_with(exempt)) || is_wording(&name) {
            continue;
        }
        let text = std::fs::read_to_string(&path)?;
        for literal in literals(&text).with_context(|| format!("could not read {name} as Rust"))? {
            if literal.place == LiteralContext::Code
                && is_sentence(&literal.text)
                && !is_allowed(&name, &literal.text)
            {
                let start: String = literal.text.chars().take(START_LENGTH).collect();
                violations.push(format!("{name}:{}: a sentence outside of wording: {start:?}", literal.line));
            }
        }
    }
    Ok(violations)
}

fn is_allowed(name: &str, text: &str) -> bool {
    ALLOWED.iter().any(|(end, start, _)| name.ends_with(end) && text.starts_with(start))
}

/// Whether sentences may be in this file.
fn is_wording(name: &str) -> bool {
    name.ends_with("/wording.rs")
        || name.contains("/wording/")
        || DESCRIBED.iter().any(|described| name.starts_with(described))
}

/// Whether a text is prose: several words with spaces, not a path, command line or pattern.
fn is_sentence(text: &str) -> bool {
    let is_word = |word: &str| {
        let letters = word.trim_matches(|c: char| !c.is_alphanumeric());
        letters.len() >= 2 && letters.chars().all(|c| c.is_alphabetic() || c == '\'' || c == '-')
    };
    text.split_whitespace().filter(|word| is_word(word)).count() >= WORDS_MIN
}

/// Widest line, for terminals of 100 columns.
const COLUMNS_MAX: usize = 100;
/// Most lines of a paragraph; longer ones are not read.
const PARAGRAPH_LINES_MAX: usize = 8;

/// Refused phrases, and what to say instead. They match as whole words in any case.
const PHRASES: &[(&str, &str)] = &[
    // Names of I/O
    ("reads in order", "sequential read"),
    ("writes in order", "sequential write"),
    ("in order at QD", "sequential at QD"),
    ("one at a time", "QD1"),
    ("32 at a time", "QD32"),
    ("I/Os a second", "IOPS"),
    ("write_on", "sustained_write"),
    ("turns a minute", "rpm"),
    ("stands still", "stalls"),
    ("stand still", "stall"),
    ("writes drop", "write cliff"),
    // A drive's internals
    ("what is free", "TRIM"),
    ("books", "device counters, metadata"),
    ("page of the map", "mapping unit"),
    ("pages of the map", "mapping units"),
    ("mapping cache", "mapping (FTL) cache"),
    ("erased at once", "erase unit (superblock)"),
    ("collection begins by itself", "idle GC starts after"),
    ("moves data", "relocates data"),
    ("bucket of credits", "burst credits"),
    ("weak place", "slow region"),
    ("weak places", "slow regions"),
    ("weak zone", "slow region"),
    ("weak zones", "slow regions"),
    ("gone through", "use"),
    ("hangs on", "is connected by"),
    // Comparisons
    ("twin", "baseline (simulated)"),
    ("its maker promises", "rated"),
    ("the maker promises", "rated"),
    ("maker's promise", "rated"),
    ("first check of it", "baseline"),
    ("--against", "--baseline"),
    ("what is usual", "normal range"),
    ("held against", "compared with"),
    ("keep one level", "not steady"),
    ("does not hold", "✗ problem, or a plain answer"),
    ("problem found", "✗ problem"),
    // Certainty and reasons
    ("with chance", "with probability"),
    ("the chance", "the probability"),
    ("a chance", "a probability"),
    ("what chance", "which probability"),
    ("chance of", "probability of"),
    ("for sure", "certainly"),
    ("is sure", "is certain"),
    ("clue", "evidence"),
    ("clues", "evidence"),
    // Fixes
    ("cure", "fix"),
    ("cures", "fix"),
    ("rung", "step"),
    ("rungs", "steps"),
    ("ladder", "steps"),
    ("brings it back", "restores"),
    ("bring it back", "restore it"),
    ("rehearsal", "dry run"),
    ("rehearsed", "in a dry run"),
    // Files and data
    ("files of our own", "temporary files"),
    ("files of its own", "temporary files"),
    ("own files that", "temporary files that"),
    ("with own files", "with temporary files"),
    ("what lies there", "existing data"),
    // Plain English
    ("can not", "cannot"),
    ("no setting of it", "unknown setting"),
    ("looks at it", "probes"),
    ("which is no", "not"),
    ("somebody", "another program, a user"),
    ("whoever", "the user who"),
    ("the other way round", "reversed"),
    // American spelling
    ("colour", "color"),
    ("colours", "colors"),
    ("catalogue", "catalog"),
    ("behaviour", "behavior"),
    ("neighbour", "neighbor"),
    ("neighbours", "neighbors"),
    ("neighbouring", "neighboring"),
    ("centre", "center"),
    ("labelled", "labeled"),
    ("modelled", "modeled"),
    ("ageing", "aging"),
    ("cancelled", "canceled"),
    ("spelt", "spelled"),
    ("favour", "favor"),
    ("recognise", "recognize"),
    ("recognised", "recognized"),
    ("organise", "organize"),
    ("optimise", "optimize"),
    ("optimised", "optimized"),
    ("initialise", "initialize"),
    ("initialised", "initialized"),
    ("analyse", "analyze"),
    ("metres", "meters"),
];

/// Pages whose text is made elsewhere or rewritten as a whole.
const REWRITTEN: &[&str] = &["docs/explanation/reproduction.md"];

/// Finds refused phrases in what users read, and wide lines and long paragraphs in docs.
pub(super) fn refused_phrases(root: &Path) -> anyhow::Result<Vec<String>> {
    let mut violations = Vec::new();
    for path in files(&[root.join("crates")], "rs") {
        let name = path.strip_prefix(root)?.display().to_string();
        if is_exempt(&name) || is_test(&name) {
            continue;
        }
        let text = std::fs::read_to_string(&path)?;
        for literal in literals(&text).with_context(|| format!("could not read {name} as Rust"))? {
            violations.extend(refused(&name, literal.line, &literal.text));
        }
    }
    for path in documents(root) {
        let name = path.strip_prefix(root)?.display().to_string();
        if is_exempt(&name) {
            continue;
        }
        let text = std::fs::read_to_string(&path)?;
        for (index, line) in text.lines().enumerate() {
            violations.extend(refused(&name, index + 1, line));
        }
        if name.ends_with(".md") {
            violations.extend(shape(&text).into_iter().map(|violation| format!("{name}:{violation}")));
        }
    }
    Ok(violations)
}

fn refused(name: &str, line: usize, text: &str) -> Vec<String> {
    let mut refused: Vec<String> =
        phrases(text).map(|(bad, good)| format!("{name}:{line}: \"{bad}\"; say \"{good}\"")).collect();
    if has_spaced_percent(text) {
        refused.push(format!("{name}:{line}: no space before a percent sign"));
    }
    refused
}

fn is_exempt(name: &str) -> bool {
    REWRITTEN.iter().any(|exempt| name.starts_with(exempt))
}

/// Whether the file is a test. Tests may say anything, and assert what parsers and old files say.
pub(super) fn is_test(name: &str) -> bool {
    ["/tests/", "/examples/", "/fixtures"].iter().any(|part| name.contains(part))
        || name.ends_with("tests.rs")
}

/// All texts for users and contributors, except decisions, which keep the words of their time. Messages are made from
/// the literals.
fn documents(root: &Path) -> Vec<PathBuf> {
    let docs = root.join("docs");
    let mut paths: Vec<PathBuf> = ["README", "CHANGELOG", "ARCHITECTURE", "GLOSSARY", "CONTRIBUTING"]
        .map(|name| root.join(name).with_extension("md"))
        .into();
    paths.extend(files(&[docs.clone(), root.join("crates"), root.join("catalog"), root.join("apps")], "md"));
    paths.extend(files(&[docs.join("messages")], "txt"));
    paths.extend(files(&[root.join("scenarios"), root.join("catalog"), root.join("apps")], "toml"));
    paths.extend(files(&[root.join("schema")], "json"));
    for ending in ["ts", "svelte", "html"] {
        paths.extend(files(&[root.join("web/src")], ending));
    }
    paths.extend(files(&[root.join("crates"), root.join("xtask")], "toml"));
    paths.retain(|path| !path.starts_with(docs.join("decisions")) && path.is_file());
    paths
}

/// Finds wide lines and long paragraphs, outside of code and tables.
fn shape(text: &str) -> Vec<String> {
    let mut violations = Vec::new();
    let (mut is_code, mut paragraph) = (false, 0);
    for (index, line) in text.lines().enumerate() {
        let start = line.trim_start();
        if start.starts_with("```") {
            is_code = !is_code;
            continue;
        }
        let is_prose = !is_code && !start.starts_with(['|', '#']) && !start.is_empty();
        paragraph = if !is_prose || is_item(start) { 0 } else { paragraph + 1 };
        if paragraph == PARAGRAPH_LINES_MAX + 1 {
            violations.push(format!("{}: a paragraph of more than {PARAGRAPH_LINES_MAX} lines", index + 1));
        }
        if is_prose && width_without_links(line) > COLUMNS_MAX {
            violations.push(format!("{}: a line of more than {COLUMNS_MAX} columns", index + 1));
        }
    }
    violations
}

/// Width of a line without its addresses, which cannot be broken.
fn width_without_links(line: &str) -> usize {
    let mut width = 0;
    for (index, part) in line.split("](").enumerate() {
        let text = if index == 0 { part } else { part.split_once(')').map_or("", |(_, rest)| rest) };
        let words = text.split(' ').map(|word| if word.contains("://") { 0 } else { word.chars().count() });
        width += words.map(|columns| columns + 1).sum::<usize>().saturating_sub(1);
    }
    width
}

/// Whether the line begins an item of a list, and so a paragraph.
fn is_item(start: &str) -> bool {
    let number = start.trim_start_matches(|c: char| c.is_ascii_digit());
    start.starts_with("- ")
        || start.starts_with("* ")
        || (number.len() < start.len() && number.starts_with(". "))
}

/// Refused phrases in a text.
fn phrases(text: &str) -> impl Iterator<Item = (&'static str, &'static str)> {
    let lower = text.to_lowercase();
    PHRASES.iter().copied().filter(move |(bad, _)| contains_words(&lower, &bad.to_lowercase()))
}

fn contains_words(text: &str, words: &str) -> bool {
    let is_letter = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(words)
        .any(|(at, _)| !text[..at].ends_with(is_letter) && !text[at + words.len()..].starts_with(is_letter))
}

/// Whether a space separates a percent sign from a number or its placeholder: `26 %`, `{share} %`.
fn has_spaced_percent(text: &str) -> bool {
    text.match_indices('%').any(|(at, _)| {
        let before = text[..at].strip_suffix([' ', '\u{a0}', '\u{202f}']);
        before.is_some_and(|before| before.ends_with(|c: char| c.is_ascii_digit() || c == '}'))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prose_has_words() {
        assert!(is_sentence("The drive {name} takes no TRIM here."));
        for other in
            ["/sys/block/{disk}/queue/rotational", "a {} of {}", "{a}: {b} MB/s, {c} IOPS", "key = value"]
        {
            assert!(!is_sentence(other), "{other}");
        }
    }

    #[test]
    fn wording_is_told_by_its_path() {
        assert!(is_wording("crates/a/src/x/wording.rs") && is_wording("crates/a/src/wording/help.rs"));
        assert!(is_wording("crates/likenew-diagnosis/src/causes/heat.rs"));
        assert!(!is_wording("crates/a/src/rewording.rs") && !is_wording("crates/a/src/causes/heat.rs"));
    }

    #[test]
    fn phrases_match_as_whole_words() {
        let bad_phrases = |text: &str| phrases(text).map(|(bad, _)| bad).collect::<Vec<_>>();
        assert_eq!(bad_phrases("The Cure is here"), ["cure"]);
        assert!(bad_phrases("secure and incurable").is_empty());
        assert_eq!(bad_phrases("it can not be said"), ["can not"]);
    }

    #[test]
    fn a_percent_sign_follows_its_number() {
        assert!(has_spaced_percent("it has 26 % of it") && has_spaced_percent("{share:.0} %"));
        assert!(
            !has_spaced_percent("26%") && !has_spaced_percent("% of new") && !has_spaced_percent("a % b")
        );
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
    fn addresses_have_no_width() {
        let address = "a".repeat(90);
        assert!(shape(&format!("See [this page](https://{address}).")).is_empty());
        assert_eq!(shape(&format!("See [this page](https://x) {}", "word ".repeat(20))).len(), 1);
    }

    #[test]
    fn tests_are_told_by_their_path() {
        assert!(is_test("crates/a/tests/it/x.rs") && is_test("crates/a/src/advice_tests.rs"));
        assert!(!is_test("crates/a/src/endure/test_series.rs"));
    }
}
