//! The target that fixes are applied to, and which steps and further measurements are possible there. Check
//! advises and recondition acts by the same answers.

use likenew_core::drive::TargetKind;
use likenew_core::facts::{DriveKind, Fact, Facts};
use likenew_core::findings::Action;
use likenew_core::fix::{ActionKind, Feasibility};
use likenew_core::shell::shell_quote;

/// Overwriting less free space than this, in bytes, gains nothing (assumed).
const FREE_LEAST: u64 = 64 << 20;

/// Address space to which the measurement of TRIM's effect is limited, in bytes: more takes long on a large
/// drive.
const TRIM_SPACE: u64 = 1 << 30;

// Why steps are not possible, where several have the same reason: clauses without a full stop.
const NOTHING_FREE: &str = "nothing on it is free";
const FREE_UNKNOWN: &str =
    "only the file system knows which space is free; give the folder where it is mounted";
const FREE_UNKNOWN_OF_FILE: &str = "a file has no free space of its own; give the folder it lies in";
const NOTHING_THERE: &str = "the null target holds nothing";

/// The target of fixes.
#[derive(Clone, Copy, Debug)]
pub struct Site<'a> {
    /// The owner's name for it.
    pub target: &'a str,
    /// The kind of target.
    pub kind: TargetKind,
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
                // A target that may not be written yet cannot be tested for TRIM, but the drive reports
                // whether it supports TRIM.
                _ if (!self.trims && self.writable) || self.knows_trim() == Some(false) => {
                    Some(Possibility::No("this drive ignores TRIM; overwrite-all works without it".into()))
                }
                other => other,
            },
            ActionKind::Overwrite => self.whole_drive(),
            ActionKind::NvmeFormat => match self.kind {
                TargetKind::Simulated => {
                    Some(Possibility::No("a simulated drive has no such command".into()))
                }
                _ if self.is_nvme() == Some(false) => {
                    Some(Possibility::No("only NVMe drives have this command".into()))
                }
                _ => self.whole_drive(),
            },
            ActionKind::NvmeSanitize | ActionKind::AtaSecureErase | ActionKind::AtaSanitize => {
                Some(Possibility::No("likenew never does this; --dry-run prints the command to type".into()))
            }
        };
        let by_state = || Some(Possibility::No(self.feasibility?.objection_to(action)?.reason.clone()));
        match by_itself {
            Some(Possibility::No(reason)) => Possibility::No(reason),
            // Consent does not override the drive's state.
            other => by_state().or(other).unwrap_or(Possibility::Yes),
        }
    }

    /// What a hint advises, with its command for this target; `None` if it is not possible here.
    pub(crate) fn action(&self, hint: Hint) -> Option<Action> {
        let action = hint.action().filter(|_| self.allows(hint.needs))?;
        let Some(command) = hint.command else { return Some(action) };
        let command = command.replace("{}", &shell_quote(self.target));
        // 1 GiB is the default in a folder.
        let is_large = self.kind == TargetKind::Simulated
            && self.used_bytes + self.free_bytes.unwrap_or(0) > 2 * TRIM_SPACE;
        Some(action.command(if hint.needs == Needs::Trim && is_large {
            format!("{command} --span 1GiB")
        } else {
            command
        }))
    }

    fn allows(&self, needs: Needs) -> bool {
        let is_real = self.kind != TargetKind::Simulated;
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
            [drive] if self.kind == TargetKind::Device => drive.identity.knows_trim.get(),
            _ => None,
        }
    }

    fn fstrim_command(&self) -> Option<String> {
        match self.kind {
            TargetKind::Folder => self.facts.and_then(Facts::trim_blocked_by).map(|layer| {
                format!(
                    "{} ({}) blocks TRIM; likenew trim says what would let it pass",
                    layer.name,
                    layer.kind.words()
                )
            }),
            TargetKind::Simulated if !self.trims => Some("this drive ignores TRIM".into()),
            TargetKind::Simulated if self.free_bytes.is_none() => Some(NOTHING_FREE.into()),
            TargetKind::Simulated => None,
            TargetKind::Device => Some(FREE_UNKNOWN.into()),
            TargetKind::File => Some(FREE_UNKNOWN_OF_FILE.into()),
            TargetKind::Nop => Some(NOTHING_THERE.into()),
        }
    }

    fn discards_unused(&self) -> Option<String> {
        match self.kind {
            TargetKind::Folder => match &self.feasibility?.unused_bytes {
                Fact::Value { value: 0, .. } => Some("partitions cover the whole disk".into()),
                Fact::Unknown { reason, .. } => Some(reason.clone()),
                Fact::Value { .. } | Fact::NotQueried => None,
            },
            TargetKind::Simulated => Some("a simulated drive has no partitions".into()),
            TargetKind::Device => {
                Some("only writes show whether it helps; give a folder on one of its partitions".into())
            }
            TargetKind::File => Some("a file has no partitions; give a folder on the drive".into()),
            TargetKind::Nop => Some(NOTHING_THERE.into()),
        }
    }

    fn rewrites(&self) -> Option<String> {
        match self.kind {
            TargetKind::Folder | TargetKind::Device => None,
            TargetKind::Simulated => (self.used_bytes == 0).then(|| "it holds no data".into()),
            TargetKind::File => {
                Some("a single file is not rewritten; give the folder that it lies in".into())
            }
            TargetKind::Nop => Some(NOTHING_THERE.into()),
        }
    }

    /// Why not all data can be rewritten: what prevents rewriting parts of it, a hard disk, which gains
    /// nothing, or a drive at the end of its life.
    fn rewrites_all(&self) -> Option<String> {
        let [drive] = self.facts.map_or(&[][..], |facts| facts.drives.as_slice()) else {
            return self.rewrites();
        };
        if drive.identity.rotation_rpm.get().is_some_and(|rpm| rpm > 0) {
            return Some("a hard disk writes in place; rewriting all data gains nothing".into());
        }
        let is_worn_out = drive.health.used_percent.get().is_some_and(|used| used >= 100.0);
        let wears = || "the drive has used up its rated endurance; rewriting wears it further".into();
        self.rewrites().or_else(|| is_worn_out.then(wears))
    }

    fn overwrites_free(&self) -> Option<String> {
        let reason = match (self.kind, self.free_bytes) {
            (TargetKind::Simulated, None) => NOTHING_FREE,
            (TargetKind::File, _) if !self.writable => FREE_UNKNOWN_OF_FILE,
            (TargetKind::File, None) => FREE_UNKNOWN_OF_FILE,
            _ if !self.writable => FREE_UNKNOWN,
            (_, None) => FREE_UNKNOWN,
            (_, Some(free)) if free < FREE_LEAST => "hardly anything is free; delete something first",
            (_, Some(_)) => return None,
        };
        Some(reason.into())
    }

    /// What prevents an action on the whole drive.
    fn whole_drive(&self) -> Option<Possibility> {
        let no = |reason: &str| Some(Possibility::No(reason.to_owned()));
        match self.kind {
            TargetKind::Folder => no("this step needs the whole block device, not a folder"),
            TargetKind::File => no("this step needs a block device, not a file"),
            TargetKind::Nop => no(NOTHING_THERE),
            TargetKind::Device if !self.writable => Some(Possibility::WithConsent(
                "this step erases the whole drive, which needs --consent".into(),
            )),
            TargetKind::Device | TargetKind::Simulated => None,
        }
    }
}

/// A way to get missing evidence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Hint {
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
    /// A machine whose facts were not collected yet; a second query would show nothing more.
    Facts,
    /// A machine, and a user who is not root yet.
    Root,
    /// Writes.
    Writing,
    /// Sending it TRIM.
    Trim,
}

impl Hint {
    /// Nothing would show it.
    pub(crate) const NONE: Self = Self { id: "", why: "", command: None, needs: Needs::Nothing };

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
