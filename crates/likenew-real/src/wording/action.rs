//! What was being done when the system refused.

use std::fmt::Display;

// Verb phrases: `TargetError::System` puts "could not" before them and the system's reason behind them.

pub(crate) const MOUNT_TRACEFS: &str = "mount the kernel's tracing file system";
pub(crate) const WRITE_TRACE: &str = "write the trace";
pub(crate) const READ_TRACE_BUFFERS: &str = "read the buffers of a tracing instance";
pub(crate) const WAIT_FOR_INSTANCES: &str = "wait for other programs that create tracing instances";
pub(crate) const MAKE_INSTANCE: &str = "create a tracing instance";
pub(crate) const OPEN_TRACE_BUFFERS: &str = "open the buffers of a tracing instance";
pub(crate) const CHANGE_DIRECT_IO: &str = "change between direct and buffered I/O";
pub(crate) const OPEN_SCRATCH: &str = "open the scratch folder";
pub(crate) const DELETE_TEMPORARY_FILES: &str = "delete temporary files";
pub(crate) const SYNC_FILE_SYSTEM: &str = "sync the file system";
pub(crate) const FLUSH: &str = "flush written data";
pub(crate) const DROP_CACHE: &str = "drop written data from the page cache";
pub(crate) const ASK_DEVICE_SIZE: &str = "read the size of a device";
pub(crate) const LOOK_AT_OPENED: &str = "examine the opened file";
pub(crate) const LIST_DEVICES: &str = "list the block devices in /sys/block";
pub(crate) const SET_UP_IO_URING: &str = "set up io_uring (or use --engine posix)";
pub(crate) const CONTINUE_IO_URING: &str = "continue with io_uring (or use --engine posix)";

likenew_core::sentences! {
    pub(crate) fn flush(path: impl Display) = "flush {path}";
    pub(crate) fn list(path: impl Display) = "list {path}";
    pub(crate) fn lock(path: impl Display) = "lock {path}";
    pub(crate) fn make(path: impl Display) = "create {path}";
    pub(crate) fn open_path(path: impl Display) = "open {path}";
    pub(crate) fn reserve_buffers(bytes: &str) =
        "reserve {bytes} of memory for I/O buffers (use less depth or shorter I/Os)";
    pub(crate) fn start_threads(threads: impl Display) = "start {threads} threads for I/O (use less depth)";
    pub(crate) fn start_ring_thread() =
        "start a thread of io_uring (raise the limit of processes: ulimit -u; or use --engine posix)";
    pub(crate) fn list_devices_in(folder: impl Display) = "list the block devices in {folder}";
    pub(crate) fn set_instance(name: &str, value: &str) = "set {name} of a tracing instance to {value}";
    pub(crate) fn read_instance(name: &str) = "read {name} of a tracing instance";
    pub(crate) fn lock_marker(path: impl Display) = "lock {path} (its file system must support flock)";
    pub(crate) fn make_durable(path: impl Display) = "make {path} durable";
    pub(crate) fn remove_folder(path: impl Display) = "remove the folder {path}";
    pub(crate) fn look_at_marker(path: impl Display) = "examine the marker in {path}";
    pub(crate) fn read_marker(path: impl Display) = "read the marker in {path}";
    pub(crate) fn find_drive(path: impl Display) = "find the drive below {path}";
    pub(crate) fn ask_size(path: impl Display) = "read the size of {path}";
    pub(crate) fn ask_free_space(path: impl Display) = "read the free space of {path}";
    pub(crate) fn ask_place(path: impl Display) = "find where {path} lies";
    pub(crate) fn ask_namespace(path: impl Display) = "ask for the namespace of {path}";
    pub(crate) fn ask_controller(path: impl Display) = "ask {path} what it supports";
    pub(crate) fn ask_namespaces(path: impl Display) = "ask {path} for its namespaces";
    pub(crate) fn ask_format(path: impl Display) = "ask {path} for its format";
    pub(crate) fn format(path: impl Display) = "format {path}";
    pub(crate) fn look_at(path: impl Display) = "examine {path}";
    /// `action` is one of the phrases below.
    pub(crate) fn with_path(action: &str, path: impl Display) = "{action} {path}";
}

// Verb phrases of `not_possible`, which puts "could not" before them and a path behind them.

pub(crate) const READ: &str = "read";
pub(crate) const LOOK_AT: &str = "examine";
pub(crate) const OPEN_FILE_IN: &str = "open a file in";
pub(crate) const OPEN_FOR_WRITING: &str = "open for writing";
pub(crate) const CREATE_SCRATCH_IN: &str = "create a scratch folder in";
pub(crate) const CREATE_MARKER_IN: &str = "create a marker in";
pub(crate) const CREATE: &str = "create";
pub(crate) const OPEN_FOLDER: &str = "open the folder";
pub(crate) const OPEN: &str = "open";
pub(crate) const REMOVE_TEMPORARY: &str = "remove the temporary file";
pub(crate) const REMOVE_FOLDER: &str = "remove the folder";
pub(crate) const WRITE_MARKER_IN: &str = "write a marker in";
pub(crate) const WRITE_TO: &str = "write to";
pub(crate) const SEARCH: &str = "search";
pub(crate) const READ_MARKER_IN: &str = "read the marker in";
pub(crate) const USE_FILE_IN: &str = "use a file in";

// ## Whole sentences of `not_possible`

likenew_core::sentences! {
    pub(crate) fn does_not_exist(path: impl Display) =
        "{path} does not exist; check the spelling, or create it first";
    pub(crate) fn read_only_file_system(action: &str, path: impl Display) =
        "could not {action} {path}: its file system is mounted read-only; choose a folder on one that is \
         writable";
    pub(crate) fn no_permission(action: &str, path: impl Display) =
        "could not {action} {path}: you have no permission for that; choose another place, or run as its \
         owner or as root";
    /// Permission bits do not stop root.
    pub(crate) fn no_permission_for_root(action: &str, path: impl Display) =
        "could not {action} {path}: the system forbids it even to root, as a container, a network file \
         system or an immutable file does; allow it there, or choose another place";
    pub(crate) fn no_space_left(action: &str, path: impl Display) =
        "could not {action} {path}: no space is left there, or a quota is used up; free some space first";
    pub(crate) fn circular_link(path: impl Display) =
        "{path} is a symbolic link that leads in a circle; give the path that it is meant for";
    pub(crate) fn too_many_files(action: &str, path: impl Display) =
        "could not {action} {path}: too many files are open; raise the limit (ulimit -n)";
}
