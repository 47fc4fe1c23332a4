//! The transfer curve: the speed of each point, the speed expected from its neighbors, the limit below which it is slow,
//! and its shape from the first address to the last. Regions that are slower than their neighbors are slow every time,
//! or slow once.

use std::ops::Range;

use likenew_core::findings::{Action, Answer, Row};
use likenew_core::io::{Op, Sample};
use likenew_core::quantity::{Rate, Share};
use likenew_core::segment::Segment;
use likenew_core::tally::Latencies;
use likenew_core::units::Nanos;
use likenew_core::workload::Mix;
use likenew_procedure_support::estimate::{Estimate, Verdict};
use likenew_procedure_support::rows::Columns as _;
use likenew_stats::change_points::{Level, levels, zones};
use likenew_stats::interval::{CONFIDENCE_95, Interval, mean_interval};
use likenew_stats::stalls::Rule;
use likenew_stats::summary::{maximum, mean, median, median_absolute_deviation, minimum};
use likenew_stats::trend::trend;

use super::wording::{self, CurveSpeeds};
use super::{Actions, Finding, NEARLY_ALL, SlowRegion, SurfaceOptions};

/// One point along the addresses.
pub(super) struct Point<'a> {
    /// From 1 on.
    pub(super) number: usize,
    pub(super) range: Range<u64>,
    pub(super) segment: &'a Segment,
    pub(super) bytes_per_s: f64,
    /// From its neighbors, or from a fit to the whole curve.
    pub(super) expected: f64,
}

impl Point<'_> {
    /// Its speed over the expected one.
    fn share(&self) -> f64 {
        self.bytes_per_s / self.expected
    }

    fn latency_max(&self) -> Nanos {
        self.segment.latencies().max()
    }
}

/// The points by address.
pub(super) struct Curve<'a> {
    pub(super) points: Vec<Point<'a>>,
    /// The points that failed: number, addresses, and their segment.
    pub(super) failures: Vec<(usize, Range<u64>, &'a Segment)>,
    /// A point below this share of its expected speed is slow; `None` if there are too few points to tell.
    pub(super) floor: Option<f64>,
    /// Latency from which an I/O is slow.
    pub(super) latency_limit: Nanos,
    pub(super) span: u64,
}

/// Share of its speed that a region must lose to be called slow. Chosen.
const LOSS_LEAST: f64 = 0.2;
/// Standard deviations from which a point is an outlier. Hampel's rule uses three; chosen: five, which leaves
/// one point in a million of normal noise.
const DEVIATIONS: f64 = 5.0;
/// Standard deviation over median absolute deviation, for normal noise.
const NORMAL: f64 = 1.4826;
/// A fit explains the curve if half of the points lie within this share of it. Chosen: twice the noise of a
/// quiet drive.
const COURSE_FITS: f64 = 0.05;
/// Neighbors on each side that give the expected speed if no fit explains the curve.
const NEIGHBORS: usize = 5;
/// A side with fewer neighbors, at the ends of the curve, does not count.
const SIDE_MIN: usize = 3;
/// An I/O is slow if it takes five times the usual latency here, and at least a few revolutions of a disk.
const SLOW: Rule = Rule { latency_ns_min: 50_000_000, factor: 5.0 };

