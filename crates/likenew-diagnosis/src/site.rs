//! What fixes are applied to, and which steps are possible there: one answer for whoever advises a step and for
//! whoever takes it.

use likenew_core::answer::Action;
use likenew_core::drive::Kind;
use likenew_core::facts::{DriveKind, Fact, Facts};
use likenew_core::feasibility::{ActionKind, Feasibility};
use likenew_core::shell::shell_quote;

use crate::hint::{Hint, Needs};
use crate::wording::obstacle;

/// Overwriting less free space than this, in bytes, gains nothing (assumed).
const FREE_LEAST: u64 = 64 << 20;

/// Where measuring what TRIM gains is limited to this much address space: more takes long on a large drive.
const TRIM_SPACE: u64 = 1 << 30;

/// What fixes are applied to.
#[derive(Clone, Copy, Debug)]
pub struct Site<'a> {
    /// As its owner names it.
    pub target: &'a str,
    /// What kind of thing it is.
    pub kind: Kind,
    /// Whether TRIM can be sent to it.
    pub trims: bool,
    /// Whether it may be written.
    pub writable: bool,
    /// Bytes on which no file of the owner lies; of a folder, what our own files may take. Absent where nobody
    /// knows, and where it
    /// is nothing.
    pub free_bytes: Option<u64>,
    /// Bytes that may hold files of the owner, of what is no folder.
    pub used_bytes: u64,
    /// What the system knows of it.
    pub facts: Option<&'a Facts>,
    /// What stands against each step by the state of the drive, where that was looked at.
    pub feasibility: Option<&'a Feasibility>,
}

/// Whether a step is possible.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Possibility {
    /// It is.
    Yes,
    /// Once its owner has agreed, and how: a clause without a full stop.
    WithConsent(String),
    /// Not here, and why: a clause without a full stop that says what would help, where something would.
    No(String),
}

impl Possibility {
    /// What stands against it now.
    pub fn obstacle(self) -> Option<String> {
        match self {
            Self::Yes => None,
            Self::WithConsent(reason) | Self::No(reason) => Some(reason),
        }
    }
}

