//! Encryption above the drive, as dm-crypt does it: writes are encrypted before the drive sees them, reads
//! decrypted after it has answered.
//!
//! One processor does it, in the order in which I/Os come (assumed: one key and one queue, as a system under
//! no other load has it), and each I/O waits until a work queue has taken it up. Korchagin ("Speeding up
//! Linux disk encryption", Cloudflare, 2020) found that such queues cost more than the cipher and halved the
//! throughput of an SSD. What was written can no longer be compressed.

use likenew_core::io::{DataClass, Io, Op};
use likenew_core::units::Nanos;

use super::io_hook::IoHook;
use crate::device::SelfCounts;
use crate::timeline::{Timeline, transfer_time};

/// The handing over of one I/O to a work queue and back, unless it is said (assumed: two wake-ups of a thread).
pub(crate) const HAND_OVER: Nanos = Nanos::from_micros(40);

/// How fast it encrypts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CryptParameters {
    /// Bytes a second, reads and writes together.
    pub bytes_per_s: u64,
    /// How long an I/O waits for its work queue.
    pub hand_over: Nanos,
}

/// The encryption in time.
pub(crate) struct Crypt {
    parameters: CryptParameters,
    processor: Timeline,
    /// How long it has worked in all.
    cpu_time: Nanos,
}

impl Crypt {
    pub(crate) fn new(parameters: CryptParameters) -> Self {
        Self { parameters, processor: Timeline::default(), cpu_time: Nanos::ZERO }
    }

    fn work(&mut self, io: &Io, now: Nanos) -> Nanos {
        let span = transfer_time(io.length.into(), self.parameters.bytes_per_s);
        self.cpu_time += span;
        self.processor.reserve(now + self.parameters.hand_over, span)
    }
}

impl IoHook for Crypt {
    fn delay_before(&mut self, io: &Io, now: Nanos) -> Nanos {
        if io.op == Op::Write { self.work(io, now) } else { now }
    }

    fn delay_after(&mut self, io: &Io, now: Nanos) -> Nanos {
        if io.op == Op::Read { self.work(io, now) } else { now }
    }

    fn counts(&self, below: SelfCounts) -> SelfCounts {
        SelfCounts { kernel: Some(below.kernel.unwrap_or_default() + self.cpu_time), ..below }
    }

    fn lower(&self, io: Io) -> Io {
        let data = match io.data {
            DataClass::Zero | DataClass::Ratio(_) => DataClass::Random,
            DataClass::Random | DataClass::Stamped(_) => io.data,
        };
        Io { data, ..io }
    }
}

#[cfg(test)]
mod tests {
    use likenew_core::io::Slot;

    use super::*;

    #[test]
    fn reads_and_writes_share_one_processor() {
        let parameters = CryptParameters { bytes_per_s: 100_000_000, hand_over: Nanos::from_micros(30) };
        let mut crypt = Crypt::new(parameters);
        let io = |op| Io { slot: Slot(0), op, offset: 0, length: 4096, data: DataClass::Zero };
        // 4 KiB take 40.96 µs.
        assert_eq!(crypt.delay_before(&io(Op::Write), Nanos(0)), Nanos(70_960));
        assert_eq!(crypt.delay_after(&io(Op::Read), Nanos(10_000)), Nanos(111_920));
        assert_eq!(crypt.delay_before(&io(Op::Read), Nanos(10_000)), Nanos(10_000), "it is encrypted still");
        assert_eq!(crypt.delay_after(&io(Op::Write), Nanos(10_000)), Nanos(10_000));
        assert_eq!(crypt.delay_before(&io(Op::Flush), Nanos(10_000)), Nanos(10_000));
        assert_eq!(crypt.counts(SelfCounts::default()).kernel, Some(Nanos(81_920)));
        assert_eq!(crypt.lower(io(Op::Write)).data, DataClass::Random);
    }
}
