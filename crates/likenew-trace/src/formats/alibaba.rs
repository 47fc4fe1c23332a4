//! Reads Alibaba's block traces of 2020: `device_id,opcode,offset,length,timestamp`, without a header. The opcode is
//! R or W, offset and length are bytes, the time is in microseconds. Source: README of
//! github.com/alibaba/block-traces, published with J. Li et al., "An In-Depth Analysis of Cloud Block Storage
//! Workloads in Large-Scale Production", IISWC 2020.

use super::{Format, READ_OR_WRITE};
use crate::error::LineError;
use crate::intake::{Intake, Row};
use crate::lines::{Fields, Separator};
use crate::wording::expected;

pub(super) static FORMAT: Format =
    Format { header: "device_id,opcode,", ..Format::new("alibaba", || Box::new(line)) };

fn line(line: &[u8], intake: &mut Intake) -> Result<(), LineError> {
    let mut fields = Fields::new(line, Separator::Comma);
    fields.number(expected::DEVICE_NUMBER)?;
    let volume = fields.cursor.slice_from(0);
    let op = fields.choice(&READ_OR_WRITE, expected::R_OR_W)?;
    let offset = fields.number(expected::OFFSET_BYTES)?;
    let length = fields.number(expected::LENGTH_BYTES)?;
    let at = fields.scale(1_000, expected::TIME_MICROSECONDS)?;
    fields.cursor.end()?;
    intake.put_of(volume, Row { at, op, offset, length, latency: None })
}
