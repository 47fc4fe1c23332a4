//! Writes each followed by a flush: the latency of one on the medium, whatever buffer is in front of it.

use likenew_core::access_pattern::AccessPattern;
use likenew_core::io::{DataClass, Op};
use likenew_core::mix::Mix;
use likenew_core::sample::Sample;
use likenew_core::segment::Segment;
use likenew_core::until::Until;
use likenew_core::workload::{Arrival, Stream, Workload};

/// Writes of `block` bytes at `place` and as many flushes, in random turns at QD1.
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

/// Latencies of single writes until the flush after them completed, in nanoseconds: those alone between two
/// flushes.
pub(super) fn synced_times(segment: &Segment) -> Vec<f64> {
    let alone = |three: &[Sample]| {
        let ops = [three[0].op, three[1].op, three[2].op];
        (ops == [Op::Flush, Op::Write, Op::Flush]).then(|| three[2].done.since(three[1].sent).0 as f64)
    };
    segment.samples.windows(3).filter_map(alone).collect()
}
