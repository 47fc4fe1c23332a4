//! Virtual time: a resource that serves one request at a time, and a queue of events in order of time, then
//! of insertion.

use std::cmp::Ordering;

use dary_heap::QuaternaryHeap;
use likenew_core::units::Nanos;

/// A resource that serves requests one at a time; holds when it is next free.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Timeline {
    free: Nanos,
}

impl Timeline {
    /// Serves a request for `span`, starting at `now` or when all earlier ones are done; returns the end.
    pub(crate) fn reserve(&mut self, now: Nanos, span: Nanos) -> Nanos {
        self.free = self.free.max(now) + span;
        self.free
    }
}

/// Time to move `bytes` at a rate.
pub(crate) fn transfer_time(bytes: u64, bytes_per_s: u64) -> Nanos {
    const NS_PER_S: u64 = 1_000_000_000;
    match bytes.checked_mul(NS_PER_S) {
        Some(product) => Nanos(product.div_ceil(bytes_per_s)),
        // Dividing 128-bit numbers is several times as slow.
        None => Nanos((u128::from(bytes) * u128::from(NS_PER_S)).div_ceil(u128::from(bytes_per_s)) as u64),
    }
}

/// `count` times a span.
pub(crate) fn times(span: Nanos, count: u32) -> Nanos {
    Nanos(span.0 * u64::from(count))
}

/// Future events.
pub(crate) struct EventQueue<E> {
    /// The earliest event if it was pushed last. Most events follow soon after the one that caused them, and
    /// never enter the heap.
    first: Option<Entry<E>>,
    heap: QuaternaryHeap<Entry<E>>,
    sequence: u64,
}

struct Entry<E> {
    at: Nanos,
    sequence: u64,
    event: E,
}

impl<E> EventQueue<E> {
    pub(crate) fn new() -> Self {
        Self { first: None, heap: QuaternaryHeap::new(), sequence: 0 }
    }

    pub(crate) fn push(&mut self, at: Nanos, event: impl Into<E>) {
        self.sequence += 1;
        let entry = Entry { at, sequence: self.sequence, event: event.into() };
        let later = match self.earliest() {
            Some(earliest) if *earliest > entry => Some(entry),
            _ => self.first.replace(entry),
        };
        if let Some(later) = later {
            self.heap.push(later);
        }
    }

    fn earliest(&self) -> Option<&Entry<E>> {
        self.first.as_ref().or_else(|| self.heap.peek())
    }

    /// When the next event is due.
    pub(crate) fn next_at(&self) -> Option<Nanos> {
        self.earliest().map(|entry| entry.at)
    }

    pub(crate) fn pop(&mut self) -> Option<(Nanos, E)> {
        self.first.take().or_else(|| self.heap.pop()).map(|entry| (entry.at, entry.event))
    }
}

impl<E> Ord for Entry<E> {
    /// The heap pops its greatest entry first, so the earliest must be the greatest.
    fn cmp(&self, other: &Self) -> Ordering {
        (other.at, other.sequence).cmp(&(self.at, self.sequence))
    }
}

impl<E> PartialOrd for Entry<E> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<E> PartialEq for Entry<E> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl<E> Eq for Entry<E> {}

#[cfg(test)]
mod tests {
    use super::*;

    mod timeline {
        use super::*;

        #[test]
        fn one_waits_for_the_other_and_idle_time_is_lost() {
            let mut line = Timeline::default();
            assert_eq!(line.reserve(Nanos(10), Nanos(5)), Nanos(15));
            assert_eq!(line.reserve(Nanos(12), Nanos(5)), Nanos(20));
            assert_eq!(line.reserve(Nanos(100), Nanos(5)), Nanos(105));
        }

        #[test]
        fn a_transfer_is_never_shorter_than_its_rate_allows() {
            assert_eq!(transfer_time(4096, 1_000_000_000), Nanos(4096));
            assert_eq!(transfer_time(1, 3), Nanos(333_333_334));
            assert_eq!(transfer_time(0, 3), Nanos(0));
            // 2⁶⁴ ns·bytes/s are 18.4 GB.
            assert_eq!(transfer_time(18_446_744_074, 1_000_000_000), Nanos(18_446_744_074));
            assert_eq!(transfer_time(4 << 40, 1 << 40), Nanos(4_000_000_000));
        }
    }

    mod event_queue {
        use super::*;

        #[test]
        fn events_come_by_time_then_by_arrival() {
            let mut queue = EventQueue::<char>::new();
            for (at, event) in [(5, 'c'), (3, 'a'), (5, 'd'), (3, 'b')] {
                queue.push(Nanos(at), event);
            }
            assert_eq!(queue.next_at(), Some(Nanos(3)));
            let order: String = std::iter::from_fn(|| queue.pop()).map(|(_, event)| event).collect();
            assert_eq!(order, "abcd");
        }

        #[test]
        fn events_that_never_enter_the_heap_keep_the_order() {
            let mut queue = EventQueue::<u64>::new();
            let mut expected = Vec::new();
            let mut came = Vec::new();
            // 7 generates all of 0 .. 11, so times rise and fall, and many are equal.
            for step in 1..500 {
                let at = 7 * step % 11 + step / 5;
                queue.push(Nanos(at), step);
                expected.push((at, step));
                if step % 3 > 0 {
                    expected.sort_unstable();
                    let (at, event) = expected.remove(0);
                    assert_eq!(queue.next_at(), Some(Nanos(at)));
                    came.push((queue.pop(), Some((Nanos(at), event))));
                }
            }
            assert!(came.len() > 300 && came.iter().all(|(queued, sorted)| queued == sorted));
        }
    }
}
