//! One point of a curve: operation, length, addresses and queue depth; and what each visit of it measured.

use std::fmt;
use std::str::FromStr;

use likenew_core::io::Op;
use likenew_core::procedure::Evidence;
use likenew_core::segment::Segment;
use likenew_core::tally::Latencies;
use likenew_core::units::{Nanos, exact_size, parse_size};
use likenew_core::workload::AccessPattern;
use likenew_stats::summary::{mean, standard_deviation};
use strum::{Display, EnumString, IntoStaticStr};

/// The requests of one point.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Point {
    /// Read or write.
    pub(super) op: Op,
    pub(super) pattern: PointPattern,
    /// Bytes of one request.
    pub(super) bytes: u64,
    /// Requests in flight.
    pub(super) depth: u32,
}

/// Where the requests of a point go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Display, EnumString)]
#[strum(serialize_all = "lowercase")]
pub(super) enum PointPattern {
    /// One after the other.
    Sequential,
    /// Starts are random multiples of the block.
    Random,
    /// Starts are random multiples of the request's own length.
    Aligned,
}

/// The curve that a point belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub(super) enum Curve {
    /// Random requests at QD1, by length.
    Random(Op),
    /// Sequential requests at QD1, by length.
    Sequential(Op),
    /// Small random requests, by queue depth.
    Depth(Op),
}

impl Point {
    /// Whether the point belongs to a curve. Aligned writes belong to the same curve as unaligned ones.
    pub(super) fn is_on(&self, curve: Curve, small: u64) -> bool {
        match curve {
            Curve::Random(op) => self.op == op && self.pattern != PointPattern::Sequential && self.depth == 1,
            Curve::Sequential(op) => self.op == op && self.pattern == PointPattern::Sequential,
            Curve::Depth(op) => self.op == op && self.pattern == PointPattern::Random && self.bytes == small,
        }
    }
}

impl Curve {
    /// The key in tables and charts.
    pub(super) fn pattern(self) -> &'static str {
        self.into()
    }

    pub(super) fn op(self) -> Op {
        match self {
            Self::Random(op) | Self::Sequential(op) | Self::Depth(op) => op,
        }
    }
}

/// The name of a visit, by which it is found in a run folder: `random write 32MiB Q1 #2`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct VisitName {
    pub(super) point: Point,
    /// Number of the visit, from 1 on.
    pub(super) visit: u32,
}

impl fmt::Display for VisitName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Point { op, pattern, bytes, depth } = self.point;
        write!(f, "{pattern} {op} {} Q{depth} #{}", exact_size(bytes), self.visit)
    }
}

impl FromStr for VisitName {
    type Err = ();

    /// Fails for names of other workloads.
    fn from_str(text: &str) -> Result<Self, ()> {
        let mut words = text.split(' ');
        let mut word = || words.next().ok_or(());
        let pattern = word()?.parse().map_err(|_| ())?;
        let op = word()?;
        let op = [Op::Read, Op::Write].into_iter().find(|known| known.name() == op).ok_or(())?;
        let bytes = parse_size(word()?).map_err(|_| ())?;
        let depth = word()?.strip_prefix('Q').and_then(|depth| depth.parse().ok()).ok_or(())?;
        let visit = word()?.strip_prefix('#').and_then(|visit| visit.parse().ok()).ok_or(())?;
        let name = Self { point: Point { op, pattern, bytes, depth }, visit };
        (name.to_string() == text).then_some(name).ok_or(())
    }
}

/// One measurement of a point.
#[derive(Clone, Debug)]
pub(super) struct Visit {
    /// The middle of its addresses, as a share of the drive's.
    pub(super) middle: f64,
    /// Elapsed time divided by requests, in nanoseconds.
    pub(super) ns: f64,
    /// Uncertainty of `ns` from the scatter of its requests, as a share.
    pub(super) error: f64,
}

/// A point with all its visits.
#[derive(Clone, Debug)]
pub(super) struct MeasuredPoint {
    pub(super) point: Point,
    /// At least one.
    pub(super) visits: Vec<Visit>,
}

/// Smallest uncertainty of a point, as a share. Chosen: clocks and caches are no quieter than 1%, and no
/// model needs to be.
const DEVIATION_LEAST: f64 = 0.01;

/// From this many visits on, their differences show the uncertainty.
const VISITS_TELL: usize = 3;

/// Finds every measured point, in the order of first visits. A visit that moved nothing is left out.
pub(super) fn measured_points(evidence: &Evidence) -> Vec<MeasuredPoint> {
    let mut points: Vec<MeasuredPoint> = Vec::new();
    for segment in &evidence.segments {
        let Ok(VisitName { point, .. }) = segment.workload.name.parse() else { continue };
        let Some(visit) = Visit::from_segment(segment, point, evidence.geometry.capacity) else { continue };
        match points.iter_mut().find(|known| known.point == point) {
            Some(known) => known.visits.push(visit),
            None => points.push(MeasuredPoint { point, visits: vec![visit] }),
        }
    }
    points
}

/// Part of a visit, as a share, in which the drive may still work on what came before. Chosen: an eighth of
/// three seconds outlasts the work left over.
const WARM_UP_SHARE: f64 = 0.125;
/// Part of a visit of writes, as a share, that may go to the drive's memory. Chosen: half, so that the rest
/// is as long as what it must outlast.
const WARM_UP_SHARE_WRITES: f64 = 0.5;
/// Least ratio of two times of a request: in the second half of a visit, and over all of it with the flush.
/// Below it, writes went to memory that never filled. Chosen: full memory makes both equal, less the flush.
const STEADY: f64 = 0.8;

