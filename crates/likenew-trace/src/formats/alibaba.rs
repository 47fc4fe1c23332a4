//! Alibaba's block traces of 2020: `device_id,opcode,offset,length,timestamp`, without a header.
//!
//! The opcode is R or W, offset and length are bytes, the time is in microseconds. Source: README of
//! github.com/alibaba/block-traces, published with J. Li et al., "An In-Depth Analysis of Cloud Block Storage Workloads in
//! Large-Scale Production", IISWC 2020.

use likenew_core::io::Op;
use likenew_core::trace::TraceIo;
use likenew_core::units::Nanos;

use crate::cursor::Cursor;
use crate::flaw::Flaw;
use crate::formats::{Parse, is_header};
use crate::intake::{Columns, Intake};

/// Reads Alibaba's format.
#[derive(Default)]
pub(crate) struct Alibaba {
    has_begun: bool,
}

impl Parse for Alibaba {
    #[inline]
    fn line(&mut self, line: &[u8], intake: &mut Intake) -> Result<(), Flaw> {
        if !std::mem::replace(&mut self.has_begun, true) && is_header(line) {
            return Ok(());
        }
        let mut cursor = Cursor::new(line);
        cursor.number("the number of a device")?;
        let volume = cursor.since(0);
        cursor.comma()?;
        let flaw = cursor.flaw("R or W");
        let op = match cursor.until(b',') {
            b"R" => Op::Read,
            b"W" => Op::Write,
            _ => return Err(flaw),
        };
        cursor.comma()?;
        let mut columns = Columns { offset: cursor.at(), ..Columns::default() };
        let offset = cursor.number("an offset in bytes")?;
        cursor.comma()?;
        columns.length = cursor.at();
        let length = cursor.number("a length in bytes")?;
        cursor.comma()?;
        columns.at = cursor.at();
        let at = Nanos(cursor.scaled(1_000, "a time in microseconds")?);
        cursor.end()?;
        if !intake.volumes.takes(volume)? {
            return Ok(());
        }
        intake.put(TraceIo { at, op, offset, length, latency: None, application: 0 }, columns)
    }
}
