//! What would tell more of a drive; the site knows whether that can be done there.

use likenew_core::answer::Action;

/// What would show something that nobody knows yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hint {
    /// Stable name of the action that it becomes.
    id: &'static str,
    /// An imperative without a full stop; empty where nothing can be done.
    why: &'static str,
    /// The command that does it, with `{}` for the target.
    pub(crate) command: Option<&'static str>,
    pub(crate) needs: Needs,
}

/// What has to be possible on a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Needs {
    Nothing,
    /// A machine that can be asked about a drive.
    Machine,
    /// The same, by who is not root yet.
    Root,
    /// Writing to it.
    Writing,
    /// Sending it TRIM.
    Trim,
}

impl Hint {
    /// Nothing would show it.
    pub const NONE: Self = Self { id: "", why: "", command: None, needs: Needs::Nothing };

    /// Something that the next check is told.
    pub(crate) const fn here(why: &'static str) -> Self {
        Self { id: "give_rated", why, command: None, needs: Needs::Nothing }
    }

    /// Something that a thorough check measures with reads alone.
    pub(crate) const fn thorough(why: &'static str) -> Self {
        Self {
            id: "check_thorough",
            why,
            command: Some("likenew check {} --thorough"),
            needs: Needs::Nothing,
        }
    }

    /// Something that a thorough check measures with writes.
    pub(crate) const fn thorough_writing(why: &'static str) -> Self {
        Self { needs: Needs::Writing, ..Self::thorough(why) }
    }

    /// Something that the machine of a real drive can be asked.
    pub(crate) const fn machine(why: &'static str) -> Self {
        Self { id: "ask_machine", why, command: None, needs: Needs::Machine }
    }

    /// A fact that the machine tells.
    pub(crate) const fn facts(why: &'static str) -> Self {
        Self { id: "facts", command: Some("likenew facts {}"), ..Self::machine(why) }
    }

    /// A fact that the machine tells root alone.
    pub(crate) const fn root(why: &'static str) -> Self {
        Self { id: "check_as_root", why, command: Some("sudo likenew check {}"), needs: Needs::Root }
    }

    /// What the kernel counts of others' I/O.
    pub(crate) const fn watch(why: &'static str) -> Self {
        Self { id: "watch", command: Some("likenew watch"), ..Self::machine(why) }
    }

    /// What data of different kinds gets.
    pub(crate) const fn data(why: &'static str) -> Self {
        Self { id: "data", why, command: Some("likenew data {}"), needs: Needs::Writing }
    }

    /// What a map of the whole surface shows.
    pub(crate) const fn surface(why: &'static str) -> Self {
        Self { id: "surface", why, command: Some("likenew surface {}"), needs: Needs::Nothing }
    }

    /// Something that takes TRIM.
    pub(crate) const fn trim(why: &'static str) -> Self {
        Self { id: "trim", why, command: Some("likenew trim {}"), needs: Needs::Trim }
    }

    /// The action, without its command; none where nothing can be done.
    pub(crate) fn action(self) -> Option<Action> {
        (!self.why.is_empty()).then(|| Action::new(self.id, self.why))
    }
}
