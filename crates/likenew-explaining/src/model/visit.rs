//! What was measured of the points so far.

use likenew_core::access_pattern::AccessPattern;
use likenew_core::io::Op;
use likenew_core::procedure::Evidence;
use likenew_core::segment::Segment;
use likenew_core::tally::Latencies;
use likenew_core::units::Nanos;
use likenew_stats::summary::{mean, standard_deviation};

use super::point::{Point, VisitName};

/// A point measured once.
#[derive(Clone, Debug)]
pub(super) struct Visit {
    /// Where its addresses begin and end, as shares of the drive's.
    pub(super) from: f64,
    pub(super) to: f64,
    /// Time over requests.
    pub(super) ns: f64,
    /// Of that, by the scatter of its requests, as a share.
    pub(super) error: f64,
}

/// A point with all its visits.
#[derive(Clone, Debug)]
pub(super) struct MeasuredPoint {
    pub(super) point: Point,
    /// At least one.
    pub(super) visits: Vec<Visit>,
}

/// No model of a drive is meant to be truer than this share, and no clock and cache are quieter.
const DEVIATION_LEAST: f64 = 0.01;

/// So many visits show by themselves how far they differ.
const VISITS_TELL: usize = 3;

/// Every point in the order of its first visit. A visit in which nothing was moved says nothing.
pub(super) fn measured_points(evidence: &Evidence) -> Vec<MeasuredPoint> {
    let mut all: Vec<MeasuredPoint> = Vec::new();
    for segment in &evidence.segments {
        let Ok(VisitName { point, .. }) = segment.workload.name.parse() else { continue };
        let Some(visit) = Visit::from_segment(segment, point, evidence.geometry.capacity) else { continue };
        match all.iter_mut().find(|known| known.point == point) {
            Some(known) => known.visits.push(visit),
            None => all.push(MeasuredPoint { point, visits: vec![visit] }),
        }
    }
    all
}

/// Of a visit, the first part in which a drive still does what it was asked before, or is on its way; of writes until its memory is full.
const WARM_UP_SHARE: f64 = 0.125;
const WARM_UP_SHARE_WRITES: f64 = 0.5;
/// Memory that took the second half of a visit at more than this ratio of what all of it, made durable, took for each request, has never been full.
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
            from: region.start as f64 / capacity as f64,
            to: region.end as f64 / capacity as f64,
            ns,
            error: scatter(&total.latency) / requests.sqrt(),
        })
    }

    /// The middle of its addresses, as a share of the drive's.
    pub(super) fn middle(&self) -> f64 {
        (self.from + self.to) / 2.0
    }
}

/// Requests that count and the time of each: of the part in which the drive is steady, or of all of it, up to where everything is
/// durable.
fn time_of_requests(segment: &Segment, point: Point) -> Option<(f64, f64)> {
    let requests = segment.bytes(point.op) as f64 / point.bytes as f64;
    let is_measured = requests >= 1.0 && segment.elapsed() > Nanos::ZERO;
    let all = is_measured.then(|| (requests, segment.elapsed().0 as f64 / requests))?;
    if requests < 2.0 {
        return Some(all);
    }
    let part = |warm_up_share| steady_part(segment, point, warm_up_share);
    Some(if point.op == Op::Read {
        part(WARM_UP_SHARE).unwrap_or(all)
    } else {
        part(WARM_UP_SHARE_WRITES).filter(|(_, ns)| *ns >= STEADY * all.1).unwrap_or(all)
    })
}

/// Requests after a share of them was left out, and the time of each.
fn steady_part(segment: &Segment, point: Point, warm_up_share: f64) -> Option<(f64, f64)> {
    let cells = &segment.gigabytes.cells;
    let cut = ((cells.len() as f64 * warm_up_share).ceil() as usize).max(1);
    let from = cells.get(..cut)?.iter().map(|cell| cell.last).max()?;
    // What came last was the flush.
    let flush = Nanos(segment.total_of(Op::Flush).latency_ns_sum);
    let to = segment.ended_at.since(flush);
    let requests = cells[cut..].iter().map(|cell| cell.bytes).sum::<u64>() as f64 / point.bytes as f64;
    (requests >= 1.0 && to > from).then(|| (requests, to.since(from).0 as f64 / requests))
}

/// Standard deviation over mean of latencies, by quantiles at even distances.
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

    /// How far that can be off, as a share: by how far visits at different moments differ, which is all that counts, and by the scatter of
    /// their requests where there are too few visits to tell.
    pub(super) fn deviation(&self) -> f64 {
        let count = self.visits.len() as f64;
        let squares: f64 = self.visits.iter().map(|visit| visit.error.powi(2)).sum();
        let within = if self.visits.len() < VISITS_TELL { squares.sqrt() / count } else { 0.0 };
        let between = self.spread().unwrap_or(0.0) / count.sqrt();
        DEVIATION_LEAST.hypot(within.max(between))
    }

    /// The standard deviation of its visits, as a share; `None` of one.
    pub(super) fn spread(&self) -> Option<f64> {
        let logarithms: Vec<f64> = self.visits.iter().map(|visit| visit.ns.ln()).collect();
        standard_deviation(&logarithms)
    }
}

/// Bytes that were written so far, whatever for, and bytes that were read.
pub(super) fn bytes_moved(evidence: &Evidence, op: Op) -> u64 {
    evidence.segments.iter().map(|segment| segment.bytes(op)).sum()
}
