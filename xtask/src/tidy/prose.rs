//! Sentences that users read stand together: in a `wording.rs`, below a folder `wording`, at the variants of an error, or in the
//! data of a diagnosis that they describe, such as a cause.

use std::path::Path;

use anyhow::Context as _;

use super::files;
use super::literals::{LiteralContext, literals};
use super::phrases::is_test;

/// A text of fewer words is a name, a unit, a key or a path.
const WORDS_MIN: usize = 4;

/// Characters of a sentence that are shown, to find it by.
const START_LENGTH: usize = 70;

/// Rooms that nobody reads at a terminal: measurements of ourselves and their reports.
const EXEMPT: [&str; 2] = ["crates/likenew-bench/", "crates/likenew-fuzz/"];

/// Where a sentence stands at the data that it describes: the evidence and fixes of a cause, a reference, a symptom, a step, and what
/// prevents one.
const DESCRIBED: [&str; 5] = [
    "crates/likenew-diagnosis/src/causes/",
    "crates/likenew-diagnosis/src/metric.rs",
    "crates/likenew-diagnosis/src/site.rs",
    "crates/likenew-diagnosis/src/steps.rs",
    "crates/likenew-diagnosis/src/symptom.rs",
];

/// Texts that are no sentences: the end of the path, the beginning of the text, and what they are.
const ALLOWED: &[(&str, &str, &str)] = &[
    ("core/src/shell.rs", "", "command lines, nothing else"),
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
    ("history/src/dialect.rs", "", "SQL, nothing else"),
    ("history/src/queries.rs", "", "SQL, nothing else"),
    ("history/src/sync.rs", "", "SQL, nothing else"),
    ("scan/content.rs", "databases and disk images", "the name of a group of files"),
    ("src/plan.rs", "likenew refresh journal: ", "the first bytes of every journal, by which it is known"),
    ("src/sample_columns.rs", "message sample {", "a schema, in Parquet's notation"),
    ("trace/src/formats/iolog.rs", "fio version {number} iolog", "the first line of fio's format"),
    ("trace/src/formats/iolog.rs", "{FILE} {action} {offset} {length}", "a line of fio's format"),
    ("likenew-real/src/tracefs.rs", "(dev == {device}", "a filter of the kernel's tracing"),
];

/// Sentences that stand elsewhere.
pub(super) fn violations(root: &Path) -> anyhow::Result<Vec<String>> {
    let mut violations = Vec::new();
    for path in files(&[root.join("crates")], "rs") {
        let name = path.strip_prefix(root)?.display().to_string();
        if is_test(&name) || EXEMPT.iter().any(|exempt| name.starts_with(exempt)) || is_wording(&name) {
            continue;
        }
        let text = std::fs::read_to_string(&path)?;
        for one in literals(&text).with_context(|| format!("could not read {name} as Rust"))? {
            if one.place == LiteralContext::Code && is_sentence(&one.text) && !is_allowed(&name, &one.text) {
                let start: String = one.text.chars().take(START_LENGTH).collect();
                violations.push(format!("{name}:{}: a sentence outside of wording: {start:?}", one.line));
            }
        }
    }
    Ok(violations)
}

fn is_allowed(name: &str, text: &str) -> bool {
    ALLOWED.iter().any(|(end, start, _)| name.ends_with(end) && text.starts_with(start))
}

/// Where sentences belong.
fn is_wording(name: &str) -> bool {
    name.ends_with("/wording.rs")
        || name.contains("/wording/")
        || DESCRIBED.iter().any(|described| name.starts_with(described))
}

/// Whether it is prose: words with spaces between, and not a path, a command line or a pattern.
fn is_sentence(text: &str) -> bool {
    let is_word = |word: &str| {
        let letters = word.trim_matches(|c: char| !c.is_alphanumeric());
        letters.len() >= 2 && letters.chars().all(|c| c.is_alphabetic() || c == '\'' || c == '-')
    };
    text.split_whitespace().filter(|word| is_word(word)).count() >= WORDS_MIN
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
}
