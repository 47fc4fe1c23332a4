//! SYSTOR '17: `Timestamp,Response,IOType,LUN,Offset,Size` with a header, packed with gzip.
//!
//! Times are seconds with up to nine digits behind the point, valid to the microsecond; offset and size are
//! bytes. The type is R, W or empty; what is empty moved nothing that is known. Source: README of the traces
//! published with C. Lee et al., "Understanding storage traffic characteristics on enterprise virtual desktop
//! infrastructure", SYSTOR 2017 (SNIA IOTTA, block I/O traces 4928).

use likenew_core::io::Op;
use likenew_core::trace::TraceIo;
use likenew_core::units::Nanos;

use crate::cursor::Cursor;
use crate::error::LineError;
use crate::formats::{Parse, is_header};
use crate::intake::{Columns, Intake};
use crate::notes::Counted;
use crate::wording::expected;

/// Reads the format of SYSTOR '17.
#[derive(Default)]
pub(crate) struct Systor;

impl Parse for Systor {
    #[inline]
    fn line(&mut self, line: &[u8], intake: &mut Intake) -> Result<(), LineError> {
        // Files that were joined have one each.
        if is_header(line) {
            return Ok(());
        }
        let mut cursor = Cursor::new(line);
        let mut columns = Columns::default();
        let at = Nanos(cursor.seconds(expected::TIME_SECONDS)?);
        cursor.comma()?;
        columns.latency = cursor.at();
        let latency = match cursor.peek() {
            Some(b',') => None,
            _ => Some(Nanos(cursor.seconds(expected::RESPONSE_TIME_SECONDS)?)),
        };
        cursor.comma()?;
        let line_error = cursor.line_error(expected::R_W_OR_NOTHING);
        let op = match cursor.until(b',') {
            b"R" => Some(Op::Read),
            b"W" => Some(Op::Write),
            b"" => None,
            _ => return Err(line_error),
        };
        cursor.comma()?;
        let volume = cursor.until(b',');
        cursor.comma()?;
        let Some(op) = op else {
            intake.notes.count(Counted::Untyped);
            return Ok(());
        };
        columns.offset = cursor.at();
        let offset = cursor.number(expected::OFFSET_BYTES)?;
        cursor.comma()?;
        columns.length = cursor.at();
        let length = cursor.number(expected::SIZE_BYTES)?;
        cursor.end()?;
        if !intake.volumes.selects(volume)? {
            return Ok(());
        }
        intake.put(TraceIo { at, op, offset, length, latency, application: 0 }, columns)
    }
}
