//! What a full drive takes at scattered places before it has to move what is still valid: its spare, less what it never touches.

use likenew_core::units::amount;
use likenew_core::verdict::{Line, Mark, Series, Shape};
use likenew_stats::summary::median;

use super::super::fill;
use super::super::property::{Key, Property, State};
use super::super::scene::{Scene, own_name};
use super::super::writing::Course;
use super::{SCATTER, WINDOWS};
use crate::series::axis;

/// One window costs at least so much more than writing alone where collection begins, and all that follow do on average.
const BEGINS: f64 = 1.5;
const COSTLY: f64 = 1.35;
/// Windows that follow. All dies may collect at the same time, so that windows in between cost nothing.
const FOLLOWING: usize = 32;
/// By chance some blocks have lost more pages than others; the emptiest of them so many times what is usual.
const EMPTIEST: f64 = 1.6;
/// A knee costs at least this share of what collecting the emptiest blocks of a drive with so much spare does.
const SHARP: f64 = 0.55;
/// Fewer windows say nothing of what writing without a cache costs.
const NATIVE_LEAST: usize = 6;
/// Erase blocks of each die that are kept erased (two to four) or are open (one to three), and never hold what is overwritten. What
/// the windows before the first pause hold makes up for a part of them.
const KEPT: f64 = 4.3;
const KEPT_ERROR: f64 = 1.8;

/// How the cost of overwriting scattered places went.
pub(super) struct Spare {
    course: Course,
    /// Nanoseconds a byte without collection.
    alone: f64,
    knee: Option<Knee>,
}

#[derive(Clone, Copy)]
struct Knee {
    /// Bytes until it sets in, less what a cache has taken.
    bytes: f64,
    /// What it costs from there on.
    after: f64,
    settled: bool,
}

impl Spare {
    pub(super) fn of(scene: &Scene<'_>) -> Self {
        let chunks = scene.own.iter().copied().filter(|segment| own_name(segment).starts_with(SCATTER));
        let course = Course::of(chunks);
        let costs = course.costs();
        let cache = fill::cache_of(scene);
        let alone = match &cache {
            Some(cache) => beyond(cache.after, &costs),
            None => costs.get(1..costs.len().min(2 + WINDOWS as usize / 2)).and_then(median).unwrap_or(0.0),
        };
        let mut knee = knee(&course, &costs, alone);
        if let (Some(knee), Some(cache)) = (&mut knee, &cache) {
            let mark = course.mark_at(knee.bytes);
            let saved = mark.map_or(0.0, |mark| mark.bytes * alone - mark.ns);
            knee.bytes -= (saved / (alone - cache.before)).max(0.0);
        }
        Self { course, alone, knee }
    }

    pub(super) fn is_settled(&self) -> bool {
        self.knee.is_some_and(|knee| knee.settled)
    }

    /// The share in percent, with what is never touched in units of erasing.
    pub(super) fn property(&self, scene: &Scene<'_>, unit: &Property) -> Property {
        let key = Key::OverProvisioningPercent;
        let Some(knee) = self.knee.filter(|knee| knee.settled) else {
            let why = "overwriting scattered places did not become dearer for good within what was written";
            return Property::undecided(key, why);
        };
        let told = format!(
            "a full drive took {} at scattered places before each of them cost {:.1} times as much",
            amount(knee.bytes.max(0.0) as u64),
            knee.after / self.alone
        );
        let in_order = Course::of(fill::pieces(scene));
        let in_order = in_order.cost_between(0.8 * in_order.bytes(), in_order.bytes());
        let like_order = in_order.is_some_and(|in_order| self.alone < 1.8 * in_order);
        if !knee.is_sharp(self.alone, scene.span as f64) || !like_order || knee.bytes <= 0.0 {
            return Property::undecided(key, format!("{told}, too gradually to tell its spare"));
        }
        let percent = |bytes: f64| 100.0 * bytes / scene.span as f64;
        let cell = self.course.bytes() / self.course.marks.len() as f64;
        let (kept, error, confidence) = match unit.state {
            State::Number { value, .. } => (KEPT * value, KEPT_ERROR * value + cell, 0.95),
            // A drive has some dozens of spare blocks a die.
            _ => (0.12 * knee.bytes, 0.12 * knee.bytes + cell, 0.85),
        };
        if kept > 0.5 * knee.bytes {
            return Property::undecided(key, format!("{told}, of which too much is never touched"));
        }
        let (value, error) = (percent(knee.bytes + kept), percent(error));
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
            .map(|knee| Mark { x: knee.bytes, label: "collection sets in".to_owned() })
            .collect();
        Some(series.lines([Line::new("scattered places", points)]))
    }
}

