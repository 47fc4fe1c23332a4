//! What a reader skipped or could not determine: nothing is skipped in silence.

/// Notes about a trace that was read, in the order in which they arose.
#[derive(Debug, Default)]
pub(crate) struct Notes {
    counts: Vec<(&'static str, u64)>,
    sentences: Vec<String>,
}

impl Notes {
    /// Counts one more; `what` follows the count.
    pub(crate) fn count(&mut self, what: &'static str) {
        match self.counts.iter_mut().find(|(known, _)| *known == what) {
            Some((_, count)) => *count += 1,
            None => self.counts.push((what, 1)),
        }
    }

    /// A sentence by itself.
    pub(crate) fn say(&mut self, sentence: impl Into<String>) {
        self.sentences.push(sentence.into());
    }

    /// Everything, as sentences without a full stop.
    pub(crate) fn all(&self) -> Vec<String> {
        let counts = self.counts.iter().map(|(what, count)| format!("{count} {what}"));
        self.sentences.iter().cloned().chain(counts).collect()
    }
}
