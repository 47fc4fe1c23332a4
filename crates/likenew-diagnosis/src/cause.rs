//! The contract of a cause.

use likenew_core::feasibility::ActionKind;

use super::{Case, LogOdds, Symptom};

/// What kind of reason a cause is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The drive has fallen from what it was, or fails.
    Drive,
    /// It is made so: it was not faster when it was new.
    ByDesign,
    /// The drive is fine, the way to it, what lies above it or who else uses it is not.
    NotTheDrive,
}

/// What a cure may cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Risk {
    /// Nothing can be lost.
    None,
    /// Nothing is lost as long as the power stays on and commands are typed as they stand.
    Low,
    /// Data can be lost: only with a backup.
    Data,
}

/// What helps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fix {
    /// What to do, as an instruction without a full stop.
    pub description: String,
    /// The command that does it, as typed; it is printed, never run.
    pub command: Option<String>,
    /// The command that takes it back, where there is one.
    pub undo: Option<String>,
    /// What may be lost.
    pub risk: Risk,
    /// What it takes: time, bytes written, money.
    pub cost: &'static str,
    /// How to see that it helped, as an instruction without a full stop.
    pub check: &'static str,
    /// The step of `likenew recondition` that it is, if it is one.
    pub action: Option<ActionKind>,
}

/// What a cause is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CauseDescriptor {
    /// Its name in JSON: `no_trim`.
    pub name: &'static str,
    /// Why it is slow, as a clause after "because".
    pub summary: &'static str,
    /// What kind of reason it is.
    pub kind: Kind,
    /// Whether it is a problem where nothing is slow because of it: the drive or what is on it is in danger.
    pub endangers: bool,
    /// The symptoms that it can bring about.
    pub explains: &'static [Symptom],
    /// Its manual page, in Markdown.
    pub manual: &'static str,
}

/// One reason why a drive may be slow. Holds nothing: what it says follows from the case alone.
pub trait Cause: Sync {
    /// What it is.
    fn descriptor(&self) -> &'static CauseDescriptor;

    /// What speaks for it and against it.
    fn score(&self, case: &Case<'_>) -> LogOdds;

    /// What helps, the gentlest first.
    fn fixes(&self, case: &Case<'_>) -> Vec<Fix>;
}
