//! One replay of a trace, and the tables and charts of all replays.

use likenew_core::findings::{Line, Row, Series, Shape};
use likenew_core::segment::{Cell, ReplayPair, ReplayRecord, Segment, Stop, Windows};
use likenew_core::tally::Latencies;
use likenew_procedure_support::rows::Columns as _;
use likenew_procedure_support::series::axis;

use super::wording;

/// A segment that is a replay, with its I/Os.
pub(super) struct Pass<'a> {
    /// From 1.
    pub(super) number: usize,
    pub(super) segment: &'a Segment,
    pub(super) replay_record: &'a ReplayRecord,
}

/// Complete passes without errors; if there is none, the one that was stopped.
pub(super) fn passes(replays: Vec<&Segment>) -> Vec<Pass<'_>> {
    let measured = replays.into_iter().filter(|segment| segment.measurement_error().is_none());
    let replays = measured.filter_map(|segment| Some((segment, segment.replay_record.as_ref()?)));
    let replays = replays.filter(|(_, replay_record)| replay_record.ios > 0).enumerate();
    let mut passes: Vec<Pass<'_>> = replays
        .map(|(index, (segment, replay_record))| Pass { number: index + 1, segment, replay_record })
        .collect();
    if passes.iter().any(Pass::is_whole) {
        passes.retain(Pass::is_whole);
    }
    passes.truncate(if passes.iter().any(Pass::is_whole) { passes.len() } else { 1 });
    passes
}

impl Pass<'_> {
    pub(super) fn is_whole(&self) -> bool {
        self.segment.stop == Stop::Reached
    }

    /// Sum of all latencies here, including I/Os without a recorded one.
    pub(super) fn waiting_here(&self) -> u64 {
        self.replay_record.tallies.iter().map(|tally| tally.latency_ns_sum).sum()
    }

    pub(super) fn row(&self, several: bool) -> Row {
        let (waiting, busy) = (self.replay_record.waiting(), self.replay_record.busy);
        let columns = Row::new()
            .with_known("pass", several.then_some(self.number))
            .with("ios", self.replay_record.ios)
            .with("bytes", self.replay_record.bytes());
        with_times(columns, self.waiting_here(), waiting, busy)
            .with("elapsed_ns", self.segment.elapsed().0)
            .with("recorded_elapsed_ns", self.replay_record.recorded_elapsed.0)
    }

    /// How late the I/Os left; `None` if they had no recorded time to keep.
    pub(super) fn timing(&self, several: bool) -> Option<Row> {
        let ReplayRecord { lateness, lateness_ns_sum, throttled_ns_sum, .. } = self.replay_record;
        let held = || *throttled_ns_sum as f64 / *lateness_ns_sum as f64 * 100.0;
        (lateness.count() > 0).then(|| {
            Row::new()
                .with_known("pass", several.then_some(self.number))
                .with("ios", lateness.count())
                .with("late_ns_mean", *lateness_ns_sum as f64 / lateness.count() as f64)
                .with("late_ns_p50", lateness.quantile(0.5).0)
                .with("late_ns_p99", lateness.quantile(0.99).0)
                .with("late_ns_max", lateness.max().0)
                .with("held_percent", (*lateness_ns_sum > 0).then(held))
        })
    }

    /// Lateness that the target did not cause, in nanoseconds.
    pub(super) fn own_lateness(&self) -> u64 {
        self.replay_record.lateness_ns_sum - self.replay_record.throttled_ns_sum
    }
}

/// The name of all applications without a row of their own.
const OTHER_APPLICATIONS: &str = "(others)";

/// The mean of one application over the passes.
pub(super) struct Application {
    pub(super) name: String,
    pub(super) ios: u64,
    pub(super) bytes: u64,
    /// Sums over all of its I/Os with known latency on both sides.
    pub(super) waiting: ReplayPair,
    /// Sums over all of its I/Os on this drive.
    pub(super) waiting_here: u64,
    pub(super) busy: ReplayPair,
}

