//! One I/O of a recording on the target, in as many pieces as it needs.

use likenew_core::trace::TraceIo;
use likenew_core::units::Nanos;

use super::address_map::Spot;
use super::pacer::Token;
use super::timeline::Moment;

/// An I/O of the recording whose first piece is about to leave or has left.
#[derive(Clone, Copy)]
pub(crate) struct Ticket {
    pub(crate) io: TraceIo,
    pub(crate) stream: u16,
    pub(crate) moment: Moment,
    pub(crate) token: Token,
    /// What has not left yet.
    pub(crate) rest: Spot,
    /// Whether all of it has.
    pub(crate) all_left: bool,
    /// Pieces in flight.
    pub(crate) pieces: u32,
    /// When it was due, if its pace sets a time.
    pub(crate) due: Option<Nanos>,
    /// When its first piece left.
    pub(crate) sent: Option<Nanos>,
    /// When the last of the pieces that have ended did.
    pub(crate) done: Nanos,
    /// How much of its lateness passed with the maximum of I/Os in flight.
    pub(crate) throttled: Nanos,
}

impl Ticket {
    pub(crate) fn new(io: TraceIo, stream: u16, moment: Moment, spot: Spot) -> Self {
        Self {
            io,
            stream,
            moment,
            token: Token::default(),
            rest: spot,
            all_left: false,
            pieces: 0,
            due: None,
            sent: None,
            done: Nanos::ZERO,
            throttled: Nanos::ZERO,
        }
    }

    /// From when it was due, or else left, to the end of its last piece.
    pub(crate) fn latency(&self) -> Nanos {
        self.done.since(self.due.or(self.sent).unwrap_or(self.done))
    }

    /// Whether nothing of it is still to come.
    pub(crate) fn is_over(&self) -> bool {
        self.all_left && self.pieces == 0
    }
}
