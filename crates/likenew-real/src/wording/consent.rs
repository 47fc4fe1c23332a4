//! Sentences about consent: why something is not overwritten or discarded, who else uses it, and the drive lock.

use likenew_core::target_error::system_reason;
use std::fmt::Display;
use std::io;
use std::path::Path;

use likenew_core::units::amount;
use rustix::io::Errno;

// Why something is not overwritten or discarded, and what to do about it.

// ## Clauses: why a file, disk or device is not changed, and what to do (`not_changed` puts the path before them)

pub(crate) const NOTHING_BEHIND: &str = "no drive with this name is listed in /sys, or no medium is \
    inserted; insert it, or choose another drive (likenew drives lists them)";

likenew_core::sentences! {
    pub(crate) fn not_changed(path: impl Display, reason: &str) = "{path} was not changed: {reason}";
    pub(crate) fn kind_unknown(reason: &io::Error) =
        "its kind cannot be determined ({}); mount /proc first, or give a folder", system_reason(reason);
    pub(crate) fn kernel_file(kind: &str) =
        "it is part of the running kernel ({kind}); give a file on a drive";
    pub(crate) fn system_file(folder: &str) =
        "it is in {folder}, which the system needs; copy it elsewhere, and give the copy";
    pub(crate) fn scratch_file(directory: &str) =
        "it belongs to a run of likenew, in a folder {directory}; let that run end, or give the folder \
         around it to have leftovers removed";
    pub(crate) fn wrong_kind(kind: &str) = "it is {kind}; give a block device, a file or a folder";
    pub(crate) fn partition_place_unknown(partition: &str) =
        "the position of {partition} on it is unknown; start again";
    pub(crate) fn contents_unknown(errno: Errno) =
        "its start and end cannot be read ({errno}), so its contents are unknown; see likenew facts first";
    pub(crate) fn unnamed_contents(unnamed: &[&str], all: &[String]) =
        "it carries {}; to destroy that, add --destroy {}", unnamed.join(" and "), all.join(",");
    pub(crate) fn open_in(program: impl Display) = "{program} has it open; close that program first";
    pub(crate) fn several_disks(disks: &[String]) =
        "it is on several disks ({}); give one of them", disks.join(", ");
    pub(crate) fn uses_unpartitioned_space(contents: &str) =
        "it carries {contents}, which may use space outside of partitions; discard all of it with consent, \
         or nothing";
    pub(crate) fn table_unreadable(reason: &str) =
        "its partition table cannot be read ({reason}); check it first (gdisk -l)";
    pub(crate) fn first_sector_unreadable(errno: Errno) =
        "its first sector cannot be read ({errno}); see likenew facts";
}

pub(crate) fn not_its_id(typed: &str, kind: &str, id: &str) -> String {
    match typed {
        "" => format!("nothing was typed; its {kind} is \"{id}\""),
        typed => format!("\"{typed}\" does not match; its {kind} is \"{id}\""),
    }
}

pub(crate) const HARD_LINKS: &str =
    "it has other names (hard links), whose contents would be lost too; copy it, and give the copy";
pub(crate) const IMMUTABLE: &str =
    "it is marked as immutable or append-only; remove that first (chattr -i -a)";
pub(crate) const EMPTY: &str = "it is empty; give a file as long as the test, or a folder";

pub(crate) const CHANGED_DURING_CHECK: &str = "it changed during the check; start again";
pub(crate) const WRITE_PROTECTED: &str =
    "it is write-protected; look for a switch on it, or use blockdev --setrw";

pub(crate) const FOLDER: &str = "a folder";
pub(crate) const PIPE: &str = "a pipe (FIFO)";
pub(crate) const SOCKET: &str = "a socket";
pub(crate) const CHARACTER_DEVICE: &str = "a character device, not a drive";
pub(crate) const NEITHER_DEVICE_NOR_FILE: &str = "neither a block device nor a file";

pub(crate) const NOT_A_DEVICE_TO_REWRITE: &str = "it is not a block device; give one, or a folder on it";
pub(crate) const CHANGED_SINCE_CHECK: &str = "it has changed since the check; start again";

/// The name of what begins on a device and is of no known kind.
pub(crate) const UNKNOWN_CONTENTS: &str = "unknown";

pub(crate) const HOLDER_UNKNOWN: &str = "another program holds it exclusively; close that program first \
    (fuser -v shows programs, zpool status pools of ZFS)";
