//! The layers from a folder to its medium, including the file system, and who sends TRIM for it.

use serde::{Deserialize, Serialize};
use serde_with::apply;

use super::Fact;
use crate::shell::shell_quote;

/// A mounted file system.
#[apply(Fact => #[serde(skip_serializing_if = "Fact::is_not_queried")])]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct FileSystem {
    /// Where it is mounted.
    pub point: String,
    /// `ext4`, `btrfs` …
    pub kind: Fact<String>,
    /// The device or share that it was mounted from.
    pub source: Fact<String>,
    /// Options of the mount and of the file system.
    pub options: Fact<Vec<String>>,
    /// Its size.
    pub total_bytes: Fact<u64>,
    /// Bytes in use.
    pub used_bytes: Fact<u64>,
    /// Bytes not in use.
    pub free_bytes: Fact<u64>,
    /// Free bytes that are reserved for root.
    pub reserved_bytes: Fact<u64>,
    /// How full it is, in percent of what an ordinary user could fill.
    pub used_percent: Fact<f64>,
    /// Whether it compresses data, so that a drive receives fewer bytes than programs write.
    pub compresses: Fact<bool>,
    /// Who sends TRIM to the drive.
    pub trimming: Trimming,
}

impl FileSystem {
    /// Whether an option is set, with or without a value; unknown where the options are unknown.
    pub fn has_option(&self, name: &str) -> Option<bool> {
        let is_it = |option: &String| {
            option.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('='))
        };
        Some(self.options.value()?.iter().any(is_it))
    }
}

/// How TRIM is sent for a file system: by the mount itself, or by the timer that runs fstrim.
#[apply(Fact => #[serde(skip_serializing_if = "Fact::is_not_queried")])]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Trimming {
    /// Whether it is mounted with `discard`, which sends TRIM as soon as something is deleted.
    pub immediate: Fact<bool>,
    /// Whether a timer for fstrim exists.
    pub timer_present: Fact<bool>,
    /// Whether that timer starts with the system.
    pub timer_enabled: Fact<bool>,
    /// How long ago it last ran.
    pub timer_last_run_age_s: Fact<u64>,
    /// Whether the timer trims this file system when it runs.
    pub timer_covers: Fact<bool>,
    /// Why the timer does or does not trim it: a sentence without a full stop.
    pub timer_coverage_reason: Fact<String>,
}

impl Trimming {
    /// Whether anything sends TRIM for this file system regularly, as far as known.
    pub fn is_sent(&self) -> Option<bool> {
        match (self.immediate.get(), self.timer_enabled.get(), self.timer_covers.get()) {
            (Some(true), ..) | (_, Some(true), Some(true)) => Some(true),
            (Some(false), Some(false), _) | (Some(false), _, Some(false)) => Some(false),
            _ => None,
        }
    }
}

/// The kind of a layer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LayerKind {
    /// A mounted file system.
    FileSystem,
    /// A part of a disk.
    Partition,
    /// Encryption by dm-crypt.
    Crypt,
    /// A plain logical volume of LVM.
    LogicalVolume,
    /// A volume of a thin pool.
    Thin,
    /// A thin pool, or one of its parts.
    ThinPool,
    /// A cache in front of a slower drive (dm-cache, dm-writecache, bcache).
    Cache,
    /// Several paths to one drive (dm-multipath).
    Multipath,
    /// Any other mapping of the device mapper.
    Mapping,
    /// A software array of Linux (md).
    Array,
    /// A file used as a device.
    Loop,
    /// A drive that answers.
    Disk,
    /// A disk behind a USB bridge.
    UsbDisk,
    /// A disk presented by a hypervisor.
    VirtualDisk,
    /// Memory used as a device.
    Memory,
    /// A device served by another machine (nbd, rbd, iSCSI, DRBD).
    Network,
    /// Unknown to this version.
    #[default]
    #[serde(other)]
    Other,
}

impl LayerKind {
    /// Whether it passes every I/O on to one place. Arrays, caches and loop devices change the I/O.
    pub fn passes_commands(self) -> bool {
        matches!(
            self,
            Self::FileSystem
                | Self::Partition
                | Self::Crypt
                | Self::LogicalVolume
                | Self::Disk
                | Self::UsbDisk
        )
    }

    /// The kind in words, as reports print it.
    pub fn words(self) -> &'static str {
        match self {
            Self::FileSystem => "file system",
            Self::Partition => "partition",
            Self::Crypt => "encryption (dm-crypt)",
            Self::LogicalVolume => "logical volume (LVM)",
            Self::Thin => "thin volume (LVM)",
            Self::ThinPool => "thin pool (LVM)",
            Self::Cache => "cache",
            Self::Multipath => "multipath",
            Self::Mapping => "mapping (dm)",
            Self::Array => "array",
            Self::Loop => "loop device",
            Self::Disk => "disk",
            Self::UsbDisk => "disk behind USB",
            Self::VirtualDisk => "virtual disk",
            Self::Memory => "memory",
            Self::Network => "network disk",
            Self::Other => "layer",
        }
    }

    /// Whether it is a drive rather than a layer above one.
    pub fn is_bottom(self) -> bool {
        matches!(self, Self::Disk | Self::UsbDisk | Self::VirtualDisk | Self::Memory | Self::Network)
    }
}

