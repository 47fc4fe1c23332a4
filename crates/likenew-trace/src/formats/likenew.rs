//! The project's format, as described in `docs/reference/trace.md`.

use std::borrow::Cow;

use likenew_core::io::Op;
use likenew_core::trace::TraceIo;
use likenew_core::units::Nanos;

use crate::cursor::Cursor;
use crate::error::{LineError, LineProblem};
use crate::formats::Parse;
use crate::head::TraceHead;
use crate::intake::{Columns, Intake};
use crate::notes::Note;
use crate::wording::expected;

/// The first line of every trace: what it is, and the version of its format.
pub(crate) const FIRST_LINE: &str = "# likenew trace 1";

/// The line above the records.
pub(crate) const COLUMNS: &str = "at_ns,op,offset,length,latency_ns,application";

/// The key of the last line, whose value is the count of records.
pub(crate) const END: &str = "end";

/// Reads the project's own format.
#[derive(Default)]
pub(crate) struct Likenew {
    head: TraceHead,
    has_started: bool,
    has_columns: bool,
    records: u64,
    /// What the last line counts.
    end: Option<u64>,
}

impl Parse for Likenew {
    fn forgives_torn_end(&self) -> bool {
        true
    }

    #[inline]
    fn line(&mut self, line: &[u8], intake: &mut Intake) -> Result<(), LineError> {
        if self.has_columns && line[0] != b'#' {
            return self.record(line, intake);
        }
        self.head_line(line, intake)
    }

    fn end(&mut self, intake: &mut Intake) -> Result<(), LineError> {
        match self.end {
            Some(count) if count != self.records => {
                let problem = LineProblem::RecordCount { expected: count, actual: self.records };
                Err(LineError::Line(problem))
            }
            Some(_) => Ok(()),
            None => {
                intake.notes.add(Note::NoEndMark);
                Ok(())
            }
        }
    }

    fn head(&self) -> Option<&TraceHead> {
        Some(&self.head)
    }
}

impl Likenew {
    #[inline]
    fn record(&mut self, line: &[u8], intake: &mut Intake) -> Result<(), LineError> {
        let mut cursor = Cursor::new(line);
        let mut columns = Columns::default();
        let at = Nanos(cursor.number(expected::TIME_NANOSECONDS)?);
        cursor.comma()?;
        let op = op(&mut cursor)?;
        cursor.comma()?;
        columns.offset = cursor.at();
        let offset = cursor.number(expected::OFFSET_BYTES)?;
        cursor.comma()?;
        columns.length = cursor.at();
        let length = cursor.number(expected::LENGTH_BYTES)?;
        cursor.comma()?;
        columns.latency = cursor.at();
        let latency = match cursor.peek() {
            Some(b',') => None,
            _ => Some(Nanos(cursor.number(expected::LATENCY)?)),
        };
        cursor.comma()?;
        let application = intake.applications.index(&application(&mut cursor)?);
        if self.end.is_some() {
            return Err(LineError::at(0, expected::NOTHING_AFTER_END));
        }
        self.records += 1;
        intake.put(TraceIo { at, op, offset, length, latency, application }, columns)
    }

    fn head_line(&mut self, line: &[u8], intake: &mut Intake) -> Result<(), LineError> {
        if !self.has_started {
            if line != FIRST_LINE.as_bytes() {
                return Err(LineError::at(0, expected::first_line(FIRST_LINE)));
            }
            self.has_started = true;
            return Ok(());
        }
        let Some(pair) = line.strip_prefix(b"# ") else {
            if line != COLUMNS.as_bytes() || self.has_columns {
                return Err(LineError::at(0, expected::head_line(COLUMNS)));
            }
            self.has_columns = true;
            return Ok(());
        };
        let key = pair.iter().take_while(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_')).count();
        let value = pair[key..].strip_prefix(b": ").filter(|_| key > 0);
        let value = value.ok_or(LineError::at(2, expected::HEAD_PAIR))?;
        let (key, value) = (String::from_utf8_lossy(&pair[..key]), String::from_utf8_lossy(value));
        if key == END {
            self.end = Some(value.parse().map_err(|_| LineError::at(7, expected::RECORD_COUNT))?);
            return Ok(());
        }
        self.head.set(&key, &value).map_err(|expected| LineError::at(4 + key.len(), expected))?;
        intake.capacity = self.head.capacity;
        Ok(())
    }
}

fn op(cursor: &mut Cursor<'_>) -> Result<Op, LineError> {
    let line_error = cursor.line_error(expected::OPERATION);
    match cursor.until(b',') {
        b"read" => Ok(Op::Read),
        b"write" => Ok(Op::Write),
        b"trim" => Ok(Op::Trim),
        b"flush" => Ok(Op::Flush),
        _ => Err(line_error),
    }
}

/// The last field: as it is, or in quotes with inner ones doubled.
fn application<'l>(cursor: &mut Cursor<'l>) -> Result<Cow<'l, [u8]>, LineError> {
    let rest = cursor.rest();
    let [b'"', quoted @ ..] = rest else {
        return match memchr::memchr2(b',', b'"', rest) {
            None => Ok(rest.into()),
            Some(at) => Err(LineError::at(cursor.at() + at, expected::END_OF_LINE_OR_NAME)),
        };
    };
    let mut name = Vec::with_capacity(quoted.len());
    let mut bytes = quoted.iter().enumerate();
    while let Some((at, byte)) = bytes.next() {
        match (byte, quoted.get(at + 1)) {
            (b'"', None) => return Ok(name.into()),
            (b'"', Some(b'"')) => {
                bytes.next();
                name.push(b'"');
            }
            (b'"', _) => return Err(LineError::at(cursor.at() + at + 2, expected::END_OF_LINE)),
            _ => name.push(*byte),
        }
    }
    Err(LineError::at(cursor.at(), expected::NAME_IN_QUOTES))
}
