//! The results of a run by application and test: UL's score of each, tables and charts. Its answers: the score, whether
//! later passes keep it, and how it holds up under sustained writes.

use likenew_core::findings::{Answer, Axis, Findings, Line, OverviewTable, Row, Series, Shape, Standing};
use likenew_core::io::Op;
use likenew_core::procedure::Evidence;
use likenew_core::quantity::{Latency, Rate, Share};
use likenew_core::segment::Segment;
use likenew_core::units::exact_duration;
use likenew_procedure_support::estimate::{Estimate, Verdict, is_whole};
use likenew_procedure_support::options::Arguments;
use likenew_procedure_support::overview::list_below_summary;
use likenew_procedure_support::rerun::{PASSES_FEW, PASSES_MANY, Rerun};
use likenew_procedure_support::rows::Columns as _;
use likenew_procedure_support::series::{axis, speed};
use likenew_procedure_support::wording::answer_as_summary;
use likenew_stats::interval::Interval;
use likenew_stats::steady_state::Window;
use likenew_stats::summary::{maximum, mean};

use super::application::Application;
use super::phases::{Kind, PHASES, Phase};
use super::wording::{self, ApplicationRow, Overall};
use super::{Apps, AppsOptions};

/// The results of a run, as far as it got.
pub(super) struct AppResults<'a> {
    /// By test and application. A test is a pass or, with consistency, a pass of a phase. `None` if a part of the
    /// application failed or was stopped before its own bound.
    pub(super) tests: Vec<Vec<Option<PassTotals>>>,
    /// The random writes before each phase.
    pub(super) writes: [Option<Writes>; PHASES.len()],
    pub(super) applications: &'a [Application],
}

impl<'a> AppResults<'a> {
    /// No results yet, for this many tests.
    pub(super) fn new(tests: usize, applications: &'a [Application]) -> Self {
        let tests = vec![vec![None; applications.len()]; tests];
        Self { tests, writes: [None; PHASES.len()], applications }
    }

    /// The totals of an application, from all tests that it completed.
    fn all(&self, application: usize) -> Vec<PassTotals> {
        self.tests.iter().filter_map(|test| test[application]).collect()
    }

    /// Every complete test.
    fn overalls(&self) -> Vec<OverallScore> {
        self.tests.iter().filter_map(|test| OverallScore::of_test(test)).collect()
    }

    /// A phase of a consistency test: geometric means of its tests; `None` before all of them are complete.
    fn phase(&self, phase: usize) -> Option<OverallScore> {
        let each = self.tests.len() / PHASES.len();
        let tests = self.tests[phase * each..(phase + 1) * each].iter();
        OverallScore::mean_of(&tests.map(|test| OverallScore::of_test(test)).collect::<Vec<_>>())
    }

    /// The phases that were measured.
    fn phases(&self) -> Vec<(&'static Phase, OverallScore)> {
        PHASES.iter().enumerate().filter_map(|(index, phase)| Some((phase, self.phase(index)?))).collect()
    }

    /// The scores of the phases of a kind that were measured.
    fn scores(&self, kind: Kind) -> Vec<f64> {
        self.phases()
            .into_iter()
            .filter(|(phase, _)| phase.kind == kind)
            .map(|(_, overall)| overall.score)
            .collect()
    }
}

/// Random writes that ran to their end.
#[derive(Clone, Copy)]
pub(super) struct Writes {
    bytes: u64,
    bytes_per_s: Option<f64>,
}

impl Writes {
    pub(super) fn new(segment: &Segment) -> Option<Self> {
        let (bytes, bytes_per_s) = (segment.bytes(Op::Write), segment.bytes_per_s());
        is_whole(segment).then_some(Self { bytes, bytes_per_s })
    }
}

/// All applications of a test together: geometric means, so that each counts the same.
#[derive(Clone, Copy, Debug, PartialEq)]
struct OverallScore {
    bytes_per_s: f64,
    access_time_ns: f64,
    /// Score of the two; equal to the geometric mean of the applications' scores.
    score: f64,
}

impl OverallScore {
    /// `None` before every application completed the test.
    fn of_test(test: &[Option<PassTotals>]) -> Option<Self> {
        let mean = |metric: fn(&PassTotals) -> f64| {
            geometric_mean(&test.iter().map(|test| test.as_ref().map(metric)).collect::<Vec<_>>())
        };
        let bytes_per_s = mean(PassTotals::bytes_per_s)?;
        let access_time_ns = mean(PassTotals::access_time_ns)?;
        Some(Self { bytes_per_s, access_time_ns, score: score(bytes_per_s, access_time_ns) })
    }

