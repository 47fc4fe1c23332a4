//! The errors of reading and writing traces, and where in a file they are.

use std::borrow::Cow;
use std::fmt;

use likenew_core::target_error::system_reason;

use super::wording::{advice, expected};

/// Why a trace could not be read or written. `file` is the name that was given. Positions count lines, columns and
/// bytes from 1; columns are in bytes.
#[derive(Debug, thiserror::Error)]
pub enum TraceError {
    /// The system could not open, create, read or write the file.
    #[error("could not {action} {file}: {}{}", system_reason(error), advice(error))]
    File {
        /// What was attempted: "read".
        action: &'static str,
        /// The file's name.
        file: String,
        /// The system's error.
        error: std::io::Error,
    },
    /// The file as a whole is no trace that can be read.
    #[error("{file} {problem}")]
    Unusable {
        /// The file's name.
        file: String,
        /// What is wrong with the file, and what to do.
        problem: FileProblem,
    },
    /// A line breaks the file's format, cannot be read, or must not follow the lines before it.
    #[error("{file}, {place}: {problem}")]
    InvalidLine {
        /// The file's name.
        file: String,
        /// Where the line, or the value in it, is.
        place: Place,
        /// What is wrong, and what to do.
        problem: LineProblem,
    },
}

impl TraceError {
    /// The error of the system, which could not do this to the file.
    pub(crate) fn file(action: &'static str, file: impl fmt::Display) -> impl FnOnce(std::io::Error) -> Self {
        move |error| Self::File { action, file: file.to_string(), error }
    }
}

/// What is wrong with a file as a whole, to be read after its name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FileProblem {
    /// The file is empty.
    #[error("is empty")]
    Empty,
    /// The beginning matches no known format.
    #[error("has an unknown trace format (it begins with \"{start}\"); name it with --format: {formats}")]
    UnknownFormat {
        /// The file's first characters.
        start: String,
        /// The names of all formats.
        formats: String,
    },
    /// strace wrote the file.
    #[error(
        "is strace's output: system calls do not show what reaches a drive; record that with \"likenew record\""
    )]
    Strace,
    /// iostat wrote the file.
    #[error("is iostat's output, which only counts I/Os; record each of them with \"likenew record\"")]
    Iostat,
    /// The file is a trace in the project's own format, but of another version.
    #[error("is a trace of another version of likenew: this one reads \"{first_line}\"")]
    OtherVersion {
        /// The first line of the version that can be read.
        first_line: &'static str,
    },
    /// blktrace wrote the file in an unsupported version.
    #[error(
        "is blktrace's binary output of version {version}, and this one reads version {known}: \"blkparse -i FILE\" \
         makes text of it"
    )]
    BlktraceVersion {
        /// The version of the file's records.
        version: u8,
        /// The version that can be read.
        known: u8,
    },
    /// trace-cmd wrote the file.
    #[error("is trace-cmd's binary output: \"trace-cmd report\" makes text of it")]
    TraceCmdBinary,
    /// perf wrote the file.
    #[error("is perf's binary output: \"perf script -i FILE\" makes text of it")]
    PerfBinary,
    /// Another tool called biosnoop wrote the file, without some of the columns that a trace needs.
    #[error(
        "is biosnoop's output without addresses or times: record with the biosnoop of bcc, and without -t"
    )]
    Biosnoop,
    /// The file's compression is not supported.
    #[error("is packed with zip, xz or bzip2: unpack it; gzip and Zstandard can be read as they are")]
    Packed,
    /// The file is an archive of several files.
    #[error("is a tar archive: unpack it first")]
    TarArchive,
    /// The file contains bytes that no text has.
    #[error("is not text, as every trace format but blktrace's is")]
    NotText,
    /// This volume was asked for, but the file has no records.
    #[error("has no volume {0}: it holds no record")]
    NoRecords(String),
    /// The file has other volumes than the one asked for.
    #[error("has no volume {volume}; there are (with records): {volumes}")]
    NoSuchVolume {
        /// The volume that was asked for.
        volume: String,
        /// The file's volumes and their numbers of records.
        volumes: String,
    },
    /// The file has several volumes and none was chosen.
    #[error(
        "holds several volumes, in its first {lines} {unit}s (with records): {volumes}; choose one with --volume"
    )]
    SeveralVolumes {
        /// Lines that were searched for volumes.
        lines: u64,
        /// What `lines` counts: lines or records.
        unit: &'static str,
        /// The volumes and their numbers of records.
        volumes: String,
    },
}

