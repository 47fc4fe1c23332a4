//! What a full drive takes at scattered places before it has to move what is still valid: its spare, less what it never touches.

use likenew_core::io::Op;
use likenew_core::units::amount;
use likenew_core::verdict::{Line, Mark, Series, Shape};
use likenew_stats::summary::median;

use super::super::fill;
use super::super::property::{Key, Property, State};
use super::super::scene::{Scene, own_name};
use super::super::writing::Course;
use super::knee::Knee;
use super::{IN_PLACE, SCATTER, WINDOWS};
use crate::series::axis;

/// Fewer windows say nothing of what writing without a cache costs.
const NATIVE_LEAST: usize = 6;
/// Without a cache's help writing takes at least this share of the time that it took when the cache was full.
const NATIVE: f64 = 0.9;
/// Erase blocks of each die that are kept erased (two to four) or are open (one to three), and never hold what is overwritten.
const KEPT: f64 = 4.8;
const KEPT_ERROR: f64 = 2.0;
/// What is added to the error where the cost is no more than chance may explain.
const UNSURE: f64 = 0.1;

/// How the cost of overwriting scattered places went.
pub(super) struct Spare {
    course: Course,
    /// Nanoseconds a byte without collection.
    alone: f64,
    /// Bytes that lie in a cache when collection begins, and not in the spare.
    cached: f64,
    knee: Option<Knee>,
}

impl Spare {
    pub(super) fn of(scene: &Scene<'_>) -> Self {
        let chunks = scene.own.iter().copied().filter(|segment| own_name(segment).starts_with(SCATTER));
        let course = Course::of(chunks);
        let costs = course.costs();
        let cache = fill::cache_of(scene);
        let alone = match &cache {
            Some(cache) => beyond(cache.after, &costs),
            None => costs.get(1..costs.len().min(2 + WINDOWS as usize)).and_then(median).unwrap_or(0.0),
        };
        let knee = Knee::of(&course, alone, scene.span as f64);
        let cached = match (&cache, knee) {
            (Some(cache), Some(knee)) => {
                in_order(scene, cache) + scattered(&course, alone, cache, knee.begins)
            }
            _ => 0.0,
        };
        Self { course, alone, cached, knee }
    }

    /// Whether it has to collect.
    pub(super) fn has_begun(&self) -> bool {
        self.knee.is_some()
    }

    pub(super) fn is_settled(&self) -> bool {
        self.knee.is_some_and(|knee| knee.is_settled)
    }

    /// The share in percent, with what is never touched in units of erasing.
    pub(super) fn property(&self, scene: &Scene<'_>, unit: &Property) -> Property {
        let key = Key::OverProvisioningPercent;
        let Some(knee) = self.knee else {
            let why = "overwriting scattered places did not become dearer for good within what was written";
            return Property::undecided(key, why);
        };
        let told = format!(
            "a full drive took {} at scattered places before each of them cost more, and at last {:.1} times as much",
            amount(knee.begins as u64),
            knee.after / self.alone
        );
        let told = match self.cached as u64 {
            0 => told,
            cached => format!("{told}, {} more being in its cache", amount(cached)),
        };
        // Pieces that follow a rest may have gone to a cache.
        let in_order = match fill::cache_of(scene) {
            Some(cache) => Some(cache.after),
            None => {
                let in_order = Course::of(fill::pieces(scene));
                in_order.cost_between(0.8 * in_order.bytes(), in_order.bytes())
            }
        };
        let like_order = in_order.is_some_and(|in_order| self.alone < 1.8 * in_order);
        let spare = knee.fed - self.cached;
        if !knee.is_settled || !like_order || spare <= 0.0 {
            return Property::undecided(key, format!("{told}, too gradually to tell its spare"));
        }
        let percent = |bytes: f64| 100.0 * bytes / scene.span as f64;
        let cell = self.course.bytes() / self.course.marks.len() as f64;
        let (kept, error, confidence): (f64, f64, f64) = match unit.state {
            State::Number { value, .. } => (KEPT * value, KEPT_ERROR * value + cell, 0.95),
            // A drive has some dozens of spare blocks a die.
            _ => (0.12 * spare, 0.12 * spare + cell, 0.85),
        };
        // A drive that chooses among a few blocks by chance may still have empty ones.
        let (error, confidence) =
            if knee.is_sure { (error, confidence) } else { (error + UNSURE * spare, confidence.min(0.8)) };
        if kept > 0.5 * spare {
            return Property::undecided(key, format!("{told}, of which too much is never touched"));
        }
        let (value, error) = (percent(spare + kept), percent(error));
        Property::number(key, value, (value - error, value + error), confidence, told)
            .caveat("erase blocks that are open or kept erased are assumed to be four or five of each die")
    }

