//! How much of a trace continues where an earlier I/O ended.

use likenew_core::io::Op;
use likenew_core::trace::TraceIo;

/// Ends that are remembered: as many programs may read or write side by side.
const STREAMS_TRACKED: usize = 16;

/// The latest ends of reads and of writes.
#[derive(Default)]
pub(super) struct Sequence {
    reads: Ends,
    writes: Ends,
    continuing: u64,
    all: u64,
}

#[derive(Default)]
struct Ends {
    ends: [u64; STREAMS_TRACKED],
    next: usize,
}

impl Sequence {
    /// Takes a read or a write.
    pub(super) fn put(&mut self, io: &TraceIo) {
        let ends = if io.op == Op::Read { &mut self.reads } else { &mut self.writes };
        self.all += 1;
        // Nothing ends at 0, so an end that is not there yet matches no beginning but that of the drive.
        let continuing = ends.ends.iter().position(|end| *end == io.offset && *end > 0);
        let place = continuing.unwrap_or(ends.next);
        if continuing.is_some() {
            self.continuing += 1;
        } else {
            ends.next = (ends.next + 1) % STREAMS_TRACKED;
        }
        ends.ends[place] = io.offset.saturating_add(io.length);
    }

    /// Of all, 0 to 1.
    pub(super) fn share(&self) -> f64 {
        if self.all == 0 { 0.0 } else { self.continuing as f64 / self.all as f64 }
    }
}
