//! The results as text.

use std::fmt::Write as _;

use likenew_core::findings::Answer;
use likenew_core::quantity::{Latency, Rate, Share, Size};
use likenew_core::units::digits;
use likenew_sim::generator::Family;
use likenew_sim::truth::{TrueValue, Truth};
use likenew_stats::summary::{mean, quantile};

use super::answer::{PropertyResult, StatedValue};
use super::case::{Case, Row};
use super::confusion::matrix;
use super::mark::{Mark, holds};
use super::score::{Score, rows_of};

/// Properties of which nine of ten must be right within 10%.
const SIZES: [&str; 4] =
    ["erase_unit_bytes", "write_buffer_bytes", "slc_cache_bytes", "over_provisioning_percent"];

/// The results of many drives.
pub(super) fn all(cases: &[Case]) -> String {
    let mut text = format!("X-rays of {} drives that were drawn\n", cases.len());
    text.push_str(&properties(cases));
    text.push_str(&goals(cases));
    for property in ["medium", "mapping", "compression", "trim"] {
        text.push_str(&matrix(property, rows_of(cases, property)));
    }
    text.push_str(&costs(cases));
    text.push_str(&writes(cases));
    text.push_str(&wrong(cases));
    text
}

/// One line for each property.
fn properties(cases: &[Case]) -> String {
    let mut text = format!(
        "  {:28} {:>6} {:>12} {:>5} {:>9} {:>8} {:>6} {:>15} {:>7}\n",
        "property", "exists", "right ≤10%", "off", "undecided", "absent!", "false", "90% intervals", "width"
    );
    for key in keys(cases) {
        let score = Score::compute(rows_of(cases, key));
        let right = score.share_right().map_or_else(String::new, percent);
        let coverage = score.coverage().map_or_else(String::new, |share| {
            format!("{}/{} {}", score.intervals_hold, score.intervals, percent(share))
        });
        let width =
            score.mean_width().map_or_else(String::new, |width| format!("± {}", percent(width / 2.0)));
        writeln!(
            text,
            "  {key:28} {:>6} {:>5} {right:>6} {:>5} {:>9} {:>8} {:>6} {coverage:>15} {width:>7}",
            score.exists,
            score.right,
            score.imprecise,
            score.undecided,
            score.wrongly_absent,
            score.false_claims
        )
        .expect("a text takes all");
    }
    text
}

/// The goals, with the numbers reached.
fn goals(cases: &[Case]) -> String {
    let rows = || cases.iter().flat_map(|case| &case.rows);
    let mut lines = Vec::new();
    for (keys, goal) in [
        (&["medium", "mapping"][..], "[≥ 97%]"),
        (&SIZES[..], "[≥ 90%]"),
        (&["compression", "trim"][..], "[≥ 99%]"),
    ] {
        for key in keys {
            let score = Score::compute(rows_of(cases, key));
            let right = score.share_right().map_or_else(|| "none has it".into(), percent);
            lines.push(format!("{key} right: {right} {goal}"));
        }
    }
    let score = Score::compute(rows());
    let share_text = |share: Option<f64>| share.map_or_else(|| "none".into(), percent);
    lines.push(format!(
        "false claims: {} of {} answers, {} [≤ 1%]",
        score.false_claims,
        score.answers,
        share_text(score.share_false())
    ));
    let sizable = Score::compute(rows().filter(|row| !is_exact(row)));
    lines.push(format!(
        "90% intervals that hold the truth: {} of {}, {} [86–94%]; without those that are a point: {} of {}, {}",
        score.intervals_hold,
        score.intervals,
        share_text(score.coverage()),
        sizable.intervals_hold,
        sizable.intervals,
        share_text(sizable.coverage())
    ));
    lines.iter().fold(String::new(), |text, line| text + "  " + line + "\n")
}

/// Whether the interval is a point: a value with few possibilities is known or not.
fn is_exact(row: &Row) -> bool {
    matches!(row.answer.statement, StatedValue::Number { low, high, .. } if high - low <= 1e-9 * high.abs())
}

