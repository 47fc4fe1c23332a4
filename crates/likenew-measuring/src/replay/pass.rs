//! One replay of a trace.

use likenew_core::recorder::Stop;
use likenew_core::replay_record::{ReplayPair, ReplayRecord};
use likenew_core::segment::Segment;
use serde::Serialize;

/// A segment that is a replay, with its I/Os.
pub(super) struct Pass<'a> {
    /// From 1.
    pub(super) number: usize,
    pub(super) segment: &'a Segment,
    pub(super) replay_record: &'a ReplayRecord,
}

/// Complete passes without errors; if there is none, the one that was stopped.
pub(super) fn passes(segments: &[Segment]) -> Vec<Pass<'_>> {
    let measured = segments.iter().filter(|segment| segment.measurement_error().is_none());
    let all = measured.filter_map(|segment| Some((segment, segment.replay_record.as_ref()?)));
    let all = all.filter(|(_, replay_record)| replay_record.ios > 0).enumerate();
    let mut passes: Vec<Pass<'_>> = all
        .map(|(index, (segment, replay_record))| Pass { number: index + 1, segment, replay_record })
        .collect();
    if passes.iter().any(Pass::is_whole) {
        passes.retain(Pass::is_whole);
    }
    passes.truncate(if passes.iter().any(Pass::is_whole) { passes.len() } else { 1 });
    passes
}

#[derive(Serialize)]
pub(super) struct SummaryRow {
    #[serde(skip_serializing_if = "Option::is_none")]
    pass: Option<usize>,
    ios: u64,
    bytes: u64,
    waiting_ns: u64,
    recorded_waiting_ns: Option<u64>,
    saved_percent: Option<f64>,
    busy_ns: u64,
    recorded_busy_ns: Option<u64>,
    busy_saved_percent: Option<f64>,
    elapsed_ns: u64,
    recorded_elapsed_ns: u64,
}

#[derive(Serialize)]
pub(super) struct TimingRow {
    #[serde(skip_serializing_if = "Option::is_none")]
    pass: Option<usize>,
    ios: u64,
    late_ns_mean: f64,
    late_ns_p50: u64,
    late_ns_p99: u64,
    late_ns_max: u64,
    held_percent: Option<f64>,
}

impl Pass<'_> {
    pub(super) fn is_whole(&self) -> bool {
        self.segment.stop == Stop::Reached
    }

    /// Sum of all latencies here, including I/Os without a recorded one.
    pub(super) fn waiting_here(&self) -> u64 {
        self.replay_record.tallies.iter().map(|tally| tally.latency_ns_sum).sum()
    }

    pub(super) fn row(&self, several: bool) -> SummaryRow {
        let (waiting, busy) = (self.replay_record.waiting(), self.replay_record.busy);
        let known = |both: ReplayPair| (both.recorded_ns > 0).then_some(both.recorded_ns);
        SummaryRow {
            pass: several.then_some(self.number),
            ios: self.replay_record.ios,
            bytes: self.replay_record.bytes(),
            waiting_ns: self.waiting_here(),
            recorded_waiting_ns: known(waiting),
            saved_percent: waiting.saved_percent(),
            busy_ns: busy.replayed_ns,
            recorded_busy_ns: known(busy),
            busy_saved_percent: busy.saved_percent(),
            elapsed_ns: self.segment.elapsed().0,
            recorded_elapsed_ns: self.replay_record.recorded_elapsed.0,
        }
    }

    /// How late the I/Os left; `None` if they have no recorded time to keep.
    pub(super) fn timing(&self, several: bool) -> Option<TimingRow> {
        let ReplayRecord { lateness, lateness_ns_sum, throttled_ns_sum, .. } = self.replay_record;
        (lateness.count() > 0).then(|| TimingRow {
            pass: several.then_some(self.number),
            ios: lateness.count(),
            late_ns_mean: *lateness_ns_sum as f64 / lateness.count() as f64,
            late_ns_p50: lateness.quantile(0.5).0,
            late_ns_p99: lateness.quantile(0.99).0,
            late_ns_max: lateness.max().0,
            held_percent: (*lateness_ns_sum > 0)
                .then(|| *throttled_ns_sum as f64 / *lateness_ns_sum as f64 * 100.0),
        })
    }

    /// Lateness that the target did not cause, in nanoseconds.
    pub(super) fn own_lateness(&self) -> u64 {
        self.replay_record.lateness_ns_sum - self.replay_record.throttled_ns_sum
    }
}
