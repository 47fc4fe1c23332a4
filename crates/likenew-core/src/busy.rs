//! Computes busy time, the time with at least one I/O in flight, in constant memory.

use std::collections::VecDeque;

use crate::units::Nanos;

/// Adds up, exactly, the time with at least one I/O of a lane in flight.
///
/// UL measures bandwidth over this time and calls it busy time: "the sum of all times when at least one I/O
/// was executing" (PCMark 10 technical guide, Full System Drive Benchmark,
/// support.benchmarks.ul.com/solution/articles/44002171465).
///
/// The loop reports departures as they happen and ends in order of time, but may notice an end only after the
/// next departure. So a departure is held until an end at or after it is noticed. No more departures are held
/// than I/Os are in flight.
#[derive(Clone, Debug, Default)]
pub struct BusyTime {
    /// Times and counts of departures that no end has reached.
    departures: VecDeque<(Nanos, u32)>,
    in_flight: u32,
    since: Nanos,
    until: Nanos,
    total: Nanos,
}

impl BusyTime {
    /// The busy time of a lane with at most `depth` I/Os in flight; never allocates after this.
    pub fn new(depth: u32) -> Self {
        Self { departures: VecDeque::with_capacity(depth as usize), ..Self::default() }
    }

    /// Records that `count` I/Os left at `at`, which is not before any earlier departure.
    #[inline]
    pub fn on_submit(&mut self, at: Nanos, count: u32) {
        match self.departures.back_mut() {
            Some((last, waiting)) if *last == at => *waiting += count,
            _ => self.departures.push_back((at, count)),
        }
    }

    /// Records that one I/O ended.
    #[inline]
    pub fn on_end(&mut self, at: Nanos) {
        while let Some(&(left, count)) = self.departures.front()
            && (left <= at || self.in_flight == 0)
        {
            self.departures.pop_front();
            if self.in_flight == 0 {
                self.since = left.max(self.until);
            }
            self.in_flight += count;
        }
        self.until = self.until.max(at);
        self.in_flight = self.in_flight.saturating_sub(1);
        if self.in_flight == 0 {
            self.total += self.until.since(self.since);
        }
    }

    /// The busy time up to the last moment with no I/O in flight.
    pub fn total(&self) -> Nanos {
        self.total
    }
}

/// Combines the busy times of a drive's lanes over their common `elapsed` time. One lane is exact. For
/// several, it is unknown when each was idle. Idle times are assumed to be independent, so the drive's idle
/// share is the product of the lanes'.
pub fn of_lanes(lanes: &[Nanos], elapsed: Nanos) -> Nanos {
    let longest = lanes.iter().copied().max().unwrap_or_default();
    if lanes.len() < 2 || longest >= elapsed {
        return longest;
    }
    let idle: f64 = lanes.iter().map(|busy| 1.0 - busy.0 as f64 / elapsed.0 as f64).product();
    Nanos((elapsed.0 as f64 * (1.0 - idle)).round() as u64).max(longest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Departures and ends on a lane of this depth: each I/O waits for a slot and `wait` longer, then takes `time`.
    fn schedule(depth: usize, ios: &[(u64, u64)]) -> Vec<(u64, u64)> {
        let (mut free, mut sent_last) = (vec![0u64; depth], 0);
        ios.iter()
            .map(|&(wait, time)| {
                let slot = (0..depth).min_by_key(|slot| free[*slot]).unwrap();
                sent_last = sent_last.max(free[slot]) + wait;
                free[slot] = sent_last + time;
                (sent_last, free[slot])
            })
            .collect()
    }

    /// The busy time, counted nanosecond by nanosecond.
    fn brute_force(ios: &[(u64, u64)]) -> u64 {
        let end = ios.iter().map(|io| io.1).max().unwrap_or(0);
        (0..end).filter(|now| ios.iter().any(|(sent, done)| (sent..done).contains(&now))).count() as u64
    }

    /// Plays a schedule as the loop sees it: it notices an end `late` after it happened, or when it needs the slot.
    fn play(depth: usize, ios: &[(u64, u64)], late: u64) -> BusyTime {
        let mut busy = BusyTime::new(depth as u32);
        let mut ends: Vec<u64> = Vec::new();
        for &(sent, done) in ios {
            ends.sort_unstable();
            let visited =
                ends.partition_point(|end| end + late <= sent).max(ends.len().saturating_sub(depth - 1));
            ends.drain(..visited).for_each(|end| busy.on_end(Nanos(end)));
            busy.on_submit(Nanos(sent), 1);
            assert!(busy.departures.len() <= depth);
            ends.push(done);
        }
        ends.sort_unstable();
        ends.iter().for_each(|end| busy.on_end(Nanos(*end)));
        busy
    }

    proptest! {
        #[test]
        fn it_is_the_union_of_all_that_was_outstanding(
            depth in 1usize..9,
            ios in prop::collection::vec((0u64..20, 0u64..60), 0..80),
            late in 0u64..30,
        ) {
            let ios = schedule(depth, &ios);
            let busy = play(depth, &ios, late);
            prop_assert_eq!(busy.total().0, brute_force(&ios));
            prop_assert!(busy.departures.capacity() >= busy.departures.len() && busy.in_flight == 0);
        }

        #[test]
        fn lanes_together_are_between_the_busiest_and_their_sum(lanes in prop::collection::vec(0u64..1000, 1..6)) {
            let lanes: Vec<Nanos> = lanes.into_iter().map(Nanos).collect();
            let (elapsed, together) = (Nanos(1000), of_lanes(&lanes, Nanos(1000)));
            let sum: u64 = lanes.iter().map(|lane| lane.0).sum();
            prop_assert!(together >= *lanes.iter().max().unwrap() && together <= elapsed && together.0 <= sum + 1);
        }
    }

    #[test]
    fn one_that_stalls_covers_what_the_others_left_open() {
        let mut ios = vec![(0, 1_000_000)];
        ios.extend((0..50_000u64).map(|io| (1 + 20 * io, 11 + 20 * io)));
        let mut busy = BusyTime::new(2);
        busy.on_submit(Nanos(0), 1);
        for &(sent, done) in &ios[1..] {
            busy.on_submit(Nanos(sent), 1);
            busy.on_end(Nanos(done));
        }
        busy.on_end(Nanos(1_000_000));
        assert_eq!(busy.total(), Nanos(1_000_000));
    }

    #[test]
    fn lanes_that_are_idle_half_of_the_time_are_idle_a_quarter_of_it_together() {
        assert_eq!(of_lanes(&[Nanos(50), Nanos(50)], Nanos(100)), Nanos(75));
        assert_eq!(of_lanes(&[Nanos(40)], Nanos(100)), Nanos(40));
        assert_eq!(of_lanes(&[], Nanos(100)), Nanos::ZERO);
    }
}
