//! What an aging run shows: metrics of each phase as rows of tables and as charts, and the answers about them: which
//! fell, by how much, and whether idle time restores them.

use likenew_core::counters::FlashCounters;
use likenew_core::drive::{Identity, TargetKind};
use likenew_core::findings::{Answer, Line, Row, Series, Shape, Standing};
use likenew_core::io::Op;
use likenew_core::procedure::Evidence;
use likenew_core::quantity::Size;
use likenew_core::segment::Segment;
use likenew_core::target::Clock;
use likenew_procedure_support::estimate::{Estimate, Verdict, is_whole};
use likenew_procedure_support::fit::arguments;
use likenew_procedure_support::rerun::Rerun;
use likenew_procedure_support::rows::Columns as _;
use likenew_procedure_support::series::{axis, speed, speed_over_time};
use likenew_procedure_support::wording::procedure_action;
use likenew_stats::interval::{CONFIDENCE_95, Interval, mean_interval, ratio_interval};
use likenew_stats::summary::{maximum, mean, minimum};

use super::wording::{self, Drop, Transition};
use super::workloads::{Part, Test};
use super::{Age, AgeOptions, Aggregate, Comparison, Phase, Recipe};
use crate::apps::library::{Entry, default_set};
use crate::apps::results::{PassTotals, geometric_mean};

/// The segments of a run with what they were for, in the order they ran.
pub(super) struct AgeResults<'a> {
    pub(super) parts: Vec<(Part, &'a Segment)>,
    pub(super) passes: u32,
}

impl<'a> AgeResults<'a> {
    /// The segments of a part, without those that failed or were stopped before their own bound.
    fn of_part(&self, wanted: Part) -> impl Iterator<Item = &'a Segment> {
        let parts = self.parts.iter().filter(move |(part, segment)| *part == wanted && is_whole(segment));
        parts.map(|(_, segment)| *segment)
    }

    /// The segments of the aging.
    pub(super) fn aging(&self) -> impl Iterator<Item = &'a Segment> {
        self.parts.iter().filter(|(part, _)| *part == Part::Aging).map(|(_, segment)| *segment)
    }

    /// The last segment before the aging; `None` if that has not begun.
    fn before_aging(&self) -> Option<&'a Segment> {
        let first = self.parts.iter().position(|(part, _)| *part == Part::Aging)?;
        Some(self.parts[first.checked_sub(1)?].1)
    }

    /// The totals of an application of the default set, pass by pass.
    fn application(&self, phase: Phase, application: usize) -> Vec<Option<PassTotals>> {
        let part = |pass| Part::Application { phase, pass, application };
        (1..=self.passes).map(|pass| PassTotals::from_segments(self.of_part(part(pass)))).collect()
    }

    /// The rows of the table, in its order.
    pub(super) fn comparisons(&self) -> Vec<Comparison> {
        let others = [Test::SequentialWrites, Test::RandomReads, Test::SequentialReads];
        let mut comparisons = vec![self.rate(Test::RandomWrites)];
        comparisons.extend(self.latencies());
        comparisons.extend(others.map(|test| self.rate(test)));
        comparisons.push(self.score());
        comparisons
    }

    /// The score of each application.
    pub(super) fn applications(&self) -> Vec<Comparison> {
        let scores = |(index, entry): (usize, &'static Entry)| {
            let in_phase = |phase| {
                self.application(phase, index).into_iter().flatten().map(|played| played.score()).collect()
            };
            Comparison::of_scores(&entry.application.name, Phase::ALL.map(in_phase))
        };
        default_set().enumerate().map(scores).collect()
    }

    fn rate(&self, test: Test) -> Comparison {
        let aggregate = if test.is_in_sequence() { Aggregate::MeanOfPairs } else { Aggregate::Mean };
        self.of_passes(test, test.name(), "bytes/s", aggregate, Segment::bytes_per_s)
    }

    /// Mean, p99 and maximum of the latency of random writes.
    fn latencies(&self) -> [Comparison; 3] {
        let writes = Test::RandomWrites;
        let row = |name, aggregate, metric: fn(&Segment) -> Option<f64>| {
            self.of_passes(writes, name, "ns", aggregate, metric)
        };
        let mean = |segment: &Segment| Some(segment.total_of(Op::Write).latency_ns_mean());
        let p99 = |segment: &Segment| Some(segment.latencies().quantile(0.99).0 as f64);
        let max = |segment: &Segment| Some(segment.latencies().max().0 as f64);
        [
            row(wording::LATENCY_MEAN, Aggregate::Mean, mean),
            row(wording::LATENCY_P99, Aggregate::Mean, p99),
            row(wording::LATENCY_MAX, Aggregate::Maximum, max),
        ]
    }

    fn of_passes(
        &self,
        test: Test,
        name: &'static str,
        unit: &'static str,
        aggregate: Aggregate,
        metric: impl Fn(&Segment) -> Option<f64>,
    ) -> Comparison {
        let passes = Phase::ALL.map(|phase| {
            let segments = self.of_part(Part::Test(phase, test)).filter(|segment| segment.total().ios > 0);
            segments.filter_map(&metric).collect()
        });
        Comparison { test: name, unit, aggregate, passes }
    }

    fn score(&self) -> Comparison {
        let passes = Phase::ALL.map(|phase| {
            let played: Vec<Vec<Option<PassTotals>>> =
                (0..default_set().count()).map(|index| self.application(phase, index)).collect();
            let score_of = |pass: usize| {
                let scores = played.iter().map(|application| Some(application[pass]?.score()));
                geometric_mean(&scores.collect::<Vec<_>>())
            };
            (0..self.passes as usize).filter_map(score_of).collect()
        });
        Comparison::of_scores("application score", passes)
    }
}

