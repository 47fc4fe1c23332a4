//! Computes the metrics of each phase from the segments of a run, as rows of tables and as charts.

use likenew_core::findings::{Line, Row, Series, Shape};
use likenew_core::io::Op;
use likenew_core::segment::Segment;
use likenew_procedure_support::estimate::{Estimate, is_whole};
use likenew_procedure_support::rows::Columns as _;
use likenew_procedure_support::series::{axis, speed, speed_over_time};
use likenew_stats::interval::{CONFIDENCE_95, Interval, mean_interval, ratio_interval};
use likenew_stats::summary::{maximum, mean};

use super::wording::{self, TableRow};
use super::workloads::{Part, Phase, Test};
use crate::apps::library::{Entry, default_set};
use crate::apps::results::{PassTotals, geometric_mean};

/// The name of the score in tables.
pub(super) const SCORE: &str = "application score";

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
    pub(super) fn before_aging(&self) -> Option<&'a Segment> {
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
        let mut comparisons = vec![self.rate(Test::RandomWrites)];
        comparisons.extend(self.latencies());
        comparisons.extend(
            [Test::SequentialWrites, Test::RandomReads, Test::SequentialReads].map(|test| self.rate(test)),
        );
        comparisons.push(self.score());
        comparisons
    }

    /// The score of each application.
    pub(super) fn applications(&self) -> Vec<Comparison> {
        let scores = |(index, entry): (usize, &'static Entry)| Comparison {
            test: &entry.application.name,
            unit: "points",
            better: Better::Higher,
            summary: Summary::Mean,
            passes: Phase::ALL.map(|phase| {
                self.application(phase, index).into_iter().flatten().map(|played| played.score()).collect()
            }),
        };
        default_set().enumerate().map(scores).collect()
    }

    fn rate(&self, test: Test) -> Comparison {
        let summary = if test.is_in_sequence() { Summary::MeanOfPairs } else { Summary::Mean };
        self.of_passes(test, test.name(), "bytes/s", Better::Higher, summary, Segment::bytes_per_s)
    }

    /// Mean, p99 and maximum of the latency of random writes.
    fn latencies(&self) -> [Comparison; 3] {
        let writes = Test::RandomWrites;
        let row = |name, summary, metric: fn(&Segment) -> Option<f64>| {
            self.of_passes(writes, name, "ns", Better::Lower, summary, metric)
        };
        [
            row(wording::LATENCY_MEAN, Summary::Mean, |segment| {
                Some(segment.total_of(Op::Write).latency_ns_mean())
            }),
            row(wording::LATENCY_P99, Summary::Mean, |segment| {
                Some(segment.latencies().quantile(0.99).0 as f64)
            }),
            row(wording::LATENCY_MAX, Summary::Longest, |segment| Some(segment.latencies().max().0 as f64)),
        ]
    }

    fn of_passes(
        &self,
        test: Test,
        name: &'static str,
        unit: &'static str,
        better: Better,
        summary: Summary,
        metric: impl Fn(&Segment) -> Option<f64>,
    ) -> Comparison {
        let passes = Phase::ALL.map(|phase| {
            let segments = self.of_part(Part::Test(phase, test)).filter(|segment| segment.total().ios > 0);
            segments.filter_map(&metric).collect()
        });
        Comparison { test: name, unit, better, summary, passes }
    }

    fn score(&self) -> Comparison {
        let passes = Phase::ALL.map(|phase| {
            let played: Vec<Vec<Option<PassTotals>>> =
                (0..default_set().count()).map(|index| self.application(phase, index)).collect();
            let score_of = |pass: usize| {
                geometric_mean(
                    &played
                        .iter()
                        .map(|application| application[pass].map(|totals| totals.score()))
                        .collect::<Vec<_>>(),
                )
            };
            (0..self.passes as usize).filter_map(score_of).collect()
        });
        Comparison { test: SCORE, unit: "points", better: Better::Higher, summary: Summary::Mean, passes }
    }
}

