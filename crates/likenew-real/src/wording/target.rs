//! What a path is, what it does not support, and what has to be known about its numbers.

use std::fmt::Display;
use std::io;

use likenew_core::io::Op;
use likenew_core::system_error;
use likenew_core::units::amount;
use rustix::io::Errno;

// ## What a path is, and is not

pub(crate) const EMPTY_FILE: &str = "an empty file";

pub(crate) fn not_a_drive(path: impl Display, kind: &str) -> String {
    format!(
        "{path} is {kind}, not a drive: give a folder, a file that is not empty, or a block device such as \
         /dev/sda"
    )
}

pub(crate) fn needs_layout(path: impl Display) -> String {
    format!("the folder {path} needs a layout: how many files, and how long")
}

pub(crate) fn consent_for_folder(path: impl Display) -> String {
    format!("consent applies to a file or block device, and {path} is neither")
}

pub(crate) fn other_consent(path: impl Display) -> String {
    format!("the consent to write was given for another target than {path}")
}

pub(crate) fn not_a_folder(path: impl Display) -> String {
    format!("{path} is not a folder, so it cannot hold temporary files")
}

pub(crate) fn broken_link(path: impl Display, target: impl Display) -> String {
    format!(
        "{path} is a symbolic link to {target}, which does not exist: repair the link, or give another \
         target"
    )
}

pub(crate) fn no_medium(path: impl Display) -> String {
    format!("{path} is empty: no medium is inserted, or nothing is attached to it")
}

pub(crate) fn file_too_short(path: impl Display, bytes: u64, block: u32) -> String {
    format!("{path} has {bytes} bytes, less than one block of {block}: give a longer file, or a folder")
}

pub(crate) fn not_a_folder_of_files(path: impl Display) -> String {
    format!("{path} is not a folder: give the folder that holds your files")
}

pub(crate) fn virtual_file_system(path: impl Display) -> String {
    format!("{path} is a virtual file system without files: give the folder that holds yours")
}

// ## What a target does not support

pub(crate) fn read_only(op: Op, offset: u64) -> String {
    format!(
        "a {op} at byte {offset} was refused: this target is open for reading only; to measure writes, give \
         a folder on it, where Likenew uses temporary files"
    )
}

pub(crate) const CACHE_LEFT_ALONE: &str = "the page cache of a file or device that Likenew did not make is \
    left alone: leave out cold, or give a folder";
pub(crate) const CACHE_KEEPS_FILES: &str = "the page cache of your own files is left alone: leave out cold";
pub(crate) const OLD_FILE_REPLACED: &str = "an old file was replaced meanwhile";
pub(crate) const OLD_FILES_ONLY_IN_FOLDERS: &str = "old files are searched for in folders only";
pub(crate) const NO_PROBES: &str = "this kind of drive cannot be queried";

pub(crate) fn no_old_files(least_bytes: u64, days: u64) -> String {
    format!("no file of {} or more has been here for {days} days", amount(least_bytes))
}

pub(crate) fn old_file_not_opened(errno: Errno) -> String {
    format!("an old file cannot be opened: {errno}")
}

pub(crate) fn not_searched(folder: impl Display, errno: Errno) -> String {
    format!("{folder} cannot be searched: {errno}")
}

// ## The I/O engine

pub(crate) fn no_io_uring(error: &io::Error, reason: &str) -> String {
    let error = system_error::reason(error);
    format!("io_uring is not available ({error}): {reason}; use --engine posix")
}

pub(crate) fn threads_instead(error: &io::Error, reason: &str) -> String {
    let error = system_error::reason(error);
    format!(
        "io_uring is not available ({error}): {reason}. Threads issued the I/O with blocking calls instead, \
         which cost more per I/O and lower the IOPS of a fast drive"
    )
}

pub(crate) fn too_many_threads(lanes: u32, depth: u32, most: u32) -> String {
    format!(
        "{lanes} × {depth} I/Os in flight need as many threads without io_uring, and more than {most} are \
         not supported: use less depth"
    )
}

// Clauses: why there is no io_uring.

pub(crate) const NO_SYSTEM_CALL: &str = "the kernel or the container does not have this system call";
pub(crate) const IO_URING_FORBIDDEN: &str = "kernel.io_uring_disabled or the container forbids it";
pub(crate) const LOCKED_MEMORY: &str = "the limit of locked memory (ulimit -l) is too low";
pub(crate) const TOO_MANY_FILES: &str = "too many files are open";
pub(crate) const OLD_KERNEL: &str = "io_uring needs Linux 5.11 or later";

// ## Caveats of a target

pub(crate) fn mounted_at(path: impl Display, point: &str) -> String {
    format!("{path} is mounted at {point}: others may use it meanwhile")
}

pub(crate) const PAGE_CACHE: &str = "the file system refuses direct I/O, so everything went through the \
    page cache: these numbers may be those of memory";
pub(crate) const HAS_HOLES: &str =
    "this file has holes or is compressed: reads of holes do not reach the drive";
pub(crate) const NO_IO: &str = "nothing was read or written: these are the limits of Likenew itself";
pub(crate) const FILE_SYSTEM_UNKNOWN: &str =
    "the file system is unknown: /proc is missing or does not list it";
pub(crate) const MEMORY: &str = "this is memory, not a drive";
pub(crate) const OVERLAY: &str = "this is an overlay file system, as in containers: it adds work of its \
    own, and the drive below is not known; measure a volume or folder of the host instead";
pub(crate) const COMPRESSES: &str =
    "this file system compresses data, so the drive gets fewer bytes than were measured";
pub(crate) const ZFS: &str =
    "ZFS caches reads and may compress writes: these may not be the drive's own numbers";
pub(crate) const COPY_ON_WRITE: &str =
    "this file system never overwrites in place, so the drive gets other addresses than were requested";
pub(crate) const IN_PLACE: &str = "files of Likenew are written in place here (NOCOW), without this file \
    system's checksums and compression, which would measure it and not the drive";
pub(crate) const REMOTE: &str = "this folder is on another machine: the network is measured too";
pub(crate) const FUSE: &str = "this is a FUSE file system: its program is measured too";
pub(crate) const ENCRYPTED: &str = "this folder is encrypted file by file: encryption is measured too";
pub(crate) const VIRTUAL_DISK: &str = "this is a virtual disk: the host's cache and limits are measured \
    too, and the drive below is not known";
pub(crate) const LOOP_DEVICE: &str =
    "this device is a file on another drive: that drive's file system is measured too";
pub(crate) const NETWORK_DEVICE: &str = "this device is reached over a network, which is measured too";

pub(crate) fn built_on(device: &str, below: &str) -> String {
    format!("{device} is built on {below}: both are measured together")
}
