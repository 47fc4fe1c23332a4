//! One measured I/O: the product of every run.

use serde::{Deserialize, Serialize};

use crate::io::{Op, Outcome};
use crate::units::Nanos;

/// One I/O: what it did, and when it was due, left and ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sample {
    /// Index of the stream in its workload.
    pub stream: u16,
    /// What it did.
    pub op: Op,
    /// How it ended.
    pub outcome: Outcome,
    /// Bytes asked for.
    pub length: u32,
    /// First byte of the range.
    pub offset: u64,
    /// When it was due. A closed pace has each due at once, so there this equals `sent`.
    pub due: Nanos,
    /// When it left.
    pub sent: Nanos,
    /// When it ended.
    pub done: Nanos,
}

impl Sample {
    /// `done − due`: what a user waits, queueing before a late departure included.
    pub fn latency(&self) -> Nanos {
        self.done.since(self.due)
    }

    /// Bytes that were moved.
    pub fn bytes(&self) -> u64 {
        u64::from(self.outcome.bytes(self.length))
    }

    /// The outcome as one number, as in io_uring's completions: bytes moved, or the negated error number. It equals
    /// `length` for a complete I/O.
    pub fn signed_outcome(&self) -> i64 {
        match self.outcome {
            Outcome::Done => i64::from(self.length),
            Outcome::Short(bytes) => i64::from(bytes),
            // Error numbers are positive. One that is not is still an error and not a number of bytes.
            Outcome::Error(errno) => -i64::from(errno.unsigned_abs().max(1)),
        }
    }
}
