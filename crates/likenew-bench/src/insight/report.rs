//! The results of X-rays as text: right answers, confusions of words, costs, and every wrong answer.

use likenew_core::findings::Answer;
use likenew_core::quantity::{self, Latency, Rate, Size};
use likenew_core::units::digits;
use likenew_sim::generator::Family;
use likenew_sim::truth::{TrueValue, Truth};
use likenew_stats::summary::{mean, quantile};

use super::case::{Case, Mark, PropertyResult, Row, StatedValue, holds};
use crate::table::{Share, confusion, row, table};

/// Properties with a goal of their own for right answers.
const GOALS: [(&str, &str); 8] = [
    ("medium", "[≥ 97%]"),
    ("mapping", "[≥ 97%]"),
    ("erase_unit_bytes", "[≥ 90%]"),
    ("write_buffer_bytes", "[≥ 90%]"),
    ("slc_cache_bytes", "[≥ 90%]"),
    ("over_provisioning_percent", "[≥ 90%]"),
    ("compression", "[≥ 99%]"),
    ("trim", "[≥ 99%]"),
];

/// Counts for one property, or for several.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Score {
    /// Right answers, of the drives that have the property and show it.
    pub(super) right: Share,
    imprecise: u32,
    undecided: u32,
    pub(super) wrongly_absent: u32,
    /// Confident answers that are wrong, of all answers, whether or not the drive has the property.
    pub(super) false_claims: Share,
    /// Intervals that contain the truth, of those for drives that have the property.
    pub(super) intervals: Share,
    /// Sum of the intervals' widths, each over the true value.
    widths: f64,
}

impl Score {
    /// The score of a property over drives.
    pub(super) fn compute<'a>(rows: impl IntoIterator<Item = &'a Row>) -> Self {
        let mut score = Self::default();
        rows.into_iter().for_each(|row| score.count(row));
        score
    }

    fn count(&mut self, row: &Row) {
        if matches!(row.true_value, TrueValue::Word(_) | TrueValue::Number(_)) {
            self.right.add(row.mark == Mark::Right);
        }
        self.false_claims.add(row.mark == Mark::False);
        self.imprecise += u32::from(row.mark == Mark::Off);
        self.undecided += u32::from(row.mark == Mark::Undecided);
        self.wrongly_absent += u32::from(row.mark == Mark::WronglyAbsent);
        if let (TrueValue::Number(number), StatedValue::Number { low, high, .. }) =
            (row.true_value, &row.answer.statement)
        {
            self.intervals.add((*low..=*high).contains(&number));
            self.widths += (high - low) / number;
        }
    }

    /// Mean half width of the intervals, as a share of the truth.
    fn half_width(&self) -> String {
        match self.intervals.whole {
            0 => String::new(),
            whole => format!("± {:.1}%", 50.0 * self.widths / whole as f64),
        }
    }
}

/// The rows of a property over drives.
pub(super) fn rows_of<'a>(cases: &'a [Case], property: &'a str) -> impl Iterator<Item = &'a Row> {
    cases.iter().flat_map(|case| &case.rows).filter(move |row| row.answer.property == property)
}

/// The results of many drives.
pub(super) fn all(cases: &[Case]) -> String {
    let mut text = format!(
        "X-rays of {} drives that were drawn\n\n{}\n{}",
        cases.len(),
        properties(cases),
        goals(cases)
    );
    for property in ["medium", "mapping", "compression", "trim"] {
        let words =
            rows_of(cases, property).map(|row| (true_word(row).to_owned(), stated_word(row).to_owned()));
        text += &format!("\n{}", confusion(property, words));
    }
    text + &format!("\n{}\n{}\n{}", costs(cases), writes(cases), wrong(cases))
}

/// One line for each property.
fn properties(cases: &[Case]) -> String {
    let rows = keys(cases).into_iter().map(|key| {
        let score = Score::compute(rows_of(cases, key));
        let Score { right, imprecise, undecided, wrongly_absent, false_claims, intervals, .. } = score;
        let width = score.half_width();
        row(&[&key, &right, &imprecise, &undecided, &wrongly_absent, &false_claims.part, &intervals, &width])
    });
    let head =
        ["property", "right ≤10%", "off", "undecided", "absent!", "false", "90% intervals hold", "width"];
    table(&head, rows)
}

