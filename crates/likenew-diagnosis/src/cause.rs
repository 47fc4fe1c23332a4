//! The contract of a cause.

use likenew_core::answer::Action;

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

/// What a cause is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CauseDescriptor {
    /// Its name in JSON: `no_trim`.
    pub name: &'static str,
    /// What it is, as a noun phrase: `thermal throttling`.
    pub title: &'static str,
    /// Why the drive is slow, as a clause without a full stop.
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
    fn actions(&self, case: &Case<'_>) -> Vec<Action>;

    /// The cause as it is at work here: a clause without a full stop.
    fn statement(&self, _case: &Case<'_>) -> String {
        self.descriptor().summary.to_owned()
    }
}
