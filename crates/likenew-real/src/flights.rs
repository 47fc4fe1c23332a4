//! The I/Os in flight on a lane, and checks that keep our bugs from reaching the kernel.

use likenew_core::io::{DataClass, Io, Op, Outcome, Slot};
use likenew_core::lab_error::LabError;
use likenew_core::target::Geometry;

use crate::wording::target as wording;

/// The I/O in every slot.
pub(crate) struct Flights {
    slots: Box<[Flight]>,
    in_flight: u32,
    capacity: u64,
    length_max: u32,
    block: u32,
    boundary: Option<u64>,
    writable: bool,
}

#[derive(Clone, Copy)]
struct Flight {
    offset: u64,
    length: u32,
    op: Op,
    free: bool,
}

impl Flights {
    /// `depth` free slots for I/Os of up to `length_max` bytes.
    pub(crate) fn new(geometry: &Geometry, depth: u32, length_max: u32) -> Self {
        let free = Flight { offset: 0, length: 0, op: Op::Read, free: true };
        Self {
            slots: vec![free; depth as usize].into_boxed_slice(),
            in_flight: 0,
            capacity: geometry.capacity,
            length_max,
            block: geometry.block,
            boundary: geometry.boundary,
            writable: geometry.writable,
        }
    }

    /// How many are in flight.
    #[inline]
    pub(crate) fn count(&self) -> u32 {
        self.in_flight
    }

    /// Whether this slot is.
    #[inline]
    pub(crate) fn is_in_flight(&self, slot: Slot) -> bool {
        !self.slots[slot.index()].free
    }

    /// Notes that an I/O leaves.
    ///
    /// # Errors
    /// It would change a drive that may only be read.
    ///
    /// # Panics
    /// Its slot is in flight, or it does not fit the drive's geometry or its buffer: all of them bugs of the
    /// caller.
    #[inline]
    pub(crate) fn leave(&mut self, io: &Io) -> Result<(), LabError> {
        if !self.writable && matches!(io.op, Op::Write | Op::Trim) {
            return Err(read_only(io));
        }
        let flight = &mut self.slots[io.slot.index()];
        assert!(flight.free, "{io:?} takes a slot that is in flight");
        // A trim needs no buffer, so only the drive bounds its length.
        let fits = io.length <= self.length_max || io.op == Op::Trim;
        let end = io.offset.checked_add(u64::from(io.length));
        assert!(
            fits && end.is_some_and(|end| end <= self.capacity),
            "{io:?} does not fit the drive or its buffer"
        );
        let whole_blocks = (io.offset | u64::from(io.length)).is_multiple_of(u64::from(self.block));
        let crosses =
            self.boundary.is_some_and(|boundary| io.offset % boundary + u64::from(io.length) > boundary);
        assert!(
            whole_blocks && !crosses,
            "{io:?} is not in whole blocks of {}, or crosses the end of a file",
            self.block
        );
        *flight = Flight { offset: io.offset, length: io.length, op: io.op, free: false };
        self.in_flight += 1;
        Ok(())
    }

    /// Notes that the I/O of a slot has ended with the kernel's answer: bytes moved, or a negative error number.
    #[inline]
    pub(crate) fn end(&mut self, slot: Slot, answer: i32) -> (Io, Outcome) {
        let io = self.free(slot);
        (io, outcome(&io, answer))
    }

    /// Notes that the I/O of a slot has ended, and returns it.
    #[inline]
    pub(crate) fn free(&mut self, slot: Slot) -> Io {
        let flight = &mut self.slots[slot.index()];
        assert!(!flight.free, "{slot:?} ended without being in flight");
        flight.free = true;
        self.in_flight -= 1;
        Io { slot, op: flight.op, offset: flight.offset, length: flight.length, data: DataClass::Zero }
    }
}

/// What the kernel's answer to an I/O means: bytes moved by a read or write, zero from a trim or flush, or an error
/// number below zero.
#[inline]
pub(crate) fn outcome(io: &Io, answer: i32) -> Outcome {
    match (u32::try_from(answer), io.op) {
        (Err(_), _) => Outcome::Error(-answer),
        (Ok(moved), Op::Read | Op::Write) if moved < io.length => Outcome::Short(moved),
        _ => Outcome::Done,
    }
}

#[cold]
fn read_only(io: &Io) -> LabError {
    LabError::Refused(wording::read_only(io.op, io.offset))
}

#[cfg(test)]
mod tests {
    use super::*;
    use likenew_core::target::Clock;

    fn flights(writable: bool) -> Flights {
        let geometry = Geometry {
            capacity: 1 << 20,
            block: 512,
            boundary: Some(64 << 10),
            writable,
            trims: writable,
            carries_data: true,
            clock: Clock::Wall,
        };
        Flights::new(&geometry, 2, 4096)
    }

    fn io(op: Op, offset: u64, length: u32) -> Io {
        Io { slot: Slot(1), op, offset, length, data: DataClass::Zero }
    }

    #[test]
    fn answers_become_outcomes() {
        let mut flights = flights(true);
        for (op, answer, expected) in [
            (Op::Read, 4096, Outcome::Done),
            (Op::Write, 512, Outcome::Short(512)),
            (Op::Read, 0, Outcome::Short(0)),
            (Op::Trim, 0, Outcome::Done),
            (Op::Write, -28, Outcome::Error(28)),
        ] {
            flights.leave(&io(op, 8192, 4096)).unwrap();
            assert!(flights.is_in_flight(Slot(1)) && flights.count() == 1);
            let (ended, outcome) = flights.end(Slot(1), answer);
            assert_eq!((ended.op, ended.offset, outcome), (op, 8192, expected));
        }
        assert_eq!(flights.count(), 0);
    }

    #[test]
    fn what_may_only_be_read_is_not_written() {
        let lab_error = flights(false).leave(&io(Op::Trim, 0, 512)).unwrap_err();
        assert!(
            matches!(lab_error, LabError::Refused(_)) && lab_error.to_string().contains("give a folder"),
            "{lab_error}"
        );
        flights(false).leave(&io(Op::Flush, 0, 0)).unwrap();
    }

    #[test]
    fn mistakes_are_caught_before_the_kernel_sees_them() {
        for (bad, length) in [
            ((1 << 20) - 512, 1024),
            (u64::MAX - 511, 512),
            (0, 8192),
            (100, 512),
            (0, 100),
            ((64 << 10) - 512, 1024),
        ] {
            let caught = std::panic::catch_unwind(|| flights(true).leave(&io(Op::Read, bad, length)));
            assert!(caught.is_err(), "{bad} {length}");
        }
        let twice = std::panic::catch_unwind(|| {
            let mut flights = flights(true);
            flights.leave(&io(Op::Read, 0, 512)).unwrap();
            let _ = flights.leave(&io(Op::Read, 0, 512));
        });
        assert!(twice.is_err());
    }
}
