//! What a procedure concludes: verdicts, tables and series.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Whether a claim stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Standing {
    /// The measurement supports it.
    Holds,
    /// The measurement contradicts it.
    Fails,
    /// The measurement does not decide it.
    Undecided,
}

/// A number with the interval it can be trusted to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// The best single value.
    pub value: f64,
    /// Lower end of the interval.
    pub low: f64,
    /// Upper end of the interval.
    pub high: f64,
    /// `bytes/s`, `ns`, `1` …
    pub unit: String,
}

/// One sentence about the drive, and what it rests on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Verdict {
    /// The sentence.
    pub claim: String,
    /// Whether it stands.
    pub standing: Standing,
    /// Whether the claim names something wrong with the drive: a problem that holds makes the exit code 10.
    #[serde(default)]
    pub problem: bool,
    /// The number behind it, if there is one.
    pub estimate: Option<Estimate>,
    /// The evidence, in sentences.
    pub because: Vec<String>,
    /// What limits it, in sentences.
    pub caveats: Vec<String>,
}

impl Verdict {
    /// A claim without estimate or evidence yet.
    pub fn new(claim: impl Into<String>, standing: Standing) -> Self {
        let claim = claim.into();
        Self { claim, standing, problem: false, estimate: None, because: Vec::new(), caveats: Vec::new() }
    }

    /// Adds a sentence of evidence.
    #[must_use]
    pub fn because(mut self, sentence: impl Into<String>) -> Self {
        self.because.push(sentence.into());
        self
    }

    /// Adds a sentence of doubt.
    #[must_use]
    pub fn caveat(mut self, sentence: impl Into<String>) -> Self {
        self.caveats.push(sentence.into());
        self
    }

    /// Marks the claim as naming something wrong.
    #[must_use]
    pub fn problem(mut self) -> Self {
        self.problem = true;
        self
    }

    /// Adds the number behind it.
    #[must_use]
    pub fn estimate(mut self, value: f64, low: f64, high: f64, unit: &str) -> Self {
        self.estimate = Some(Estimate { value, low, high, unit: unit.to_owned() });
        self
    }
}

/// One row of a table: columns in order, the unit at the end of each key.
pub type Row = serde_json::Map<String, serde_json::Value>;

/// How a series is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Shape {
    /// Points joined in order.
    Line,
    /// One bar a point.
    Bars,
    /// Points alone.
    Scatter,
}

/// What one axis shows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Axis {
    /// What it is, in words.
    pub label: String,
    /// `bytes`, `bytes/s`, `ns`, `1/s`, or empty for plain counts and categories.
    pub unit: String,
}

/// One line, or one set of bars or points.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Line {
    /// What the legend calls it.
    pub name: String,
    /// `[x, y]` in the units of the axes.
    pub points: Vec<[f64; 2]>,
}

/// A place on the x axis that deserves a word.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Mark {
    /// Where.
    pub x: f64,
    /// The word.
    pub label: String,
}

/// A picture as data.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Series {
    /// The question it answers, as a title.
    pub title: String,
    /// How it is drawn.
    pub shape: Shape,
    /// What runs to the right.
    pub x: Axis,
    /// What runs up.
    pub y: Axis,
    /// Names of the places 0, 1, 2 … on an x axis of categories; empty on an axis of numbers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub categories: Vec<String>,
    /// What is drawn.
    pub lines: Vec<Line>,
    /// What is pointed at.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub marks: Vec<Mark>,
}

/// Everything a procedure concludes from its evidence.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Findings {
    /// Most important first.
    pub verdicts: Vec<Verdict>,
    /// By name.
    pub tables: BTreeMap<String, Vec<Row>>,
    /// By name.
    pub series: BTreeMap<String, Series>,
}

impl Findings {
    /// Whether something was found wrong with the drive.
    pub fn found_problem(&self) -> bool {
        self.verdicts.iter().any(|verdict| verdict.problem && verdict.standing == Standing::Holds)
    }
}
