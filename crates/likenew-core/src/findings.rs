//! What a procedure concludes: summary, answers, tables, series, and what of it fits one screen. Also
//! readings of the kernel's counters, as `likenew watch` shows them.

use std::sync::Arc;

use indexmap::IndexMap;
use serde::{Deserialize, Deserializer, Serialize};
use serde_with::skip_serializing_none;

use crate::is_default;
use crate::stat::Stat;
use crate::units::Nanos;

/// One row of a table: its columns from left to right; each key ends with its unit.
pub type Row = serde_json::Map<String, serde_json::Value>;

/// Makes a row from its columns, left to right: `row! { test: name, bytes_per_s }`. A column is declared nowhere else.
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
/// The value is not plain: a bug.
pub fn cell(value: impl Serialize) -> serde_json::Value {
    serde_json::to_value(value).expect("a cell is a plain value")
}

/// How a series is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Shape {
    /// Points joined by a line.
    Line,
    /// One bar for each point.
    Bars,
    /// Only points.
    Scatter,
    /// A matrix: each line is a row, and each of its points `[category, value]` is a cell. A cell without a
    /// point is empty. `y` describes the values; its scale is the scale of the shades.
    Heat,
}

/// The scale of an axis.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scale {
    /// Equal differences are equally far apart.
    #[default]
    Linear,
    /// Equal ratios are equally far apart.
    Log,
}

/// What one axis shows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Axis {
    /// Its title.
    pub label: String,
    /// `bytes`, `bytes/s`, `ns`, `1/s`, or empty for plain counts and categories.
    pub unit: String,
    /// The scale that the procedure wants. A logarithmic axis with a number that is not above 0 is drawn linear.
    #[serde(default, skip_serializing_if = "is_default")]
    pub scale: Scale,
    /// Its ends in its unit, where they are not those of its values.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ends: Option<[u64; 2]>,
}

impl Axis {
    /// A linear axis.
    pub fn new(label: impl Into<String>, unit: impl Into<String>) -> Self {
        Self { label: label.into(), unit: unit.into(), scale: Scale::Linear, ends: None }
    }

    /// The same axis, logarithmic.
    #[must_use]
    pub fn logarithmic(mut self) -> Self {
        self.scale = Scale::Log;
        self
    }

    /// The same axis with fixed ends, in its unit.
    #[must_use]
    pub fn from_to(mut self, ends: [u64; 2]) -> Self {
        self.ends = Some(ends);
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
    /// The interval around the line as `[x, low, high]`, where one is known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub band: Vec<[f64; 3]>,
}

impl Line {
    /// A line without a band.
    pub fn new(name: impl Into<String>, points: Vec<[f64; 2]>) -> Self {
        Self { name: name.into(), points, band: Vec::new() }
    }

    /// The same line with the interval around it: `[x, low, high]` in the order of the points.
    #[must_use]
    pub fn band(mut self, band: Vec<[f64; 3]>) -> Self {
        self.band = band;
        self
    }
}

/// A labeled position on the x axis.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Mark {
    /// Its position.
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
    /// The vertical axis; for a heat map, the values of its cells.
    pub y: Axis,
    /// What the rows of a heat map are, in words; empty for other shapes.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub rows: String,
    /// Names of the positions 0, 1, 2 … on an x axis of categories; empty on an axis of numbers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub categories: Vec<String>,
    /// The lines, bars or points.
    pub lines: Vec<Line>,
    /// The marks.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub marks: Vec<Mark>,
    /// The legend's name for marks when they are too many for labels; empty when they are few.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub mark_name: String,
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
            mark_name: String::new(),
        }
    }

    /// Says what the rows of a heat map are.
    #[must_use]
    pub fn rows(mut self, rows: impl Into<String>) -> Self {
        self.rows = rows.into();
        self
    }

    /// Names the positions on an x axis of categories.
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

    /// Sets the legend's name for marks.
    #[must_use]
    pub fn mark_name(mut self, name: impl Into<String>) -> Self {
        self.mark_name = name.into();
        self
    }
}

