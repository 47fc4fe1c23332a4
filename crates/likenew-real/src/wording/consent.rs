//! Why something is not overwritten or discarded, and what to do about it.

use std::fmt::Display;
use std::io;

use likenew_core::system_error;
use likenew_core::units::amount;
use rustix::io::Errno;

// ## Clauses: why a file, disk or device is not changed, and what to do (`not_changed` puts the path before them)

pub(crate) const NOTHING_BEHIND: &str = "no drive with this name is listed in /sys, or no medium is \
    inserted; insert it, or choose another drive (likenew drives lists them)";

pub(crate) fn not_changed(path: impl Display, reason: &str) -> String {
    format!("{path} was not changed: {reason}")
}

pub(crate) fn not_its_id(typed: &str, kind: &str, id: &str) -> String {
    match typed {
        "" => format!("nothing was typed; its {kind} is \"{id}\""),
        typed => format!("\"{typed}\" does not match; its {kind} is \"{id}\""),
    }
}

pub(crate) fn kind_unknown(reason: &io::Error) -> String {
    let reason = system_error::reason(reason);
    format!("its kind cannot be determined ({reason}); mount /proc first, or give a folder")
}

pub(crate) fn kernel_file(kind: &str) -> String {
    format!("it is part of the running kernel ({kind}); give a file on a drive")
}

pub(crate) fn system_file(folder: &str) -> String {
    format!("it is in {folder}, which the system needs; copy it elsewhere, and give the copy")
}

pub(crate) fn scratch_file(directory: &str) -> String {
    format!(
        "it belongs to a run of likenew, in a folder {directory}; let that run end, or give the folder \
         around it to have leftovers removed"
    )
}

pub(crate) const HARD_LINKS: &str =
    "it has other names (hard links), whose contents would be lost too; copy it, and give the copy";
pub(crate) const IMMUTABLE: &str =
    "it is marked as immutable or append-only; remove that first (chattr -i -a)";
pub(crate) const EMPTY: &str = "it is empty; give a file as long as the test, or a folder";

pub(crate) fn wrong_kind(kind: &str) -> String {
    format!("it is {kind}; give a block device, a file or a folder")
}

pub(crate) const CHANGED_DURING_CHECK: &str = "it changed during the check; start again";
pub(crate) const WRITE_PROTECTED: &str =
    "it is write-protected; look for a switch on it, or use blockdev --setrw";

pub(crate) fn partition_place_unknown(partition: &str) -> String {
    format!("the position of {partition} on it is unknown; start again")
}

pub(crate) const FOLDER: &str = "a folder";
pub(crate) const PIPE: &str = "a pipe (FIFO)";
pub(crate) const SOCKET: &str = "a socket";
pub(crate) const CHARACTER_DEVICE: &str = "a character device, not a drive";
pub(crate) const NEITHER_DEVICE_NOR_FILE: &str = "neither a block device nor a file";

pub(crate) fn contents_unknown(errno: Errno) -> String {
    format!(
        "its start and end cannot be read ({errno}), so its contents are unknown; see likenew facts first"
    )
}

pub(crate) const NOT_A_DEVICE_TO_REWRITE: &str = "it is not a block device; give one, or a folder on it";
pub(crate) const CHANGED_SINCE_CHECK: &str = "it has changed since the check; start again";

pub(crate) fn unnamed_contents(unnamed: &[&str], all: &[String]) -> String {
    format!("it carries {}; to destroy that, add --destroy {}", unnamed.join(" and "), all.join(","))
}

/// The name of what begins on a device and is of no known kind.
pub(crate) const UNKNOWN_CONTENTS: &str = "unknown";

pub(crate) const HOLDER_UNKNOWN: &str = "another program holds it exclusively; close that program first \
    (fuser -v shows programs, zpool status pools of ZFS)";
pub(crate) const HELD: &str = "another program holds it exclusively; close that program first";
pub(crate) const RUNNING_PROGRAM: &str = "it is a running program; stop it first";
pub(crate) const BECAME_A_LINK: &str = "it has become a symbolic link since the check; start again";
pub(crate) const LOCKED: &str = "another program holds a lock on it; close that program first";

pub(crate) fn open_in(program: impl Display) -> String {
    format!("{program} has it open; close that program first")
}

pub(crate) const OPEN_IN_UNKNOWN: &str =
    "another program has it open; close that program first (fuser -v shows it)";
