//! Reads traces of the Storage Performance Council (Financial and WebSearch of the UMass Trace Repository):
//! `ASU,LBA,size,opcode,timestamp`, and fields that a writer may add. The unit (ASU) is a number, the address is in
//! sectors of 512 bytes in these traces, the size in bytes. The opcode is R or W in either case; the time is in
//! seconds. Source: SPC, "Trace File Format Specification", revision 1.0.1 (2002), published with the traces
//! (traces.cs.umass.edu, Storage).

use likenew_core::io::Op;

use super::{Format, SECTOR};
use crate::error::LineError;
use crate::intake::{Intake, Row};
use crate::lines::{Fields, Separator};
use crate::wording::expected;

pub(super) static FORMAT: Format = Format::new("spc", || Box::new(line));

fn line(line: &[u8], intake: &mut Intake) -> Result<(), LineError> {
    let mut fields = Fields::new(line, Separator::Comma);
    fields.number(expected::VOLUME_NUMBER)?;
    let volume = fields.cursor.slice_from(0);
    let offset = fields.scale(SECTOR, expected::ADDRESS_SECTORS)?;
    let length = fields.number(expected::SIZE_BYTES)?;
    let types = [("R", Op::Read), ("r", Op::Read), ("W", Op::Write), ("w", Op::Write)];
    let op = fields.choice(&types, expected::R_OR_W)?;
    let at = fields.seconds(expected::TIME_SECONDS)?;
    if fields.cursor.peek() != Some(b',') {
        fields.cursor.end()?;
    }
    intake.put_of(volume, Row { at, op, offset, length, latency: None })
}
