//! The diagnosis as tables and charts.

use likenew_core::findings::{Action, Findings, Line, Row, Series, Shape};
use likenew_core::row;
use likenew_diagnosis::{Case, Diagnosis, FoundCause, Indicator, Kind, Measured, Metric, cost};
use likenew_procedure_support::series::{axis, speed};

use super::experiment::PLACES;
use super::results::{CheckResults, pairs, rates_by_bytes};
use super::wording::{self, workload_names as names};

/// Adds the tables that have rows.
pub(super) fn put(case: &Case<'_>, diagnosis: &Diagnosis, findings: &mut Findings) {
    let named = || diagnosis.causes.iter().chain(&diagnosis.latent).chain(&diagnosis.design);
    let metrics = case.measurements.metrics.iter();
    let indicators = Indicator::ALL.into_iter().filter_map(|indicator| {
        let Measured { value, low, high } = indicator.value_in(case.measurements)?;
        let description = wording::indicator(indicator);
        Some(row! { indicator, description, value, low, high })
    });
    let fixes = named().flat_map(|found| found.actions.iter().map(|action| fix_row(found, action)));
    let evidence = named().flat_map(|found| {
        let all = found.evidence_for.iter().chain(&found.evidence_against);
        all.map(|item| {
            row! {
                cause: found.cause.name,
                evidence: item.name,
                sentence: &item.sentence,
                speaks: wording::speaks(item.bits),
                // How many times as probable the observation is if the cause is there, or if it is not.
                times_as_likely: item.bits.abs().exp2(),
            }
        })
    });
    for (name, rows) in [
        ("causes", named().map(cause_row).collect::<Vec<_>>()),
        ("metrics", metrics.map(|(metric, measured)| metric_row(case, *metric, *measured)).collect()),
        ("indicators", indicators.collect()),
        ("fixes", fixes.collect()),
        ("evidence", evidence.collect()),
    ] {
        if !rows.is_empty() {
            findings.tables.insert(name.to_owned(), rows);
        }
    }
}

fn cause_row(found: &FoundCause) -> Row {
    row! {
        cause: found.cause.name,
        probability_percent: found.chance * 100.0,
        kind: match found.cause.kind {
            Kind::Drive => "the drive",
            Kind::ByDesign => "by design",
            Kind::NotTheDrive => "not the drive",
        },
        explains: found.explains.iter().map(|symptom| symptom.title()).collect::<Vec<_>>().join("; "),
    }
}

fn metric_row(case: &Case<'_>, metric: Metric, measurement: Measured) -> Row {
    let reference = case.shortfall(metric);
    row! {
        metric,
        unit: metric.unit(),
        measured_per_s: measurement.value,
        low_per_s: measurement.low,
        high_per_s: measurement.high,
        reference_per_s: reference.map(|(_, of)| of.value),
        reference: reference.map(|(_, of)| of.origin),
        percent: reference.map(|(share, _)| share.value * 100.0),
    }
}

fn fix_row(found: &FoundCause, action: &Action) -> Row {
    row! {
        cause: found.cause.name,
        description: &action.why,
        command: action.command.as_deref(),
        loses: wording::loses(action.loses),
        cost: cost(action),
    }
}

/// Draws the measurements.
pub(super) fn draw(measured: &CheckResults<'_>, findings: &mut Findings) {
    let ran = &measured.ran;
    let capacity = measured.evidence.geometry.capacity as f64;
    let at = |index: usize| index as f64 / (PLACES - 1) as f64 * capacity;
    let lines = [(&ran.places, wording::FIRST_READ), (&ran.places_again, wording::SECOND_READ)].map(
        |(places, name)| Line::new(name, pairs(places).map(|(index, speed)| [at(index), speed]).collect()),
    );
    let reads = Series::new(wording::READS_TITLE, Shape::Scatter, axis("address", "bytes"), speed());
    let written = [
        (ran.writes, names::WRITES),
        (ran.rested_writes, names::RESTED_WRITES),
        (ran.trimmed_writes, names::TRIMMED_WRITES),
    ];
    let written = written.into_iter().filter_map(|(segment, name)| {
        let segment = segment?;
        let width = segment.gigabytes.width as f64;
        let point = |(index, rate)| [(index as f64 + 1.0) * width, rate];
        Some(Line::new(name, rates_by_bytes(segment).into_iter().enumerate().map(point).collect()))
    });
    let writes = Series::new(wording::WRITES_TITLE, Shape::Line, axis("written", "bytes"), speed());
    for (name, mut series) in [("reads", reads.lines(lines)), ("writes", writes.lines(written))] {
        series.lines.retain(|line| !line.points.is_empty());
        if !series.lines.is_empty() {
            findings.series.insert(name.to_owned(), series);
        }
    }
}
