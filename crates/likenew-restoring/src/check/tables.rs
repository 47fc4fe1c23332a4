//! The diagnosis as tables.

use likenew_core::answer::Action;
use likenew_core::findings::Findings;
use likenew_diagnosis::{Case, Diagnosis, FoundCause, Indicator, Kind, Measured, Metric, Origin, cost};
use likenew_procedure_support::rows::row;
use serde::Serialize;

use super::wording;

#[derive(Serialize)]
struct CauseRow {
    cause: &'static str,
    probability_percent: f64,
    kind: &'static str,
    explains: String,
}

#[derive(Serialize)]
struct MetricRow {
    metric: Metric,
    unit: &'static str,
    measured_per_s: f64,
    low_per_s: f64,
    high_per_s: f64,
    reference_per_s: Option<f64>,
    reference: Option<Origin>,
    percent: Option<f64>,
}

#[derive(Serialize)]
struct IndicatorRow {
    indicator: Indicator,
    description: &'static str,
    value: f64,
    low: f64,
    high: f64,
}

#[derive(Serialize)]
struct FixRow<'a> {
    cause: &'static str,
    description: &'a str,
    command: Option<&'a str>,
    loses: &'static str,
    cost: &'static str,
}

#[derive(Serialize)]
struct EvidenceRow<'a> {
    cause: &'static str,
    evidence: &'static str,
    sentence: &'a str,
    speaks: &'static str,
    times_as_likely: f64,
}

/// Adds the tables that have rows.
pub(super) fn put(case: &Case<'_>, diagnosis: &Diagnosis, findings: &mut Findings) {
    let named = || diagnosis.causes.iter().chain(&diagnosis.latent).chain(&diagnosis.design);
    let metrics = case.measurements.metrics.iter();
    let indicators = Indicator::ALL.into_iter().filter_map(|indicator| {
        let Measured { value, low, high } = indicator.value_in(case.measurements)?;
        let description = wording::indicator(indicator);
        Some(row(IndicatorRow { indicator, description, value, low, high }))
    });
    let fixes = named().flat_map(|found| found.actions.iter().map(|action| row(fix_row(found, action))));
    let evidence = named().flat_map(|found| {
        let all = found.evidence_for.iter().chain(&found.evidence_against);
        all.map(|item| {
            row(EvidenceRow {
                cause: found.cause.name,
                evidence: item.name,
                sentence: &item.sentence,
                speaks: wording::speaks(item.bits),
                // How many times as probable the observation is if the cause is there, or if it is not.
                times_as_likely: item.bits.abs().exp2(),
            })
        })
    });
    for (name, rows) in [
        ("causes", named().map(|found| row(cause_row(found))).collect::<Vec<_>>()),
        ("metrics", metrics.map(|(metric, measured)| row(metric_row(case, *metric, *measured))).collect()),
        ("indicators", indicators.collect()),
        ("fixes", fixes.collect()),
        ("evidence", evidence.collect()),
    ] {
        if !rows.is_empty() {
            findings.tables.insert(name.to_owned(), rows);
        }
    }
}

fn cause_row(found: &FoundCause) -> CauseRow {
    CauseRow {
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

fn metric_row(case: &Case<'_>, metric: Metric, measurement: Measured) -> MetricRow {
    let reference = case.shortfall(metric);
    MetricRow {
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

fn fix_row<'a>(found: &FoundCause, action: &'a Action) -> FixRow<'a> {
    FixRow {
        cause: found.cause.name,
        description: &action.why,
        command: action.command.as_deref(),
        loses: wording::loses(action.loses),
        cost: cost(action),
    }
}