/// The cost over all drives and by family.
fn costs(cases: &[Case]) -> String {
    let mut text = format!(
        "Cost: mean\n  {:20} {:>6} {:>16} {:>9} {:>14}\n",
        "family", "drives", "written, capac.", "CPU", "on its clock"
    );
    let families = Family::ALL.map(|family| (family.name(), Some(family)));
    for (name, family) in families.into_iter().chain([("all", None)]) {
        let of: Vec<&Case> =
            cases.iter().filter(|case| family.is_none_or(|family| case.family == family)).collect();
        if of.is_empty() {
            continue;
        }
        let mean = |value: &dyn Fn(&Case) -> f64| {
            mean(&of.iter().map(|case| value(case)).collect::<Vec<_>>()).unwrap_or(0.0)
        };
        writeln!(
            text,
            "  {name:20} {:>6} {:>16.3} {:>7.2} s {:>12.1} s",
            of.len(),
            mean(&|case| case.capacities_written),
            mean(&|case| case.cpu.as_secs_f64()),
            mean(&|case| case.elapsed.as_secs_f64())
        )
        .expect("a text takes all");
    }
    text
}

/// Capacities written by an X-ray, over all drives and by family: by each test, and over all drives by each
/// step of a test. Quartiles, because a few drives write several times as much as the others.
fn writes(cases: &[Case]) -> String {
    let mut text = format!(
        "Written, in capacities\n  {:20} {:28} {:>6} {:>9} {:>7} {:>9} {:>7}\n",
        "family", "test", "drives", "quartile", "median", "quartile", "mean"
    );
    let families = Family::ALL.map(|family| (family.name(), Some(family)));
    for (name, family) in [("all", None)].into_iter().chain(families) {
        let of: Vec<&Case> =
            cases.iter().filter(|case| family.is_none_or(|family| case.family == family)).collect();
        if of.is_empty() {
            continue;
        }
        let total: Vec<f64> = of.iter().map(|case| case.capacities_written).collect();
        text.push_str(&write_line(name, "all", &total));
        for test in names(&of, test_of) {
            text.push_str(&write_line(name, test, &written_by(&of, test, test_of)));
        }
        for step in names(&of, |step| step).into_iter().filter(|_| family.is_none()) {
            text.push_str(&write_line(name, step, &written_by(&of, step, |step| step)));
        }
    }
    text
}

fn write_line(family: &str, test: &str, capacities: &[f64]) -> String {
    let at = |share: f64| quantile(capacities, share).unwrap_or(0.0);
    let mean = mean(capacities).unwrap_or(0.0);
    format!(
        "  {family:20} {test:28} {:>6} {:>9.3} {:>7.3} {:>9.3} {mean:>7.3}\n",
        capacities.len(),
        at(0.25),
        at(0.5),
        at(0.75)
    )
}

/// The test that a step belongs to.
fn test_of(step: &str) -> &str {
    step.split_once(": ").map_or(step, |(test, _)| test)
}

