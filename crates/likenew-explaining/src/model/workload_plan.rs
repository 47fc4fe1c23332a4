//! Chooses the next point to measure: first a few of every curve, twice, at different moments; then the
//! points at which the models disagree most; then those measured only once or with much scatter.

use std::collections::HashMap;
use std::ops::RangeInclusive;

use likenew_core::drive::TargetKind;
use likenew_core::io::{DataClass, Op};
use likenew_core::procedure::{Ended, Evidence, Steps};
use likenew_core::region::Region;
use likenew_core::segment::Segment;
use likenew_core::units::Nanos;
use likenew_core::workload::{AccessPattern, Mix, Stream, Until, Workload};
use likenew_procedure_support::estimate::distinct;
use likenew_procedure_support::workloads::prepare;
use rand::{SeedableRng as _, seq::SliceRandom as _};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::burst;
use super::curve_fit::{DataPoint, Form, FormFit, Grain, join};
use super::point::{Curve, MeasuredPoint, Point, PointPattern, VisitName, bytes_moved, measured_points};
use super::wording;
use super::{ModelOptions, SPAN_STEP};

/// The longest I/O. A longer request is a run of adjacent I/Os at this queue depth, as operating systems
/// split it.
const IO_MAX: u64 = 16 << 20;
const RUN_DEPTH: u32 = 2;
/// Most requests of a visit; at large depths, [`REQUESTS_IN_FLIGHT`] for each request in flight.
const REQUESTS_MAX: u64 = 512;
const REQUESTS_IN_FLIGHT: u64 = 32;
/// Fewest sequential requests of a visit.
const IN_SEQUENCE_MIN: u64 = 4;
/// A visit of short requests moves one part in this many of the bytes allowed, within bounds.
const VISIT_SHARE: u64 = 512;
const VISIT_BYTES: RangeInclusive<u64> = 1 << 20..=16 << 20;
/// Ratio of neighboring lengths among the short requests of the first points.
const FIRST_FACTOR: u64 = 16;
const FIRST_FACTOR_IN_SEQUENCE: u64 = 4;
/// A small random request.
const SMALL: u64 = 4096;
/// Most points of a curve that are chosen by disagreement.
const SELECTED_MAX: usize = 12;
/// Smallest disagreement between models, as a share, that is worth a point. Chosen: five times the smallest
/// uncertainty of a point.
const DISAGREEMENT_LEAST: f64 = 0.05;
/// Forms that fit the points this many times worse than the best are ruled out. Chosen: a mean squared error
/// of four times the best is no chance.
const WORSE: f64 = 4.0;
/// Error of a prediction without a point, as a natural logarithm, from which the form rests on that point.
/// Chosen: e^0.25 is 28% off, more than any scatter.
const LEVERAGE_MIN: f64 = 0.25;
/// Error of such a prediction, in multiples of the point's own uncertainty. Chosen: three deviations, as for
/// differences between times.
const SCATTERS: f64 = 3.0;
/// Uncertainty of a point, as a share, above which it is visited again, up to this many times. Chosen: the
/// same as the smallest disagreement that counts.
const SCATTER_LEAST: f64 = 0.05;
const VISITS: usize = 2;
const VISITS_MAX: usize = 4;
/// Windows along the bytes of a visit, which separate its beginning from the rest.
const WINDOWS: u64 = 256;
/// The workload before a visit: a number of reads, or one write. A visit with many writes needs none, because
/// only its second half counts.
const SETTLE: &str = "settle";
const SETTLE_READS: u64 = 16;
const FEW: u64 = 8;

/// The plan of one run on one drive.
pub(super) struct WorkloadPlan<'a> {
    options: &'a ModelOptions,
    evidence: &'a Evidence,
    region: &'a MeasuredRegion,
    pub(super) grain: Grain,
    pub(super) points: Vec<MeasuredPoint>,
    /// How often each point was visited. A visit that moved nothing counts as tried, or it would be repeated forever.
    visits: HashMap<Point, usize>,
}