/// Which direction is better. A drop is always a change for the worse: for a rate the share that is lost,
/// 100% at most; for a latency the share that is added, without limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Better {
    Higher,
    Lower,
}

/// How the passes of a metric become one number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Summary {
    Mean,
    /// The mean, for tests whose n-th pass covers the same part of the drive in each phase. Parts may differ by
    /// design, as on a disk, so each pass is compared with its counterpart.
    MeanOfPairs,
    /// The maximum of the longest latencies. It has no interval.
    Longest,
}

/// One metric in all phases.
#[derive(Clone, Debug)]
pub(super) struct Comparison {
    pub(super) test: &'static str,
    /// The unit of its values: `bytes/s`, `ns` or `points`.
    pub(super) unit: &'static str,
    pub(super) better: Better,
    pub(super) summary: Summary,
    /// The value of each pass, by phase in the order of [`Phase::ALL`].
    pub(super) passes: [Vec<f64>; 3],
}

impl Comparison {
    /// The passes of one phase.
    pub(super) fn passes_in(&self, phase: Phase) -> &[f64] {
        &self.passes[phase as usize]
    }

    /// Its value in one phase.
    pub(super) fn value(&self, phase: Phase) -> Option<f64> {
        match self.summary {
            Summary::Mean | Summary::MeanOfPairs => mean(self.passes_in(phase)),
            Summary::Longest => maximum(self.passes_in(phase)),
        }
    }

    /// Its value in one phase, with an interval that does not go below 0.
    fn estimate(&self, phase: Phase) -> Option<Estimate> {
        let has_interval = self.summary != Summary::Longest;
        let interval = has_interval.then(|| mean_interval(self.passes_in(phase), CONFIDENCE_95)).flatten();
        Some(Estimate { value: self.value(phase)?, interval }.not_negative())
    }

    /// How far it fell from new to `phase`, in percent of its value when new; the interval comes from the scatter of
    /// the passes. `None` if a phase is missing or the value was zero when new.
    pub(super) fn fall(&self, phase: Phase) -> Option<Estimate> {
        let (new, then) = (self.value(Phase::New)?, self.value(phase)?);
        if new <= 0.0 {
            return None;
        }
        let interval = match self.summary {
            Summary::Mean => ratio_interval(self.passes_in(phase), self.passes_in(Phase::New), CONFIDENCE_95),
            Summary::MeanOfPairs => paired_interval(self.passes_in(phase), self.passes_in(Phase::New), new),
            Summary::Longest => None,
        };
        Some(Estimate { value: then / new, interval }.map(|ratio| match self.better {
            Better::Higher => (1.0 - ratio) * 100.0,
            Better::Lower => (ratio - 1.0) * 100.0,
        }))
    }

