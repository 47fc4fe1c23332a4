//! The addresses at which one reader waits for another, and their pattern.

use likenew_core::io::Sample;
use likenew_core::segment::Segment;
use likenew_stats::interval::{CONFIDENCE_90, share_interval};
use likenew_stats::summary::{mean, median};

/// Queue depth of the reader that stays on one page; a read that meets its die waits for nearly all of them.
pub(super) const PINNED_DEPTH: u32 = 8;
/// A read that waits as long as this many reads has met the pinned die. Sharing a channel or a busy firmware
/// costs less than two. Chosen: half of the pinned reader's queue.
const WAITED_READS: f64 = 4.0;
/// Fewer runs of slow addresses than this make no pattern.
const RUNS_MIN: usize = 8;
/// Fewer reads of the second reader than this show nothing.
const READS_MIN: usize = 256;
/// Share of slow addresses above which the readers meet everywhere. Chosen: one die of two would be half.
const EVERYWHERE_SHARE: f64 = 0.9;
/// Share of the runs, and of their distances, that must be equal. Chosen: a majority.
const ALIKE: f64 = 0.6;
/// The same if two neighboring lengths count as equal. Chosen: higher, because chance meets two lengths more
/// often than one.
const NEIGHBORS: f64 = 0.85;
/// Difference between the number of dies from the share and from the period, in dies, up to which they agree;
/// half a run at either end comes on top. Chosen: nearly exact, because both count the same runs.
const AGREE: f64 = 0.04;
/// Ratio of the ends of the interval of the number of dies above which no number is named. Chosen: 8 dies are
/// still told from 10.
const UNSURE_MAX: f64 = 1.2;
/// Bytes that one die holds in a row, at least: the smallest page of a map. Runs of one address that is larger may be shorter
/// than that address, and then the period is that of some addresses that skip others.
const STRIPE_MIN: f64 = 4096.0;
/// Above this many addresses, they are not told apart.
const PLACES_MAX: usize = 1 << 16;
/// Addresses shown in a chart.
const POINTS_MAX: usize = 2048;

/// The waits of the second reader, by address.
pub(super) struct Conflicts {
    grain: f64,
    /// For each address the share of its reads that waited, if there were any; empty if there are too many
    /// addresses.
    wait_share: Vec<Option<f64>>,
    /// Reads that waited, and all reads.
    slow: u64,
    all: u64,
    /// `[address, latency]` of reads.
    points: Vec<[f64; 2]>,
}

/// The pattern of the slow addresses.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Pattern {
    /// The readers never meet.
    Nowhere,
    /// The readers meet everywhere.
    Everywhere,
    /// Too few runs, or irregular ones.
    Unclear {
        /// Share of slow addresses.
        share: f64,
    },
    /// One of several dies.
    Clear {
        /// Share of slow addresses.
        share: f64,
        /// Number of dies, and the ends of the 90% interval.
        dies: (f64, f64, f64),
        /// Consecutive bytes on one die, and the ends of the 90% interval, if there is a period.
        stripe: Option<(f64, f64, f64)>,
    },
}

impl Conflicts {
    /// From two readers, the first of which stays on one page; `alone_ns` is the latency of the second
    /// without the first.
    pub(super) fn from_walk(walk: &Segment, alone_ns: f64) -> Option<Self> {
        let grain = walk.workload.streams.get(1)?.pattern.grain()?;
        let moving_reads: Vec<&Sample> = walk.samples.iter().filter(|sample| sample.stream == 1).collect();
        let pinned = walk.samples.len() - moving_reads.len();
        let span = walk.samples.last()?.done.since(walk.started_at).0 as f64;
        if moving_reads.len() < READS_MIN || pinned == 0 || span <= 0.0 || alone_ns <= 0.0 {
            return None;
        }
        let limit = alone_ns + WAITED_READS * span / pinned as f64;
        let has_waited = |sample: &Sample| sample.latency().0 as f64 > limit;
        let start = moving_reads.iter().map(|sample| sample.offset).min()?;
        let place_of = |sample: &Sample| ((sample.offset - start) / grain) as usize;
        let places = moving_reads.iter().map(|sample| place_of(sample)).max()? + 1;
        let mut counts = vec![(0u32, 0u32); if places > PLACES_MAX { 0 } else { places }];
        for sample in moving_reads.iter().filter(|_| places <= PLACES_MAX) {
            let (waits, all) = &mut counts[place_of(sample)];
            *waits += u32::from(has_waited(sample));
            *all += 1;
        }
        let share = |(waits, all): (u32, u32)| (all > 0).then(|| f64::from(waits) / f64::from(all));
        let point = |sample: &&Sample| [(sample.offset - start) as f64, sample.latency().0 as f64];
        Some(Self {
            grain: grain as f64,
            wait_share: counts.into_iter().map(share).collect(),
            slow: moving_reads.iter().filter(|sample| has_waited(sample)).count() as u64,
            all: moving_reads.len() as u64,
            points: moving_reads.iter().take(POINTS_MAX).map(point).collect(),
        })
    }

