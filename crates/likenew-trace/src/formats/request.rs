//! The end of a line about a request of Linux's block layer: `SECTOR + COUNT … [COMM]`.

use crate::cursor::Cursor;
use crate::error::LineError;
use crate::formats::SECTOR;
use crate::intake::Columns;
use crate::wording::expected;

/// The range of a request and the text in its brackets.
pub(crate) struct Range<'l> {
    pub(crate) sector: u64,
    pub(crate) sectors: u64,
    /// The program at the beginning of an I/O, the error at its end.
    pub(crate) bracket: &'l [u8],
}

/// Reads `SECTOR + COUNT (…) … [BRACKET]`. A request without blocks has `SECTOR [BRACKET]` or the bracket alone.
pub(crate) fn range<'l>(cursor: &mut Cursor<'l>, columns: &mut Columns) -> Result<Range<'l>, LineError> {
    cursor.skip_blanks();
    columns.offset = cursor.at();
    let (mut sector, mut sectors) = (0, 0);
    if cursor.peek().is_some_and(|byte| byte.is_ascii_digit()) {
        sector = cursor.number(expected::SECTOR)?;
        cursor.skip_blanks();
    }
    if cursor.take(b'+') {
        cursor.skip_blanks();
        columns.length = cursor.at();
        sectors = cursor.number(expected::SECTOR_COUNT)?;
    }
    Ok(Range { sector, sectors, bracket: bracket(cursor)? })
}

impl Range<'_> {
    /// First byte and length.
    pub(crate) fn bytes(&self, columns: Columns) -> Result<(u64, u64), LineError> {
        if self.sectors == 0 {
            return Ok((0, 0));
        }
        let offset = self
            .sector
            .checked_mul(SECTOR)
            .ok_or(LineError::at(columns.offset, expected::SECTOR_IN_RANGE))?;
        let length = self.sectors.checked_mul(SECTOR);
        Ok((offset, length.ok_or(LineError::at(columns.length, expected::SECTOR_COUNT_IN_RANGE))?))
    }
}

/// What stands between the first bracket that opens and the last that closes.
fn bracket<'l>(cursor: &mut Cursor<'l>) -> Result<&'l [u8], LineError> {
    let rest = cursor.rest();
    let from = memchr::memchr(b'[', rest);
    let to = memchr::memrchr(b']', rest);
    match (from, to) {
        (Some(from), Some(to)) if from < to && rest[to + 1..].trim_ascii().is_empty() => {
            Ok(&rest[from + 1..to])
        }
        _ => Err(cursor.line_error(expected::PROGRAM_OR_ERROR)),
    }
}