pub(crate) const NOT_A_DEVICE: &str = "it is not a block device; give a folder to measure writes";
pub(crate) const MAY_HOLD_DATA: &str = "it may hold data of yours; give a folder on it to measure writes";
pub(crate) const NOT_IN_SYS: &str = "/sys does not list it, so nothing can be checked";
pub(crate) const HAS_PARTITIONS: &str =
    "it has partitions or is one; detach it and attach a file without partitions";
pub(crate) const DEVICE_REPLACED: &str = "it was replaced by another device during the check; start again";
pub(crate) const NO_FILE_ATTACHED: &str = "no file is attached to it (losetup)";

pub(crate) fn not_own_file(directory: &str) -> String {
    format!(
        "its backing file was not made by this process in its own {directory}; give a folder to measure \
         writes"
    )
}

pub(crate) const DRIVE_NOT_REPORTED: &str = "the system does not report its drive";
pub(crate) const LOOP_BACKING_UNKNOWN: &str = "it is on a loop device whose backing file is not known";
pub(crate) const NO_PARTITIONED_DISK: &str = "there is no disk with partitions below it";

pub(crate) fn several_disks(disks: &[String]) -> String {
    format!("it is on several disks ({}); give one of them", disks.join(", "))
}

pub(crate) const NOT_A_DISK: &str = "it is not a disk; give one with partitions, such as /dev/sda";
pub(crate) const IS_A_PARTITION: &str = "it is a partition; give the whole disk";
pub(crate) const NO_TABLE: &str =
    "it has no partition table; to discard all of it, give consent to the whole disk";

pub(crate) fn uses_unpartitioned_space(contents: &str) -> String {
    format!(
        "it carries {contents}, which may use space outside of partitions; discard all of it with consent, \
         or nothing"
    )
}

pub(crate) const TABLE_DIFFERS: &str = "its table and the kernel list different partitions; make the kernel \
    read it again (partprobe), or restart";
pub(crate) const NO_PARTITIONS: &str =
    "it has no partitions; to discard all of it, give consent to the whole disk";
pub(crate) const LOCKED_BY_PARTITIONING: &str =
    "another program holds a lock on it, as partitioning tools do; close that program first";
pub(crate) const PARTITIONS_CHANGED: &str = "its partitions have changed since the check; start again";

pub(crate) fn table_unreadable(reason: &str) -> String {
    format!("its partition table cannot be read ({reason}); check it first (gdisk -l)")
}

pub(crate) fn first_sector_unreadable(errno: Errno) -> String {
    format!("its first sector cannot be read ({errno}); see likenew facts")
}

pub(crate) const EXTENDED_PARTITION: &str = "it has an extended partition, with tables between its parts; \
    trim the file systems on it instead (fstrim)";

// ## Clauses: what is wrong with a partition table (`table_unreadable` puts them in parentheses)

pub(crate) fn entry_size(found: u32, usual: u32) -> String {
    format!("its entries have {found} bytes instead of {usual}")
}

pub(crate) fn too_many_entries(found: u32, most: u32) -> String {
    format!("it has room for {found} entries; at most {most} are supported")
}

pub(crate) const COPIES_DISAGREE: &str = "its two copies disagree about their location";
pub(crate) const ENTRIES_OFF_DISK: &str = "its entries are not on the disk";
pub(crate) const RANGE_OFF_DISK: &str = "its usable range is not on the disk";

pub(crate) fn unusual_blocks(bytes: u64) -> String {
    format!("blocks of {bytes} bytes are not supported")
}

pub(crate) const DISK_TOO_SMALL: &str = "the disk is too small";
pub(crate) const COPY_DAMAGED: &str = "one of its two copies is damaged";

pub(crate) fn partition_off_range(number: u32) -> String {
    format!("partition {number} is outside of the usable range")
}

/// A whole paragraph: what would be lost. `id` is the kind and the text of what the target is known by.
pub(crate) fn overwrites(
    path: impl Display,
    model: Option<&str>,
    bytes: u64,
    id: (&str, &str),
    contents: &[String],
) -> String {
    let model = model.map_or(String::new(), |model| format!("{model}, "));
    let (size, (kind, id)) = (amount(bytes), id);
    let contents = match contents {
        [] => "it carries no known file system or partition table".to_owned(),
        known => format!("it carries {}", known.join(" and ")),
    };
    format!("This overwrites {path} ({model}{size}, {kind} {id}): {contents}; everything on it will be lost.")
}