impl<'a> WorkloadPlan<'a> {
    pub(super) fn new(options: &'a ModelOptions, evidence: &'a Evidence, region: &'a MeasuredRegion) -> Self {
        let names =
            evidence.segments.iter().filter_map(|segment| segment.workload.name.parse::<VisitName>().ok());
        let visits = names.fold(HashMap::new(), |mut visits, VisitName { point, .. }| {
            *visits.entry(point).or_default() += 1;
            visits
        });
        let block = evidence.geometry.block.into();
        let grain = Grain { block, small: SMALL.max(block) };
        Self { options, evidence, region, grain, points: measured_points(evidence), visits }
    }

    /// The next visit, if a point is left that is worth it and the limits allow it.
    pub(super) fn next(&self) -> Option<Workload> {
        let ends = (self.evidence.segments.first(), self.evidence.segments.last());
        if let (Some(first), Some(last)) = ends
            && last.ended_at.since(first.started_at) >= self.options.time_on(self.evidence)
        {
            return None;
        }
        let first = self.first_points();
        let rounds = (0..VISITS)
            .flat_map(|round| self.shuffle(&first, round).into_iter().map(move |point| (point, round)));
        let due =
            |(point, visits): &(Point, usize)| self.visits(point) <= *visits && self.is_affordable(point, 1);
        let next = rounds.into_iter().find(due).map(|(point, _)| point);
        let next =
            next.or_else(|| self.most_discriminating_point(&first)).or_else(|| self.least_certain_point());
        next.map(|point| self.settle(&point).unwrap_or_else(|| self.workload(point)))
    }

    /// The workload before a visit, so that earlier work does not count as its time: a few reads after a
    /// write, or one write of the same kind before a few writes.
    fn settle(&self, point: &Point) -> Option<Workload> {
        let last = &self.evidence.segments.last()?.workload;
        if last.name == SETTLE {
            return None;
        }
        let small = self.grain.small;
        let (place, bytes, until) = if point.op == Op::Read {
            let place = last.writes().then(|| AccessPattern::Random(Region::bytes(0..self.region.bytes)))?;
            (place, small, Until::ops(SETTLE_READS))
        } else {
            let few = self.cost(point) < FEW * point.bytes || point.pattern == PointPattern::Sequential;
            let bytes = few.then(|| point.bytes.max(self.visit_bytes()).min(self.io_max()))?;
            let place = match point.pattern {
                PointPattern::Random => {
                    AccessPattern::RandomAligned { region: Region::bytes(0..self.region.bytes), align: small }
                }
                PointPattern::Aligned | PointPattern::Sequential => {
                    AccessPattern::Random(Region::bytes(0..self.region.bytes))
                }
            };
            (place, bytes, Until::ops(1))
        };
        let stream = Stream::closed(Mix::Only(point.op), bytes as u32, place, 1, self.options.data);
        let until = Until { elapsed: Some(self.options.visit_on(self.evidence)), ..until };
        Some(Workload { flush: point.op == Op::Write, ..Workload::new(SETTLE, until, vec![stream]) })
    }

    fn visits(&self, point: &Point) -> usize {
        self.visits.get(point).copied().unwrap_or_default()
    }

    /// Every curve to measure.
    pub(super) fn curves(&self) -> Vec<Curve> {
        let ops = [Op::Read, Op::Write]
            .into_iter()
            .filter(|op| self.options.includes(*op, self.evidence.geometry.writable));
        ops.flat_map(|op| [Curve::Random(op), Curve::Sequential(op), Curve::Depth(op)]).collect()
    }

    /// The longest request to measure.
    pub(super) fn longest(&self) -> u64 {
        let most =
            self.options.longest.min(self.region.bytes / 4).min(self.options.bytes_on(self.evidence) / 16);
        power_below(most).max(self.grain.small)
    }

    fn visit_bytes(&self) -> u64 {
        let share = self.options.bytes_on(self.evidence) / VISIT_SHARE;
        power_below(share.clamp(*VISIT_BYTES.start(), *VISIT_BYTES.end())).min(self.longest())
    }

