//! What is said of a trace beyond the errors: notes of its readers, and what its writers refuse.

pub(crate) mod expected;

use likenew_core::io::Op;
use likenew_core::units::Nanos;

use crate::notes::{Counted, Note, Notes};

/// All notes about a trace, without full stops.
pub(crate) fn notes(notes: &Notes) -> Vec<String> {
    let whole = notes.notes().iter().map(|kind| note(*kind).to_owned());
    whole.chain(notes.counts().iter().map(|(kind, count)| counted(*kind, *count))).collect()
}

fn note(note: Note) -> &'static str {
    match note {
        Note::CompressedEnd => "the compressed data ends before its time; what was whole was read",
        Note::LastLineCut => "the last line was cut short and left out",
        Note::NoEndMark => {
            "the trace has no end mark: its recording was cut short, and what is there was read"
        }
        Note::NoTimes => "the file says nothing of time: all its I/Os leave at once",
        Note::WholeSeconds => "times are whole seconds: I/Os of one second leave at once",
    }
}

fn counted(counted: Counted, count: u64) -> String {
    match counted {
        Counted::Commands => format!("{count} commands of drivers were passed over"),
        Counted::EndsAlone => format!("{count} ends of I/Os whose beginning is not in the trace"),
        Counted::Failures => format!("{count} I/Os ended with an error"),
        Counted::LostEvents if count == 1 => "the kernel says once that it has lost events".to_owned(),
        Counted::LostEvents => format!("the kernel says {count} times that it has lost events"),
        Counted::NoBlocks => format!("{count} requests that move no blocks were passed over"),
        Counted::OtherEvents => format!("{count} lines of other events were passed over"),
        Counted::RequeuedAlone => {
            format!("{count} I/Os that were taken back and whose beginning is not in the trace")
        }
        Counted::Untyped => format!("{count} lines without a type were passed over"),
        Counted::WithoutEnd => {
            format!("{count} I/Os whose end is not in the trace: their latency is not known")
        }
    }
}

pub(crate) fn no_such_format(name: &str, formats: &str) -> String {
    format!("there is no format \"{name}\"; there are {formats}")
}

/// A record that left before the one that was written last.
pub(crate) fn record_too_early(at: Nanos, latest: Nanos) -> String {
    format!(
        "a trace cannot hold this record: it left at {} ns, after one that left at {} ns was written",
        at.0, latest.0
    )
}

/// A flush with bytes, or anything else without.
pub(crate) fn record_length(op: Op, bytes: u64) -> String {
    format!("a trace cannot hold this record: it is a {op} of {bytes} bytes")
}
