//! Sentences of this crate besides errors: notes of readers, and what writers refuse.

use std::io::{Error, ErrorKind};

use likenew_core::io::Op;
use likenew_core::units::{Nanos, Number};

use crate::notes::{Counted, Notes};

/// Advice on a system error.
pub(crate) fn advice(error: &Error) -> &'static str {
    match error.kind() {
        ErrorKind::NotFound | ErrorKind::NotADirectory => "; check the spelling",
        _ => "",
    }
}

/// All notes about a trace, without full stops.
pub(crate) fn notes(notes: &Notes) -> Vec<String> {
    let whole = notes.notes.iter().map(ToString::to_string);
    whole.chain(notes.counts.iter().map(|(kind, count)| counted(*kind, *count))).collect()
}

fn counted(counted: Counted, count: u64) -> String {
    let (one, several) = match counted {
        Counted::Commands => ("driver command was skipped", "driver commands were skipped"),
        Counted::EndsAlone => {
            ("completion without a start was skipped", "completions without a start were skipped")
        }
        Counted::Failures => ("I/O ended with an error", "I/Os ended with an error"),
        Counted::LostEvents if count == 1 => return "the kernel lost events once".to_owned(),
        Counted::LostEvents => return format!("the kernel lost events {count} times"),
        Counted::NoBlocks => {
            ("request that moves no blocks was skipped", "requests that move no blocks were skipped")
        }
        Counted::NoDisk => ("I/O without a disk was skipped", "I/Os without a disk were skipped"),
        Counted::OtherEvents => ("line of another event was skipped", "lines of other events were skipped"),
        Counted::RequeuedAlone => {
            ("requeued I/O without a start was skipped", "requeued I/Os without a start were skipped")
        }
        Counted::Untyped => ("line without a type was skipped", "lines without a type were skipped"),
        Counted::WithoutEnd => ("I/O without an end has no latency", "I/Os without an end have no latency"),
    };
    format!("{} {}", Number(count as f64), if count == 1 { one } else { several })
}

likenew_core::sentences! {
    pub(crate) fn no_such_format(name: &str, formats: &str) =
        "unknown format \"{name}\"; known are {formats}";
    /// Refuses a record that started before the previous one.
    pub(crate) fn record_too_early(at: Nanos, latest: Nanos) =
        "a trace cannot hold this record: it started at {} ns, after one that started at {} ns was written",
        at.0, latest.0;
    /// Refuses a flush with bytes, or another operation without.
    pub(crate) fn record_length(op: Op, bytes: u64) =
        "a trace cannot hold this record: it is a {op} of {bytes} bytes";
}

/// What a reader expects at a position in a line: "expected a comma, found …".
pub(crate) mod expected {
    // ## Times

    pub(crate) const TIME_SECONDS: &str = "a time in seconds";
    pub(crate) const TIME_MICROSECONDS: &str = "a time in microseconds";
    pub(crate) const TIME_NANOSECONDS: &str = "a time in nanoseconds";
    pub(crate) const WINDOWS_FILE_TIME: &str = "a Windows file time";
    pub(crate) const TIME_NEAR_PREVIOUS: &str = "a time within a year of that of the record before";
    pub(crate) const TIME_NEAR_FIRST: &str = "a time within ten years of that of the first record";
    pub(crate) const WAIT: &str = "a wait in microseconds";

    pub(crate) const LATENCY: &str = "a latency in nanoseconds, or nothing";
    pub(crate) const LATENCY_MILLISECONDS: &str = "a latency in milliseconds";
    pub(crate) const LATENCY_BELOW_YEAR: &str = "a latency below a year";
    pub(crate) const RESPONSE_TIME_SECONDS: &str = "a response time in seconds, or nothing";
    pub(crate) const RESPONSE_TIME_TICKS: &str = "a response time in units of 100 ns";

    // ## Ranges

    pub(crate) const OFFSET_BYTES: &str = "an offset in bytes";
    pub(crate) const OFFSET_SECTORS: &str = "an offset in sectors";
    pub(crate) const ADDRESS_SECTORS: &str = "an address in sectors";
    pub(crate) const SECTOR: &str = "a sector";
    pub(crate) const SECTOR_IN_RANGE: &str = "a sector within 1 EiB";

    pub(crate) const LENGTH_BYTES: &str = "a length in bytes";
    pub(crate) const LENGTH_ABOVE_ZERO: &str = "a length above 0";
    pub(crate) const LENGTH_WITHIN_LIMIT: &str = "a length of at most 1 GiB";
    pub(crate) const SIZE_BYTES: &str = "a size in bytes";
    pub(crate) const SIZE_SECTORS: &str = "a size in sectors";
    pub(crate) const SECTOR_COUNT: &str = "a count of sectors";
    pub(crate) const SECTOR_COUNT_IN_RANGE: &str = "a count of sectors within 1 EiB";
    pub(crate) const REQUEST_BYTES: &str = "bytes";
    pub(crate) const IGNORED_NUMBER: &str = "a number that means nothing";

