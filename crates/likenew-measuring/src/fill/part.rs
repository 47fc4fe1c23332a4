//! One file, or one part of a single large one, as it was written or read back.

use likenew_core::segment::Segment;
use likenew_stats::stalls::{Rule, Stall, Wait, stalls};
use serde::Serialize;

/// The unit of measurement: whole files, or the parts of a single one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unit {
    File,
    Part,
}

impl Unit {
    /// `file` or `part`.
    pub(super) fn noun(self) -> &'static str {
        match self {
            Self::File => "file",
            Self::Part => "part",
        }
    }
}

/// One of them.
pub(super) struct Part<'a> {
    /// From 1.
    pub(super) number: usize,
    pub(super) bytes: u64,
    pub(super) bytes_per_s: f64,
    pub(super) segment: &'a Segment,
    pub(super) stalls: Vec<Stall>,
    /// Latency from which an I/O is part of a stall.
    threshold_ns: u64,
}

/// The first columns of a row, before the values.
#[derive(Clone, Copy, Serialize)]
pub(super) struct Key {
    #[serde(skip_serializing_if = "Option::is_none")]
    pass: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    part: Option<usize>,
}

impl Key {
    /// The pass has a column if there are several.
    pub(super) fn new(unit: Unit, number: usize, pass: Option<usize>) -> Self {
        let of = |this| (unit == this).then_some(number);
        Self { pass, file: of(Unit::File), part: of(Unit::Part) }
    }
}

#[derive(Serialize)]
pub(super) struct PartRow {
    #[serde(flatten)]
    key: Key,
    bytes_per_s: f64,
    stalls: usize,
    latency_ns_p50: u64,
    latency_ns_max: u64,
    elapsed_ns: u64,
}

#[derive(Serialize)]
pub(super) struct StallRow {
    #[serde(flatten)]
    key: Key,
    at_ns: u64,
    duration_ns: u64,
    offset_bytes: u64,
    ios: usize,
}

impl<'a> Part<'a> {
    /// `None` for a part that failed.
    pub(super) fn new(number: usize, segment: &'a Segment, rule: Rule) -> Option<Self> {
        let bytes_per_s = segment.bytes_per_s()?;
        let waits: Vec<Wait> = segment
            .slowest
            .iter()
            .map(|sample| Wait { start_ns: sample.due.0, end_ns: sample.done.0, position: sample.offset })
            .collect();
        // Little's law: at a queue depth, one I/O's own share of the time is its latency over the depth.
        let typical_ns = segment.latencies().quantile(0.5).0 / u64::from(segment.workload.depth());
        let stalls = stalls(&waits, typical_ns, rule);
        let bytes = segment.total().bytes;
        let threshold_ns = rule.threshold_ns(typical_ns);
        Some(Self { number, bytes, bytes_per_s, segment, stalls, threshold_ns })
    }

    /// Whether more I/Os were slow than there are samples.
    pub(super) fn may_hide_stalls(&self) -> bool {
        let slowest = &self.segment.slowest;
        slowest.len() >= Segment::SLOWEST_MAX
            && slowest.iter().all(|sample| sample.latency().0 >= self.threshold_ns)
    }

    pub(super) fn row(&self, unit: Unit, pass: Option<usize>) -> PartRow {
        let latencies = self.segment.latencies();
        PartRow {
            key: Key::new(unit, self.number, pass),
            bytes_per_s: self.bytes_per_s,
            stalls: self.stalls.len(),
            latency_ns_p50: latencies.quantile(0.5).0,
            latency_ns_max: latencies.max().0,
            elapsed_ns: self.segment.elapsed().0,
        }
    }

    pub(super) fn stall_rows(&self, unit: Unit, pass: Option<usize>) -> impl Iterator<Item = StallRow> {
        self.stalls.iter().map(move |stall| StallRow {
            key: Key::new(unit, self.number, pass),
            at_ns: stall.start_ns,
            duration_ns: stall.duration_ns,
            offset_bytes: stall.position,
            ios: stall.ios,
        })
    }
}