    /// The longest I/O: files of a folder are multiples of it.
    fn io_max(&self) -> u64 {
        IO_MAX.min(self.longest())
    }

    /// Bytes of one I/O of a request.
    fn io(&self, point: &Point) -> u64 {
        point.bytes.min(self.io_max())
    }

    /// Whether the point's I/Os divide both the request and the file that they may not cross.
    fn is_possible(&self, point: &Point) -> bool {
        let io = self.io(point);
        let divides = self.evidence.geometry.boundary.is_none_or(|boundary| boundary.is_multiple_of(io));
        divides
            && point.bytes.is_multiple_of(io)
            && io.is_multiple_of(self.grain.block)
            && point.bytes <= self.longest()
    }

    /// Lengths from one block to the longest, by a constant ratio, and the longest itself.
    fn lengths(&self, factor: u64, longest: u64) -> Vec<u64> {
        let steps = std::iter::successors(Some(self.grain.block), |bytes| bytes.checked_mul(factor));
        let mut lengths: Vec<u64> = steps.take_while(|bytes| *bytes < longest).collect();
        // A last step much shorter than the others shows nothing.
        lengths.retain(|bytes| *bytes == self.grain.block || 2 * bytes <= longest);
        lengths.push(longest);
        lengths
    }

    /// The first points of every curve.
    fn first_points(&self) -> Vec<Point> {
        let of_curve = |curve| {
            let factor =
                if matches!(curve, Curve::Sequential(_)) { FIRST_FACTOR_IN_SEQUENCE } else { FIRST_FACTOR };
            self.points_of(curve, factor)
        };
        let points = self.curves().into_iter().flat_map(of_curve);
        distinct(points.filter(|point| self.is_possible(point)))
    }

    /// Points of a curve, with lengths at a constant ratio.
    fn points_of(&self, curve: Curve, factor: u64) -> Vec<Point> {
        let at = |op, pattern| move |bytes| Point { op, pattern, bytes, depth: 1 };
        match curve {
            Curve::Random(op) => {
                let lengths = self.lengths(factor, self.longest());
                // One block is aligned anywhere.
                let aligned = lengths.iter().copied().filter(|bytes| {
                    op == Op::Write && *bytes > self.grain.block && *bytes <= 2 * self.visit_bytes()
                });
                // Lengths of 1.5 times another tell clusters apart that differ by a factor of two.
                let halves = |bytes: u64| [bytes].into_iter().chain((factor == 2).then_some(bytes / 2 * 3));
                let aligned: Vec<Point> =
                    aligned.flat_map(halves).map(at(op, PointPattern::Aligned)).collect();
                lengths.into_iter().map(at(op, PointPattern::Random)).chain(aligned).collect()
            }
            Curve::Sequential(op) => {
                let longest = power_below(self.visit_bytes() / IN_SEQUENCE_MIN).max(self.grain.block);
                self.lengths(factor, longest).into_iter().map(at(op, PointPattern::Sequential)).collect()
            }
            Curve::Depth(op) => {
                let bytes = self.grain.small;
                let depths = self.options.depths.iter().copied();
                depths.map(|depth| Point { op, pattern: PointPattern::Random, bytes, depth }).collect()
            }
        }
    }

    fn shuffle(&self, points: &[Point], round: usize) -> Vec<Point> {
        let mut shuffled = points.to_vec();
        let mut random = Xoshiro256PlusPlus::seed_from_u64(self.evidence.plan.seed_of(round));
        shuffled.shuffle(&mut random);
        // Reads first, because writes leave work behind. The order is the same on every drive, so every run
        // meets the same leftovers.
        shuffled.sort_by_key(|point| (point.op == Op::Write, point.bytes > self.io_max()));
        shuffled
    }

    /// The data points of a curve.
    pub(super) fn data_points(&self, curve: Curve) -> Vec<DataPoint> {
        self.points_on(curve).map(DataPoint::from).collect()
    }

