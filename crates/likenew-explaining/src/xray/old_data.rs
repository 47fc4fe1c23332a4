//! Finds whether old data takes longer to read than fresh data: reads the same addresses before anything is
//! written, and again after the drive was filled.
//!
//! Charge leaks out of flash cells, and pages that fail to read are read again (Cai and others, "Data
//! Retention in MLC NAND Flash Memory", HPCA 2015). A small rewrite would show nothing: it may go to a
//! pseudo-SLC cache, which reads faster at any age. The middle of a drive that was filled sequentially is not
//! in that cache.

use std::ops::Range;

use likenew_core::findings::{Line, Series, Shape};
use likenew_core::quantity::Latency;
use likenew_core::segment::Segment;
use likenew_core::units::{Nanos, amount};
use likenew_core::workload::Workload;
use likenew_stats::interval::{CONFIDENCE_90, median_interval};
use likenew_stats::summary::{median, sorted};

use super::experiment::{Context, Finding, Steps, latencies, random_reads, sampled};
use super::property::{Key, Property, Reason, Remedy};
use super::wording;
use super::writing::{writes_in_order, written_in_order};
use likenew_procedure_support::series::axis;

pub(super) const AS_FOUND: &str = "untouched";
/// Rest in which merges come to an end. Chosen: the time of hundreds of them.
const SETTLING: Nanos = Nanos::from_secs(30);
/// The addresses read, by reads of one flash page.
const WINDOW: u64 = 4 << 20;
const LENGTHS: [u32; 3] = [4096, 8192, 16_384];
const READS: u32 = 192;
/// Difference of old and fresh data, as a share, up to which there is none. Chosen: medians repeat to about
/// 1%.
const SAME: f64 = 0.03;
/// Difference, as a share, from which old data is slower. Chosen: well above `SAME`; between them nothing is
/// claimed.
const LONGER: f64 = 0.05;
/// Repeatability of a median, as a share; fitted.
const UNSURE: f64 = 0.01;

/// Reads a few addresses before anything else is done to them.
pub(super) fn read_as_found<'a>(context: &Context<'a>, steps: &mut Steps<'a>) -> Result<Finding, Reason> {
    // In a folder everything has just been written.
    let is_new = written_in_order(context, steps.before()).is_some();
    if context.may_be("flash") && !is_new {
        let mut reads =
            LENGTHS.iter().map(|length| reading(window(context.span), (*length).max(context.block())));
        let _ended = reads.try_for_each(|reads| steps.run(reads).map(drop));
    }
    Ok(Finding::default())
}

/// Reads the same addresses again after they were written with all others.
pub(super) fn run<'a>(context: &Context<'a>, steps: &mut Steps<'a>) -> Result<Finding, Reason> {
    let Some(before) = as_found(context) else { return Ok(Finding::default()) };
    let Some(after) = measure(context, steps, before) else { return Err(context.fill_refusal()) };
    let finding = |property| Finding::single(property, ("old_and_fresh_reads", picture(before, after)));
    Ok(property(context, before, after).map_or_else(Finding::default, finding))
}

/// Repeats the reads `before`, if the addresses were written since.
fn measure<'a>(context: &Context<'a>, steps: &mut Steps<'a>, before: &Segment) -> Option<&'a Segment> {
    let window = window(context.span);
    if !context.may_be("flash")
        || !context.is_whole()
        || !is_rewritten(context, steps.before(), before, &window)
    {
        return None;
    }
    if context.is_block_map() {
        steps.rest("settle", SETTLING).ok()?;
    }
    steps.run(Workload { name: "fresh".into(), ..reading(window, before.workload.length_max()) }).ok()
}

/// The addresses: beyond what a pseudo-SLC cache takes of a fill, and before what remains in it at the end.
pub(super) fn window(span: u64) -> Range<u64> {
    let start = span / 5 * 3;
    let start = start - start % WINDOW;
    start..start + WINDOW
}

