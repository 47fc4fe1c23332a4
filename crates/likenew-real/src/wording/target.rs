//! Sentences about targets: what a path is, what a target does not support, and caveats of its numbers. Also
//! why nothing can be measured in a folder, and why a file is not rewritten.

use likenew_core::target_error::system_reason;
use std::fmt::Display;
use std::io;
use std::path::Path;

use likenew_core::io::Op;
use likenew_core::units::amount;
use rustix::io::Errno;

// What a path is, what it does not support, and what has to be known about its numbers.

// ## What a path is, and is not

pub(crate) const EMPTY_FILE: &str = "an empty file";

likenew_core::sentences! {
    pub(crate) fn not_a_drive(path: impl Display, kind: &str) =
        "{path} is {kind}, not a drive: give a folder, a file that is not empty, or a block device such as \
         /dev/sda";
    pub(crate) fn needs_layout(path: impl Display) =
        "the folder {path} needs a layout: how many files, and how long";
    pub(crate) fn consent_for_folder(path: impl Display) =
        "consent applies to a file or block device, and {path} is neither";
    pub(crate) fn other_consent(path: impl Display) =
        "the consent to write was given for another target than {path}";
    pub(crate) fn not_a_folder(path: impl Display) =
        "{path} is not a folder, so it cannot hold temporary files";
    pub(crate) fn broken_link(path: impl Display, target: impl Display) =
        "{path} is a symbolic link to {target}, which does not exist: repair the link, or give another \
         target";
    pub(crate) fn no_medium(path: impl Display) =
        "{path} is empty: no medium is inserted, or nothing is attached to it";
    pub(crate) fn file_too_short(path: impl Display, bytes: u64, block: u32) =
        "{path} has {bytes} bytes, less than one block of {block}: give a longer file, or a folder";
    pub(crate) fn not_a_folder_of_files(path: impl Display) =
        "{path} is not a folder: give the folder that holds your files";
    pub(crate) fn virtual_file_system(path: impl Display) =
        "{path} is a virtual file system without files: give the folder that holds yours";
}

// ## What a target does not support

likenew_core::sentences! {
    pub(crate) fn read_only(op: Op, offset: u64) =
        "a {op} at byte {offset} was refused: this target is open for reading only; to measure writes, give \
         a folder on it, where Likenew uses temporary files";
    pub(crate) fn no_old_files(least_bytes: u64, days: u64) =
        "no file of {} or more has been here for {days} days", amount(least_bytes);
    pub(crate) fn old_file_not_opened(errno: Errno) = "an old file cannot be opened: {errno}";
    pub(crate) fn not_searched(folder: impl Display, errno: Errno) = "{folder} cannot be searched: {errno}";
}

pub(crate) const CACHE_LEFT_ALONE: &str = "the page cache of a file or device that Likenew did not make is \
    left alone: leave out cold, or give a folder";
pub(crate) const CACHE_KEEPS_FILES: &str = "the page cache of your own files is left alone: leave out cold";
pub(crate) const OLD_FILE_REPLACED: &str = "an old file was replaced meanwhile";
pub(crate) const OLD_FILES_ONLY_IN_FOLDERS: &str = "old files are searched for in folders only";
pub(crate) const NO_PROBES: &str = "this kind of drive cannot be queried";

// ## The I/O engine

likenew_core::sentences! {
    pub(crate) fn no_io_uring(error: &io::Error, reason: &str) =
        "io_uring is not available ({}): {reason}; use --engine posix", system_reason(error);
    pub(crate) fn threads_instead(error: &io::Error, reason: &str) =
        "io_uring is not available ({}): {reason}. Threads issued the I/O with blocking calls instead, \
         which cost more per I/O and lower the IOPS of a fast drive", system_reason(error);
    pub(crate) fn too_many_threads(lanes: u32, depth: u32, most: u32) =
        "{lanes} × {depth} I/Os in flight need as many threads without io_uring, and more than {most} are \
         not supported: use less depth";
}

// Clauses: why there is no io_uring.

