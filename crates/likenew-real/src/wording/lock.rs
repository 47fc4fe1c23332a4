//! The drive lock, and where the journal of a refresh may be.

use std::fmt::Display;
use std::path::Path;

// ## The drive lock

pub(crate) fn unstable_drive(drive: &str) -> String {
    format!(
        "the drive {drive} disappears and comes back, so it cannot be locked; start again when it stays \
         connected"
    )
}

pub(crate) fn in_use(paths: &[&Path], drive: &str, holder: &str) -> String {
    let paths: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
    format!(
        "{} cannot be used now: another run of likenew uses the drive {drive} below it ({holder}); wait for \
         that to end (--wait-for-drive waits), or end it",
        paths.join(", ")
    )
}

/// What a run waits for, and who holds it.
pub(crate) fn busy_drive(drive: &str, holder: &str) -> String {
    format!("the drive {drive} ({holder})")
}

pub(crate) const INVISIBLE_HOLDER: &str = "a process that is not visible here";

pub(crate) fn file_system_drive(major: u32, minor: u32, kind: &str) -> String {
    format!("of the file system {major}:{minor} ({kind})")
}

// ## Clauses: why a folder cannot hold the journal for a device (`no_place_for_journal` frames them)

pub(crate) fn no_place_for_journal(folder: impl Display, device: impl Display, reason: &str) -> String {
    format!("{folder} cannot hold the journal for {device}: {reason}. Choose a folder on another drive")
}

pub(crate) const DRIVE_NOT_REPORTED: &str = "the system does not report its drive";
pub(crate) const NOT_A_DEVICE: &str = "the device is not a block device in /sys";
pub(crate) const LOOP_BACKING_UNKNOWN: &str = "it is on a loop device whose backing file is not known";

pub(crate) fn in_memory(kind: &str) -> String {
    format!("it is in memory ({kind}), which a power cut clears")
}

pub(crate) fn drives_unknown(kind: &str) -> String {
    format!("it is not known which drives its file system ({kind}) uses")
}

pub(crate) fn on_the_device(device: &str) -> String {
    format!("it is on {device} itself")
}
