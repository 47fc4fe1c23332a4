//! Florida International University (SRCMap, I/O deduplication): `ts pid process lba size type major minor md5`.
//!
//! The time is in nanoseconds, address and size in sectors of 512 bytes, the type R or W. Source: README of the traces
//! published with A. Verma et al., "SRCMap: Energy Proportional Storage using Dynamic Consolidation", FAST 2010 (SNIA
//! IOTTA, block I/O traces 390).

use likenew_core::io::Op;
use likenew_core::trace::TraceIo;
use likenew_core::units::Nanos;

use crate::cursor::Cursor;
use crate::error::LineError;
use crate::formats::{Parse, SECTOR};
use crate::intake::{Columns, Intake};
use crate::volumes::Spelling;
use crate::wording::expected;

/// The volume is `6 0` in the file and `6,0` elsewhere.
pub(crate) const VOLUME: Spelling = Spelling { file: b' ', display_name: b',' };

/// Fields behind the process, whose name can hold blanks.
const FIELDS_BEHIND: usize = 6;

/// Reads the format of Florida International University.
#[derive(Default)]
pub(crate) struct Fiu;

impl Parse for Fiu {
    #[inline]
    fn line(&mut self, line: &[u8], intake: &mut Intake) -> Result<(), LineError> {
        let mut cursor = Cursor::new(line);
        let mut columns = Columns::default();
        let at = Nanos(cursor.number(expected::TIME_NANOSECONDS)?);
        cursor.blanks(expected::BLANK)?;
        cursor.word();
        cursor.blanks(expected::BLANK)?;
        let process = process(cursor.rest()).ok_or_else(|| cursor.line_error(expected::FIU_FIELDS))?;
        cursor.skip(process.len());
        cursor.blanks(expected::BLANK)?;
        columns.offset = cursor.at();
        let offset = cursor.scale(SECTOR, expected::ADDRESS_SECTORS)?;
        cursor.blanks(expected::BLANK)?;
        columns.length = cursor.at();
        let length = cursor.scale(SECTOR, expected::SIZE_SECTORS)?;
        cursor.blanks(expected::BLANK)?;
        let line_error = cursor.line_error(expected::R_OR_W);
        let op = match cursor.word() {
            b"R" => Op::Read,
            b"W" => Op::Write,
            _ => return Err(line_error),
        };
        cursor.blanks(expected::BLANK)?;
        let volume = cursor.at();
        cursor.number(expected::MAJOR)?;
        cursor.blanks(expected::BLANK)?;
        cursor.number(expected::MINOR)?;
        let volume = cursor.slice_from(volume);
        cursor.blanks(expected::BLANK)?;
        cursor.word();
        cursor.end()?;
        if !intake.volumes.selects(volume)? {
            return Ok(());
        }
        let application = intake.applications.index(process);
        intake.put(TraceIo { at, op, offset, length, latency: None, application }, columns)
    }
}

/// What stands before the last six words.
fn process(text: &[u8]) -> Option<&[u8]> {
    let mut text = text.trim_ascii_end();
    for _ in 0..FIELDS_BEHIND {
        let blank = memchr::memrchr(b' ', text)?;
        text = text[..blank].trim_ascii_end();
    }
    Some(text).filter(|name| !name.is_empty())
}
