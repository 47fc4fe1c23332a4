//! The options of a replay.

use likenew_core::io::DataClass;
use likenew_core::replay_spec::Fit;
use likenew_core::units::{Nanos, duration_text, size_text};
use likenew_procedure_support::wording::{not_a_multiple, out_of_range};
use serde::{Deserialize, Serialize};

use super::replay_mode::ReplayMode;
use super::summary::TraceSummary;
use super::wording;

/// The options of a replay.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReplayOptions {
    /// The trace's file.
    pub trace: String,
    /// Its format, if the file does not show it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub format: Option<String>,
    /// The volume, if the trace holds several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub volume: Option<String>,
    /// When its I/Os leave.
    #[serde(default)]
    pub mode: ReplayMode,
    /// Speed-up of the recorded times.
    #[serde(default = "default_one")]
    pub speed: f64,
    /// Limit of pauses with nothing in flight.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "duration_text::optional")]
    pub idle_max: Option<Nanos>,
    /// Deepest queue.
    #[serde(default = "depth")]
    pub depth: u32,
    /// How the recorded addresses become the target's.
    #[serde(default)]
    pub fit: Fit,
    /// Bytes of address space to use, from the start of the target; all of it by default.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "size_text::optional")]
    pub span: Option<u64>,
    /// Whether to run only the reads.
    #[serde(default)]
    pub reads_only: bool,
    /// Whether to write all addresses of the trace once before, if the target may be written.
    #[serde(default = "default_true")]
    pub prepare: bool,
    /// Content of writes.
    #[serde(default = "random")]
    pub data: DataClass,
    /// How often it is replayed.
    #[serde(default = "one_pass")]
    pub passes: u32,
    /// A pass ends after this much time, wherever it is.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "duration_text::optional")]
    pub time: Option<Nanos>,
    /// The content of the trace. `likenew replay` and `likenew run` determine it if it is missing.
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

impl ReplayOptions {
    /// A replay of this file with default options.
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
            return Err(wording::no_trace());
        }
        if !(1..=1000).contains(&self.passes) {
            return Err(out_of_range("passes", self.passes, 1, 1000));
        }
        if !(1..=4096).contains(&self.depth) {
            return Err(out_of_range("depth", self.depth, 1, 4096));
        }
        if !(self.speed >= 1e-3 && self.speed <= 1e6) {
            return Err(out_of_range("speed", self.speed, 0.001, 1_000_000));
        }
        if self.mode == ReplayMode::Fast && (self.speed != 1.0 || self.idle_max.is_some()) {
            return Err(wording::fast_keeps_no_times());
        }
        match self.span {
            Some(span) if span < super::LENGTH_MIN || !span.is_multiple_of(super::LENGTH_MIN) => {
                Err(not_a_multiple("span", span, super::LENGTH_MIN))
            }
            _ => Ok(()),
        }
    }
}