pub(crate) const NO_SYSTEM_CALL: &str = "the kernel or the container does not have this system call";
pub(crate) const IO_URING_FORBIDDEN: &str = "kernel.io_uring_disabled or the container forbids it";
pub(crate) const LOCKED_MEMORY: &str = "the limit of locked memory (ulimit -l) is too low";
pub(crate) const TOO_MANY_FILES: &str = "too many files are open";
pub(crate) const OLD_KERNEL: &str = "io_uring needs Linux 5.11 or later";

// ## Caveats of a target

likenew_core::sentences! {
    pub(crate) fn mounted_at(path: impl Display, point: &str) =
        "{path} is mounted at {point}: others may use it meanwhile";
    pub(crate) fn built_on(device: &str, below: &str) =
        "{device} is built on {below}: both are measured together";
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

// Refusals of folder targets: space, leftovers of other runs, the marker.

// ## Folder targets: space, leftovers, the marker

pub(crate) fn leftover(path: &Path, started: Option<&str>, files: u64, bytes: u64) -> String {
    let started = started.map_or(String::new(), |date| format!(" of {date}"));
    format!(
        "{} was left by an earlier run{started} that could not delete it: {files} files, {}; let Likenew \
         remove it, or delete it yourself",
        path.display(),
        amount(bytes)
    )
}

pub(crate) fn busy(process: Option<&str>, folder: &Path) -> String {
    let process = process.map_or(String::new(), |id| format!(" (process {id})"));
    format!("another likenew run{process} is measuring {}: wait until it has ended", folder.display())
}

pub(crate) const NOT_A_FOLDER: &str = "is not a folder";
pub(crate) const NO_MARKER: &str = "has no Likenew marker in it";

likenew_core::sentences! {
    pub(crate) fn in_the_way(path: impl Display, what: &str) =
        "{path} is in the way and {what}, so Likenew leaves it alone: move it away, or use another folder";
    pub(crate) fn foreign_files(names: &[String]) =
        "it holds files that Likenew did not make ({})", names.join(", ");
    pub(crate) fn run_just_ended(folder: impl Display) =
        "another likenew run has just ended in {folder}: start again";
    pub(crate) fn removed_meanwhile(path: impl Display) =
        "another likenew run removed {path} just now: start again";
    pub(crate) fn no_space(path: &Path, free: u64, reserve: u64) =
        "no space to write in {}: {} are free, and {} are reserved; free some space, or give a smaller \
         --reserve", path.display(), amount(free), amount(reserve);
    pub(crate) fn does_not_fit(path: &Path, wanted: u64, free: u64, reserve: u64, usable: u64) =
        "{} do not fit into {}: {} are free and {} of them stay in reserve, which leaves {}; use less, free \
         some space, or give a smaller --reserve",
        amount(wanted), path.display(), amount(free), amount(reserve), amount(usable);
    pub(crate) fn empty_layout(files: u32, file_bytes: u64) =
        "{files} files of {file_bytes} bytes hold nothing: give at least one file of at least one byte";
    pub(crate) fn layout_not_aligned(file_bytes: u64, block: &str, folder: impl Display) =
        "files of {file_bytes} bytes are not a multiple of the {block}-byte blocks of {folder}";
    pub(crate) fn is_scratch_folder(folder: impl Display) =
        "{folder} is a temporary folder of Likenew: give its parent folder";
    pub(crate) fn too_many_extents(extents: usize) =
        "the files have {extents} extents or more, too many to keep";
    pub(crate) fn too_little_left(needed: u64, left: u64) =
        "it needs {}, and only {} are left above the reserve", amount(needed), amount(left);
    pub(crate) fn too_many_files(files: u64, limit: u64, kept: u64) =
        "{files} files are more than can be open at once (the limit is {limit}, and {kept} of them are \
         needed otherwise): use fewer and larger files, or raise the limit (ulimit -n)";
    /// The text of a marker file. `first_line` and the line of the process are read back by later runs.
    pub(crate) fn marker(process_label: &str, process: u32, date: &str) =
        "{MARKER_LINE}\n\nLikenew measures drives. It made this folder for temporary files, which hold no \
         data of yours.\nIt removes the folder when it ends. If no likenew is running, the run was \
         interrupted: you may delete\nthe folder with everything in it, or the next likenew in this place \
         offers to do so.\n\n{process_label}{process}\nstarted: {date}\n";
}

pub(crate) const DEVICE_NOT_LISTED: &str = "the device is not listed in /sys";
pub(crate) const FILE_SYSTEM_NOT_LISTED: &str = "the file system is not listed in /proc";
pub(crate) const NOT_FOR_FOLDERS: &str = "a folder does not support this";

/// The first line of every marker: what tells our directory from another of the same name.
pub(crate) const MARKER_LINE: &str = "This is a temporary folder of Likenew.";

// Why a file is not rewritten in place.

// ## Clauses: why a file is not rewritten in place (`not_rewritten` puts the path before them)

likenew_core::sentences! {
    pub(crate) fn not_rewritten(path: impl Display, reason: &str) =
        "{path} is not rewritten: {reason}. Nothing was changed";
    pub(crate) fn wanted_elsewhere(path: impl Display) = "another program wants to open {path}";
    pub(crate) fn shared_blocks_unknown(kind: &str) =
        "its file system ({kind}) does not report which of its blocks are shared; copy it instead";
}

pub(crate) const NOT_REGULAR: &str = "it is not a regular file";
pub(crate) const CAPABILITIES: &str = "it is a program with capabilities, which every write removes";
pub(crate) const REPLACED: &str = "it was replaced by another file during the check; start again";
pub(crate) const TIMES_DAMAGED: &str = "its recorded times cannot be read: the journal is damaged";
pub(crate) const OPEN_ELSEWHERE: &str =
    "another program has it open, runs it or maps it; close that program first";
pub(crate) const LOCK_NEEDS_OWNER: &str = "only its owner and root may lock it while it is rewritten";
pub(crate) const NO_LEASES: &str =
    "its file system has no leases to lock it while it is rewritten; copy it instead";
pub(crate) const IS_A_LINK: &str = "it is a symbolic link; give its target";
pub(crate) const EMPTY: &str = "it is empty";
pub(crate) const SET_ID: &str = "it is set-user-ID or set-group-ID, which a write may remove";
pub(crate) const IMMUTABLE: &str = "it is immutable; allow changes first (chattr -i)";
pub(crate) const APPEND_ONLY: &str = "it is append-only; allow changes first (chattr -a)";
pub(crate) const VERITY: &str = "fs-verity protects it from any change";
pub(crate) const COMPRESSED: &str =
    "its file system compresses it, so rewriting would move it; copy it instead";
pub(crate) const RUNNING_OR_SWAP: &str = "it is a running program or swap; stop that first";
pub(crate) const ACCESS_TIME_NEEDS_OWNER: &str =
    "only its owner and root may do this without changing its access time";
pub(crate) const PATH_HAS_A_LINK: &str = "a part of its path is a symbolic link; give its target";
pub(crate) const PATH_LEAVES_FOLDER: &str = "its path leads out of the folder, or to another file system";
pub(crate) const NO_OPENAT2: &str =
    "this kernel cannot open files without following links (openat2, Linux 5.6)";

pub(crate) const SHORTER_THAN_A_BLOCK: &str = "it is the end of the file, shorter than a block";

/// What identifies a file in a journal. It is compared whole, so its form must not change.
pub(crate) fn file_identity(
    inode: u64,
    birth_time: Option<(i64, u32)>,
    generation: Option<u32>,
    bytes: u64,
) -> String {
    let birth = birth_time
        .map_or(String::new(), |(seconds, nanoseconds)| format!(", made at {seconds}.{nanoseconds:09}"));
    let generation = generation.map_or(String::new(), |number| format!(", generation {number}"));
    format!("file with inode {inode}{birth}{generation}, {bytes} bytes")
}
