//! One request to the drive, in pieces that it takes.

use likenew_core::io::Op;

use crate::protocol::{Errno, PIECE_MAX, TRIM_MAX};
use crate::request::{Command, ValidRequest};

/// A request under way.
#[derive(Debug)]
pub(crate) struct Job {
    /// Its client.
    pub(crate) client: u64,
    pub(crate) ask: ValidRequest,
    /// What the drive does for it; nothing for what is answered without the drive.
    op: Option<Op>,
    piece_max: u32,
    /// Bytes of it that the drive has taken.
    submitted_bytes: u32,
    /// Pieces that the drive has taken and not ended.
    pub(crate) in_flight: u32,
    /// Whether a flush still follows, or is all there is.
    flush_due: bool,
    /// The first thing that went wrong, and where.
    pub(crate) error: Option<(Errno, Option<u64>)>,
    /// The bytes read from a drive that keeps its bytes itself.
    pub(crate) read: Vec<u8>,
}

/// The next piece of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Piece {
    pub(crate) op: Op,
    /// Where in the job's range.
    pub(crate) at: u32,
    pub(crate) length: u32,
}

impl Job {
    /// `trims` says whether zeros may be written by TRIM.
    pub(crate) fn new(client: u64, ask: ValidRequest, trims: bool) -> Self {
        let op = match ask.command {
            Command::Read { .. } | Command::Cache => Some(Op::Read),
            Command::Write => Some(Op::Write),
            Command::Trim => Some(Op::Trim),
            Command::Zero { keep_allocated, .. } => {
                Some(if trims && !keep_allocated { Op::Trim } else { Op::Write })
            }
            Command::Flush | Command::Disconnect | Command::Status { .. } => None,
        };
        let flush_due =
            ask.command == Command::Flush || (ask.durable && !matches!(op, None | Some(Op::Read)));
        let piece_max = if op == Some(Op::Trim) { TRIM_MAX } else { PIECE_MAX };
        Self {
            client,
            ask,
            op,
            piece_max,
            submitted_bytes: 0,
            in_flight: 0,
            flush_due,
            error: None,
            read: Vec::new(),
        }
    }

    /// Takes the next piece. A flush comes alone, once all others have ended well: so it covers them.
    pub(crate) fn next(&mut self) -> Option<Piece> {
        let at = self.submitted_bytes;
        let left = if self.op.is_some() { self.ask.length - at } else { 0 };
        let piece = match self.op.filter(|_| left > 0 && self.error.is_none()) {
            Some(op) => Piece { op, at, length: left.min(self.piece_max) },
            None if self.flush_due && self.in_flight == 0 && self.error.is_none() => {
                self.flush_due = false;
                Piece { op: Op::Flush, at, length: 0 }
            }
            None => return None,
        };
        self.submitted_bytes += piece.length;
        self.in_flight += 1;
        Some(piece)
    }

    /// Whether it has more pieces for the drive now.
    pub(crate) fn has_more(&self) -> bool {
        let left = self.op.is_some() && self.submitted_bytes < self.ask.length;
        self.error.is_none() && (left || (self.flush_due && self.in_flight == 0))
    }

    /// Whether all of it has ended.
    pub(crate) fn is_over(&self) -> bool {
        self.in_flight == 0 && !self.has_more()
    }

    /// Records an error; the first one counts.
    pub(crate) fn fail(&mut self, errno: Errno, at: Option<u64>) {
        self.error.get_or_insert((errno, at));
    }
}
