//! The target of fixes, and which steps are possible there: the same answer for advice and for action.

use likenew_core::answer::Action;
use likenew_core::drive::Kind;
use likenew_core::facts::{DriveKind, Fact, Facts};
use likenew_core::feasibility::{ActionKind, Feasibility};
use likenew_core::shell::shell_quote;

use crate::hint::{Hint, Needs};
use crate::wording::obstacle;

/// Overwriting less free space than this, in bytes, gains nothing (assumed).
const FREE_LEAST: u64 = 64 << 20;

/// Address space to which the measurement of TRIM's effect is limited, in bytes: more takes long on a large
/// drive.
const TRIM_SPACE: u64 = 1 << 30;

/// The target of fixes.
#[derive(Clone, Copy, Debug)]
pub struct Site<'a> {
    /// The owner's name for it.
    pub target: &'a str,
    /// The kind of target.
    pub kind: Kind,
    /// Whether TRIM can be sent to it.
    pub trims: bool,
    /// Whether it may be written.
    pub writable: bool,
    /// Bytes without files of the owner; in a folder, what temporary files may take. Absent if unknown or
    /// zero.
    pub free_bytes: Option<u64>,
    /// Bytes that may hold files of the owner, on a target other than a folder.
    pub used_bytes: u64,
    /// The facts of the system.
    pub facts: Option<&'a Facts>,
    /// What the drive's state prevents, if that was checked.
    pub feasibility: Option<&'a Feasibility>,
}

/// Whether a step is possible.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Possibility {
    /// The step is possible.
    Yes,
    /// Possible with the owner's consent, and how to give it: a clause without a full stop.
    WithConsent(String),
    /// Not possible, and why: a clause without a full stop that says what would help, if anything would.
    No(String),
}

impl Possibility {
    /// What prevents it now.
    pub fn obstacle(self) -> Option<String> {
        match self {
            Self::Yes => None,
            Self::WithConsent(reason) | Self::No(reason) => Some(reason),
        }
    }
}

impl Site<'_> {
    /// Whether a step is possible here: by the kind of target, the free space, every layer on the way of
    /// TRIM, and the state of the drive.
    pub fn possibility(&self, action: ActionKind) -> Possibility {
        let by_itself = match action {
            ActionKind::Fstrim => self.fstrim_command().map(Possibility::No),
            ActionKind::DiscardFree => self.discards_unused().map(Possibility::No),
            ActionKind::Refresh => self.rewrites().map(Possibility::No),
            ActionKind::OverwriteFree => self.overwrites_free().map(Possibility::No),
            ActionKind::Rewrite => self.rewrites_all().map(Possibility::No),
            ActionKind::Discard => match self.whole_drive() {
                Some(Possibility::No(reason)) => Some(Possibility::No(reason)),
                // A target that may not be written yet cannot be tested for TRIM, but it reports whether it
                // supports it.
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
            // Consent does not override the drive's state.
            other => by_state().or(other).unwrap_or(Possibility::Yes),
        }
    }

    /// What a hint advises, with its command for this target; none where it is not possible here.
    pub(crate) fn action(&self, hint: Hint) -> Option<Action> {
        let action = hint.action().filter(|_| self.allows(hint.needs))?;
        let Some(command) = hint.command else { return Some(action) };
        let command = command.replace("{}", &shell_quote(self.target));
        // In a folder 1 GiB is the default.
        let is_large =
            self.kind == Kind::Simulated && self.used_bytes + self.free_bytes.unwrap_or(0) > 2 * TRIM_SPACE;
        Some(action.command(if hint.needs == Needs::Trim && is_large {
            format!("{command} --span 1GiB")
        } else {
            command
        }))
    }

    fn allows(&self, needs: Needs) -> bool {
        let is_real = self.kind != Kind::Simulated;
        match needs {
            Needs::Nothing => true,
            Needs::Machine => is_real,
            Needs::Facts => is_real && self.facts.is_none(),
            Needs::Root => is_real && self.facts.and_then(|facts| facts.machine.root.get()) != Some(true),
            Needs::Writing => self.writable,
            Needs::Trim => self.trims && self.possibility(ActionKind::Fstrim) == Possibility::Yes,
        }
    }

    /// Whether it is an NVMe drive, if known.
    pub(crate) fn is_nvme(&self) -> Option<bool> {
        match self.facts?.drives.as_slice() {
            [drive] => Some(drive.kind == DriveKind::Nvme),
            _ => None,
        }
    }

    /// Whether the drive of a device reports TRIM support.
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

    /// What stands against rewriting everything: what stands against rewriting parts of it, and a drive that gains nothing by it or
    /// that is at its end.
    fn rewrites_all(&self) -> Option<String> {
        let [drive] = self.facts.map_or(&[][..], |facts| facts.drives.as_slice()) else {
            return self.rewrites();
        };
        if drive.identity.rotation_rpm.get().is_some_and(|rpm| rpm > 0) {
            return Some(obstacle::HARD_DISK.into());
        }
        let wear = drive.health.used_percent.get();
        self.rewrites().or_else(|| wear.filter(|used| *used >= 100.0).map(|_| obstacle::WORN_OUT.into()))
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

    /// What prevents an action on the whole drive.
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
