//! One replay of a trace, the tables and charts of all replays, and the answers: whether programs would wait less, and
//! how certain that is.

use likenew_core::findings::{Answer, Findings, Line, Row, Series, Shape, Standing};
use likenew_core::procedure::Evidence;
use likenew_core::quantity::{Latency, Share};
use likenew_core::segment::{Cell, ReplayPair, ReplayRecord, Segment, Stop, Windows};
use likenew_core::shell::shell_quote;
use likenew_core::tally::Latencies;
use likenew_core::target::Clock;
use likenew_core::units::{Nanos, exact_duration};
use likenew_procedure_support::estimate::Estimate;
use likenew_procedure_support::options::Arguments;
use likenew_procedure_support::rerun::{PASSES_FEW, PASSES_MANY, Rerun};
use likenew_procedure_support::rows::Columns as _;
use likenew_procedure_support::series::axis;
use likenew_procedure_support::wording::{MEASURED_ONCE, answer_as_summary};
use likenew_stats::summary::mean;

use super::wording::{self, Measure, Times, WaitRow};
use super::{Replay, ReplayMode, ReplayOptions};

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
    } else {
        passes.truncate(1);
    }
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
struct Application {
    name: String,
    ios: u64,
    bytes: u64,
    /// Sums over all of its I/Os with known latency on both sides.
    waiting: ReplayPair,
    /// Sums over all of its I/Os on this drive.
    waiting_here: u64,
    busy: ReplayPair,
}

/// The results of each application, longest waiting in the trace first.
fn of_applications(passes: &[Pass<'_>], names: &[String]) -> Vec<Application> {
    let count = passes.len().max(1) as u64;
    let mean = |both: ReplayPair| ReplayPair {
        replayed_ns: both.replayed_ns / count,
        recorded_ns: both.recorded_ns / count,
    };
    let to_application = |stream: usize| {
        let records = || passes.iter().map(|pass| pass.replay_record);
        let tallies = || {
            let all = records().flat_map(|record| &record.tallies);
            all.filter(|tally| usize::from(tally.stream) == stream)
        };
        let streams = records().flat_map(|record| &record.streams);
        let busy = streams.filter(|record| usize::from(record.stream) == stream);
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
    let unnamed = if names.is_empty() { "(all)" } else { OTHER_APPLICATIONS };
    let named = stream.checked_sub(1).and_then(|index| names.get(index));
    named.map_or(unnamed, String::as_str).to_owned()
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
    let here = passes.iter().map(|pass| pass.replay_record.replayed_windows.clone());
    let here = here.reduce(|mut windows, others| {
        windows.merge(others);
        windows
    });
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
    let (x, y) = (axis("application", ""), axis(wording::WAITING_AXIS, "ns"));
    Series::new(wording::APPLICATIONS_TITLE, Shape::Bars, x, y)
        .categories(applications.iter().map(|application| application.name.clone()))
        .lines(lines)
}

/// Difference, as a share, below which a single pass shows none, because it has no interval. Chosen.
const MARGIN: f64 = 0.05;
/// Share of I/Os with recorded latency below which they may not stand for the others. Chosen.
const PAIRED_MIN: f64 = 0.5;
/// Lateness of the replay itself over the waiting, as a share, from which it is reported. Chosen.
const LATE_SHARE: f64 = 0.01;

/// The passes and options from which the answers are made.
pub(super) struct ReplayInput<'a> {
    pub(super) options: &'a ReplayOptions,
    pub(super) passes: &'a [Pass<'a>],
    pub(super) evidence: &'a Evidence,
}