fn reading(range: Range<u64>, length: u32) -> Workload {
    let name = format!("reads of {}", amount(length.into()));
    sampled(name, vec![random_reads(range, length, 1)], READS, Some(Nanos::from_secs(20)))
}

/// The reads before any write, with the length of a flash page if that is known.
fn as_found<'a>(context: &Context<'a>) -> Option<&'a Segment> {
    let page = context.number(Key::MapPageBytes).unwrap_or(4096.0);
    let is_ours = |segment: &&Segment| segment.workload.name.starts_with(AS_FOUND);
    let far = |segment: &&Segment| (f64::from(segment.workload.length_max()) / page).ln().abs();
    let reads = context.evidence.segments.iter().filter(is_ours);
    reads.min_by(|first, other| far(first).total_cmp(&far(other)))
}

/// Whether these addresses, and most others, were written sequentially since.
fn is_rewritten(context: &Context<'_>, segments: &[Segment], before: &Segment, window: &Range<u64>) -> bool {
    let geometry = &context.evidence.geometry;
    let later = segments.iter().filter(|segment| segment.started_at >= before.ended_at);
    let covered = later.filter(|segment| writes_in_order(segment)).filter_map(|segment| {
        let region =
            segment.workload.streams[0].pattern.region().resolve(geometry.capacity, geometry.block).ok()?;
        let end = region.end.min(region.start + super::experiment::bytes_written(segment));
        let inside = end.min(window.end).saturating_sub(region.start.max(window.start));
        Some((inside, end - region.start))
    });
    let (inside, written) = covered.fold((0, 0), |sum, part| (sum.0 + part.0, sum.1 + part.1));
    // A block map writes a whole cluster to another block, however few are written.
    let is_all = written > context.span / 2 || context.is_block_map();
    inside >= window.end - window.start && is_all
}

fn property(context: &Context<'_>, before: &Segment, after: &Segment) -> Option<Property> {
    let key = Key::OldDataReadRatio;
    let (old, fresh) = (latencies(before), latencies(after));
    let (old_ns, fresh_ns) = (median(&old)?, median(&fresh).filter(|median| *median > 0.0)?);
    let (of_old, of_fresh) = (median_interval(&old, CONFIDENCE_90)?, median_interval(&fresh, CONFIDENCE_90)?);
    let ratio = old_ns / fresh_ns;
    let wider = 1.0 + UNSURE + 2.0 * context.spread();
    let interval = (of_old.low / of_fresh.high / wider, of_old.high / of_fresh.low * wider);
    let reason = wording::old_and_fresh(Latency(old_ns), Latency(fresh_ns));
    let unsure = context.is_busy() && (interval.1 / interval.0 > 1.25 || ratio < 1.0 + 4.0 * LONGER);
    Some(if ratio < 1.0 - SAME {
        Property::undecided(key, reason.but(wording::NO_OLD_DATA))
    } else if unsure {
        Property::undecided(key, reason.how(wording::UNSTEADY).decided_by(Remedy::Quiet))
    } else if ratio > 1.0 + LONGER {
        Property::number(key, ratio, interval, 0.95, reason)
    } else if ratio < 1.0 + SAME {
        Property::absent(key, 0.95, reason)
    } else {
        Property::undecided(key, reason.how(wording::TOO_CLOSE))
    })
}

/// Distribution of the read latencies.
fn picture(before: &Segment, after: &Segment) -> Series {
    let line = |name: &str, segment: &Segment| {
        let sorted = sorted(&latencies(segment));
        let count = sorted.len() as f64;
        let points = sorted.iter().enumerate().map(|(index, latency)| [*latency, (index + 1) as f64 / count]);
        Line::new(name, points.collect())
    };
    let (latency, share) = (axis("latency", "ns").logarithmic(), axis("share", "1"));
    Series::new(wording::OLD_AND_FRESH_READS, Shape::Line, latency, share)
        .lines([line("as found", before), line("rewritten", after)])
}
