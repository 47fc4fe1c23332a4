//! How much a full drive takes at scattered addresses before it must relocate valid data: its spare, less
//! what it never uses.

use likenew_core::findings::{Line, Mark, Series, Shape};
use likenew_core::quantity::Factor;

use super::super::experiment::{ExperimentContext, own_name};
use super::super::fill;
use super::super::property::{Key, Property, State};
use super::super::wording::{self, ScatteredWrites};
use super::super::writing::WriteProgress;
use super::SCATTER;
use super::emptying::FreeSpaceFit;
use super::knee::{Knee, level};
use super::order::Order;
use likenew_procedure_support::series::axis;

/// Cost of writing without a cache over the cost after the cache was full, as a ratio, at least. Chosen: a
/// margin for noise.
const NATIVE: f64 = 0.9;
/// Cost of scattered writes over that of the same addresses overwritten in place, as a ratio, at least, if no
/// cache is certain. Chosen: cheaper ones went to a cache.
const LIKE_IN_PLACE: f64 = 0.6;
/// Saving of a cache for scattered writes over its saving for sequential ones, as a ratio, at least. Chosen:
/// half is more than noise.
const SAVED_SHARE: f64 = 0.5;
/// Erase blocks of each die that never hold overwrites: two to four are kept erased, one to three are open.
/// In blocks; the mean, fitted.
const KEPT_BLOCKS: f64 = 3.3;
/// Error of `KEPT_BLOCKS`, in blocks; fitted.
const KEPT_ERROR: f64 = 1.3;
/// The same as a share of the spare if the erase unit is unknown: a die has some dozens of them. Chosen:
/// `KEPT_BLOCKS` of thirty.
const KEPT_SHARE: f64 = 0.11;
/// Enough was overwritten once the bytes in empty blocks are known to this share and this many windows follow
/// the rise; or after so many that more would describe the drive as it became, not as it was. Chosen: more
/// writes would narrow it only slowly.
const NARROW: f64 = 0.14;
const FOLLOWING: usize = 24;
const FOLLOWING_MOST: usize = 112;
/// Share of both errors together within which nine of ten drives lie; fitted.
const NINE_OF_TEN: f64 = 0.87;
/// Error of the spare, as a share of it, above which confidence is lower. Chosen: it still tells 7% from 28%.
const SURE: f64 = 0.15;
/// The same, above which nothing is claimed. Chosen: the interval would span a factor of two.
const VAGUE: f64 = 0.4;
/// Cost of scattered writes over that of sequential ones, as a ratio, at most, without misses of the mapping
/// cache. Chosen: random programs use the dies less evenly.
const LIKE_ORDER: f64 = 1.8;
/// The same with misses of the mapping cache. Chosen: a miss reads and writes a part of the table.
const FETCHING: f64 = 3.5;

/// Cost of scattered overwrites as they continue.
pub(super) struct Spare {
    progress: WriteProgress,
    span: f64,
    /// Nanoseconds per byte without collection, and of sequential writes.
    alone: f64,
    in_order: f64,
    /// Whether scattered writes reached a level of their own.
    is_level: bool,
    /// Bytes that are in a cache when collection begins, and not in the spare.
    cached: f64,
    knee: Option<Knee>,
}

impl Spare {
    pub(super) fn from_context(context: &ExperimentContext<'_>) -> Self {
        let chunks =
            context.segments.iter().copied().filter(|segment| own_name(segment).starts_with(SCATTER));
        let progress = WriteProgress::from_segments(chunks);
        let level = level(&progress, context.span as f64);
        let in_order = in_order(context);
        // If a cache takes all writes until collection begins, there is no level without it.
        let native = Order::native(context);
        let least = match fill::cache_of(context) {
            Some(cache) => NATIVE * cache.after,
            None => native.map_or(0.0, |native| LIKE_IN_PLACE * native),
        };
        let is_native = |level: &f64| *level > least;
        let level = level.filter(is_native);
        let alone = level.unwrap_or(in_order);
        let knee = Knee::find(&progress, alone);
        // Erases alone explain a cost in place that is only a little above that before the drop.
        let may_cache =
            |cache: &fill::Cache| native.is_none_or(|native| cache.before < LIKE_IN_PLACE * native);
        let cached = match (fill::cliff_in(context).filter(may_cache), knee) {
            (Some(cache), Some(knee)) => {
                let saves = native.unwrap_or(cache.after).min(alone) - cache.before;
                scattered_writes(&progress, alone, saves, knee.begins)
            }
            _ => 0.0,
        };
        Self { progress, span: context.span as f64, alone, in_order, is_level: level.is_some(), cached, knee }
    }

    /// Whether the drive has started to collect.
    pub(super) fn has_begun(&self) -> bool {
        self.knee.is_some()
    }

