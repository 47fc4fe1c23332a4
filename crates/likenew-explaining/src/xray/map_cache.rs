//! Measures the mapping cache: random reads at QD1 over windows that grow from the first address.
//!
//! A drive that cannot keep its whole mapping table in memory reads a part of it first on a miss. For a
//! window of w bytes, a cache that covers C of them hits C/w of the reads, so the mean latency is hit + miss
//! · max(0, 1 − C/w): a line with a knee over 1/w. If addresses at the start are fast for another reason,
//! they stay fast among reads of all addresses, and no cache is claimed.

use likenew_core::findings::{Line, Series, Shape};
use likenew_core::procedure::Ended;
use likenew_core::quantity::Latency;
use likenew_core::segment::Segment;
use likenew_core::units::Nanos;
use likenew_stats::broken_line::{BrokenLine, Point, broken_line};
use likenew_stats::summary::{mean, median, standard_deviation};

use super::experiment::{Context, Finding, Steps, latencies, random_reads, sampled};
use super::property::{Key, Property, Reason, Remedy};
use super::wording;
use likenew_procedure_support::series::axis;

/// The smallest window, in bytes; a cache that covers less would hardly be of use.
const LEAST: u64 = 1 << 20;
/// Reads of a window; the first half warms the cache.
const READS: u32 = 4096;
/// Reads in each of the windows around twice the cached range, which tell most.
const CLOSER_READS: u32 = 16_384;
/// Those windows, as multiples of the cached range. Chosen: to both sides of the steepest part of the curve.
const CLOSER: [f64; 3] = [1.4, 1.9, 2.8];
/// Multiple of the median latency above which a read is no miss. Chosen: a miss adds one or two reads of
/// flash.
const OUTLIER: f64 = 8.0;
/// Smallest error of a mean, as a share. Chosen: drives repeat a mean no better.
const ERROR_LEAST: f64 = 0.002;
/// Difference between all addresses and the first ones, as a share, below which there is no mapping cache.
/// Chosen: a miss costs far more.
const SAME: f64 = 0.03;
/// Mean squared distance of points from the line, in squared errors, above which the fit fails. Chosen:
/// misses come in whole segments, so points scatter by more than their own errors.
const MISFIT_MAX: f64 = 20.0;
/// Distance of a point from the line, as a share of the cost of a miss, above which something else bends the
/// curve. Chosen: points of a true line stay well within it.
const BENT_MAX: f64 = 0.15;
/// Ratio of the ends of the knee's interval above which it is not named. Chosen: a wider one does not tell
/// sizes a factor of two apart from those between.
const UNSURE_MAX: f64 = 1.3;

/// Random reads over growing windows.
pub(super) fn run<'a>(context: &Context<'a>, steps: &mut Steps<'a>) -> Result<Finding, Reason> {
    let mut windows = Vec::new();
    let is_flash = context.may_be("flash");
    if is_flash && context.span >= 4 * LEAST {
        let _ended = measure(context, steps, &mut windows);
    }
    let Some(is_same) = is_same(&windows) else { return Ok(Finding::default()) };
    let line = if is_same { None } else { fit_line(&windows) };
    let property = property(context, &windows, is_same, line.as_ref());
    Ok(Finding::single(property, ("reads_by_window", picture(&windows, line))))
}

/// Random reads within a window from the first address on.
struct Window<'a> {
    bytes: u64,
    reads: &'a Segment,
    point: Option<Point>,
}

/// Reads all addresses and the first ones. If they differ, reads windows in between.
fn measure<'a>(
    context: &Context<'a>,
    steps: &mut Steps<'a>,
    windows: &mut Vec<Window<'a>>,
) -> Result<(), Ended> {
    let mut read = |windows: &mut Vec<Window<'a>>, bytes: u64, count: u32| {
        let stream = random_reads(0..bytes, context.block().max(4096), 1);
        let name = format!("window of {bytes}");
        let reads = steps.run(sampled(name, vec![stream], count, Some(Nanos::from_secs(60))))?;
        windows.push(Window { bytes, reads, point: point(bytes, reads) });
        Ok(())
    };
    read(windows, context.span, 2 * READS)?;
    read(windows, LEAST, READS)?;
    if is_same(windows) != Some(false) {
        return Ok(());
    }
    for bytes in doublings(context.span) {
        read(windows, bytes, READS)?;
    }
    let Some(line) = fit_line(windows) else { return Ok(()) };
    let covered = 1.0 / line.knee;
    for bytes in CLOSER.map(|times| round_up(covered * times)) {
        if bytes < context.span && windows.iter().all(|window| window.bytes != bytes) {
            read(windows, bytes, CLOSER_READS)?;
        }
    }
    Ok(())
}

/// Windows from twice the smallest, doubling.
fn doublings(span: u64) -> impl Iterator<Item = u64> {
    std::iter::successors(Some(2 * LEAST), |window| window.checked_mul(2))
        .take_while(move |window| *window < span)
}

