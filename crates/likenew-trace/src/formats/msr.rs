//! Reads traces of MSR Cambridge: `Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime`, without a header.
//! Times are Windows file times, 100 ns each; offset and size are bytes. Source: README of the traces published with
//! D. Narayanan, A. Donnelly, A. Rowstron, "Write Off-Loading: Practical Power Management for Enterprise Storage",
//! FAST 2008 (SNIA IOTTA, block I/O traces 387).

use likenew_core::io::Op;

use super::Format;
use crate::error::LineError;
use crate::intake::{Intake, Row, Separators};
use crate::lines::{Fields, Separator};
use crate::wording::expected;

/// A volume is a host and a disk: `src1,2` in the file, `src1_2` in the files' names.
pub(super) static FORMAT: Format = Format {
    header: "timestamp,hostname,",
    separators: Separators { file: b',', display_name: b'_' },
    ..Format::new("msr", || Box::new(line))
};

/// Unit of a Windows file time.
const TICK_NS: u64 = 100;

fn line(line: &[u8], intake: &mut Intake) -> Result<(), LineError> {
    let mut fields = Fields::new(line, Separator::Comma);
    let at = fields.scale(TICK_NS, expected::WINDOWS_FILE_TIME)?;
    let volume = fields.next()?;
    fields.cursor.until(b',');
    fields.number(expected::DISK_NUMBER)?;
    let volume = fields.cursor.slice_from(volume);
    let op = fields.choice(&[("Read", Op::Read), ("Write", Op::Write)], expected::READ_OR_WRITE)?;
    let offset = fields.number(expected::OFFSET_BYTES)?;
    let length = fields.number(expected::SIZE_BYTES)?;
    let latency = Some(fields.scale(TICK_NS, expected::RESPONSE_TIME_TICKS)?);
    fields.cursor.end()?;
    intake.put_of(volume, Row { at, op, offset, length, latency })
}