/// A position in a file: the line of a text or the record of a binary file, and the byte in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Whether the file is text.
    pub is_text: bool,
    /// Number of the line or record, from 1.
    pub number: u64,
    /// The byte in the line or record, from 1; `None` means all of it.
    pub column: Option<usize>,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", unit(self.is_text), self.number)?;
        match self.column {
            Some(column) if self.is_text => write!(f, ", column {column}"),
            Some(column) => write!(f, ", byte {column}"),
            None => Ok(()),
        }
    }
}

/// What a file consists of, as a word for errors.
pub(crate) fn unit(is_text: bool) -> &'static str {
    if is_text { "line" } else { "record" }
}

/// What is wrong with a line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LineProblem {
    /// A value breaks the file's format.
    #[error("expected {expected}, found {actual}")]
    Malformed {
        /// What was expected there.
        expected: String,
        /// What was found there.
        actual: String,
    },
    /// The record is too far out of the order of time.
    #[error(
        "its time lies before that of records that stand {lines} or more lines earlier: sort the file by time"
    )]
    TooLate {
        /// By how many lines a record may be late.
        lines: usize,
    },
    /// The line is the first request of a device whose bios were read so far.
    #[error(
        "it is the first request (D, block_rq_issue) of a device whose bios (Q, block_bio_queue) were taken so far: cut the \
         trace before it"
    )]
    FirstRequest,
    /// The end mark's count differs from the number of records.
    #[error(
        "the trace says here that it has {expected} records, and {actual} were found: the file was changed"
    )]
    RecordCount {
        /// Records by the end mark.
        expected: u64,
        /// Records that were read.
        actual: u64,
    },
    /// The line does not end.
    #[error("it is longer than {max} bytes: no trace has such lines")]
    TooLong {
        /// Most bytes of a line.
        max: usize,
    },
    /// The compressed data is cut off.
    #[error("the {compression} data is truncated here; copy the file again")]
    CompressedEnd {
        /// The name of the compression.
        compression: &'static str,
    },
    /// The compressed data is damaged.
    #[error("the {compression} data is damaged after this line: {error}")]
    CompressedDamage {
        /// The name of the compression.
        compression: &'static str,
        /// The decompressor's message.
        error: String,
    },
}

/// An error in a line, still without file and line number.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum LineError {
    /// Something else was expected at this byte of the line.
    At(usize, Cow<'static, str>),
    /// The whole line is wrong.
    Line(LineProblem),
    /// The line belongs to another volume than those before, and none was chosen.
    AnotherVolume,
}

impl LineError {
    pub(crate) fn at(column: usize, expected: impl Into<Cow<'static, str>>) -> Self {
        Self::At(column, expected.into())
    }
}

/// Most bytes of the faulty text that are shown.
const EXCERPT_BYTES: usize = 40;

/// Adds file and position to an error in a line.
pub(crate) fn locate(file: &str, place: Place, line: &[u8], line_error: LineError) -> TraceError {
    let (place, problem) = match line_error {
        LineError::At(column, expected) => (
            Place { column: Some(column + 1), ..place },
            LineProblem::Malformed { expected: expected.into_owned(), actual: excerpt(line, column) },
        ),
        LineError::Line(problem) => (place, problem),
        LineError::AnotherVolume => unreachable!("the reader counts the volumes before anybody is told"),
    };
    TraceError::InvalidLine { file: file.to_owned(), place, problem }
}

/// The text from this byte to the end of its field.
fn excerpt(line: &[u8], column: usize) -> String {
    let rest = line.get(column..).unwrap_or_default();
    if rest.is_empty() {
        return expected::END_OF_LINE.to_owned();
    }
    let ends = |byte: &u8| matches!(byte, b',' | b' ' | b'\t');
    let field = rest.iter().position(ends).unwrap_or(rest.len()).max(1);
    let shown = &rest[..field.min(EXCERPT_BYTES)];
    let more = if field > EXCERPT_BYTES { "…" } else { "" };
    format!("\"{}{more}\"", shown.escape_ascii())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flaw_shows_its_field_and_no_more() {
        assert_eq!(excerpt(b"a,bcd,e", 2), "\"bcd\"");
        assert_eq!(excerpt(b"a,", 2), "the end of the line");
        assert_eq!(excerpt(b"a,,", 2), "\",\"");
        assert_eq!(excerpt(b"\xff\x00", 0), "\"\\xff\\x00\"");
        assert!(excerpt(&[b'7'; 100], 0).chars().count() < 50);
    }
}
