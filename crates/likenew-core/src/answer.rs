//! Answers: what a procedure found, how far that can be trusted, and what to do about it.

use serde::{Deserialize, Deserializer, Serialize};

use crate::units::Nanos;

/// What an answer means to the owner of the drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Standing {
    /// Good.
    Good,
    /// A problem: makes the exit code 10.
    Problem,
    /// Not decided by what was measured.
    Unknown,
    /// A measurement or a property, neither good nor bad.
    Info,
}

/// A number with the interval it can be trusted to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// The best single value.
    pub value: f64,
    /// Lower end of the interval; minus infinity where nothing bounds it, which JSON spells `null`.
    #[serde(deserialize_with = "open_below")]
    pub low: f64,
    /// Upper end of the interval; infinity where nothing bounds it.
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
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Action {
    /// Stable name, such as `recondition_overwrite`.
    pub id: String,
    /// What it does or finds out, as an imperative without a full stop.
    pub why: String,
    /// The command, as it can be pasted into a shell; none where no command does it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// The command that undoes it, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undo: Option<String>,
    /// How long it takes, in seconds, where that can be estimated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_s: Option<f64>,
    /// Bytes that it writes to the drive, where that can be estimated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes_written: Option<u64>,
    /// What it destroys for good.
    #[serde(default)]
    pub loses: Loss,
}

impl Action {
    /// An action that loses nothing, with neither command nor cost yet.
    pub fn new(id: impl Into<String>, why: impl Into<String>) -> Self {
        Self {
            id: id.into(),
            why: why.into(),
            command: None,
            undo: None,
            time_s: None,
            bytes_written: None,
            loses: Loss::Nothing,
        }
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

/// The answer to one question, and what it rests on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    /// Stable name for programs, such as `sequential_write`; two answers of one run may share it where they answer the
    /// same question of two things.
    pub id: String,
    /// What was asked, as a noun phrase of a few words: `Sequential write`.
    pub question: String,
    /// What was found, without a full stop: `20 MB/s, 26% of new`.
    pub answer: String,
    /// What it means to the owner of the drive.
    pub standing: Standing,
    /// The number behind it, if there is one.
    pub estimate: Option<Estimate>,
    /// What it rests on, in sentences.
    pub evidence: Vec<String>,
    /// What limits it, in sentences.
    pub caveats: Vec<String>,
    /// What to do about it, the gentlest first.
    pub actions: Vec<Action>,
}

impl Answer {
    /// What the id of an answer that names a cause begins with.
    pub const CAUSE_PREFIX: &str = "cause_";

    /// Whether it names the cause of a problem.
    pub fn is_known_cause(&self) -> bool {
        self.standing == Standing::Problem && self.id.starts_with(Self::CAUSE_PREFIX)
    }

    /// An answer with neither number nor evidence yet.
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

    /// Adds the number behind it, if there is one. An end of its interval that is no number is open.
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
