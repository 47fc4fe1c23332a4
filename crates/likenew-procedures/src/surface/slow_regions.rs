//! Places that are slow where their neighbours are not: whether they are slow every time, or were once.

use std::ops::Range;

use likenew_core::procedure::Evidence;
use likenew_core::sample::Sample;
use likenew_core::segment::Segment;
use likenew_core::units::{Nanos, amount, rate};
use likenew_core::verdict::{Standing, Verdict};
use serde::Serialize;

use super::curve::{Curve, Point, transfer_rate};
use super::surface_options::SurfaceOptions;
use super::{retest_name, segment_named};

/// More places than this are not measured again; where there are more, the worst are.
const SUSPECTS_MAX: usize = 32;
/// Places that a verdict names; all stand in the table.
const NAMED_MAX: usize = 3;
/// Where the noise hides a loss of half of the speed, nothing can be said of places.
const FLOOR_LEAST: f64 = 0.5;

/// Where more than this share of the points are slow, it is hardly the medium.
const MANY: f64 = 0.1;
const SCATTERED_CAVEAT: &str = "so many places at once are scattered data rather than a bad medium, as in the persistent cache of a shingled disk: \
                         leave the drive alone for some hours and measure again";

/// A point that was slow, or that holds a slow I/O.
pub(super) struct Suspect {
    /// Its number.
    pub(super) point: usize,
    /// The addresses that were slow, as far as they are known.
    range: Range<u64>,
    /// The addresses to measure again.
    pub(super) retest: Range<u64>,
    bytes_per_s: f64,
    expected: f64,
    latency_ns_max: u64,
}

/// The points that deserve another look, in order of address. Where the drive refused to read, it was clear enough.
pub(super) fn suspects(curve: &Curve<'_>, options: &SurfaceOptions) -> Vec<Suspect> {
    let mut found: Vec<Suspect> = curve
        .points
        .iter()
        .filter(|point| point.segment.errors() == 0 && is_slow(curve, point.expected, point.segment))
        .map(|point| suspect(curve, point, options))
        .collect();
    let severity = |suspect: &Suspect| suspect.bytes_per_s / suspect.expected;
    found.sort_by(|a, b| severity(a).total_cmp(&severity(b)).then(b.latency_ns_max.cmp(&a.latency_ns_max)));
    found.truncate(SUSPECTS_MAX);
    found.sort_by_key(|suspect| suspect.point);
    found
}

fn is_slow(curve: &Curve<'_>, expected: f64, segment: &Segment) -> bool {
    let slow = curve.floor.zip(transfer_rate(segment)).is_some_and(|(floor, rate)| rate < floor * expected);
    slow || segment.slowest.first().is_some_and(|sample| sample.latency() >= curve.latency_limit)
}

fn suspect(curve: &Curve<'_>, point: &Point<'_>, options: &SurfaceOptions) -> Suspect {
    let slow = point.segment.slowest.iter().filter(|sample| sample.latency() >= curve.latency_limit);
    let range = extent(slow).unwrap_or_else(|| point.range.clone());
    // One block before it, as the first I/O of a measurement says nothing of speed.
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

/// From the first of their addresses to the last.
fn extent<'a>(samples: impl Iterator<Item = &'a Sample>) -> Option<Range<u64>> {
    samples
        .map(|sample| sample.offset..sample.offset + u64::from(sample.length))
        .reduce(|one, other| one.start.min(other.start)..one.end.max(other.end))
}

/// What a place turned out to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Finding {
    /// Slow every time.
    #[serde(rename = "weak")]
    Slow,
    /// The drive refused to read or write it.
    Unreadable,
    /// Slow once, as fast as its neighbours after that.
    Hiccup,
    /// Slow, and not measured again, or with different results.
    Undecided,
}

#[derive(Serialize)]
pub(super) struct SlowRegion {
    pub(super) from_bytes: u64,
    pub(super) to_bytes: u64,
    pub(super) finding: Finding,
    /// None of a point that failed.
    bytes_per_s: Option<f64>,
    neighbours_bytes_per_s: Option<f64>,
    retest_bytes_per_s: Option<f64>,
    latency_ns_max: u64,
    #[serde(skip)]
    point: usize,
}

/// All of them, in order of address.
pub(super) struct SlowRegions {
    pub(super) places: Vec<SlowRegion>,
    floor: Option<f64>,
    points: usize,
    /// The slowest point that stands, as a share of what is expected of it.
    least: f64,
}

impl SlowRegions {
    pub(super) fn new(curve: &Curve<'_>, options: &SurfaceOptions, evidence: &Evidence) -> Self {
        let mut places: Vec<SlowRegion> = suspects(curve, options)
            .into_iter()
            .map(|suspect| to_slow_region(curve, suspect, evidence))
            .collect();
        let with_errors = curve.points.iter().filter(|point| point.segment.errors() > 0);
        places.extend(with_errors.map(|point| SlowRegion {
            bytes_per_s: Some(point.bytes_per_s),
            neighbours_bytes_per_s: Some(point.expected),
            ..unreadable_region(point.number, &point.range, point.segment)
        }));
        places.extend(
            curve.failures.iter().map(|(number, range, segment)| unreadable_region(*number, range, segment)),
        );
        places.sort_by_key(|place| place.from_bytes);
        let stands = curve.points.iter().filter(|point| places.iter().all(|of| of.point != point.number));
        let least = stands.map(|point| point.bytes_per_s / point.expected).fold(1.0, f64::min);
        Self { places, floor: curve.floor, points: curve.points.len(), least }
    }

