//! Sentences about TRIM: which layer passes it, and why TRIM or the place of a file cannot be examined.

use std::fmt::Display;

use likenew_core::facts::UNMAP_RULES;

use rustix::io::Errno;

// ## Clauses: why TRIM, or where files are, cannot be examined

likenew_core::sentences! {
    pub(crate) fn kind_unsupported(kind: &str) =
        "files can be located on ext4 and xfs only, and this is {kind}";
    pub(crate) fn length_unknown(errno: Errno) = "the length of the file is not known: {errno}";
    pub(crate) fn kind_reports_none(name: &str) =
        "{name} is a kind of device that does not report TRIM support";
    pub(crate) fn needs_root(name: impl Display) = "reading {name} needs root: run it with sudo";
    pub(crate) fn not_opened(name: impl Display, errno: Errno) = "{name} cannot be opened: {errno}";
    pub(crate) fn invalid_answer(name: &str) = "{name} gave an invalid answer";
    pub(crate) fn no_answer(name: &str, errno: Errno) = "{name} did not answer: {errno}";
    pub(crate) fn no_device_file(major: u32, minor: u32) =
        "there is no device file for {major}:{minor}, as in most containers";
    pub(crate) fn place_unknown(errno: Errno) = "the file system does not report where a file is: {errno}";
    pub(crate) fn too_many_extents(extents: usize) = "a file has {extents} extents, too many to keep";
    pub(crate) fn extent_unusable(why: &str) = "the file's extent map says {why}";
    pub(crate) fn free_blocks_unknown(errno: Errno) =
        "the file system does not report which blocks are free ({errno}), so blocks that may belong to \
         other files by now are not read";
    pub(crate) fn location_unknown(reason: &str) =
        "the file's location is not known, and other free space is left alone ({reason})";
    pub(crate) fn trim_refused(errno: Errno) = "the file system refused to send TRIM: {errno}";
    pub(crate) fn not_synced(errno: Errno) = "the file system could not be written out: {errno}";
}

pub(crate) const XFS_REALTIME: &str =
    "files on an xfs with a realtime device may be on either of two devices";
pub(crate) const DEVICE_BELOW_NOT_LISTED: &str = "the device below the file system is not listed in /sys";
pub(crate) const BTRFS: &str = "this file system has addresses of its own, not those of one device: for \
    btrfs, compare the discard counters of /sys/block/*/stat before and after fstrim, or make an ext4 or \
    xfs on a free partition and test there";
pub(crate) const ZFS: &str =
    "ZFS does not report where a file is: zpool status -t and zpool iostat -r show TRIM as it is sent";
pub(crate) const OVERLAY: &str =
    "this is an overlay, as in containers: give a folder of the file system below it";
pub(crate) const MEMORY: &str = "this is memory, with no flash below it: give a folder on a drive";
pub(crate) const REMOTE: &str = "this folder is on another machine: run likenew trim there";
pub(crate) const FUSE: &str = "this is a FUSE file system, and only its program knows its blocks: give a \
    folder of the file system below it";
pub(crate) const NO_DEVICE_BELOW: &str = "no device is known below this file system";
pub(crate) const DEVICE_ADDRESSES: &str = "a device needs no map: its addresses are its own";
pub(crate) const READ_ONLY: &str = "it is opened read-only: give a folder on it";
pub(crate) const READ_ONLY_FOR_TRIM: &str =
    "it is opened read-only, and TRIM would change its contents: give a folder on it";

pub(crate) const NO_DEVICE_BELOW_IT: &str = "no device is known below it";

pub(crate) const EXTENT_UNWRITTEN: &str =
    "the file's extent map says UNWRITTEN: its data has not reached the device";
pub(crate) const HAS_HOLES: &str = "the file has holes";
pub(crate) const RAW_OFF: &str = "reading from the device was switched off (--no-raw)";
pub(crate) const DATA_ELSEWHERE: &str = "the data written is not at the addresses that the file system \
    reports, so nothing more is read there";
pub(crate) const EXTENTS_NOT_ALIGNED: &str = "the file's extents are not multiples of 4 KiB";

