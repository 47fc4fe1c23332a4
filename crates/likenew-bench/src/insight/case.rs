//! One X-rayed drive: its truth, the answers and how right they are, and the cost.

use std::panic::{AssertUnwindSafe, catch_unwind};

use anyhow::{Context as _, bail};
use likenew_core::drive::Drive as _;
use likenew_core::findings::Findings;
use likenew_core::io::Op;
use likenew_core::segment::Segment;
use likenew_core::units::Nanos;
use likenew_sim::Spec;
use likenew_sim::generator::{Family, generate};
use likenew_sim::truth::{TrueValue, Truth};
use serde::Deserialize;

use crate::case_run::{ask, no_files, user_time};

/// The noise on a drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Noise {
    /// Another program uses the drive.
    Busy,
    /// Another computer uses it, so that no kernel counter shows that.
    Unseen,
    /// Single I/Os take long.
    Outliers,
    /// The drive is slow for a part of the time.
    Throttled,
}

impl Noise {
    pub(super) const ALL: [Self; 4] = [Self::Busy, Self::Unseen, Self::Outliers, Self::Throttled];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Busy => "busy",
            Self::Unseen => "unseen",
            Self::Outliers => "outliers",
            Self::Throttled => "throttled",
        }
    }

    /// The noise as a setting of a target: enough to show, while the drive still does other work.
    pub(super) fn setting(self, family: Family) -> String {
        match (self, family) {
            (Self::Unseen, _) => format!("{}&facts=off", Self::Busy.setting(family)),
            (Self::Busy, Family::Disk | Family::ShingledDisk) => "busy=15".into(),
            (Self::Busy, Family::Volume) => "busy=40".into(),
            (Self::Busy, Family::BlockMap | Family::Bast | Family::Fast) => "busy=5".into(),
            (Self::Busy, _) => "busy=200".into(),
            (Self::Outliers, _) => "outliers=300".into(),
            (Self::Throttled, _) => "throttle=0.1".into(),
        }
    }
}

/// How to X-ray every drive of a round.
#[derive(Clone, Debug, Default)]
pub(super) struct Query {
    /// Tests; all of them if none is named.
    pub(super) only: Vec<String>,
    /// The noise on the drive.
    pub(super) noise: Option<Noise>,
}

/// One property: truth, answer and mark.
#[derive(Clone, Debug)]
pub(super) struct Row {
    pub(super) unit: &'static str,
    pub(super) true_value: TrueValue,
    pub(super) answer: PropertyResult,
    pub(super) mark: Mark,
}

/// An X-rayed drive.
#[derive(Debug)]
pub(super) struct Case {
    pub(super) seed: u64,
    pub(super) target: String,
    pub(super) family: Family,
    /// One row for each property, in the order of the table.
    pub(super) rows: Vec<Row>,
    /// The findings, or why there are none.
    pub(super) findings: Result<Findings, String>,
    /// Bytes written over the capacity.
    pub(super) capacities_written: f64,
    /// Capacities written by each step of a test, such as `fill: piece`, in order of their first writes.
    pub(super) written_by_step: Vec<(String, f64)>,
    /// User time of the thread.
    pub(super) cpu: Nanos,
    /// Time on the drive's own clock.
    pub(super) elapsed: Nanos,
}

impl Case {
    /// X-rays the drive of a seed.
    ///
    /// # Errors
    /// The drive cannot be opened, or the answers have another form.
    pub(super) fn run(seed: u64, query: &Query) -> anyhow::Result<Self> {
        let drive = generate(seed);
        let target = match query.noise {
            Some(noise) => format!("{}?{}", drive.target(), noise.setting(drive.family)),
            None => drive.target(),
        };
        let spec = Spec::parse(&target)?;
        let truth = Truth::from_spec(&spec, &drive.model()?);
        let before = user_time()?;
        let mut opened = spec.open(no_files)?;
        let capacity = opened.geometry().capacity;
        let mut settings = toml::Table::new();
        if !query.only.is_empty() {
            settings.insert("only".into(), query.only.clone().into());
        }
        let result = catch_unwind(AssertUnwindSafe(|| ask(&mut opened, "xray", seed, settings)));
        let result = result.unwrap_or_else(|panic| bail!("panicked: {}", panic_text(&*panic)));
        let (findings, segments) = match result {
            Ok(result) => (result.findings.map_err(|error| format!("{error:#}")), result.evidence.segments),
            Err(error) => (Err(format!("{error:#}")), Vec::new()),
        };
        let written: u64 = segments.iter().map(|segment| segment.bytes(Op::Write)).sum();
        let rows = match &findings {
            Ok(findings) => rows(&truth, &answers(findings)?)?,
            Err(_) => Vec::new(),
        };
        Ok(Self {
            seed,
            target,
            family: drive.family,
            rows,
            findings,
            capacities_written: written as f64 / capacity as f64,
            written_by_step: written_by_step(&segments, capacity),
            cpu: user_time()?.since(before),
            elapsed: segments.last().map_or(Nanos::ZERO, |segment| segment.ended_at),
        })
    }
}

