//! What a simulated drive answers its host: why something is unknown, and what it cannot do.

use likenew_core::io::Op;
use likenew_core::quantity::Offset;

// Layers on the way of TRIM

pub(crate) const ANNOUNCES_TRIM: &str = "it announces TRIM";
pub(crate) const ANNOUNCES_NO_TRIM: &str = "it announces no TRIM";
pub(crate) const BRIDGE_HIDES_TRIM: &str = "it announces no TRIM";
pub(crate) const CONNECT_WITHOUT_BRIDGE: &str = "connect the drive without the bridge";
pub(crate) const ALLOWS_DISCARDS: &str = "its table has allow_discards";

// Facts

/// The origin of all facts of a simulated drive.
pub(crate) const ORIGIN: &str = "announced by the simulated drive";
pub(crate) const NOT_REPORTED: &str = "a simulated drive does not report it";
pub(crate) const USED_SPACE_NOT_REPORTED: &str = "nothing reports how much of it is in use";
pub(crate) const GIVES_SIZE_INSTEAD: &str = "its size is reported instead";
pub(crate) const LINK_WITHOUT_STANDARD: &str = "its link has no named standard";
pub(crate) const VOLUME_WITHOUT_HEALTH: &str = "a volume has no health of its own";
pub(crate) const BRIDGE_HIDES_HEALTH: &str = "a USB bridge does not pass health data";
pub(crate) const NOTHING_PASSES_HEALTH: &str = "nothing passes its health data";

// Probes

/// Of a drive with `?facts=off`.
pub(crate) const NO_FACTS: &str =
    "the system reports nothing about this drive, as in a container; run likenew on the host";
pub(crate) const NO_OLD_FILES: &str = "a simulated drive is read as it is";
pub(crate) const NO_FILE_SYSTEM: &str = "a simulated drive has no file system";
pub(crate) const NO_TRIM_DETAILS: &str = "a simulated drive reports no details of TRIM";
pub(crate) const NO_TRIM: &str = "no TRIM can be sent to it";
pub(crate) const TOO_SMALL: &str = "it is smaller than the data to write";
pub(crate) const HOLDS_NO_BYTES: &str = "a simulated drive keeps no data without ?data=on";

// Fixes

pub(crate) const NO_PARTITIONS: &str = "it has no partitions";
pub(crate) const NO_FILES: &str = "a simulated drive has no files: its addresses are refreshed";
pub(crate) const NO_SUCH_COMMAND: &str = "a simulated drive has no such command";
pub(crate) const REFUSED: &str = "the drive refused it";

pub(crate) fn io_failed(op: Op, offset: u64) -> String {
    format!("a {op} at offset {} failed, and nothing after it was touched", Offset(offset))
}

// What no run can ask of a simulated drive

pub(crate) fn null_access(drive: &str) -> String {
    format!(
        "{drive} is a simulated drive, whose clock does not see likenew itself; access null measures nothing"
    )
}

pub(crate) fn buffered_data(drive: &str) -> String {
    format!(
        "{drive} keeps written data, and the simulated page cache does not; leave out \
         data=on, or measure it with direct I/O"
    )
}

pub(crate) fn several_lanes(drive: &str, lanes: u32) -> String {
    format!(
        "{drive} is a simulated drive with one clock and one lane; use 1 lane and a greater depth, not \
         {lanes} lanes"
    )
}