impl<'a> Curve<'a> {
    pub(super) fn new(points: impl Iterator<Item = (Range<u64>, &'a Segment)>, span: u64) -> Self {
        let mut latencies = Latencies::default();
        let (mut measured, mut failures) = (Vec::new(), Vec::new());
        let ran = points.enumerate().filter(|(_, (_, segment))| segment.total().ios > 0);
        for (index, (range, segment)) in ran {
            match transfer_rate(segment) {
                Some(bytes_per_s) => {
                    latencies.merge(&segment.latencies());
                    let expected = bytes_per_s;
                    measured.push(Point { number: index + 1, range, segment, bytes_per_s, expected });
                }
                None => failures.push((index + 1, range, segment)),
            }
        }
        let mut points: Vec<Point<'a>> = measured;
        let speeds: Vec<f64> = points.iter().map(|point| point.bytes_per_s).collect();
        let floor = expected_speeds(&speeds).and_then(|expected| {
            points.iter_mut().zip(&expected).for_each(|(point, expected)| point.expected = *expected);
            floor(&shares(&speeds, &expected))
        });
        let latency_limit = Nanos(SLOW.threshold_ns(latencies.quantile(0.5).0));
        Self { points, failures, floor, latency_limit, span }
    }

    /// Bytes of all points.
    pub(super) fn bytes(&self) -> u64 {
        self.points.iter().map(|point| point.segment.total().bytes).sum()
    }

    /// Share of the addresses that was measured, in 0..1.
    pub(super) fn share(&self) -> f64 {
        self.bytes() as f64 / self.span as f64
    }

    pub(super) fn speeds(&self) -> Vec<f64> {
        self.points.iter().map(|point| point.bytes_per_s).collect()
    }

    /// The mean speed. Its interval comes from the noise about the fit alone: points are evenly spaced, so the curve
    /// itself adds no chance.
    pub(super) fn mean(&self) -> Option<Estimate> {
        let value = mean(&self.speeds())?;
        let noise: Vec<f64> = self.points.iter().map(|point| point.bytes_per_s - point.expected).collect();
        let interval = self.floor.and_then(|_| mean_interval(&noise, CONFIDENCE_95));
        let half = interval.map(|interval| (interval.high - interval.low) / 2.0);
        let interval = half.map(|half| Interval { low: value - half, high: value + half });
        Some(Estimate { value, interval })
    }

    /// The mean of the curve and its extremes.
    pub(super) fn summary(&self) -> Option<CurveSpeeds> {
        let speeds = self.speeds();
        let (slowest, fastest) = (Rate(minimum(&speeds)?), Rate(maximum(&speeds)?));
        Some(CurveSpeeds { mean: Rate(mean(&speeds)?), slowest, fastest })
    }

    pub(super) fn rows(&self) -> impl Iterator<Item = Row> {
        self.points.iter().map(|point| {
            Row::new()
                .with("point", point.number)
                .with("offset_bytes", point.range.start)
                .with("bytes_per_s", point.bytes_per_s)
                .with("latency_ns_max", point.latency_max().0)
        })
    }
}

/// Bytes a second while the queue was full; `None` if the segment failed.
///
/// The first I/O includes the seek, and by its end the drive has done a part of the others in flight. So the time
/// runs from that end to the last end before the queue begins to empty, as the same number is in flight then. With
/// too few I/Os for that, or with more than are kept as samples, of which that part is small, the time runs to the
/// end.
pub(super) fn transfer_rate(segment: &Segment) -> Option<f64> {
    let whole = segment.bytes_per_s()?;
    let mut samples: Vec<&Sample> = segment.samples.iter().collect();
    samples.sort_by_key(|sample| sample.done);
    let Some((first, later)) = samples.split_first() else { return Some(whole) };
    let total = segment.total();
    // Ends come in rounds, one for each place of the queue; within a round they may be uneven.
    let depth = segment.workload.depth().max(1) as usize;
    let full = later.len().saturating_sub(depth - 1);
    let full = &later[..full - full % depth];
    let (bytes, span) = match full.last() {
        Some(last) if samples.len() as u64 == total.ios => {
            (full.iter().map(|sample| sample.bytes()).sum(), last.done.since(first.done))
        }
        _ => (total.bytes.saturating_sub(first.bytes()), segment.ended_at.since(first.done)),
    };
    let is_known = bytes > 0 && span > Nanos::ZERO;
    Some(if is_known { bytes as f64 / span.as_secs_f64() } else { whole })
}

/// The expected speed of each point: from a fit to the whole curve if it explains it, otherwise from its
/// neighbors.
///
/// On a disk of even density the bytes of a track, and with them the speed, grow with its radius, and the
/// bytes within a radius with its square; so the square of the speed is a straight line over addresses. That
/// holds for a flat curve, too.
fn expected_speeds(speeds: &[f64]) -> Option<Vec<f64>> {
    let squares: Vec<f64> = speeds.iter().map(|speed| speed * speed).collect();
    let line = trend(&squares)?;
    let course: Vec<f64> = (0..speeds.len()).map(|index| line.at(index).max(0.0).sqrt()).collect();
    let fits = median_absolute_deviation(&shares(speeds, &course))? <= COURSE_FITS;
    if fits && course.iter().all(|speed| *speed > 0.0) {
        return Some(course);
    }
    // Next to a step, the side that is faster is no reason to expect more.
    let neighbors = |index: usize| {
        let before = &speeds[index.saturating_sub(NEIGHBORS)..index];
        let after = &speeds[index + 1..(index + 1 + NEIGHBORS).min(speeds.len())];
        let sides = [before, after].into_iter().filter(|side| side.len() >= SIDE_MIN);
        sides.filter_map(median).reduce(f64::min)
    };
    (0..speeds.len()).map(neighbors).collect()
}

fn shares(speeds: &[f64], expected: &[f64]) -> Vec<f64> {
    let share = |(speed, expected): (&f64, &f64)| if *expected > 0.0 { speed / expected } else { 1.0 };
    speeds.iter().zip(expected).map(share).collect()
}

fn floor(shares: &[f64]) -> Option<f64> {
    let noise = NORMAL * median_absolute_deviation(shares)?;
    Some((1.0 - LOSS_LEAST).min(1.0 - DEVIATIONS * noise))
}

/// Start and end are each the number of points divided by this.
const END_SHARE: usize = 10;
/// Fewest points of an end.
const END_MIN: usize = 3;
/// Difference of both ends, as a share, up to which they are alike. Chosen.
const ALIKE: f64 = 0.05;
/// Change along a plateau, as a share, above which it is no plateau if chance does not explain it. Chosen: less than
/// half of `ALIKE`.
const SLOPE_MOST: f64 = 0.02;
/// Probability by chance below which such a change counts. Chosen: low, because many plateaus are tested.
const SLOPE_SIGNIFICANCE: f64 = 0.001;

/// Speed at the start and at the end, and the levels between, without slow regions.
pub(super) struct Ends {
    first: Rate,
    last: Rate,
    /// First speed over last.
    ratio: Estimate,
    plateaus: Vec<Level>,
    /// The first address of each point used.
    starts: Vec<u64>,
    span: u64,
}

impl Ends {
    /// `None` if there are too few points.
    pub(super) fn new(curve: &Curve<'_>, slow: &[usize]) -> Option<Self> {
        let sound: Vec<(u64, f64)> = curve
            .points
            .iter()
            .filter(|point| !slow.contains(&point.number))
            .map(|point| (point.range.start, point.bytes_per_s))
            .collect();
        let (starts, speeds): (Vec<u64>, Vec<f64>) = sound.into_iter().unzip();
        let of_each = (speeds.len() / END_SHARE).max(END_MIN);
        if speeds.len() < 2 * of_each {
            return None;
        }
        let (first, last) = (&speeds[..of_each], &speeds[speeds.len() - of_each..]);
        let ratio = Estimate::of_ratio(first, last).filter(|ratio| ratio.interval.is_some())?;
        let falls = ratio.against(1.0 + ALIKE) == Verdict::Above;
        let plateaus = if falls { zones(&speeds) } else { levels(&speeds) };
        let level = plateaus.iter().all(|plateau| is_level(&speeds[plateau.range.clone()]));
        let plateaus = if level { plateaus } else { Vec::new() };
        let (first, last) = (Rate(mean(first)?), Rate(mean(last)?));
        Some(Self { first, last, ratio, plateaus, starts, span: curve.span })
    }

