//! Layers as rows, and latencies as charts.

use likenew_core::findings::{Findings, Line, Row, Series, Shape};
use likenew_core::row;
use likenew_core::trim::Layer;

use super::trim_evidence::TrimEvidence;
use super::wording;
use super::worth::Worth;
use likenew_procedure_support::series::{axis, speed};

/// A layer as a row.
pub(super) fn layer_row(layer: &Layer) -> Row {
    row! {
        layer: &layer.name,
        kind: &layer.kind,
        passes: wording::passes(layer.passes),
        largest_discard_bytes: layer.discard_max_bytes,
        granularity_bytes: layer.granularity_bytes,
        evidence: &layer.evidence,
        remedy: layer.remedy.as_deref(),
    }
}

/// Percentiles at which latencies are drawn.
const SHARES: [usize; 11] = [0, 10, 20, 30, 40, 50, 60, 70, 80, 90, 99];

/// Draws the charts that have data.
pub(super) fn draw(findings: &mut Findings, trim_evidence: &TrimEvidence<'_>, worth: Option<&Worth<'_>>) {
    let lines: Vec<Line> = [(wording::WITHOUT, false), (wording::WITH, true)]
        .into_iter()
        .filter_map(|(name, trimmed)| {
            let speeds = worth?.speeds(trimmed);
            let points = speeds.into_iter().enumerate().map(|(index, speed)| [index as f64 + 1.0, speed]);
            let points: Vec<[f64; 2]> = points.collect();
            (!points.is_empty()).then(|| Line::new(name, points))
        })
        .collect();
    if !lines.is_empty() {
        findings.series.insert(
            "worth".to_owned(),
            Series::new(wording::EFFECT_TITLE, Shape::Line, axis("pass", ""), speed()).lines(lines),
        );
    }
    let Some(Ok(result)) = trim_evidence.read_back else { return };
    if result.probes_kept_ns.is_empty() {
        return;
    }
    let quantiles = |name: &str, ns: &[u64]| {
        let mut sorted = ns.to_vec();
        sorted.sort_unstable();
        let at = |share: usize| sorted[(share * (sorted.len() - 1)) / 100] as f64;
        Line::new(name, SHARES.iter().map(|share| [*share as f64, at(*share)]).collect())
    };
    let lines = [
        quantiles(wording::KEPT, &result.probes_kept_ns),
        quantiles(wording::FREED, &result.probes_released_ns),
    ];
    let picture =
        Series::new(wording::LATENCY_TITLE, Shape::Line, axis("percentile", "%"), axis("latency", "ns"))
            .lines(lines);
    findings.series.insert("probes".to_owned(), picture);
}