/// A layer as the kernel reports it.
#[apply(Fact => #[serde(skip_serializing_if = "Fact::is_not_queried")])]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Layer {
    /// The kernel's name: `nvme0n1p2`, `dm-0`; for a file system, its mount point.
    pub name: String,
    /// Its kind.
    pub kind: LayerKind,
    /// Names of the layers directly below it.
    pub on: Vec<String>,
    /// The owner's name for it: the name of a mapping, the file of a loop device.
    pub label: Fact<String>,
    /// Its size.
    pub capacity_bytes: Fact<u64>,
    /// Bytes of a loop device's file that lie in holes, which are read without the drive.
    pub hole_bytes: Fact<u64>,
    /// Where a partition starts on its disk, or a loop device in its file if it holds only a part of the file.
    pub start_bytes: Fact<u64>,
    /// Distance of its start from the drive's nearest physical block boundary; 0 is aligned.
    pub alignment_offset_bytes: Fact<i64>,
    /// Its smallest addressable unit.
    pub logical_block_bytes: Fact<u64>,
    /// The unit that it can write without reading first, as it reports it.
    pub physical_block_bytes: Fact<u64>,
    /// Its preferred I/O size; for an array, a stripe.
    pub optimal_io_bytes: Fact<u64>,
    /// Whether it reports that it accepts TRIM and passes it on.
    pub takes_trim: Fact<bool>,
    /// Most bytes that one TRIM may cover; 0 if it accepts none.
    pub discard_bytes_max: Fact<u64>,
    /// The granularity of TRIM.
    pub discard_granularity_bytes: Fact<u64>,
    /// Distance of its start from the first multiple of that granularity.
    pub discard_alignment_bytes: Fact<u64>,
    /// How the kernel provisions a SCSI disk: `unmap` if it sends TRIM, `full` if it sends none.
    pub provisioning_mode: Fact<String>,
    /// The udev rule that makes the kernel send TRIM to a disk that supports it (LBPU) but does not announce
    /// it, as behind many USB bridges. Not known for other disks.
    pub unmap_rule: Fact<String>,
    /// The I/O scheduler in use.
    pub scheduler: Fact<String>,
    /// Most requests that may wait in its queue.
    pub queue_requests_max: Fact<u64>,
    /// The longest request that is sent down, in bytes.
    pub request_bytes_max: Fact<u64>,
    /// Read-ahead of files.
    pub read_ahead_bytes: Fact<u64>,
    /// The kernel's setting for its write cache: `write back` or `write through`.
    pub write_cache: Fact<String>,
    /// Whether it reports that it rotates. A virtual disk reports what its host chose.
    pub rotates: Fact<bool>,
    /// Options that decide speed; for a device mapping, those of its table, without any key.
    pub options: Fact<Vec<String>>,
    /// The level of an array: `raid5`.
    pub level: Fact<String>,
    /// Bytes of an array on one member before the next member follows.
    pub chunk_bytes: Fact<u64>,
    /// Missing members of an array.
    pub members_missing: Fact<u64>,
    /// Read, write and checksum errors that a pool has counted at its members.
    pub member_errors: Fact<u64>,
    /// What an array is busy with: `idle`, `resync`, `check` …
    pub busy_with: Fact<String>,
}

/// The file for udev rules that let the kernel send TRIM.
pub const UNMAP_RULES: &str = "/etc/udev/rules.d/60-unmap.rules";

impl Layer {
    /// Root commands that let the kernel send TRIM to a disk that supports it, now and after each start, and
    /// those that undo this.
    pub fn unmap_commands(&self) -> Option<(String, String)> {
        let (rule, name) = (shell_quote(self.unmap_rule.value()?), shell_quote(&self.name));
        Some((
            format!(
                "echo {rule} | tee -a {UNMAP_RULES} && udevadm trigger --action=change /sys/block/{name}/device/scsi_disk/*"
            ),
            format!(
                "rm {UNMAP_RULES} && echo full | tee /sys/block/{name}/device/scsi_disk/*/provisioning_mode"
            ),
        ))
    }

    /// Bytes from the last multiple of `unit` to a partition's start, if known.
    pub fn misaligned_by(&self, unit: u64) -> Option<u64> {
        self.start_bytes.get().filter(|_| unit > 0).map(|start| start % unit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trim_is_sent_by_the_mount_or_by_a_timer_that_covers_it() {
        let is_sent = |immediate, enabled, covers| {
            let fact = |value: Option<bool>| Fact::from_option(value, "nobody says", "test");
            let (immediate, timer_enabled, timer_covers) = (fact(immediate), fact(enabled), fact(covers));
            Trimming { immediate, timer_enabled, timer_covers, ..Trimming::default() }.is_sent()
        };
        let (yes, no) = (Some(true), Some(false));
        assert_eq!(is_sent(yes, no, no), yes);
        assert_eq!(is_sent(no, yes, yes), yes);
        assert_eq!(is_sent(no, yes, no), no);
        assert_eq!(is_sent(no, no, yes), no);
        assert_eq!(is_sent(no, yes, None), None);
        assert_eq!(is_sent(None, no, no), None);
    }

    #[test]
    fn an_option_is_known_by_its_whole_name() {
        let options = ["rw", "discard=async", "nodiscard2"].map(str::to_owned).to_vec();
        let system = FileSystem { options: Fact::new(options, "mountinfo"), ..FileSystem::default() };
        assert_eq!((system.has_option("discard"), system.has_option("nodiscard")), (Some(true), Some(false)));
        assert_eq!(FileSystem::default().has_option("rw"), None);
    }
}
