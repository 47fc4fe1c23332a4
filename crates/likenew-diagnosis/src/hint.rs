//! What would tell more of a drive, and whether that can be done where it is advised.

use likenew_core::drive::Kind;
use likenew_core::feasibility::ActionKind;

use crate::causes::shell_quote;
use crate::{Possibility, Site};

/// What would show something that nobody knows yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hint {
    /// An instruction without a full stop; empty where nothing can be done.
    fact: &'static str,
    /// The command that does it, with `{}` for the target.
    command: Option<&'static str>,
    needs: Needs,
}

/// What has to be possible on a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Needs {
    Nothing,
    /// A machine that can be asked about a drive.
    Machine,
    /// The same, by who is not root yet.
    Root,
    /// Writing to it.
    Writing,
    /// Telling it what is free.
    Trim,
}

impl From<&'static str> for Hint {
    /// Something that can be done everywhere.
    fn from(fact: &'static str) -> Self {
        Self { fact, command: None, needs: Needs::Nothing }
    }
}

impl Hint {
    /// Something that the machine of a real drive can be asked.
    pub(crate) const fn of_machine(fact: &'static str) -> Self {
        Self { fact, command: None, needs: Needs::Machine }
    }

    /// A fact that the machine tells.
    pub(crate) const fn of_facts(fact: &'static str) -> Self {
        Self::of_machine(fact).with_command("likenew facts {}")
    }

    /// A fact that the machine tells root alone.
    pub(crate) const fn of_root(fact: &'static str) -> Self {
        Self { fact, command: Some("sudo likenew facts {}"), needs: Needs::Root }
    }

    /// Something that takes writes.
    pub(crate) const fn of_writing(fact: &'static str) -> Self {
        Self { fact, command: None, needs: Needs::Writing }
    }

    /// Something that takes TRIM.
    pub(crate) const fn of_trim(fact: &'static str) -> Self {
        Self { fact, command: Some("likenew trim {}"), needs: Needs::Trim }
    }

    /// The same by a command, with `{}` for the target.
    pub(crate) const fn with_command(self, command: &'static str) -> Self {
        Self { command: Some(command), ..self }
    }

    /// In words, with the command for this target; nothing where it can not be done there, by what the cures of the target ask, too.
    pub(crate) fn text(self, site: Option<&Site<'_>>) -> Option<String> {
        if self.fact.is_empty() || !site.is_none_or(|site| self.is_possible(site)) {
            return None;
        }
        let target = site.map(|site| shell_quote(site.target));
        Some(match (self.command, target) {
            (Some(command), Some(target)) => format!("{}: {}", self.fact, command.replace("{}", &target)),
            (Some(command), None) => format!("{}: {}", self.fact, command.replace(" {}", "")),
            (None, _) => self.fact.to_owned(),
        })
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
