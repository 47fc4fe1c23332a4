//! What could be done to a drive to restore it, and what prevents it there: known before anything is done.

use serde::{Deserialize, Serialize};

use crate::facts::Fact;

/// Something that is done to a drive, or advised.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ActionKind {
    /// TRIM of free space in mounted file systems.
    Fstrim,
    /// TRIM of space outside of partitions.
    DiscardFree,
    /// Rewriting data in place.
    Refresh,
    /// Overwriting free space of a file system.
    OverwriteFree,
    /// Rewriting all data in place.
    Rewrite,
    /// TRIM of a whole device or partition.
    Discard,
    /// Overwriting everything.
    Overwrite,
    /// Format NVM with an erase.
    NvmeFormat,
    /// NVMe's Sanitize.
    NvmeSanitize,
    /// SECURITY ERASE UNIT.
    AtaSecureErase,
    /// ATA's Sanitize.
    AtaSanitize,
}

impl ActionKind {
    /// All of them, the gentlest first.
    pub const ALL: [Self; 11] = [
        Self::Fstrim,
        Self::DiscardFree,
        Self::Refresh,
        Self::OverwriteFree,
        Self::Rewrite,
        Self::Discard,
        Self::Overwrite,
        Self::NvmeFormat,
        Self::NvmeSanitize,
        Self::AtaSecureErase,
        Self::AtaSanitize,
    ];

    /// Whether the drive itself erases: such a command cannot be stopped, and a failure in it may cost the drive.
    pub fn is_drive_command(self) -> bool {
        matches!(self, Self::NvmeFormat | Self::NvmeSanitize | Self::AtaSecureErase | Self::AtaSanitize)
    }

    /// Whether everything on the device is lost by it.
    pub fn destroys(self) -> bool {
        self.is_drive_command() || matches!(self, Self::Discard | Self::Overwrite)
    }
}

/// What is known beforehand.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Feasibility {
    /// What prevents an action, or has to be known first.
    pub objections: Vec<Objection>,
    /// What the drive could do by itself but Likenew never asks for, with the commands to type.
    pub manual_steps: Vec<ManualStep>,
    /// Bytes of the disk below a folder that no partition covers and that could be discarded; not queried for
    /// other targets.
    pub unused_bytes: Fact<u64>,
}

impl Feasibility {
    /// What prevents an action, if anything does.
    pub fn objection_to(&self, action: ActionKind) -> Option<&Objection> {
        self.objections_to(action).find(|objection| objection.forbids)
    }

    /// What has to be known before an action.
    pub fn warnings(&self, action: ActionKind) -> impl Iterator<Item = &Objection> {
        self.objections_to(action).filter(|objection| !objection.forbids)
    }

    fn objections_to(&self, action: ActionKind) -> impl Iterator<Item = &Objection> {
        self.objections.iter().filter(move |objection| objection.action == action)
    }
}

/// A reason against an action on a drive.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Objection {
    /// The action.
    pub action: ActionKind,
    /// Whether the action must not be done; otherwise it is only a warning.
    pub forbids: bool,
    /// Why, and what to do: a sentence without a full stop.
    pub reason: String,
}

/// A step that is only described.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ManualStep {
    /// The action.
    pub action: ActionKind,
    /// What to know and which commands to type, line by line. Commands begin with four spaces.
    pub lines: Vec<String>,
}
