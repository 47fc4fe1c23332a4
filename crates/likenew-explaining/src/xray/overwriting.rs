//! Overwrites a full drive: how much it takes before garbage collection, when collection starts by itself,
//! and how far apart its dies erase.

mod emptying;
mod knee;
mod order;
mod spare;

use likenew_core::io::{DataClass, Op};
use likenew_core::region::Region;
use likenew_core::units::Nanos;
use likenew_core::workload::{AccessPattern, Mix, Stream, Until, Workload};

use super::experiment::{Experiment, ExperimentContext, Finding, own_name};
use super::idle::Idle;
use super::property::{Key, Property, Reason};
use super::{fill, wording};
use order::Order;
use spare::Spare;

const SCATTER: &str = "scatter";
const MORE_WRITES: &str = "more scattered writes";
const IN_PLACE: &str = "in place";
const ORDER: &str = "order";
const TRIM: &str = "trim";
const REST: &str = "rest";
const REST_AGAIN: &str = "second idle";

/// Block size of overwrites, in bytes; no page map has to fill up a unit of it.
const BLOCK: u32 = 16 << 10;
const DEPTH: u32 = 32;
/// The span in chunks, each with this many windows.
const CHUNKS: u64 = 64;
const WINDOWS: u64 = 16;
/// Rest in which the firmware folds what is left in a cache. Chosen: longer than folding after a fill takes.
const SETTLING: Nanos = Nanos::from_secs(120);
/// Rest after a trim. Chosen: a firmware that erases in the background has started and finished by then.
const FORGETTING: Nanos = Nanos::from_secs(60);
/// Share of the addresses that the mapping cache covers of which overwriting in place uses at most this much.
/// Chosen: a margin for the error of that range.
const MAPPED_SHARE: f64 = 0.6;

/// Overwrites a full drive.
pub(super) struct Overwriting;

impl Experiment for Overwriting {
    fn name(&self) -> &'static str {
        "overwriting"
    }

    fn next(&self, context: &ExperimentContext<'_>) -> Option<Workload> {
        if obstacle(context).is_some() || context.segments.iter().any(|segment| segment.errors() > 0) {
            return None;
        }
        type NextWorkload = fn(&ExperimentContext<'_>) -> Option<Workload>;
        // On a drive that cannot be emptied, whole blocks are only erased while no scattered writes have
        // reached them.
        let steps: &[NextWorkload] = match context.loses_writes() {
            true => &[settle, scatter, rests, in_place, trim_workload, in_order],
            false => &[settle, in_place, settle_again, scatter, rests],
        };
        steps.iter().find_map(|step| step(context))
    }

    fn find(&self, context: &ExperimentContext<'_>) -> Finding {
        let keys = [Key::OverProvisioningPercent, Key::EraseUnitBytes];
        if has_other_mapping(context) {
            return Finding::default();
        }
        if let Some(reason) = obstacle(context) {
            let properties = keys.map(|key| Property::undecided(key, reason.clone())).into();
            return Finding { properties, ..Finding::default() };
        }
        if !context.inferences.is("flash") {
            return Finding::default();
        }
        let order = Order::from_context(context);
        let unit = order.property(context);
        let spare = Spare::from_context(context);
        let share = match context.has_others() {
            true => Property::undecided(Key::OverProvisioningPercent, wording::shared_drive()),
            false => spare.property(context, &unit),
        };
        let mut finding = Finding { properties: vec![share, unit], ..Finding::default() };
        let idle = Idle::from_segments(&context.segments);
        finding.properties.extend(idle.property(context));
        finding.pictures.extend(spare.picture().map(|picture| ("cost_of_overwriting", picture)));
        finding.pictures.extend(order.picture().map(|picture| ("pauses_of_erasing", picture)));
        finding.pictures.extend(idle.picture().map(|picture| ("reads_after_rest", picture)));
        finding
    }
}

fn has_other_mapping(context: &ExperimentContext<'_>) -> bool {
    matches!(context.inferences.word(Key::Mapping), Some("hybrid" | "block"))
}

/// Why no idle time was tried.
pub(super) fn idle_refusal(context: &ExperimentContext<'_>) -> Reason {
    obstacle(context).unwrap_or_else(wording::never_collected)
}

fn obstacle(context: &ExperimentContext<'_>) -> Option<Reason> {
    if has_other_mapping(context) {
        return Some(wording::other_mapping());
    }
    if context.inferences.word(Key::Medium).is_some_and(|medium| medium != "flash") {
        return Some(wording::only_flash());
    }
    (!fill::is_filled_whole(context)).then(|| context.fill_refusal())
}

fn total_bytes(context: &ExperimentContext<'_>, name: &str) -> u64 {
    let segments = context.segments.iter().filter(|segment| own_name(segment).starts_with(name));
    segments.filter_map(|segment| segment.workload.until.bytes).sum()
}

fn segment_count(context: &ExperimentContext<'_>, name: &str) -> usize {
    context.segments.iter().filter(|segment| own_name(segment).starts_with(name)).count()
}