impl Comparison {
    fn of_scores(test: &'static str, passes: [Vec<f64>; 3]) -> Self {
        Self { test, unit: "points", aggregate: Aggregate::Mean, passes }
    }

    /// Whether less is better.
    pub(super) fn is_time(&self) -> bool {
        self.unit == "ns"
    }

    /// The passes of one phase.
    fn passes_in(&self, phase: Phase) -> &[f64] {
        &self.passes[phase as usize]
    }

    /// Its value in one phase.
    pub(super) fn value(&self, phase: Phase) -> Option<f64> {
        match self.aggregate {
            Aggregate::Mean | Aggregate::MeanOfPairs => mean(self.passes_in(phase)),
            Aggregate::Maximum => maximum(self.passes_in(phase)),
        }
    }

    /// Its value in one phase, with an interval that does not go below 0.
    fn estimate(&self, phase: Phase) -> Option<Estimate> {
        let has_interval = self.aggregate != Aggregate::Maximum;
        let interval = has_interval.then(|| mean_interval(self.passes_in(phase), CONFIDENCE_95)).flatten();
        Some(Estimate { value: self.value(phase)?, interval }.not_negative())
    }

    /// How far it changed for the worse from new to `phase`, in percent of its value when new: 100 at most of a rate, without
    /// limit of a time. The interval comes from the scatter of the passes. `None` if a phase is missing or the value was zero when new.
    pub(super) fn fall(&self, phase: Phase) -> Option<Estimate> {
        let (new, then) = (self.value(Phase::New)?, self.value(phase)?);
        if new <= 0.0 {
            return None;
        }
        let interval = match self.aggregate {
            Aggregate::Mean => {
                ratio_interval(self.passes_in(phase), self.passes_in(Phase::New), CONFIDENCE_95)
            }
            Aggregate::MeanOfPairs => paired_interval(self.passes_in(phase), self.passes_in(Phase::New), new),
            Aggregate::Maximum => None,
        };
        let ratio = Estimate { value: then / new, interval };
        Some(ratio.map(|ratio| if self.is_time() { (ratio - 1.0) * 100.0 } else { (1.0 - ratio) * 100.0 }))
    }

    /// The value in `phase` over that when new: 1 is as new, less is worse.
    pub(super) fn share_of_new(&self, phase: Phase) -> Option<f64> {
        let (new, then) = (self.value(Phase::New)?, self.value(phase)?);
        let share = if self.is_time() { new / then } else { then / new };
        share.is_finite().then_some(share)
    }

    /// Its row in the table of drops, with columns for the idle time if there was one.
    pub(super) fn row(&self, with_idle: bool) -> Row {
        let columns = Row::new()
            .with("test", self.test)
            .with("unit", self.unit)
            .with("new", self.value(Phase::New))
            .with("used", self.value(Phase::Used))
            .with_estimate("drop_percent", self.fall(Phase::Used));
        if !with_idle {
            return columns;
        }
        columns
            .with("after_idle", self.value(Phase::AfterIdle))
            .with_estimate("after_idle_drop_percent", self.fall(Phase::AfterIdle))
    }