pub(crate) const HELD: &str = "another program holds it exclusively; close that program first";
pub(crate) const RUNNING_PROGRAM: &str = "it is a running program; stop it first";
pub(crate) const BECAME_A_LINK: &str = "it has become a symbolic link since the check; start again";
pub(crate) const LOCKED: &str = "another program holds a lock on it; close that program first";

pub(crate) const OPEN_IN_UNKNOWN: &str =
    "another program has it open; close that program first (fuser -v shows it)";
pub(crate) const DRIVE_NOT_REPORTED: &str = "the system does not report its drive";
pub(crate) const LOOP_BACKING_UNKNOWN: &str = "it is on a loop device whose backing file is not known";
pub(crate) const NO_PARTITIONED_DISK: &str = "there is no disk with partitions below it";

pub(crate) const NOT_A_DISK: &str = "it is not a disk; give one with partitions, such as /dev/sda";
pub(crate) const IS_A_PARTITION: &str = "it is a partition; give the whole disk";
pub(crate) const NO_TABLE: &str =
    "it has no partition table; to discard all of it, give consent to the whole disk";

pub(crate) const TABLE_DIFFERS: &str = "its table and the kernel list different partitions; make the kernel \
    read it again (partprobe), or restart";
pub(crate) const NO_PARTITIONS: &str =
    "it has no partitions; to discard all of it, give consent to the whole disk";
pub(crate) const LOCKED_BY_PARTITIONING: &str =
    "another program holds a lock on it, as partitioning tools do; close that program first";
pub(crate) const PARTITIONS_CHANGED: &str = "its partitions have changed since the check; start again";

pub(crate) const EXTENDED_PARTITION: &str = "it has an extended partition, with tables between its parts; \
    trim the file systems on it instead (fstrim)";

// ## Clauses: what is wrong with a partition table (`table_unreadable` puts them in parentheses)

likenew_core::sentences! {
    pub(crate) fn entry_size(found: u32, usual: u32) = "its entries have {found} bytes instead of {usual}";
    pub(crate) fn too_many_entries(found: u32, most: u32) =
        "it has room for {found} entries; at most {most} are supported";
    pub(crate) fn unusual_blocks(bytes: u64) = "blocks of {bytes} bytes are not supported";
    pub(crate) fn partition_off_range(number: u32) = "partition {number} is outside of the usable range";
}

pub(crate) const COPIES_DISAGREE: &str = "its two copies disagree about their location";
pub(crate) const ENTRIES_OFF_DISK: &str = "its entries are not on the disk";
pub(crate) const RANGE_OFF_DISK: &str = "its usable range is not on the disk";

pub(crate) const DISK_TOO_SMALL: &str = "the disk is too small";
pub(crate) const COPY_DAMAGED: &str = "one of its two copies is damaged";

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

// Who else uses the bytes of a target, and how to end that.

// ## Clauses: who uses these bytes, and what to do