    /// The levels, if there are several.
    pub(super) fn zones(&self) -> Vec<Row> {
        if self.plateaus.len() < 2 {
            return Vec::new();
        }
        let start = |index: usize| if index == 0 { 0 } else { self.starts[index] };
        let row = |level: &Level| {
            let speed = Estimate { value: level.mean, interval: level.interval }.not_negative();
            Row::new()
                .with("from_bytes", start(level.range.start))
                .with("to_bytes", self.starts.get(level.range.end).copied().unwrap_or(self.span))
                .with_estimate("bytes_per_s", Some(speed))
                .with("points", level.range.len())
        };
        self.plateaus.iter().map(row).collect()
    }

    /// `is_disk` says whether access time grows with distance; `more_points` decides what the points leave open, and
    /// `check` whether data is old.
    pub(super) fn answer(
        &self,
        op: Mix,
        is_disk: bool,
        more_points: Option<&Action>,
        check: Option<&Action>,
    ) -> Answer {
        let (first, last, ratio) = (self.first, self.last, self.ratio);
        let answer = match ratio.differs(1.0 - ALIKE, 1.0 + ALIKE) {
            Verdict::Alike => wording::ends_are_alike(first),
            Verdict::Above if is_disk => self.with_zone_cause(wording::disk_falls(first, last), is_disk),
            Verdict::Above => self.with_zone_cause(wording::speed_falls(first, last, ratio.value), is_disk),
            Verdict::Below => self.slow_start(op, check),
            Verdict::Unclear | Verdict::OnePass => {
                let open = wording::ends_are_open(first, last, ratio);
                more_points.into_iter().cloned().fold(open, Answer::action)
            }
        };
        ratio.put(answer, "×")
    }

