//! Why a trace could not be read or written.

use std::borrow::Cow;
use std::fmt;

use likenew_core::target_error::system_reason;

use super::wording::{advice, expected};

/// Why a trace could not be read or written. `file` is its name as it was given. A place in a file counts lines and
/// columns from 1, columns in bytes.
#[derive(Debug, thiserror::Error)]
pub enum TraceError {
    /// The file cannot be opened, created, read or written.
    #[error("could not {action} {file}: {}{}", system_reason(error), advice(error))]
    File {
        /// What was attempted: "read".
        action: &'static str,
        /// Its name.
        file: String,
        /// The system's error.
        error: std::io::Error,
    },
    /// It holds nothing.
    #[error("{file} is empty")]
    Empty {
        /// Its name.
        file: String,
    },
    /// It begins like no trace.
    #[error(
        "{file} has an unknown trace format (it begins with \"{start}\"); name it with --format: {formats}"
    )]
    UnknownFormat {
        /// Its name.
        file: String,
        /// Its first characters.
        start: String,
        /// The names of all formats.
        formats: String,
    },
    /// strace wrote it.
    #[error(
        "{file} is strace's output: system calls do not show what reaches a drive; record that with \"likenew record\""
    )]
    Strace {
        /// Its name.
        file: String,
    },
    /// iostat wrote it.
    #[error("{file} is iostat's output, which only counts I/Os; record each of them with \"likenew record\"")]
    Iostat {
        /// Its name.
        file: String,
    },
    /// It is in the project's format, but of another version.
    #[error("{file} is a trace of another version of likenew: this one reads \"{first_line}\"")]
    OtherVersion {
        /// Its name.
        file: String,
        /// The first line of the version that is read here.
        first_line: &'static str,
    },
    /// blktrace wrote it, in a version that is not read here.
    #[error(
        "{file} is blktrace's binary output of version {version}, and this one reads version {known}: \"blkparse -i FILE\" \
         makes text of it"
    )]
    BlktraceVersion {
        /// Its name.
        file: String,
        /// The version of its records.
        version: u8,
        /// The version that is read here.
        known: u8,
    },
    /// trace-cmd wrote it.
    #[error("{file} is trace-cmd's binary output: \"trace-cmd report\" makes text of it")]
    TraceCmdBinary {
        /// Its name.
        file: String,
    },
    /// perf wrote it.
    #[error("{file} is perf's binary output: \"perf script -i FILE\" makes text of it")]
    PerfBinary {
        /// Its name.
        file: String,
    },
    /// A tool with the name of biosnoop printed it, and left out what a trace needs.
    #[error(
        "{file} is biosnoop's output without addresses or times: record with the biosnoop of bcc, and without -t"
    )]
    Biosnoop {
        /// Its name.
        file: String,
    },
    /// It is compressed in a way that is not read here.
    #[error("{file} is packed with zip, xz or bzip2: unpack it; gzip and Zstandard can be read as they are")]
    Packed {
        /// Its name.
        file: String,
    },
    /// It is an archive of several files.
    #[error("{file} is a tar archive: unpack it first")]
    TarArchive {
        /// Its name.
        file: String,
    },
    /// It holds bytes that no text has.
    #[error("{file} is not text, as every trace format but blktrace's is")]
    NotText {
        /// Its name.
        file: String,
    },
    /// Something breaks its format.
    #[error("{file}, {place}: expected {expected}, found {actual}")]
    Malformed {
        /// Its name.
        file: String,
        /// Where in it.
        place: Place,
        /// What should be there.
        expected: String,
        /// What is.
        actual: String,
    },
    /// A line cannot be read, or is valid by itself but not at its place.
    #[error("{file}, {place}: {problem}")]
    InvalidLine {
        /// Its name.
        file: String,
        /// Where in it.
        place: Place,
        /// What is wrong, and what to do.
        problem: LineProblem,
    },
    /// The volume that was asked for is not there, as there is none at all.
    #[error("{file} has no volume {volume}: it holds no record")]
    NoRecords {
        /// Its name.
        file: String,
        /// The volume that was asked for.
        volume: String,
    },
    /// The volume that was asked for is not there.
    #[error("{file} has no volume {volume}; there are (with records): {volumes}")]
    NoSuchVolume {
        /// Its name.
        file: String,
        /// The volume that was asked for.
        volume: String,
        /// Those that are there, with their records.
        volumes: String,
    },
    /// It holds several volumes and none was chosen.
    #[error(
        "{file} holds several volumes, in its first {lines} {unit}s (with records): {volumes}; choose one with --volume"
    )]
    SeveralVolumes {
        /// Its name.
        file: String,
        /// Lines that were searched for volumes.
        lines: u64,
        /// A line or a record.
        unit: &'static str,
        /// The volumes, with their records.
        volumes: String,
    },
}

/// A place in a file: a line of text or a record of bytes, and which byte of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Whether the file is text.
    pub is_text: bool,
    /// Of the line or record, from 1.
    pub number: u64,
    /// Of the byte, from 1, unless all of it is meant.
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

/// What a file consists of.
pub(crate) fn unit(is_text: bool) -> &'static str {
    if is_text { "line" } else { "record" }
}

/// What is wrong with a line as a whole.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LineProblem {
    /// It is too far from its place in the order of time.
    #[error(
        "its time lies before that of records that stand {lines} or more lines earlier: sort the file by time"
    )]
    TooLate {
        /// How many lines late a record may come.
        lines: usize,
    },
    /// It shows that the records so far were the wrong ones.
    #[error(
        "it is the first request (D, block_rq_issue) of a device whose bios (Q, block_bio_queue) were taken so far: cut the \
         trace before it"
    )]
    FirstRequest,
    /// The end mark counts other records than there are.
    #[error(
        "the trace says here that it has {expected} records, and {actual} were found: the file was changed"
    )]
    RecordCount {
        /// By the end mark.
        expected: u64,
        /// Those that were read.
        actual: u64,
    },
    /// It does not end.
    #[error("it is longer than {max} bytes: no trace has such lines")]
    TooLong {
        /// Bytes that a line may have.
        max: usize,
    },
    /// The compressed data breaks off.
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
        /// What the decompressor says.
        error: String,
    },
}

/// What is wrong with a line.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum LineError {
    /// Something else was expected at this byte of it.
    At(usize, Cow<'static, str>),
    /// The line is not valid at its place.
    Line(LineProblem),
    /// It belongs to another volume than the lines before, and none was chosen.
    AnotherVolume,
}

impl LineError {
    pub(crate) fn at(column: usize, expected: impl Into<Cow<'static, str>>) -> Self {
        Self::At(column, expected.into())
    }
}

/// Bytes of the faulty text that are shown, at most.
const EXCERPT_BYTES: usize = 40;

/// The error that names the place.
pub(crate) fn locate(file: &str, place: Place, line: &[u8], line_error: LineError) -> TraceError {
    let file = file.to_owned();
    match line_error {
        LineError::At(column, expected) => TraceError::Malformed {
            file,
            place: Place { column: Some(column + 1), ..place },
            expected: expected.into_owned(),
            actual: excerpt(line, column),
        },
        LineError::Line(problem) => TraceError::InvalidLine { file, place, problem },
        LineError::AnotherVolume => unreachable!("the reader counts the volumes before anybody is told"),
    }
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