    /// The geometric means of several; `None` if one is missing.
    fn mean_of(scores: &[Option<Self>]) -> Option<Self> {
        let mean = |metric: fn(&Self) -> f64| {
            geometric_mean(&scores.iter().map(|score| score.as_ref().map(metric)).collect::<Vec<_>>())
        };
        Some(Self {
            bytes_per_s: mean(|overall| overall.bytes_per_s)?,
            access_time_ns: mean(|overall| overall.access_time_ns)?,
            score: mean(|overall| overall.score)?,
        })
    }

    fn columns(&self, columns: Row) -> Row {
        columns
            .with("score", self.score)
            .with("bytes_per_s", self.bytes_per_s)
            .with("access_time_ns", self.access_time_ns)
    }
}

/// Bandwidth over busy time, in bytes a second, that together with an access time of [`REFERENCE_ACCESS_NS`]
/// scores 1.
///
/// UL defines "PCMark 10 Storage score = geometric mean (bandwidth, 1 / average access time)", where
/// bandwidth is bytes over busy time and average access time the arithmetic mean over all reads and writes
/// (PCMark 10 technical guide, Full System Drive Benchmark:
/// support.benchmarks.ul.com/support/solutions/articles/44002171465), and prints no units. With MB/s and
/// seconds the formula gives numbers of the size that PCMark 10 prints, which is why these two are chosen.
pub(crate) const REFERENCE_BYTES_PER_S: f64 = 1e6;
/// Access time that scores 1, in nanoseconds: one second. See [`REFERENCE_BYTES_PER_S`] for the source.
pub(crate) const REFERENCE_ACCESS_NS: f64 = 1e9;

/// The totals of one application in one pass.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct PassTotals {
    pub(crate) reads: u64,
    pub(crate) writes: u64,
    pub(crate) bytes_read: u64,
    pub(crate) bytes_written: u64,
    /// Time in which at least one I/O was outstanding.
    pub(crate) busy_ns: f64,
    latency_ns_sum: f64,
}

impl PassTotals {
    /// From the segments of one pass; `None` if nothing was moved.
    pub(crate) fn from_segments<'a>(segments: impl IntoIterator<Item = &'a Segment>) -> Option<Self> {
        let mut pass_totals = Self::default();
        for segment in segments {
            pass_totals.reads += segment.ios(Op::Read);
            pass_totals.writes += segment.ios(Op::Write);
            pass_totals.bytes_read += segment.bytes(Op::Read);
            pass_totals.bytes_written += segment.bytes(Op::Write);
            let latencies = segment.tallies.iter().map(|tally| tally.latency_ns_sum);
            pass_totals.latency_ns_sum += latencies.sum::<u64>() as f64;
            let busy = if segment.busy.0 > 0 { segment.busy } else { segment.elapsed() };
            pass_totals.busy_ns += busy.0 as f64;
        }
        (pass_totals.bytes() > 0.0 && pass_totals.busy_ns > 0.0 && pass_totals.latency_ns_sum > 0.0)
            .then_some(pass_totals)
    }

    fn bytes(&self) -> f64 {
        (self.bytes_read + self.bytes_written) as f64
    }

    /// Bytes a second over busy time.
    pub(crate) fn bytes_per_s(&self) -> f64 {
        self.bytes() * 1e9 / self.busy_ns
    }

    /// IOPS over busy time.
    pub(crate) fn iops(&self) -> f64 {
        (self.reads + self.writes) as f64 * 1e9 / self.busy_ns
    }

    /// Mean of all reads and writes.
    pub(crate) fn access_time_ns(&self) -> f64 {
        self.latency_ns_sum / (self.reads + self.writes) as f64
    }

    /// See [`score`].
    pub(crate) fn score(&self) -> f64 {
        score(self.bytes_per_s(), self.access_time_ns())
    }
}

/// The geometric mean of bandwidth in [`REFERENCE_BYTES_PER_S`] and of accesses in [`REFERENCE_ACCESS_NS`].
pub(crate) fn score(bytes_per_s: f64, access_time_ns: f64) -> f64 {
    (bytes_per_s / REFERENCE_BYTES_PER_S * REFERENCE_ACCESS_NS / access_time_ns).sqrt()
}

