//! Reads traces of Florida International University (SRCMap, I/O deduplication): `ts pid process lba size type major
//! minor md5`. The time is in nanoseconds, address and size in sectors of 512 bytes, the type R or W. Source: README
//! of the traces published with A. Verma et al., "SRCMap: Energy Proportional Storage using Dynamic Consolidation",
//! FAST 2010 (SNIA IOTTA, block I/O traces 390).

use super::{Format, READ_OR_WRITE, SECTOR};
use crate::error::LineError;
use crate::intake::{Intake, Row, Separators};
use crate::lines::{Fields, Separator};
use crate::wording::expected;

/// A volume is `6 0` in the file and `6,0` elsewhere.
pub(super) static FORMAT: Format = Format {
    separators: Separators { file: b' ', display_name: b',' },
    ..Format::new("fiu", || Box::new(line))
};

/// Fields after the process, whose name may contain blanks.
const FIELDS_BEHIND: usize = 6;

fn line(line: &[u8], intake: &mut Intake) -> Result<(), LineError> {
    let mut fields = Fields::new(line, Separator::Blanks);
    let at = fields.number(expected::TIME_NANOSECONDS)?;
    fields.text()?;
    fields.next()?;
    let process = fields.cursor.before_last_words(FIELDS_BEHIND);
    let process = process.ok_or_else(|| fields.cursor.line_error(expected::FIU_FIELDS))?;
    fields.cursor.skip(process.len());
    let offset = fields.scale(SECTOR, expected::ADDRESS_SECTORS)?;
    let length = fields.scale(SECTOR, expected::SIZE_SECTORS)?;
    let op = fields.choice(&READ_OR_WRITE, expected::R_OR_W)?;
    let major = fields.number(expected::MAJOR)?;
    fields.number(expected::MINOR)?;
    let volume = fields.cursor.slice_from(major.column);
    fields.text()?;
    fields.cursor.end()?;
    if !intake.volumes.selects(volume)? {
        return Ok(());
    }
    let application = intake.applications.index(process);
    intake.put(Row { at, op, offset, length, latency: None }, application)
}