likenew_core::sentences! {
    pub(crate) fn unknown_use(reason: &str) =
        "whether it is in use is unknown: {reason}; mount /proc and /sys first, or run it as root";
    pub(crate) fn held(subject: &str) =
        "another program holds {subject} exclusively; close that program first (fuser -v shows it)";
    pub(crate) fn list_unreadable(list: &str, error: &io::Error) =
        "{list} cannot be read ({})", system_reason(error);
    pub(crate) fn swap(subject: &str) = "{subject} is used as swap; switch it off first (swapoff)";
    pub(crate) fn system_runs_from(object: &str) =
        "the system runs from {object}, so it is never written to. Boot from another drive, or give a folder";
    pub(crate) fn mounted(subject: &str, point: &str) = "{subject} is mounted at {point}; unmount it first";
    pub(crate) fn mounted_elsewhere(subject: &str, point: &str, program: impl Display, process: u32) =
        "{subject} is mounted at {point} for {program}, in another mount namespace; unmount it there first \
         (nsenter -t {process} -m umount {point})";
    pub(crate) fn mounted_out_of_sight(subject: &str, kind: &str) =
        "{subject} carries a {kind} file system that is mounted in another namespace; unmount it there first";
    pub(crate) fn ubi(subject: &str) =
        "{subject} is flash that UBI has attached; detach that first (ubidetach, ubinfo -a shows it)";
    pub(crate) fn carries(subject: &str, holder: &str) =
        "{subject} carries {holder} (LVM, RAID or encryption); stop that first";
    pub(crate) fn carries_loop(name: &str, device: &str) =
        "{name} carries {device}; detach that first (losetup -d /dev/{device})";
    pub(crate) fn loop_attached(device: &str) =
        "the loop device {device} is attached to it; detach that first (losetup -d /dev/{device})";
    pub(crate) fn loop_attached_to_same_bytes(device: &str, name: &str) =
        "the loop device {device} is attached to the same bytes of {name}; detach that first (losetup -d \
         /dev/{device})";
    /// For a loop device that is the target, or shares bytes with it.
    pub(crate) fn loop_backing_unknown(device: &str) =
        "the backing file of {device} cannot be determined; run as root outside the container, or detach \
         the loop device";
    /// For a file below the target; `kind` is that of its file system.
    pub(crate) fn beneath_unknown(kind: &str) =
        "who else uses these bytes cannot be found out, as they lie in a file of another file system \
         ({kind}), which may show them by other names; give the device or file beneath it";
    pub(crate) fn loop_of_other_name(device: &str, kind: &str) =
        "{device} is attached to a file that may be the same bytes by another name ({kind}); detach it \
         first: losetup -d /dev/{device}";
    pub(crate) fn image_unknown(point: &str) =
        "which file is mounted at {point} cannot be found out, and it may be this one; unmount it first: \
         umount {point}";
    pub(crate) fn open_by_other_name(program: impl Display, point: &str, kind: &str) =
        "{program} writes to a file of this size in {point}, which may be the same bytes by another name \
         ({kind}); close that program first";
    pub(crate) fn loop_may_share(device: &str) =
        "the backing file of {device} cannot be determined and may share these bytes; run as root outside \
         the container, or detach the loop device";
    pub(crate) fn bcache(subject: &str, device: &str) =
        "{subject} is used by bcache; remove it there first (/sys/class/block/{device}/bcache)";
    pub(crate) fn dead_loop(device: &str) =
        "the program that served the backing file of {device} has ended; detach it (losetup -d \
         /dev/{device})";
    pub(crate) fn open_for_writing(program: impl Display, subject: &str) =
        "{program} has {subject} open for writing; close that program first";
}

pub(crate) const OTHER_MOUNTINFO: &str = "the mountinfo of another program";

// ## Relative clauses: what a device has to do with the target

likenew_core::sentences! {
    pub(crate) fn backing_of(device: &str) = "the backing file of {device}";
    pub(crate) fn target_lies_on_it(target: &str) = "which {target} lies on";
    pub(crate) fn target_is_built_on_it(target: &str) = "which {target} is built on";
    pub(crate) fn same_drive(device: &str, wwid: &str) =
        "which is the same drive as {device} by another path ({wwid})";
    pub(crate) fn lies_on(name: &str) = "which lies on {name}";
    pub(crate) fn covers_the_same(name: &str) = "which covers the same bytes of {name}";
    pub(crate) fn built_on(subject: &str) = "which is built on {subject}";
    /// For the subject of a sentence; `relation` is one of the clauses above.
    pub(crate) fn related(name: &str, relation: &str) = "{name}, {relation},";
}

// The drive lock, and where the journal of a refresh may be.

// ## The drive lock

likenew_core::sentences! {
    pub(crate) fn unstable_drive(drive: &str) =
        "the drive {drive} disappears and comes back, so it cannot be locked; start again when it stays \
         connected";
    /// The drive that a run waits for, and its holder.
    pub(crate) fn busy_drive(drive: &str, holder: &str) = "the drive {drive} ({holder})";
    pub(crate) fn file_system_drive(major: u32, minor: u32, kind: &str) =
        "of the file system {major}:{minor} ({kind})";
}

pub(crate) fn in_use(paths: &[&Path], drive: &str, holder: &str) -> String {
    let paths: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
    format!(
        "{} cannot be used now: another run of likenew uses the drive {drive} below it ({holder}); wait for \
         that to end (--wait-for-drive waits), or end it",
        paths.join(", ")
    )
}

pub(crate) const INVISIBLE_HOLDER: &str = "a process that is not visible here";

// ## Clauses: why a folder cannot hold the journal for a device (`no_place_for_journal` frames them)

likenew_core::sentences! {
    pub(crate) fn no_place_for_journal(folder: impl Display, device: impl Display, reason: &str) =
        "{folder} cannot hold the journal for {device}: {reason}. Choose a folder on another drive";
    pub(crate) fn in_memory(kind: &str) = "it is in memory ({kind}), which a power cut clears";
    pub(crate) fn drives_unknown(kind: &str) = "it is not known which drives its file system ({kind}) uses";
    pub(crate) fn on_the_device(device: &str) = "it is on {device} itself";
}

pub(crate) const DEVICE_NOT_IN_SYS: &str = "the device is not a block device in /sys";