    /// Reads alone cannot tell old data at the start from no data at the end.
    fn slow_start(&self, op: Mix, check: Option<&Action>) -> Answer {
        let slower = wording::start_is_slower(self.first, self.last, self.ratio.value);
        if op == Mix::Only(Op::Write) {
            return slower;
        }
        let answer = match &self.plateaus[..] {
            [start, rest] if start.mean < rest.mean => {
                let share = self.starts[rest.range.start] as f64 / self.span as f64;
                let answer = wording::start_reads_slower(Share(share), Rate(start.mean), Rate(rest.mean));
                check.into_iter().cloned().fold(answer, Answer::action)
            }
            _ => slower,
        };
        answer.with_evidence(wording::OLD_DATA_READS_SLOWLY).caveat(wording::EMPTY_END_LOOKS_FAST)
    }

    fn with_zone_cause(&self, answer: Answer, is_disk: bool) -> Answer {
        let answer = if is_disk {
            answer.with_evidence(wording::DISKS_FALL)
        } else {
            answer.caveat(wording::FLASH_SHOULD_NOT_FALL)
        };
        answer.with_evidence(match &self.plateaus[..] {
            [outer, .., inner] => wording::several_zones(self.plateaus.len(), outer.mean / inner.mean),
            _ => wording::falls_smoothly(self.starts.len()),
        })
    }
}

/// Whether a part of the curve is level: pieces of a slope are no plateaus.
fn is_level(speeds: &[f64]) -> bool {
    trend(speeds).is_none_or(|line| {
        let change = (line.at(speeds.len() - 1) - line.at(0)).abs();
        line.p_value > SLOPE_SIGNIFICANCE || change <= SLOPE_MOST * line.at(0)
    })
}

/// Most regions that are measured again, worst first.
const SUSPECTS_MAX: usize = 32;
/// Regions named in an answer; the table has all of them.
const NAMED_MAX: usize = 3;
/// If points are slow only below this share, noise hides a loss of half of the speed: regions stay open. Chosen.
const FLOOR_LEAST: f64 = 0.5;
/// Share of slow points above which the medium is hardly the cause. Chosen.
const MANY: f64 = 0.1;

/// A point that was slow, or that holds a slow I/O.
pub(super) struct Suspect<'a> {
    pub(super) point: &'a Point<'a>,
    /// The slow addresses, as far as they are known.
    range: Range<u64>,
    /// The addresses to measure again.
    pub(super) retest: Range<u64>,
}

/// The points to measure again, by address; without those that the drive refused to read.
pub(super) fn suspects<'a>(curve: &'a Curve<'_>, options: &SurfaceOptions) -> Vec<Suspect<'a>> {
    let mut suspects: Vec<Suspect<'a>> = curve
        .points
        .iter()
        .filter(|point| point.segment.errors() == 0 && is_slow(curve, point, point.segment))
        .map(|point| suspect(curve, point, options))
        .collect();
    suspects.sort_by(|a, b| {
        let (one, other) = (a.point, b.point);
        one.share().total_cmp(&other.share()).then(other.latency_max().cmp(&one.latency_max()))
    });
    suspects.truncate(SUSPECTS_MAX);
    suspects.sort_by_key(|suspect| suspect.point.number);
    suspects
}

