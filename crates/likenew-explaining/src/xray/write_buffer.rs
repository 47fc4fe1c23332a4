//! Measures the write buffer: how much is taken at the speed of the link before the medium has to keep up.

mod bursts;

use std::ops::Range;

use likenew_core::findings::{Line, Mark, Series, Shape};
use likenew_core::io::{DataClass, Op};
use likenew_core::procedure::Ended;
use likenew_core::region::Region;
use likenew_core::segment::Segment;
use likenew_core::units::Nanos;
use likenew_core::workload::{AccessPattern, Mix, Stream, Until, Workload};
use likenew_procedure_support::series::axis;
use likenew_stats::summary::median;

use super::experiment::{Context, Finding, Steps, flush, random_reads, sequential};
use super::property::{Key, Property, Reason};
use super::writing::{stream_latencies, synced_writes};
use super::{mapping, wording};

/// Writes bursts into an empty buffer.
pub(super) fn run<'a>(context: &Context<'a>, steps: &mut Steps<'a>) -> Result<Finding, Reason> {
    let is_disk = match context.word(Key::Medium) {
        Some("virtual") => return Err(wording::buffer_of_volume()),
        None => return Err(wording::buffer_of_unknown_medium()),
        Some(medium) => matches!(medium, "disk" | "shingled_disk"),
    };
    context.expect_long_files(1 << 20)?;
    context.expect_room(bursts::FIRST)?;
    Ok(if is_disk {
        behind_reads(context, steps)
    } else if merges(context) {
        behind_merges(context, steps)
    } else {
        bursts::run(context, steps)
    })
}

/// Whether it is known how to keep the flash busy with merges.
fn merges(context: &Context<'_>) -> bool {
    let family = context.word(Key::Mapping);
    family.is_some_and(|family| family != "page") && context.number(Key::EraseUnitBytes).is_some()
}

/// Latencies along a burst of writes of `block` bytes, and where the buffer was full.
fn picture(title: &str, written: &str, block: f64, latencies: &[f64], full: Option<Mark>) -> Series {
    let points = latencies.iter().enumerate().map(|(index, ns)| [index as f64 * block, *ns]);
    let (written, latency) = (axis(written, "bytes"), axis("latency", "ns").logarithmic());
    Series::new(title, Shape::Scatter, written, latency)
        .lines([Line::new("writes", points.collect())])
        .marks(full)
}

// The write buffer in front of a block map. While dies merge a cluster nothing leaves the buffer, so its size is what
// it takes until a write has to wait.

const PAGE: u32 = 16 << 10;
const IOS_MAX: u64 = 512;
/// Fewest clusters for a burst. Chosen: as many as the mapping test writes.
const CLUSTERS_LEAST: u64 = 36;
/// Writes before the burst that each have to wait for a merge.
const LEAD: u32 = 8;
const MERGED_BURSTS: usize = 3;
/// Least ratio of the latency of a write that waits for a merge to that of the first ones. Chosen: a merge
/// copies dozens of pages.
const MERGE_FACTOR: f64 = 8.0;
/// Shortest time of a merge, in nanoseconds. Chosen: an erase and a few programs.
const MERGE_NS: f64 = 3e6;
const FIRST_MERGED: usize = 4;
/// Pages in the buffer below which I/Os of one page are worth trying. Chosen: one I/O of two pages is 8% of it, more than
/// the other errors.
const PAGES_MIN: f64 = 24.0;

fn behind_merges(context: &Context<'_>, steps: &mut Steps<'_>) -> Finding {
    let page = context.number(Key::MapPageBytes).map_or(PAGE, |page| page as u32);
    let mut bursts = Vec::new();
    let _ended = write_behind_merges(context, steps, page, &mut bursts);
    let Some(last) = bursts.last().filter(|last| !last.samples.is_empty()) else { return Finding::default() };
    let block = f64::from(last.workload.length_max());
    let intake: Vec<f64> = same_as_last(&bursts).into_iter().filter_map(absorbed_bytes).collect();
    let property = property_behind_merges(&intake, block, f64::from(page));
    let mark = property.value().map(|held| Mark { x: held, label: "full".into() });
    let picture = picture(wording::BUFFER_MERGES, "accepted", block, &stream_latencies(last, 0), mark);
    Finding::single(property, ("write_buffer", picture))
}

