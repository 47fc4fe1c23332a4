//! Reads traces of SYSTOR '17: `Timestamp,Response,IOType,LUN,Offset,Size` with a header, compressed with gzip.
//! Times are seconds with up to nine decimals, valid to the microsecond; offset and size are bytes. The type is R, W
//! or empty; it is unknown what empty ones moved. Source: README of the traces published with C. Lee et al.,
//! "Understanding storage traffic characteristics on enterprise virtual desktop infrastructure", SYSTOR 2017 (SNIA
//! IOTTA, block I/O traces 4928).

use likenew_core::io::Op;

use super::{Format, is_header};
use crate::error::LineError;
use crate::intake::{Intake, Row};
use crate::lines::{Fields, Separator};
use crate::notes::Counted;
use crate::wording::expected;

pub(super) static FORMAT: Format =
    Format { header: "timestamp,response,", ..Format::new("systor", || Box::new(line)) };

fn line(line: &[u8], intake: &mut Intake) -> Result<(), LineError> {
    // Joined files contain several headers.
    if is_header(line) {
        return Ok(());
    }
    let mut fields = Fields::new(line, Separator::Comma);
    let at = fields.seconds(expected::TIME_SECONDS)?;
    let latency = fields.optional(|fields| fields.seconds(expected::RESPONSE_TIME_SECONDS))?;
    let types = [("R", Some(Op::Read)), ("W", Some(Op::Write)), ("", None)];
    let op = fields.choice(&types, expected::R_W_OR_NOTHING)?;
    let volume = fields.text()?;
    let Some(op) = op else {
        fields.next()?;
        intake.notes.count(Counted::Untyped);
        return Ok(());
    };
    let offset = fields.number(expected::OFFSET_BYTES)?;
    let length = fields.number(expected::SIZE_BYTES)?;
    fields.cursor.end()?;
    intake.put_of(volume, Row { at, op, offset, length, latency })
}
