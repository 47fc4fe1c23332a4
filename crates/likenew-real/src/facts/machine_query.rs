//! Queries to drives and the kernel, apart from files: each of them only reads.

use likenew_core::facts::Fact;

use super::roots::ROOT;
use crate::wording::facts as wording;

/// A query. All of them only read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Question {
    /// NVMe's Identify Controller: 4096 bytes.
    NvmeController,
    /// NVMe's Identify Namespace: 4096 bytes.
    NvmeNamespace,
    /// A log page of NVMe, its number and bytes. Of the pages asked for, reading changes nothing in the drive.
    NvmeLog(u8, u32),
    /// A feature of NVMe: its value in four bytes, then its data.
    NvmeFeature(u8),
    /// ATA's IDENTIFY DEVICE: 512 bytes.
    AtaIdentify,
    /// ATA's SMART READ DATA: 512 bytes.
    AtaSmartData,
    /// ATA's SMART READ THRESHOLDS: 512 bytes.
    AtaSmartThresholds,
    /// A page of a log of ATA (READ LOG EXT): 512 bytes.
    AtaLog(u8, u8),
    /// The output of smartctl, as JSON.
    Smartctl,
    /// The table of a device mapper's device, as `dmsetup table` prints it, which hides keys.
    MapperTable,
    /// The kernel's log, as /dev/kmsg has it.
    KernelLog,
}

/// Arguments of smartctl; the device comes last. It ends with exit status 7 where the disk sleeps.
pub(crate) const SMARTCTL_ARGUMENTS: [&str; 10] =
    ["--json=c", "-i", "-H", "-A", "-l", "error", "-l", "selftest", "-n", "standby,7"];

impl Question {
    /// The text for the origin of a fact.
    pub(crate) fn origin(self) -> String {
        match self {
            Self::NvmeController => "NVMe Identify Controller".to_owned(),
            Self::NvmeNamespace => "NVMe Identify Namespace".to_owned(),
            Self::NvmeLog(2, _) => "NVMe SMART log".to_owned(),
            Self::NvmeLog(page, _) => format!("NVMe log page {page:02X}h"),
            Self::NvmeFeature(feature) => format!("NVMe feature {feature:02X}h"),
            Self::AtaIdentify => "ATA IDENTIFY DEVICE".to_owned(),
            Self::AtaSmartData => "ATA SMART READ DATA".to_owned(),
            Self::AtaSmartThresholds => "ATA SMART READ THRESHOLDS".to_owned(),
            Self::AtaLog(log, page) => format!("ATA log {log:02X}h page {page:02X}h"),
            Self::Smartctl => format!("smartctl {}", SMARTCTL_ARGUMENTS.join(" ")),
            Self::MapperTable => "dmsetup table".to_owned(),
            Self::KernelLog => "/dev/kmsg".to_owned(),
        }
    }
}

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// It needs rights that this user does not have.
    Rights,
    /// Any other reason: a sentence without a full stop.
    Other(String),
}

/// The space of a file system, in bytes (statvfs(3)).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SpaceUsage {
    /// Size of the file system.
    pub(crate) total_bytes: u64,
    /// Free, root's reserve included.
    pub(crate) free_bytes: u64,
    /// Free for an ordinary user.
    pub(crate) available_bytes: u64,
}

/// The source of answers: this machine, or files with the answers of another one.
pub(crate) trait MachineQuery {
    /// The answer of a block device, by its name, or of the kernel, by an empty one.
    ///
    /// # Errors
    /// Why there is none.
    fn query(&self, device: &str, question: Question) -> Result<Vec<u8>, Refusal>;

    /// The space of the file system at a path.
    ///
    /// # Errors
    /// Why it is not known.
    fn space_usage(&self, path: &str) -> Result<SpaceUsage, Refusal>;

    /// Whether this is done as root.
    fn is_root(&self) -> bool;

    /// The date in seconds since 1970.
    fn now_s(&self) -> i64;

    /// Lets some time pass in which other programs may do I/O, and returns how much it was, in seconds.
    fn pause_s(&self) -> f64;
}

/// An answer as a fact.
pub(crate) fn answer(queries: &dyn MachineQuery, device: &str, question: Question) -> Fact<Vec<u8>> {
    fact(queries.query(device, question), question.origin())
}

/// What was answered, or why nothing was, as a fact.
pub(crate) fn fact<T>(answer: Result<T, Refusal>, origin: impl Into<String>) -> Fact<T> {
    match answer {
        Ok(value) => Fact::new(value, origin),
        Err(Refusal::Rights) => Fact::unknown(wording::NEEDS_ROOT, origin).help(ROOT),
        Err(Refusal::Other(reason)) => Fact::unknown(reason, origin),
    }
}
