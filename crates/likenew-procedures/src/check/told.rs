//! The diagnosis in words and tables.

use likenew_core::old_files::OldFiles;
use likenew_core::verdict::{Findings, Standing, Verdict};
use likenew_diagnosis::{
    Case, Cure, Diagnosis, Figure, Found, Kind, Open, Origin, Overall, Reference, Risk, Shape, Sign, Symptom,
};
use serde::Serialize;

use super::check_options::{FigureName, KnownAs};
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
const ADVERTISED: &str = "give --advertised read=550MB/s,write=520MB/s";

/// The answer in one sentence first, then each cause with its evidence, then what is left open.
/// `first_checked` is when its first figures come from, `known_as` which drive of the catalogue it is, `old` which old files were read or why none were, and `not_written` why nothing was written.
pub(super) fn verdicts(
    case: &Case<'_>,
    diagnosis: &Diagnosis,
    first_checked: Option<&str>,
    known_as: Option<&KnownAs>,
    old: Option<Result<&OldFiles, &str>>,
    not_written: Option<&str>,
) -> Vec<Verdict> {
    let mut all: Vec<Verdict> = diagnosis.found.iter().map(|found| cause(case, found)).collect();
    let mut open = diagnosis.open.iter();
    if all.is_empty() {
        all.extend(open.next().map_or_else(|| vec![sound(case, diagnosis)], |first| undecided(case, first)));
    }
    all.extend(open.flat_map(|open| undecided(case, open)));
    let first = all.remove(0);
    let first = with_model(with_date(first, case, first_checked), case, known_as);
    let first = with_old(first, case, old);
    all.insert(0, with_limits(first, case, not_written));
    all.extend(diagnosis.latent.iter().map(latent));
    all.extend(diagnosis.design.iter().map(made_so));
    all
}

/// What would mend it, of the first cause that has a cure and was not made so.
pub(super) fn cure(diagnosis: &Diagnosis) -> Option<&str> {
    let cause = diagnosis.found.iter().filter(|found| found.card.kind != Kind::ByDesign);
    cause.flat_map(|found| &found.cures).next().map(|cure| cure.what.as_str())
}

fn sound(case: &Case<'_>, diagnosis: &Diagnosis) -> Verdict {
    if diagnosis.overall == Overall::AsNew {
        let compared: Vec<_> = compared(case).collect();
        let verdict = if compared.iter().all(|(_, (_, of))| of.origin == Origin::FirstRun) {
            Verdict::new("It is as fast as when it was checked first.", Standing::Holds)
                .caveat(format!("Whether that was as fast as it should be is not known: {ADVERTISED}."))
        } else {
            Verdict::new("It is as fast as it should be.", Standing::Holds)
        };
        return compared
            .into_iter()
            .fold(verdict, |verdict, (figure, of)| verdict.because(compared_words(case, figure, of)));
    }
    let verdict = Verdict::new("Nothing about it looks slow.", Standing::Holds);
    let compared: Vec<_> = compared(case).filter(|(_, (_, of))| of.origin == Origin::ModelTwin).collect();
    if compared.is_empty() {
        let verdict = verdict.caveat(format!(
            "There was nothing to hold its figures against: {ADVERTISED}, or check it again later."
        ));
        return figures(case).into_iter().fold(verdict, Verdict::because);
    }
    let verdict = verdict.caveat(format!(
        "A simulated drive of its model tells half the speed from all of it, and no less: {ADVERTISED}, or check it again later."
    ));
    compared
        .into_iter()
        .fold(verdict, |verdict, (figure, of)| verdict.because(compared_words(case, figure, of)))
}

/// Each figure with the reference that tells most.
fn compared<'a>(case: &'a Case<'_>) -> impl Iterator<Item = (Figure, (Sign, Reference))> + 'a {
    Figure::ALL.into_iter().filter_map(|figure| case.shortfall(figure).map(|of| (figure, of)))
}