/// The goals, with the numbers reached.
fn goals(cases: &[Case]) -> String {
    let mut text = String::new();
    for (key, goal) in GOALS {
        text += &format!("- {key} right: {} {goal}\n", Score::compute(rows_of(cases, key)).right);
    }
    let rows = || cases.iter().flat_map(|case| &case.rows);
    let score = Score::compute(rows());
    let sizable = Score::compute(rows().filter(|row| !is_exact(row)));
    text + &format!(
        "- false claims: {} [≤ 1%]\n- 90% intervals that hold the truth: {} [86–94%]; without those that are a point: {}\n",
        score.false_claims, score.intervals, sizable.intervals
    )
}

/// Whether the interval is a point, as for a value with few possibilities.
fn is_exact(row: &Row) -> bool {
    matches!(row.answer.statement, StatedValue::Number { low, high, .. } if high - low <= 1e-9 * high.abs())
}

fn true_word(row: &Row) -> &str {
    match row.true_value {
        TrueValue::Word(word) => word,
        TrueValue::HiddenWord(_) | TrueValue::Hidden { .. } => "(hidden)",
        TrueValue::Number(_) | TrueValue::Absent => "(none)",
    }
}

fn stated_word(row: &Row) -> &str {
    match &row.answer.statement {
        StatedValue::Word(word) => word,
        StatedValue::Number { .. } => "(a number)",
        StatedValue::Absent => "absent",
        StatedValue::Undecided => "undecided",
    }
}

/// All drives, and those of each family that has any.
fn by_family(cases: &[Case]) -> impl Iterator<Item = (&'static str, Vec<&Case>)> {
    let of_family = |family: Family| cases.iter().filter(|case| case.family == family).collect();
    let families = Family::ALL.map(|family| (family.name(), of_family(family)));
    let overall = ("all", cases.iter().collect());
    std::iter::once(overall).chain(families).filter(|(_, cases): &(_, Vec<_>)| !cases.is_empty())
}

/// The mean cost over all drives and by family.
fn costs(cases: &[Case]) -> String {
    let rows = by_family(cases).map(|(name, cases)| {
        let mean = |value: &dyn Fn(&Case) -> f64| {
            mean(&cases.iter().map(|case| value(case)).collect::<Vec<_>>()).unwrap_or(0.0)
        };
        let written = format!("{:.3}", mean(&|case| case.capacities_written));
        let cpu = format!("{:.2}", mean(&|case| case.cpu.as_secs_f64()));
        let elapsed = format!("{:.1}", mean(&|case| case.elapsed.as_secs_f64()));
        row(&[&name, &cases.len(), &written, &cpu, &elapsed])
    });
    table(&["mean cost", "drives", "written, capacities", "CPU, s", "on its clock, s"], rows)
}

/// Capacities written by an X-ray, over all drives and by family: by each test, and over all drives by each
/// step of a test. Quartiles, because a few drives write several times as much as the others.
fn writes(cases: &[Case]) -> String {
    let mut rows = Vec::new();
    for (name, cases) in by_family(cases) {
        let total: Vec<f64> = cases.iter().map(|case| case.capacities_written).collect();
        rows.push(write_row(name, "all", &total));
        for test in names(&cases, test_of) {
            rows.push(write_row(name, test, &written_by(&cases, test, test_of)));
        }
        for step in names(&cases, |step| step).into_iter().filter(|_| name == "all") {
            rows.push(write_row(name, step, &written_by(&cases, step, |step| step)));
        }
    }
    table(&["written, capacities", "test", "drives", "quartile", "median", "quartile", "mean"], rows)
}

fn write_row(family: &str, test: &str, capacities: &[f64]) -> Vec<String> {
    let at = |share: f64| quantile(capacities, share).unwrap_or(0.0);
    let numbers = [at(0.25), at(0.5), at(0.75), mean(capacities).unwrap_or(0.0)];
    let mut cells = row(&[&family, &test, &capacities.len()]);
    cells.extend(numbers.map(|number| format!("{number:.3}")));
    cells
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
            text += &format!("{} ({}) could not be X-rayed: {error}\n", case.target, case.family.name());
        }
    }
    let undecided = keys(cases).into_iter().filter_map(|key| {
        let is_undecided = |row: &Row| row.answer.property == key && row.mark == Mark::Undecided;
        let seeds =
            cases.iter().filter(|case| case.rows.iter().any(is_undecided)).map(|case| case.seed.to_string());
        let seeds: Vec<String> = seeds.collect();
        (!seeds.is_empty()).then(|| vec![key.to_owned(), seeds.join(" ")])
    });
    let wrong = |row: &Row| matches!(row.mark, Mark::Off | Mark::WronglyAbsent | Mark::False);
    let missed = |row: &Row| row.mark == Mark::Right && holds(row.true_value, &row.answer) == Some(false);
    let undecided = table(&["undecided", "seeds"], undecided);
    let (wrong, missed) =
        (list("wrong", cases, wrong), list("right, and not within the interval", cases, missed));
    format!("{text}{undecided}\n{wrong}\n{missed}")
}