/// The mean of several applications, each of which counts the same, however fast it is; `None` if one is
/// missing or zero.
pub(crate) fn geometric_mean(values: &[Option<f64>]) -> Option<f64> {
    let logarithms: Option<Vec<f64>> =
        values.iter().map(|value| value.filter(|value| *value > 0.0).map(f64::ln)).collect();
    mean(&logarithms?).map(f64::exp)
}

fn score_of(passes: &[PassTotals]) -> Option<Estimate> {
    Estimate::of_passes(&passes.iter().map(PassTotals::score).collect::<Vec<_>>())
}

fn mean_of(passes: &[PassTotals], metric: fn(&PassTotals) -> f64) -> Option<f64> {
    mean(&passes.iter().map(metric).collect::<Vec<_>>())
}

/// Means over the passes that were measured.
fn application(name: &str, pass_totals: &[PassTotals]) -> Option<Row> {
    let score = score_of(pass_totals)?.not_negative();
    let mean_of = |metric: fn(&PassTotals) -> f64| mean_of(pass_totals, metric);
    Some(
        Row::new()
            .with("application", name)
            .with("score", score.value)
            .with_known("score_low", score.low())
            .with_known("score_high", score.high())
            .with("bytes_per_s", mean_of(PassTotals::bytes_per_s))
            .with("access_time_ns", mean_of(PassTotals::access_time_ns))
            .with("iops", mean_of(PassTotals::iops))
            // Means of a pass.
            .with("busy_ns", mean_of(|totals| totals.busy_ns))
            .with("reads", mean_of(|totals| totals.reads as f64))
            .with("writes", mean_of(|totals| totals.writes as f64))
            .with("read_bytes", mean_of(|totals| totals.bytes_read as f64))
            .with("written_bytes", mean_of(|totals| totals.bytes_written as f64)),
    )
}

fn passes(measured: &AppResults<'_>) -> Vec<Row> {
    let row = |(pass, overall): (u32, OverallScore)| overall.columns(Row::new().with("pass", pass));
    (1..).zip(measured.overalls()).map(row).collect()
}

fn phases(measured: &AppResults<'_>) -> Vec<Row> {
    let phases = PHASES.iter().enumerate().filter_map(|(index, phase)| {
        let (overall, writes) = (measured.phase(index), measured.writes[index]);
        (overall.is_some() || writes.is_some()).then(|| {
            Row::new()
                .with("phase", phase.name.replace(' ', "_"))
                .with("score", overall.map(|overall| overall.score))
                .with("bytes_per_s", overall.map(|overall| overall.bytes_per_s))
                .with("access_time_ns", overall.map(|overall| overall.access_time_ns))
                // The random writes before the phase's test.
                .with("written_bytes", writes.map(|writes| writes.bytes))
                .with("written_bytes_per_s", writes.and_then(|writes| writes.bytes_per_s))
        })
    });
    phases.collect()
}

/// Each value of an application with its source: published, derived or assumed.
fn sources(application: &Application) -> Vec<Row> {
    let row = |metric: &str, value: &str, source: &str| {
        let columns = Row::new().with("application", &application.name).with("metric", metric);
        columns.with("value", value).with("source", source)
    };
    let published = row("published", &application.about, &application.publication);
    let metrics = application.sources().into_iter();
    let metrics = metrics.map(|(metric, value, source)| row(&metric, &value, source));
    std::iter::once(published).chain(metrics).collect::<Vec<_>>()
}

fn phase_series(title: &str, y: Axis, metric: impl Fn(usize) -> Option<f64>) -> Option<Series> {
    let points: Vec<[f64; 2]> =
        (0..PHASES.len()).filter_map(|phase| Some([(phase + 1) as f64, metric(phase)?])).collect();
    let name = y.label.clone();
    (!points.is_empty())
        .then(|| Series::new(title, Shape::Line, axis("phase", ""), y).lines([Line::new(&name, points)]))
}

fn scores(measured: &AppResults<'_>) -> Option<Series> {
    let known: Vec<(&str, f64)> = measured
        .applications
        .iter()
        .enumerate()
        .filter_map(|(index, application)| {
            Some((application.name.as_str(), score_of(&measured.all(index))?.value))
        })
        .collect();
    let points = known.iter().enumerate().map(|(index, (_, score))| [index as f64, *score]);
    let line = Line::new(wording::SCORE_AXIS, points.collect());
    let (x, y) = (axis("application", ""), axis(wording::SCORE_AXIS, wording::SCORE_UNIT));
    let series = Series::new(wording::SCORES_TITLE, Shape::Bars, x, y);
    (!known.is_empty()).then(|| series.categories(known.iter().map(|(name, _)| *name)).lines([line]))
}