/// Everything a procedure concludes from its evidence.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Findings {
    /// What was found, in one or two sentences.
    #[serde(default)]
    pub summary: String,
    /// Answers, most important first.
    pub answers: Vec<Answer>,
    /// What the first screen shows.
    #[serde(default)]
    pub overview: Overview,
    /// Tables by name, in reading order: first what answers the question, then what supports it.
    pub tables: IndexMap<String, Vec<Row>>,
    /// Series by name, in the order of presentation.
    pub series: IndexMap<String, Series>,
    /// Whether the run ended before its procedure had measured enough: it can be resumed, and is no baseline.
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

/// What an answer means to the owner of the drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[derive(strum::IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub enum Standing {
    /// Good.
    Good,
    /// A problem: makes the exit code 10.
    Problem,
    /// The measurement does not decide it.
    Unknown,
    /// A measurement or property, neither good nor bad.
    Info,
}

impl Standing {
    /// `good`, `problem`, `unknown` or `info`.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// A number, and how far off it may be, as an interval.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// The best single value.
    pub value: f64,
    /// Lower end of the interval; minus infinity where it is open, which JSON spells `null`.
    #[serde(deserialize_with = "open_below")]
    pub low: f64,
    /// Upper end of the interval; infinity where it is open.
    #[serde(deserialize_with = "open_above")]
    pub high: f64,
    /// `bytes/s`, `ns`, `1` …
    pub unit: String,
}

fn open_below<'de, D: Deserializer<'de>>(input: D) -> Result<f64, D::Error> {
    Ok(Option::deserialize(input)?.unwrap_or(f64::NEG_INFINITY))
}

fn open_above<'de, D: Deserializer<'de>>(input: D) -> Result<f64, D::Error> {
    Ok(Option::deserialize(input)?.unwrap_or(f64::INFINITY))
}

/// What an action destroys for good.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Loss {
    /// Nothing.
    #[default]
    Nothing,
    /// Deleted files that might have been recovered.
    DeletedFiles,
    /// Everything on the target.
    Everything,
}

/// Something the owner can do.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Action {
    /// Stable name, such as `recondition_overwrite`.
    pub id: String,
    /// What it does or finds out, as an imperative without a full stop.
    pub why: String,
    /// The command, as it can be pasted into a shell; none where no command does it.
    pub command: Option<String>,
    /// The command that undoes it, if there is one.
    pub undo: Option<String>,
    /// How long it takes, in seconds, where that can be estimated.
    pub time_s: Option<f64>,
    /// Bytes that it writes to the drive, where that can be estimated.
    pub bytes_written: Option<u64>,
    /// What it destroys for good.
    #[serde(default)]
    pub loses: Loss,
}

impl Action {
    /// An action that loses nothing, with neither command nor cost yet.
    pub fn new(id: impl Into<String>, why: impl Into<String>) -> Self {
        Self { id: id.into(), why: why.into(), ..Self::default() }
    }

    /// Adds the command, as it can be pasted into a shell.
    #[must_use]
    pub fn command(mut self, command: impl Into<String>) -> Self {
        self.command = Some(command.into());
        self
    }

    /// Adds the command that undoes it.
    #[must_use]
    pub fn undo(mut self, command: impl Into<String>) -> Self {
        self.undo = Some(command.into());
        self
    }

    /// Adds how long it takes.
    #[must_use]
    pub fn time(mut self, time: Nanos) -> Self {
        self.time_s = Some(time.as_secs_f64());
        self
    }

    /// Adds the bytes that it writes to the drive.
    #[must_use]
    pub fn bytes_written(mut self, bytes: u64) -> Self {
        self.bytes_written = Some(bytes);
        self
    }

    /// Sets what it destroys for good.
    #[must_use]
    pub fn loses(mut self, loss: Loss) -> Self {
        self.loses = loss;
        self
    }
}