    /// A row for each phase that was measured: the value and its interval.
    pub(super) fn intervals(&self) -> impl Iterator<Item = Row> {
        Phase::ALL.into_iter().filter_map(|phase| {
            let columns = Row::new().with("test", self.test).with("phase", phase.key());
            Some(columns.with("unit", self.unit).with_estimate("value", Some(self.estimate(phase)?)))
        })
    }
}

/// The interval of mean(`later`) / mean(`new`) from the differences of pairs, because the parts of a drive may differ
/// by design.
fn paired_interval(later: &[f64], new: &[f64], mean: f64) -> Option<Interval> {
    if later.len() != new.len() {
        return None;
    }
    let ratios: Vec<f64> = later.iter().zip(new).map(|(later, new)| 1.0 + (later - new) / mean).collect();
    mean_interval(&ratios, CONFIDENCE_95)
}

/// Every metric of the table over what it was when new: 1 is as new, less is worse.
pub(super) fn speed_against_new(comparisons: &[Comparison]) -> Option<Series> {
    let known: Vec<&Comparison> =
        comparisons.iter().filter(|comparison| comparison.fall(Phase::Used).is_some()).collect();
    let line = |phase: Phase| {
        let points = known.iter().enumerate();
        let points =
            points.filter_map(|(index, comparison)| Some([index as f64, comparison.share_of_new(phase)?]));
        Line::new(phase.name(), points.collect())
    };
    let lines = Phase::ALL.map(line).into_iter().filter(|line| !line.points.is_empty());
    let (test, share) = (axis("metric", ""), axis(wording::SHARE_AXIS, ""));
    let series = Series::new(wording::SHARE_TITLE, Shape::Bars, test, share);
    let tests = known.iter().map(|comparison| comparison.test);
    (!known.is_empty()).then(|| series.categories(tests).lines(lines))
}

/// The speed of random writes over time; each phase starts at 0.
pub(super) fn random_writes(measured: &AgeResults<'_>) -> Option<Series> {
    let line = |phase: Phase| {
        let passes: Vec<&Segment> = measured.of_part(Part::Test(phase, Test::RandomWrites)).collect();
        let origin = passes.first()?.started_at;
        let points = passes.iter().flat_map(|segment| speed_over_time(segment, origin));
        Some(Line::new(phase.name(), points.collect()))
    };
    let lines: Vec<Line> = Phase::ALL.into_iter().filter_map(line).collect();
    let title = wording::RANDOM_WRITES_TITLE;
    (!lines.is_empty()).then(|| Series::new(title, Shape::Line, axis("time", "ns"), speed()).lines(lines))
}

/// The speed of the writes that age the drive, by bytes written; a failed workload has no speed.
pub(super) fn aging_series<'a>(segments: impl Iterator<Item = &'a Segment>) -> Option<Series> {
    let (mut points, mut bytes) = (Vec::new(), 0);
    for segment in segments {
        if segment.bytes(Op::Write) == 0 {
            continue;
        }
        if segment.measurement_error().is_some() {
            bytes += segment.bytes(Op::Write);
            continue;
        }
        let mut since = segment.started_at;
        for cell in &segment.gigabytes.cells {
            bytes += cell.bytes;
            if cell.last <= since {
                continue;
            }
            points.push([bytes as f64, cell.bytes as f64 / (cell.last - since).as_secs_f64()]);
            since = cell.last;
        }
    }
    let x = axis(wording::AGING_AXIS, "bytes");
    let title = wording::AGING_TITLE;
    (!points.is_empty())
        .then(|| Series::new(title, Shape::Line, x, speed()).lines([Line::new("write", points)]))
}

/// Drop in percent below which a user notices nothing. Chosen.
pub(super) const NOTICED_PERCENT: f64 = 10.0;
/// Ratio of the fastest pass to the slowest above which passes were not steady. Chosen.
const UNSTEADY_RATIO: f64 = 1.25;
/// Passes to advise after a single one; Student's factor falls from 12.7 to 4.3 by the third.
const PASSES_AFTER_ONE: u32 = 3;
/// Most passes to advise: Student's factor hardly falls any more.
const PASSES_MAX: u32 = 100;

