//! Overwrites a full drive: finds its over-provisioning by what it takes before garbage collection, when idle
//! collection starts, and its erase unit by the distance of pauses.

mod order;
mod spare;

use std::ops::Range;

use likenew_core::io::{DataClass, Op};
use likenew_core::procedure::Ended;
use likenew_core::region::Region;
use likenew_core::segment::Segment;
use likenew_core::units::Nanos;
use likenew_core::workload::{AccessPattern, Mix, Stream, Until, Workload};

use super::experiment::{Context, Experiment, Finding, Steps, sequential_writes};
use super::idle::Idle;
use super::property::{Key, Property, Reason};
use super::wording;
use order::Order;
use spare::Spare;

const SCATTER: &str = "scatter";
const IN_PLACE: &str = "in place";
const ORDER: &str = "order";
const TRIM: &str = "trim";

/// Block size of overwrites, in bytes: no page map has to read the rest of a mapping unit.
const BLOCK: u32 = 16 << 10;
const DEPTH: u32 = 32;
/// The span in chunks, each with this many windows.
const CHUNKS: u64 = 64;
const WINDOWS: u64 = 16;
/// Rest in which the firmware folds what is left in a cache. Chosen: longer than folding after a fill takes.
const SETTLING: Nanos = Nanos::from_secs(120);
/// Rest after a trim. Chosen: a firmware that erases in the background has started and finished by then.
const FORGETTING: Nanos = Nanos::from_secs(60);
/// Overwriting in place uses at most this share of the addresses that the mapping cache covers. Chosen: a
/// margin for the error of that range.
const MAPPED_SHARE: f64 = 0.6;

/// Overwrites a full drive.
pub(super) struct Overwriting;

impl Experiment for Overwriting {
    fn name(&self) -> &'static str {
        "overwriting"
    }

    fn run<'a>(&self, context: &Context<'a>, steps: &mut Steps<'a>) -> Finding {
        let keys = [Key::OverProvisioningPercent, Key::EraseUnitBytes];
        if has_other_mapping(context) {
            return Finding::default();
        }
        if let Some(reason) = obstacle(context) {
            let properties = keys.map(|key| Property::undecided(key, reason.clone())).into();
            return Finding { properties, ..Finding::default() };
        }
        steps.end_at_errors();
        let mut overwrites = Overwrites::default();
        let _ended = overwrites.measure(context, steps);
        if context.inferences.is("flash") {
            steps.conclude(|| overwrites.finding(context))
        } else {
            Finding::default()
        }
    }
}

/// What has overwritten the drive, chunk by chunk.
#[derive(Default)]
struct Overwrites<'a> {
    scattered: Vec<&'a Segment>,
    in_place: Vec<&'a Segment>,
    /// Whether the drive was emptied again, and what was then written sequentially.
    was_emptied: bool,
    in_order: Vec<&'a Segment>,
    idle: Idle,
}

impl<'a> Overwrites<'a> {
    /// Without TRIM, in place comes first: scattered writes leave no whole blocks to erase.
    fn measure(&mut self, context: &Context<'a>, steps: &mut Steps<'a>) -> Result<(), Ended> {
        settle(context, steps, "rest")?;
        if context.loses_writes() {
            self.scatter(context, steps)?;
            self.rest(context, steps)?;
            self.overwrite_in_place(context, steps)?;
            self.empty(context, steps)?;
            return self.overwrite_in_order(context, steps);
        }
        self.overwrite_in_place(context, steps)?;
        settle(context, steps, "second idle")?;
        self.scatter(context, steps)?;
        self.rest(context, steps)
    }

    /// Overwrites scattered addresses until collection begins.
    fn scatter(&mut self, context: &Context<'a>, steps: &mut Steps<'a>) -> Result<(), Ended> {
        let is_enough =
            |this: &Self| this.spare(context).is_settled() || total_bytes(&this.scattered) > context.span / 2;
        while (self.scattered.is_empty() || steps.goes_on(SCATTER, || !is_enough(self)))
            && steps.may_write(scattered_bytes(context))
        {
            let name = format!("{SCATTER} {}", self.scattered.len() + 1);
            self.scattered.push(steps.run(scattered_writes(context, name))?);
        }
        Ok(())
    }

    /// Rests until collection starts by itself. The fill of a drive with a cache has shown that already.
    fn rest(&mut self, context: &Context<'a>, steps: &mut Steps<'a>) -> Result<(), Ended> {
        if context.inferences.slc_cache().is_some() || !self.spare(context).has_begun() {
            return Ok(());
        }
        // One pass for each time that collection has started.
        self.idle.measure(steps, 0..context.span, None, |steps| {
            if steps.may_write(scattered_bytes(context)) {
                steps.run(scattered_writes(context, "more scattered writes".into()))?;
            }
            Ok(Some(0..context.span))
        })
    }

    /// Overwrites the same addresses sequentially again and again. They are few enough for the mapping cache,
    /// and their blocks hold nothing else when they are erased. Addresses that went to a cache are passed
    /// over: they stay in it, so it takes no other writes.
    fn overwrite_in_place(&mut self, context: &Context<'a>, steps: &mut Steps<'a>) -> Result<(), Ended> {
        let most = if context.loses_writes() { context.span / 10 } else { context.span / 2 };
        let length = order_length(context);
        let mapped = context.inferences.number(Key::MapCacheBytes);
        let mapped = mapped.map_or(length, |bytes| (MAPPED_SHARE * bytes) as u64);
        while total_bytes(&self.in_place) < most {
            let cached = order::cached_chunks(context, &self.in_place);
            let start = cached as u64 * length;
            let is_cached = cached == self.in_place.len() && context.inferences.cliff().is_some();
            let window = if is_cached { length } else { mapped.min(length).next_multiple_of(BLOCK.into()) };
            if start + length > context.span || !self.goes_on(context, steps, IN_PLACE) {
                break;
            }
            let workload = next_chunk(IN_PLACE, self.in_place.len(), start..start + window, length);
            self.in_place.push(steps.run(workload)?);
        }
        Ok(())
    }

