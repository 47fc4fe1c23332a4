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

    /// All of it, the most important first.
    pub(super) fn sentences(self, unbuffered: bool) -> Vec<String> {
        let mut sentences = vec![
            "measured by fio, not by likenew: nothing here says how steady it was over time, and no slowest I/O is known"
                .to_owned(),
        ];
        if self.documents > 1 {
            sentences.push(format!(
                "the file holds {} documents, as fio --status-interval writes them: this is the last",
                self.documents
            ));
        }
        if !unbuffered {
            sentences
                .push("not every job asked for direct=1: the system's cache may have answered".to_owned());
        }
        sentences.extend(
            self.jobs_by_note.iter().map(|(note, jobs)| format!("{}: {}", names(jobs), note.sentence())),
        );
        sentences
    }
}

/// A few are named, more are counted.
fn names(jobs: &[String]) -> String {
    const NAMED_MAX: usize = 3;
    let quoted = |jobs: &[String]| jobs.iter().map(|job| format!("\"{job}\"")).collect::<Vec<_>>().join(", ");
    match jobs.len() {
        0..=NAMED_MAX => quoted(jobs),
        count => format!("{} and {} more", quoted(&jobs[..1]), count - 1),
    }
}

impl Note {
    fn sentence(&self) -> String {
        match self {
            Self::Failed(errno) => {
                let error = std::io::Error::from_raw_os_error(*errno);
                return format!("failed: {error}; fio does not say which I/O it was");
            }
            Self::Unmapped(settings) => {
                return format!("the workload shown leaves out what fio was told beyond it: {settings}");
            }
            Self::Interpolated => {
                "percentiles between those that fio lists are interpolated; --output-format=json+ gives them exactly"
            }
            Self::CompletionOnly => {
                "percentiles are of fio's completion latency, which leaves out handing over; lat_percentiles=1 gives them whole"
            }
            Self::NoTotal => "latency is fio's completion latency, which leaves out handing over (disable_lat)",
            Self::NoLatency => "fio was told not to measure latency",
            Self::MeanOnly => "fio was told to give no percentiles; of its latency the mean alone is known",
            Self::Mixed => {
                "fio gave reads and writes as one number; they are divided by the job's rwmixread and share one distribution"
            }
            Self::VerifyCounts => "what the job read, to verify what was written, is shown as a workload of its own, over its own time",
            Self::VerifiedAmong => {
                "fio does not tell the mix's own reads from those that verify: counts, latencies and rates are of both; \
                 do_verify=0 measures the mix alone"
            }
            Self::VerifiedBetween => {
                "fio verified between the writes (verify_backlog) and counts their time as one: the rates are of both together"
            }
            Self::DryWrites => {
                "verify_only wrote nothing: the writes that fio counts are left out, and only the verification is shown"
            }
            Self::DryMix => {
                "fio counts the whole mix as done, although verify_only read only what it verified: nothing of it is shown"
            }
            Self::MixedVerify => {
                "fio gave what was written and what was read back to verify it as one number, over the time of the longer: \
                 no rate is known; leave out unified_rw_reporting"
            }
            Self::Instant => "took less than the millisecond that fio tells apart: no rate is known",
            Self::Paced => "an I/O that left late counts from when it left, and not from when it was due as with us",
            Self::Overlapping => "each copy walked the whole zone, where copies of ours divide it",
        }
        .to_owned()
    }
}