/// The summary, and all answers, most important first. Random writes lead, because they fall furthest; they carry the
/// background of the aging.
pub(super) fn answers(
    options: &AgeOptions,
    evidence: &Evidence,
    measured: &AgeResults<'_>,
    comparisons: &[Comparison],
) -> (Option<String>, Vec<Answer>) {
    let [writes, _, _, _, sequential, random_reads, sequential_reads, score] = comparisons else {
        unreachable!("the table has eight lines")
    };
    let is_alone =
        evidence.geometry.clock == Clock::Virtual || reads_unchanged(random_reads, sequential_reads);
    let change_of = |id, question, comparison| change(id, question, comparison, is_alone);
    let candidates = [
        change_of("random_write", "Random write", writes)
            .map(|answer| with_background(answer, options, evidence, measured, writes)),
        change_of("sequential_write", "Sequential write", sequential),
        change_of("application_score", "Application score", score)
            .map(|answer| with_trimmed_blocks(answer.with_evidence(wording::SCORE_EXPLAINED), options)),
        read("random_read", "Random read", random_reads, evidence),
        read("sequential_read", "Sequential read", sequential_reads, evidence),
        idle(options, writes),
    ];
    let answers =
        candidates.into_iter().flatten().map(|answer| with_actions(answer, options, evidence)).collect();
    let most_telling =
        [("Random writes", writes), ("Sequential writes", sequential), ("The application score", score)];
    // Reads that fell are a problem only if nothing else can have used the drive.
    let reads = [("Random reads", random_reads), ("Sequential reads", sequential_reads)];
    let reads = reads.into_iter().filter(|_| evidence.geometry.clock == Clock::Virtual);
    let summary = most_telling
        .into_iter()
        .chain(reads)
        .find_map(|(subject, comparison)| fallen(subject, comparison, is_alone));
    (summary.or_else(|| kept(writes, is_alone)), answers)
}

/// The summary if random writes, which fall first, fell by little.
fn kept(writes: &Comparison, is_alone: bool) -> Option<String> {
    let drop = classify(&writes.fall(Phase::Used)?, is_alone);
    wording::kept("random writes", transition(writes)?, drop, NOTICED_PERCENT)
}

/// Adds why a used drive with trimmed blocks looks faster.
fn with_trimmed_blocks(answer: Answer, options: &AgeOptions) -> Answer {
    let looks_faster = options.trim && answer.standing == Standing::Info;
    if looks_faster { answer.caveat(wording::TRIMMED_BLOCKS_READ_FAST) } else { answer }
}

/// The summary if a metric certainly fell; otherwise the first answer becomes the summary.
fn fallen(subject: &str, comparison: &Comparison, is_alone: bool) -> Option<String> {
    match classify(&comparison.fall(Phase::Used)?, is_alone) {
        Drop::Fell { percent, .. } => Some(wording::fell(subject, transition(comparison)?, percent)),
        _ => None,
    }
}

fn transition(comparison: &Comparison) -> Option<Transition> {
    let (new, used) = (comparison.value(Phase::New)?, comparison.value(Phase::Used)?);
    Some(Transition { unit: comparison.unit, new, used })
}

/// Classifies a drop by its interval. On a drive that other programs may use, a fall counts only if reads did
/// not change.
fn classify(fall: &Estimate, is_alone: bool) -> Drop {
    let Some(interval) = fall.interval else { return Drop::OnePass };
    let percent = fall.value;
    match fall.within(-NOTICED_PERCENT, NOTICED_PERCENT) {
        Verdict::Above if is_alone => Drop::Fell { percent, interval },
        Verdict::Above => Drop::FellWithReads { percent, interval },
        Verdict::Below => Drop::Rose { percent },
        _ if interval.high <= NOTICED_PERCENT => Drop::Small { percent, interval },
        _ => Drop::Unclear { percent, interval },
    }
}

fn change(id: &str, question: &str, comparison: &Comparison, is_alone: bool) -> Option<Answer> {
    let fall = comparison.fall(Phase::Used)?;
    let drop = classify(&fall, is_alone);
    let answer = wording::change(id, question, transition(comparison)?, drop, NOTICED_PERCENT);
    Some(fall.put(answer, "%"))
}