/// Whether a measurement of a point was slow, or an I/O of it.
fn is_slow(curve: &Curve<'_>, point: &Point<'_>, segment: &Segment) -> bool {
    let rate = curve.floor.zip(transfer_rate(segment));
    let slow = rate.is_some_and(|(floor, rate)| rate < floor * point.expected);
    slow || segment.slowest.first().is_some_and(|sample| sample.latency() >= curve.latency_limit)
}

fn suspect<'a>(curve: &Curve<'_>, point: &'a Point<'a>, options: &SurfaceOptions) -> Suspect<'a> {
    let slow = point.segment.slowest.iter().filter(|sample| sample.latency() >= curve.latency_limit);
    let range = extent(slow).unwrap_or_else(|| point.range.clone());
    // One block before it, because the first I/O of a measurement says nothing about speed.
    let start = range.start.saturating_sub(options.block).max(point.range.start);
    let retest = if point.range.end - point.range.start <= options.bytes {
        point.range.clone()
    } else {
        start..(start + options.bytes).min(point.range.end)
    };
    Suspect { point, range, retest }
}

/// The range from their first address to their last.
fn extent<'a>(samples: impl Iterator<Item = &'a Sample>) -> Option<Range<u64>> {
    samples
        .map(|sample| sample.offset..sample.offset + u64::from(sample.length))
        .reduce(|one, other| one.start.min(other.start)..one.end.max(other.end))
}

/// All slow regions, by address.
pub(super) struct SlowRegions {
    pub(super) places: Vec<SlowRegion>,
    floor: Option<f64>,
    points: usize,
    /// Share of the addresses that was measured, in 0..1.
    share: f64,
    /// The slowest point that is not a suspect, as a share of its expected speed.
    least: f64,
}

impl SlowRegions {
    /// `retests`: suspects that were measured again, by the number of their point.
    pub(super) fn new(curve: &Curve<'_>, options: &SurfaceOptions, retests: &[(usize, &Segment)]) -> Self {
        let mut places: Vec<SlowRegion> =
            suspects(curve, options).into_iter().map(|suspect| suspect.region(curve, retests)).collect();
        let with_errors = curve.points.iter().filter(|point| point.segment.errors() > 0);
        places.extend(with_errors.map(|point| {
            let unreadable = SlowRegion::unreadable(point.number, &point.range, point.segment);
            unreadable.with_speeds_of(point)
        }));
        let failures = curve.failures.iter();
        places
            .extend(failures.map(|(number, range, segment)| SlowRegion::unreadable(*number, range, segment)));
        places.sort_by_key(|place| place.from_bytes);
        let others =
            curve.points.iter().filter(|point| places.iter().all(|place| place.point != point.number));
        let least = others.map(Point::share).fold(1.0, f64::min);
        Self { places, floor: curve.floor, points: curve.points.len(), share: curve.share(), least }
    }

    /// The numbers of their points.
    pub(super) fn points(&self) -> Vec<usize> {
        self.places.iter().map(|place| place.point).collect()
    }

    /// The answers, worst first; refused I/Os have their own.
    /// `has_errors`: whether I/Os failed.
    pub(super) fn answers(&self, actions: &Actions, has_errors: bool) -> Vec<Answer> {
        if self.points == 0 {
            return Vec::new();
        }
        let mut answers = Vec::new();
        let slow = self.found_as(Finding::Slow);
        if let Some(first) = slow.first() {
            let mut answer = with_regions(wording::slow_every_time(slow.len(), first), &slow)
                .action(wording::replace_slow_drive(actions.read_smart.is_some()));
            answer.actions.extend(actions.read_smart.clone());
            if slow.len() as f64 > MANY * self.points as f64 {
                answer = answer.caveat(wording::SCATTERED_DATA);
            }
            answers.push(answer);
        }
        let open = self.found_as(Finding::Undecided);
        if let Some(first) = open.first() {
            let was_repeated = open.iter().any(|region| region.retest_bytes_per_s.is_some());
            let answer =
                if was_repeated { wording::slow_sometimes } else { wording::slow_not_measured_again };
            let answer = with_regions(answer(open.len(), first), &open);
            answers.push(answer.action(actions.measure_again.clone()));
        }
        let once = self.found_as(Finding::Hiccup);
        if let Some(first) = once.first() {
            answers.push(with_regions(wording::slow_once(once.len(), first), &once));
        }
        if answers.is_empty() {
            answers.push(self.no_slow_region(actions, has_errors));
        }
        answers
    }

