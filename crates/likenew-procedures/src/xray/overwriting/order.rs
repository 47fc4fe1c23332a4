//! Pauses of a drive that is overwritten in order: all dies fill and erase their blocks in step, so that the time of each I/O comes
//! again after one block of every die.

use likenew_core::io::Op;
use likenew_core::sample::Sample;
use likenew_core::segment::Segment;
use likenew_core::units::amount;
use likenew_core::verdict::{Line, Series, Shape};
use likenew_stats::period::{Period, period};
use likenew_stats::summary::mean;

use super::super::fill;
use super::super::property::{Key, Property};
use super::super::scene::{Scene, own_name};
use super::{BLOCK, DEPTH, IN_PLACE, ORDER, TRIM};
use crate::series::axis;

/// Chunks that are looked at together.
const CHUNKS: usize = 4;
/// A period that was seen so often needs no more of it.
const ENOUGH: f64 = 5.0;
/// Without a cache's help writing takes at least this share of the time that it took when the cache was full.
const NATIVE: f64 = 0.9;
/// No erase block has had fewer than 64 units of programs, of which one in eight may be parity.
const BLOCK_UNITS: f64 = 54.0;
/// A write buffer where none was found.
const BUFFER_USUAL: f64 = 1048576.0;
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
        let name = if scene.ran(TRIM).is_some() { ORDER } else { IN_PLACE };
        let chunks: Vec<&Segment> = chunks(scene, name).filter(|chunk| !is_cached(scene, chunk)).collect();
        let lead = lead(scene);
        let times = chunks[chunks.len().saturating_sub(CHUNKS)..].iter().flat_map(|chunk| times(chunk, lead));
        let times: Vec<f64> = times.collect();
        let period = period(&times, least(scene));
        Self { times, period }
    }

    /// Chunks that went into a cache when the same was overwritten in place.
    pub(super) fn cached(scene: &Scene<'_>) -> usize {
        chunks(scene, IN_PLACE).filter(|chunk| is_cached(scene, chunk)).count()
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
        let is_busy = scene.known.noise().is_some_and(super::super::noise::Noise::is_busy);
        let weakest = if is_busy { STRONG } else { WEAK };
        if bytes(period.length) > scene.span as f64 / 20.0 || period.strength < weakest {
            return Property::undecided(key, told);
        }
        let value = bytes(period.length);
        let half = (bytes(period.interval.high) - value).max(0.005 * value);
        // Blocks of a cache that is folded at once hold less than others, and come to their ends more often. Who is told wrongly how much
        // all dies write together misses the period and finds a multiple of it.
        let unaided = likenew_stats::period::period(&self.times, 0.0)
            .is_some_and(|unaided| unaided.length == period.length);
        let certain =
            period.strength > STRONG && fill::drop_of(scene).is_none() && least(scene) > 0.0 && unaided;
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

fn chunks<'a>(scene: &Scene<'a>, name: &'static str) -> impl Iterator<Item = &'a Segment> {
    scene.own.clone().into_iter().filter(move |segment| own_name(segment).starts_with(name))
}

/// Whether a cache has taken it, which came to the ends of other blocks.
fn is_cached(scene: &Scene<'_>, chunk: &Segment) -> bool {
    let native = fill::drop_of(scene).map_or(0.0, |cache| NATIVE * cache.after);
    (chunk.elapsed().0 as f64) < native * chunk.bytes(Op::Write) as f64
}

/// I/Os between two erasures at least, as far as it is known what all dies write together.
fn least(scene: &Scene<'_>) -> f64 {
    let (dies, stripe) = (scene.known.number(Key::Parallelism), scene.known.number(Key::StripeBytes));
    dies.zip(stripe).map_or(0.0, |(dies, stripe)| BLOCK_UNITS * dies * stripe / f64::from(BLOCK))
}

/// I/Os at the start of a chunk that find the write buffer empty.
fn lead(scene: &Scene<'_>) -> usize {
    let buffer = scene.known.number(Key::WriteBufferBytes).unwrap_or(BUFFER_USUAL);
    DEPTH as usize + (1.5 * buffer / f64::from(BLOCK)).ceil() as usize
}

/// Nanoseconds that each I/O of a chunk added. What the first ones added says how fast the buffer takes them: they count as if they had
/// come later, so that places stay what they are.
fn times(chunk: &Segment, lead: usize) -> Vec<f64> {
    let mut before = chunk.began;
    let step = |sample: &Sample| {
        let time = sample.done.since(before.min(sample.done)).0 as f64;
        before = before.max(sample.done);
        time
    };
    let mut times: Vec<f64> = chunk.samples.iter().map(step).collect();
    let lead = lead.min(times.len());
    let usual = mean(&times[lead..]).unwrap_or(0.0);
    times[..lead].fill(usual);
    times
}