/// The answer about reads. A fall is a problem of the drive only if nothing else can have used it.
fn read(id: &str, question: &str, comparison: &Comparison, evidence: &Evidence) -> Option<Answer> {
    let answer = change(id, question, comparison, true)?;
    let is_open = answer.standing == Standing::Problem && evidence.geometry.clock != Clock::Virtual;
    Some(if is_open { Answer { standing: Standing::Info, ..answer } } else { answer })
}

/// Adds how steady the drive was, how it was aged, and what "new" means.
fn with_background(
    answer: Answer,
    options: &AgeOptions,
    evidence: &Evidence,
    measured: &AgeResults<'_>,
    writes: &Comparison,
) -> Answer {
    let sentences = [unsteady(writes), aging(measured, options), write_amplification(measured)];
    let answer = sentences.into_iter().flatten().fold(answer, Answer::with_evidence);
    let caveat = missing_reference(&evidence.identity);
    caveat.into_iter().fold(answer, Answer::caveat)
}

/// The first and the last pass of random writes, if these were not steady.
fn unsteady(comparison: &Comparison) -> Option<String> {
    let passes = comparison.passes_in(Phase::Used);
    let [first, .., last] = passes else { return None };
    let (least, most) = (minimum(passes)?, maximum(passes)?);
    let is_unsteady = !comparison.is_time() && most > least * UNSTEADY_RATIO;
    is_unsteady.then(|| wording::not_steady("Random writes", comparison.unit, *first, *last))
}

/// Whether reads, which aging does not affect, changed little: then nothing else used the drive.
fn reads_unchanged(random: &Comparison, sequential: &Comparison) -> bool {
    [random, sequential].into_iter().all(|comparison| {
        comparison.fall(Phase::Used).is_some_and(|fall| matches!(classify(&fall, true), Drop::Small { .. }))
    })
}

/// Whether idle time restored random writes; `None` if they had not fallen.
fn idle(options: &AgeOptions, writes: &Comparison) -> Option<Answer> {
    let (used, after) = (writes.fall(Phase::Used)?, writes.fall(Phase::AfterIdle)?);
    let has_fallen = matches!(classify(&used, true), Drop::Fell { .. });
    has_fallen.then(|| wording::after_idle(options.idle, used.value, after.value, classify(&after, true)))
}

/// How the drive was aged; `None` if that has not begun.
fn aging(measured: &AgeResults<'_>, options: &AgeOptions) -> Option<String> {
    let segments: Vec<&Segment> = measured.aging().collect();
    let bytes: u64 = segments.iter().map(|segment| segment.bytes(Op::Write)).sum();
    let time = segments.last()?.ended_at.since(segments.first()?.started_at);
    let sentence = match options.recipe {
        Recipe::Fill => wording::aged_by_fill,
        Recipe::Overwrite => wording::aged_by_overwrites,
        Recipe::Churn => wording::aged_by_small_files,
    };
    Some(sentence(Size(bytes), time))
}

/// Bytes programmed over bytes written during the aging, if the simulated drive has flash counters.
fn write_amplification(measured: &AgeResults<'_>) -> Option<String> {
    let before = measured.before_aging()?.accounting?;
    let last = measured.aging().last()?;
    let after = last.accounting.filter(FlashCounters::has_flash)?;
    let host = after.host_bytes_written.checked_sub(before.host_bytes_written).filter(|bytes| *bytes > 0)?;
    let flash = after.flash_bytes_programmed.saturating_sub(before.flash_bytes_programmed);
    Some(wording::write_amplification(flash as f64 / host as f64))
}

/// What "new" means for a drive that is not known to have been erased.
fn missing_reference(identity: &Identity) -> Option<String> {
    let state = identity.facts.iter().find(|(name, _)| name == "state").map(|(_, state)| state.as_str());
    match (identity.kind, state) {
        (TargetKind::Simulated, Some(state)) if state == "new" || state.starts_with("new:") => None,
        (TargetKind::Simulated, Some(state)) => Some(wording::was_not_new(state)),
        _ => Some(wording::EARLIER_USE_IS_UNKNOWN.into()),
    }
}

