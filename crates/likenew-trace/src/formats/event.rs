//! What happens to a request of Linux's block layer, whoever tells it.

use likenew_core::trace::TraceIo;
use likenew_core::units::Nanos;

use crate::flaw::Flaw;
use crate::formats::request::Range;
use crate::formats::rwbs::{Moves, moves};
use crate::intake::{Columns, Intake};

/// What happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Happens {
    /// It leaves for the drive.
    Issue,
    /// It, or a part of it, ends.
    Complete,
    /// The drive did not take it; it will leave again.
    TakenBack,
}

/// An event, and the place of its values in the line.
pub(crate) struct Event<'l> {
    pub(crate) at: Nanos,
    pub(crate) happens: Happens,
    pub(crate) device: &'l [u8],
    pub(crate) letters: &'l [u8],
    pub(crate) letters_at: usize,
    pub(crate) range: Range<'l>,
    pub(crate) columns: Columns,
}

impl Event<'_> {
    /// Hands it on, if it is about the volume that is read.
    pub(crate) fn hand_to(self, intake: &mut Intake) -> Result<(), Flaw> {
        let moved = moves(self.letters, self.range.sectors);
        let moved =
            moved.ok_or(Flaw::at(self.letters_at, "the letters of a request, such as R, WS or FWFSM"))?;
        let Moves::Io(op) = moved else {
            intake.notes.count("requests that move no blocks were passed over");
            return Ok(());
        };
        let (offset, length) = self.range.bytes(self.columns)?;
        match self.happens {
            Happens::Issue => {
                if !intake.volumes.takes(self.device)? {
                    return Ok(());
                }
                let application = intake.applications.index(self.range.bracket);
                let io = TraceIo { at: self.at, op, offset, length, latency: None, application };
                intake.issue(io, self.columns)
            }
            _ if !intake.volumes.is_chosen(self.device) => Ok(()),
            Happens::Complete => {
                if !matches!(self.range.bracket, b"0" | b"") {
                    intake.notes.count("I/Os ended with an error");
                }
                intake.complete(op, offset, length, self.at)
            }
            Happens::TakenBack => intake.take_back(op, offset),
        }
    }
}
