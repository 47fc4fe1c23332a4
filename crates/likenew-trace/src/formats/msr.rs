//! MSR Cambridge: `Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime`, without a header.
//!
//! Times are Windows file times, 100 ns each; offset and size are bytes. Source: README of the traces published with
//! D. Narayanan, A. Donnelly, A. Rowstron, "Write Off-Loading: Practical Power Management for Enterprise Storage",
//! FAST 2008 (SNIA IOTTA, block I/O traces 387).

use likenew_core::io::Op;
use likenew_core::trace::TraceIo;
use likenew_core::units::Nanos;

use crate::cursor::Cursor;
use crate::error::LineError;
use crate::formats::{Parse, is_header};
use crate::intake::{Columns, Intake};
use crate::volumes::Spelling;
use crate::wording::expected;

/// The volume is host and disk: `src1,2` in the file, `src1_2` in the names of the files.
pub(crate) const VOLUME: Spelling = Spelling { file: b',', display_name: b'_' };

const TICK_NS: u64 = 100;

/// Reads MSR Cambridge's format.
#[derive(Default)]
pub(crate) struct Msr {
    has_started: bool,
}

impl Parse for Msr {
    #[inline]
    fn line(&mut self, line: &[u8], intake: &mut Intake) -> Result<(), LineError> {
        if !std::mem::replace(&mut self.has_started, true) && is_header(line) {
            return Ok(());
        }
        let mut cursor = Cursor::new(line);
        let mut columns = Columns::default();
        let at = Nanos(cursor.scale(TICK_NS, expected::WINDOWS_FILE_TIME)?);
        cursor.comma()?;
        let volume = cursor.at();
        cursor.until(b',');
        cursor.comma()?;
        cursor.number(expected::DISK_NUMBER)?;
        let volume = cursor.slice_from(volume);
        cursor.comma()?;
        let line_error = cursor.line_error(expected::READ_OR_WRITE);
        let op = match cursor.until(b',') {
            b"Read" => Op::Read,
            b"Write" => Op::Write,
            _ => return Err(line_error),
        };
        cursor.comma()?;
        columns.offset = cursor.at();
        let offset = cursor.number(expected::OFFSET_BYTES)?;
        cursor.comma()?;
        columns.length = cursor.at();
        let length = cursor.number(expected::SIZE_BYTES)?;
        cursor.comma()?;
        columns.latency = cursor.at();
        let latency = Some(Nanos(cursor.scale(TICK_NS, expected::RESPONSE_TIME_TICKS)?));
        cursor.end()?;
        if !intake.volumes.selects(volume)? {
            return Ok(());
        }
        intake.put(TraceIo { at, op, offset, length, latency, application: 0 }, columns)
    }
}