/// Adds commands that decide an open question or restore a slower drive. A simulated drive begins every run in the
/// state that its target names, so there is nothing to restore.
fn with_actions(answer: Answer, options: &AgeOptions, evidence: &Evidence) -> Answer {
    let is_simulated = evidence.identity.kind == TargetKind::Simulated;
    match answer.standing {
        Standing::Unknown => {
            let passes = match options.passes {
                1 => PASSES_AFTER_ONE,
                several => several.saturating_mul(2).min(PASSES_MAX),
            };
            let again = AgeOptions { passes, ..options.clone() };
            let again = Rerun::new(evidence, &options_text(&again), Age::new(again.clone()));
            answer.action(wording::more_passes(&again, options.passes == 1, is_simulated))
        }
        Standing::Problem if !is_simulated && answer.id == "random_write" => {
            let restore = procedure_action(&evidence.plan, "recondition", "", wording::RESTORE);
            restore.into_iter().fold(answer, Answer::action)
        }
        _ => answer,
    }
}

/// The options that differ from their defaults, as a command line, and always the passes.
fn options_text(options: &AgeOptions) -> String {
    let defaults = AgeOptions::default();
    let others = AgeOptions { passes: defaults.passes, ..options.clone() };
    format!("{} --passes {}", arguments(&others, &defaults), options.passes).trim_start().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn comparison(unit: &'static str, new: &[f64], used: &[f64]) -> Comparison {
        let passes = [new.to_vec(), used.to_vec(), Vec::new()];
        Comparison { test: "t", unit, aggregate: Aggregate::Mean, passes }
    }

    #[test]
    fn worse_is_a_drop_whichever_way_is_better() {
        let speed = comparison("bytes/s", &[100.0; 3], &[25.0; 3]).fall(Phase::Used).unwrap();
        let latency = comparison("ns", &[100.0; 3], &[400.0; 3]).fall(Phase::Used).unwrap();
        assert_eq!((speed.value, speed.interval), (75.0, Some(Interval { low: 75.0, high: 75.0 })));
        assert_eq!((latency.value, latency.interval), (300.0, Some(Interval { low: 300.0, high: 300.0 })));
        assert!(comparison("bytes/s", &[100.0; 3], &[150.0; 3]).fall(Phase::Used).unwrap().value < 0.0);
    }

    #[test]
    fn the_interval_has_its_lower_end_first_and_holds_the_estimate() {
        for unit in ["bytes/s", "ns"] {
            let fall =
                comparison(unit, &[99.0, 101.0, 100.0], &[40.0, 60.0, 50.0]).fall(Phase::Used).unwrap();
            let interval = fall.interval.unwrap();
            assert!(interval.low < interval.high && interval.contains(fall.value), "{unit} {fall:?}");
        }
    }

    #[test]
    fn paired_passes_are_compared_with_each_other_only() {
        let (new, used) = ([100.0, 60.0, 20.0], [51.0, 29.0, 10.0]);
        let apart = comparison("bytes/s", &new, &used).fall(Phase::Used).unwrap();
        let paired = Comparison { aggregate: Aggregate::MeanOfPairs, ..comparison("bytes/s", &new, &used) };
        let paired = paired.fall(Phase::Used).unwrap();
        assert_eq!(apart.value, paired.value);
        // Three zones of a disk do not differ by chance: the drops are 49, 31 and 10 of 60.
        assert!((paired.value - 50.0).abs() < 1e-9 && paired.interval.unwrap().contains(50.0));
        assert!(apart.interval.is_none_or(|interval| interval.high - interval.low
            > paired.interval.unwrap().high - paired.interval.unwrap().low));
    }

    #[test]
    fn one_pass_has_no_interval_and_nothing_has_no_drop() {
        let fall = comparison("bytes/s", &[100.0], &[50.0]).fall(Phase::Used).unwrap();
        assert_eq!((fall.value, fall.interval), (50.0, None));
        assert_eq!(comparison("bytes/s", &[100.0], &[]).fall(Phase::Used), None);
        assert_eq!(comparison("bytes/s", &[0.0], &[1.0]).fall(Phase::Used), None);
        let row = comparison("bytes/s", &[100.0], &[]).row(true);
        assert!(row["used"].is_null() && row["drop_percent"].is_null() && row["after_idle"].is_null());
    }

    #[test]
    fn a_metric_has_a_row_for_each_phase_that_was_measured() {
        let rows: Vec<Row> = comparison("bytes/s", &[99.0, 101.0], &[50.0]).intervals().collect();
        assert_eq!(rows.len(), 2);
        assert_eq!((&rows[0]["phase"], &rows[0]["value"]), (&"new".into(), &100.0.into()));
        assert!(rows[0]["value_low"].as_f64().unwrap() < 99.0 && rows[1]["value_low"].is_null());
    }
}