pub(crate) const TRIM_NEEDS_ROOT: &str = "running TRIM on a file system needs root: run it with sudo";
pub(crate) const TRIM_UNSUPPORTED: &str = "the file system reports that TRIM is not supported here";

// ## Clauses: what is wrong with an extent, after its flag

pub(crate) const UNWRITTEN: &str = "UNWRITTEN: it was allocated and never written";
pub(crate) const UNKNOWN: &str = "UNKNOWN: it has no place yet";
pub(crate) const DELAYED_ALLOCATION: &str = "DELALLOC: it has no place yet";
pub(crate) const ENCODED: &str = "ENCODED: it is compressed or encrypted";
pub(crate) const ENCRYPTED: &str = "DATA_ENCRYPTED: it is encrypted";
pub(crate) const NOT_ALIGNED: &str = "NOT_ALIGNED: it lies within a block";
pub(crate) const INLINE: &str = "DATA_INLINE: it is stored in the inode";
pub(crate) const TAIL: &str = "DATA_TAIL: it shares a block with other files";
pub(crate) const SHARED: &str = "SHARED: other files share its blocks";

// ## Evidence: what a layer says of TRIM

pub(crate) const MOUNTED_WITH_DISCARD: &str = "mounted with discard: it sends TRIM when files are deleted";
pub(crate) const MOUNTED_WITHOUT_DISCARD: &str =
    "mounted without discard: it sends TRIM only when fstrim runs";
pub(crate) const ZFS_AUTOTRIM: &str = "ZFS sends TRIM by rules of its own (zpool get autotrim)";
pub(crate) const SENDING_UNKNOWN: &str = "it is not known whether it sends TRIM";
pub(crate) const NOT_IN_SYS: &str = "/sys does not report it";

likenew_core::sentences! {
    pub(crate) fn as_the_disk(disk: &str) = "takes what {disk} takes";
    pub(crate) fn blocks_of_file(file: &str, device: &str) = "the blocks of {file}, the file below {device}";
    pub(crate) fn namespace_utilization(device: &str) = "the namespace utilization (NUSE) of {device}";
    pub(crate) fn scsi_claims(unmaps: bool, reads_as: u8) =
        "SCSI page B2h: LBPU {}, LBPRZ {reads_as}", u8::from(unmaps);
    pub(crate) fn ata_claims(trims: bool, reads_same: bool, reads_zeros: bool) =
        "ATA IDENTIFY DEVICE: TRIM {}, DRAT {}, RZAT {}",
        u8::from(trims), u8::from(reads_same), u8::from(reads_zeros);
    pub(crate) fn nvme_claims(trims: bool, deallocated: u8) =
        "NVMe Identify: Dataset Management {}, DLFEAT {deallocated:#04x}", u8::from(trims);
}

// ## Clauses: what would let TRIM pass a layer

likenew_core::sentences! {
    pub(crate) fn allow_through_encryption(mapping: &str) =
        "allow it, for LUKS2 with cryptsetup --allow-discards --persistent refresh {mapping}; the encrypted \
         drive then shows which of its blocks are free";
    /// For a disk that supports UNMAP and does not announce it.
    pub(crate) fn unmap_by_rule(rule: &str) =
        "it supports UNMAP, which the kernel does not send unasked: add this line to {UNMAP_RULES}: {rule}";
}

pub(crate) const PARITY_ARRAY: &str = "arrays with parity pass TRIM on only if all members are known to \
    read zeros after it, since a rebuild would lose data otherwise (raid456.devices_handle_discard_safely \
    of the kernel)";
pub(crate) const LOOP_FILE: &str =
    "keep its file on a file system that can punch holes, such as ext4, xfs, btrfs or tmpfs";
pub(crate) const USB_BRIDGE: &str = "its bridge does not support TRIM: connect the drive directly";

pub(crate) const VIRTUAL_DISK: &str = "have the host pass discards for this disk (discard=unmap)";
pub(crate) const CHECK_LAYERS: &str = "check what it is built on and how it was set up";
