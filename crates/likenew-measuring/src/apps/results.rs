//! The results of a run by application and test: UL's score of each, tables and charts.

use likenew_core::findings::{Axis, Findings, Line, Row, Series, Shape};
use likenew_core::io::Op;
use likenew_core::segment::Segment;
use likenew_procedure_support::estimate::{Estimate, is_whole};
use likenew_procedure_support::rows::Columns as _;
use likenew_procedure_support::series::{axis, speed};
use likenew_stats::summary::mean;

use super::application::Application;
use super::phases::{Kind, PHASES, Phase};
use super::wording;

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
    pub(super) fn all(&self, application: usize) -> Vec<PassTotals> {
        self.tests.iter().filter_map(|test| test[application]).collect()
    }

    /// Every complete test.
    pub(super) fn overalls(&self) -> Vec<OverallScore> {
        self.tests.iter().filter_map(|test| OverallScore::of_test(test)).collect()
    }

    /// A phase of a consistency test: geometric means of its tests; `None` before all of them are complete.
    pub(super) fn phase(&self, phase: usize) -> Option<OverallScore> {
        let each = self.tests.len() / PHASES.len();
        let tests = self.tests[phase * each..(phase + 1) * each].iter();
        OverallScore::mean_of(&tests.map(|test| OverallScore::of_test(test)).collect::<Vec<_>>())
    }

    /// The phases that were measured.
    pub(super) fn phases(&self) -> Vec<(&'static Phase, OverallScore)> {
        PHASES.iter().enumerate().filter_map(|(index, phase)| Some((phase, self.phase(index)?))).collect()
    }

    /// The scores of the phases of a kind that were measured.
    pub(super) fn scores(&self, kind: Kind) -> Vec<f64> {
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
pub(super) struct OverallScore {
    pub(super) bytes_per_s: f64,
    pub(super) access_time_ns: f64,
    /// Score of the two; equal to the geometric mean of the applications' scores.
    pub(super) score: f64,
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
    pub(super) fn mean_of(scores: &[Option<Self>]) -> Option<Self> {
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

/// Adds the tables, results first.
pub(super) fn put_tables(findings: &mut Findings, measured: &AppResults<'_>, consistency: bool) {
    if consistency {
        findings.tables.insert("phases".into(), phases(measured));
    }
    let rows = measured
        .applications
        .iter()
        .enumerate()
        .filter_map(|(index, app)| application(&app.name, &measured.all(index)));
    findings.tables.insert("applications".into(), rows.collect());
    if !consistency {
        findings.tables.insert("passes".into(), passes(measured));
    }
    findings.tables.insert("sources".into(), measured.applications.iter().flat_map(sources).collect());
}

/// Means over the passes that were measured.
fn application(name: &str, pass_totals: &[PassTotals]) -> Option<Row> {
    let mean_of = |metric: fn(&PassTotals) -> f64| mean(&pass_totals.iter().map(metric).collect::<Vec<_>>());
    let scores: Vec<f64> = pass_totals.iter().map(PassTotals::score).collect();
    let score = Estimate::of_passes(&scores)?.not_negative();
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

/// Score by application; in a run for consistency, score, access time and random writes over the phases.
pub(super) fn put_series(findings: &mut Findings, measured: &AppResults<'_>, consistency: bool) {
    if consistency {
        let writes = |phase: usize| measured.writes[phase]?.bytes_per_s;
        let by_phase = |metric: fn(&OverallScore) -> f64| {
            move |phase: usize| measured.phase(phase).map(|overall| metric(&overall))
        };
        let axes = [
            ("score_by_phase", wording::SCORE_BY_PHASE_TITLE, axis(wording::SCORE_AXIS, wording::SCORE_UNIT)),
            (
                "access_time_by_phase",
                wording::ACCESS_TIME_BY_PHASE_TITLE,
                axis(wording::ACCESS_TIME_AXIS, "ns"),
            ),
            ("writes_by_phase", wording::WRITES_BY_PHASE_TITLE, speed()),
        ];
        let values: [&dyn Fn(usize) -> Option<f64>; 3] =
            [&by_phase(|overall| overall.score), &by_phase(|overall| overall.access_time_ns), &writes];
        findings.series.extend(
            axes.into_iter().zip(values).filter_map(|((name, title, y), value)| {
                Some((name.to_owned(), phase_series(title, y, value)?))
            }),
        );
    } else if let Some(series) = scores(measured) {
        findings.series.insert("scores".into(), series);
    }
}

fn phase_series(title: &str, y: Axis, metric: impl Fn(usize) -> Option<f64>) -> Option<Series> {
    let points: Vec<[f64; 2]> =
        (0..PHASES.len()).filter_map(|phase| Some([(phase + 1) as f64, metric(phase)?])).collect();
    let name = y.label.clone();
    (!points.is_empty()).then(|| {
        Series::new(title, Shape::Line, axis(wording::PHASE_AXIS, ""), y).lines([Line::new(&name, points)])
    })
}

fn scores(measured: &AppResults<'_>) -> Option<Series> {
    let known: Vec<(&str, f64)> = measured
        .applications
        .iter()
        .enumerate()
        .filter_map(|(index, application)| {
            let scores: Vec<f64> = measured.all(index).iter().map(PassTotals::score).collect();
            Some((application.name.as_str(), mean(&scores)?))
        })
        .collect();
    let points = known.iter().enumerate().map(|(index, (_, score))| [index as f64, *score]);
    let line = Line::new(wording::SCORE_AXIS, points.collect());
    let series = Series::new(
        wording::SCORES_TITLE,
        Shape::Bars,
        axis(wording::APPLICATION_AXIS, ""),
        axis(wording::SCORE_AXIS, wording::SCORE_UNIT),
    );
    (!known.is_empty()).then(|| series.categories(known.iter().map(|(name, _)| *name)).lines([line]))
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
