//! Sentences about facts that were read from the outputs of programs.

/// The name of a drive whose name and model are unknown.
pub(crate) fn drive_number(number: usize) -> String {
    format!("drive {number}")
}

pub(crate) const NO_HEALTH: &str = "no output of smartctl or nvme about it is there";

// ## What an output that is missing would show

pub(crate) const SHOWS_HEALTH: &str = "health, wear and errors";
pub(crate) const SHOWS_TRIM: &str = "whether TRIM reaches the drive";
pub(crate) const SHOWS_LINK: &str = "the speed of its link";
pub(crate) const SHOWS_FILE_SYSTEM: &str = "the file system, how full it is, and its options";
pub(crate) const SHOWS_LOG: &str = "resets, timeouts and errors of the link";
