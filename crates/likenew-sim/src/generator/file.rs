//! Writes the file of a drive that is drawn, in the form of the catalog.

use std::fmt::{Display, Write as _};

use super::wording;

/// What every value of such a file names as its source.
const SOURCE: &str = "drawn at random";

/// A file that is being written.
pub(super) struct File(String);

impl File {
    /// A file of a kind of drive, with its identity.
    pub(super) fn new(
        kind: &str,
        seed: u64,
        technology: &str,
        capacity_bytes: u64,
        sector_bytes: u64,
    ) -> Self {
        let mut file = Self(format!("{}\nkind = \"{kind}\"\n", wording::comment(seed)));
        file.table("identity");
        file.word("model", &format!("Drawn {seed}"));
        file.word("technology", technology);
        file.value("capacity_bytes", capacity_bytes);
        file.value("sector_bytes", sector_bytes);
        file.table("advertised");
        file
    }

    /// Begins a table.
    pub(super) fn table(&mut self, name: &str) {
        let _ = writeln!(self.0, "\n[{name}]");
    }

    /// A number or a truth.
    pub(super) fn value(&mut self, key: &str, value: impl Display) {
        let _ = writeln!(self.0, "{key} = {{ value = {value}, source = \"{SOURCE}\" }}");
    }

    /// A word.
    pub(super) fn word(&mut self, key: &str, word: &str) {
        self.value(key, format_args!("\"{word}\""));
    }

    /// The text.
    pub(super) fn finish(self) -> String {
        self.0
    }
}
