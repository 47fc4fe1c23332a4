//! Answers of replay: whether programs would wait less, and how certain that is.

use likenew_core::findings::{Answer, Findings, Standing};
use likenew_core::procedure::Evidence;
use likenew_core::quantity::{Latency, Share};
use likenew_core::segment::{ReplayPair, ReplayRecord};
use likenew_core::shell::shell_quote;
use likenew_core::target::Clock;
use likenew_core::units::{Nanos, exact_duration};
use likenew_procedure_support::estimate::Estimate;
use likenew_procedure_support::options::Arguments;
use likenew_procedure_support::rerun::Rerun;
use likenew_procedure_support::wording::answer_as_summary;
use likenew_stats::interval::Interval;
use likenew_stats::summary::mean;

use super::pass::{Application, Pass, latency_series, of_applications};
use super::wording::{self, Measure, Times, WaitRow};
use super::{Replay, ReplayMode, ReplayOptions};

/// Difference, as a share, below which a single pass shows none, because it has no interval. Chosen.
const MARGIN: f64 = 0.05;
/// Share of I/Os with recorded latency below which they may not stand for the others. Chosen.
const PAIRED_MIN: f64 = 0.5;
/// Lateness of the replay itself over the waiting, as a share, from which it is reported. Chosen.
const LATE_SHARE: f64 = 0.01;
/// Passes to advise after a single one.
const PASSES_FEW: u32 = 3;
/// Passes to advise after several that were not enough.
const PASSES_MANY: u32 = 10;

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
            None => answer.caveat(wording::MEASURED_ONCE),
        };
        (self.with_evidence(answer), Some(times))
    }

    fn decide(&self, times: Times) -> Answer {
        let measure = self.measure();
        let (low, high, margin) = match times.saved.interval {
            Some(Interval { low, high }) => (low, high, 0.0),
            None => (times.saved.value, times.saved.value, MARGIN),
        };
        if low > margin || (high < -margin && !self.is_slow_by_lateness()) {
            if times.saved.interval.is_some() {
                return wording::differs(measure, times);
            }
            wording::with_more_passes(wording::differs_once(measure, times), &self.rerun(PASSES_FEW))
        } else if high < -margin {
            wording::replay_was_late(measure, times)
        } else if times.saved.interval.is_none() {
            let answer = wording::within_margin(measure, times, Share(MARGIN));
            wording::with_more_passes(answer, &self.rerun(PASSES_FEW))
        } else {
            let answer = wording::within_noise(measure, times);
            wording::with_more_passes(answer, &self.rerun(PASSES_MANY))
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
        let busy = |pass: &Pass<'_>| pass.replay_record.busy;
        let (here, recorded) =
            (self.mean_of(|pass| busy(pass).replayed_ns), self.mean_of(|pass| busy(pass).recorded_ns));
        if self.measure() == Measure::Busy {
            return answer;
        }
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
        add(options.mode == ReplayMode::Timed, wording::timed_waits_for_nothing().into());
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
        let together = wait_row(wording::ALL_APPLICATIONS.into(), ios, here, pair);
        let row = |application: Application| {
            let (here, pair) = match self.measure() {
                Measure::Busy => (application.busy.replayed_ns, application.busy),
                Measure::Waiting => (application.waiting_here, application.waiting),
            };
            wait_row(application.name, application.ios, Latency(here as f64), pair)
        };
        let each = of_applications(self.passes, names);
        // A trace without application names has all of them in one row already.
        let each = if names.is_empty() { Vec::new() } else { each };
        std::iter::once(together).chain(each.into_iter().map(row)).collect()
    }
}

fn wait_row(name: String, ios: u64, here: Latency, pair: ReplayPair) -> WaitRow {
    let recorded = (pair.recorded_ns > 0).then_some(pair.recorded_ns as f64);
    WaitRow {
        name,
        ios,
        recorded: recorded.map(Latency),
        here,
        ratio: recorded.map(|recorded| pair.replayed_ns as f64 / recorded),
    }
}
