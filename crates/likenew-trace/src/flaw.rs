//! What is wrong with a line, before it is known which line of which file that is.

use std::borrow::Cow;

use crate::error::TraceError;

/// What is wrong with a line.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Flaw {
    /// Something else was expected at this byte of it.
    At(usize, Cow<'static, str>),
    /// The line makes no sense where it stands.
    Whole(String),
    /// It belongs to another volume than the lines before, and none was chosen.
    AnotherVolume,
}

impl Flaw {
    pub(crate) fn at(column: usize, expected: impl Into<Cow<'static, str>>) -> Self {
        Self::At(column, expected.into())
    }
}

/// At most so many bytes of what was found are shown.
const SHOWN: usize = 40;

/// The error that names the place.
pub(crate) fn placed(file: &str, number: u64, line: &[u8], flaw: Flaw) -> TraceError {
    let file = file.to_owned();
    match flaw {
        Flaw::At(column, expected) => TraceError::Malformed {
            file,
            line: number,
            column: column + 1,
            expected: expected.into_owned(),
            found: found(line, column),
        },
        Flaw::Whole(why) => TraceError::Senseless { file, line: number, why },
        Flaw::AnotherVolume => unreachable!("the reader counts the volumes before anybody is told"),
    }
}

/// What stands at this byte, up to the end of its field.
fn found(line: &[u8], column: usize) -> String {
    let rest = line.get(column..).unwrap_or_default();
    if rest.is_empty() {
        return "the end of the line".to_owned();
    }
    let ends = |byte: &u8| matches!(byte, b',' | b' ' | b'\t');
    let field = rest.iter().position(ends).unwrap_or(rest.len()).max(1);
    let shown = &rest[..field.min(SHOWN)];
    let more = if field > SHOWN { "…" } else { "" };
    format!("\"{}{more}\"", shown.escape_ascii())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flaw_shows_its_field_and_no_more() {
        assert_eq!(found(b"a,bcd,e", 2), "\"bcd\"");
        assert_eq!(found(b"a,", 2), "the end of the line");
        assert_eq!(found(b"a,,", 2), "\",\"");
        assert_eq!(found(b"\xff\x00", 0), "\"\\xff\\x00\"");
        assert!(found(&[b'7'; 100], 0).chars().count() < 50);
    }
}
