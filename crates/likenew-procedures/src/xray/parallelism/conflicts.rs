//! Places at which a reader waits for another one, and the pattern that they make.

use likenew_core::segment::Segment;
use likenew_stats::interval::share_interval;
use likenew_stats::summary::{mean, median};

/// I/Os in flight of the reader that stays on one page: whoever meets its die waits for nearly all of them.
pub(super) const PINNED_DEPTH: u32 = 8;
/// Who waits for so many reads of the pinned die has met it. A transfer over the same channel, or a command that the firmware is
/// busy with, is less than two.
const WAITED_READS: f64 = 4.0;
/// Fewer runs of slow places than this make no pattern.
const RUNS_MIN: usize = 8;
/// Fewer reads of the second reader than this show nothing.
const READS_MIN: usize = 256;
/// A larger share of slow places is everywhere.
const EVERYWHERE: f64 = 0.9;
/// So many of the runs, and of their distances, have to be alike.
const ALIKE: f64 = 0.6;
/// Period over length, and one over the share of slow places, agree on the number of dies to within this.
const AGREE: f64 = 0.15;
/// Places that a picture shows.
const POINTS_MAX: usize = 2048;

/// What the second reader has met, place by place.
pub(super) struct Conflicts {
    grain: f64,
    /// Of each place the share of its reads that had waited, where there were any.
    waited: Vec<Option<f64>>,
    /// `[place, latency]` of reads.
    points: Vec<[f64; 2]>,
}

/// What slow places look like together.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Pattern {
    Nowhere,
    Everywhere,
    /// Too few runs, or runs without order.
    Unclear {
        share: f64,
    },
    Clear {
        share: f64,
        runs: usize,
        dies: f64,
        dies_interval: Option<(f64, f64)>,
        /// In bytes.
        stripe: f64,
        stripe_interval: Option<(f64, f64)>,
    },
}

impl Conflicts {
    /// Of two readers, the first of which stays on one page; `alone_ns` is how long the second takes without the first.
    pub(super) fn of(walk: &Segment, alone_ns: f64) -> Option<Self> {
        let place = walk.workload.streams.get(1)?.place;
        let grain = place.grain()?;
        let others = || walk.samples.iter().filter(|sample| sample.stream == 1);
        let start = others().map(|sample| sample.offset).min()?;
        let pinned = walk.samples.iter().filter(|sample| sample.stream == 0).count();
        let span = walk.samples.last()?.done.since(walk.began).0 as f64;
        if others().count() < READS_MIN || pinned == 0 || span <= 0.0 || alone_ns <= 0.0 {
            return None;
        }
        let read_ns = span / pinned as f64;
        let limit = alone_ns + WAITED_READS * read_ns;
        let place_of = |offset: u64| ((offset - start) / grain) as usize;
        let places = others().map(|sample| place_of(sample.offset)).max()? + 1;
        let mut counts = vec![(0u32, 0u32); places];
        for sample in others() {
            let (waited, all) = &mut counts[place_of(sample.offset)];
            *waited += u32::from(sample.latency().0 as f64 > limit);
            *all += 1;
        }
        let share = |(waited, all): (u32, u32)| (all > 0).then(|| f64::from(waited) / f64::from(all));
        let point = |sample: &likenew_core::sample::Sample| {
            [(sample.offset - start) as f64, sample.latency().0 as f64]
        };
        Some(Self {
            grain: grain as f64,
            waited: counts.into_iter().map(share).collect(),
            points: others().take(POINTS_MAX).map(point).collect(),
        })
    }

    /// `[place in bytes, latency in ns]` of the first reads.
    pub(super) fn points(&self) -> Vec<[f64; 2]> {
        self.points.clone()
    }