impl ReplayInput<'_> {
    /// Adds summary, answers and overview.
    pub(super) fn put(&self, findings: &mut Findings) {
        let (answer, times) = self.comparison();
        // The summary also names a difference in a single pass, and that it is from one pass.
        let has_difference = answer.standing == Standing::Info || wording::is_of_one_pass(&answer);
        findings.summary = match times.filter(|_| has_difference) {
            Some(times) => wording::summary_of_difference(self.measure(), times),
            None => answer_as_summary(&answer),
        };
        findings.answers.push(self.with_caveats(answer));
        if let Some((answer, is_late)) = self.timing() {
            findings.overview.answers.extend(is_late.then(|| answer.id.clone()));
            findings.answers.push(answer);
        }
        if !self.passes.is_empty() {
            findings.overview.table = Some(wording::table(self.waits().into_iter(), self.measure()));
            findings.overview.series = latency_series(self.passes).map(|_| "summary".into());
        }
    }

    fn measure(&self) -> Measure {
        if self.options.mode == ReplayMode::Fast { Measure::Busy } else { Measure::Waiting }
    }

    /// The times that decide: the sum of all latencies, or busy time if I/Os do not leave at their recorded times.
    fn pair(&self, pass: &Pass<'_>) -> ReplayPair {
        match self.measure() {
            Measure::Busy => pass.replay_record.busy,
            Measure::Waiting => pass.replay_record.waiting(),
        }
    }

    /// The mean over the passes, in nanoseconds.
    fn mean_of(&self, time: impl Fn(&Pass<'_>) -> u64) -> Latency {
        let times: Vec<f64> = self.passes.iter().map(|pass| time(pass) as f64).collect();
        Latency(mean(&times).unwrap_or(0.0))
    }

    fn comparison(&self) -> (Answer, Option<Times>) {
        let measure = self.measure();
        let Some(first) = self.passes.first() else { return (wording::nothing_measured(measure), None) };
        let saved: Vec<f64> =
            self.passes.iter().filter_map(|pass| Some(self.pair(pass).saved_percent()? / 100.0)).collect();
        let Some(saved) = Estimate::of_passes(&saved) else {
            return (wording::no_recorded_latencies(measure, Latency(first.waiting_here() as f64)), None);
        };
        let times = Times {
            recorded: self.mean_of(|pass| self.pair(pass).recorded_ns),
            here: self.mean_of(|pass| self.pair(pass).replayed_ns),
            saved,
        };
        let known = first.replay_record.paired_ios() as f64 / first.replay_record.ios as f64;
        let answer = if known >= PAIRED_MIN {
            self.decide(times)
        } else {
            wording::few_recorded_latencies(measure, times, Share(known))
        };
        let answer = match saved.interval {
            Some(_) => saved.map(|share| 100.0 * share).put(answer, "%"),
            None => answer.caveat(MEASURED_ONCE),
        };
        (self.with_evidence(answer), Some(times))
    }

    fn decide(&self, times: Times) -> Answer {
        let measure = self.measure();
        let ([low, high], interval) = (times.saved.ends(), times.saved.interval);
        let margin = if interval.is_some() { 0.0 } else { MARGIN };
        let is_slower = high < -margin;
        let differs = is_slower || low > margin;
        let more_passes = |passes| self.rerun(passes).more_passes();
        match interval {
            _ if is_slower && self.is_slow_by_lateness() => wording::replay_was_late(measure, times),
            Some(_) if differs => wording::differs(measure, times),
            Some(interval) => {
                wording::within_noise(measure, times, interval).action(more_passes(PASSES_MANY))
            }
            None if differs => wording::differs_once(measure, times).action(more_passes(PASSES_FEW)),
            None => wording::within_margin(measure, times, Share(MARGIN)).action(more_passes(PASSES_FEW)),
        }
    }

    /// Whether the drive would be no slower if the replay itself had been on time.
    fn is_slow_by_lateness(&self) -> bool {
        if self.options.mode == ReplayMode::Fast {
            return false;
        }
        let saved_on_time = |pass: &Pass<'_>| {
            let ReplayPair { replayed_ns, recorded_ns } = self.pair(pass);
            let replayed_ns = replayed_ns.saturating_sub(pass.own_lateness());
            ReplayPair { replayed_ns, recorded_ns }.saved_percent()
        };
        let saved: Vec<f64> = self.passes.iter().filter_map(saved_on_time).collect();
        mean(&saved).is_some_and(|saved| saved > -100.0 * MARGIN)
    }

    /// The same replay with this many passes.
    fn rerun(&self, passes: u32) -> Rerun {
        let again = ReplayOptions { passes, ..self.options.clone() };
        Rerun::new(self.evidence, &self.rerun_options(passes), Replay::new(again))
    }

    /// The options of the same replay with this many passes.
    fn rerun_options(&self, passes: u32) -> String {
        let ReplayOptions { trace, format, volume, mode, speed, idle_max, reads_only, .. } = self.options;
        Arguments::default()
            .add(true, "trace", shell_quote(trace))
            .add_known("format", format.as_ref().map(|format| shell_quote(format)))
            .add_known("volume", volume.as_ref().map(|volume| shell_quote(volume)))
            .add(*mode != ReplayMode::default(), "mode", mode)
            .add(*speed != 1.0, "speed", speed)
            .add_known("idle-max", idle_max.map(exact_duration))
            .add(*reads_only, "reads-only", "")
            .add(true, "passes", passes)
            .text()
    }

    fn with_evidence(&self, answer: Answer) -> Answer {
        if self.measure() == Measure::Busy {
            return answer;
        }
        let here = self.mean_of(|pass| pass.replay_record.busy.replayed_ns);
        let recorded = self.mean_of(|pass| pass.replay_record.busy.recorded_ns);
        let saved = (recorded.0 > 0.0).then(|| 1.0 - here.0 / recorded.0);
        let answer = answer.with_evidence(wording::busy_times(here, recorded, saved));
        if self.options.mode == ReplayMode::Timed
            || self.options.idle_max.is_some()
            || self.options.speed != 1.0
        {
            return answer;
        }
        answer.with_evidence(wording::elapsed_times(
            self.mean_of(|pass| pass.segment.elapsed().0),
            self.mean_of(|pass| pass.replay_record.recorded_elapsed.0),
        ))
    }

    /// Adds the limits of the answer, from the pass and from the trace.
    fn with_caveats(&self, mut answer: Answer) -> Answer {
        let Some(first) = self.passes.first() else { return answer };
        let ReplayRecord { ios, skips, remapped_ios, .. } = *first.replay_record;
        let options = self.options;
        let share = |part: u64, whole: u64| Share(part as f64 / whole.max(1) as f64);
        let summary = options.summary.as_ref();
        let mut add = |applies: bool, sentence: String| answer.caveats.extend(applies.then_some(sentence));
        add(!first.is_whole(), wording::stopped_early(ios));
        add(options.time.is_some(), wording::TIME_LIMIT.into());
        add(options.mode == ReplayMode::Fast, wording::FAST_HAS_NO_THINK_TIME.into());
        add(options.mode == ReplayMode::Timed, wording::TIMED_WAITS_FOR_NOTHING.into());
        for note in summary.iter().flat_map(|summary| &summary.notes) {
            add(true, wording::note_of_trace(note));
        }
        let has_ends = summary.is_some_and(|summary| summary.ends > 0);
        add(options.mode == ReplayMode::Dependent && !has_ends, wording::NO_RECORDED_ENDS.into());
        add(options.speed != 1.0, wording::replay_speed(options.speed));
        add(options.idle_max.is_some(), wording::pauses_were_cut(options.idle_max.unwrap_or_default()));
        let skipped = share(skips, ios + skips);
        add(skips > 0 && options.reads_only, wording::only_reads_replayed(skipped));
        add(skips > 0 && !options.reads_only, wording::trim_left_out(skipped));
        add(remapped_ios > 0, wording::remapped(share(remapped_ios, ios)));
        let writes = summary.is_some_and(|summary| summary.writes > 0);
        add(writes && !options.reads_only, wording::data_not_recorded(options.data));
        add(options.prepare && self.evidence.geometry.writable, wording::PREPARED.into());
        answer
    }

    /// Whether the replay itself kept the recorded times.
    fn timing(&self) -> Option<(Answer, bool)> {
        let first = self.passes.first()?;
        if first.replay_record.lateness.count() == 0 || self.evidence.geometry.clock == Clock::Virtual {
            return None;
        }
        let lateness: u64 = self.passes.iter().map(Pass::own_lateness).sum();
        let waiting: u64 = self.passes.iter().map(Pass::waiting_here).sum();
        let share = lateness as f64 / waiting.max(1) as f64;
        let p99 = self.passes.iter().map(|pass| pass.replay_record.lateness.quantile(0.99)).max();
        let p99 = p99.unwrap_or(Nanos::ZERO);
        let is_late = share > LATE_SHARE;
        let answer = if is_late { wording::late } else { wording::on_time };
        Some((answer(p99, Share(share)), is_late))
    }

    /// All applications together, then each of them.
    fn waits(&self) -> Vec<WaitRow> {
        let names = self.options.applications();
        let here = self.mean_of(|pass| match self.measure() {
            Measure::Busy => pass.replay_record.busy.replayed_ns,
            Measure::Waiting => pass.waiting_here(),
        });
        let pair = ReplayPair {
            replayed_ns: self.mean_of(|pass| self.pair(pass).replayed_ns).0 as u64,
            recorded_ns: self.mean_of(|pass| self.pair(pass).recorded_ns).0 as u64,
        };
        let ios = self.passes.first().map_or(0, |pass| pass.replay_record.ios);
        let together = WaitRow { name: wording::ALL_APPLICATIONS.into(), ios, here, pair };
        let row = |application: Application| {
            let (here, pair) = match self.measure() {
                Measure::Busy => (application.busy.replayed_ns, application.busy),
                Measure::Waiting => (application.waiting_here, application.waiting),
            };
            WaitRow { name: application.name, ios: application.ios, here: Latency(here as f64), pair }
        };
        let each = of_applications(self.passes, names);
        // A trace without application names has all of them in one row already.
        let each = if names.is_empty() { Vec::new() } else { each };
        std::iter::once(together).chain(each.into_iter().map(row)).collect()
    }
}