    /// The numbers of the points that they lie in.
    pub(super) fn points(&self) -> Vec<usize> {
        self.places.iter().map(|place| place.point).collect()
    }

    pub(super) fn rows(&self) -> impl Iterator<Item = &SlowRegion> {
        self.places.iter()
    }

    /// What they come to, the worst first. What was refused is said by whoever speaks of refusals.
    pub(super) fn verdicts(&self) -> Vec<Verdict> {
        if self.points == 0 {
            return Vec::new();
        }
        let of = |finding: Finding| self.places.iter().filter(move |place| place.finding == finding);
        let count = |finding: Finding| of(finding).count();
        let all = |verdict: Verdict, finding: Finding| {
            let named = of(finding)
                .take(NAMED_MAX)
                .fold(verdict, |verdict, place| verdict.with_evidence(place.sentence()));
            match count(finding).saturating_sub(NAMED_MAX) {
                0 => named,
                more => named.with_evidence(format!("{more} more stand in the table of weak places")),
            }
        };
        let mut verdicts = Vec::new();
        if let weak @ 1.. = count(Finding::Slow) {
            let claim = format!("{} slow every time.", places(weak));
            let verdict = all(Verdict::new(claim, Standing::Holds).problem(), Finding::Slow);
            let many = weak as f64 > MANY * self.points as f64;
            verdicts.push(if many { verdict.caveat(SCATTERED_CAVEAT) } else { verdict });
        }
        if let open @ 1.. = count(Finding::Undecided) {
            let claim = format!("{} slow every time.", places(open));
            let verdict = Verdict::new(claim, Standing::Undecided);
            verdicts.push(all(verdict, Finding::Undecided).caveat("measuring again would tell: --retests 2"));
        }
        if let once @ 1.. = count(Finding::Hiccup) {
            let claim =
                format!("{} slow once and as fast as the neighbours after that.", were_slow_text(once));
            verdicts.push(all(Verdict::new(claim, Standing::Holds), Finding::Hiccup).caveat(
                "something else may have used the drive at that moment; a drive that does this often stalls",
            ));
        }
        if verdicts.is_empty() {
            verdicts.push(self.no_slow_region());
        }
        verdicts
    }

    fn no_slow_region(&self) -> Verdict {
        let claim = "No place is much slower than its neighbours.";
        match self.floor {
            None => Verdict::new(claim, Standing::Undecided)
                .with_evidence(format!("{} points have no neighbours to speak of", self.points))
                .caveat("more points would tell: --points 100"),
            Some(floor) if floor < FLOOR_LEAST => Verdict::new(claim, Standing::Undecided)
                .with_evidence("the speeds scatter so much that a place of half the speed would not stand out")
                .caveat("larger points scatter less, and so does a drive that nobody else uses: --bytes 64MiB"),
            Some(floor) => Verdict::new(claim, Standing::Holds).with_evidence(format!(
                "the slowest point has {:.0} % of the speed that its neighbours lead to expect; below {:.0} % it would be weak",
                self.least * 100.0,
                floor * 100.0
            )),
        }
    }
}

fn places(count: usize) -> String {
    if count == 1 { "One place is".into() } else { format!("{count} places are") }
}

fn were_slow_text(count: usize) -> String {
    if count == 1 { "One place was".into() } else { format!("{count} places were") }
}

impl SlowRegion {
    fn sentence(&self) -> String {
        let place = format!("{} from {}", amount(self.to_bytes - self.from_bytes), amount(self.from_bytes));
        let neighbours = self
            .neighbours_bytes_per_s
            .map_or(String::new(), |speed| format!(" where its neighbours lead to expect {}", rate(speed)));
        let again = self.retest_bytes_per_s.map_or(String::new(), |speed| format!(", again {}", rate(speed)));
        let slowest = Nanos(self.latency_ns_max);
        let speed = self.bytes_per_s.map_or("not measured".to_owned(), rate);
        format!("{place}: {speed}{neighbours}{again}; its slowest I/O took {slowest}")
    }
}

fn to_slow_region(curve: &Curve<'_>, suspect: Suspect, evidence: &Evidence) -> SlowRegion {
    let again: Vec<&Segment> = (1..)
        .map_while(|round| segment_named(evidence, &retest_name(suspect.point, round)))
        .filter(|segment| segment.total().ios > 0)
        .collect();
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
        neighbours_bytes_per_s: Some(suspect.expected),
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
        neighbours_bytes_per_s: None,
        retest_bytes_per_s: None,
        latency_ns_max: segment.latencies().max().0,
        point,
    }
}
