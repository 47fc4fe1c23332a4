//! The charts of an aging run.

use likenew_core::findings::{Line, Series, Shape};
use likenew_core::io::Op;
use likenew_core::segment::Segment;

use super::aging::AGING;
use super::comparison::Comparison;
use super::phase::{Phase, Test};
use super::results::AgeResults;
use super::wording;
use likenew_procedure_support::series::{axis, speed, speed_over_time};

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

/// The speed of random writes second by second, in each phase from its own start.
pub(super) fn random_writes(measured: &AgeResults<'_>) -> Option<Series> {
    let line = |phase: Phase| {
        let passes = measured.test(phase, Test::RandomWrites);
        let origin = passes.first()?.started_at;
        let points = passes.iter().flat_map(|segment| speed_over_time(segment, origin));
        Some(Line::new(phase.name(), points.collect()))
    };
    let lines: Vec<Line> = Phase::ALL.into_iter().filter_map(line).collect();
    let title = wording::RANDOM_WRITES_TITLE;
    (!lines.is_empty()).then(|| Series::new(title, Shape::Line, axis("time", "ns"), speed()).lines(lines))
}

/// The speed of the writes that age the drive, by bytes written; a failed workload has no speed.
pub(super) fn aging(segments: &[Segment]) -> Option<Series> {
    let (mut points, mut bytes) = (Vec::new(), 0);
    for segment in segments.iter().filter(|segment| segment.workload.name.starts_with(AGING)) {
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