/// Since when it is compared with itself, and how little may show by that.
fn with_date(verdict: Verdict, case: &Case<'_>, first_checked: Option<&str>) -> Verdict {
    let first = compared(case).filter(|(_, (_, of))| of.origin == Origin::FirstRun);
    let Some(differs) = first.map(|(_, (_, of))| of.repeatability).max_by(f64::total_cmp) else {
        return verdict;
    };
    let verdict = match first_checked {
        Some(date) => verdict.because(format!("it was checked first on {}", date.get(..10).unwrap_or(date))),
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
fn with_model(verdict: Verdict, case: &Case<'_>, known_as: Option<&KnownAs>) -> Verdict {
    let Some(KnownAs { model, entry, advertised_by }) = known_as else { return verdict };
    let uses = |origin: Origin| compared(case).any(|(_, (_, of))| of.origin == origin);
    let is_promised = advertised_by.as_deref().filter(|_| uses(Origin::Advertised));
    let verdict = match is_promised {
        Some(by) => verdict.because(format!(
            "it says that it is {model}, and what its maker promises is taken from {by}, by the entry {entry} of the catalogue"
        )),
        None => verdict,
    };
    if uses(Origin::ModelTwin) {
        return verdict.because(format!(
            "it says that it is {model}, and the simulated drive of its model is the entry {entry} of the catalogue"
        ));
    }
    verdict
}

/// How old files are read.
fn with_old(verdict: Verdict, case: &Case<'_>, old: Option<Result<&OldFiles, &str>>) -> Verdict {
    match (old, case.signs.fresh_over_old) {
        (Some(Ok(found)), Some(ratio)) => verdict.because(format!(
            "{} pieces of {} files that have lain there for {} to {} days are read {:.2} times as fast as what was just written",
            found.ages_s.len(),
            found.files,
            found.ages_s.last().map_or(0, |age| age / DAY_S),
            found.ages_s.first().map_or(0, |age| age / DAY_S),
            1.0 / ratio.value
        )),
        (Some(Err(why)), _) => verdict.caveat(format!("How old data is read is not known: {why}.")),
        _ => verdict,
    }
}

/// What the first sentence does not cover.
fn with_limits(verdict: Verdict, case: &Case<'_>, not_written: Option<&str>) -> Verdict {
    let verdict = match not_written {
        Some(why) => {
            verdict.caveat(format!("Nothing was written, so that nothing is said of writes: {why}."))
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

fn figures(case: &Case<'_>) -> Vec<String> {
    case.signs
        .figures
        .iter()
        .map(|(figure, sign)| format!("{}: {}", figure.words(), figure.said(sign.value)))
        .collect()
}

fn compared_words(case: &Case<'_>, figure: Figure, (share, reference): (Sign, Reference)) -> String {
    let measured = case.signs.figure(figure).map_or(f64::NAN, |sign| sign.value);
    format!(
        "{}: {}, {:.0} % of {}, {}",
        figure.words(),
        figure.said(measured),
        share.value * 100.0,
        reference.origin.words(),
        figure.said(reference.value)
    )
}

/// What is slow, by the figure that fell farthest where there is one.
fn slow(case: &Case<'_>, symptoms: &[Symptom]) -> String {
    let below = symptoms.iter().filter_map(|symptom| match symptom {
        Symptom::Below(figure) => case.shortfall(*figure).map(|of| (*figure, of)),
        _ => None,
    });
    match below.min_by(|one, other| one.1.0.value.total_cmp(&other.1.0.value)) {
        Some((figure, (share, reference))) => {
            let percent = (share.value * 100.0).round();
            format!("{} are at {percent:.0} % of {}", figure.words(), reference.origin.words())
        }
        None => symptoms.first().map_or_else(|| "it is slow".to_owned(), |symptom| symptom.words()),
    }
}

/// What helps first. Where even that loses something, the command stands beside what it loses: nobody should have to look for either.
fn headline(cure: &Cure) -> String {
    match &cure.command {
        Some(command) if cure.risk == Risk::Data => format!(" Cure: {} ({command}).", cure.what),
        _ => format!(" Cure: {}.", cure.what),
    }
}

fn cause(case: &Case<'_>, found: &Found) -> Verdict {
    let cure = found.cures.first().map_or_else(String::new, headline);
    let claim = format!("{}, because {}.{cure}", capital(&slow(case, &found.explains)), found.card.because);
    let mut verdict = Verdict::new(claim, Standing::Holds);
    if found.card.kind == Kind::ByDesign {
        verdict = verdict.because("it was so on its first day: this is no fall");
    } else {
        verdict = verdict.problem();
    }
    verdict = verdict.because(format!("{:.0} % sure", found.chance * 100.0));
    verdict = found
        .because
        .iter()
        .filter(|clue| clue.bits >= CLUE_LEAST)
        .take(CLUES_MAX)
        .fold(verdict, |verdict, clue| verdict.because(clue.sentence.clone()));
    verdict =
        found.explains.iter().skip(1).fold(verdict, |verdict, symptom| {
            verdict.because(format!("it explains that {}", symptom.words()))
        });
    verdict =
        found.against.iter().take(MISSING_MAX).fold(verdict, |verdict, clue| {
            verdict.caveat(format!("Against it speaks that {}.", clue.sentence))
        });
    let verdict = found.hindered.iter().fold(verdict, |verdict, hindered| {
        verdict.caveat(format!("What would help is not possible now: {hindered}."))
    });
    found
        .missing
        .iter()
        .take(MISSING_MAX)
        .fold(verdict, |verdict, missing| verdict.caveat(format!("What could change this: {}.", missing.how)))
}

/// That something is below what it should be is measured, whatever brings it about. What a link carries nobody has promised, and what merely looks odd
/// may be how it is made.
fn undecided(case: &Case<'_>, open: &Open) -> Vec<Verdict> {
    let slow = capital(&slow(case, &[open.symptom]));
    let why = |claim: String| rivals(Verdict::new(claim, Standing::Undecided), open);
    let missed = match open.symptom {
        Symptom::Below(figure) => case.shortfall(figure).map(|of| (figure, of)),
        _ => None,
    };
    match missed.filter(|(_, (_, reference))| reference.origin != Origin::Link) {
        Some((figure, of)) => vec![
            Verdict::new(format!("{slow}."), Standing::Holds)
                .problem()
                .because(compared_words(case, figure, of)),
            why(format!("Why {} are slow is not decided.", figure.words())),
        ],
        None => vec![why(format!("{slow}, and why is not decided."))],
    }
}

/// What it could be, and what would decide it.
fn rivals(verdict: Verdict, open: &Open) -> Verdict {
    let verdict = open.rivals.iter().fold(verdict, |verdict, (card, chance)| {
        verdict.because(format!("with {:.0} % it is that {}", chance * 100.0, card.because))
    });
    let verdict = if open.rivals.is_empty() {
        verdict.because("no cause that is known here looks like this")
    } else {
        verdict
    };
    open.missing
        .iter()
        .fold(verdict, |verdict, missing| verdict.caveat(format!("What would decide it: {}.", missing.how)))
}

/// What is there and costs no speed. What was not measured and endangers nothing is worth a change of a setting, never the data.
fn latent(found: &Found) -> Verdict {
    let because = capital(found.card.because);
    let verdict = if found.is_problem() {
        let cure = found.cures.first().map_or_else(String::new, headline);
        Verdict::new(format!("{because}: that costs no speed yet.{cure}"), Standing::Holds).problem()
    } else {
        let gentle = found.cures.iter().find(|cure| cure.risk != Risk::Data);
        let worth = gentle.map_or_else(String::new, |cure| format!(" Worth doing: {}.", cure.what));
        Verdict::new(format!("{because}: nothing is slow because of that now.{worth}"), Standing::Holds)
    };
    found.because.iter().fold(verdict, |verdict, clue| verdict.because(clue.sentence.clone()))
}

fn made_so(found: &Found) -> Verdict {
    let verdict = Verdict::new(format!("By design, {}.", found.card.because), Standing::Holds);
    found.because.iter().fold(verdict, |verdict, clue| verdict.because(clue.sentence.clone()))
}

fn capital(sentence: &str) -> String {
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
struct FigureRow {
    figure: FigureName,
    unit: &'static str,
    measured_per_s: f64,
    low_per_s: f64,
    high_per_s: f64,
    reference_per_s: Option<f64>,
    reference: Option<&'static str>,
    percent: Option<f64>,
}

#[derive(Serialize)]
struct ShapeRow {
    shape: Shape,
    value: f64,
    low: f64,
    high: f64,
}

#[derive(Serialize)]
struct CureRow {
    cause: &'static str,
    what: String,
    command: Option<String>,
    undo: Option<String>,
    risk: &'static str,
    cost: &'static str,
    check: &'static str,
}

#[derive(Serialize)]
struct ClueRow {
    cause: &'static str,
    sentence: String,
    bits: f64,
}

/// The same as tables.
pub(super) fn tables(case: &Case<'_>, diagnosis: &Diagnosis, findings: &mut Findings) {
    let named = || diagnosis.found.iter().chain(&diagnosis.latent).chain(&diagnosis.design);
    let causes = named().map(|found| row(cause_row(found))).collect::<Vec<_>>();
    let figures = case
        .signs
        .figures
        .iter()
        .map(|(figure, sign)| row(figure_row(case, *figure, *sign)))
        .collect::<Vec<_>>();
    let shapes = Shape::ALL.into_iter().filter_map(|shape| {
        let Sign { value, low, high } = shape.of(case.signs)?;
        Some(row(ShapeRow { shape, value, low, high }))
    });
    let shapes = shapes.collect::<Vec<_>>();
    let cures = named()
        .flat_map(|found| found.cures.iter().map(|cure| row(cure_row(found, cure))))
        .collect::<Vec<_>>();
    let clues = named()
        .flat_map(|found| {
            let all = found.because.iter().chain(&found.against);
            all.map(|clue| {
                row(ClueRow { cause: found.card.name, sentence: clue.sentence.clone(), bits: clue.bits })
            })
        })
        .collect::<Vec<_>>();
    for (name, rows) in
        [("causes", causes), ("figures", figures), ("shapes", shapes), ("cures", cures), ("clues", clues)]
    {
        if !rows.is_empty() {
            findings.tables.insert(name.to_owned(), rows);
        }
    }
}

fn cause_row(found: &Found) -> CauseRow {
    CauseRow {
        cause: found.card.name,
        chance_percent: found.chance * 100.0,
        kind: match found.card.kind {
            Kind::Drive => "the drive",
            Kind::ByDesign => "by design",
            Kind::NotTheDrive => "not the drive",
        },
        explains: found.explains.iter().map(|symptom| symptom.words()).collect::<Vec<_>>().join("; "),
    }
}

fn figure_row(case: &Case<'_>, figure: Figure, sign: Sign) -> FigureRow {
    let reference = case.shortfall(figure);
    FigureRow {
        figure: FigureName::of(figure),
        unit: figure.unit(),
        measured_per_s: sign.value,
        low_per_s: sign.low,
        high_per_s: sign.high,
        reference_per_s: reference.map(|(_, of)| of.value),
        reference: reference.map(|(_, of)| of.origin.name()),
        percent: reference.map(|(share, _)| share.value * 100.0),
    }
}

fn cure_row(found: &Found, cure: &Cure) -> CureRow {
    CureRow {
        cause: found.card.name,
        what: cure.what.clone(),
        command: cure.command.clone(),
        undo: cure.undo.clone(),
        risk: match cure.risk {
            Risk::None => "none",
            Risk::Low => "low",
            Risk::Data => "data can be lost",
        },
        cost: cure.cost,
        check: cure.check,
    }
}
