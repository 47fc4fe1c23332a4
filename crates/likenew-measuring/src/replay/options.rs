//! The options of a replay.

use likenew_core::io::DataClass;
use likenew_core::replay_spec::Fit;
use likenew_core::units::{Nanos, duration_text, exact_size, size_text};
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
    /// Its format, where the file does not show it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub format: Option<String>,
    /// Which of its volumes, where it holds several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub volume: Option<String>,
    /// When its I/Os leave.
    #[serde(default)]
    pub mode: ReplayMode,
    /// Speed-up of the recorded times.
    #[serde(default = "default_one")]
    pub speed: f64,
    /// Pauses with nothing in flight are cut to this.
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
    /// Whether what the trace touches is written once before, where the target may be written.
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
    /// What the trace holds. `likenew replay` and `likenew run` find out where it is missing.
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
                Err(not_a_multiple("span", exact_size(span), "64KiB"))
            }
            _ => Ok(()),
        }
    }
}