    /// What they look like together.
    pub(super) fn pattern(&self) -> Pattern {
        let seen: Vec<f64> = self.waited.iter().filter_map(|waited| *waited).collect();
        let slow = seen.iter().filter(|waited| **waited > 0.5).count();
        let share = slow as f64 / seen.len().max(1) as f64;
        if slow == 0 {
            return Pattern::Nowhere;
        }
        if share > EVERYWHERE {
            return Pattern::Everywhere;
        }
        let runs = self.runs();
        if runs.len() < RUNS_MIN {
            return Pattern::Unclear { share };
        }
        let lengths: Vec<f64> = runs.iter().map(|(start, end)| end - start).collect();
        let distances: Vec<f64> = runs.windows(2).map(|pair| pair[1].0 - pair[0].0).collect();
        let (length, distance) = (Typical::of(&lengths), Typical::of(&distances));
        let by_share = 1.0 / share;
        let by_period = distance.value / length.value;
        let agrees = (by_share / by_period - 1.0).abs() < AGREE;
        let (dies, dies_interval) = if length.is_alike && distance.is_alike && agrees {
            // Whole dies, if it is anywhere near a whole number.
            let whole = by_period.round();
            let near = (by_period - whole).abs() < 0.25_f64.max(0.03 * by_period);
            (if near { whole } else { by_period }, Some((0.97 * by_period, 1.03 * by_period)))
        } else {
            // Without a period: runs are the cases that are counted, each among as many as there are dies.
            let of = (runs.len() as f64 / share) as u64;
            let interval = share_interval(runs.len() as u64, of, 0.9);
            let interval = interval.map(|interval| (1.0 / interval.high, 1.0 / interval.low));
            (by_share, interval.filter(|(low, high)| high / low < 1.0 + 2.0 * AGREE))
        };
        let stripe_interval = length.is_alike.then(|| {
            let unsure = self.grain * 0.25_f64.max(length.error);
            (length.value * self.grain - unsure, length.value * self.grain + unsure)
        });
        if dies_interval.is_none() && stripe_interval.is_none() {
            return Pattern::Unclear { share };
        }
        let stripe = length.value * self.grain;
        Pattern::Clear { share, runs: runs.len(), dies, dies_interval, stripe, stripe_interval }
    }

    /// Where neighbouring slow places begin and end, without those at either end of the area. Where nothing was read it is as
    /// before.
    fn runs(&self) -> Vec<(f64, f64)> {
        let mut runs = Vec::new();
        let (mut begun, mut is_slow) = (None, false);
        let mut first = true;
        for (place, waited) in self.waited.iter().enumerate() {
            let Some(waited) = waited else { continue };
            let now = *waited > 0.5;
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

/// A value that most of some have, to within one place or a fiftieth.
struct Typical {
    value: f64,
    error: f64,
    is_alike: bool,
}

impl Typical {
    fn of(values: &[f64]) -> Self {
        let middle = median(values).expect("there are several");
        let near = |value: &&f64| (**value - middle).abs() <= 1.0_f64.max(0.02 * middle);
        let alike: Vec<f64> = values.iter().filter(near).copied().collect();
        let exact = alike.iter().filter(|value| **value == middle).count() as f64;
        // Where nearly all are the same to the place, that is it; a length between two places shows as both.
        let value = match exact >= 0.8 * alike.len() as f64 {
            true => middle,
            false => mean(&alike).unwrap_or(middle),
        };
        Self {
            value,
            error: 1.0 / (alike.len() as f64).sqrt(),
            is_alike: alike.len() as f64 >= ALIKE * values.len() as f64,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pattern(is_slow: impl Fn(usize) -> bool, places: usize) -> Pattern {
        let waited = (0..places).map(|place| Some(if is_slow(place) { 1.0 } else { 0.0 })).collect();
        Conflicts { grain: 4096.0, waited, points: Vec::new() }.pattern()
    }

    #[test]
    fn a_period_and_a_length_are_dies_and_a_stripe() {
        let Pattern::Clear { dies, dies_interval, stripe, stripe_interval, .. } =
            pattern(|place| place % 96 / 6 == 2, 1024)
        else {
            panic!("sixteen dies of 24 KiB")
        };
        assert_eq!((dies, stripe), (16.0, 24576.0));
        let (low, high) = dies_interval.unwrap();
        assert!(low < 16.0 && 16.0 < high);
        assert!(stripe_interval.unwrap().0 > 0.9 * 24576.0);
    }

    #[test]
    fn places_without_order_name_no_stripe() {
        // Of 10 dies, each page on one by a hash.
        let hash = |place: usize| (place as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32;
        let found = pattern(|place| hash(place).is_multiple_of(10), 8192);
        let Pattern::Clear { dies, dies_interval: Some((low, high)), .. } = found else {
            panic!("{found:?}")
        };
        assert!(low < 10.0 && 10.0 < high && (dies - 10.0).abs() < 1.5, "{dies} in {low}..{high}");
    }

    #[test]
    fn waiting_everywhere_or_nowhere_is_no_pattern() {
        assert_eq!(pattern(|_| true, 1024), Pattern::Everywhere);
        assert_eq!(pattern(|_| false, 1024), Pattern::Nowhere);
        assert_eq!(pattern(|place| place < 64, 1024), Pattern::Unclear { share: 0.0625 });
    }
}