    pub(crate) const RANGE: &str = "a range that ends within 1 EiB";

    pub(crate) fn range_on_drive(capacity_bytes: u64) -> String {
        format!("a range that ends within the drive's {capacity_bytes} bytes")
    }

    // ## Operations

    pub(crate) const OPERATION: &str = "read, write, trim or flush";
    pub(crate) const READ_OR_WRITE: &str = "Read or Write";
    pub(crate) const R_OR_W: &str = "R or W";
    pub(crate) const R_W_OR_NOTHING: &str = "R, W or nothing";
    pub(crate) const ZERO_OR_ONE: &str = "0 for a read or 1 for a write";
    pub(crate) const IOLOG_ACTION: &str = "an action";
    pub(crate) const IOLOG_ACTIONS: &str =
        "add, open, close, read, write, sync, datasync, trim or, in version 2, wait";

    pub(crate) const EVENT: &str = "an event of the block layer such as block_rq_issue, or of the blk tracer";
    pub(crate) const ACTION: &str = "an action such as D or C";
    pub(crate) const LETTERS: &str = "the letters of a request";
    pub(crate) const KNOWN_LETTERS: &str = "the letters of a request, such as R, WS or FWFSM";
    pub(crate) const COMMAND: &str = "a command in parentheses";
    pub(crate) const BYTES_OR_COMMAND: &str = "bytes or a command in parentheses";

    // ## Volumes, programs and processors

    pub(crate) const VOLUME_NUMBER: &str = "the number of a volume";
    pub(crate) const DISK_NUMBER: &str = "the number of a disk";
    pub(crate) const DEVICE_NUMBER: &str = "the number of a device";
    pub(crate) const DEVICE: &str = "a device such as 8,0";
    pub(crate) const MAJOR: &str = "a major number";
    pub(crate) const MINOR: &str = "a minor number";
    pub(crate) const PROCESSOR: &str = "a processor";
    pub(crate) const PROCESS_NUMBER: &str = "the number of a process";
    pub(crate) const SEQUENCE_OR_TIME: &str = "a sequence or a time in seconds";
    pub(crate) const PROGRAM_OR_ERROR: &str = "a program or an error in brackets, and the end of the line";

    // ## Several fields at once

    pub(crate) const TRACEFS_START: &str = "a program, a processor and a time in seconds before a colon";
    pub(crate) const FIU_FIELDS: &str =
        "a process, an address, a size, R or W, a major and a minor number and an MD5 sum";

    pub(crate) const BIOSNOOP: &str = "a program, the number of a process, a disk and the columns behind it";

    // ## Heads and ends of files

    pub(crate) const BIOSNOOP_COLUMNS: &str = "the columns TIME(s) COMM PID DISK T SECTOR BYTES … LAT(ms)";

    pub(crate) const BLKTRACE_MAGIC: &str = "the mark of a record of blktrace, 0x65617407";
    pub(crate) const BLKTRACE_RECORD: &str = "a record of 48 bytes";
    pub(crate) const IOLOG_FIRST_LINE: &str = "\"fio version 2 iolog\" or \"fio version 3 iolog\"";
    pub(crate) const HEAD_LINES_MAX: &str = "a head of at most 256 lines";
    pub(crate) const HEAD_PAIR: &str = "a key of lower-case letters, a colon, a blank and a value";
    pub(crate) const CAPACITY: &str = "a number of bytes above 0";
    pub(crate) const BLOCK: &str = "a power of two of bytes";
    pub(crate) const COUNT: &str = "a count";
    pub(crate) const RECORD_COUNT: &str = "a count of records";
    pub(crate) const NOTHING_AFTER_END: &str = "nothing after the end mark";
    pub(crate) const NOTHING_AFTER_SUMMARY: &str = "nothing after blkparse's summary";

    pub(crate) fn first_line(line: &str) -> String {
        format!("\"{line}\"")
    }

    pub(crate) fn head_line(columns: &str) -> String {
        format!("\"# key: value\" or \"{columns}\"")
    }

    // ## Between the fields of a line

    pub(crate) const BLANK: &str = "a blank";
    pub(crate) const COMMA: &str = "a comma";
    pub(crate) const END_OF_LINE: &str = "the end of the line";
    pub(crate) const END_OF_LINE_OR_NAME: &str = "the end of the line, or a name in quotes";
    pub(crate) const NAME_IN_QUOTES: &str = "a name whose quote ends on its line";
}
