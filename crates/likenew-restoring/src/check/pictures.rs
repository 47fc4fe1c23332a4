//! The charts of a check: reads by address, and the progress of writes.

use likenew_core::findings::{Findings, Line, Series, Shape};
use likenew_core::procedure::Evidence;

use super::results::{CheckResults, rates_by_bytes};
use super::wording;
use super::wording::workload_names::{PLACE, PLACE_REPEAT, RESTED_WRITES, TRIMMED_WRITES, WRITES};
use super::workload_plan::PLACES;
use likenew_procedure_support::series::{axis, speed};

/// Draws the measurements.
pub(super) fn draw(measured: &CheckResults<'_>, evidence: &Evidence, findings: &mut Findings) {
    let capacity = evidence.geometry.capacity as f64;
    let lines: Vec<Line> = [(PLACE, wording::FIRST_READ), (PLACE_REPEAT, wording::SECOND_READ)]
        .into_iter()
        .filter_map(|(kind, name)| {
            let places = measured.places(kind);
            let at = |index: usize| index as f64 / (PLACES - 1) as f64 * capacity;
            let points: Vec<[f64; 2]> = places.into_iter().map(|(index, speed)| [at(index), speed]).collect();
            (!points.is_empty()).then(|| Line { name: name.to_owned(), points, band: Vec::new() })
        })
        .collect();
    insert(findings, "reads", wording::READS_TITLE, Shape::Scatter, axis("address", "bytes"), lines);
    let lines: Vec<Line> = [WRITES, RESTED_WRITES, TRIMMED_WRITES]
        .into_iter()
        .filter_map(|name| {
            let segment = measured.segment(name)?;
            let width = segment.gigabytes.width as f64;
            let rates = rates_by_bytes(segment);
            let points: Vec<[f64; 2]> =
                rates.iter().enumerate().map(|(index, rate)| [(index as f64 + 1.0) * width, *rate]).collect();
            (!points.is_empty()).then(|| Line { name: name.to_owned(), points, band: Vec::new() })
        })
        .collect();
    insert(findings, "writes", wording::WRITES_TITLE, Shape::Line, axis("written", "bytes"), lines);
}

fn insert(
    findings: &mut Findings,
    name: &str,
    title: &str,
    shape: Shape,
    x: likenew_core::findings::Axis,
    lines: Vec<Line>,
) {
    if !lines.is_empty() {
        let series = Series {
            title: title.to_owned(),
            shape,
            x,
            y: speed(),
            lines,
            marks: Vec::new(),
            categories: Vec::new(),
            rows: String::new(),
        };
        findings.series.insert(name.to_owned(), series);
    }
}
