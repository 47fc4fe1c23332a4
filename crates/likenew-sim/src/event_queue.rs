//! What happens next: events in order of time, and of arrival where times are equal.

use std::cmp::Ordering;

use dary_heap::QuaternaryHeap;
use likenew_core::units::Nanos;

/// Events to come.
pub(crate) struct EventQueue<E> {
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
        Self { heap: QuaternaryHeap::new(), sequence: 0 }
    }

    pub(crate) fn push(&mut self, at: Nanos, event: impl Into<E>) {
        self.sequence += 1;
        self.heap.push(Entry { at, sequence: self.sequence, event: event.into() });
    }

    /// When the first event happens.
    pub(crate) fn next_at(&self) -> Option<Nanos> {
        self.heap.peek().map(|entry| entry.at)
    }

    pub(crate) fn pop(&mut self) -> Option<(Nanos, E)> {
        self.heap.pop().map(|entry| (entry.at, entry.event))
    }
}

impl<E> Ord for Entry<E> {
    /// The heap gives its greatest entry first, so the earliest is the greatest.
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
}
