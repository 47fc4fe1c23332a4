//! What a procedure concludes: a summary, answers, tables, series, and what of it fits one screen.

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use crate::answer::{Answer, Standing};
use crate::overview::Overview;

/// One row of a table: its columns from left to right, the unit at the end of each key.
pub type Row = serde_json::Map<String, serde_json::Value>;

/// A row from its columns, left to right: `row! { test: name, bytes_per_s }`. A column is declared nowhere else.
#[macro_export]
macro_rules! row {
    ($($key:ident $(: $value:expr)?),+ $(,)?) => {{
        let mut row = $crate::findings::Row::new();
        $(row.insert(stringify!($key).to_owned(), $crate::findings::cell(&$crate::row!(@ $key $($value)?)));)+
        row
    }};
    (@ $key:ident) => { $key };
    (@ $key:ident $value:expr) => { $value };
}

/// A value as a cell.
///
/// # Panics
/// It is no plain value: a bug.
pub fn cell(value: impl Serialize) -> serde_json::Value {
    serde_json::to_value(value).expect("a cell is a plain value")
}

/// How a series is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Shape {
    /// Points joined by a line.
    Line,
    /// One bar a point.
    Bars,
    /// Points alone.
    Scatter,
    /// A matrix of cells: each line is a row, each of its points `[category, value]` a cell. A cell without a point
    /// is empty. `y` says what the values are; its scale is that of the shades.
    Heat,
}

/// The scale of an axis.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scale {
    /// Equal steps are equally far apart.
    #[default]
    Linear,
    /// Equal ratios are equally far apart.
    Log,
}

impl Scale {
    fn is_linear(&self) -> bool {
        *self == Self::Linear
    }
}

/// What one axis shows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Axis {
    /// Its title.
    pub label: String,
    /// `bytes`, `bytes/s`, `ns`, `1/s`, or empty for plain counts and categories.
    pub unit: String,
    /// How the procedure wants it drawn. Where a number is not above 0, a logarithmic axis is drawn linear.
    #[serde(default, skip_serializing_if = "Scale::is_linear")]
    pub scale: Scale,
}

impl Axis {
    /// A linear axis.
    pub fn new(label: impl Into<String>, unit: impl Into<String>) -> Self {
        Self { label: label.into(), unit: unit.into(), scale: Scale::Linear }
    }

    /// The same axis, logarithmic.
    #[must_use]
    pub fn logarithmic(mut self) -> Self {
        self.scale = Scale::Log;
        self
    }
}

/// One line, or one set of bars or points, or one row of a heat map.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Line {
    /// What the legend calls it.
    pub name: String,
    /// `[x, y]` in the units of the axes.
    pub points: Vec<[f64; 2]>,
    /// `[x, low, high]`: the interval around the line, where one is known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub band: Vec<[f64; 3]>,
}

impl Line {
    /// A line without a band.
    pub fn new(name: impl Into<String>, points: Vec<[f64; 2]>) -> Self {
        Self { name: name.into(), points, band: Vec::new() }
    }

    /// The same line with the interval around it: `[x, low, high]` in the order of its points.
    #[must_use]
    pub fn band(mut self, band: Vec<[f64; 3]>) -> Self {
        self.band = band;
        self
    }
}

/// A labeled place on the x axis.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Mark {
    /// Its place.
    pub x: f64,
    /// Its label.
    pub label: String,
}

/// A plot as data.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Series {
    /// The question it answers, as a title.
    pub title: String,
    /// How it is drawn.
    pub shape: Shape,
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis; of a heat map, what its cells hold.
    pub y: Axis,
    /// What the rows of a heat map are, in words; empty for other shapes.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub rows: String,
    /// Names of the places 0, 1, 2 … on an x axis of categories; empty on an axis of numbers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub categories: Vec<String>,
    /// The lines, bars or points.
    pub lines: Vec<Line>,
    /// The marks.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub marks: Vec<Mark>,
}