    /// `[address in bytes, latency in ns]` of the first reads.
    pub(super) fn points(&self) -> Vec<[f64; 2]> {
        self.points.clone()
    }

    /// The pattern of the slow addresses.
    pub(super) fn pattern(&self) -> Pattern {
        let shares: Vec<f64> = self.wait_share.iter().filter_map(|wait_share| *wait_share).collect();
        let share = if shares.is_empty() {
            self.slow as f64 / self.all as f64
        } else {
            shares.iter().filter(|wait_share| **wait_share > 0.5).count() as f64 / shares.len() as f64
        };
        if share == 0.0 {
            Pattern::Nowhere
        } else if share > EVERYWHERE_SHARE {
            Pattern::Everywhere
        } else {
            self.by_period(share)
        }
    }

    /// From the share of slow addresses alone, which may have no period. The reads of one stripe count as one
    /// case; if addresses are not told apart, each read does.
    pub(super) fn by_share(&self) -> Pattern {
        let share = match self.pattern() {
            Pattern::Unclear { share } => share,
            clear => return clear,
        };
        let (hits, cases) = match self.wait_share.is_empty() {
            true => (self.slow, self.all),
            false => (self.runs().len() as u64, (self.runs().len() as f64 / share) as u64),
        };
        let Some(interval) = share_interval(hits, cases, CONFIDENCE_90).filter(|_| hits > 0) else {
            return Pattern::Unclear { share };
        };
        let (low, high) = (1.0 / interval.high, 1.0 / interval.low);
        let whole = high.floor();
        if whole < low || high / low > UNSURE_MAX {
            return Pattern::Unclear { share };
        }
        let is_only_one = whole - 1.0 < low;
        let dies = if is_only_one { whole } else { 1.0 / share };
        Pattern::Clear { share, dies: (dies, low, high), stripe: None }
    }

    fn by_period(&self, share: f64) -> Pattern {
        let runs = self.runs();
        if runs.len() < RUNS_MIN {
            return Pattern::Unclear { share };
        }
        let lengths: Vec<f64> = runs.iter().map(|(start, end)| end - start).collect();
        let distances: Vec<f64> = runs.windows(2).map(|pair| pair[1].0 - pair[0].0).collect();
        let (length, distance) = (TypicalValue::from_values(&lengths), TypicalValue::from_values(&distances));
        let dies = distance.value / length.value;
        let whole = dies.round();
        let is_whole = (dies - whole).abs() < 0.25_f64.max(0.03 * dies);
        let agrees = (share * whole - 1.0).abs() < AGREE + 0.5 / runs.len() as f64;
        let is_fine = length.value > 1.0 || self.grain <= STRIPE_MIN;
        if !(length.is_alike && distance.is_alike && is_whole && agrees && is_fine) {
            return Pattern::Unclear { share };
        }
        let stripe = length.value * self.grain;
        let unsure = self.grain * 0.25_f64.max(length.error);
        Pattern::Clear {
            share,
            dies: (whole, 0.97 * whole, 1.03 * whole),
            stripe: Some((stripe, stripe - unsure, stripe + unsure)),
        }
    }

    /// Runs of neighboring slow addresses, without those at either end of the area. An address without reads
    /// counts like the one before.
    fn runs(&self) -> Vec<(f64, f64)> {
        let mut runs = Vec::new();
        let (mut begun, mut is_slow) = (None, false);
        let mut first = true;
        for (place, wait_share) in self.wait_share.iter().enumerate() {
            let Some(wait_share) = wait_share else { continue };
            let now = *wait_share > 0.5;
            if now && !is_slow && !first {
                begun = Some(place as f64);
            }
            if !now
                && is_slow
                && let Some(start) = begun.take()
            {
                runs.push((start, place as f64));
            }
            (is_slow, first) = (now, false);
        }
        runs
    }
}

/// The most common length: exact, or as one of two neighboring ones.
struct TypicalValue {
    value: f64,
    error: f64,
    is_alike: bool,
}