    /// The measured points of a curve.
    pub(super) fn points_on(&self, curve: Curve) -> impl Iterator<Item = &MeasuredPoint> {
        let small = self.grain.small;
        self.points.iter().filter(move |measured| measured.point.is_on(curve, small))
    }

    /// Whether a request is a run of adjacent I/Os; such a visit is a single run.
    pub(super) fn is_run(&self, point: &Point) -> bool {
        point.bytes > self.io_max()
    }

    /// The point not yet visited at which the plausible forms disagree most for its cost. In a dry run,
    /// without times, the longest.
    fn most_discriminating_point(&self, first: &[Point]) -> Option<Point> {
        let mut best: Option<(f64, Point)> = None;
        for curve in self.curves().into_iter().filter(|curve| !matches!(curve, Curve::Depth(_))) {
            let data_points = self.data_points(curve);
            let selected_count =
                data_points.iter().filter(|data_point| !first.contains(&data_point.point)).count();
            if selected_count >= SELECTED_MAX {
                continue;
            }
            let fits = self.plausible(curve, &data_points);
            for point in self.points_of(curve, 2) {
                let off = disagreement(&fits, &point);
                let is_open =
                    off >= DISAGREEMENT_LEAST && self.visits(&point) == 0 && self.is_possible(&point);
                if !is_open || !self.is_affordable(&point, VISITS as u64) {
                    continue;
                }
                let cost = self.cost(&point) as f64 / self.visit_bytes() as f64;
                let worth = off / (1.0 + cost).sqrt();
                if best.is_none_or(|(most, known)| (worth, point.bytes) > (most, known.bytes)) {
                    best = Some((worth, point));
                }
            }
        }
        best.map(|(_, point)| point)
    }

    /// The plausible forms of a curve. If a form rests on a single point, its fit without that point is one
    /// of them, so that deciding points are measured.
    fn plausible(&self, curve: Curve, data_points: &[DataPoint]) -> Vec<FormFit> {
        let fits = Form::candidates(curve).iter().filter_map(|form| form.fit(data_points, self.grain));
        let mut fits: Vec<FormFit> = fits.collect();
        let least = fits.iter().map(FormFit::squares).fold(f64::INFINITY, f64::min);
        fits.retain(|fit| fit.squares() <= WORSE * least);
        let forms: Vec<Form> = fits.iter().map(|fit| fit.form).collect();
        fits.extend(forms.into_iter().flat_map(|form| self.fits_without_one(form, data_points)));
        fits
    }

    /// Fits of a form without one point each, for those points that are then predicted badly.
    fn fits_without_one(&self, form: Form, data_points: &[DataPoint]) -> Vec<FormFit> {
        let without = |index: usize| {
            let mut others = data_points.to_vec();
            let omitted_point = others.remove(index);
            let fit = form.fit(&others, self.grain)?;
            let off = (fit.ns(&omitted_point.point) / omitted_point.ns).ln().abs();
            // A point with as much scatter supports nothing.
            (off > LEVERAGE_MIN.max(SCATTERS * omitted_point.deviation)).then_some(fit)
        };
        (0..data_points.len()).filter_map(without).collect()
    }

    /// A point visited once, or one with too much scatter; the worst first.
    fn least_certain_point(&self) -> Option<Point> {
        let wants = |measured: &&MeasuredPoint| {
            let visits = self.visits(&measured.point);
            let many = measured.deviation() > SCATTER_LEAST || measured.point.bytes == self.longest();
            visits < VISITS || (visits < VISITS_MAX && many)
        };
        let open = self.points.iter().filter(wants).filter(|point| self.is_affordable(&point.point, 1));
        let key = |measured: &&MeasuredPoint| {
            (std::cmp::Reverse(self.visits(&measured.point)), measured.deviation())
        };
        let worst =
            open.max_by(|one, other| key(one).partial_cmp(&key(other)).expect("deviations are numbers"));
        worst.map(|worst| worst.point)
    }

