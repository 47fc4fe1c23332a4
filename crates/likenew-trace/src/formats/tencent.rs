//! Tencent's cloud block storage of 2018: `Timestamp,Offset,Size,IOType,VolumeID`, without a header.
//!
//! The time is in whole seconds, offset and size in sectors of 512 bytes; the type is 0 for a read and 1 for
//! a write. Source: README of the traces published with Y. Zhang et al., "OSCA: An Online-Model Based Cache
//! Allocation Scheme in Cloud Block Storage Systems", ATC 2020 (SNIA IOTTA, parallel traces 28064).

use likenew_core::io::Op;
use likenew_core::trace::TraceIo;
use likenew_core::units::Nanos;

use crate::cursor::Cursor;
use crate::error::LineError;
use crate::formats::{Parse, SECTOR, is_header};
use crate::intake::{Columns, Intake};
use crate::notes::Note;
use crate::wording::expected;

/// Reads Tencent's format.
#[derive(Default)]
pub(crate) struct Tencent {
    has_started: bool,
}

impl Parse for Tencent {
    #[inline]
    fn line(&mut self, line: &[u8], intake: &mut Intake) -> Result<(), LineError> {
        if !std::mem::replace(&mut self.has_started, true) {
            intake.notes.add(Note::WholeSeconds);
            if is_header(line) {
                return Ok(());
            }
        }
        let mut cursor = Cursor::new(line);
        let mut columns = Columns::default();
        let at = Nanos(cursor.scale(1_000_000_000, expected::TIME_SECONDS)?);
        cursor.comma()?;
        columns.offset = cursor.at();
        let offset = cursor.scale(SECTOR, expected::OFFSET_SECTORS)?;
        cursor.comma()?;
        columns.length = cursor.at();
        let length = cursor.scale(SECTOR, expected::SIZE_SECTORS)?;
        cursor.comma()?;
        let line_error = cursor.line_error(expected::ZERO_OR_ONE);
        let op = match cursor.until(b',') {
            b"0" => Op::Read,
            b"1" => Op::Write,
            _ => return Err(line_error),
        };
        cursor.comma()?;
        let volume = cursor.at();
        cursor.number(expected::VOLUME_NUMBER)?;
        let volume = cursor.slice_from(volume);
        cursor.end()?;
        if !intake.volumes.selects(volume)? {
            return Ok(());
        }
        intake.put(TraceIo { at, op, offset, length, latency: None, application: 0 }, columns)
    }
}