    fn found_as(&self, finding: Finding) -> Vec<&SlowRegion> {
        self.places.iter().filter(|region| region.finding == finding).collect()
    }

    fn no_slow_region(&self, actions: &Actions, has_errors: bool) -> Answer {
        match self.floor {
            None => {
                actions.more_points.iter().cloned().fold(wording::too_few_points(self.points), Answer::action)
            }
            Some(floor) if floor < FLOOR_LEAST => {
                actions.larger_points.iter().cloned().fold(wording::too_noisy(), Answer::action)
            }
            Some(floor) if has_errors => wording::no_slow_region_without_errors(Share(floor)),
            Some(floor) => {
                let gaps = (self.share < NEARLY_ALL).then_some((self.points, Share(self.share)));
                wording::no_slow_region(gaps, Share(self.least), Share(floor))
            }
        }
    }
}

/// Evidence of the first regions, if the answer does not say everything.
fn with_regions(answer: Answer, regions: &[&SlowRegion]) -> Answer {
    if let [only] = regions {
        let again = only.retest_bytes_per_s.map(|speed| wording::measured_again(Rate(speed)));
        return again.into_iter().fold(answer, Answer::with_evidence);
    }
    let named = regions.iter().take(NAMED_MAX);
    let answer = named.fold(answer, |answer, region| answer.with_evidence(wording::region(region)));
    match regions.len().saturating_sub(NAMED_MAX) {
        0 => answer,
        more => answer.with_evidence(wording::more_regions(more)),
    }
}

impl Suspect<'_> {
    /// Its region, with what the retests show. `retests`: by the number of their point.
    fn region(self, curve: &Curve<'_>, retests: &[(usize, &Segment)]) -> SlowRegion {
        let Self { point, range, .. } = self;
        let own = retests.iter().filter(|(number, _)| *number == point.number).map(|(_, segment)| *segment);
        let again: Vec<&Segment> = own.filter(|segment| segment.total().ios > 0).collect();
        let is_slow = |segment: &&&Segment| segment.errors() > 0 || is_slow(curve, point, segment);
        let finding = match again.iter().filter(is_slow).count() {
            _ if again.iter().any(|segment| segment.errors() > 0) => Finding::Unreadable,
            _ if again.is_empty() => Finding::Undecided,
            0 => Finding::Hiccup,
            slow if slow == again.len() => Finding::Slow,
            _ => Finding::Undecided,
        };
        let retest_bytes_per_s = again.iter().filter_map(|segment| transfer_rate(segment)).reduce(f64::min);
        let region = SlowRegion::new(point.number, range, finding, point.segment).with_speeds_of(point);
        SlowRegion { retest_bytes_per_s, ..region }
    }
}

impl SlowRegion {
    /// Of a point whose speed is not known.
    fn new(point: usize, range: Range<u64>, finding: Finding, segment: &Segment) -> Self {
        Self {
            from_bytes: range.start,
            to_bytes: range.end,
            finding,
            bytes_per_s: None,
            expected_bytes_per_s: None,
            retest_bytes_per_s: None,
            latency_ns_max: segment.latencies().max().0,
            point,
        }
    }

    fn unreadable(point: usize, range: &Range<u64>, segment: &Segment) -> Self {
        let range = extent(segment.refused_ios.iter()).unwrap_or_else(|| range.clone());
        Self::new(point, range, Finding::Unreadable, segment)
    }

    fn with_speeds_of(self, point: &Point<'_>) -> Self {
        let expected_bytes_per_s = Some(point.expected);
        Self { bytes_per_s: Some(point.bytes_per_s), expected_bytes_per_s, ..self }
    }
}

#[cfg(test)]
mod tests {
    use likenew_core::io::{DataClass, Op, Outcome};
    use likenew_core::region::Region;
    use likenew_core::segment::{SegmentRecorder, Stop};
    use likenew_core::tally::Tally;
    use likenew_core::workload::{AccessPattern, Mix, Stream, Until, Workload};

