//! Writes that are each followed by a flush: how long the medium takes for one, whatever buffer lies before it.

use likenew_core::access_pattern::AccessPattern;
use likenew_core::io::{DataClass, Op};
use likenew_core::mix::Mix;
use likenew_core::sample::Sample;
use likenew_core::segment::Segment;
use likenew_core::until::Until;
use likenew_core::workload::{Arrival, Stream, Workload};

/// Writes of `block` bytes at `place` and as many flushes, one I/O at a time, in random turns.
pub(super) fn synced_writes(
    name: impl Into<String>,
    block: u32,
    place: AccessPattern,
    writes: u32,
) -> Workload {
    let stream = |op, block| Stream {
        arrival: Arrival::Interleaved { weight: 1, depth: 1, per_second: None },
        ..Stream::closed(Mix::Only(op), block, place, 1, DataClass::Random)
    };
    let streams = vec![stream(Op::Write, block), stream(Op::Flush, block)];
    Workload { samples: 2 * writes, ..Workload::new(name, Until::ops(u64::from(2 * writes)), streams) }
}

/// What single writes took until a flush after them was answered, in nanoseconds: those alone between two flushes.
pub(super) fn synced_times(segment: &Segment) -> Vec<f64> {
    let alone = |three: &[Sample]| {
        let ops = [three[0].op, three[1].op, three[2].op];
        (ops == [Op::Flush, Op::Write, Op::Flush]).then(|| three[2].done.since(three[1].sent).0 as f64)
    };
    segment.samples.windows(3).filter_map(alone).collect()
}
