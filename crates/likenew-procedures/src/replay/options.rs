//! The settings of a replay.

use std::fmt;
use std::str::FromStr;

use likenew_core::io::DataClass;
use likenew_core::replay_spec::Fit;
use likenew_core::serde_as_text;
use likenew_core::units::{Nanos, duration_text, size_text};
use serde::{Deserialize, Serialize};

use super::TraceSummary;

/// The settings of a replay.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReplayOptions {
    /// The recording's file.
    pub trace: String,
    /// Its format, where the file does not show it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub format: Option<String>,
    /// Which of its volumes, where it holds several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub volume: Option<String>,
    /// When its I/Os leave.
    #[serde(default)]
    pub mode: ReplayMode,
    /// Recorded time over the target's.
    #[serde(default = "default_one")]
    pub speed: f64,
    /// Times in which nothing was in flight are cut to this.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "duration_text::optional")]
    pub idle_max: Option<Nanos>,
    /// I/Os in flight at most.
    #[serde(default = "depth")]
    pub depth: u32,
    /// How the recorded addresses become the target's.
    #[serde(default)]
    pub fit: Fit,
    /// Bytes of address space that are used, from the start of the target; otherwise all.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "size_text::optional")]
    pub span: Option<u64>,
    /// Only reads are carried out.
    #[serde(default)]
    pub reads_only: bool,
    /// Whether what the recording touches is written once beforehand, where the target may be written.
    #[serde(default = "default_true")]
    pub prepare: bool,
    /// What is written.
    #[serde(default = "random")]
    pub data: DataClass,
    /// How often it is replayed.
    #[serde(default = "one_pass")]
    pub passes: u32,
    /// A pass ends after this much time, wherever it is.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "duration_text::optional")]
    pub time: Option<Nanos>,
    /// What the recording holds. `likenew replay` and `likenew run` look, where it is missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<TraceSummary>,
}

fn default_one() -> f64 {
    1.0
}

fn one_pass() -> u32 {
    1
}

fn depth() -> u32 {
    256
}

fn default_true() -> bool {
    true
}

fn random() -> DataClass {
    DataClass::Random
}

/// When the I/Os of a recording leave.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReplayMode {
    /// As fast as the target takes them.
    Fast,
    /// When they left in the recording.
    Timed,
    /// When what had ended before them has ended, and as long after it as in the recording.
    #[default]
    Dependent,
}

impl fmt::Display for ReplayMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Fast => "fast",
            Self::Timed => "timed",
            Self::Dependent => "dependent",
        })
    }
}

impl FromStr for ReplayMode {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        [Self::Fast, Self::Timed, Self::Dependent]
            .into_iter()
            .find(|mode| mode.to_string() == text)
            .ok_or_else(|| format!("\"{text}\" is no way to replay: write dependent, timed or fast"))
    }
}

serde_as_text!(ReplayMode);

impl ReplayOptions {
    /// A replay of this file as usual.
    pub fn new(trace: impl Into<String>) -> Self {
        Self {
            trace: trace.into(),
            format: None,
            volume: None,
            mode: ReplayMode::default(),
            speed: default_one(),
            idle_max: None,
            depth: depth(),
            fit: Fit::default(),
            span: None,
            reads_only: false,
            prepare: default_true(),
            data: random(),
            passes: one_pass(),
            time: None,
            summary: None,
        }
    }

    pub(super) fn check(&self) -> Result<(), String> {
        if self.trace.is_empty() {
            return Err("trace: name the file of a recording".into());
        }
        if !(1..=1000).contains(&self.passes) {
            return Err(format!("passes = {} is not in 1..1000", self.passes));
        }
        if !(1..=4096).contains(&self.depth) {
            return Err(format!("depth = {} is not in 1..4096", self.depth));
        }
        if !(self.speed >= 1e-3 && self.speed <= 1e6) {
            return Err(format!("speed = {} is not in 0.001..1000000", self.speed));
        }
        if self.mode == ReplayMode::Fast && (self.speed != 1.0 || self.idle_max.is_some()) {
            return Err(
                "speed and idle_max are about recorded times, which mode = \"fast\" does not keep".into()
            );
        }
        match self.span {
            Some(span) if span < super::LENGTH_MIN || !span.is_multiple_of(super::LENGTH_MIN) => {
                Err(format!("span = {span} bytes is not a multiple of 64 KiB"))
            }
            _ => Ok(()),
        }
    }
}
