//! Joins start and end of an I/O, for traces that have them on two lines.

use std::collections::VecDeque;

use likenew_core::io::Op;
use likenew_core::trace::TraceIo;
use likenew_core::units::Nanos;
use rustc_hash::FxHashMap;

/// Most records that wait for the end of the oldest one. Beyond, its latency counts as unknown.
const WAITING_MAX: usize = 1 << 18;

/// Holds I/Os of one drive until all earlier ones have ended.
///
/// An end belongs to the oldest I/O in flight with the same operation and first byte. An end with fewer bytes leaves
/// the rest of the I/O in flight.
#[derive(Default)]
pub(crate) struct Pairing {
    pending: VecDeque<PendingIo>,
    /// Number of the first I/O held; the others are numbered consecutively.
    first: u64,
    /// The oldest and latest I/O in flight, by operation and first byte.
    in_flight: FxHashMap<(Op, u64), (u64, u64)>,
}

struct PendingIo {
    io: TraceIo,
    state: State,
    /// The first byte that is still in flight.
    offset: u64,
    /// Number of the next I/O in flight with the same operation and first byte.
    next: u64,
}

#[derive(PartialEq, Eq)]
enum State {
    /// Bytes still in flight.
    InFlight(u64),
    Done,
    /// The drive did not accept the I/O; it will be issued again.
    Requeued,
}

const NONE: u64 = u64::MAX;

impl Pairing {
    /// Adds an I/O that starts.
    pub(crate) fn issue(&mut self, io: TraceIo) {
        let number = self.first + self.pending.len() as u64;
        self.pending.push_back(PendingIo {
            io,
            state: State::InFlight(io.length),
            offset: io.offset,
            next: NONE,
        });
        self.enqueue((io.op, io.offset), number);
    }

    /// Ends an I/O, or a part of it; `false` if no such I/O is in flight.
    pub(crate) fn complete(&mut self, op: Op, offset: u64, length: u64, at: Nanos) -> bool {
        let Some(number) = self.dequeue((op, offset)) else { return false };
        let pending = self.at(number);
        match pending.state {
            State::InFlight(left) if length < left && length > 0 => {
                pending.state = State::InFlight(left - length);
                pending.offset = offset + length;
                self.enqueue((op, offset + length), number);
            }
            _ => {
                pending.state = State::Done;
                pending.io.latency = Some(at.since(pending.io.at));
            }
        }
        true
    }

    /// Takes back an I/O that will be issued again; `false` if no such I/O is in flight.
    pub(crate) fn requeue(&mut self, op: Op, offset: u64) -> bool {
        let Some(number) = self.dequeue((op, offset)) else { return false };
        self.at(number).state = State::Requeued;
        true
    }

    /// The next I/O in the order of starts, once it ended, too many wait, or the input ended.
    pub(crate) fn pop(&mut self, is_end: bool) -> Option<TraceIo> {
        loop {
            let front = self.pending.front()?;
            if matches!(front.state, State::InFlight(_)) {
                if self.pending.len() <= WAITING_MAX && !is_end {
                    return None;
                }
                let key = (front.io.op, front.offset);
                self.forget(key);
            }
            let pending = self.pending.pop_front().expect("there is a front");
            self.first += 1;
            if pending.state != State::Requeued {
                return Some(pending.io);
            }
        }
    }

    fn enqueue(&mut self, key: (Op, u64), number: u64) {
        let latest = self.in_flight.entry(key).or_insert((number, NONE));
        if latest.1 != NONE {
            self.pending[(latest.1 - self.first) as usize].next = number;
        }
        latest.1 = number;
    }

    fn dequeue(&mut self, key: (Op, u64)) -> Option<u64> {
        let (oldest, latest) = *self.in_flight.get(&key)?;
        let next = std::mem::replace(&mut self.at(oldest).next, NONE);
        if oldest == latest {
            self.in_flight.remove(&key);
        } else {
            self.in_flight.insert(key, (next, latest));
        }
        Some(oldest)
    }

    /// Removes the first I/O from its queue. It need not be in front if a part of it has ended.
    fn forget(&mut self, key: (Op, u64)) {
        let number = self.first;
        let Some((oldest, latest)) = self.in_flight.get(&key).copied() else { return };
        if oldest == number {
            self.dequeue(key);
            return;
        }
        let mut before = oldest;
        while self.at(before).next != number {
            before = self.at(before).next;
        }
        self.at(before).next = self.at(number).next;
        if latest == number {
            self.in_flight.insert(key, (oldest, before));
        }
    }

