//! Holds an I/O back until everything that ended before it in the recording has ended in the replay.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use likenew_core::units::Nanos;

/// I/Os that have left in the replay and had not ended in the recording, at most. Of more, the first to end
/// in the recording is assumed to have ended.
const WINDOW: usize = 1 << 16;

/// What the next I/O of a recording has to wait for, in constant memory.
///
/// I/Os come in the order of the recording, so all that had ended there before one of them have left here
/// already.
pub(crate) struct Gate {
    /// When I/Os ended in the recording that were in flight there when the latest one left, and their places
    /// in `entries`.
    ends: BinaryHeap<Reverse<(Nanos, u32)>>,
    entries: Vec<Entry>,
    free: Vec<u32>,
    /// Ended in the recording, and in flight in the replay.
    blocking_count: usize,
    /// The latest end in the recording and in the replay, of what had ended.
    recording_end: Nanos,
    replay_end: Nanos,
}

#[derive(Clone, Copy, Default)]
struct Entry {
    ended_in_recording: bool,
    ended_in_replay: Option<Nanos>,
}

/// An open gate: since when it is open, and how much later the I/O left in the recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct GateOpening {
    pub(crate) since: Nanos,
    pub(crate) think: Nanos,
}

impl Gate {
    pub(crate) fn new() -> Self {
        Self {
            ends: BinaryHeap::with_capacity(WINDOW),
            entries: Vec::new(),
            free: Vec::new(),
            blocking_count: 0,
            recording_end: Nanos::ZERO,
            replay_end: Nanos::ZERO,
        }
    }

    /// The replay begins.
    pub(crate) fn begin(&mut self, now: Nanos) {
        self.replay_end = now;
    }

    /// Whether an I/O may go that left `at` there; it is not before the one that was asked for last.
    pub(crate) fn opening(&mut self, at: Nanos) -> Option<GateOpening> {
        while self.ends.peek().is_some_and(|Reverse((end, _))| *end <= at) {
            self.recorded_end();
        }
        (self.blocking_count == 0)
            .then(|| GateOpening { since: self.replay_end, think: at.since(self.recording_end) })
    }

    fn recorded_end(&mut self) {
        let Reverse((end, index)) = self.ends.pop().expect("there is one");
        self.recording_end = self.recording_end.max(end);
        match self.entries[index as usize].ended_in_replay {
            Some(replay_end) => self.pass(index, replay_end),
            None => {
                self.entries[index as usize].ended_in_recording = true;
                self.blocking_count += 1;
            }
        }
    }

    /// An I/O leaves here that ended at `end` there. The answer is for [`Gate::on_end`].
    pub(crate) fn depart(&mut self, end: Nanos) -> u32 {
        if self.ends.len() >= WINDOW {
            self.recorded_end();
        }
        let index = self.free.pop().unwrap_or_else(|| {
            self.entries.push(Entry::default());
            (self.entries.len() - 1) as u32
        });
        self.entries[index as usize] = Entry::default();
        self.ends.push(Reverse((end, index)));
        index
    }

    /// It has ended here.
    pub(crate) fn on_end(&mut self, index: u32, at: Nanos) {
        if self.entries[index as usize].ended_in_recording {
            self.blocking_count -= 1;
            self.pass(index, at);
        } else {
            self.entries[index as usize].ended_in_replay = Some(at);
        }
    }

    fn pass(&mut self, index: u32, replay_end: Nanos) {
        self.replay_end = self.replay_end.max(replay_end);
        self.free.push(index);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn opening(since: u64, think: u64) -> Option<GateOpening> {
        Some(GateOpening { since: Nanos(since), think: Nanos(think) })
    }

    #[test]
    fn it_opens_when_all_that_had_ended_has_ended() {
        let mut gate = Gate::new();
        gate.begin(Nanos(1000));
        assert_eq!(gate.opening(Nanos(0)), opening(1000, 0));
        let first = gate.depart(Nanos(10));
        assert_eq!(gate.opening(Nanos(5)), opening(1000, 5), "nothing had ended yet");
        let second = gate.depart(Nanos(20));
        assert_eq!(gate.opening(Nanos(15)), None, "the first had ended");
        gate.on_end(second, Nanos(1001));
        assert_eq!(gate.opening(Nanos(15)), None);
        gate.on_end(first, Nanos(1002));
        assert_eq!(gate.opening(Nanos(15)), opening(1002, 5));
        assert_eq!(gate.opening(Nanos(50)), opening(1002, 30), "the second, which ended earlier here");
    }

    #[test]
    fn memory_is_bounded_whatever_the_recording_says() {
        let mut gate = Gate::new();
        for io in 0..3 * WINDOW as u64 {
            let index = gate.depart(Nanos(u64::MAX - io % 7));
            assert!(gate.opening(Nanos(io)).is_some());
            gate.on_end(index, Nanos(io));
        }
        assert!(gate.entries.len() <= WINDOW + 1 && gate.ends.len() <= WINDOW, "{}", gate.entries.len());
    }
}
