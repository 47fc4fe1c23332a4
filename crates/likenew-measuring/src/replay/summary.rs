//! The content of a trace, found in one pass and in constant memory before anything is measured.

use likenew_core::io::Op;
use likenew_core::replay_spec::{ReplaySpec, TraceTotals};
use likenew_core::trace::TraceSource;
use likenew_core::units::{Nanos, duration_text, size_text};
use serde::{Deserialize, Serialize};

use super::replay_mode::ReplayMode;

/// The content of a trace.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TraceSummary {
    /// Digest of the file's bytes, which shows if the file is replaced.
    pub digest: String,
    /// I/Os of each kind.
    pub reads: u64,
    /// I/Os that write.
    pub writes: u64,
    /// I/Os that discard.
    pub trims: u64,
    /// I/Os that make writes durable.
    pub flushes: u64,
    /// Bytes that were read.
    #[serde(with = "size_text")]
    pub read_bytes: u64,
    /// Bytes that were written.
    #[serde(with = "size_text")]
    pub written_bytes: u64,
    /// The longest read or write.
    #[serde(with = "size_text")]
    pub longest_bytes: u64,
    /// The capacity of the recorded drive, or the end of the highest address used.
    #[serde(with = "size_text")]
    pub extent_bytes: u64,
    /// I/Os with a known completion time.
    pub ends: u64,
    /// From the first departure to the last completion.
    #[serde(with = "duration_text")]
    pub elapsed: Nanos,
    /// Time by which pauses exceed the limit, if there is one.
    #[serde(with = "duration_text")]
    pub idle_cut: Nanos,
    /// Total of the pauses, before any limit.
    #[serde(with = "duration_text")]
    pub pauses: Nanos,
    /// The limits of the trace, as clauses without a full stop.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// The named applications with most I/Os, most first, as many as are told apart.
    pub applications: Vec<String>,
}

impl TraceSummary {
    /// Reads a trace to its end; the caller, who knows the file, adds its digest and notes. Pauses are
    /// limited to `idle_max`.
    ///
    /// # Errors
    /// What is wrong with the trace, and where.
    pub fn read(source: &mut dyn TraceSource, idle_max: Option<Nanos>) -> Result<Self, String> {
        let mut summary = Self::default();
        let (mut counts, mut quiet_since): (Vec<u64>, _) = (Vec::new(), Nanos::ZERO);
        while let Some(io) = source.next_io()? {
            match io.op {
                Op::Read => summary.reads += 1,
                Op::Write => summary.writes += 1,
                Op::Trim => summary.trims += 1,
                Op::Flush => summary.flushes += 1,
            }
            match io.op {
                Op::Read => summary.read_bytes = summary.read_bytes.saturating_add(io.length),
                Op::Write => summary.written_bytes = summary.written_bytes.saturating_add(io.length),
                Op::Trim | Op::Flush => {}
            }
            if matches!(io.op, Op::Read | Op::Write) {
                summary.longest_bytes = summary.longest_bytes.max(io.length);
            }
            summary.extent_bytes = summary.extent_bytes.max(io.offset.saturating_add(io.length));
            summary.ends += u64::from(io.latency.is_some());
            let pause = io.at.since(quiet_since);
            summary.pauses += pause;
            summary.idle_cut += pause.since(idle_max.unwrap_or(Nanos::NEVER));
            quiet_since = quiet_since.max(io.at + io.latency.unwrap_or_default());
            let application = usize::from(io.application);
            if application >= counts.len() {
                counts.resize(application + 1, 0);
            }
            counts[application] += 1;
        }
        summary.elapsed = quiet_since;
        summary.extent_bytes = source.capacity().unwrap_or(0).max(summary.extent_bytes);
        summary.applications = top_applications(&counts, source.applications());
        Ok(summary)
    }

    /// I/Os that a replay runs.
    pub fn replayed_ios(&self, reads_only: bool) -> u64 {
        if reads_only { self.reads } else { self.reads + self.writes + self.trims + self.flushes }
    }

    /// Pauses left in a replay of this mode.
    pub fn pauses(&self, mode: ReplayMode) -> Nanos {
        if mode == ReplayMode::Fast { Nanos::ZERO } else { self.pauses.since(self.idle_cut) }
    }

    /// Whether it changes data on the drive.
    pub fn changes(&self) -> bool {
        self.writes + self.trims > 0
    }

    pub(super) fn trace_totals(&self, reads_only: bool, speed: Option<f64>) -> TraceTotals {
        let clocked = |speed: f64| Nanos((self.elapsed.since(self.idle_cut).0 as f64 / speed) as u64);
        TraceTotals {
            ios: self.replayed_ios(reads_only),
            read_bytes: self.read_bytes,
            written_bytes: if reads_only { 0 } else { self.written_bytes },
            trims: if reads_only { 0 } else { self.trims },
            elapsed: speed.map_or(Nanos::ZERO, clocked),
        }
    }
}

/// The names with the highest counts, highest first; of equal ones the first to appear.
fn top_applications(counts: &[u64], names: &[String]) -> Vec<String> {
    let mut named: Vec<(u64, &String)> =
        counts.iter().copied().zip(names).filter(|(count, name)| *count > 0 && !name.is_empty()).collect();
    named.sort_by_key(|(count, _)| std::cmp::Reverse(*count));
    named.into_iter().take(ReplaySpec::APPLICATIONS_MAX).map(|(_, name)| name.clone()).collect()
}
