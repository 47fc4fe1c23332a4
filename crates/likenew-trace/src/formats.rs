//! One file per format: what its lines mean.

pub(crate) mod alibaba;
pub(crate) mod blkparse;
mod event;
pub(crate) mod fiu;
pub(crate) mod iolog;
pub(crate) mod likenew;
pub(crate) mod msr;
mod request;
mod rwbs;
pub(crate) mod systor;
pub(crate) mod tencent;
pub(crate) mod tracefs;

use crate::error::LineError;
use crate::head::TraceHead;
use crate::intake::Intake;

/// Bytes of a sector, the unit of Linux's block layer and of several formats.
const SECTOR: u64 = 512;

/// The lines of one format.
pub(crate) trait Parse: Send {
    /// Whether a last line that was cut off is left out with a note, as a recorder that was killed leaves
    /// one.
    fn forgives_torn_end(&self) -> bool {
        false
    }

    /// Takes one line without its end; never an empty one.
    fn line(&mut self, line: &[u8], intake: &mut Intake) -> Result<(), LineError>;

    /// The file has ended.
    fn end(&mut self, _intake: &mut Intake) -> Result<(), LineError> {
        Ok(())
    }

    /// The trace's header.
    fn head(&self) -> Option<&TraceHead> {
        None
    }
}

/// Whether a line of CSV names its columns.
fn is_header(line: &[u8]) -> bool {
    line.len() > 9 && (line[..9].eq_ignore_ascii_case(b"timestamp") || line.starts_with(b"device_id,"))
}