/// The names of all steps that wrote on any of these drives, in the order in which they first did.
fn names<'a>(cases: &[&'a Case], name_of: fn(&str) -> &str) -> Vec<&'a str> {
    let mut names: Vec<&str> = Vec::new();
    for (step, _) in cases.iter().flat_map(|case| &case.written_by_step) {
        let name = name_of(step);
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

/// Capacities that the steps of this name wrote on each drive.
fn written_by(cases: &[&Case], name: &str, name_of: fn(&str) -> &str) -> Vec<f64> {
    let on_drive = |case: &&Case| {
        let own = case.written_by_step.iter().filter(|(step, _)| name_of(step) == name);
        own.fold(0.0, |sum, (_, written)| sum + written)
    };
    cases.iter().map(on_drive).collect()
}

/// Drives that could not be X-rayed, and every wrong or missing answer, by property.
fn wrong(cases: &[Case]) -> String {
    let mut text = String::new();
    for case in cases {
        if let Err(error) = &case.findings {
            writeln!(text, "{} ({}) could not be X-rayed: {error}", case.target, case.family.name())
                .expect("a text takes all");
        }
    }
    text.push_str("Undecided, by seed\n");
    for key in keys(cases) {
        let is = |case: &&Case| {
            case.rows.iter().any(|row| row.answer.property == key && row.mark == Mark::Undecided)
        };
        let seeds: Vec<String> = cases.iter().filter(is).map(|case| case.seed.to_string()).collect();
        if !seeds.is_empty() {
            writeln!(text, "  {key:28} {}", seeds.join(" ")).expect("a text takes all");
        }
    }
    let wrong = |row: &Row| matches!(row.mark, Mark::Off | Mark::WronglyAbsent | Mark::False);
    let missed = |row: &Row| row.mark == Mark::Right && holds(row.true_value, &row.answer) == Some(false);
    text + &list("Wrong", cases, wrong) + &list("Right, and not within the interval", cases, missed)
}

/// Every claim that is false.
pub(super) fn false_claims(title: &str, cases: &[Case]) -> String {
    list(title, cases, |row| row.mark == Mark::False)
}

fn list(title: &str, cases: &[Case], wanted: impl Fn(&Row) -> bool) -> String {
    let mut text = format!("{title}\n");
    for key in keys(cases) {
        let rows = cases.iter().flat_map(|case| case.rows.iter().map(move |row| (case, row)));
        for (case, row) in rows.filter(|(_, row)| row.answer.property == key && wanted(row)) {
            writeln!(
                text,
                "  {key:28} {:9} {:>5} {:18} is {}; said {}",
                row.mark.name(),
                case.seed,
                case.family.name(),
                truth(row),
                value_text(row.unit, &row.answer)
            )
            .expect("a text takes all");
        }
    }
    text
}

/// Truth beside answer of one drive, and why.
pub(super) fn property_rows(case: &Case) -> String {
    let mut text = format!(
        "{} ({}): {:.3} capacities written, {:.2} s of CPU, {} on its clock\n",
        case.target,
        case.family.name(),
        case.capacities_written,
        case.cpu.as_secs_f64(),
        case.elapsed
    );
    for (step, capacities) in &case.written_by_step {
        writeln!(text, "  {step}: {capacities:.3} capacities").expect("a text takes all");
    }
    for row in &case.rows {
        let (key, mark) = (&row.answer.property, row.mark.name());
        let written = Size(row.answer.bytes_written);
        writeln!(
            text,
            "  {key:28} {mark:9} is {:22} said {:58} {written} written",
            truth(row),
            value_text(row.unit, &row.answer)
        )
        .expect("a text takes all");
    }
    match &case.findings {
        Err(error) => writeln!(text, "  could not be X-rayed: {error}").expect("a text takes all"),
        Ok(findings) => {
            for Answer { standing, question, answer, evidence, caveats, .. } in &findings.answers {
                writeln!(text, "  {standing:?}: {question}: {answer}").expect("a text takes all");
                for sentence in evidence.iter().chain(caveats) {
                    writeln!(text, "      {sentence}").expect("a text takes all");
                }
            }
        }
    }
    text
}

fn truth(row: &Row) -> String {
    match row.true_value {
        TrueValue::Word(word) => word.into(),
        TrueValue::HiddenWord(word) => format!("({word})"),
        TrueValue::Number(number) => spell(row.unit, number),
        TrueValue::Hidden { low, high } => format!("({} … {})", spell(row.unit, low), spell(row.unit, high)),
        TrueValue::Absent => "none".into(),
    }
}

fn value_text(unit: &str, answer: &PropertyResult) -> String {
    let value = match &answer.statement {
        StatedValue::Word(word) => word.clone(),
        StatedValue::Number { value, low, high } => {
            format!("{} [{} … {}]", spell(unit, *value), spell(unit, *low), spell(unit, *high))
        }
        StatedValue::Absent => "absent".into(),
        StatedValue::Undecided => return "undecided".into(),
    };
    format!("{value} ({})", Share(answer.confidence))
}

fn spell(unit: &str, number: f64) -> String {
    match unit {
        "bytes" => Size(number.round() as u64).to_string(),
        "bytes/s" => Rate(number).to_string(),
        "ns" => Latency(number).to_string(),
        "%" => Share(number / 100.0).to_string(),
        _ => digits(number),
    }
}

fn percent(share: f64) -> String {
    format!("{:.1}%", share * 100.0)
}

/// The properties in the order of the table.
fn keys(cases: &[Case]) -> Vec<&'static str> {
    let any = cases.iter().find(|case| !case.rows.is_empty());
    any.map_or_else(Vec::new, |_| Truth::keys().to_vec())
}