/// Half width of an interval, as a share, up to which a score is known, and loss up to which speed is kept. Chosen:
/// half of what SNIA allows between rounds.
const NOTICED: f64 = 0.10;

/// What the findings of a run are made of.
pub(super) struct Run<'a> {
    pub(super) options: &'a AppsOptions,
    pub(super) evidence: &'a Evidence,
    pub(super) measured: &'a AppResults<'a>,
}

impl Run<'_> {
    /// Adds the tables, results first.
    pub(super) fn put_tables(&self, findings: &mut Findings) {
        let Self { measured, options: AppsOptions { consistency, .. }, .. } = self;
        let tables = &mut findings.tables;
        if *consistency {
            tables.insert("phases".into(), phases(measured));
        }
        let numbered = measured.applications.iter().enumerate();
        let rows = numbered.filter_map(|(index, app)| application(&app.name, &measured.all(index)));
        tables.insert("applications".into(), rows.collect());
        if !consistency {
            tables.insert("passes".into(), passes(measured));
        }
        tables.insert("sources".into(), measured.applications.iter().flat_map(sources).collect());
    }

    /// Adds the score by application; in a run for consistency, score, access time and random writes over the phases.
    pub(super) fn put_series(&self, findings: &mut Findings) {
        let measured = self.measured;
        if !self.options.consistency {
            findings.series.extend(scores(measured).map(|series| ("scores".to_owned(), series)));
            return;
        }
        let score = axis(wording::SCORE_AXIS, wording::SCORE_UNIT);
        let score =
            phase_series(wording::SCORE_BY_PHASE_TITLE, score, |phase| Some(measured.phase(phase)?.score));
        let access = axis(wording::ACCESS_TIME_AXIS, "ns");
        let access = phase_series(wording::ACCESS_TIME_BY_PHASE_TITLE, access, |phase| {
            Some(measured.phase(phase)?.access_time_ns)
        });
        let writes = phase_series(wording::WRITES_BY_PHASE_TITLE, speed(), |phase| {
            measured.writes[phase]?.bytes_per_s
        });
        let names = ["score_by_phase", "access_time_by_phase", "writes_by_phase"];
        for (name, series) in names.into_iter().zip([score, access, writes]) {
            findings.series.extend(series.map(|series| (name.to_owned(), series)));
        }
    }

    /// Adds summary, answers and overview, most important first.
    pub(super) fn put_answers(&self, findings: &mut Findings) {
        if self.options.consistency {
            self.put_consistency(findings);
        } else {
            self.put_passes(findings);
        }
    }

    fn put_passes(&self, findings: &mut Findings) {
        let measured = self.measured;
        let overalls = measured.overalls();
        let overall = overall(&overalls, measured.applications.len());
        let score = overall.map(|overall| self.score(overall));
        let over_passes = self.speed_over_passes(overalls.len());
        let lost = over_passes.as_ref().filter(|(answer, _)| answer.standing == Standing::Problem);
        findings.summary = match (lost, overall) {
            (Some((_, left)), overall) => wording::summary_of_lost_speed(Share(1.0 - left), overall),
            (None, Some(overall)) => wording::summary_of_score(overall),
            (None, None) => String::new(),
        };
        let is_lost = lost.is_some();
        let over_passes = over_passes.map(|(answer, _)| answer);
        let order = if is_lost { [over_passes, score] } else { [score, over_passes] };
        findings.answers.extend(order.into_iter().flatten());
        findings.overview.table = self.applications_table();
    }

    fn score(&self, overall: Overall) -> Answer {
        let score = overall.score;
        let answer = match score.half_width().map(|half| half <= NOTICED * score.value) {
            Some(true) => wording::score(overall),
            Some(false) => self.with_rerun(wording::score_is_imprecise(overall, Share(NOTICED)), PASSES_MANY),
            None => self.with_rerun(wording::score_of_one_pass(overall), PASSES_FEW),
        };
        let answer = score.not_negative().put(answer, "points");
        let scale = self.options.scale;
        if scale < 1.0 { answer.caveat(wording::played_in_part(Share(scale))) } else { answer }
    }

    /// Whether the last pass is as fast as the first, application by application, and the share that is left.
    fn speed_over_passes(&self, passes: usize) -> Option<(Answer, f64)> {
        let measured = self.measured;
        let last = passes.checked_sub(1)?;
        if last == 0 {
            return Some((self.with_rerun(wording::speed_over_one_pass(), PASSES_FEW), 1.0));
        }
        let ratio = |application: usize| {
            let [first, then] = [0, last].map(|test| measured.tests[test][application]);
            Some((then?.score() / first?.score()).ln())
        };
        let ratios: Vec<f64> = (0..measured.applications.len()).filter_map(ratio).collect();
        let left = Estimate::of_passes(&ratios)?.map(f64::exp);
        let answer = match left.against(1.0 - NOTICED) {
            Verdict::Above => wording::passes_keep_speed(left),
            Verdict::Below => wording::passes_lose_speed(left.map(|left| 1.0 - left)),
            Verdict::OnePass => wording::speed_of_one_application(Share(left.value)),
            _ => self.with_rerun(wording::speed_over_passes_unclear(left), PASSES_MANY),
        };
        Some((left.map(percent).put(answer, "%"), left.value))
    }

    /// Adds the same run with this many passes; not with custom applications, whose file is unknown.
    fn with_rerun(&self, answer: Answer, passes: u32) -> Answer {
        let Some(options) = self.rerun_options(passes) else { return answer };
        let again = Apps::new(AppsOptions { passes, ..self.options.clone() });
        let again = Rerun::new(self.evidence, &options, again);
        answer.action(again.action("more_passes", wording::MORE_PASSES))
    }

    /// The options of the same run with this many passes; `None` with custom applications, whose file is
    /// unknown.
    fn rerun_options(&self, passes: u32) -> Option<String> {
        let AppsOptions { applications, custom, consistency, minutes, time, think, data, .. } = self.options;
        let defaults = AppsOptions::default();
        if !custom.is_empty() {
            return None;
        }
        let of_library = applications.iter().filter(|_| *applications != defaults.applications);
        let arguments =
            of_library.fold(Arguments::default(), |arguments, name| arguments.add(true, "app", name));
        let arguments = arguments
            .add(*consistency, "consistency", "")
            .add(*consistency && *minutes != 1.0, "minutes", minutes)
            .add(*time != defaults.time, "time", exact_duration(*time))
            .add(*think, "think", "")
            .add(*data != defaults.data, "data", data)
            .add(true, "passes", passes);
        Some(arguments.text())
    }

    fn applications_table(&self) -> Option<OverviewTable> {
        let measured = self.measured;
        let row = |index: usize| {
            let passes = measured.all(index);
            Some(ApplicationRow {
                name: &measured.applications[index].name,
                score: score_of(&passes)?,
                rate: Rate(mean_of(&passes, PassTotals::bytes_per_s)?),
                access_time: Latency(mean_of(&passes, PassTotals::access_time_ns)?),
            })
        };
        let rows: Vec<ApplicationRow<'_>> = (0..measured.applications.len()).filter_map(row).collect();
        (!rows.is_empty()).then(|| wording::applications_table(&rows))
    }

    fn put_consistency(&self, findings: &mut Findings) {
        let measured = self.measured;
        let scores: Vec<f64> = measured.phases().into_iter().map(|(_, overall)| overall.score).collect();
        let Some(best) = maximum(&scores) else { return };
        let [steady, recovered] = [Kind::Steady, Kind::Recover].map(|kind| measured.scores(kind));
        // How much of the best score is missing in the steady phases, as a share of 1.
        let fall = Estimate::of_passes(&steady).map(|steady| steady.map(|score| 1.0 - score / best));
        let recovery = self.recovery(fall, &steady, &recovered, best);
        findings.summary = match fall.map(|fall| (fall.value, fall.against(NOTICED))) {
            Some((lost, Verdict::Above)) => {
                let decided = recovery.as_ref().filter(|answer| answer.standing != Standing::Unknown);
                let last = recovered.last().map(|score| Share(score / best));
                let recovered =
                    decided.zip(last).map(|(answer, share)| (share, answer.standing == Standing::Good));
                wording::summary_of_writing(Share(lost), best, best * (1.0 - lost), recovered)
            }
            Some((lost, Verdict::Below)) => wording::summary_of_kept_score(best, Share(lost)),
            _ => String::new(),
        };
        findings.answers.push(self.score_under_writes(fall, best));
        findings.answers.push(steady_state(&steady));
        findings.answers.extend(recovery);
        let last = recovered.last().copied();
        findings.overview.table = Some(wording::stages_table(best, mean(&steady), last));
        findings.overview.series = Some("score_by_phase".into());
    }

    fn score_under_writes(&self, fall: Option<Estimate>, best: f64) -> Answer {
        let Some(lost) = fall else { return wording::no_steady_phase() };
        let answer = match lost.against(NOTICED) {
            Verdict::Above => wording::writing_costs_score(lost, best),
            Verdict::Below => wording::writing_costs_no_score(lost, best),
            _ => self.with_rerun(wording::score_under_writes_unclear(lost, best), PASSES_FEW),
        };
        lost.map(percent).put(answer, "%")
    }

    /// Whether the last idle time restored the score to within a tenth of its best. That single score is taken to be
    /// as uncertain as a steady one.
    fn recovery(
        &self,
        fall: Option<Estimate>,
        steady: &[f64],
        recovered: &[f64],
        best: f64,
    ) -> Option<Answer> {
        let fall = fall?.against(NOTICED);
        if fall == Verdict::Below {
            return None;
        }
        let Some(last) = recovered.last() else { return Some(wording::no_recovery_phase()) };
        let value = last / best;
        // One more value of the same scatter lies within mean ± t·s·√(1 + 1/n); t·s alone is taken.
        let half = Estimate::of_passes(steady).and_then(|steady| steady.half_width());
        let interval = half
            .map(|half| half * (steady.len() as f64).sqrt() / best)
            .map(|half| Interval { low: (value - half).max(0.0), high: value + half });
        let left = Estimate { value, interval };
        let answer = match (fall, left.against(1.0 - NOTICED)) {
            (Verdict::Above, Verdict::Above) => wording::recovers(left),
            (Verdict::Above, Verdict::Below) => wording::does_not_recover(left),
            _ => self.with_rerun(wording::recovery_unclear(left), PASSES_FEW),
        };
        let shares: Vec<Share> = recovered.iter().map(|score| Share(score / best)).collect();
        Some(left.map(percent).put(answer.with_evidence(wording::recovery_phases(&shares)), "%"))
    }
}

