//! The diagnosis in words and tables.

use likenew_core::old_files::OldFiles;
use likenew_core::verdict::{Findings, Standing, Verdict};
use likenew_diagnosis::{
    Case, Diagnosis, Fix, FoundCause, Indicator, Kind, Measured, Metric, OpenSymptom, Origin, Overall,
    Reference, Risk, Symptom,
};
use serde::Serialize;

use super::check_options::{CatalogMatch, MetricName};
use crate::rows::row;

/// Ways to decide that are named, and clues.
const MISSING_MAX: usize = 2;
const CLUES_MAX: usize = 4;
/// Clues that say less, in bits, stand in the table alone.
const CLUE_LEAST: f64 = 1.5;
const DAY_S: u64 = 86_400;
/// From this repeatability on, that checks differ is said.
const DIFFERS: f64 = 0.1;
/// What tells how fast it should be.
const ADVERTISED_HINT: &str = "give --advertised read=550MB/s,write=520MB/s";

/// The answer in one sentence first, then each cause with its evidence, then what is left open.
/// `baseline_date` is when its first figures come from, `catalog_match` which drive of the catalogue it is, `old` which old files were read or why none were, and `not_written` why nothing was written.
pub(super) fn verdicts(
    case: &Case<'_>,
    diagnosis: &Diagnosis,
    baseline_date: Option<&str>,
    catalog_match: Option<&CatalogMatch>,
    old: Option<Result<&OldFiles, &str>>,
    not_written: Option<&str>,
) -> Vec<Verdict> {
    let mut all: Vec<Verdict> = diagnosis.causes.iter().map(|found| cause(case, found)).collect();
    let mut open = diagnosis.open.iter();
    if all.is_empty() {
        all.extend(
            open.next().map_or_else(
                || vec![healthy_answer(case, diagnosis)],
                |first| undecided_answers(case, first),
            ),
        );
    }
    all.extend(open.flat_map(|open| undecided_answers(case, open)));
    let first = all.remove(0);
    let first = with_model(with_date(first, case, baseline_date), case, catalog_match);
    let first = with_old_data(first, case, old);
    all.insert(0, with_limits(first, case, not_written));
    all.extend(diagnosis.latent.iter().map(latent_causes));
    all.extend(diagnosis.design.iter().map(design_causes));
    all
}

/// What would mend it, of the first cause that has a cure and was not made so.
pub(super) fn fix(diagnosis: &Diagnosis) -> Option<&str> {
    let cause = diagnosis.causes.iter().filter(|found| found.descriptor.kind != Kind::ByDesign);
    cause.flat_map(|found| &found.fixes).next().map(|fix| fix.description.as_str())
}

fn healthy_answer(case: &Case<'_>, diagnosis: &Diagnosis) -> Verdict {
    if diagnosis.overall == Overall::AsNew {
        let compared: Vec<_> = compared_metrics(case).collect();
        let verdict = if compared.iter().all(|(_, (_, of))| of.origin == Origin::Baseline) {
            Verdict::new("It is as fast as when it was checked first.", Standing::Holds)
                .caveat(format!("Whether that was as fast as it should be is not known: {ADVERTISED_HINT}."))
        } else {
            Verdict::new("It is as fast as it should be.", Standing::Holds)
        };
        return compared
            .into_iter()
            .fold(verdict, |verdict, (metric, of)| verdict.with_evidence(compared_words(case, metric, of)));
    }
    let verdict = Verdict::new("Nothing about it looks slow.", Standing::Holds);
    let compared: Vec<_> =
        compared_metrics(case).filter(|(_, (_, of))| of.origin == Origin::SimulatedModel).collect();
    if compared.is_empty() {
        let verdict = verdict.caveat(format!(
            "There was nothing to hold its figures against: {ADVERTISED_HINT}, or check it again later."
        ));
        return metrics(case).into_iter().fold(verdict, Verdict::with_evidence);
    }
    let verdict = verdict.caveat(format!(
        "A simulated drive of its model tells half the speed from all of it, and no less: {ADVERTISED_HINT}, or check it again later."
    ));
    compared
        .into_iter()
        .fold(verdict, |verdict, (metric, of)| verdict.with_evidence(compared_words(case, metric, of)))
}

/// Each figure with the reference that tells most.
fn compared_metrics<'a>(case: &'a Case<'_>) -> impl Iterator<Item = (Metric, (Measured, Reference))> + 'a {
    Metric::ALL.into_iter().filter_map(|metric| case.shortfall(metric).map(|of| (metric, of)))
}

