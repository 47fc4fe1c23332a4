//! Measures the write buffer in front of a block map. While dies merge a cluster nothing leaves the buffer,
//! so its size is what it takes until a write has to wait.

use std::ops::Range;

use likenew_core::findings::{Line, Mark, Series, Shape};
use likenew_core::io::{DataClass, Op};
use likenew_core::procedure::Ended;
use likenew_core::region::Region;
use likenew_core::segment::Segment;
use likenew_core::workload::{AccessPattern, Mix, Stream, Until, Workload};
use likenew_stats::summary::median;

use super::super::experiment::{Context, Finding, Steps};
use super::super::property::{Key, Property};
use super::super::writing::synced_writes;
use super::super::{mapping, wording};
use likenew_procedure_support::series::axis;

const PAGE: u32 = 16 << 10;
const IOS_MAX: u64 = 512;
/// Fewest clusters for a burst. Chosen: as many as the mapping test writes.
const CLUSTERS_LEAST: u64 = 36;
/// Writes before the burst that each have to wait for a merge.
const LEAD: u32 = 8;
const BURSTS: usize = 3;
/// Least ratio of the latency of a write that waits for a merge to that of the first ones. Chosen: a merge
/// copies dozens of pages.
const WAITS: f64 = 8.0;
/// Shortest time of a merge, in nanoseconds. Chosen: an erase and a few programs.
const MERGE_NS: f64 = 3e6;
const FIRST: usize = 4;
/// Pages in the buffer below which I/Os of one page are worth trying. Chosen: one I/O of two pages is 8% of it, more than
/// the other errors.
const PAGES_MIN: f64 = 24.0;

pub(super) fn run(context: &Context<'_>, steps: &mut Steps<'_>) -> Finding {
    let page = context.inferences.number(Key::MapPageBytes).map_or(PAGE, |page| page as u32);
    let mut bursts = Vec::new();
    let _ended = measure(context, steps, page, &mut bursts);
    let Some(last) = bursts.last().filter(|last| !last.samples.is_empty()) else { return Finding::default() };
    let block = f64::from(last.workload.length_max());
    let intake: Vec<f64> = same_as_last(&bursts).into_iter().filter_map(absorbed_bytes).collect();
    let property = infer_property(&intake, block, f64::from(page));
    let picture = picture(last, &property);
    Finding::single(property, Some(("write_buffer", picture)))
}

fn measure<'a>(
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
            Some(_) if same_as_last(bursts).len() >= BURSTS => break,
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
    let latencies: Vec<f64> = burst.samples.iter().map(|sample| sample.latency().0 as f64).collect();
    let first = median(latencies.get(..FIRST)?)?;
    let waits = latencies.iter().position(|latency| *latency > (WAITS * first).max(MERGE_NS))?;
    Some(waits as f64 * f64::from(burst.workload.length_max()))
}

fn infer_property(intake: &[f64], block: f64, page: f64) -> Property {
    let key = Key::WriteBufferBytes;
    let Some(middle) = median(intake) else {
        return Property::undecided(key, wording::no_write_waited_for_merges());
    };
    let near = intake.iter().filter(|intake| (*intake - middle).abs() <= block.max(0.1 * middle)).count();
    if near < 2 || middle < 2.0 * block {
        return Property::undecided(key, wording::irregular_intake(middle));
    }
    // One page or two had left before the first merge began, and the next write came in partly, or not at
    // all.
    let value = middle - page / 2.0;
    let interval = (middle - 2.0 * page, middle + page.max(block - page));
    Property::number(key, value, interval, 0.93, wording::intake_during_merges(middle))
}

fn picture(burst: &Segment, property: &Property) -> Series {
    let block = f64::from(burst.workload.length_max());
    let point = |(index, sample): (usize, &likenew_core::io::Sample)| {
        [index as f64 * block, sample.latency().0 as f64]
    };
    let mark = property.value().map(|held| Mark { x: held, label: "full".into() });
    Series::new(
        wording::BUFFER_MERGES,
        Shape::Scatter,
        axis("accepted", "bytes"),
        axis("latency", "ns").logarithmic(),
    )
    .lines([Line::new("writes", burst.samples.iter().enumerate().map(point).collect())])
    .marks(mark)
}
