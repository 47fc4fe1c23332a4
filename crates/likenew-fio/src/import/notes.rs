//! What limits the trust in an import, gathered over all jobs.

use std::collections::BTreeMap;

/// Jobs by their notes.
pub(super) struct Notes {
    documents: usize,
    jobs_by_note: BTreeMap<Note, Vec<String>>,
}

/// Something that a reader has to know about a job.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Note {
    /// It ended with an error.
    Failed(i32),
    /// Percentiles are interpolated between those that fio lists.
    Interpolated,
    /// Percentiles are of the time after an I/O was submitted.
    CompletionOnly,
    /// The total latency was not measured, only that after an I/O was submitted.
    NoTotal,
    /// Nothing is known of its latency.
    NoLatency,
    /// Of its latency only the mean is known.
    MeanOnly,
    /// Reads and writes came as one number.
    Mixed,
    /// It read back what it wrote.
    VerifyCounts,
    /// It read back what it wrote, beside its own reads.
    VerifiedAmong,
    /// It read back what it wrote, between its writes.
    VerifiedBetween,
    /// It only read back what another run wrote.
    DryWrites,
    /// It only read back what another run of a mix wrote.
    DryMix,
    /// It read back what it wrote, and both came as one number.
    MixedVerify,
    /// It took less than a step of fio's clock.
    Instant,
    /// Latency counts from when an I/O left, not from when it was due.
    Paced,
    /// Every copy walked the whole zone.
    Overlapping,
    /// These settings have no counterpart in a workload.
    Unmapped(String),
}

impl Notes {
    pub(super) fn new(documents: usize) -> Self {
        Self { documents, jobs_by_note: BTreeMap::new() }
    }

    pub(super) fn add(&mut self, note: Note, job: &str) {
        let jobs = self.jobs_by_note.entry(note).or_default();
        if !jobs.iter().any(|known| known == job) {
            jobs.push(job.to_owned());
        }
    }

    /// Documents that the file holds.
    pub(super) fn documents(&self) -> usize {
        self.documents
    }

    /// What was noted, the most important first, and of which jobs.
    pub(super) fn jobs_by_note(&self) -> &BTreeMap<Note, Vec<String>> {
        &self.jobs_by_note
    }
}
