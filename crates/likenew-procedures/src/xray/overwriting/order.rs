//! Pauses of a drive that is overwritten in order: all dies fill and erase their blocks in step, so that the time of each I/O comes
//! again after one block of every die.

use likenew_core::io::Op;
use likenew_core::segment::Segment;
use likenew_core::units::amount;
use likenew_core::verdict::{Line, Series, Shape};
use likenew_stats::period::{Period, period};

use super::super::fill;
use super::super::property::{Key, Property};
use super::super::scene::{Scene, own_name};
use super::{BLOCK, ORDER};
use crate::series::axis;

/// Chunks that are looked at together.
const CHUNKS: usize = 4;
/// A period that was seen so often needs no more of it.
const ENOUGH: f64 = 5.0;
/// Without a cache's help writing takes at least this share of the time that it took when the cache was full.
const NATIVE: f64 = 0.9;
/// A weaker rhythm is not claimed, and a stronger one is certain.
const WEAK: f64 = 0.7;
const STRONG: f64 = 0.85;

/// What was overwritten in order last.
pub(super) struct Order {
    /// Nanoseconds that each I/O added.
    times: Vec<f64>,
    period: Option<Period>,
}

impl Order {
    pub(super) fn of(scene: &Scene<'_>) -> Self {
        // What went into a cache came to the ends of other blocks.
        let native = fill::drop_of(scene).map_or(0.0, |cache| NATIVE * cache.after);
        let costs =
            |segment: &&&Segment| segment.elapsed().0 as f64 >= native * segment.bytes(Op::Write) as f64;
        let chunks = scene.own.iter().filter(|segment| own_name(segment).starts_with(ORDER));
        let chunks: Vec<_> = chunks.filter(costs).collect();
        let mut times = Vec::new();
        for segment in &chunks[chunks.len().saturating_sub(CHUNKS)..] {
            let mut before = segment.began;
            for sample in &segment.samples {
                times.push(sample.done.since(before.min(sample.done)).0 as f64);
                before = before.max(sample.done);
            }
        }
        let period = period(&times);
        Self { times, period }
    }

    pub(super) fn is_settled(&self) -> bool {
        self.period
            .is_some_and(|period| period.strength >= WEAK && self.times.len() as f64 > ENOUGH * period.length)
    }

    pub(super) fn property(&self, scene: &Scene<'_>) -> Property {
        let key = Key::EraseUnitBytes;
        let Some(period) = self.period else {
            return Property::undecided(
                key,
                "no pauses at equal distances show in what was overwritten in order",
            );
        };
        let bytes = |values: f64| values * f64::from(BLOCK);
        let told = format!(
            "overwritten in order, it pauses every {}: the times repeat themselves over that distance (autocorrelation {:.2})",
            amount(bytes(period.length) as u64),
            period.strength
        );
        let emptied = super::forgets(scene) && fill::drop_of(scene).is_none();
        let may_be_map = !emptied && scene.known.number(Key::MapCacheBytes).is_some();
        if may_be_map {
            return Property::undecided(key, format!("{told}; these may be movements of its map"));
        }
        let is_busy = scene.known.noise().is_some_and(super::super::noise::Noise::is_busy);
        let least = if is_busy { STRONG } else { WEAK };
        if bytes(period.length) > scene.span as f64 / 20.0 || period.strength < least {
            return Property::undecided(key, told);
        }
        let value = bytes(period.length);
        let half = (bytes(period.interval.high) - value).max(0.005 * value);
        // Blocks of a cache that is folded at once hold less than others, and come to their ends more often.
        let certain = period.strength > STRONG && fill::drop_of(scene).is_none();
        let confidence = if certain { 0.95 } else { 0.85 };
        Property::number(key, value, (value - half, value + half), confidence, told)
    }

    pub(super) fn picture(&self) -> Option<Series> {
        let period = self.period?;
        let phases = 128;
        let mut folded = vec![(0.0, 0u32); phases];
        for (index, time) in self.times.iter().enumerate() {
            let phase = (index as f64 / period.length).fract() * phases as f64;
            let place = &mut folded[(phase as usize).min(phases - 1)];
            *place = (place.0 + time, place.1 + 1);
        }
        let each = period.length * f64::from(BLOCK) / phases as f64;
        let points = folded.iter().enumerate().filter(|(_, of)| of.1 > 0);
        let points = points.map(|(phase, (sum, count))| [phase as f64 * each, sum / f64::from(*count)]);
        let title = "When does it pause, folded over one erase unit?";
        let series =
            Series::new(title, Shape::Line, axis("written since", "bytes"), axis("time of an I/O", "ns"));
        Some(series.lines([Line::new("mean of all periods", points.collect())]))
    }
}