impl TypicalValue {
    fn from_values(values: &[f64]) -> Self {
        let middle = median(values).expect("there are several");
        let count = values.len() as f64;
        let exact = values.iter().filter(|value| **value == middle).count() as f64;
        if exact >= ALIKE * count {
            return Self { value: middle, error: 0.0, is_alike: true };
        }
        let near = |value: &&f64| (**value - middle).abs() <= 1.0;
        let alike: Vec<f64> = values.iter().filter(near).copied().collect();
        Self {
            value: mean(&alike).unwrap_or(middle),
            error: 1.0 / (alike.len() as f64).sqrt(),
            is_alike: alike.len() as f64 >= NEIGHBORS * count,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pattern(is_slow: impl Fn(usize) -> bool, places: usize) -> Pattern {
        pattern_at(4096, is_slow, places)
    }

    /// The pattern of places of so many bytes each.
    fn pattern_at(grain: usize, is_slow: impl Fn(usize) -> bool, places: usize) -> Pattern {
        let wait_share = (0..places).map(|place| Some(if is_slow(place) { 1.0 } else { 0.0 })).collect();
        Conflicts { grain: grain as f64, wait_share, slow: 0, all: 0, points: Vec::new() }.pattern()
    }

    #[test]
    fn a_period_and_a_length_are_dies_and_a_stripe() {
        let found = pattern(|place| place % 96 / 6 == 2, 1024);
        let Pattern::Clear { dies, stripe: Some(stripe), .. } = found else { panic!("{found:?}") };
        assert_eq!((dies.0, stripe.0), (16.0, 24576.0));
        assert!(dies.1 < 16.0 && 16.0 < dies.2 && stripe.1 > 0.9 * 24576.0);
    }

    #[test]
    fn parity_in_between_hides_no_die() {
        // Units of two addresses on five dies in turn; one in sixteen is parity, which has no address.
        let units = (0..4096).filter(|unit| unit % 16 != 15);
        let places: Vec<bool> = units.flat_map(|unit| [unit % 5 == 3; 2]).collect();
        let found = pattern(|place| places[place], places.len());
        let Pattern::Clear { dies, stripe: Some(stripe), .. } = found else { panic!("{found:?}") };
        assert_eq!((dies.0, stripe.0), (5.0, 8192.0));
    }

    #[test]
    fn a_die_that_is_passed_over_makes_no_smaller_drive() {
        // Four dies, one of which was busy most of the time: most periods are those of three.
        let unit = |place: usize| if place / 3 % 26 < 20 { place / 3 % 26 % 3 } else { place / 3 % 26 % 2 };
        assert!(matches!(pattern(|place| unit(place) == 1, 8192), Pattern::Unclear { .. }));
    }

    #[test]
    fn addresses_that_skip_dies_have_no_period() {
        // Stripes of 24 KiB on 24 dies: of every 64 KiB, the first page is on one of 9 dies.
        let is_on_die = |grain: usize| move |place: usize| (place * grain / (24 << 10)).is_multiple_of(24);
        let coarse = pattern_at(64 << 10, is_on_die(64 << 10), 4096);
        assert!(matches!(coarse, Pattern::Unclear { .. }), "{coarse:?}");
        let fine = pattern_at(4 << 10, is_on_die(4 << 10), 4096);
        assert!(matches!(fine, Pattern::Clear { dies: (24.0, ..), .. }), "{fine:?}");
    }

    #[test]
    fn places_without_order_have_no_period() {
        let hash = |place: usize| (place as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32;
        assert!(matches!(pattern(|place| hash(place).is_multiple_of(10), 8192), Pattern::Unclear { .. }));
    }

    #[test]
    fn a_share_of_all_places_is_one_of_the_dies() {
        let of =
            |slow, all| Conflicts { grain: 4096.0, wait_share: Vec::new(), slow, all, points: Vec::new() };
        let Pattern::Clear { dies, stripe: None, .. } = of(3_800, 15_000).by_share() else { panic!() };
        assert_eq!(dies.0, 4.0);
        assert!(matches!(of(38, 150).by_share(), Pattern::Unclear { .. }));
        // No whole number of dies has this share.
        assert!(matches!(of(5_260, 15_000).by_share(), Pattern::Unclear { .. }));
        assert!(matches!(of(3_800, 15_000).pattern(), Pattern::Unclear { .. }));
    }

    #[test]
    fn waiting_everywhere_or_nowhere_is_no_pattern() {
        assert_eq!(pattern(|_| true, 1024), Pattern::Everywhere);
        assert_eq!(pattern(|_| false, 1024), Pattern::Nowhere);
        assert_eq!(pattern(|place| place < 64, 1024), Pattern::Unclear { share: 0.0625 });
    }
}