impl Knee {
    /// Whether it is where all spare is used up. When a share k of the addresses was overwritten at random by then, a block has
    /// lost 1 − exp(−k) of its pages; to gain a block, the emptiest ones cost one over what they have lost. A drive that does not
    /// always take the emptiest ones begins earlier, and pays less at first.
    fn is_sharp(&self, alone: f64, span: f64) -> bool {
        let lost = (EMPTIEST * (1.0 - (-self.bytes / span).exp())).clamp(0.01, 0.9);
        self.after / alone >= SHARP / lost
    }
}

/// What scattered places cost at first where no cache takes them: at least what the fill cost after the cache, and more where
/// short I/Os to no order cost more than long ones in order.
fn beyond(after: f64, costs: &[f64]) -> f64 {
    let first = costs.iter().skip(1).take(2 * WINDOWS as usize).copied();
    let native: Vec<f64> = first.filter(|cost| *cost >= 0.9 * after).collect();
    if native.len() < NATIVE_LEAST { after } else { median(&native).map_or(after, |usual| usual.max(after)) }
}

/// Where the cost rises for good.
fn knee(course: &Course, costs: &[f64], alone: f64) -> Option<Knee> {
    let mean = |at: usize, count: usize| {
        let following = &costs[at..(at + count).min(costs.len())];
        following.iter().sum::<f64>() / following.len() as f64
    };
    let begins = |at: &usize| {
        costs[*at] > BEGINS * alone
            && mean(*at, FOLLOWING) > COSTLY * alone
            && costs.len() - at >= FOLLOWING / 2
    };
    let at = (2..costs.len()).find(begins)?;
    Some(Knee {
        bytes: course.marks[at - 1].bytes,
        after: mean(at, FOLLOWING),
        settled: costs.len() >= at + FOLLOWING,
    })
}

#[cfg(test)]
mod tests {
    use super::super::super::writing;
    use super::*;

    /// The course of windows of 1000 bytes with these costs.
    fn course(costs: &[f64]) -> Course {
        let mut ns = 0.0;
        let marks = costs.iter().enumerate().map(|(index, cost)| {
            ns += 1000.0 * cost;
            writing::Mark { bytes: 1000.0 * (index + 1) as f64, ns }
        });
        Course { marks: marks.collect() }
    }

    fn found(costs: &[f64]) -> Option<Knee> {
        let course = course(costs);
        knee(&course, &course.costs(), 2.0)
    }

    #[test]
    fn a_knee_is_found_where_dies_pause_together() {
        let costs: Vec<f64> =
            (0..160).map(|index| if index >= 100 && index % 5 == 0 { 60.0 } else { 2.0 }).collect();
        let knee = found(&costs).unwrap();
        assert!((knee.bytes - 100_000.0).abs() < 1500.0 && knee.settled);
        assert!(knee.is_sharp(2.0, 1e6), "a tenth of the addresses: one over 0.15 is asked for");
    }

    #[test]
    fn what_a_cache_takes_is_not_what_writing_costs() {
        let cached: Vec<f64> = (0..40).map(|index| if index < 12 { 1.0 } else { 6.0 }).collect();
        assert_eq!(beyond(4.0, &cached), 6.0, "dearer than in order, after what the cache took");
        assert_eq!(beyond(4.0, &[1.0; 40]), 4.0, "all of it was cached");
        assert_eq!(beyond(4.0, &[3.8; 40]), 4.0);
        assert_eq!(beyond(4.0, &[]), 4.0);
    }

    #[test]
    fn hiccups_are_no_knee_and_a_slope_is_not_sharp() {
        let hiccups: Vec<f64> = (0..160).map(|index| if index % 40 == 7 { 9.0 } else { 2.0 }).collect();
        assert!(found(&hiccups).is_none());
        let slope: Vec<f64> = (0..160).map(|index| 2.0 * (1.0 + 0.02 * f64::from(index))).collect();
        assert!(found(&slope).is_none_or(|knee| !knee.is_sharp(2.0, 1e6)));
    }
}
