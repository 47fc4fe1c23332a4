//! Sorts records by time, where a file has them nearly so.

use std::collections::VecDeque;

use likenew_core::trace::TraceIo;
use likenew_core::units::Nanos;

/// How many records late a record may come.
pub(crate) const WINDOW: usize = 4096;

/// Holds the latest records until nothing earlier can follow them.
pub(crate) struct Window {
    /// In the order of time; of equal times in the order of arrival.
    pending: VecDeque<TraceIo>,
    emitted_until: Nanos,
}

impl Window {
    pub(crate) fn new() -> Self {
        Self { pending: VecDeque::with_capacity(WINDOW + 1), emitted_until: Nanos::ZERO }
    }

    /// Takes one more; `false` when later records were already passed on.
    #[must_use]
    pub(crate) fn push(&mut self, io: TraceIo) -> bool {
        match self.pending.back() {
            Some(last) if io.at < last.at => {
                if io.at < self.emitted_until {
                    return false;
                }
                let place = self.pending.partition_point(|pending| pending.at <= io.at);
                self.pending.insert(place, io);
            }
            None if io.at < self.emitted_until => return false,
            _ => self.pending.push_back(io),
        }
        true
    }

    /// The earliest, once enough have come after it or nothing more comes.
    pub(crate) fn pop(&mut self, is_end: bool) -> Option<TraceIo> {
        if self.pending.len() <= WINDOW && !is_end {
            return None;
        }
        let io = self.pending.pop_front()?;
        self.emitted_until = io.at;
        Some(io)
    }

    pub(crate) fn clear(&mut self) {
        self.pending.clear();
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.pending.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use likenew_core::io::Op;

    fn io(at: u64, offset: u64) -> TraceIo {
        TraceIo { at: Nanos(at), op: Op::Read, offset, length: 512, latency: None, application: 0 }
    }

    #[test]
    fn late_records_find_their_place_and_equals_keep_theirs() {
        let mut window = Window::new();
        for (at, offset) in [(5, 0), (3, 1), (5, 2), (4, 3), (3, 4)] {
            assert!(window.push(io(at, offset)));
        }
        assert!(window.pop(false).is_none(), "an earlier one may follow");
        let order: Vec<(u64, u64)> =
            std::iter::from_fn(|| window.pop(true)).map(|io| (io.at.0, io.offset)).collect();
        assert_eq!(order, [(3, 1), (3, 4), (4, 3), (5, 0), (5, 2)]);
    }

    #[test]
    fn what_comes_too_late_is_refused() {
        let mut window = Window::new();
        for at in 0..=WINDOW as u64 {
            assert!(window.push(io(at + 10, 0)));
        }
        assert_eq!(window.pop(false).map(|io| io.at.0), Some(10));
        assert!(window.push(io(10, 0)), "as early as the one before");
        assert!(!window.push(io(9, 0)));
    }
}