/// Since when it is compared with itself, and how little may show by that.
fn with_date(verdict: Verdict, case: &Case<'_>, baseline_date: Option<&str>) -> Verdict {
    let first = compared_metrics(case).filter(|(_, (_, of))| of.origin == Origin::Baseline);
    let Some(differs) = first.map(|(_, (_, of))| of.repeatability).max_by(f64::total_cmp) else {
        return verdict;
    };
    let verdict = match baseline_date {
        Some(date) => {
            verdict.with_evidence(format!("it was checked first on {}", date.get(..10).unwrap_or(date)))
        }
        None => verdict,
    };
    if differs < DIFFERS {
        return verdict;
    }
    // Between two checks, each of which is off by as much.
    let factor = (differs * std::f64::consts::SQRT_2).exp();
    verdict.caveat(format!(
        "From one check to the next its figures differ by a factor of {factor:.1} or so though nothing has changed: less than that is no fall."
    ))
}

/// By which entry of the catalogue it is compared.
fn with_model(verdict: Verdict, case: &Case<'_>, catalog_match: Option<&CatalogMatch>) -> Verdict {
    let Some(CatalogMatch { model, entry, advertised_by }) = catalog_match else { return verdict };
    let uses = |origin: Origin| compared_metrics(case).any(|(_, (_, of))| of.origin == origin);
    let is_promised = advertised_by.as_deref().filter(|_| uses(Origin::Advertised));
    let verdict = match is_promised {
        Some(by) => verdict.with_evidence(format!(
            "it says that it is {model}, and what its maker promises is taken from {by}, by the entry {entry} of the catalogue"
        )),
        None => verdict,
    };
    if uses(Origin::SimulatedModel) {
        return verdict.with_evidence(format!(
            "it says that it is {model}, and the simulated drive of its model is the entry {entry} of the catalogue"
        ));
    }
    verdict
}

/// How old files are read.
fn with_old_data(verdict: Verdict, case: &Case<'_>, old: Option<Result<&OldFiles, &str>>) -> Verdict {
    match (old, case.measurements.new_over_old_data) {
        (Some(Ok(found)), Some(ratio)) => verdict.with_evidence(format!(
            "{} pieces of {} files that have lain there for {} to {} days are read {:.2} times as fast as what was just written",
            found.ages_s.len(),
            found.files,
            found.ages_s.last().map_or(0, |age| age / DAY_S),
            found.ages_s.first().map_or(0, |age| age / DAY_S),
            1.0 / ratio.value
        )),
        (Some(Err(reason)), _) => verdict.caveat(format!("How old data is read is not known: {reason}.")),
        _ => verdict,
    }
}

/// What the first sentence does not cover.
fn with_limits(verdict: Verdict, case: &Case<'_>, not_written: Option<&str>) -> Verdict {
    let verdict = match not_written {
        Some(reason) => {
            verdict.caveat(format!("Nothing was written, so that nothing is said of writes: {reason}."))
        }
        None => verdict,
    };
    match case.virtual_by() {
        Some(by) => {
            verdict.caveat(format!("It is a virtual disk ({by}): the medium behind it can not be judged."))
        }
        None => verdict,
    }
}

fn metrics(case: &Case<'_>) -> Vec<String> {
    case.measurements
        .metrics
        .iter()
        .map(|(metric, measurement)| {
            format!("{}: {}", metric.words(), metric.format_value(measurement.value))
        })
        .collect()
}

fn compared_words(case: &Case<'_>, metric: Metric, (share, reference): (Measured, Reference)) -> String {
    let measured = case.measurements.metric(metric).map_or(f64::NAN, |measurement| measurement.value);
    format!(
        "{}: {}, {:.0} % of {}, {}",
        metric.words(),
        metric.format_value(measured),
        share.value * 100.0,
        reference.origin.words(),
        metric.format_value(reference.value)
    )
}

/// What is slow, by the figure that fell farthest where there is one.
fn slow_sentence(case: &Case<'_>, symptoms: &[Symptom]) -> String {
    let below = symptoms.iter().filter_map(|symptom| match symptom {
        Symptom::Below(metric) => case.shortfall(*metric).map(|of| (*metric, of)),
        _ => None,
    });
    match below.min_by(|one, other| one.1.0.value.total_cmp(&other.1.0.value)) {
        Some((metric, (share, reference))) => {
            let percent = (share.value * 100.0).round();
            format!("{} are at {percent:.0} % of {}", metric.words(), reference.origin.words())
        }
        None => symptoms.first().map_or_else(|| "it is slow".to_owned(), |symptom| symptom.words()),
    }
}

