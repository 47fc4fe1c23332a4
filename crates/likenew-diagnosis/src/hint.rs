//! How to get missing evidence, and whether that is possible on the target.

use likenew_core::answer::Action;
use likenew_core::drive::Kind;
use likenew_core::feasibility::ActionKind;
use likenew_core::shell::shell_quote;

use crate::{Possibility, Site};

/// Address space to which the measurement of TRIM's effect is limited, in bytes: more takes long on a large
/// drive.
const TRIM_SPACE: u64 = 1 << 30;

/// A way to get missing evidence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hint {
    /// Stable id of its action.
    id: &'static str,
    /// An imperative without a full stop; empty if nothing can be done.
    why: &'static str,
    /// Its command, with `{}` for the target.
    command: Option<&'static str>,
    needs: Needs,
}

/// What the target must allow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Needs {
    Nothing,
    /// A machine whose system can be queried.
    Machine,
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
        Self { id: "facts", command: Some("likenew facts {}"), ..Self::machine(why) }
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

    /// The action for this target; `None` if it is not possible there.
    pub(crate) fn action(self, site: Option<&Site<'_>>) -> Option<Action> {
        if self.why.is_empty() || !site.is_none_or(|site| self.is_possible(site)) {
            return None;
        }
        let action = Action::new(self.id, self.why);
        let (Some(command), Some(site)) = (self.command, site) else { return Some(action) };
        let command = command.replace("{}", &shell_quote(site.target));
        // In a folder 1 GiB is the default.
        let is_large =
            site.kind == Kind::Simulated && site.used_bytes + site.free_bytes.unwrap_or(0) > 2 * TRIM_SPACE;
        Some(action.command(if self.needs == Needs::Trim && is_large {
            format!("{command} --space 1GiB")
        } else {
            command
        }))
    }

    fn is_possible(self, site: &Site<'_>) -> bool {
        let is_real = site.kind != Kind::Simulated;
        match self.needs {
            Needs::Nothing => true,
            Needs::Machine => is_real,
            Needs::Root => is_real && site.facts.and_then(|facts| facts.machine.root.get()) != Some(true),
            Needs::Writing => site.writable,
            Needs::Trim => site.trims && site.possibility(ActionKind::Fstrim) == Possibility::Yes,
        }
    }
}
