//! Finds regions that are slower than their neighbors, and tells slow every time from slow once.

use std::ops::Range;

use likenew_core::findings::Answer;
use likenew_core::io::Sample;
use likenew_core::quantity::{Rate, Share};
use likenew_core::segment::Segment;

use super::curve::{Curve, Point, transfer_rate};
use super::{Actions, Finding, NEARLY_ALL, SlowRegion, SurfaceOptions, wording};

/// Most regions that are measured again, worst first.
const SUSPECTS_MAX: usize = 32;
/// Regions named in an answer; the table has all of them.
const NAMED_MAX: usize = 3;
/// If points are slow only below this share, noise hides a loss of half of the speed: regions stay open. Chosen.
const FLOOR_LEAST: f64 = 0.5;
/// Share of slow points above which the medium is hardly the cause. Chosen.
const MANY: f64 = 0.1;

/// A point that was slow, or that holds a slow I/O.
pub(super) struct Suspect {
    /// Its number.
    pub(super) point: usize,
    /// The slow addresses, as far as they are known.
    range: Range<u64>,
    /// The addresses to measure again.
    pub(super) retest: Range<u64>,
    bytes_per_s: f64,
    expected: f64,
    latency_ns_max: u64,
}

/// The points to measure again, by address; without those that the drive refused to read.
pub(super) fn suspects(curve: &Curve<'_>, options: &SurfaceOptions) -> Vec<Suspect> {
    let mut suspects: Vec<Suspect> = curve
        .points
        .iter()
        .filter(|point| point.segment.errors() == 0 && is_slow(curve, point.expected, point.segment))
        .map(|point| suspect(curve, point, options))
        .collect();
    let severity = |suspect: &Suspect| suspect.bytes_per_s / suspect.expected;
    suspects
        .sort_by(|a, b| severity(a).total_cmp(&severity(b)).then(b.latency_ns_max.cmp(&a.latency_ns_max)));
    suspects.truncate(SUSPECTS_MAX);
    suspects.sort_by_key(|suspect| suspect.point);
    suspects
}

fn is_slow(curve: &Curve<'_>, expected: f64, segment: &Segment) -> bool {
    let slow = curve.floor.zip(transfer_rate(segment)).is_some_and(|(floor, rate)| rate < floor * expected);
    slow || segment.slowest.first().is_some_and(|sample| sample.latency() >= curve.latency_limit)
}

fn suspect(curve: &Curve<'_>, point: &Point<'_>, options: &SurfaceOptions) -> Suspect {
    let slow = point.segment.slowest.iter().filter(|sample| sample.latency() >= curve.latency_limit);
    let range = extent(slow).unwrap_or_else(|| point.range.clone());
    // One block before it, because the first I/O of a measurement says nothing about speed.
    let start = range.start.saturating_sub(options.block).max(point.range.start);
    let retest = if point.range.end - point.range.start <= options.bytes {
        point.range.clone()
    } else {
        start..(start + options.bytes).min(point.range.end)
    };
    Suspect {
        point: point.number,
        range,
        retest,
        bytes_per_s: point.bytes_per_s,
        expected: point.expected,
        latency_ns_max: point.segment.latencies().max().0,
    }
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
        let mut places: Vec<SlowRegion> = suspects(curve, options)
            .into_iter()
            .map(|suspect| to_slow_region(curve, suspect, retests))
            .collect();
        let with_errors = curve.points.iter().filter(|point| point.segment.errors() > 0);
        places.extend(with_errors.map(|point| SlowRegion {
            bytes_per_s: Some(point.bytes_per_s),
            expected_bytes_per_s: Some(point.expected),
            ..unreadable_region(point.number, &point.range, point.segment)
        }));
        places.extend(
            curve.failures.iter().map(|(number, range, segment)| unreadable_region(*number, range, segment)),
        );
        places.sort_by_key(|place| place.from_bytes);
        let others =
            curve.points.iter().filter(|point| places.iter().all(|place| place.point != point.number));
        let least = others.map(|point| point.bytes_per_s / point.expected).fold(1.0, f64::min);
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
            let mut answer = with_regions(wording::slow_every_time(slow.len(), first), &slow);
            answer = answer.action(wording::replace_slow_drive(actions.read_smart.is_some()));
            answer = actions.read_smart.iter().cloned().fold(answer, Answer::action);
            if slow.len() as f64 > MANY * self.points as f64 {
                answer = answer.caveat(wording::SCATTERED_DATA);
            }
            answers.push(answer);
        }
        let open = self.found_as(Finding::Undecided);
        if let Some(first) = open.first() {
            let was_repeated = open.iter().any(|region| region.retest_bytes_per_s.is_some());
            let answer = if was_repeated {
                wording::slow_sometimes(open.len(), first)
            } else {
                wording::slow_not_measured_again(open.len(), first)
            };
            answers.push(with_regions(answer, &open).action(actions.measure_again.clone()));
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

fn to_slow_region(curve: &Curve<'_>, suspect: Suspect, retests: &[(usize, &Segment)]) -> SlowRegion {
    let own = retests.iter().filter(|(point, _)| *point == suspect.point).map(|(_, segment)| *segment);
    let again: Vec<&Segment> = own.filter(|segment| segment.total().ios > 0).collect();
    let slow = again
        .iter()
        .filter(|segment| segment.errors() > 0 || is_slow(curve, suspect.expected, segment))
        .count();
    let finding = match slow {
        _ if again.iter().any(|segment| segment.errors() > 0) => Finding::Unreadable,
        _ if again.is_empty() => Finding::Undecided,
        0 => Finding::Hiccup,
        slow if slow == again.len() => Finding::Slow,
        _ => Finding::Undecided,
    };
    let speeds = again.iter().filter_map(|segment| transfer_rate(segment));
    SlowRegion {
        from_bytes: suspect.range.start,
        to_bytes: suspect.range.end,
        finding,
        bytes_per_s: Some(suspect.bytes_per_s),
        expected_bytes_per_s: Some(suspect.expected),
        retest_bytes_per_s: speeds.reduce(f64::min),
        latency_ns_max: suspect.latency_ns_max,
        point: suspect.point,
    }
}

fn unreadable_region(point: usize, range: &Range<u64>, segment: &Segment) -> SlowRegion {
    let range = extent(segment.refused_ios.iter()).unwrap_or_else(|| range.clone());
    SlowRegion {
        from_bytes: range.start,
        to_bytes: range.end,
        finding: Finding::Unreadable,
        bytes_per_s: None,
        expected_bytes_per_s: None,
        retest_bytes_per_s: None,
        latency_ns_max: segment.latencies().max().0,
        point,
    }
}
