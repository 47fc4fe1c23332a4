//! Measures the mapping unit. Writing part of a unit costs reading the rest, so alignment matters for writes
//! up to the unit's length, and no longer. In a block map, small writes cost so much else that this does not
//! show. There, sequential writes do: from the unit's length on each continues where the last one ended, and
//! shorter ones write a unit again.

use likenew_core::findings::{Line, Mark, Series, Shape};
use likenew_core::io::DataClass;
use likenew_core::procedure::Ended;
use likenew_core::quantity::{Latency, Share};
use likenew_core::region::Region;
use likenew_core::workload::AccessPattern;
use likenew_stats::summary::quantile;

use super::experiment::{Context, Finding, Steps};
use super::property::{Key, Property, Reason};
use super::wording;
use super::writing::{MedianComparison, synced_times, synced_writes, write_in_order};
use likenew_procedure_support::series::axis;

/// Small, so that the logs of block maps have room for all of it.
const AREA: u64 = 192 << 10;
const LONGEST: u32 = 64 << 10;
const WRITES: u32 = 48;
/// Least share of the latency that a read before the program costs. Chosen: what medians of the writes
/// resolve.
const COSTS: f64 = 0.003;
/// Least ratio by which synced sequential writes of the unit's length are faster. Chosen: a second write of
/// the unit costs a merge or a program besides.
const FALLS: f64 = 2.5;
/// Writes left out at the start.
const FIRST: usize = 3;
/// Quantile of the latencies, in 0..1, that stands for most of them. Chosen: above the erase and the flush of
/// single writes.
const MOST: f64 = 0.9;
const IN_ORDER: u64 = 4 << 20;
/// Most bytes written by this test.
const WRITTEN: u64 = 16 << 20;
/// The search ends after this many longer lengths for which alignment does not matter.
const INDIFFERENT: usize = 2;

/// Writes aligned and half-shifted blocks, each followed by a flush.
pub(super) fn run<'a>(context: &Context<'a>, steps: &mut Steps<'a>) -> Result<Finding, Reason> {
    context.expect_flash(WRITTEN)?;
    context.expect_long_files(2 * AREA)?;
    let (mut pairs, mut in_order) = (Vec::new(), Vec::new());
    let _ended = measure(context, steps, &mut pairs, &mut in_order);
    if pairs.is_empty() {
        return Ok(Finding::default());
    }
    let property = infer_property(&pairs);
    if property.value().is_none() && !in_order.is_empty() {
        let property = infer_sequential(&in_order);
        let points = in_order.iter().map(|(length, time)| [f64::from(*length), *time]).collect();
        let lines = vec![Line::new("sequential", points)];
        let picture = picture(wording::SYNCED_SEQUENTIAL, lines, &property);
        return Ok(Finding::single(property, ("synced_writes_in_order", picture)));
    }
    let line = |name, median: fn(&MedianComparison) -> f64| {
        let points = pairs.iter().map(|(length, compared)| [f64::from(*length), median(compared)]);
        Line::new(name, points.collect())
    };
    let aligned = line("aligned", |compared| compared.first);
    let shifted = line("unaligned by half", |compared| compared.second);
    let picture = picture(wording::ALIGNED_AND_SHIFTED, vec![aligned, shifted], &property);
    Ok(Finding::single(property, ("aligned_and_shifted_writes", picture)))
}

/// Compares aligned and shifted writes of growing length. If alignment never matters, writes sequentially.
///
/// Adds to `pairs` the length of the writes, and aligned compared with shifted ones. Adds to `in_order` the
/// length of sequential writes, and the latency of one until it is flushed.
fn measure(
    context: &Context<'_>,
    steps: &mut Steps<'_>,
    pairs: &mut Vec<(u32, MedianComparison)>,
    in_order: &mut Vec<(u32, f64)>,
) -> Result<(), Ended> {
    steps.run(write_in_order("write", 0..AREA + u64::from(LONGEST), DataClass::Random))?;
    let mut lengths = lengths(context);
    let mut repeated = Vec::new();
    loop {
        if is_enough(pairs) {
            // Garbage collection may have come in between, so the cost has to show twice.
            let index = pairs.iter().rposition(|(_, compared)| costs(compared)).expect("one is enough");
            let length = pairs[index].0;
            if repeated.contains(&length) {
                return Ok(());
            }
            repeated.push(length);
            if let Some(again) = compare(steps, length, " again")? {
                pairs[index].1 = again;
            }
        } else if let Some(length) = lengths.next() {
            pairs.extend(compare(steps, length, "")?.map(|compared| (length, compared)));
        } else {
            break;
        }
    }
    for length in std::iter::once(context.block()).chain(self::lengths(context)) {
        let place = AccessPattern::Sequential(Region::bytes(0..IN_ORDER));
        let writes = steps.run(synced_writes(format!("in order {length}"), length, place, WRITES))?;
        // The first ones still wait for earlier writes. With half-pages, one continues the page and the next
        // writes it again.
        let time = synced_times(writes).get(FIRST..).and_then(|times| quantile(times, MOST));
        in_order.extend(time.filter(|time| *time > 0.0).map(|time| (length, time)));
    }
    Ok(())
}