/// What helps first. Where even that loses something, the command stands beside what it loses: nobody should have to look for either.
fn headline(fix: &Fix) -> String {
    match &fix.command {
        Some(command) if fix.risk == Risk::Data => format!(" Cure: {} ({command}).", fix.description),
        _ => format!(" Cure: {}.", fix.description),
    }
}

fn cause(case: &Case<'_>, found: &FoundCause) -> Verdict {
    let fix = found.fixes.first().map_or_else(String::new, headline);
    let claim = format!(
        "{}, because {}.{fix}",
        capitalize(&slow_sentence(case, &found.explains)),
        found.descriptor.summary
    );
    let mut verdict = Verdict::new(claim, Standing::Holds);
    if found.descriptor.kind == Kind::ByDesign {
        verdict = verdict.with_evidence("it was so on its first day: this is no fall");
    } else {
        verdict = verdict.problem();
    }
    verdict = verdict.with_evidence(format!("{:.0} % sure", found.chance * 100.0));
    verdict = found
        .evidence_for
        .iter()
        .filter(|item| item.bits >= CLUE_LEAST)
        .take(CLUES_MAX)
        .fold(verdict, |verdict, item| verdict.with_evidence(item.sentence.clone()));
    verdict = found.explains.iter().skip(1).fold(verdict, |verdict, symptom| {
        verdict.with_evidence(format!("it explains that {}", symptom.words()))
    });
    verdict =
        found.evidence_against.iter().take(MISSING_MAX).fold(verdict, |verdict, item| {
            verdict.caveat(format!("Against it speaks that {}.", item.sentence))
        });
    let verdict = found.obstacles.iter().fold(verdict, |verdict, obstacle| {
        verdict.caveat(format!("What would help is not possible now: {obstacle}."))
    });
    found.missing_evidence.iter().take(MISSING_MAX).fold(verdict, |verdict, missing| {
        verdict.caveat(format!("What could change this: {}.", missing.method))
    })
}

/// That something is below what it should be is measured, whatever brings it about. What a link carries nobody has promised, and what merely looks odd
/// may be how it is made.
fn undecided_answers(case: &Case<'_>, open: &OpenSymptom) -> Vec<Verdict> {
    let slow = capitalize(&slow_sentence(case, &[open.symptom]));
    let reason = |claim: String| rival_causes(Verdict::new(claim, Standing::Undecided), open);
    let missed = match open.symptom {
        Symptom::Below(metric) => case.shortfall(metric).map(|of| (metric, of)),
        _ => None,
    };
    match missed.filter(|(_, (_, reference))| reference.origin != Origin::Link) {
        Some((metric, of)) => vec![
            Verdict::new(format!("{slow}."), Standing::Holds)
                .problem()
                .with_evidence(compared_words(case, metric, of)),
            reason(format!("Why {} are slow is not decided.", metric.words())),
        ],
        None => vec![reason(format!("{slow}, and why is not decided."))],
    }
}

/// What it could be, and what would decide it.
fn rival_causes(verdict: Verdict, open: &OpenSymptom) -> Verdict {
    let verdict = open.rivals.iter().fold(verdict, |verdict, (descriptor, chance)| {
        verdict.with_evidence(format!("with {:.0} % it is that {}", chance * 100.0, descriptor.summary))
    });
    let verdict = if open.rivals.is_empty() {
        verdict.with_evidence("no cause that is known here looks like this")
    } else {
        verdict
    };
    open.missing_evidence.iter().fold(verdict, |verdict, missing| {
        verdict.caveat(format!("What would decide it: {}.", missing.method))
    })
}

/// What is there and costs no speed. What was not measured and endangers nothing is worth a change of a setting, never the data.
fn latent_causes(found: &FoundCause) -> Verdict {
    let because = capitalize(found.descriptor.summary);
    let verdict = if found.is_problem() {
        let fix = found.fixes.first().map_or_else(String::new, headline);
        Verdict::new(format!("{because}: that costs no speed yet.{fix}"), Standing::Holds).problem()
    } else {
        let gentle = found.fixes.iter().find(|fix| fix.risk != Risk::Data);
        let worth = gentle.map_or_else(String::new, |fix| format!(" Worth doing: {}.", fix.description));
        Verdict::new(format!("{because}: nothing is slow because of that now.{worth}"), Standing::Holds)
    };
    found.evidence_for.iter().fold(verdict, |verdict, item| verdict.with_evidence(item.sentence.clone()))
}

