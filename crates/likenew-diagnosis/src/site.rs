//! What a cure is applied to, and which steps are possible there: one answer for whoever advises a step and for whoever takes it.

use likenew_core::drive::Kind;
use likenew_core::facts::{DriveKind, Fact, Facts};
use likenew_core::feasibility::{ActionKind, Feasibility};

/// Less than this is free for no good, in bytes.
const FREE_LEAST: u64 = 64 << 20;

/// What a cure is applied to.
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
    /// Bytes on which no file of the owner lies; of a folder, what our own files may take. Absent where nobody knows, and where it
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
    /// Once its owner has agreed, and how: a sentence without a full stop.
    WithConsent(String),
    /// Not here, and why: a sentence without a full stop that says what would help, where something would.
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
    /// Whether a step is possible here: by what it is, by what is free, by every layer on the way of TRIM, and by the state of the drive.
    pub fn possibility(&self, action: ActionKind) -> Possibility {
        let by_itself = match action {
            ActionKind::Fstrim => self.fstrim_command().map(Possibility::No),
            ActionKind::DiscardFree => self.discards_unused().map(Possibility::No),
            ActionKind::Refresh => self.rewrites().map(Possibility::No),
            ActionKind::OverwriteFree => self.overwrites_free().map(Possibility::No),
            ActionKind::Discard => match self.whole_drive() {
                Some(Possibility::No(reason)) => Some(Possibility::No(reason)),
                // What may not be written yet can not be asked whether TRIM would be sent; whether it knows TRIM it says.
                _ if (!self.trims && self.writable) || self.knows_trim() == Some(false) => {
                    Some(Possibility::No("it takes no TRIM: overwrite-all is the way".into()))
                }
                other => other,
            },
            ActionKind::Overwrite => self.whole_drive(),
            ActionKind::NvmeFormat => match self.kind {
                Kind::Simulated => Some(Possibility::No("a simulated drive has no such command".into())),
                _ if self.is_nvme() == Some(false) => {
                    Some(Possibility::No("only NVMe drives have such a command".into()))
                }
                _ => self.whole_drive(),
            },
            ActionKind::NvmeSanitize | ActionKind::AtaSecureErase | ActionKind::AtaSanitize => {
                Some(Possibility::No("that is never done here, only written down".into()))
            }
        };
        let by_state = || Some(Possibility::No(self.feasibility?.objection_to(action)?.reason.clone()));
        match by_itself {
            Some(Possibility::No(reason)) => Possibility::No(reason),
            // Whatever its owner agrees to, what the drive's state forbids is not done.
            other => by_state().or(other).unwrap_or(Possibility::Yes),
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
            Kind::Folder => self.facts.and_then(Facts::trim_blocked_by).map(|layer| {
                let (name, kind) = (&layer.name, layer.kind.words());
                format!("{name} ({kind}) lets no TRIM pass: likenew trim says what would")
            }),
            Kind::Simulated if !self.trims => Some("no TRIM can be sent to it".into()),
            Kind::Simulated if self.free_bytes.is_none() => Some("none of it is free".into()),
            Kind::Simulated => None,
            Kind::File | Kind::Device | Kind::Nop => Some(FREE_IS_NOT_KNOWN.into()),
        }
    }

    fn discards_unused(&self) -> Option<String> {
        match self.kind {
            Kind::Folder => match &self.feasibility?.unused_bytes {
                Fact::Value { value: 0, .. } => Some("partitions cover all of the disk".into()),
                Fact::Unknown { reason, .. } => Some(reason.clone()),
                Fact::Value { .. } | Fact::NotQueried => None,
            },
            Kind::Simulated => Some("it has no partitions".into()),
            Kind::Device => {
                Some("it is seen in writes whether it helps: give a folder on one of its partitions".into())
            }
            Kind::File => Some("a file has no partitions: give a folder on the drive".into()),
            Kind::Nop => Some("there is nothing".into()),
        }
    }

    fn rewrites(&self) -> Option<String> {
        match self.kind {
            Kind::Folder | Kind::Device => None,
            Kind::Simulated => (self.used_bytes == 0).then(|| "it holds nothing".into()),
            Kind::File => Some("give the folder that it lies in".into()),
            Kind::Nop => Some("there is nothing".into()),
        }
    }

    fn overwrites_free(&self) -> Option<String> {
        if !self.writable {
            return Some(FREE_IS_NOT_KNOWN.into());
        }
        match self.free_bytes {
            None => Some(
                "what is free on it is not known: give the folder where its file system is mounted".into(),
            ),
            Some(free) if free < FREE_LEAST => Some("hardly anything is free: delete something first".into()),
            Some(_) => None,
        }
    }

    /// What stands against doing something to all of it.
    fn whole_drive(&self) -> Option<Possibility> {
        let no = |reason: &str| Some(Possibility::No(reason.to_owned()));
        match self.kind {
            Kind::Folder => no("it takes the whole block device"),
            Kind::File => no("a file is no drive: give the block device"),
            Kind::Nop => no("there is nothing"),
            Kind::Device if !self.writable => Some(Possibility::WithConsent(
                "everything on it would be lost, and nobody has agreed to that: add --consent".into(),
            )),
            Kind::Device | Kind::Simulated => None,
        }
    }
}

const FREE_IS_NOT_KNOWN: &str =
    "which parts of it are free its file system knows: give the folder where that is mounted";