impl Site<'_> {
    /// Whether a step is possible here: by what it is, by what is free, by every layer on the way of TRIM, and by
    /// the state of the drive.
    pub fn possibility(&self, action: ActionKind) -> Possibility {
        let by_itself = match action {
            ActionKind::Fstrim => self.fstrim_command().map(Possibility::No),
            ActionKind::DiscardFree => self.discards_unused().map(Possibility::No),
            ActionKind::Refresh => self.rewrites().map(Possibility::No),
            ActionKind::OverwriteFree => self.overwrites_free().map(Possibility::No),
            ActionKind::Discard => match self.whole_drive() {
                Some(Possibility::No(reason)) => Some(Possibility::No(reason)),
                // What may not be written yet cannot be asked whether TRIM would be sent; whether it knows TRIM it
                // says.
                _ if (!self.trims && self.writable) || self.knows_trim() == Some(false) => {
                    Some(Possibility::No(obstacle::IGNORES_TRIM_OVERWRITE.into()))
                }
                other => other,
            },
            ActionKind::Overwrite => self.whole_drive(),
            ActionKind::NvmeFormat => match self.kind {
                Kind::Simulated => Some(Possibility::No(obstacle::NOT_SIMULATED.into())),
                _ if self.is_nvme() == Some(false) => Some(Possibility::No(obstacle::NOT_NVME.into())),
                _ => self.whole_drive(),
            },
            ActionKind::NvmeSanitize | ActionKind::AtaSecureErase | ActionKind::AtaSanitize => {
                Some(Possibility::No(obstacle::NEVER_DONE.into()))
            }
        };
        let by_state = || Some(Possibility::No(self.feasibility?.objection_to(action)?.reason.clone()));
        match by_itself {
            Some(Possibility::No(reason)) => Possibility::No(reason),
            // Whatever its owner agrees to, what the drive's state forbids is not done.
            other => by_state().or(other).unwrap_or(Possibility::Yes),
        }
    }

    /// What a hint advises, with its command for this target; none where it is not possible here.
    pub(crate) fn action(&self, hint: Hint) -> Option<Action> {
        let action = hint.action().filter(|_| self.allows(hint.needs))?;
        let Some(command) = hint.command else { return Some(action) };
        let command = command.replace("{}", &shell_quote(self.target));
        // Of a folder 1 GiB is what it takes by itself.
        let is_large =
            self.kind == Kind::Simulated && self.used_bytes + self.free_bytes.unwrap_or(0) > 2 * TRIM_SPACE;
        Some(action.command(if hint.needs == Needs::Trim && is_large {
            format!("{command} --space 1GiB")
        } else {
            command
        }))
    }

    fn allows(&self, needs: Needs) -> bool {
        let is_real = self.kind != Kind::Simulated;
        match needs {
            Needs::Nothing => true,
            Needs::Machine => is_real,
            Needs::Root => is_real && self.facts.and_then(|facts| facts.machine.root.get()) != Some(true),
            Needs::Writing => self.writable,
            Needs::Trim => self.trims && self.possibility(ActionKind::Fstrim) == Possibility::Yes,
        }
    }

    /// Whether it is an NVMe drive, where that is known.
    pub(crate) fn is_nvme(&self) -> Option<bool> {
        match self.facts?.drives.as_slice() {
            [drive] => Some(drive.kind == DriveKind::Nvme),
            _ => None,
        }
    }

    /// Whether the drive of a device says that it knows TRIM.
    fn knows_trim(&self) -> Option<bool> {
        match self.facts?.drives.as_slice() {
            [drive] if self.kind == Kind::Device => drive.identity.knows_trim.get(),
            _ => None,
        }
    }

    fn fstrim_command(&self) -> Option<String> {
        match self.kind {
            Kind::Folder => self
                .facts
                .and_then(Facts::trim_blocked_by)
                .map(|layer| obstacle::blocked_by(&layer.name, layer.kind.words())),
            Kind::Simulated if !self.trims => Some(obstacle::IGNORES_TRIM.into()),
            Kind::Simulated if self.free_bytes.is_none() => Some(obstacle::NOTHING_FREE.into()),
            Kind::Simulated => None,
            Kind::Device => Some(obstacle::FREE_UNKNOWN.into()),
            Kind::File => Some(obstacle::FREE_UNKNOWN_OF_FILE.into()),
            Kind::Nop => Some(obstacle::NOTHING_THERE.into()),
        }
    }

    fn discards_unused(&self) -> Option<String> {
        match self.kind {
            Kind::Folder => match &self.feasibility?.unused_bytes {
                Fact::Value { value: 0, .. } => Some(obstacle::ALL_PARTITIONED.into()),
                Fact::Unknown { reason, .. } => Some(reason.clone()),
                Fact::Value { .. } | Fact::NotQueried => None,
            },
            Kind::Simulated => Some(obstacle::NO_PARTITIONS.into()),
            Kind::Device => Some(obstacle::DEVICE_NEEDS_FOLDER.into()),
            Kind::File => Some(obstacle::FILE_HAS_NO_PARTITIONS.into()),
            Kind::Nop => Some(obstacle::NOTHING_THERE.into()),
        }
    }

    fn rewrites(&self) -> Option<String> {
        match self.kind {
            Kind::Folder | Kind::Device => None,
            Kind::Simulated => (self.used_bytes == 0).then(|| obstacle::EMPTY.into()),
            Kind::File => Some(obstacle::FILE_NEEDS_FOLDER.into()),
            Kind::Nop => Some(obstacle::NOTHING_THERE.into()),
        }
    }

    fn overwrites_free(&self) -> Option<String> {
        let reason = match (self.kind, self.free_bytes) {
            (Kind::Simulated, None) => obstacle::NOTHING_FREE,
            (Kind::File, _) if !self.writable => obstacle::FREE_UNKNOWN_OF_FILE,
            (Kind::File, None) => obstacle::FREE_UNKNOWN_OF_FILE,
            _ if !self.writable => obstacle::FREE_UNKNOWN,
            (_, None) => obstacle::FREE_UNKNOWN,
            (_, Some(free)) if free < FREE_LEAST => obstacle::HARDLY_FREE,
            (_, Some(_)) => return None,
        };
        Some(reason.into())
    }

    /// What stands against doing something to all of it.
    fn whole_drive(&self) -> Option<Possibility> {
        let no = |reason: &str| Some(Possibility::No(reason.to_owned()));
        match self.kind {
            Kind::Folder => no(obstacle::FOLDER_IS_NO_DRIVE),
            Kind::File => no(obstacle::FILE_IS_NO_DRIVE),
            Kind::Nop => no(obstacle::NOTHING_THERE),
            Kind::Device if !self.writable => Some(Possibility::WithConsent(obstacle::NEEDS_CONSENT.into())),
            Kind::Device | Kind::Simulated => None,
        }
    }
}