impl Visit {
    fn from_segment(segment: &Segment, point: Point, capacity: u64) -> Option<Self> {
        if segment.measurement_error().is_some() {
            return None;
        }
        let total = segment.total_of(point.op);
        let region = match segment.workload.streams.first()?.pattern {
            AccessPattern::Sequential(region) => region.resolve(capacity, 1).ok()?,
            _ => 0..capacity,
        };
        let (requests, ns) = time_of_requests(segment, point)?;
        Some(Self {
            middle: (region.start as f64 / capacity as f64 + region.end as f64 / capacity as f64) / 2.0,
            ns,
            error: scatter(&total.latency) / requests.sqrt(),
        })
    }
}

/// The requests that count and the time of each: those of the steady part, or all of them, up to the end of
/// the flush.
fn time_of_requests(segment: &Segment, point: Point) -> Option<(f64, f64)> {
    let requests = segment.bytes(point.op) as f64 / point.bytes as f64;
    let is_measured = requests >= 1.0 && segment.elapsed() > Nanos::ZERO;
    let whole = is_measured.then(|| (requests, segment.elapsed().0 as f64 / requests))?;
    if requests < 2.0 {
        return Some(whole);
    }
    let part = |warm_up_share| steady_part(segment, point, warm_up_share);
    Some(if point.op == Op::Read {
        part(WARM_UP_SHARE).unwrap_or(whole)
    } else {
        part(WARM_UP_SHARE_WRITES).filter(|(_, ns)| *ns >= STEADY * whole.1).unwrap_or(whole)
    })
}

/// The requests left after the warm-up, and the time of each.
fn steady_part(segment: &Segment, point: Point, warm_up_share: f64) -> Option<(f64, f64)> {
    let cells = &segment.gigabytes.cells;
    let cut = ((cells.len() as f64 * warm_up_share).ceil() as usize).max(1);
    let from = cells.get(..cut)?.iter().map(|cell| cell.last).max()?;
    // The flush came last.
    let flush = Nanos(segment.total_of(Op::Flush).latency_ns_sum);
    let to = segment.ended_at.since(flush);
    let requests = cells[cut..].iter().map(|cell| cell.bytes).sum::<u64>() as f64 / point.bytes as f64;
    (requests >= 1.0 && to > from).then(|| (requests, to.since(from).0 as f64 / requests))
}

/// Standard deviation of latencies over their mean, from evenly spaced quantiles.
fn scatter(latencies: &Latencies) -> f64 {
    const QUANTILES: u32 = 64;
    let at = |index: u32| latencies.quantile((f64::from(index) + 0.5) / f64::from(QUANTILES)).0 as f64;
    let values: Vec<f64> = (0..QUANTILES).map(at).collect();
    match (mean(&values), standard_deviation(&values)) {
        (Some(mean), Some(deviation)) if mean > 0.0 => deviation / mean,
        _ => 0.0,
    }
}

impl MeasuredPoint {
    /// The mean time of a request over its visits, in nanoseconds.
    pub(super) fn ns(&self) -> f64 {
        let times: Vec<f64> = self.visits.iter().map(|visit| visit.ns).collect();
        mean(&times).expect("a measured point was visited")
    }

    /// Bytes a second.
    pub(super) fn bytes_per_s(&self) -> f64 {
        self.point.bytes as f64 / self.ns() * 1e9
    }

    /// Uncertainty as a share: from the difference between visits at different moments, or from the scatter
    /// of requests if there are too few visits.
    pub(super) fn deviation(&self) -> f64 {
        let count = self.visits.len() as f64;
        let squares: f64 = self.visits.iter().map(|visit| visit.error.powi(2)).sum();
        let within = if self.visits.len() < VISITS_TELL { squares.sqrt() / count } else { 0.0 };
        let between = self.spread().unwrap_or(0.0) / count.sqrt();
        DEVIATION_LEAST.hypot(within.max(between))
    }

    /// The standard deviation of its visits, as a share; `None` for a single one.
    pub(super) fn spread(&self) -> Option<f64> {
        let logarithms: Vec<f64> = self.visits.iter().map(|visit| visit.ns.ln()).collect();
        standard_deviation(&logarithms)
    }
}

/// Bytes read or written by the run, for any purpose.
pub(super) fn bytes_moved(evidence: &Evidence, op: Op) -> u64 {
    evidence.segments.iter().map(|segment| segment.bytes(op)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_back_and_others_are_no_visits() {
        for op in [Op::Read, Op::Write] {
            for pattern in [PointPattern::Sequential, PointPattern::Random, PointPattern::Aligned] {
                for (bytes, depth, visit) in [(512, 1, 1), (3 << 20, 64, 12), (512 << 20, 1, 2)] {
                    let name = VisitName { point: Point { op, pattern, bytes, depth }, visit };
                    assert_eq!(name.to_string().parse(), Ok(name), "{name}");
                }
            }
        }
        for text in [
            "",
            "prepare",
            "burst 64KiB #1",
            "random write 32MiB Q1",
            "random trim 4KiB Q1 #1",
            "random read 1024KiB Q1 #1",
        ] {
            assert_eq!(text.parse::<VisitName>(), Err(()), "{text}");
        }
    }
}