/// Writes at multiples of the length, compared with writes shifted by half of it.
fn compare(steps: &mut Steps<'_>, length: u32, suffix: &str) -> Result<Option<MedianComparison>, Ended> {
    let mut write = |name: &str, shift: u64| {
        let place = AccessPattern::Random(Region::bytes(shift..AREA + shift));
        steps.run(synced_writes(format!("{name} {length}{suffix}"), length, place, WRITES)).map(synced_times)
    };
    let aligned = write("aligned", 0)?;
    Ok(MedianComparison::from_times(&aligned, &write("shifted", u64::from(length / 2))?))
}

/// Lengths that can be shifted by half.
fn lengths(context: &Context<'_>) -> impl Iterator<Item = u32> + use<> {
    let shortest = 2 * context.block();
    std::iter::successors(Some(shortest), |length| Some(2 * length)).take_while(|length| *length <= LONGEST)
}

fn costs(compared: &MedianComparison) -> bool {
    compared.is_less(COSTS)
}

/// Whether the longest writes for which alignment matters have been passed.
fn is_enough(pairs: &[(u32, MedianComparison)]) -> bool {
    let last = pairs.iter().rposition(|(_, compared)| costs(compared));
    last.is_some_and(|last| pairs.len() > last + INDIFFERENT)
}

fn infer_property(pairs: &[(u32, MedianComparison)]) -> Property {
    let Some((length, compared)) = pairs.iter().rfind(|(_, compared)| costs(compared)) else {
        return Property::undecided(Key::MapPageBytes, wording::aligned_alike());
    };
    let page = f64::from(*length);
    let slower = Share(1.0 / compared.ratio() - 1.0);
    if !is_enough(pairs) {
        return Property::undecided(Key::MapPageBytes, wording::longer_untested((*length).into(), slower));
    }
    let reason = wording::unaligned_slower((*length).into(), slower);
    Property::number(Key::MapPageBytes, page, (page, page), 0.97, reason)
}

fn infer_sequential(in_order: &[(u32, f64)]) -> Property {
    let falls = |pair: &&[(u32, f64)]| pair[0].1 > FALLS * pair[1].1;
    let mut falls = in_order.windows(2).filter(falls);
    let (Some(fall), None) = (falls.next(), falls.next()) else {
        return Property::undecided(Key::MapPageBytes, wording::lengths_alike());
    };
    let page = f64::from(fall[1].0);
    let [(short, short_ns), (long, long_ns)] = [fall[0], fall[1]];
    let reason = wording::shorter_rewritten(short.into(), Latency(short_ns), long.into(), Latency(long_ns));
    Property::number(Key::MapPageBytes, page, (page, page), 0.97, reason)
}

/// Times of writes by their length, with a mark at the mapping unit.
fn picture(title: &str, lines: Vec<Line>, property: &Property) -> Series {
    let mark = property.value().map(|page| Mark { x: page, label: "mapping unit".into() });
    let size = axis("write size", "bytes").logarithmic();
    let time = axis(wording::UNTIL_FLUSHED, "ns").logarithmic();
    Series::new(title, Shape::Line, size, time).lines(lines).marks(mark)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair(length: u32, aligned: f64, shifted: f64) -> (u32, MedianComparison) {
        let around = |level: f64| -> Vec<f64> { (0..24).map(|index| level + f64::from(index % 5)).collect() };
        (length, MedianComparison::from_times(&around(aligned), &around(shifted)).unwrap())
    }

    #[test]
    fn the_page_is_the_longest_write_that_minds_its_start() {
        let pairs = [
            pair(2048, 1000.0, 1000.0),
            pair(4096, 1000.0, 1040.0),
            pair(8192, 900.0, 1000.0),
            pair(16_384, 950.0, 950.0),
            pair(32_768, 990.0, 990.0),
        ];
        assert!(is_enough(&pairs) && !is_enough(&pairs[..4]));
        assert_eq!(infer_property(&pairs).value(), Some(8192.0));
        assert_eq!(infer_property(&pairs[..4]).value(), None, "longer ones may mind, too");
        assert_eq!(infer_property(&pairs[..1]).value(), None);
    }

    #[test]
    fn a_map_of_blocks_shows_its_page_where_writes_go_on() {
        let falls = [(2048, 35e6), (4096, 34e6), (8192, 1e6), (16_384, 1.2e6)];
        assert_eq!(infer_sequential(&falls).value(), Some(8192.0));
        assert_eq!(infer_sequential(&falls[..2]).value(), None);
        let twice = [(2048, 35e6), (4096, 1e6), (8192, 30e6), (16_384, 1.2e6)];
        assert_eq!(infer_sequential(&twice).value(), None, "merges that come and go");
    }
}
