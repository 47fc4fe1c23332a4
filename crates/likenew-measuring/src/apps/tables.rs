//! The tables of a run.

use likenew_core::findings::{Findings, Row};
use likenew_stats::interval::{CONFIDENCE_95, mean_interval};
use likenew_stats::summary::mean;
use serde::Serialize;

use super::application::Application;
use super::consistency::PHASES;
use super::results::AppResults;
use super::score::PassTotals;
use likenew_procedure_support::rows::row;

#[derive(Serialize)]
struct ApplicationRow<'a> {
    application: &'a str,
    score: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    score_low: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    score_high: Option<f64>,
    bytes_per_s: f64,
    access_time_ns: f64,
    iops: f64,
    /// Of one pass.
    busy_ns: f64,
    reads: f64,
    writes: f64,
    read_bytes: f64,
    written_bytes: f64,
}

#[derive(Serialize)]
struct PassRow {
    pass: usize,
    score: f64,
    bytes_per_s: f64,
    access_time_ns: f64,
}

#[derive(Serialize)]
struct PhaseRow {
    phase: String,
    score: Option<f64>,
    bytes_per_s: Option<f64>,
    access_time_ns: Option<f64>,
    /// Before its test, at random.
    written_bytes: Option<u64>,
    written_bytes_per_s: Option<f64>,
}

#[derive(Serialize)]
struct SourceRow<'a> {
    application: &'a str,
    metric: String,
    value: String,
    source: String,
}

/// Answers first.
pub(super) fn put(
    findings: &mut Findings,
    measured: &AppResults<'_>,
    applications: &[Application],
    consistency: bool,
) {
    if consistency {
        findings.tables.insert("phases".into(), phases(measured));
    }
    let rows =
        applications.iter().enumerate().filter_map(|(index, of)| application(&of.name, &measured.all(index)));
    findings.tables.insert("applications".into(), rows.collect());
    if !consistency {
        findings.tables.insert("passes".into(), passes(measured));
    }
    findings.tables.insert("sources".into(), applications.iter().flat_map(sources).collect());
}

/// Means over the passes that were played.
fn application(name: &str, pass_totals: &[PassTotals]) -> Option<Row> {
    let metric = |of: fn(&PassTotals) -> f64| mean(&pass_totals.iter().map(of).collect::<Vec<_>>());
    let scores: Vec<f64> = pass_totals.iter().map(PassTotals::score).collect();
    let interval = mean_interval(&scores, CONFIDENCE_95);
    Some(row(ApplicationRow {
        application: name,
        score: mean(&scores)?,
        score_low: interval.map(|of| of.low.max(0.0)),
        score_high: interval.map(|of| of.high),
        bytes_per_s: metric(PassTotals::bytes_per_s)?,
        access_time_ns: metric(PassTotals::access_time_ns)?,
        iops: metric(PassTotals::iops)?,
        busy_ns: metric(|of| of.busy_ns)?,
        reads: metric(|of| of.reads as f64)?,
        writes: metric(|of| of.writes as f64)?,
        read_bytes: metric(|of| of.bytes_read as f64)?,
        written_bytes: metric(|of| of.bytes_written as f64)?,
    }))
}

fn passes(measured: &AppResults<'_>) -> Vec<Row> {
    let overalls = measured.overalls().into_iter().enumerate();
    overalls
        .map(|(index, of)| {
            row(PassRow {
                pass: index + 1,
                score: of.score,
                bytes_per_s: of.bytes_per_s,
                access_time_ns: of.access_time_ns,
            })
        })
        .collect()
}

fn phases(measured: &AppResults<'_>) -> Vec<Row> {
    let phases = PHASES.iter().enumerate().map(|(index, phase)| {
        let (overall, writes) = (measured.phase(index), measured.writes(index));
        PhaseRow {
            phase: phase.name.replace(' ', "_"),
            score: overall.map(|of| of.score),
            bytes_per_s: overall.map(|of| of.bytes_per_s),
            access_time_ns: overall.map(|of| of.access_time_ns),
            written_bytes: writes.map(|segment| segment.total().bytes),
            written_bytes_per_s: writes.and_then(likenew_core::segment::Segment::bytes_per_s),
        }
    });
    phases.filter(|phase| phase.score.is_some() || phase.written_bytes.is_some()).map(row).collect()
}

/// What is known of an application and what is assumed.
fn sources(application: &Application) -> impl Iterator<Item = Row> {
    let metrics = application.sources().into_iter().map(|(metric, value, source)| {
        row(SourceRow { application: &application.name, metric, value, source: source.to_owned() })
    });
    let published = row(SourceRow {
        application: &application.name,
        metric: "published".into(),
        value: application.about.clone(),
        source: application.publication.clone(),
    });
    std::iter::once(published).chain(metrics).collect::<Vec<_>>().into_iter()
}
