//! What is wrong with a line, without its number and file.

use std::borrow::Cow;

use crate::error::{LineProblem, TraceError};
use crate::wording::expected;

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
pub(crate) fn locate(file: &str, number: u64, line: &[u8], line_error: LineError) -> TraceError {
    let file = file.to_owned();
    match line_error {
        LineError::At(column, expected) => TraceError::Malformed {
            file,
            line: number,
            column: column + 1,
            expected: expected.into_owned(),
            actual: excerpt(line, column),
        },
        LineError::Line(problem) => TraceError::InvalidLine { file, line: number, problem },
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