    /// Most bytes of a visit.
    fn cost(&self, point: &Point) -> u64 {
        let requests = REQUESTS_MAX.max(REQUESTS_IN_FLIGHT * u64::from(point.depth));
        point.bytes.max(self.visit_bytes().min(requests * point.bytes))
    }

    fn is_affordable(&self, point: &Point, visits: u64) -> bool {
        let settles = if point.op == Op::Write { self.io_max() } else { 0 };
        let budget = self.options.bytes_on(self.evidence);
        // The bursts come last and keep their share of the budget.
        let left = budget - budget / burst::SHARE * u64::from(burst::COUNT);
        bytes_moved(self.evidence, point.op) + visits * (self.cost(point) + settles) <= left
    }

    fn workload(&self, point: Point) -> Workload {
        let visit = self.visits(&point) as u32 + 1;
        let op = Mix::Only(point.op);
        let io = self.io(&point);
        let is_run = point.bytes > io;
        let cost = self.cost(&point);
        let place = if is_run || point.pattern == PointPattern::Sequential {
            let length = if is_run { point.bytes } else { cost };
            // A sequence begins at a whole cluster, so that it shows its own rate.
            let grain = match point.pattern {
                PointPattern::Aligned => point.bytes,
                PointPattern::Sequential => length.next_power_of_two(),
                PointPattern::Random => self.grain.small,
            };
            let start = self.start(&point, visit, length, grain);
            AccessPattern::Sequential(Region::bytes(start..start + length))
        } else if self.evidence.identity.kind == TargetKind::Nop || point.pattern == PointPattern::Aligned {
            AccessPattern::Random(Region::bytes(0..self.region.bytes))
        } else {
            AccessPattern::RandomAligned {
                region: Region::bytes(0..self.region.bytes),
                align: point.bytes.min(self.grain.small),
            }
        };
        let depth = if is_run { RUN_DEPTH } else { point.depth };
        let elapsed = (!is_run).then(|| self.options.visit_on(self.evidence));
        let until = Until { elapsed, ..Until::bytes(cost) };
        let name = VisitName { point, visit }.to_string();
        let stream = Stream::closed(op, io as u32, place, depth, self.options.data);
        let window = Some((cost / WINDOWS).next_multiple_of(point.bytes).max(io));
        Workload { window, flush: point.op == Op::Write, ..Workload::new(name, until, vec![stream]) }
    }

    /// First address of a sequential visit. Visits are spread evenly over the addresses by the van der Corput
    /// sequence, from a start that depends on the point.
    fn start(&self, point: &Point, visit: u32, length: u64, grain: u64) -> u64 {
        /// The golden ratio less one: multiples of it spread evenly over 0..1.
        const GOLDEN: f64 = 0.618_033_988_749_895;
        let offset = f64::from(
            point.bytes.trailing_zeros() + 32 * u32::from(point.pattern == PointPattern::Sequential),
        ) * GOLDEN;
        let spread = f64::from((visit - 1).reverse_bits()) / 2f64.powi(32);
        let places = (self.region.bytes - length) / grain + 1;
        (((offset + spread).fract() * places as f64) as u64).min(places - 1) * grain
    }
}

/// Largest difference between forms at a point, as a share; infinite without forms.
fn disagreement(fits: &[FormFit], point: &Point) -> f64 {
    let whole = fits.iter().map(|fit| fit.range_ns(point)).reduce(join);
    whole.map_or(f64::INFINITY, |range| range.high / range.low - 1.0)
}

/// The largest power of two up to this number, or 1.
fn power_below(bytes: u64) -> u64 {
    1 << bytes.max(1).ilog2()
}

// The addresses to measure, which must hold data: flash answers reads of addresses never written without its
// medium, and takes small writes there without reading around them.