fn design_causes(found: &FoundCause) -> Verdict {
    let verdict = Verdict::new(format!("By design, {}.", found.descriptor.summary), Standing::Holds);
    found.evidence_for.iter().fold(verdict, |verdict, item| verdict.with_evidence(item.sentence.clone()))
}

fn capitalize(sentence: &str) -> String {
    let mut chars = sentence.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

#[derive(Serialize)]
struct CauseRow {
    cause: &'static str,
    chance_percent: f64,
    kind: &'static str,
    explains: String,
}

#[derive(Serialize)]
struct MetricRow {
    metric: MetricName,
    unit: &'static str,
    measured_per_s: f64,
    low_per_s: f64,
    high_per_s: f64,
    reference_per_s: Option<f64>,
    reference: Option<&'static str>,
    percent: Option<f64>,
}

#[derive(Serialize)]
struct IndicatorRow {
    indicator: Indicator,
    value: f64,
    low: f64,
    high: f64,
}

#[derive(Serialize)]
struct FixRow {
    cause: &'static str,
    description: String,
    command: Option<String>,
    undo: Option<String>,
    risk: &'static str,
    cost: &'static str,
    check: &'static str,
}

#[derive(Serialize)]
struct EvidenceRow {
    cause: &'static str,
    sentence: String,
    bits: f64,
}

/// The same as tables.
pub(super) fn tables(case: &Case<'_>, diagnosis: &Diagnosis, findings: &mut Findings) {
    let named = || diagnosis.causes.iter().chain(&diagnosis.latent).chain(&diagnosis.design);
    let causes = named().map(|found| row(cause_row(found))).collect::<Vec<_>>();
    let metrics = case
        .measurements
        .metrics
        .iter()
        .map(|(metric, measurement)| row(metric_row(case, *metric, *measurement)))
        .collect::<Vec<_>>();
    let indicators = Indicator::ALL.into_iter().filter_map(|indicator| {
        let Measured { value, low, high } = indicator.value_in(case.measurements)?;
        Some(row(IndicatorRow { indicator, value, low, high }))
    });
    let indicators = indicators.collect::<Vec<_>>();
    let fixes =
        named().flat_map(|found| found.fixes.iter().map(|fix| row(fix_row(found, fix)))).collect::<Vec<_>>();
    let evidence_items = named()
        .flat_map(|found| {
            let all = found.evidence_for.iter().chain(&found.evidence_against);
            all.map(|item| {
                row(EvidenceRow {
                    cause: found.descriptor.name,
                    sentence: item.sentence.clone(),
                    bits: item.bits,
                })
            })
        })
        .collect::<Vec<_>>();
    for (name, rows) in [
        ("causes", causes),
        ("metrics", metrics),
        ("indicators", indicators),
        ("fixes", fixes),
        ("evidence", evidence_items),
    ] {
        if !rows.is_empty() {
            findings.tables.insert(name.to_owned(), rows);
        }
    }
}

fn cause_row(found: &FoundCause) -> CauseRow {
    CauseRow {
        cause: found.descriptor.name,
        chance_percent: found.chance * 100.0,
        kind: match found.descriptor.kind {
            Kind::Drive => "the drive",
            Kind::ByDesign => "by design",
            Kind::NotTheDrive => "not the drive",
        },
        explains: found.explains.iter().map(|symptom| symptom.words()).collect::<Vec<_>>().join("; "),
    }
}

fn metric_row(case: &Case<'_>, metric: Metric, measurement: Measured) -> MetricRow {
    let reference = case.shortfall(metric);
    MetricRow {
        metric: MetricName::from_metric(metric),
        unit: metric.unit(),
        measured_per_s: measurement.value,
        low_per_s: measurement.low,
        high_per_s: measurement.high,
        reference_per_s: reference.map(|(_, of)| of.value),
        reference: reference.map(|(_, of)| of.origin.name()),
        percent: reference.map(|(share, _)| share.value * 100.0),
    }
}

fn fix_row(found: &FoundCause, fix: &Fix) -> FixRow {
    FixRow {
        cause: found.descriptor.name,
        description: fix.description.clone(),
        command: fix.command.clone(),
        undo: fix.undo.clone(),
        risk: match fix.risk {
            Risk::None => "none",
            Risk::Low => "low",
            Risk::Data => "data can be lost",
        },
        cost: fix.cost,
        check: fix.check,
    }
}