fn scattered_writes(context: &ExperimentContext<'_>, name: String) -> Option<Workload> {
    let length = (context.span / CHUNKS).next_multiple_of(BLOCK.into());
    let place = AccessPattern::Random(Region::bytes(0..context.span));
    let stream = Stream::closed(Mix::Only(Op::Write), BLOCK, place, DEPTH, DataClass::Random);
    let window = (length / WINDOWS).next_multiple_of(BLOCK.into());
    let workload = Workload::new(name, Until::bytes(length), vec![stream]);
    context.may_write(length).then_some(Workload { window: Some(window), ..workload })
}

/// Gives a cache time to empty.
fn settle(context: &ExperimentContext<'_>) -> Option<Workload> {
    settle_workload(context, REST)
}

fn settle_again(context: &ExperimentContext<'_>) -> Option<Workload> {
    settle_workload(context, REST_AGAIN)
}

fn settle_workload(context: &ExperimentContext<'_>, rest: &str) -> Option<Workload> {
    let wanted = fill::cliff_in(context).is_some() && context.segment(rest).is_none();
    wanted.then(|| Workload { name: rest.into(), ..Workload::rest(SETTLING) })
}

/// Overwrites scattered addresses until collection begins.
fn scatter(context: &ExperimentContext<'_>) -> Option<Workload> {
    let scattered_last =
        context.segments.last().is_some_and(|segment| own_name(segment).starts_with(SCATTER));
    let has_begun = segment_count(context, SCATTER) > 0;
    let enough =
        || Spare::from_context(context).is_settled() || total_bytes(context, SCATTER) > context.span / 2;
    let is_done = has_begun && (!scattered_last || enough());
    (!is_done)
        .then(|| scattered_writes(context, format!("{SCATTER} {}", segment_count(context, SCATTER) + 1)))
        .flatten()
}

/// Rests until collection starts by itself. A cache shows that already.
fn rests(context: &ExperimentContext<'_>) -> Option<Workload> {
    if fill::cache_of(context).is_some() || !Spare::from_context(context).has_begun() {
        return None;
    }
    // One pass for each time that collection has started.
    Idle::from_segments(&context.segments)
        .next(0..context.span, None, || scattered_writes(context, MORE_WRITES.into()))
}

/// Overwrites the same addresses sequentially again and again: few enough for the mapping cache, and for all
/// of their blocks to hold nothing else when they are erased. What went to a cache stays there, out of reach,
/// so that the cache is not used again.
fn in_place(context: &ExperimentContext<'_>) -> Option<Workload> {
    let most = if context.loses_writes() { context.span / 10 } else { context.span / 2 };
    if context.segment(TRIM).is_some() || total_bytes(context, IN_PLACE) >= most {
        return None;
    }
    let length = order_length(context);
    let cached = Order::cached_ios(context);
    let start = cached as u64 * length;
    let mapped =
        context.inferences.number(Key::MapCacheBytes).map_or(length, |bytes| (MAPPED_SHARE * bytes) as u64);
    let is_cached = cached == segment_count(context, IN_PLACE) && fill::cliff_in(context).is_some();
    let window = if is_cached { length } else { mapped.min(length).next_multiple_of(BLOCK.into()) };
    let place = AccessPattern::Sequential(Region::bytes(start..start + window));
    (start + length <= context.span).then(|| sequential_workload(context, IN_PLACE, place, length)).flatten()
}

/// Empties the drive again if overwriting in place has not shown enough.
fn trim_workload(context: &ExperimentContext<'_>) -> Option<Workload> {
    if !context.loses_writes() || Order::from_context(context).is_settled() {
        return None;
    }
    let forgotten = "rest of trim";
    if context.segment(TRIM).is_none() {
        return Some(context.trim(TRIM));
    }
    let immediate = context.inferences.word(Key::Trim) == Some("immediate");
    (!immediate && context.segment(forgotten).is_none())
        .then(|| Workload { name: forgotten.into(), ..Workload::rest(FORGETTING) })
}

/// Overwrites an empty drive sequentially until pauses come at equal distances.
fn in_order(context: &ExperimentContext<'_>) -> Option<Workload> {
    context.segment(TRIM)?;
    let at = total_bytes(context, ORDER);
    let length = order_length(context);
    let place = AccessPattern::Sequential(Region::bytes(at..at + length));
    // Bytes that go to a cache do not count.
    let cached = fill::cliff_in(context).map_or(0, |cache| cache.bytes as u64);
    let end = context.span.min(cached + context.span / 32 * 7);
    (at + length <= end).then(|| sequential_workload(context, ORDER, place, length)).flatten()
}

fn order_length(context: &ExperimentContext<'_>) -> u64 {
    (context.span / 32).min(1 << 30).next_multiple_of(BLOCK.into())
}

/// The next chunk of sequential overwrites, unless enough was seen or it would be too much.
fn sequential_workload(
    context: &ExperimentContext<'_>,
    name: &str,
    place: AccessPattern,
    length: u64,
) -> Option<Workload> {
    // A drive that cannot be emptied erases nothing before its spare is used up.
    if context.loses_writes() && Order::from_context(context).is_settled() || !context.may_write(length) {
        return None;
    }
    let stream = Stream::closed(Mix::Only(Op::Write), BLOCK, place, DEPTH, DataClass::Random);
    let name = format!("{name} {}", segment_count(context, name) + 1);
    let samples = (length / u64::from(BLOCK)) as u32;
    Some(Workload { samples, ..Workload::new(name, Until::bytes(length), vec![stream]) })
}