fn percent(share: f64) -> f64 {
    100.0 * share
}

/// Adds a summary if nothing was decided, and lists below it what the summary leaves out.
pub(super) fn finish(findings: &mut Findings) {
    if findings.summary.is_empty() {
        findings.summary = findings.answers.first().map(answer_as_summary).unwrap_or_default();
    }
    // The summary says already that one pass was played, and what idle time restores if that is known.
    list_below_summary(findings, |answer| {
        let is_recovery = wording::is_about_recovery(answer) && answer.standing != Standing::Unknown;
        !is_recovery && !wording::is_about_one_pass(answer)
    });
}

/// The score of all passes; `None` before every application was replayed once.
fn overall(overalls: &[OverallScore], applications: usize) -> Option<Overall> {
    let scores: Vec<f64> = overalls.iter().map(|overall| overall.score).collect();
    let mean_of = |metric: fn(&OverallScore) -> f64| {
        geometric_mean(&overalls.iter().map(|overall| Some(metric(overall))).collect::<Vec<_>>())
            .unwrap_or_default()
    };
    Some(Overall {
        score: Estimate::of_passes(&scores)?,
        rate: Rate(mean_of(|overall| overall.bytes_per_s)),
        access_time: Latency(mean_of(|overall| overall.access_time_ns)),
        applications: applications as u64,
        passes: overalls.len() as u64,
    })
}

/// SNIA's rule, over the five steady phases.
fn steady_state(steady: &[f64]) -> Answer {
    match Window::last(steady) {
        None => wording::too_few_steady_phases(steady.len()),
        Some(window) if window.is_steady() => wording::steady(steady),
        Some(_) => wording::not_steady(steady),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_references_score_one_and_both_metrics_count_the_same() {
        assert_eq!(score(1e6, 1e9), 1.0);
        assert!((score(4e8, 1e5) - 2000.0).abs() < 1e-9);
        assert!((score(2e6, 1e9) - score(1e6, 5e8)).abs() < 1e-12);
    }

    #[test]
    fn a_geometric_mean_needs_every_application() {
        assert!((geometric_mean(&[Some(1.0), Some(4.0)]).unwrap() - 2.0).abs() < 1e-12);
        assert_eq!(geometric_mean(&[Some(1.0), None]), None);
        assert_eq!(geometric_mean(&[Some(1.0), Some(0.0)]), None);
        assert_eq!(geometric_mean(&[]), None);
    }
}