/// Capacities written by each step that wrote. A step is the name of its segments without their numbers.
fn written_by_step(segments: &[Segment], capacity: u64) -> Vec<(String, f64)> {
    let mut written: Vec<(String, f64)> = Vec::new();
    for segment in segments.iter().filter(|segment| segment.bytes(Op::Write) > 0) {
        let is_number = |letter: char| letter.is_ascii_digit() || letter == ' ' || letter == '.';
        let step = segment.workload.name.trim_end_matches(is_number);
        let capacities = segment.bytes(Op::Write) as f64 / capacity as f64;
        match written.iter_mut().find(|(name, _)| name == step) {
            Some((_, sum)) => *sum += capacities,
            None => written.push((step.to_owned(), capacities)),
        }
    }
    written
}

fn panic_text(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().cloned();
    text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned())).unwrap_or_default()
}

/// Each property of the truth beside its answer.
fn rows(truth: &Truth, answers: &[PropertyResult]) -> anyhow::Result<Vec<Row>> {
    let row = |(key, unit, true_value): (&'static str, &'static str, TrueValue)| {
        let answer = answers.iter().find(|answer| answer.property == key);
        let answer = answer.with_context(|| format!("the X-ray says nothing of {key}"))?.clone();
        let mark = mark(true_value, &answer);
        Ok(Row { unit, true_value, answer, mark })
    };
    truth.rows().into_iter().map(row).collect()
}

// The answers of an X-ray.

/// A row of the table `properties`.
#[derive(Clone, Debug, Deserialize)]
struct AnswerRow {
    property: String,
    state: String,
    word: Option<String>,
    value: Option<f64>,
    value_low: Option<f64>,
    value_high: Option<f64>,
    confidence_percent: Option<f64>,
    bytes_written: u64,
}

/// The value in an answer.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum StatedValue {
    /// A word.
    Word(String),
    /// A number, with the ends of a 90% interval.
    Number { value: f64, low: f64, high: f64 },
    /// The drive does not have it.
    Absent,
    /// Unknown.
    Undecided,
}

/// The answer on a property, and its confidence.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct PropertyResult {
    pub(super) property: String,
    pub(super) statement: StatedValue,
    /// 0 if it is unknown.
    pub(super) confidence: f64,
    pub(super) bytes_written: u64,
}

/// All answers of an X-ray.
///
/// # Errors
/// It has no table of properties, or one in another form.
pub(super) fn answers(findings: &Findings) -> anyhow::Result<Vec<PropertyResult>> {
    let table = findings.tables.get("properties").context("the X-ray has no table of properties")?;
    table.iter().map(|row| answer(serde_json::from_value(row.clone().into())?)).collect()
}

fn answer(row: AnswerRow) -> anyhow::Result<PropertyResult> {
    let AnswerRow { property, state, word, value, value_low, value_high, confidence_percent, bytes_written } =
        row;
    let statement = match (state.as_str(), word, value) {
        // The simulator names the truth in words, the X-ray in identifiers.
        ("found", Some(word), None) => StatedValue::Word(word.replace('_', " ")),
        ("found", None, Some(value)) => StatedValue::Number {
            value,
            low: value_low.with_context(|| format!("{property} has a number without an interval"))?,
            high: value_high.with_context(|| format!("{property} has a number without an interval"))?,
        },
        ("absent", None, None) => StatedValue::Absent,
        ("undecided", None, None) => StatedValue::Undecided,
        other => bail!("{property} is {other:?}, not an answer"),
    };
    Ok(PropertyResult {
        property,
        statement,
        confidence: confidence_percent.unwrap_or(0.0) / 100.0,
        bytes_written,
    })
}

// How right an answer is.

/// A number is right within this share of the truth. Chosen: what a reader takes for the same size.
const RIGHT: f64 = 0.10;
/// Beyond this share of the truth a confident number is a false claim. Chosen: it changes what a reader
/// concludes.
const FALSE: f64 = 0.25;
/// Confidence, in 0..1, from which an answer counts as a claim. Chosen: the 90% of the intervals.
pub(super) const CLAIM_CONFIDENCE: f64 = 0.9;

/// The mark of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mark {
    /// The right word, or a number within 10%.
    Right,
    /// A number that is further off, or a wrong word without confidence.
    Off,
    /// The drive has it, and the answer is unknown.
    Undecided,
    /// The drive has it, and the answer says that it does not.
    WronglyAbsent,
    /// A confident answer that is wrong: not there, another word, or off by more than 25%.
    False,
    /// The drive does not have it, or it does not show, and nothing else was claimed.
    TrulyAbsent,
}

impl Mark {
    /// The mark's name in lists.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Right => "right",
            Self::Off => "off",
            Self::Undecided => "undecided",
            Self::WronglyAbsent => "absent!",
            Self::False => "FALSE",
            Self::TrulyAbsent => "-",
        }
    }
}

