//! Reads traces of Tencent's cloud block storage of 2018: `Timestamp,Offset,Size,IOType,VolumeID`, without a header.
//! The time is in whole seconds, offset and size in sectors of 512 bytes; the type is 0 for a read and 1 for a
//! write. Source: README of the traces published with Y. Zhang et al., "OSCA: An Online-Model Based Cache Allocation
//! Scheme in Cloud Block Storage Systems", ATC 2020 (SNIA IOTTA, parallel traces 28064).

use likenew_core::io::Op;

use super::{Format, Parse, SECTOR};
use crate::error::LineError;
use crate::intake::{Intake, Row};
use crate::lines::{Fields, Separator};
use crate::notes::Note;
use crate::wording::expected;

pub(super) static FORMAT: Format =
    Format { header: "timestamp,offset,", ..Format::new("tencent", || Box::new(Tencent)) };

struct Tencent;

impl Parse for Tencent {
    fn begin(&mut self, _ahead: &[u8], intake: &mut Intake) {
        intake.notes.add(Note::WholeSeconds);
    }

    fn line(&mut self, line: &[u8], intake: &mut Intake) -> Result<(), LineError> {
        let mut fields = Fields::new(line, Separator::Comma);
        let at = fields.scale(1_000_000_000, expected::TIME_SECONDS)?;
        let offset = fields.scale(SECTOR, expected::OFFSET_SECTORS)?;
        let length = fields.scale(SECTOR, expected::SIZE_SECTORS)?;
        let op = fields.choice(&[("0", Op::Read), ("1", Op::Write)], expected::ZERO_OR_ONE)?;
        let volume = fields.number(expected::VOLUME_NUMBER)?;
        let volume = fields.cursor.slice_from(volume.column);
        fields.cursor.end()?;
        intake.put_of(volume, Row { at, op, offset, length, latency: None })
    }
}