    /// Whether more writes would add little.
    pub(super) fn is_settled(&self) -> bool {
        let Some(knee) = &self.knee else { return false };
        let following = self.progress.marks.len() - knee.at;
        let is_narrow = || self.feed_rate().is_some_and(|[fed, low, high]| high - low < 2.0 * NARROW * fed);
        following >= FOLLOWING_MOST || following >= FOLLOWING && is_narrow()
    }

    /// Bytes that went to blocks without valid data, and the ends of the 90% interval.
    fn feed_rate(&self) -> Option<[f64; 3]> {
        let knee = self.knee.as_ref()?;
        let FreeSpaceFit { remaining, low, high } =
            FreeSpaceFit::fit(&self.progress, knee, self.alone, self.span)?;
        Some([remaining, low, high].map(|remaining| knee.begins - self.cached + remaining))
    }

    /// Over-provisioning in percent, with what is never used, in erase units.
    pub(super) fn property(&self, context: &ExperimentContext<'_>, unit: &Property) -> Property {
        let key = Key::OverProvisioningPercent;
        let Some((knee, [fed, low, high])) = self.knee.zip(self.feed_rate()) else {
            return Property::undecided(key, wording::never_collected());
        };
        let writes = ScatteredWrites {
            before: knee.begins,
            slower: Factor(knee.after / self.alone),
            to_empty_blocks: fed,
            to_cache: self.cached,
        };
        let fetches = matches!(context.inferences.property(Key::MapCacheBytes).state, State::Number { .. });
        let like_order = self.alone < self.in_order * if fetches { FETCHING } else { LIKE_ORDER };
        // With misses of the mapping cache, only a level shows what they cost.
        if !like_order || fed <= 0.0 || fetches && !self.is_level {
            return Property::undecided(key, wording::gradual_collection(&writes));
        }
        let cell = self.progress.bytes() / self.progress.marks.len() as f64;
        let (kept, kept_error) = match unit.state {
            State::Number { value, .. } => (KEPT_BLOCKS * value, KEPT_ERROR * value + cell),
            _ => (KEPT_SHARE * fed, KEPT_SHARE * fed + cell),
        };
        let spare = fed + kept;
        let (below, above) = (kept_error.hypot(fed - low), kept_error.hypot(high - fed));
        if below + above > 2.0 * VAGUE * spare || kept > spare / 3.0 {
            return Property::undecided(key, wording::uncertain_spare(&writes));
        }
        let is_sure = self.is_level && below + above < 2.0 * SURE * spare && unit.value().is_some();
        let percent = |bytes: f64| 100.0 * bytes / self.span;
        let interval = (percent(spare - NINE_OF_TEN * below), percent(spare + NINE_OF_TEN * above));
        let confidence = if is_sure { 0.95 } else { 0.8 };
        Property::number(key, percent(spare), interval, confidence, wording::scattered_writes(&writes))
            .caveat(wording::kept_blocks_assumed())
    }

    pub(super) fn picture(&self) -> Option<Series> {
        let points = self.progress.speeds(512).into_iter().map(|[bytes, speed]| [bytes, 1e9 / speed]);
        let points: Vec<[f64; 2]> = points.collect();
        if points.is_empty() {
            return None;
        }
        let (overwritten, cost) = (axis("overwritten", "bytes"), axis("time of a byte", "ns"));
        let mut series = Series::new(wording::COST_OF_OVERWRITING, Shape::Line, overwritten, cost);
        series.marks = self
            .knee
            .iter()
            .map(|knee| Mark { x: knee.begins, label: "garbage collection begins".to_owned() })
            .collect();
        Some(series.lines([Line::new("scattered writes", points)]))
    }
}

/// Nanoseconds per byte of sequential writes: after the cache, or in place, or in the last part of the fill,
/// because pieces after a rest may have gone to a cache.
fn in_order(context: &ExperimentContext<'_>) -> f64 {
    if let Some(cache) = fill::cache_of(context) {
        return cache.after;
    }
    let fill = WriteProgress::from_segments(fill::pieces(context));
    let at_last = || fill.cost_between(0.8 * fill.bytes(), fill.bytes()).unwrap_or(0.0);
    Order::native(context).unwrap_or_else(at_last)
}

/// Bytes of the first scattered writes that a cache took. Each saved what the cache `saves` for sequential
/// writes; misses of the mapping cache add the same to both.
fn scattered_writes(progress: &WriteProgress, alone: f64, saves: f64, until: f64) -> f64 {
    if saves <= 0.0 {
        return 0.0;
    }
    let steps = progress.steps().zip(progress.costs()).take_while(|(step, _)| step.end <= until);
    let saved = steps.map(|(step, cost)| (step, ((alone - cost) / saves).clamp(0.0, 1.0)));
    saved.filter(|(_, share)| *share > SAVED_SHARE).map(|(step, share)| (step.end - step.start) * share).sum()
}