/// Random reads that tell written addresses from blank ones.
const READS: u64 = 96;
/// Time limit of those reads. Chosen: 96 reads of a slow hard disk take about 2 s.
const READS_TIME: Nanos = Nanos::from_secs(3);
const READ: u32 = 4096;
/// Latency of blank addresses over that of written ones, as a ratio, below which an address counts as blank.
/// Chosen: a read that skips the flash saves well over a tenth.
const BLANK: f64 = 0.9;
const PIECE_BYTES: u64 = 64 << 20;
/// Most bytes to prepare, and one part in this many of the bytes that may be written.
const PREPARED_MAX: u64 = 4 << 30;
const PREPARED_SHARE: u64 = 4;

/// The region to measure.
pub(super) struct MeasuredRegion {
    /// Bytes from the start of the drive, as asked for.
    pub(super) span: u64,
    /// Bytes to measure: less than the span if the rest holds no data.
    pub(super) bytes: u64,
    /// Whether the addresses are known to hold data.
    pub(super) is_known: bool,
}

impl MeasuredRegion {
    /// Finds the region to measure, and prepares it.
    ///
    /// # Errors
    /// A sentence, when the span does not fit the drive.
    pub(super) fn measure(
        options: &ModelOptions,
        steps: &mut Steps<'_>,
    ) -> Result<Result<Self, Ended>, String> {
        let geometry = &steps.evidence().geometry;
        let block = u64::from(geometry.block);
        let capacity = geometry.capacity - geometry.capacity % block;
        let span = options.span.unwrap_or(capacity);
        if span > capacity || span < 1 << 20 || !span.is_multiple_of(block) {
            return Err(wording::span_out_of_range(span, block, capacity));
        }
        Ok(Self::prepare(options, steps, span))
    }

    fn prepare(options: &ModelOptions, steps: &mut Steps<'_>, span: u64) -> Result<Self, Ended> {
        let evidence = steps.evidence();
        let (geometry, kind) = (&evidence.geometry, evidence.identity.kind);
        let block = u64::from(geometry.block);
        let whole = |is_known| Self { span, bytes: span, is_known };
        if kind == TargetKind::Folder {
            steps.run_seeded(|| prepare(span, span, options.data))?;
            return Ok(whole(true));
        }
        if !options.includes(Op::Write, geometry.writable) || kind == TargetKind::Nop {
            return Ok(whole(!geometry.writable));
        }
        let write = |name: &str, bytes| Workload {
            name: name.to_owned(),
            flush: true,
            ..prepare(bytes, bytes, options.data)
        };
        let piece = PIECE_BYTES.min(span / 16).min(options.bytes_on(evidence) / PREPARED_SHARE);
        let piece = piece - piece % u64::from(READ).max(block);
        let everywhere = steps.run_seeded(|| reads("reads over all", span, block))?;
        steps.run_seeded(|| write("region write", piece))?;
        let written = steps.run_seeded(|| reads("region reads", piece, block))?;
        if !is_blank(everywhere, written) {
            return Ok(whole(true));
        }
        let most = span.min(PREPARED_MAX).min(options.bytes_on(evidence) / PREPARED_SHARE);
        let prepared = if most >= SPAN_STEP { most - most % SPAN_STEP } else { most - most % block };
        steps.run_seeded(|| write("prepare", prepared))?;
        Ok(Self { span, bytes: prepared, is_known: true })
    }
}

/// Whether addresses all over the span answer sooner than those just written. A dry run has no latencies and
/// takes the span as blank, because that writes more.
fn is_blank(everywhere: &Segment, written: &Segment) -> bool {
    let [everywhere, written] = [everywhere, written].map(|reads| reads.latencies().quantile(0.5).0);
    written == 0 || (everywhere as f64) < BLANK * written as f64
}

fn reads(name: &str, bytes: u64, block: u64) -> Workload {
    let length = u64::from(READ).max(block);
    let place = AccessPattern::Random(Region::bytes(0..bytes));
    let stream = Stream::closed(Mix::Only(Op::Read), length as u32, place, 1, DataClass::Random);
    Workload::new(name, Until { elapsed: Some(READS_TIME), ..Until::ops(READS) }, vec![stream])
}
