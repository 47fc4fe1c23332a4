//! How many were in flight at most.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use likenew_core::units::Nanos;

/// No more are counted: a damaged trace must not fill the memory.
const COUNTED_MAX: usize = 1 << 16;

/// The ends of those in flight, of I/Os that come in the order in which they leave.
#[derive(Default)]
pub(super) struct InFlight {
    ends: BinaryHeap<Reverse<Nanos>>,
    max: usize,
}

impl InFlight {
    pub(super) fn put(&mut self, at: Nanos, latency: Nanos) {
        while self.ends.peek().is_some_and(|end| end.0 <= at) {
            self.ends.pop();
        }
        if self.ends.len() < COUNTED_MAX {
            self.ends.push(Reverse(at + latency));
        }
        self.max = self.max.max(self.ends.len());
    }

    pub(super) fn max(&self) -> usize {
        self.max
    }
}