    fn at(&mut self, number: u64) -> &mut PendingIo {
        &mut self.pending[(number - self.first) as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn io(at: u64, op: Op, offset: u64, length: u64) -> TraceIo {
        TraceIo { at: Nanos(at), op, offset, length, latency: None, application: 0 }
    }

    fn latencies(pairing: &mut Pairing) -> Vec<Option<u64>> {
        std::iter::from_fn(|| pairing.pop(true)).map(|io| io.latency.map(|latency| latency.0)).collect()
    }

    #[test]
    fn ends_find_their_beginnings_in_turn() {
        let mut pairing = Pairing::default();
        pairing.issue(io(1, Op::Read, 0, 512));
        pairing.issue(io(2, Op::Read, 0, 512));
        pairing.issue(io(3, Op::Flush, 0, 0));
        assert!(pairing.pop(false).is_none(), "the first is in flight");
        assert!(pairing.complete(Op::Flush, 0, 0, Nanos(4)));
        assert!(pairing.complete(Op::Read, 0, 512, Nanos(11)));
        assert_eq!(pairing.pop(false).and_then(|io| io.latency), Some(Nanos(10)));
        assert!(pairing.complete(Op::Read, 0, 512, Nanos(22)));
        assert!(!pairing.complete(Op::Read, 0, 512, Nanos(33)), "none is left");
        assert_eq!(latencies(&mut pairing), [Some(20), Some(1)]);
    }

    #[test]
    fn parts_of_an_io_end_one_after_the_other() {
        let mut pairing = Pairing::default();
        pairing.issue(io(0, Op::Write, 0, 4096));
        assert!(pairing.complete(Op::Write, 0, 1024, Nanos(5)));
        assert!(!pairing.complete(Op::Write, 0, 1024, Nanos(6)));
        assert!(pairing.complete(Op::Write, 1024, 3072, Nanos(9)));
        assert_eq!(latencies(&mut pairing), [Some(9)]);
    }

    #[test]
    fn what_was_taken_back_leaves_again() {
        let mut pairing = Pairing::default();
        pairing.issue(io(0, Op::Write, 0, 512));
        assert!(pairing.requeue(Op::Write, 0));
        pairing.issue(io(3, Op::Write, 0, 512));
        assert!(pairing.complete(Op::Write, 0, 512, Nanos(5)));
        assert_eq!(latencies(&mut pairing), [Some(2)]);
    }

    #[test]
    fn an_end_that_never_comes_is_not_waited_for() {
        let mut pairing = Pairing::default();
        pairing.issue(io(0, Op::Write, 0, 4096));
        assert!(pairing.complete(Op::Write, 0, 512, Nanos(1)));
        let mut emitted_count = 0;
        for n in 1..=2 * WAITING_MAX as u64 {
            pairing.issue(io(n, Op::Read, 512, 512));
            assert!(pairing.complete(Op::Read, 512, 512, Nanos(n + 1)));
            emitted_count += std::iter::from_fn(|| pairing.pop(false)).count();
            assert!(pairing.pending.len() <= WAITING_MAX);
        }
        assert_eq!(emitted_count, 2 * WAITING_MAX + 1);
        assert!(pairing.in_flight.is_empty());
    }

    #[test]
    fn the_rest_of_a_lost_io_leaves_the_queue_that_it_stood_in() {
        for others in 1..3 {
            let mut pairing = Pairing::default();
            pairing.issue(io(0, Op::Write, 0, 1024));
            pairing.issue(io(1, Op::Write, 512, 512));
            assert!(pairing.complete(Op::Write, 0, 512, Nanos(2)), "the rest queues behind the second");
            for n in 1..others {
                pairing.issue(io(2 + n, Op::Write, 512, 512));
            }
            assert_eq!(pairing.pop(true).map(|io| io.length), Some(1024));
            for n in 0..others {
                assert!(pairing.complete(Op::Write, 512, 512, Nanos(9 + n)), "{others} {n}");
            }
            assert!(!pairing.complete(Op::Write, 512, 512, Nanos(99)) && pairing.in_flight.is_empty());
        }
    }
}