    /// The value in `phase` over that when new: 1 is as new, less is worse.
    pub(super) fn share_of_new(&self, phase: Phase) -> Option<f64> {
        let (new, then) = (self.value(Phase::New)?, self.value(phase)?);
        let share = if self.better == Better::Higher { then / new } else { new / then };
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

    /// Its row on the first screen.
    pub(super) fn cells(&self) -> TableRow {
        TableRow {
            test: self.test,
            unit: self.unit,
            new: self.value(Phase::New),
            used: self.value(Phase::Used),
            after_idle: self.value(Phase::AfterIdle),
            interval: self.fall(Phase::Used).and_then(|fall| fall.interval),
            share: self.share_of_new(Phase::Used),
        }
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
    if known.is_empty() {
        return None;
    }
    let line = |phase: Phase| {
        let points = known.iter().enumerate();
        let points =
            points.filter_map(|(index, comparison)| Some([index as f64, comparison.share_of_new(phase)?]));
        Line::new(phase.name(), points.collect())
    };
    let lines = Phase::ALL.map(line).into_iter().filter(|line| !line.points.is_empty());
    let (test, share) = (axis("metric", ""), axis(wording::SHARE_AXIS, ""));
    let series = Series::new(wording::SHARE_TITLE, Shape::Bars, test, share);
    Some(series.categories(known.iter().map(|comparison| comparison.test)).lines(lines))
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
pub(super) fn aging<'a>(segments: impl Iterator<Item = &'a Segment>) -> Option<Series> {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn comparison(better: Better, new: &[f64], used: &[f64]) -> Comparison {
        let passes = [new.to_vec(), used.to_vec(), Vec::new()];
        Comparison { test: "t", unit: "bytes/s", better, summary: Summary::Mean, passes }
    }

    #[test]
    fn worse_is_a_drop_whichever_way_is_better() {
        let speed = comparison(Better::Higher, &[100.0; 3], &[25.0; 3]).fall(Phase::Used).unwrap();
        let latency = comparison(Better::Lower, &[100.0; 3], &[400.0; 3]).fall(Phase::Used).unwrap();
        assert_eq!((speed.value, speed.interval), (75.0, Some(Interval { low: 75.0, high: 75.0 })));
        assert_eq!((latency.value, latency.interval), (300.0, Some(Interval { low: 300.0, high: 300.0 })));
        assert!(comparison(Better::Higher, &[100.0; 3], &[150.0; 3]).fall(Phase::Used).unwrap().value < 0.0);
    }

    #[test]
    fn the_interval_has_its_lower_end_first_and_holds_the_estimate() {
        for better in [Better::Higher, Better::Lower] {
            let fall =
                comparison(better, &[99.0, 101.0, 100.0], &[40.0, 60.0, 50.0]).fall(Phase::Used).unwrap();
            let interval = fall.interval.unwrap();
            assert!(interval.low < interval.high && interval.contains(fall.value), "{better:?} {fall:?}");
        }
    }

    #[test]
    fn paired_passes_are_compared_with_each_other_only() {
        let (new, used) = ([100.0, 60.0, 20.0], [51.0, 29.0, 10.0]);
        let apart = comparison(Better::Higher, &new, &used).fall(Phase::Used).unwrap();
        let paired = Comparison { summary: Summary::MeanOfPairs, ..comparison(Better::Higher, &new, &used) };
        let paired = paired.fall(Phase::Used).unwrap();
        assert_eq!(apart.value, paired.value);
        // Three zones of a disk do not differ by chance: the drops are 49, 31 and 10 of 60.
        assert!((paired.value - 50.0).abs() < 1e-9 && paired.interval.unwrap().contains(50.0));
        assert!(apart.interval.is_none_or(|interval| interval.high - interval.low
            > paired.interval.unwrap().high - paired.interval.unwrap().low));
    }

    #[test]
    fn one_pass_has_no_interval_and_nothing_has_no_drop() {
        let fall = comparison(Better::Higher, &[100.0], &[50.0]).fall(Phase::Used).unwrap();
        assert_eq!((fall.value, fall.interval), (50.0, None));
        assert_eq!(comparison(Better::Higher, &[100.0], &[]).fall(Phase::Used), None);
        assert_eq!(comparison(Better::Higher, &[0.0], &[1.0]).fall(Phase::Used), None);
        let row = comparison(Better::Higher, &[100.0], &[]).row(true);
        assert!(row["used"].is_null() && row["drop_percent"].is_null() && row["after_idle"].is_null());
    }

    #[test]
    fn a_metric_has_a_row_for_each_phase_that_was_measured() {
        let rows: Vec<Row> = comparison(Better::Higher, &[99.0, 101.0], &[50.0]).intervals().collect();
        assert_eq!(rows.len(), 2);
        assert_eq!((&rows[0]["phase"], &rows[0]["value"]), (&"new".into(), &100.0.into()));
        assert!(rows[0]["value_low"].as_f64().unwrap() < 99.0 && rows[1]["value_low"].is_null());
    }
}