/// Marks an answer.
pub(super) fn mark(true_value: TrueValue, answer: &PropertyResult) -> Mark {
    let claimed = answer.confidence >= CLAIM_CONFIDENCE;
    let wrong = if claimed { Mark::False } else { Mark::Off };
    match (true_value, &answer.statement) {
        (TrueValue::Word("no"), StatedValue::Absent) => Mark::Right,
        (TrueValue::Word(word), StatedValue::Word(statement)) if word == statement => Mark::Right,
        (TrueValue::Word(_) | TrueValue::Number(_), StatedValue::Undecided) => Mark::Undecided,
        (TrueValue::Word(_) | TrueValue::Number(_), StatedValue::Absent) => Mark::WronglyAbsent,
        (TrueValue::Number(number), StatedValue::Number { value, .. }) => {
            match (value / number - 1.0).abs() {
                ..=RIGHT => Mark::Right,
                ..=FALSE => Mark::Off,
                _ => wrong,
            }
        }
        (TrueValue::Hidden { low, high }, StatedValue::Number { value, .. })
            if (low * (1.0 - FALSE)..=high * (1.0 + FALSE)).contains(value) =>
        {
            Mark::TrulyAbsent
        }
        (TrueValue::HiddenWord(word), StatedValue::Word(statement)) if word == statement => Mark::TrulyAbsent,
        (_, StatedValue::Undecided | StatedValue::Absent) => Mark::TrulyAbsent,
        (TrueValue::Word(_) | TrueValue::Number(_), _) => wrong,
        (TrueValue::Hidden { .. } | TrueValue::HiddenWord(_) | TrueValue::Absent, _) if claimed => {
            Mark::False
        }
        (TrueValue::Hidden { .. } | TrueValue::HiddenWord(_) | TrueValue::Absent, _) => Mark::TrulyAbsent,
    }
}

/// Whether a 90% interval contains the truth, if both exist.
pub(super) fn holds(true_value: TrueValue, answer: &PropertyResult) -> Option<bool> {
    match (true_value, &answer.statement) {
        (TrueValue::Number(number), StatedValue::Number { low, high, .. }) => {
            Some((*low..=*high).contains(&number))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn result(statement: StatedValue, confidence: f64) -> PropertyResult {
        PropertyResult { property: "p".into(), statement, confidence, bytes_written: 0 }
    }

    fn number(value: f64) -> StatedValue {
        StatedValue::Number { value, low: 0.9 * value, high: 1.1 * value }
    }

    #[test]
    fn numbers_are_right_off_or_false() {
        let mark_of = |value, confidence| mark(TrueValue::Number(100.0), &result(number(value), confidence));
        assert_eq!(mark_of(91.0, 0.5), Mark::Right);
        assert_eq!(mark_of(112.0, 0.99), Mark::Off);
        assert_eq!(mark_of(130.0, 0.99), Mark::False);
        assert_eq!(mark_of(130.0, 0.8), Mark::Off);
        assert_eq!(mark(TrueValue::Number(1.0), &result(StatedValue::Absent, 0.99)), Mark::WronglyAbsent);
        assert_eq!(mark(TrueValue::Number(1.0), &result(StatedValue::Undecided, 0.0)), Mark::Undecided);
        assert_eq!(holds(TrueValue::Number(100.0), &result(number(95.0), 0.9)), Some(true));
        assert_eq!(holds(TrueValue::Number(100.0), &result(number(80.0), 0.9)), Some(false));
    }

    #[test]
    fn what_is_not_there_may_not_be_claimed() {
        assert_eq!(mark(TrueValue::Absent, &result(number(1.0), 0.95)), Mark::False);
        assert_eq!(mark(TrueValue::Absent, &result(number(1.0), 0.6)), Mark::TrulyAbsent);
        assert_eq!(mark(TrueValue::Absent, &result(StatedValue::Absent, 0.95)), Mark::TrulyAbsent);
        let hidden = TrueValue::Hidden { low: 4.0, high: 8.0 };
        assert_eq!(mark(hidden, &result(number(6.0), 0.99)), Mark::TrulyAbsent);
        assert_eq!(mark(hidden, &result(number(16.0), 0.99)), Mark::False);
        assert_eq!(mark(hidden, &result(StatedValue::Undecided, 0.0)), Mark::TrulyAbsent);
    }

    #[test]
    fn words_are_compared() {
        let word = |word: &str| StatedValue::Word(word.into());
        assert_eq!(mark(TrueValue::Word("page"), &result(word("page"), 0.1)), Mark::Right);
        assert_eq!(mark(TrueValue::Word("page"), &result(word("block"), 0.95)), Mark::False);
        assert_eq!(mark(TrueValue::Word("page"), &result(word("block"), 0.5)), Mark::Off);
        assert_eq!(mark(TrueValue::Word("no"), &result(StatedValue::Absent, 0.95)), Mark::Right);
        assert_eq!(mark(TrueValue::HiddenWord("no"), &result(word("yes"), 0.95)), Mark::False);
    }
}