fn write_behind_merges<'a>(
    context: &Context<'_>,
    steps: &mut Steps<'a>,
    page: u32,
    bursts: &mut Vec<&'a Segment>,
) -> Result<(), Ended> {
    let Some((start, step, clusters)) = mapping::clusters(context) else { return Ok(()) };
    let place = |clusters: Range<u64>| {
        let region = Region::bytes(start + clusters.start * step..start + clusters.end * step);
        AccessPattern::Strided { region, step }
    };
    let lead_clusters = u64::from(LEAD);
    let mut block = 2 * page;
    while clusters >= CLUSTERS_LEAST && u64::from(block) <= step / 4 {
        let number = bursts.len() + 1;
        // Clusters are written in turn, so those that have been idle for longest come next.
        let lead = synced_writes(format!("lead {number}"), 2 * page, place(0..lead_clusters), LEAD);
        steps.run(Workload { flush: true, ..lead })?;
        let place = place(lead_clusters..clusters);
        let writes = Stream::closed(Mix::Only(Op::Write), block, place, 1, DataClass::Random);
        let ios = IOS_MAX.min(clusters - lead_clusters);
        let workload = Workload::new(format!("burst {number}"), Until::ops(ios), vec![writes]);
        let burst = steps.run(Workload { samples: IOS_MAX as u32, ..workload })?;
        bursts.push(burst);
        block = match absorbed_bytes(burst) {
            Some(bytes) if number == 1 && is_worth_pages(bytes, page, clusters) => page,
            Some(_) if same_as_last(bursts).len() >= MERGED_BURSTS => break,
            Some(_) => burst.workload.length_max(),
            // There were too few clusters for a burst.
            None => 4 * burst.workload.length_max(),
        };
    }
    Ok(())
}

/// Whether I/Os of a page would tell a buffer of about these bytes more exactly, and reach its end.
fn is_worth_pages(bytes: f64, page: u32, clusters: u64) -> bool {
    let pages = bytes / f64::from(page);
    pages < PAGES_MIN && pages + f64::from(3 * LEAD) < clusters as f64
}

/// The bursts that wrote I/Os as long as those of the last one.
fn same_as_last<'a>(bursts: &[&'a Segment]) -> Vec<&'a Segment> {
    let block = bursts.last().map(|burst| burst.workload.length_max());
    bursts.iter().copied().filter(|burst| Some(burst.workload.length_max()) == block).collect()
}

/// Bytes taken before a write had to wait.
fn absorbed_bytes(burst: &Segment) -> Option<f64> {
    let latencies = stream_latencies(burst, 0);
    let first = median(latencies.get(..FIRST_MERGED)?)?;
    let waits = latencies.iter().position(|latency| *latency > (MERGE_FACTOR * first).max(MERGE_NS))?;
    Some(waits as f64 * f64::from(burst.workload.length_max()))
}

fn property_behind_merges(intake: &[f64], block: f64, page: f64) -> Property {
    let key = Key::WriteBufferBytes;
    let Some(middle) = median(intake) else {
        return Property::undecided(key, wording::no_write_waited_for_merges());
    };
    let near = intake.iter().filter(|intake| (*intake - middle).abs() <= block.max(0.1 * middle)).count();
    if near < 2 || middle < 2.0 * block {
        return Property::undecided(key, wording::intake_during_merges(middle).but(wording::BURSTS_DISAGREE));
    }
    // One page or two had left before the first merge began, and the next write came in partly, or not at
    // all.
    let value = middle - page / 2.0;
    let interval = (middle - 2.0 * page, middle + page.max(block - page));
    Property::number(key, value, interval, 0.93, wording::intake_during_merges(middle))
}

// The write cache of a disk. While reads wait for the arm, nothing goes to the platters unless it must. So the first
// write that has to wait finds the cache full, and nothing has left it.

const BLOCK: u32 = 64 << 10;
const BYTES_MAX: u64 = 256 << 20;
/// Time limit of a burst. Chosen: before the disk starts to write by itself.
const TIME_MAX: Nanos = Nanos::from_millis(1500);
/// Reads that wait for the arm all the time.
const READS: u32 = 4;
const BURSTS: usize = 2;
/// Least ratio of the latency of a write that waits for the arm to that of the first ones. Chosen: memory is
/// far faster than a seek.
const SEEK_FACTOR: f64 = 4.0;
/// Latency of the first writes, in nanoseconds, from which they go to the arm at once. Chosen: no cache takes
/// this long.
const ARM_NS: f64 = 2e6;
const FIRST: usize = 8;