impl Series {
    /// An empty plot.
    pub fn new(title: impl Into<String>, shape: Shape, x: Axis, y: Axis) -> Self {
        Self {
            title: title.into(),
            shape,
            x,
            y,
            rows: String::new(),
            categories: Vec::new(),
            lines: Vec::new(),
            marks: Vec::new(),
        }
    }

    /// Sets what the rows of a heat map are.
    #[must_use]
    pub fn rows(mut self, rows: impl Into<String>) -> Self {
        self.rows = rows.into();
        self
    }

    /// Names the places of the x axis.
    #[must_use]
    pub fn categories(mut self, categories: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.categories.extend(categories.into_iter().map(Into::into));
        self
    }

    /// Adds lines.
    #[must_use]
    pub fn lines(mut self, lines: impl IntoIterator<Item = Line>) -> Self {
        self.lines.extend(lines);
        self
    }

    /// Adds marks.
    #[must_use]
    pub fn marks(mut self, marks: impl IntoIterator<Item = Mark>) -> Self {
        self.marks.extend(marks);
        self
    }
}

/// Everything a procedure concludes from its evidence.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Findings {
    /// What was found, in one or two sentences.
    #[serde(default)]
    pub summary: String,
    /// Most important first.
    pub answers: Vec<Answer>,
    /// What of it is shown on one screen.
    #[serde(default)]
    pub overview: Overview,
    /// By name, in the order in which they are read: first what answers the question, then what that rests on.
    pub tables: IndexMap<String, Vec<Row>>,
    /// By name, in the order of presentation.
    pub series: IndexMap<String, Series>,
    /// Whether the run ended before its procedure had enough: it can be resumed, and is no baseline.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_interrupted: bool,
}

/// The standing of a whole run: a problem if any answer is one, otherwise that of the first.
pub fn standing(answers: &[Answer]) -> Standing {
    if answers.iter().any(|answer| answer.standing == Standing::Problem) {
        return Standing::Problem;
    }
    answers.first().map_or(Standing::Info, |answer| answer.standing)
}

impl Findings {
    /// Whether something was found wrong with the drive.
    pub fn found_problem(&self) -> bool {
        standing(&self.answers) == Standing::Problem
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_usual_is_left_out_and_read_back() {
        let x = Axis::new("block size", "bytes");
        let series = Series::new("t", Shape::Line, x, Axis::new("speed", "bytes/s"))
            .lines([Line::new("write", vec![[4096.0, 1.0]])]);
        let usual = json!({
            "title": "t", "shape": "line",
            "x": {"label": "block size", "unit": "bytes"}, "y": {"label": "speed", "unit": "bytes/s"},
            "lines": [{"name": "write", "points": [[4096.0, 1.0]]}],
        });
        assert_eq!(serde_json::to_value(&series).unwrap(), usual);
        assert_eq!(serde_json::from_value::<Series>(usual).unwrap(), series);
    }

    #[test]
    fn what_is_reported_stands_in_the_json() {
        let x = Axis::new("block size", "bytes").logarithmic();
        let series = Series::new("t", Shape::Heat, x, Axis::new("speed", "bytes/s"))
            .rows("depth")
            .categories(["4 KiB"])
            .lines([Line::new("1", vec![[0.0, 2.0]]).band(vec![[0.0, 1.0, 3.0]])])
            .marks([Mark { x: 0.0, label: "here".into() }]);
        let value = serde_json::to_value(&series).unwrap();
        assert_eq!(value["x"]["scale"], "log");
        assert_eq!(value["shape"], "heat");
        assert_eq!(value["rows"], "depth");
        assert_eq!(value["lines"][0]["band"], json!([[0.0, 1.0, 3.0]]));
        assert_eq!(serde_json::from_value::<Series>(value).unwrap(), series);
    }

    #[test]
    fn tables_keep_the_order_in_which_they_were_put() {
        let mut findings = Findings::default();
        for name in ["results", "passes", "levels"] {
            findings.tables.insert(name.into(), Vec::new());
        }
        let text = serde_json::to_string(&findings).unwrap();
        let back: Findings = serde_json::from_str(&text).unwrap();
        assert_eq!(back.tables.keys().collect::<Vec<_>>(), ["results", "passes", "levels"]);
    }
}
