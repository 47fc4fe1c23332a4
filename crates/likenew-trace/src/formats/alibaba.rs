//! Alibaba's block traces of 2020: `device_id,opcode,offset,length,timestamp`, without a header.
//!
//! The opcode is R or W, offset and length are bytes, the time is in microseconds. Source: README of
//! github.com/alibaba/block-traces, published with J. Li et al., "An In-Depth Analysis of Cloud Block Storage
//! Workloads in Large-Scale Production", IISWC 2020.

use likenew_core::io::Op;
use likenew_core::trace::TraceIo;
use likenew_core::units::Nanos;

use crate::cursor::Cursor;
use crate::error::LineError;
use crate::formats::{Parse, is_header};
use crate::intake::{Columns, Intake};
use crate::wording::expected;

/// Reads Alibaba's format.
#[derive(Default)]
pub(crate) struct Alibaba {
    has_started: bool,
}

impl Parse for Alibaba {
    #[inline]
    fn line(&mut self, line: &[u8], intake: &mut Intake) -> Result<(), LineError> {
        if !std::mem::replace(&mut self.has_started, true) && is_header(line) {
            return Ok(());
        }
        let mut cursor = Cursor::new(line);
        cursor.number(expected::DEVICE_NUMBER)?;
        let volume = cursor.slice_from(0);
        cursor.comma()?;
        let line_error = cursor.line_error(expected::R_OR_W);
        let op = match cursor.until(b',') {
            b"R" => Op::Read,
            b"W" => Op::Write,
            _ => return Err(line_error),
        };
        cursor.comma()?;
        let mut columns = Columns { offset: cursor.at(), ..Columns::default() };
        let offset = cursor.number(expected::OFFSET_BYTES)?;
        cursor.comma()?;
        columns.length = cursor.at();
        let length = cursor.number(expected::LENGTH_BYTES)?;
        cursor.comma()?;
        columns.at = cursor.at();
        let at = Nanos(cursor.scale(1_000, expected::TIME_MICROSECONDS)?);
        cursor.end()?;
        if !intake.volumes.selects(volume)? {
            return Ok(());
        }
        intake.put(TraceIo { at, op, offset, length, latency: None, application: 0 }, columns)
    }
}