/// The answer to one question, and what supports it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    /// Stable name for programs, such as `sequential_write`. Answers of one run to the same question about
    /// two things may share it.
    pub id: String,
    /// What was asked, as a noun phrase of a few words: `Sequential write`.
    pub question: String,
    /// What was found, without a full stop: `20 MB/s, 26% of new`.
    pub answer: String,
    /// What it means to the owner of the drive.
    pub standing: Standing,
    /// The number behind it, if there is one.
    pub estimate: Option<Estimate>,
    /// What supports it, in sentences.
    pub evidence: Vec<String>,
    /// What limits it, in sentences.
    pub caveats: Vec<String>,
    /// What to do about it, the gentlest first.
    pub actions: Vec<Action>,
}

impl Answer {
    /// The prefix of the id of an answer that names a cause.
    pub const CAUSE_PREFIX: &str = "cause_";

    /// Whether it names the cause of a problem.
    pub fn is_known_cause(&self) -> bool {
        self.standing == Standing::Problem && self.id.starts_with(Self::CAUSE_PREFIX)
    }

    /// An answer without number or evidence.
    pub fn new(
        id: impl Into<String>,
        question: impl Into<String>,
        answer: impl Into<String>,
        standing: Standing,
    ) -> Self {
        Self {
            id: id.into(),
            question: question.into(),
            answer: answer.into(),
            standing,
            estimate: None,
            evidence: Vec::new(),
            caveats: Vec::new(),
            actions: Vec::new(),
        }
    }

    /// A good answer.
    pub fn good(id: impl Into<String>, question: impl Into<String>, answer: impl Into<String>) -> Self {
        Self::new(id, question, answer, Standing::Good)
    }

    /// A problem.
    pub fn problem(id: impl Into<String>, question: impl Into<String>, answer: impl Into<String>) -> Self {
        Self::new(id, question, answer, Standing::Problem)
    }

    /// The measurement does not decide it; `answer` says what is known.
    pub fn unknown(id: impl Into<String>, question: impl Into<String>, answer: impl Into<String>) -> Self {
        Self::new(id, question, answer, Standing::Unknown)
    }

    /// Information, neither good nor bad.
    pub fn info(id: impl Into<String>, question: impl Into<String>, answer: impl Into<String>) -> Self {
        Self::new(id, question, answer, Standing::Info)
    }

    /// Adds the number behind it, if it is finite. An end of the interval that is not finite is open.
    #[must_use]
    pub fn estimate(mut self, value: f64, low: f64, high: f64, unit: &str) -> Self {
        let low = if low.is_finite() { low } else { f64::NEG_INFINITY };
        let high = if high.is_finite() { high } else { f64::INFINITY };
        self.estimate = value.is_finite().then(|| Estimate { value, low, high, unit: unit.to_owned() });
        self
    }

    /// Adds a sentence of evidence.
    #[must_use]
    pub fn with_evidence(mut self, sentence: impl Into<String>) -> Self {
        self.evidence.push(sentence.into());
        self
    }

    /// Adds a sentence that limits it.
    #[must_use]
    pub fn caveat(mut self, sentence: impl Into<String>) -> Self {
        self.caveats.push(sentence.into());
        self
    }

    /// Adds something to do about it.
    #[must_use]
    pub fn action(mut self, action: Action) -> Self {
        self.actions.push(action);
        self
    }
}

/// What the first screen begins with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Lead {
    /// The summary first.
    #[default]
    Summary,
    /// The table first, for procedures whose answer is the table itself. Of the answers, only problems,
    /// unknowns and those in [`Overview::answers`] are shown.
    Table,
}

/// What the first screen shows.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Overview {
    /// What comes first.
    pub lead: Lead,
    /// Ids of the answers that are listed below the summary, from top to bottom.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub answers: Vec<String>,
    /// The table that answers the question.
    pub table: Option<OverviewTable>,
    /// The series that is drawn if it fits on the screen.
    pub series: Option<String>,
}

/// A small table of text.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct OverviewTable {
    /// The heading of each column.
    pub headings: Vec<String>,
    /// The rows, most important first; where not all fit, the last are left out.
    pub rows: Vec<OverviewRow>,
}

