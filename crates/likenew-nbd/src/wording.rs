//! Sentences of the server for its operator and for clients.

use std::io;

// Notes for the operator

/// `is_last`: whether further notes about this client are suppressed.
pub(crate) fn note(client: &str, what: &str, is_last: bool) -> String {
    let suffix = if is_last { " (further lines suppressed)" } else { "" };
    format!("{client}: {what}{suffix}")
}

likenew_core::sentences! {
    pub(crate) fn notes_left_out(count: u64) = "{count} more lines like the last ones were left out";
    pub(crate) fn client_refused(client: &str, clients: usize) =
        "{client} was refused: there are {clients} clients already";
    pub(crate) fn client_dropped(reason: &str) = "was dropped: {reason}";
    pub(crate) fn request_refused(reason: &str, number: u32) =
        "a request was refused: {reason} (error {number})";
    pub(crate) fn read_failed(error: &io::Error) = "a read failed: {error}";
}

pub(crate) const STORE_IS_FULL: &str = "a write failed: the memory for written data is full";

// Why a client is dropped

pub(crate) const TOO_LATE: &str = "it did not choose an export in time";
pub(crate) const OTHER_FLAGS: &str = "it sent flags that were not offered";
pub(crate) const OTHER_EXPORT: &str = "it asked for an unknown export";
pub(crate) const NO_OPTION: &str = "it sent something that is not an option";
pub(crate) const ONLY_OPTIONS: &str = "it sent too many options";
pub(crate) const LONG_OPTION: &str = "its option is too long";
pub(crate) const NO_REQUEST: &str = "it sent something that is not a request";

// Why an option is refused

pub(crate) const OPTION_WITH_DATA: &[u8] = b"this option has no data";
pub(crate) const OPTION_DATA_LONG: &[u8] = b"its data is too long";
pub(crate) const OPTION_LENGTHS: &[u8] = b"the lengths in its data do not fit";
pub(crate) const OPTION_UNKNOWN: &[u8] = b"this server does not know this option";
pub(crate) const OPTION_EXPORT: &[u8] = b"there is no export of this name";
pub(crate) const OPTION_TOO_EARLY: &[u8] = b"structured replies come first";
pub(crate) const OPTION_TLS: &[u8] = b"this server has no TLS";
pub(crate) const OPTION_AT_END: &[u8] = b"the server ends";

// Why a request is refused

pub(crate) const COMMAND_UNKNOWN: &str = "an unknown command";
pub(crate) const COMMAND_FLAGS: &str = "flags that this command does not have";
pub(crate) const READ_ONLY: &str = "a write to an export that may only be read";
pub(crate) const FLUSH_OF_RANGE: &str = "a flush of a range";
pub(crate) const NO_TRIM: &str = "a TRIM to a drive that does not support it";
pub(crate) const STATUS_WITHOUT_CONTEXT: &str = "a question about blocks without a metadata context";
pub(crate) const STATUS_OF_NOTHING: &str = "a question about no blocks";
pub(crate) const NOT_IN_BLOCKS: &str = "a range that is not made of whole blocks";
pub(crate) const BEYOND_END: &str = "a range beyond the end";
pub(crate) const LONG_CHUNK: &str = "a read in one chunk of more than 32 MiB";
pub(crate) const LONG_PAYLOAD: &str = "a payload of more than 32 MiB";
pub(crate) const REQUEST_AT_END: &str = "the server ends";

// Why a request failed

pub(crate) const NO_SPACE: &str = "the memory for written data is full";
pub(crate) const NO_FAST_ZEROS: &str = "zeros would have to be written out";
pub(crate) const DRIVE_ERROR: &str = "the drive answered with an error";