/// Rounds to a multiple of mapping segments of any size, because a segment half covered is used half as
/// often. Never a power of two, so that no other window has this length.
fn round_up(bytes: f64) -> u64 {
    let step: u64 = if bytes < 128e6 { 1 << 20 } else { 1 << 24 };
    let rounded = (bytes as u64).next_multiple_of(step);
    if rounded.is_power_of_two() { rounded + step } else { rounded }
}

/// Latencies of the second half of the reads, without those far longer than a miss.
fn settled_times(segment: &Segment) -> Vec<f64> {
    let late = latencies(segment).split_off(segment.samples.len() / 2);
    let limit = OUTLIER * median(&late).unwrap_or(0.0);
    late.into_iter().filter(|latency| *latency <= limit).collect()
}

fn point(window: u64, segment: &Segment) -> Option<Point> {
    let latencies = settled_times(segment);
    let (y, spread) = (mean(&latencies).filter(|mean| *mean > 0.0)?, standard_deviation(&latencies)?);
    let error = (spread / (latencies.len() as f64).sqrt()).hypot(ERROR_LEAST * y);
    Some(Point { x: 1.0 / window as f64, y, error })
}

/// Whether reads of all addresses take as long as those of the first ones; `None` until that was measured.
fn is_same(windows: &[Window<'_>]) -> Option<bool> {
    let [whole, first, ..] = windows else { return None };
    let (whole, first) = (whole.point?, first.point?);
    Some((whole.y - first.y).abs() < SAME * first.y + whole.error.hypot(first.error))
}

fn fit_line(windows: &[Window<'_>]) -> Option<BrokenLine> {
    let points: Vec<Point> = windows.iter().filter_map(|window| window.point).collect();
    broken_line(&points)
}

fn property(
    context: &Context<'_>,
    windows: &[Window<'_>],
    is_same: bool,
    line: Option<&BrokenLine>,
) -> Property {
    let key = Key::MapCacheBytes;
    if is_same {
        return if context.is_busy() {
            let reason = wording::equal_windows().how(wording::UNSTEADY);
            Property::undecided(key, reason.decided_by(Remedy::Quiet))
        } else {
            Property::absent(key, 0.95, wording::equal_windows())
        };
    }
    let Some(line) = line else { return Property::undecided(key, wording::unordered_windows()) };
    let covered = 1.0 / line.knee;
    // Wider than χ² alone: a cache holds whole segments, and rounds differ.
    let wider = 1.0 + 0.005 + 2.0 * context.spread();
    let interval = (1.0 / line.knee_interval.high / wider, 1.0 / line.knee_interval.low * wider);
    let reason = wording::slower_windows(Latency(line.level), Latency(line.rise), covered);
    let unsure = interval.1 / interval.0;
    let is_bent = line.misfit > MISFIT_MAX || distance(windows, line) > BENT_MAX * line.rise;
    if is_bent || unsure > UNSURE_MAX || context.is_busy() && unsure > 1.15 {
        return Property::undecided(key, reason.but(wording::POOR_FIT));
    }
    if !reaches_the_start(&windows[0], line, covered) {
        return Property::undecided(key, wording::fast_start());
    }
    Property::number(key, covered, interval, 0.95, reason)
}

/// Distance of the farthest point from the line.
fn distance(windows: &[Window<'_>], line: &BrokenLine) -> f64 {
    let points = windows.iter().filter_map(|window| window.point);
    points.map(|point| (point.y - line.at(point.x)).abs()).fold(0.0, f64::max)
}

/// Whether the addresses that the cache would cover take as long as all others when all are read.
fn reaches_the_start(whole: &Window<'_>, line: &BrokenLine, covered: f64) -> bool {
    let late = &whole.reads.samples[whole.reads.samples.len() / 2..];
    let at_start = late.iter().filter(|sample| (sample.offset as f64) < covered);
    let at_start: Vec<f64> = at_start.map(|sample| sample.latency().0 as f64).collect();
    mean(&at_start).is_some_and(|start| {
        at_start.len() >= 16 && start > line.level + 0.5 * (line.at(1.0 / whole.bytes as f64) - line.level)
    })
}

fn picture(windows: &[Window<'_>], line: Option<BrokenLine>) -> Series {
    let point = |window: &Window<'_>| Some([window.bytes as f64, window.point?.y]);
    let mut points: Vec<[f64; 2]> = windows.iter().filter_map(point).collect();
    points.sort_by(|first, other| first[0].total_cmp(&other[0]));
    let predicted = line.map(|line| {
        let at = points.iter().map(|[window, _]| [*window, line.at(1.0 / window)]);
        Line::new("predicted for a cache", at.collect())
    });
    let window = axis("window", "bytes").logarithmic();
    Series::new(wording::READS_BY_WINDOW, Shape::Line, window, axis("latency", "ns"))
        .lines([Some(Line::new("measured", points)), predicted].into_iter().flatten())
}