fn behind_reads(context: &Context<'_>, steps: &mut Steps<'_>) -> Finding {
    let mut bursts = Vec::new();
    let ended = (1..=BURSTS).try_for_each(|number| {
        bursts.push(stream_latencies(burst_behind_reads(context, steps, number)?, 0));
        Ok::<(), Ended>(())
    });
    let intake: Vec<Option<u64>> = bursts.iter().filter_map(|burst| cached_bytes(burst)).collect();
    if ended.is_err() || intake.len() < BURSTS {
        return Finding::default();
    }
    let (last, taken) = (&bursts[BURSTS - 1], intake[BURSTS - 1]);
    let shown = taken.map_or(last.len(), |taken| 2 * (taken / u64::from(BLOCK)) as usize + FIRST);
    let mark = taken.map(|taken| Mark { x: taken as f64, label: wording::CACHE_FULL.into() });
    let shown = &last[..shown.min(last.len())];
    let picture = picture(wording::BUFFER_DISK, wording::WRITTEN_SINCE_EMPTY, BLOCK.into(), shown, mark);
    Finding::single(property_behind_reads(&intake), ("write_buffer", picture))
}

fn burst_behind_reads<'a>(
    context: &Context<'_>,
    steps: &mut Steps<'a>,
    number: usize,
) -> Result<&'a Segment, Ended> {
    // Everything written before reaches the platters first.
    steps.run(flush(BLOCK))?;
    let half = context.span / 2 / (1 << 20) * (1 << 20);
    let bytes = BYTES_MAX.min(half).min(steps.remaining() / 2);
    // The first stream is the one that is looked at.
    let streams =
        vec![sequential(Op::Write, 0..half, BLOCK, 1), random_reads(half..context.span, 4096, READS)];
    let until = Until { elapsed: Some(TIME_MAX), bytes: Some(bytes), ops: None };
    steps.run(Workload { samples: 16_384, ..Workload::new(format!("burst {number}"), until, streams) })
}

/// Bytes taken before a write had to wait, in whole blocks; `Some(None)` if none had to, `None` if there were
/// too few writes.
fn cached_bytes(latencies: &[f64]) -> Option<Option<u64>> {
    let first = median(latencies.get(..FIRST.min(latencies.len()))?).filter(|first| *first > 0.0)?;
    if first > ARM_NS {
        return Some(Some(0));
    }
    let waits = latencies.iter().position(|latency| *latency > (SEEK_FACTOR * first).max(ARM_NS));
    Some(waits.map(|writes| writes as u64 * u64::from(BLOCK)))
}

fn property_behind_reads(intake: &[Option<u64>]) -> Property {
    let key = Key::WriteBufferBytes;
    let Some(intake) = intake.iter().copied().collect::<Option<Vec<u64>>>() else {
        return Property::undecided(key, wording::no_write_waited_for_head());
    };
    let (least, most) =
        intake.iter().fold((u64::MAX, 0), |(least, most), intake| (least.min(*intake), most.max(*intake)));
    if most == 0 {
        return Property::absent(key, 0.97, wording::every_write_waits());
    }
    let block = u64::from(BLOCK);
    if most - least > 2 * block {
        return Property::undecided(key, wording::unequal_intake(least, most));
    }
    // The next block did not fit, and one or two may have left before the first read waited for the arm.
    let value = (least + most) as f64 / 2.0 - 0.5 * block as f64;
    let margin = 2.5 * block as f64 + 0.003 * value;
    let interval = (value - margin, value + margin);
    Property::number(key, value, interval, 0.95, wording::intake_behind_reads(most))
}

#[cfg(test)]
mod tests {
    use super::super::property::State;
    use super::*;

    fn burst(fast: usize) -> Vec<f64> {
        let slow = (0..64).map(|index| if index % 3 == 0 { 2e7 } else { 6e5 });
        std::iter::repeat_n(6e5, fast).chain(slow).collect()
    }

    #[test]
    fn the_first_write_that_waits_finds_the_cache_full() {
        let block = u64::from(BLOCK);
        assert_eq!(cached_bytes(&burst(100)), Some(Some(100 * block)));
        assert_eq!(cached_bytes(&[8e6; 20]), Some(Some(0)), "nothing is cached");
        assert_eq!(cached_bytes(&[6e5; 2000]), Some(None), "nothing has to wait");
        assert_eq!(cached_bytes(&[]), None);
        let both = property_behind_reads(&[Some(100 * block), Some(101 * block)]);
        assert!(both.value().is_some_and(|bytes| (99.0..=102.0).contains(&(bytes / block as f64))));
        assert_eq!(
            property_behind_reads(&[Some(100 * block), Some(140 * block)]).state,
            State::Undecided,
            "it does not repeat"
        );
        assert_eq!(property_behind_reads(&[Some(0), Some(0)]).state, State::Absent);
        assert_eq!(property_behind_reads(&[None, None]).state, State::Undecided);
    }
}
