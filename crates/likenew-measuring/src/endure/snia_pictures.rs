//! Charts of a SNIA test.

use likenew_core::findings::{Line, Mark, Series, Shape};

use super::level::{Level, knee_mark};
use super::snia::Progress;
use super::snia_plan::{SniaTest, TrackedMetric};
use super::snia_results::Results;
use super::wording;
use likenew_procedure_support::series::{axis, speed};

/// By name.
pub(super) fn pictures(
    test: SniaTest,
    phases: &[Progress<'_>],
    results: &[Results<'_>],
    level: Option<&Level<'_>>,
) -> Vec<(String, Series)> {
    let mut pictures = Vec::new();
    if let Some(level) = level {
        let series = Series::new(
            wording::SATURATION_TITLE,
            Shape::Line,
            axis(wording::WRITTEN_AXIS, "bytes"),
            speed(),
        );
        let marks: Vec<Mark> = level.knees.iter().map(knee_mark).collect();
        pictures.push(("saturation".to_owned(), series.lines([level.test_series.line()]).marks(marks)));
    } else {
        pictures.extend(tracked_series(phases).map(|series| ("convergence".to_owned(), series)));
    }
    if test == SniaTest::Iops && !results.is_empty() {
        pictures.push(("iops".to_owned(), matrix(results)));
    }
    pictures
}

/// The tracked metrics by round, each over its mean, so that all of them fit into one chart.
fn tracked_series(phases: &[Progress<'_>]) -> Option<Series> {
    let mut lines = Vec::new();
    for progress in phases {
        for (index, (point, metric)) in progress.phase.tracked_metrics.iter().enumerate() {
            let samples = progress.samples(index);
            let mean = samples.iter().sum::<f64>() / samples.len().max(1) as f64;
            if mean > 0.0 {
                let point = &progress.phase.points[*point];
                let points = (1..).zip(&samples).map(|(round, value)| [f64::from(round), value / mean]);
                let test = point.test.to_string();
                let name = match metric {
                    TrackedMetric::LatencyNs => wording::tracked_latency(&test, point.op),
                    _ => wording::tracked_rate(&test, point.op),
                };
                lines.push(Line::new(name, points.collect()));
            }
        }
    }
    let title = wording::CONVERGENCE_TITLE;
    (!lines.is_empty()).then(|| {
        Series::new(title, Shape::Line, axis("round", ""), axis(wording::CONVERGENCE_AXIS, "")).lines(lines)
    })
}

/// IOPS by block and mix.
fn matrix(results: &[Results<'_>]) -> Series {
    let mut blocks: Vec<u32> = results.iter().map(|result| result.point.test.block).collect();
    blocks.sort_unstable();
    blocks.dedup();
    let mut lines: Vec<Line> = Vec::new();
    for result in results {
        let place = blocks.iter().position(|block| *block == result.point.test.block);
        let cell = [place.expect("its block is listed") as f64, result.metric(TrackedMetric::Iops).0];
        let name = result.point.op.to_string();
        match lines.iter_mut().find(|line| line.name == name) {
            Some(line) => line.points.push(cell),
            None => lines.push(Line::new(name, vec![cell])),
        }
    }
    let names = blocks.iter().map(|block| likenew_core::units::exact_size(u64::from(*block)));
    Series::new(wording::IOPS_TITLE, Shape::Heat, axis("block", ""), axis("IOPS", "1/s").logarithmic())
        .rows("mix")
        .categories(names)
        .lines(lines)
}
