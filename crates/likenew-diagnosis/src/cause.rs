//! The contract of a cause.

use likenew_core::answer::Action;

use super::{Case, LogOdds, Symptom};

/// What kind of reason a cause is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The drive has become slower, or is failing.
    Drive,
    /// By design: it was not faster when new.
    ByDesign,
    /// The drive is fine; its link, a layer above it or other programs are the reason.
    NotTheDrive,
}

/// A cause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CauseDescriptor {
    /// Its name in JSON: `no_trim`.
    pub name: &'static str,
    /// Its title, as a noun phrase: `thermal throttling`.
    pub title: &'static str,
    /// Why the drive is slow, as a clause without a full stop.
    pub summary: &'static str,
    /// The kind of reason.
    pub kind: Kind,
    /// Whether it is a problem even if nothing is slow because of it: the drive or its data is in danger.
    pub endangers: bool,
    /// The symptoms that it can cause, though not in each case ([`Cause::explains`]).
    pub explains: &'static [Symptom],
    /// Its manual page, in Markdown.
    pub manual: &'static str,
}

/// One reason why a drive may be slow. It has no state: its answers follow from the case alone.
pub trait Cause: Sync {
    /// Its description.
    fn descriptor(&self) -> &'static CauseDescriptor;

    /// Whether it can bring about this symptom in this case.
    fn explains(&self, _case: &Case<'_>, symptom: Symptom) -> bool {
        self.descriptor().explains.contains(&symptom)
    }

    /// The evidence for it and against it.
    fn score(&self, case: &Case<'_>) -> LogOdds;

    /// Its fixes, the gentlest first.
    fn actions(&self, case: &Case<'_>) -> Vec<Action>;

    /// The cause on this drive: a clause without a full stop.
    fn statement(&self, _case: &Case<'_>) -> String {
        self.descriptor().summary.to_owned()
    }
}
