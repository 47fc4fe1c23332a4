//! What fuzzers call of this room.

use likenew_core::facts::Fact;

use super::smartctl::Smartctl;
use super::{drive_database, kernel_log};

/// Everything that is made of an answer of smartctl; whether it is one.
pub(crate) fn smartctl(answer: Fact<Vec<u8>>) -> bool {
    let answer = Smartctl::read(answer);
    let _ = (answer.health(), answer.counts());
    answer.why().is_none()
}

/// Reads a database of drives, and looks a drive up in it.
pub(crate) fn drive_database(text: &str) -> bool {
    drive_database::finds(text, "M4-CT128M4SSD1", "0002")
}

/// Reads a kernel's log.
pub(crate) fn kernel_log(bytes: &[u8]) -> bool {
    kernel_log::records(bytes).iter().any(|record| kernel_log::kind(&record.text).is_some())
}
