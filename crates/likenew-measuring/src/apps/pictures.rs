//! The series of a run.

use likenew_core::findings::{Findings, Line, Series, Shape};

use super::application::Application;
use super::consistency::PHASES;
use super::results::{AppResults, OverallScore};
use super::wording;
use likenew_procedure_support::series::{axis, speed};

/// Score by application; in a run for consistency, score, access time and random writes over the phases.
pub(super) fn put(
    findings: &mut Findings,
    measured: &AppResults<'_>,
    applications: &[Application],
    consistency: bool,
) {
    if consistency {
        let writes = |phase: usize| measured.writes(phase)?.bytes_per_s();
        let metric = |of: fn(&OverallScore) -> f64| {
            move |phase: usize| measured.phase(phase).map(|overall| of(&overall))
        };
        let pictures = [
            (
                "score_by_phase",
                phase_series(
                    wording::SCORE_BY_PHASE_TITLE,
                    axis(wording::SCORE_AXIS, wording::SCORE_UNIT),
                    metric(|of| of.score),
                ),
            ),
            (
                "access_time_by_phase",
                phase_series(
                    wording::ACCESS_TIME_BY_PHASE_TITLE,
                    axis(wording::ACCESS_TIME_AXIS, "ns"),
                    metric(|of| of.access_time_ns),
                ),
            ),
            ("writes_by_phase", phase_series(wording::WRITES_BY_PHASE_TITLE, speed(), writes)),
        ];
        findings
            .series
            .extend(pictures.into_iter().filter_map(|(name, series)| Some((name.to_owned(), series?))));
    } else if let Some(series) = scores(measured, applications) {
        findings.series.insert("scores".into(), series);
    }
}

fn phase_series(
    title: &str,
    y: likenew_core::findings::Axis,
    metric: impl Fn(usize) -> Option<f64>,
) -> Option<Series> {
    let points: Vec<[f64; 2]> =
        (0..PHASES.len()).filter_map(|phase| Some([(phase + 1) as f64, metric(phase)?])).collect();
    let name = y.label.clone();
    (!points.is_empty()).then(|| {
        Series::new(title, Shape::Line, axis(wording::PHASE_AXIS, ""), y).lines([Line::new(&name, points)])
    })
}

fn scores(measured: &AppResults<'_>, applications: &[Application]) -> Option<Series> {
    let known: Vec<(&str, f64)> = applications
        .iter()
        .enumerate()
        .filter_map(|(index, of)| {
            let scores: Vec<f64> = measured.all(index).iter().map(super::score::PassTotals::score).collect();
            Some((of.name.as_str(), likenew_stats::summary::mean(&scores)?))
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