    /// Empties the drive again if overwriting in place has not shown enough.
    fn empty(&mut self, context: &Context<'a>, steps: &mut Steps<'a>) -> Result<(), Ended> {
        if steps.goes_on(TRIM, || !self.order(context).is_settled()) {
            steps.run(context.trim(TRIM))?;
            self.was_emptied = true;
            if context.inferences.word(Key::Trim) != Some("immediate") {
                steps.rest("rest of trim", FORGETTING)?;
            }
        }
        Ok(())
    }

    /// Overwrites an empty drive sequentially until pauses come at equal distances.
    fn overwrite_in_order(&mut self, context: &Context<'a>, steps: &mut Steps<'a>) -> Result<(), Ended> {
        let length = order_length(context);
        // Bytes that go to a cache do not count.
        let cached = context.inferences.cliff().map_or(0, |cache| cache.bytes as u64);
        let end = context.span.min(cached + context.span / 32 * 7);
        while self.was_emptied
            && total_bytes(&self.in_order) + length <= end
            && self.goes_on(context, steps, ORDER)
        {
            let at = total_bytes(&self.in_order);
            let workload = next_chunk(ORDER, self.in_order.len(), at..at + length, length);
            self.in_order.push(steps.run(workload)?);
        }
        Ok(())
    }

    /// Whether sequential overwrites go on: not if enough was seen or the budget is used up. A drive that
    /// cannot be emptied always goes on, because it erases nothing before its spare is used up.
    fn goes_on(&self, context: &Context<'_>, steps: &Steps<'_>, series: &str) -> bool {
        steps.may_write(order_length(context))
            && steps.goes_on(series, || !(context.loses_writes() && self.order(context).is_settled()))
    }

    fn order(&self, context: &Context<'_>) -> Order {
        Order::new(context, &self.in_place, self.was_emptied.then_some(&self.in_order))
    }

    fn finding(self, context: &Context<'_>) -> Finding {
        let (order, spare) = (self.order(context), self.spare(context));
        let unit = order.property(context);
        let share = if context.has_others() {
            Property::undecided(Key::OverProvisioningPercent, wording::shared_drive())
        } else {
            spare.property(context, &unit)
        };
        let mut finding = Finding { properties: vec![share, unit], ..Finding::default() };
        finding.properties.extend(self.idle.property(context));
        finding.pictures.extend(spare.picture().map(|picture| ("cost_of_overwriting", picture)));
        finding.pictures.extend(order.picture().map(|picture| ("pauses_of_erasing", picture)));
        finding.pictures.extend(self.idle.picture().map(|picture| ("reads_after_rest", picture)));
        finding
    }

    fn spare(&self, context: &Context<'_>) -> Spare {
        Spare::new(context, &self.scattered, order::native(context, &self.in_place))
    }
}

fn has_other_mapping(context: &Context<'_>) -> bool {
    matches!(context.inferences.word(Key::Mapping), Some("hybrid" | "block"))
}

/// Why no idle time was tried.
pub(super) fn idle_refusal(context: &Context<'_>) -> Reason {
    obstacle(context).unwrap_or_else(wording::never_collected)
}

fn obstacle(context: &Context<'_>) -> Option<Reason> {
    if has_other_mapping(context) {
        return Some(wording::other_mapping());
    }
    if context.inferences.word(Key::Medium).is_some_and(|medium| medium != "flash") {
        return Some(wording::only_flash());
    }
    (!context.inferences.is_filled_whole()).then(|| context.fill_refusal())
}

fn total_bytes(chunks: &[&Segment]) -> u64 {
    chunks.iter().filter_map(|segment| segment.workload.until.bytes).sum()
}

fn scattered_bytes(context: &Context<'_>) -> u64 {
    (context.span / CHUNKS).next_multiple_of(BLOCK.into())
}

fn scattered_writes(context: &Context<'_>, name: String) -> Workload {
    let length = scattered_bytes(context);
    let place = AccessPattern::Random(Region::bytes(0..context.span));
    let stream = Stream::closed(Mix::Only(Op::Write), BLOCK, place, DEPTH, DataClass::Random);
    let window = Some((length / WINDOWS).next_multiple_of(BLOCK.into()));
    Workload { window, ..Workload::new(name, Until::bytes(length), vec![stream]) }
}

/// Gives a cache time to empty.
fn settle(context: &Context<'_>, steps: &mut Steps<'_>, name: &str) -> Result<(), Ended> {
    match context.inferences.cliff() {
        Some(_) => steps.rest(name, SETTLING).map(drop),
        None => Ok(()),
    }
}

fn order_length(context: &Context<'_>) -> u64 {
    (context.span / 32).min(1 << 30).next_multiple_of(BLOCK.into())
}

/// The next chunk of a series: `length` bytes within a range.
fn next_chunk(series: &str, before: usize, range: Range<u64>, length: u64) -> Workload {
    let workload = sequential_writes(format!("{series} {}", before + 1), range, BLOCK, DEPTH);
    Workload { samples: (length / u64::from(BLOCK)) as u32, until: Until::bytes(length), ..workload }
}