    pub(super) fn picture(&self) -> Option<Series> {
        let title = "What does overwriting scattered places of a full drive cost?";
        let points = self.course.speeds(512).into_iter().map(|[bytes, speed]| [bytes, 1e9 / speed]);
        let points: Vec<[f64; 2]> = points.collect();
        if points.is_empty() {
            return None;
        }
        let mut series =
            Series::new(title, Shape::Line, axis("overwritten", "bytes"), axis("time of a byte", "ns"));
        series.marks = self
            .knee
            .iter()
            .map(|knee| Mark { x: knee.begins, label: "collection sets in".to_owned() })
            .collect();
        Some(series.lines([Line::new("scattered places", points)]))
    }
}

/// What scattered places cost at first where no cache takes them: at least what the fill cost after the cache, and more where
/// short I/Os to no order cost more than long ones in order.
fn beyond(after: f64, costs: &[f64]) -> f64 {
    let first = costs.iter().skip(1).take(2 * WINDOWS as usize).copied();
    let native: Vec<f64> = first.filter(|cost| *cost >= 0.9 * after).collect();
    if native.len() < NATIVE_LEAST { after } else { median(&native).map_or(after, |usual| usual.max(after)) }
}

/// Bytes that a cache has taken of what was overwritten in order before anything was scattered: as long as it was cheaper than after the
/// cache. They do not lie in the blocks that their overwriting has freed.
fn in_order(scene: &Scene<'_>, cache: &fill::Cache) -> f64 {
    let before = scene.own.iter().take_while(|segment| !own_name(segment).starts_with(SCATTER));
    let chunks = before.filter(|segment| own_name(segment).starts_with(IN_PLACE));
    let chunks = chunks.map(|segment| (segment.bytes(Op::Write) as f64, segment.elapsed().0 as f64));
    let cheap = chunks.take_while(|(bytes, ns)| *ns < NATIVE * bytes * cache.after);
    cheap.map(|(bytes, ns)| bytes * cached_share(ns / bytes, cache.after, cache)).sum()
}

/// Bytes that a cache has taken of the first scattered ones.
fn scattered(course: &Course, alone: f64, cache: &fill::Cache, until: f64) -> f64 {
    let steps = course.steps().zip(course.costs()).take_while(|(step, _)| step.end <= until);
    let cheap = steps.filter(|(_, cost)| *cost < NATIVE * alone);
    cheap.map(|(step, cost)| (step.end - step.start) * cached_share(cost, alone, cache)).sum()
}

/// The share that a cache has taken of what costs so much, where what it does not take costs `native`.
fn cached_share(cost: f64, native: f64, cache: &fill::Cache) -> f64 {
    ((native - cost) / (native - cache.before)).clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_cache_takes_is_not_what_writing_costs() {
        let cached: Vec<f64> = (0..40).map(|index| if index < 12 { 1.0 } else { 6.0 }).collect();
        assert_eq!(beyond(4.0, &cached), 6.0, "dearer than in order, after what the cache took");
        assert_eq!(beyond(4.0, &[1.0; 40]), 4.0, "all of it was cached");
        assert_eq!(beyond(4.0, &[3.8; 40]), 4.0);
        assert_eq!(beyond(4.0, &[]), 4.0);
    }
}
