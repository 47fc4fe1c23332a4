//! What a reader passed over or could not tell: nothing is skipped in silence.

/// What is worth saying of a trace that was read, in the order in which it was met.
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
