//! What counts as an I/O: long ones count several times, sequential ones together.

use likenew_core::io::{Io, Op};

use super::volume_parameters::CountingParameters;

/// Counts I/Os in the order of their arrival. An I/O of the same kind that begins where the last one ended is
/// joined to it, whether or not that one was still in flight.
pub(crate) struct IoCounter {
    parameters: CountingParameters,
    last: Op,
    /// Where an I/O would have to begin to be joined to the last one.
    end: u64,
    /// As far as I/Os like the last one are joined.
    merge_bytes: u64,
    /// Bytes of what was last counted as one; no more than that.
    filled: u64,
}

impl IoCounter {
    pub(crate) fn new(parameters: CountingParameters) -> Self {
        Self { parameters, last: Op::Flush, end: 0, merge_bytes: 0, filled: 0 }
    }

    /// How many I/Os this one counts as; 0 if it was joined to one that was counted already.
    pub(crate) fn count(&mut self, io: &Io) -> u64 {
        let CountingParameters { io_bytes, small_io_bytes, small_merge_bytes } = self.parameters;
        let length = u64::from(io.length);
        let merge_bytes = if length < small_io_bytes { small_merge_bytes } else { io_bytes };
        let goes_on = io.op == self.last && io.offset == self.end && merge_bytes == self.merge_bytes;
        let filled = if goes_on { self.filled } else { 0 };
        // A small I/O is never taken apart, even where it is longer than what small ones are joined to.
        let part = merge_bytes.max(length.min(io_bytes));
        let count = (filled + length).div_ceil(part) - filled.div_ceil(part);
        self.filled = (filled + length - 1) % part + 1;
        (self.last, self.end, self.merge_bytes) = (io.op, io.offset + length, merge_bytes);
        count
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::NO_IO;
    use proptest::prelude::*;

    const KIB: u32 = 1024;

    fn counter() -> IoCounter {
        let counting =
            CountingParameters { io_bytes: 256 << 10, small_io_bytes: 32 << 10, small_merge_bytes: 16 << 10 };
        IoCounter::new(counting)
    }

    /// How often `ios` reads of a length count, one after the other or a mebibyte apart.
    fn count(length: u32, ios: u64, sequential: bool) -> u64 {
        let mut counter = counter();
        let step = if sequential { u64::from(length) } else { 1 << 30 };
        let io = |index| Io { op: Op::Read, offset: index * step, length, ..NO_IO };
        (0..ios).map(|index| counter.count(&io(index))).sum()
    }

    #[test]
    fn the_examples_of_the_maker_come_out() {
        assert_eq!(count(1024 * KIB, 1, true), 4);
        assert_eq!(count(32 * KIB, 8, true), 1);
        assert_eq!(count(32 * KIB, 8, false), 8);
        assert_eq!(count(4 * KIB, 256, true), 64);
        assert_eq!(count(4 * KIB, 256, false), 256);
    }

    #[test]
    fn another_kind_of_io_begins_anew() {
        let mut counter = counter();
        let io = |op, offset| Io { op, offset, length: 4 * KIB, ..NO_IO };
        assert_eq!(counter.count(&io(Op::Read, 0)), 1);
        assert_eq!(counter.count(&io(Op::Read, 4096)), 0);
        assert_eq!(counter.count(&io(Op::Write, 8192)), 1);
        assert_eq!(counter.count(&io(Op::Write, 4096)), 1);
    }

    proptest! {
        #[test]
        fn bytes_are_paid_for(lengths in prop::collection::vec(1u32..3000, 1..50)) {
            let mut counter = counter();
            let (mut offset, mut paid) = (0, 0);
            for sectors in lengths {
                let length = sectors * 512;
                let io = Io { op: Op::Write, offset, length, ..NO_IO };
                offset += u64::from(length);
                let count = counter.count(&io);
                prop_assert!(count <= u64::from(length).div_ceil(256 << 10));
                paid += count;
            }
            prop_assert!(paid * (256 << 10) >= offset, "{paid} I/Os carried {offset} bytes");
        }
    }
}
