//! The tables of a replay.

use likenew_core::findings::Row;
use likenew_core::io::Op;
use likenew_core::replay_record::{ReplayPair, ReplayRecord};
use likenew_core::tally::Latencies;
use serde::Serialize;

use super::pass::Pass;
use likenew_procedure_support::rows::row;

/// The name of all applications without a row of their own.
const OTHER_APPLICATIONS: &str = "(others)";

/// The mean of one application over the passes.
pub(super) struct Application {
    pub(super) name: String,
    pub(super) ios: u64,
    pub(super) bytes: u64,
    /// Sums over all of its I/Os with known latency on both sides.
    pub(super) waiting: ReplayPair,
    /// The same over all of its I/Os, on this drive.
    pub(super) waiting_here: u64,
    pub(super) busy: ReplayPair,
}

#[derive(Serialize)]
struct ApplicationRow<'a> {
    application: &'a str,
    ios: u64,
    bytes: u64,
    waiting_ns: u64,
    recorded_waiting_ns: Option<u64>,
    saved_percent: Option<f64>,
    busy_ns: u64,
    recorded_busy_ns: Option<u64>,
    busy_saved_percent: Option<f64>,
}

/// The results of each application, longest waiting in the trace first.
pub(super) fn of_applications(passes: &[Pass<'_>], names: &[String]) -> Vec<Application> {
    let count = passes.len().max(1) as u64;
    let mean = |both: ReplayPair| ReplayPair {
        replayed_ns: both.replayed_ns / count,
        recorded_ns: both.recorded_ns / count,
    };
    let of = |stream: usize| {
        let tallies = || {
            passes
                .iter()
                .flat_map(|pass| &pass.replay_record.tallies)
                .filter(|t| usize::from(t.stream) == stream)
        };
        let busy = passes
            .iter()
            .flat_map(|pass| &pass.replay_record.streams)
            .filter(|of| usize::from(of.stream) == stream);
        Application {
            name: name_of(stream, names),
            ios: tallies().map(|tally| tally.ios).sum::<u64>() / count,
            bytes: tallies().map(|tally| tally.bytes).sum::<u64>() / count,
            waiting: mean(tallies().fold(ReplayPair::default(), |sum, tally| sum.plus(tally.waiting))),
            waiting_here: tallies().map(|tally| tally.latency_ns_sum).sum::<u64>() / count,
            busy: mean(busy.fold(ReplayPair::default(), |sum, of| sum.plus(of.busy))),
        }
    };
    let mut applications: Vec<Application> = (0..=names.len()).map(of).filter(|of| of.ios > 0).collect();
    applications.sort_by_key(|of| std::cmp::Reverse((of.waiting.recorded_ns, of.waiting_here)));
    applications
}

fn name_of(stream: usize, names: &[String]) -> String {
    let named = stream.checked_sub(1).and_then(|index| names.get(index));
    named
        .map_or_else(|| if names.is_empty() { "(all)" } else { OTHER_APPLICATIONS }.to_owned(), String::clone)
}

pub(super) fn applications(passes: &[Pass<'_>], names: &[String]) -> Vec<Row> {
    let known = |both: ReplayPair| (both.recorded_ns > 0).then_some(both.recorded_ns);
    let applications = of_applications(passes, names);
    let rows = applications.iter().map(|of| {
        row(ApplicationRow {
            application: &of.name,
            ios: of.ios,
            bytes: of.bytes,
            waiting_ns: of.waiting_here,
            recorded_waiting_ns: known(of.waiting),
            saved_percent: of.waiting.saved_percent(),
            busy_ns: of.busy.replayed_ns,
            recorded_busy_ns: known(of.busy),
            busy_saved_percent: of.busy.saved_percent(),
        })
    });
    rows.collect()
}

#[derive(Serialize)]
struct LatencyRow {
    side: &'static str,
    ios: u64,
    latency_ns_p50: u64,
    latency_ns_p90: u64,
    latency_ns_p99: u64,
    latency_ns_p999: u64,
    latency_ns_max: u64,
}

/// Latencies on this drive and as recorded, all passes together.
pub(super) fn latencies(passes: &[Pass<'_>]) -> Vec<Row> {
    let together = |of: fn(&ReplayRecord) -> &Latencies| {
        let mut all = Latencies::default();
        passes.iter().for_each(|pass| all.merge(of(pass.replay_record)));
        all
    };
    let sides =
        [("here", together(|of| &of.replay_latency)), ("recorded", together(|of| &of.recording_latency))];
    let known = sides.into_iter().filter(|(_, latencies)| latencies.count() > 0);
    let rows = known.map(|(side, latencies)| {
        let at = |share| latencies.quantile(share).0;
        row(LatencyRow {
            side,
            ios: latencies.count(),
            latency_ns_p50: at(0.5),
            latency_ns_p90: at(0.9),
            latency_ns_p99: at(0.99),
            latency_ns_p999: at(0.999),
            latency_ns_max: latencies.max().0,
        })
    });
    rows.collect()
}

#[derive(Serialize)]
struct WaitRow {
    application: String,
    op: Op,
    offset_bytes: u64,
    bytes: u64,
    at_ns: u64,
    latency_ns: u64,
    recorded_latency_ns: Option<u64>,
}

/// The longest waits of all passes, longest first.
pub(super) fn longest(passes: &[Pass<'_>], names: &[String]) -> Vec<Row> {
    let mut waits: Vec<_> = passes.iter().flat_map(|pass| &pass.replay_record.longest).collect();
    waits.sort_by_key(|wait| std::cmp::Reverse(wait.latency));
    let rows = waits.into_iter().take(ReplayRecord::LONGEST_MAX).map(|wait| {
        row(WaitRow {
            application: name_of(wait.stream.into(), names),
            op: wait.op,
            offset_bytes: wait.offset,
            bytes: wait.length,
            at_ns: wait.at.0,
            latency_ns: wait.latency.0,
            recorded_latency_ns: wait.recorded_latency.map(|latency| latency.0),
        })
    });
    rows.collect()
}