/// The results of each application, longest waiting in the trace first.
pub(super) fn of_applications(passes: &[Pass<'_>], names: &[String]) -> Vec<Application> {
    let count = passes.len().max(1) as u64;
    let mean = |both: ReplayPair| ReplayPair {
        replayed_ns: both.replayed_ns / count,
        recorded_ns: both.recorded_ns / count,
    };
    let to_application = |stream: usize| {
        let tallies = || {
            passes
                .iter()
                .flat_map(|pass| &pass.replay_record.tallies)
                .filter(|t| usize::from(t.stream) == stream)
        };
        let busy = passes
            .iter()
            .flat_map(|pass| &pass.replay_record.streams)
            .filter(|record| usize::from(record.stream) == stream);
        Application {
            name: name_of(stream, names),
            ios: tallies().map(|tally| tally.ios).sum::<u64>() / count,
            bytes: tallies().map(|tally| tally.bytes).sum::<u64>() / count,
            waiting: mean(tallies().fold(ReplayPair::default(), |sum, tally| sum.plus(tally.waiting))),
            waiting_here: tallies().map(|tally| tally.latency_ns_sum).sum::<u64>() / count,
            busy: mean(busy.fold(ReplayPair::default(), |sum, record| sum.plus(record.busy))),
        }
    };
    let mut applications: Vec<Application> =
        (0..=names.len()).map(to_application).filter(|application| application.ios > 0).collect();
    applications.sort_by_key(|application| {
        std::cmp::Reverse((application.waiting.recorded_ns, application.waiting_here))
    });
    applications
}

fn name_of(stream: usize, names: &[String]) -> String {
    let named = stream.checked_sub(1).and_then(|index| names.get(index));
    named
        .map_or_else(|| if names.is_empty() { "(all)" } else { OTHER_APPLICATIONS }.to_owned(), String::clone)
}

pub(super) fn applications(passes: &[Pass<'_>], names: &[String]) -> Vec<Row> {
    let row = |application: Application| {
        let columns = Row::new().with("application", &application.name);
        let columns = columns.with("ios", application.ios).with("bytes", application.bytes);
        with_times(columns, application.waiting_here, application.waiting, application.busy)
    };
    of_applications(passes, names).into_iter().map(row).collect()
}

/// The columns of waiting and of busy time, here and as recorded.
fn with_times(columns: Row, waiting_here: u64, waiting: ReplayPair, busy: ReplayPair) -> Row {
    let known = |both: ReplayPair| (both.recorded_ns > 0).then_some(both.recorded_ns);
    columns
        .with("waiting_ns", waiting_here)
        .with("recorded_waiting_ns", known(waiting))
        .with("saved_percent", waiting.saved_percent())
        .with("busy_ns", busy.replayed_ns)
        .with("recorded_busy_ns", known(busy))
        .with("busy_saved_percent", busy.saved_percent())
}

/// Latencies on this drive and as recorded, all passes together.
pub(super) fn latencies(passes: &[Pass<'_>]) -> Vec<Row> {
    let together = |side: fn(&ReplayRecord) -> &Latencies| {
        let mut merged = Latencies::default();
        passes.iter().for_each(|pass| merged.merge(side(pass.replay_record)));
        merged
    };
    let sides = [
        ("here", together(|record| &record.replay_latency)),
        ("recorded", together(|record| &record.recording_latency)),
    ];
    let known = sides.into_iter().filter(|(_, latencies)| latencies.count() > 0);
    let rows = known.map(|(side, latencies)| {
        let at = |share| latencies.quantile(share).0;
        Row::new()
            .with("side", side)
            .with("ios", latencies.count())
            .with("latency_ns_p50", at(0.5))
            .with("latency_ns_p90", at(0.9))
            .with("latency_ns_p99", at(0.99))
            .with("latency_ns_p999", at(0.999))
            .with("latency_ns_max", latencies.max().0)
    });
    rows.collect()
}

/// The longest waits of all passes, longest first.
pub(super) fn longest(passes: &[Pass<'_>], names: &[String]) -> Vec<Row> {
    let mut waits: Vec<_> = passes.iter().flat_map(|pass| &pass.replay_record.longest).collect();
    waits.sort_by_key(|wait| std::cmp::Reverse(wait.latency));
    let rows = waits.into_iter().take(ReplayRecord::LONGEST_MAX).map(|wait| {
        Row::new()
            .with("application", name_of(wait.stream.into(), names))
            .with("op", wait.op)
            .with("offset_bytes", wait.offset)
            .with("bytes", wait.length)
            .with("at_ns", wait.at.0)
            .with("latency_ns", wait.latency.0)
            .with("recorded_latency_ns", wait.recorded_latency.map(|latency| latency.0))
    });
    rows.collect()
}

/// A line along the trace has about this many points.
const POINTS: usize = 240;
/// Most applications drawn.
const APPLICATIONS: usize = 12;

/// Mean latency along the trace, on this drive and as recorded; all passes together. `None` if the trace fits into
/// one window, which would be a single point.
pub(super) fn latency_series(passes: &[Pass<'_>]) -> Option<Series> {
    let mut here: Option<Windows> = None;
    for pass in passes {
        match &mut here {
            Some(windows) => windows.merge(pass.replay_record.replayed_windows.clone()),
            None => here = Some(pass.replay_record.replayed_windows.clone()),
        }
    }
    let recorded = passes.first().map(|pass| pass.replay_record.recorded_windows.clone());
    let lines = [(wording::HERE_LINE, here), (wording::RECORDED_LINE, recorded)].into_iter().filter_map(
        |(name, windows)| {
            let points = means(&windows?);
            (!points.is_empty()).then(|| Line::new(name, points))
        },
    );
    let (x, y) = (axis(wording::TIME_AXIS, "ns"), axis(wording::LATENCY_AXIS, "ns").logarithmic());
    let series = Series::new(wording::LATENCY_TITLE, Shape::Line, x, y).lines(lines);
    series.lines.iter().any(|line| line.points.len() > 1).then_some(series)
}

/// `[middle of the window, mean latency]` if any I/O left in it.
fn means(windows: &Windows) -> Vec<[f64; 2]> {
    let together = windows.cells.len().div_ceil(POINTS).max(1);
    let point = |(index, cells): (usize, &[Cell])| {
        let ios: u64 = cells.iter().map(|cell| cell.ios).sum();
        let sum: u64 = cells.iter().map(|cell| cell.latency_ns_sum).sum();
        let width = (windows.width * together as u64) as f64;
        (ios > 0).then(|| [(index as f64 + 0.5) * width, sum as f64 / ios as f64])
    };
    windows.cells.chunks(together).enumerate().filter_map(point).collect()
}

/// How long each application waited, on this drive and as recorded.
pub(super) fn applications_series(passes: &[Pass<'_>], names: &[String]) -> Series {
    let mut applications = of_applications(passes, names);
    applications.truncate(APPLICATIONS);
    let line = |name: &str, value: &dyn Fn(usize) -> f64| {
        let points: Vec<[f64; 2]> = (0..applications.len()).map(|at| [at as f64, value(at)]).collect();
        Line::new(name, points)
    };
    let mut lines = vec![line(wording::HERE_LINE, &|at| applications[at].waiting_here as f64)];
    if applications.iter().any(|application| application.waiting.recorded_ns > 0) {
        lines.push(line(wording::RECORDED_LINE, &|at| applications[at].waiting.recorded_ns as f64));
    }
    Series::new(
        wording::APPLICATIONS_TITLE,
        Shape::Bars,
        axis(wording::APPLICATION_AXIS, ""),
        axis(wording::WAITING_AXIS, "ns"),
    )
    .categories(applications.iter().map(|application| application.name.clone()))
    .lines(lines)
}