    use super::*;

    #[test]
    fn a_disks_course_is_no_loss_and_a_hole_in_it_is() {
        // The square of the speed falls evenly from 120² to 60².
        let mut speeds: Vec<f64> =
            (0..100).map(|index| (14_400.0 - 109.0 * f64::from(index)).sqrt()).collect();
        (40..48).for_each(|index| speeds[index] = 20.0);
        let expected = expected_speeds(&speeds).unwrap();
        let shares = shares(&speeds, &expected);
        let floor = floor(&shares).unwrap();
        let slow: Vec<usize> = (0..100).filter(|index| shares[*index] < floor).collect();
        assert_eq!(slow, (40..48).collect::<Vec<_>>());
    }

    #[test]
    fn steps_are_judged_by_neighbors() {
        let mut speeds: Vec<f64> = (0..60).map(|index| if index < 30 { 100.0 } else { 500.0 }).collect();
        speeds[45] = 200.0;
        let expected = expected_speeds(&speeds).unwrap();
        let shares = shares(&speeds, &expected);
        let floor = floor(&shares).unwrap();
        let slow: Vec<usize> = (0..60).filter(|index| shares[*index] < floor).collect();
        assert_eq!(slow, [45]);
    }

    /// Reads of 1 MiB at QD2 that end at these milliseconds, over a link that carries one in 4 ms.
    fn reads(ends_ms: &[u64], kept: usize) -> Segment {
        let stream = Stream::closed(
            Mix::Only(Op::Read),
            1 << 20,
            AccessPattern::Sequential(Region::bytes(0..1 << 30)),
            2,
            DataClass::Random,
        );
        let workload = Workload::new("point", Until::bytes((ends_ms.len() as u64) << 20), vec![stream]);
        let recorder = vec![SegmentRecorder::default()];
        let mut segment = SegmentRecorder::join(recorder, &workload, Stop::Reached);
        let sample = |(index, end): (usize, &u64)| Sample {
            offset: (index as u64) << 20,
            length: 1 << 20,
            done: Nanos::from_millis(*end),
            stream: 0,
            op: Op::Read,
            outcome: Outcome::Done,
            due: Nanos::ZERO,
            sent: Nanos::ZERO,
        };
        segment.samples = ends_ms.iter().enumerate().take(kept).map(sample).collect();
        segment.ended_at = Nanos::from_millis(*ends_ms.last().unwrap());
        let (ios, bytes) = (ends_ms.len() as u64, (ends_ms.len() as u64) << 20);
        segment.tallies.push(Tally { ios, bytes, ..Tally::new(0, Op::Read) });
        segment
    }

    #[test]
    fn a_point_is_never_faster_than_the_link() {
        // Two share the link, so that half of the next one is done whenever one ends.
        let shared = reads(&[12, 16, 20, 24, 28, 32, 36, 38], 8);
        let link = f64::from(1 << 20) / 4e-3;
        let rate = transfer_rate(&shared).unwrap();
        assert!((rate / link - 1.0).abs() < 1e-9, "{rate} of {link}");
        // They end in pairs, soon after one another.
        for ends in [&[12, 14, 20, 22, 28, 30, 36, 38][..], &[12, 14, 20, 22, 28, 30, 36]] {
            let paired = transfer_rate(&reads(ends, 8)).unwrap();
            assert!((paired / link - 1.0).abs() < 1e-9, "{paired} of {link}");
        }
        // One after the other: each takes the time of one.
        let alone = transfer_rate(&reads(&[10, 14, 18, 22, 26], 5)).unwrap();
        assert!((alone / link - 1.0).abs() < 1e-9, "{alone} of {link}");
        // Few samples of a long piece.
        let long = transfer_rate(&reads(&[10, 14, 18, 22, 26], 1)).unwrap();
        assert!((long / link - 1.0).abs() < 1e-9, "{long} of {link}");
    }

    #[test]
    fn few_points_expect_nothing() {
        assert_eq!(expected_speeds(&[5.0; 7]), None);
        assert_eq!(
            expected_speeds(&[0.0; 20]).map(|expected_speed| shares(&[0.0; 20], &expected_speed)),
            Some(vec![1.0; 20])
        );
    }
}
