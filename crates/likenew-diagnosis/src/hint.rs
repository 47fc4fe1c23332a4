//! What would tell more of a drive; the site knows whether that can be done there.

use likenew_core::answer::Action;

/// A way to get missing evidence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hint {
    /// Stable id of its action.
    id: &'static str,
    /// An imperative without a full stop; empty if nothing can be done.
    why: &'static str,
    /// Its command, with `{}` for the target.
    pub(crate) command: Option<&'static str>,
    pub(crate) needs: Needs,
}

/// What the target must allow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Needs {
    Nothing,
    /// A machine whose system can be queried.
    Machine,
    /// The same, and nobody has asked it yet: what it did not say then, it does not say now.
    Facts,
    /// The same, and the user is not root yet.
    Root,
    /// Writes.
    Writing,
    /// Sending it TRIM.
    Trim,
}

impl Hint {
    /// Nothing would show it.
    pub const NONE: Self = Self { id: "", why: "", command: None, needs: Needs::Nothing };

    /// An option of the next check.
    pub(crate) const fn here(why: &'static str) -> Self {
        Self { id: "give_rated", why, command: None, needs: Needs::Nothing }
    }

    /// A measurement of a thorough check that only reads.
    pub(crate) const fn thorough(why: &'static str) -> Self {
        Self {
            id: "check_thorough",
            why,
            command: Some("likenew check {} --thorough"),
            needs: Needs::Nothing,
        }
    }

    /// A measurement of a thorough check that writes.
    pub(crate) const fn thorough_writing(why: &'static str) -> Self {
        Self { needs: Needs::Writing, ..Self::thorough(why) }
    }

    /// A query to the machine of a real drive.
    pub(crate) const fn machine(why: &'static str) -> Self {
        Self { id: "ask_machine", why, command: None, needs: Needs::Machine }
    }

    /// A fact from the machine.
    pub(crate) const fn facts(why: &'static str) -> Self {
        Self { id: "facts", why, command: Some("likenew facts {}"), needs: Needs::Facts }
    }

    /// A fact that the machine shows only to root.
    pub(crate) const fn root(why: &'static str) -> Self {
        Self { id: "check_as_root", why, command: Some("sudo likenew check {}"), needs: Needs::Root }
    }

    /// The kernel's counts of other I/O.
    pub(crate) const fn watch(why: &'static str) -> Self {
        Self { id: "watch", command: Some("likenew watch"), ..Self::machine(why) }
    }

    /// Speed by kind of data.
    pub(crate) const fn data(why: &'static str) -> Self {
        Self { id: "data", why, command: Some("likenew data {}"), needs: Needs::Writing }
    }

    /// A map of the whole surface.
    pub(crate) const fn surface(why: &'static str) -> Self {
        Self { id: "surface", why, command: Some("likenew surface {}"), needs: Needs::Nothing }
    }

    /// A test with TRIM.
    pub(crate) const fn trim(why: &'static str) -> Self {
        Self { id: "trim", why, command: Some("likenew trim {}"), needs: Needs::Trim }
    }

    /// The action, without its command; none where nothing can be done.
    pub(crate) fn action(self) -> Option<Action> {
        (!self.why.is_empty()).then(|| Action::new(self.id, self.why))
    }
}
