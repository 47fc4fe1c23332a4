//! Events of a request in Linux's block layer, from either source.

use likenew_core::trace::TraceIo;
use likenew_core::units::Nanos;

use crate::error::LineError;
use crate::formats::request::Range;
use crate::formats::rwbs::{Payload, payload};
use crate::intake::{Columns, Intake};
use crate::notes::Counted;
use crate::wording::expected;

/// What happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EventKind {
    /// It leaves for the drive.
    Issue,
    /// It, or a part of it, ends.
    Complete,
    /// The drive did not take it; it will leave again.
    Requeued,
}

/// An event, and the place of its values in the line.
pub(crate) struct Event<'l> {
    pub(crate) at: Nanos,
    pub(crate) kind: EventKind,
    pub(crate) device: &'l [u8],
    pub(crate) letters: &'l [u8],
    pub(crate) letters_at: usize,
    pub(crate) range: Range<'l>,
    pub(crate) columns: Columns,
}

impl Event<'_> {
    /// Passes it on, if it is about the volume that is read.
    pub(crate) fn apply_to(self, intake: &mut Intake) -> Result<(), LineError> {
        let moved = payload(self.letters, self.range.sectors);
        let moved = moved.ok_or(LineError::at(self.letters_at, expected::KNOWN_LETTERS))?;
        let Payload::Io(op) = moved else {
            intake.notes.count(Counted::NoBlocks);
            return Ok(());
        };
        let (offset, length) = self.range.bytes(self.columns)?;
        match self.kind {
            EventKind::Issue => {
                if !intake.volumes.selects(self.device)? {
                    return Ok(());
                }
                let application = intake.applications.index(self.range.bracket);
                let io = TraceIo { at: self.at, op, offset, length, latency: None, application };
                intake.issue(io, self.columns)
            }
            _ if !intake.volumes.is_chosen(self.device) => Ok(()),
            EventKind::Complete => {
                if !matches!(self.range.bracket, b"0" | b"") {
                    intake.notes.count(Counted::Failures);
                }
                intake.complete(op, offset, length, self.at)
            }
            EventKind::Requeued => intake.requeue(op, offset),
        }
    }
}
