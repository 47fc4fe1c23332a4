//! Counts lines of the repository by kind and crate.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::{root, tidy};

/// Lines of a crate, without blank ones.
#[derive(Clone, Copy, Default)]
struct Lines {
    files: usize,
    /// Code, except the kinds below.
    code: usize,
    /// `use` declarations; they count as code, too.
    imports: usize,
    comments: usize,
    tests: usize,
    /// Code in files with sentences.
    wording: usize,
}

impl Lines {
    /// Counts a Rust file. Tests are all lines from a module in the file on that is only compiled for them, and files
    /// below `tests` and `benches`.
    fn of_file(path: &Path, text: &str) -> Self {
        let has_part = |names: &[&str]| path.iter().any(|part| names.iter().any(|name| part == *name));
        let is_wording = has_part(&["wording", "wording.rs"]);
        let mut is_test = has_part(&["tests", "benches"]) || path.to_string_lossy().ends_with("tests.rs");
        let mut lines = Self { files: usize::from(!is_test), ..Self::default() };
        let (mut is_import, mut is_for_tests) = (false, false);
        for line in text.lines().filter(|line| !line.trim().is_empty()) {
            is_test |= is_for_tests && line.starts_with("mod ") && line.ends_with('{');
            is_for_tests = line.starts_with("#[cfg(test)]");
            is_import |= ["use ", "pub use ", "pub(crate) use ", "pub(super) use "]
                .iter()
                .any(|front| line.starts_with(front));
            let count = match line.trim_start().starts_with("//") {
                _ if is_test => &mut lines.tests,
                true => &mut lines.comments,
                false if is_wording => &mut lines.wording,
                false => &mut lines.code,
            };
            *count += 1;
            lines.imports += usize::from(is_import && !is_test);
            is_import &= !line.trim_end().ends_with(';');
        }
        lines
    }

    fn add(&mut self, other: Self) {
        self.files += other.files;
        self.code += other.code;
        self.imports += other.imports;
        self.comments += other.comments;
        self.tests += other.tests;
        self.wording += other.wording;
    }
}

/// Other files by folder and ending. The Python package is written by hand; the rest is generated, invented or copied.
const OTHERS: [(&str, &str); 6] = [
    ("docs/messages", "txt"),
    ("schema", "json"),
    ("scenarios", "toml"),
    ("crates/likenew-fio/tests/samples", "json"),
    ("web/test", "json"),
    ("python", "py"),
];

/// Prints a table of all crates, and one of other files.
///
/// # Errors
/// A file cannot be read.
pub(crate) fn print() -> anyhow::Result<()> {
    let root = root();
    let mut crates: BTreeMap<String, Lines> = BTreeMap::new();
    for path in tidy::sources(&root) {
        let within = path.strip_prefix(&root)?;
        let mut parts = within.iter().map(|part| part.to_string_lossy().into_owned());
        let name = parts.find(|part| part != "crates").unwrap_or_default();
        crates.entry(name).or_default().add(Lines::of_file(within, &fs::read_to_string(&path)?));
    }
    let mut total = Lines::default();
    crates.values().for_each(|lines| total.add(*lines));
    println!("| crate | files | code | of it imports | wording | comments | tests |");
    println!("|---|---:|---:|---:|---:|---:|---:|");
    for (name, lines) in crates.iter().chain([(&"all".to_owned(), &total)]) {
        let Lines { files, code, imports, wording, comments, tests } = lines;
        println!("| {name} | {files} | {code} | {imports} | {wording} | {comments} | {tests} |");
    }
    println!(
        "\nProduct code, wording included: {} lines in {} files.\n",
        total.code + total.wording,
        total.files
    );
    println!("| other | files | lines |");
    println!("|---|---:|---:|");
    for (folder, ending) in OTHERS {
        let paths = tidy::files(&[root.join(folder)], ending);
        let lines: std::io::Result<usize> =
            paths.iter().map(|path| Ok(fs::read_to_string(path)?.lines().count())).sum();
        println!("| {folder}/*.{ending} | {} | {} |", paths.len(), lines?);
    }
    Ok(())
}