/// Every claim that is false.
pub(super) fn false_claims(noise: &str, cases: &[Case]) -> String {
    list(&format!("false claims, {noise}"), cases, |row| row.mark == Mark::False)
}

fn list(title: &str, cases: &[Case], wanted: impl Fn(&Row) -> bool) -> String {
    let mut rows = Vec::new();
    for key in keys(cases) {
        for case in cases {
            let own = case.rows.iter().filter(|row| row.answer.property == key && wanted(row));
            let family = case.family.name();
            rows.extend(
                own.map(|r| row(&[&key, &r.mark.name(), &case.seed, &family, &truth(r), &value_text(r)])),
            );
        }
    }
    table(&[title, "mark", "seed", "family", "is", "answer"], rows)
}

/// X-rays of drives under noise, compared with the same drives without it: one line for each noise.
pub(super) fn noisy(rounds: &[(&str, Vec<Case>)]) -> String {
    let rows = rounds.iter().map(|(name, cases)| {
        let score = Score::compute(cases.iter().flat_map(|case| &case.rows));
        let Score { right, imprecise, undecided, wrongly_absent, false_claims, intervals, .. } = score;
        let (width, named) = (score.half_width(), Share::count(cases, |case| names_noise(case)));
        row(&[
            name,
            &right,
            &false_claims,
            &imprecise,
            &undecided,
            &wrongly_absent,
            &intervals,
            &width,
            &named,
        ])
    });
    let head = [
        "disturbed drives",
        "right",
        "false claims",
        "off",
        "undecided",
        "absent!",
        "90% intervals hold",
        "width",
        "noise is named",
    ];
    table(&head, rows)
}

/// Whether the X-ray reports a disturbance.
pub(super) fn names_noise(case: &Case) -> bool {
    case.findings
        .as_ref()
        .is_ok_and(|findings| findings.answers.iter().any(|answer| answer.id == "disturbance"))
}

/// Truth and answer for each property of one drive, with the evidence.
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
        text += &format!("  {step}: {capacities:.3} capacities\n");
    }
    let rows = case.rows.iter().map(|r| {
        let written = Size(r.answer.bytes_written);
        row(&[&r.answer.property, &r.mark.name(), &truth(r), &value_text(r), &written])
    });
    text += &table(&["property", "mark", "is", "answer", "written"], rows);
    match &case.findings {
        Err(error) => text += &format!("could not be X-rayed: {error}\n"),
        Ok(findings) => {
            for Answer { standing, question, answer, evidence, caveats, .. } in &findings.answers {
                text += &format!("{standing:?}: {question}: {answer}\n");
                text.extend(evidence.iter().chain(caveats).map(|sentence| format!("    {sentence}\n")));
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

fn value_text(row: &Row) -> String {
    let PropertyResult { statement, confidence, .. } = &row.answer;
    let value = match statement {
        StatedValue::Word(word) => word.clone(),
        StatedValue::Number { value, low, high } => {
            let [value, low, high] = [value, low, high].map(|number| spell(row.unit, *number));
            format!("{value} [{low} … {high}]")
        }
        StatedValue::Absent => "absent".into(),
        StatedValue::Undecided => return "undecided".into(),
    };
    format!("{value} ({})", quantity::Share(*confidence))
}

fn spell(unit: &str, number: f64) -> String {
    match unit {
        "bytes" => Size(number.round() as u64).to_string(),
        "bytes/s" => Rate(number).to_string(),
        "ns" => Latency(number).to_string(),
        "%" => quantity::Share(number / 100.0).to_string(),
        _ => digits(number),
    }
}

/// The properties in the order of the table.
fn keys(cases: &[Case]) -> Vec<&'static str> {
    let any = cases.iter().find(|case| !case.rows.is_empty());
    any.map_or_else(Vec::new, |_| Truth::keys().to_vec())
}