impl OverviewTable {
    /// A table without rows.
    pub fn new(headings: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self { headings: headings.into_iter().map(Into::into).collect(), rows: Vec::new() }
    }

    /// Adds a row with a cell for each heading.
    pub fn push(&mut self, cells: impl IntoIterator<Item = impl Into<String>>) {
        self.push_with_share(cells, None);
    }

    /// Adds a row that ends with a bar, which a share of 1 fills.
    pub fn push_with_share(
        &mut self,
        cells: impl IntoIterator<Item = impl Into<String>>,
        share: Option<f64>,
    ) {
        let cells: Vec<String> = cells.into_iter().map(Into::into).collect();
        assert_eq!(cells.len(), self.headings.len(), "a row has a cell for each heading");
        self.rows.push(OverviewRow { cells, share });
    }
}

/// A row of the first screen's table.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct OverviewRow {
    /// One cell for each heading.
    pub cells: Vec<String>,
    /// The length of the bar at its end; 1 is a full bar.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub share: Option<f64>,
}

/// Every drive present when the counters were read.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reading {
    /// When, on the reader's clock.
    pub at: Nanos,
    /// The drives in no particular order, each name once.
    pub drives: Vec<DriveReading>,
}

/// One drive, partition or layer.
#[derive(Clone, Debug, PartialEq)]
pub struct DriveReading {
    /// The kernel's name for it: `sda`, `nvme0n1p2`, `dm-0`.
    pub name: String,
    /// Distinguishes it from an earlier drive of the same name; 0 on kernels before 5.15.
    pub instance: u64,
    /// When exactly its counters were read, on the reader's clock.
    pub at: Nanos,
    /// Its counters at that time.
    pub stat: Stat,
    /// Reads and writes in flight, where the kernel counts them separately.
    pub in_flight: Option<[u64; 2]>,
    /// Degrees Celsius, where its driver reports them.
    pub temperature_c: Option<f64>,
    /// What rarely changes.
    pub facts: Arc<DriveFacts>,
}

/// What is known of a drive without sending it a command.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DriveFacts {
    /// Its path, as given to a command: `/dev/sda`.
    pub path: String,
    /// What kind of device it is.
    pub role: Role,
    /// Maker and model; for a layer its own name, for a loop device its file.
    pub model: Option<String>,
    /// Its size in bytes; 0 without a medium.
    pub capacity_bytes: u64,
    /// Where it or a layer on it is mounted, or that it is swap.
    pub used_by: Vec<String>,
    /// The layers below and above it, including itself, from the bottom.
    pub stack: Vec<Layer>,
    /// Further facts as name and value: bus, scheduler, depth of the queue, write cache …
    pub facts: Vec<(String, String)>,
    /// What limits the trust in its counters, in sentences.
    pub caveats: Vec<String>,
}

/// What kind of device a name stands for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Role {
    /// A drive, real or of a virtual machine.
    #[default]
    Drive,
    /// A partition of a drive.
    Partition,
    /// Built on other devices: device mapper, RAID.
    Layer,
    /// A file (loop) or memory (ram, zram) presented as a drive.
    Virtual,
}

/// One layer of a stack, as a line of text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layer {
    /// How many layers are below it.
    pub level: u16,
    /// The kernel's name.
    pub name: String,
    /// Size, model and use, in words.
    pub words: String,
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_is_usual_is_left_out_and_read_back() {
        let x = Axis::new("block size", "bytes");
        let series = Series::new("t", Shape::Line, x, Axis::new("speed", "bytes/s"))
            .lines([Line::new("write", vec![[4096.0, 1.0]])]);
        let expected = json!({
            "title": "t", "shape": "line",
            "x": {"label": "block size", "unit": "bytes"}, "y": {"label": "speed", "unit": "bytes/s"},
            "lines": [{"name": "write", "points": [[4096.0, 1.0]]}],
        });
        assert_eq!(serde_json::to_value(&series).unwrap(), expected);
        assert_eq!(serde_json::from_value::<Series>(expected).unwrap(), series);
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
