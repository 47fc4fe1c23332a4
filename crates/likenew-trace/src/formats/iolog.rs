//! fio's iolog, versions 2 and 3.
//!
//! Version 2: `FILE ACTION [OFFSET LENGTH]`, time passes by `FILE wait MICROSECONDS`. Version 3: the time
//! comes first, in microseconds since the start of the job. Source: fio's HOWTO, "Trace file format v2" and
//! "v3"; the unit is the one of fio 3.33, which the HOWTO does not name.

use likenew_core::io::Op;
use likenew_core::trace::TraceIo;
use likenew_core::units::Nanos;

use crate::cursor::Cursor;
use crate::error::LineError;
use crate::formats::Parse;
use crate::intake::{Columns, Intake};
use crate::notes::Note;
use crate::wording::expected;

const MICROSECOND_NS: u64 = 1_000;

/// Reads fio's iolog; each file is a volume.
#[derive(Default)]
pub(crate) struct Iolog {
    version: Option<u8>,
    /// Version 2: the sum of all waits.
    now: Nanos,
    has_waited: bool,
}

impl Parse for Iolog {
    fn line(&mut self, line: &[u8], intake: &mut Intake) -> Result<(), LineError> {
        let Some(version) = self.version else {
            self.version = match line.trim_ascii_end() {
                b"fio version 2 iolog" => Some(2),
                b"fio version 3 iolog" => Some(3),
                _ => return Err(LineError::at(0, expected::IOLOG_FIRST_LINE)),
            };
            return Ok(());
        };
        let mut cursor = Cursor::new(line);
        if version == 3 {
            self.now = Nanos(cursor.scale(MICROSECOND_NS, expected::TIME_MICROSECONDS)?);
            cursor.blanks(expected::BLANK)?;
        }
        let file = cursor.word();
        cursor.blanks(expected::IOLOG_ACTION)?;
        let line_error = cursor.line_error(expected::IOLOG_ACTIONS);
        let op = match cursor.word() {
            b"add" | b"open" | b"close" => return cursor.end(),
            b"read" => Op::Read,
            b"write" => Op::Write,
            b"trim" => Op::Trim,
            b"sync" | b"datasync" | b"sync_file_range" => Op::Flush,
            b"wait" if version == 2 => return self.wait(&mut cursor),
            _ => return Err(line_error),
        };
        let (offset, length, columns) = match (op, cursor.rest().trim_ascii().is_empty()) {
            (Op::Flush, true) => (0, 0, Columns::default()),
            _ => range(&mut cursor)?,
        };
        cursor.end()?;
        if !intake.volumes.selects(file)? {
            return Ok(());
        }
        intake.put(TraceIo { at: self.now, op, offset, length, latency: None, application: 0 }, columns)
    }

    fn end(&mut self, intake: &mut Intake) -> Result<(), LineError> {
        if self.version == Some(2) && !self.has_waited {
            intake.notes.add(Note::NoTimes);
        }
        Ok(())
    }
}

impl Iolog {
    fn wait(&mut self, cursor: &mut Cursor<'_>) -> Result<(), LineError> {
        cursor.blanks(expected::WAIT)?;
        let line_error = cursor.line_error(expected::WAIT);
        let wait = cursor.scale(MICROSECOND_NS, expected::WAIT)?;
        self.now = Nanos(self.now.0.checked_add(wait).ok_or(line_error)?);
        self.has_waited = true;
        // fio reads four words, so that files have a length here, too.
        if !cursor.rest().trim_ascii().is_empty() {
            cursor.blanks(expected::BLANK)?;
            cursor.number(expected::IGNORED_NUMBER)?;
        }
        cursor.end()
    }
}

fn range(cursor: &mut Cursor<'_>) -> Result<(u64, u64, Columns), LineError> {
    let mut columns = Columns::default();
    cursor.blanks(expected::OFFSET_BYTES)?;
    columns.offset = cursor.at();
    let offset = cursor.number(expected::OFFSET_BYTES)?;
    cursor.blanks(expected::LENGTH_BYTES)?;
    columns.length = cursor.at();
    let length = cursor.number(expected::LENGTH_BYTES)?;
    Ok((offset, length, columns))
}
