//! What is said of a trace beyond the errors: notes of its readers, and what its writers refuse.

pub(crate) mod expected;

use std::io::{Error, ErrorKind};

use likenew_core::io::Op;
use likenew_core::units::{Nanos, Number};

use crate::notes::{Counted, Note, Notes};

/// What to do about an answer of the system.
pub(crate) fn advice(error: &Error) -> &'static str {
    match error.kind() {
        ErrorKind::NotFound | ErrorKind::NotADirectory => "; check the spelling",
        _ => "",
    }
}

/// All notes about a trace, without full stops.
pub(crate) fn notes(notes: &Notes) -> Vec<String> {
    let whole = notes.notes().iter().map(|kind| note(*kind).to_owned());
    whole.chain(notes.counts().iter().map(|(kind, count)| counted(*kind, *count))).collect()
}

fn note(note: Note) -> &'static str {
    match note {
        Note::CompressedEnd => "the compressed file is truncated; the complete part was read",
        Note::LastLineCut => "the last line is incomplete and was skipped",
        Note::NoEndMark => {
            "the trace has no end mark; its recording was cut short, and what is there was read"
        }
        Note::NoTimes => "the trace has no times, so all its I/Os start at once",
        Note::WholeSeconds => "times are whole seconds, so I/Os of one second start at once",
    }
}

fn counted(counted: Counted, count: u64) -> String {
    match counted {
        Counted::Commands => of(count, "driver command was skipped", "driver commands were skipped"),
        Counted::EndsAlone => {
            of(count, "completion without a start was skipped", "completions without a start were skipped")
        }
        Counted::Failures => of(count, "I/O ended with an error", "I/Os ended with an error"),
        Counted::LostEvents if count == 1 => "the kernel lost events once".to_owned(),
        Counted::LostEvents => format!("the kernel lost events {count} times"),
        Counted::NoBlocks => {
            of(count, "request that moves no blocks was skipped", "requests that move no blocks were skipped")
        }
        Counted::OtherEvents => {
            of(count, "line of another event was skipped", "lines of other events were skipped")
        }
        Counted::RequeuedAlone => of(
            count,
            "requeued I/O without a start was skipped",
            "requeued I/Os without a start were skipped",
        ),
        Counted::Untyped => of(count, "line without a type was skipped", "lines without a type were skipped"),
        Counted::WithoutEnd => {
            of(count, "I/O without an end has no latency", "I/Os without an end have no latency")
        }
    }
}

fn of(count: u64, one: &str, several: &str) -> String {
    format!("{} {}", Number(count as f64), if count == 1 { one } else { several })
}

pub(crate) fn no_such_format(name: &str, formats: &str) -> String {
    format!("unknown format \"{name}\"; known are {formats}")
}

/// A record that left before the one that was written last.
pub(crate) fn record_too_early(at: Nanos, latest: Nanos) -> String {
    format!(
        "a trace cannot hold this record: it started at {} ns, after one that started at {} ns was written",
        at.0, latest.0
    )
}

/// A flush with bytes, or anything else without.
pub(crate) fn record_length(op: Op, bytes: u64) -> String {
    format!("a trace cannot hold this record: it is a {op} of {bytes} bytes")
}
