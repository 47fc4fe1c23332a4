//! Stalls: times in which a drive answered no I/O, found from slow I/Os that overlap.

use crate::interval::{Interval, rate_interval};

/// A slow I/O is one that took at least `latency_ns_min`, and at least `factor` times the typical latency.
///
/// The floor keeps microseconds on a fast drive from being called stalls; the factor does that for usual
/// latencies on a slow one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rule {
    /// No latency below this is a stall, in nanoseconds.
    pub latency_ns_min: u64,
    /// How many times the typical latency a stall takes.
    pub factor: f64,
}

impl Default for Rule {
    /// 100 ms, the limit up to which a person takes an answer as instantaneous (Nielsen, "Usability Engineering",
    /// 1993, chapter 5, after Miller 1968), and ten times the typical latency.
    fn default() -> Self {
        Self { latency_ns_min: 100_000_000, factor: 10.0 }
    }
}

impl Rule {
    /// The latency from which on an I/O is slow, in nanoseconds: `max(latency_ns_min, factor × typical)`.
    ///
    /// # Panics
    /// When the factor is negative or not a number.
    pub fn threshold_ns(&self, latency_ns_typical: u64) -> u64 {
        assert!(self.factor >= 0.0, "a stall takes some times the typical latency, not {}", self.factor);
        self.latency_ns_min.max((self.factor * latency_ns_typical as f64).round() as u64)
    }
}

/// When an I/O was waited for, and where it went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wait {
    /// When it was due, in nanoseconds.
    pub start_ns: u64,
    /// When it ended, in nanoseconds.
    pub end_ns: u64,
    /// Where, in bytes: the address, or the amount moved so far.
    pub position: u64,
}

/// One pause of a drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stall {
    /// When the first of its I/Os was due, in nanoseconds.
    pub start_ns: u64,
    /// From then until the last of them ended, in nanoseconds.
    pub duration_ns: u64,
    /// Where the first of them went, in bytes.
    pub position: u64,
    /// Slow I/Os that waited in it.
    pub ios: usize,
}

/// The stalls among these I/Os, in order of time: slow ones that overlap or touch are one stall. `latency_ns_typical`
/// is the median latency of all I/Os, the slow ones included.
///
/// # Panics
/// When an I/O ends before it starts.
pub fn stalls(waits: &[Wait], latency_ns_typical: u64, rule: Rule) -> Vec<Stall> {
    let threshold_ns = rule.threshold_ns(latency_ns_typical);
    let mut slow: Vec<Wait> =
        waits.iter().filter(|wait| duration_ns(wait) >= threshold_ns).copied().collect();
    slow.sort_unstable_by_key(|wait| (wait.start_ns, wait.end_ns, wait.position));
    let mut stalls: Vec<Stall> = Vec::new();
    for wait in slow {
        match stalls.last_mut() {
            Some(stall) if wait.start_ns - stall.start_ns <= stall.duration_ns => {
                stall.duration_ns = stall.duration_ns.max(wait.end_ns - stall.start_ns);
                stall.ios += 1;
            }
            _ => stalls.push(Stall {
                start_ns: wait.start_ns,
                duration_ns: duration_ns(&wait),
                position: wait.position,
                ios: 1,
            }),
        }
    }
    stalls
}

/// All stalls together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Total {
    /// How many there were.
    pub count: usize,
    /// How many are to be expected of the same work done again, if stalls come independently of one another:
    /// [`rate_interval`]. Stalls that come in bursts vary more.
    pub count_interval: Interval,
    /// How long the drive answered no I/O, in nanoseconds.
    pub duration_ns: u64,
    /// For how long the longest stall lasted, in nanoseconds; zero when there was none.
    pub duration_ns_max: u64,
}

impl Total {
    /// The total of these stalls.
    ///
    /// # Panics
    /// When `confidence` is not between 0 and 1.
    pub fn sum(stalls: &[Stall], confidence: f64) -> Self {
        Self {
            count: stalls.len(),
            count_interval: rate_interval(stalls.len() as u64, confidence),
            duration_ns: stalls.iter().map(|stall| stall.duration_ns).sum(),
            duration_ns_max: stalls.iter().map(|stall| stall.duration_ns).max().unwrap_or(0),
        }
    }
}

fn duration_ns(wait: &Wait) -> u64 {
    assert!(wait.start_ns <= wait.end_ns, "{wait:?} ends before it starts");
    wait.end_ns - wait.start_ns
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const MS: u64 = 1_000_000;

    fn wait(start_ms: u64, end_ms: u64) -> Wait {
        Wait { start_ns: start_ms * MS, end_ns: end_ms * MS, position: start_ms }
    }

    #[test]
    fn overlapping_slow_ios_are_one_stall() {
        let waits =
            [wait(900, 1000), wait(0, 300), wait(100, 500), wait(500, 620), wait(650, 655), wait(120, 220)];
        let found = stalls(&waits, 2 * MS, Rule::default());
        assert_eq!(
            found,
            [
                Stall { start_ns: 0, duration_ns: 620 * MS, position: 0, ios: 4 },
                Stall { start_ns: 900 * MS, duration_ns: 100 * MS, position: 900, ios: 1 },
            ]
        );
    }

    #[test]
    fn the_total_of_two_stalls_and_of_none() {
        let found = stalls(&[wait(0, 300), wait(200, 620), wait(900, 1000)], 2 * MS, Rule::default());
        let total = Total::sum(&found, 0.95);
        assert_eq!((total.count, total.duration_ns, total.duration_ns_max), (2, 720 * MS, 620 * MS));
        assert_eq!(total.count_interval, rate_interval(2, 0.95));
        let none = Total::sum(&[], 0.95);
        assert_eq!(
            (none.count, none.duration_ns, none.duration_ns_max, none.count_interval.low),
            (0, 0, 0, 0.0)
        );
    }

    #[test]
    fn what_is_slow_depends_on_what_is_typical() {
        let rule = Rule::default();
        assert_eq!(
            (rule.threshold_ns(0), rule.threshold_ns(10 * MS), rule.threshold_ns(50 * MS)),
            (100 * MS, 100 * MS, 500 * MS)
        );
        assert_eq!(rule.threshold_ns(u64::MAX), u64::MAX);
        assert_eq!(stalls(&[wait(0, 200)], 50 * MS, rule), []);
        assert_eq!(stalls(&[], 0, rule), []);
    }

    #[test]
    #[should_panic(expected = "ends before it starts")]
    fn time_that_goes_back_is_a_mistake() {
        let _ = stalls(&[wait(2, 1)], 0, Rule::default());
    }

    proptest! {
        #[test]
        fn stalls_are_apart_and_count_every_slow_io(spans in prop::collection::vec((0u64..5000, 0u64..400), 0..60)) {
            let waits: Vec<Wait> = spans.iter().map(|(start, length)| wait(*start, start + length)).collect();
            let found = stalls(&waits, MS, Rule::default());
            prop_assert_eq!(found.iter().map(|stall| stall.ios).sum::<usize>(), spans.iter().filter(|(_, length)| *length >= 100).count());
            prop_assert!(found.windows(2).all(|pair| pair[0].start_ns + pair[0].duration_ns < pair[1].start_ns));
            prop_assert!(found.iter().all(|stall| stall.duration_ns >= 100 * MS));
        }
    }
}
