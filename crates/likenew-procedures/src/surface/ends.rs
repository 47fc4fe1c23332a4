//! How the curve runs from the first address to the last: level, falling, in zones, or slow where data is old.

use likenew_core::io::Op;
use likenew_core::mix::Mix;
use likenew_core::units::{rate, three_digits};
use likenew_core::verdict::{Standing, Verdict};
use likenew_stats::change_points::{Level, levels, zones};
use likenew_stats::interval::{Interval, ratio_interval};
use likenew_stats::summary::mean;
use likenew_stats::trend::trend;
use serde::Serialize;

use super::curve::Curve;

/// Start and end are this share of the points, each.
const END_SHARE: usize = 10;
/// An end has at least so many points.
const END_MIN: usize = 3;
/// Ends that differ by less are alike to whoever uses the drive.
const ALIKE: f64 = 0.05;
/// A plateau that changes by more than this from its first point to its last, and not by chance, is none.
const SLOPE_MOST: f64 = 0.02;
const SLOPE_SIGNIFICANCE: f64 = 0.001;
const CONFIDENCE: f64 = 0.95;

/// The course of the curve, weak places left out.
pub(super) struct Ends {
    first: f64,
    last: f64,
    /// First over last.
    ratio: Interval,
    plateaus: Vec<Level>,
    /// The address where each point that was looked at begins.
    starts: Vec<u64>,
    span: u64,
}

#[derive(Serialize)]
pub(super) struct ZoneRow {
    from_bytes: u64,
    to_bytes: u64,
    bytes_per_s: f64,
    bytes_per_s_low: Option<f64>,
    bytes_per_s_high: Option<f64>,
    points: usize,
}

impl Ends {
    /// `None` with too few points.
    pub(super) fn new(curve: &Curve<'_>, weak: Vec<usize>) -> Option<Self> {
        let sound: Vec<(u64, f64)> = curve
            .points
            .iter()
            .filter(|point| !weak.contains(&point.number))
            .map(|point| (point.range.start, point.bytes_per_s))
            .collect();
        let (starts, speeds): (Vec<u64>, Vec<f64>) = sound.into_iter().unzip();
        let of_each = (speeds.len() / END_SHARE).max(END_MIN);
        if speeds.len() < 2 * of_each {
            return None;
        }
        let (first, last) = (&speeds[..of_each], &speeds[speeds.len() - of_each..]);
        let ratio = ratio_interval(first, last, CONFIDENCE)?;
        let falls = ratio.low > 1.0 + ALIKE;
        let plateaus = if falls { zones(&speeds) } else { levels(&speeds) };
        let level = plateaus.iter().all(|plateau| is_level(&speeds[plateau.range.clone()]));
        let plateaus = if level { plateaus } else { Vec::new() };
        Some(Self { first: mean(first)?, last: mean(last)?, ratio, plateaus, starts, span: curve.span })
    }

    /// The levels, where there are several.
    pub(super) fn zones(&self) -> Vec<ZoneRow> {
        if self.plateaus.len() < 2 {
            return Vec::new();
        }
        let start = |index: usize| if index == 0 { 0 } else { self.starts[index] };
        let row = |level: &Level| ZoneRow {
            from_bytes: start(level.range.start),
            to_bytes: self.starts.get(level.range.end).copied().unwrap_or(self.span),
            bytes_per_s: level.mean,
            bytes_per_s_low: level.interval.map(|interval| interval.low.max(0.0)),
            bytes_per_s_high: level.interval.map(|interval| interval.high),
            points: level.range.len(),
        };
        self.plateaus.iter().map(row).collect()
    }

    /// `is_disk` says whether the time of an access grows with the way.
    pub(super) fn verdicts(&self, op: Mix, is_disk: bool) -> Vec<Verdict> {
        let does = if op == Mix::Only(Op::Write) { "writes" } else { "reads" };
        let (first, last) = (rate(self.first), rate(self.last));
        let ratio = self.first / self.last;
        let verdict = if self.ratio.low > 1.0 - ALIKE && self.ratio.high < 1.0 + ALIKE {
            Verdict::new(format!("The start {does} as fast as the end, {first}."), Standing::Holds)
        } else if self.ratio.low > 1.0 {
            let verdict = Verdict::new(
                format!("The speed falls from {first} at the start to {last} at the end."),
                Standing::Holds,
            );
            self.with_zone_cause(verdict, is_disk)
        } else if self.ratio.high < 1.0 {
            let claim = format!("The start {does} slower than the end, {first} against {last}.");
            with_age_cause(Verdict::new(claim, Standing::Holds), op)
        } else {
            Verdict::new(format!("The start {does} as fast as the end."), Standing::Undecided)
                .with_evidence(format!("the start has {first}, the end {last}"))
                .caveat("more points would tell: --points 400")
        };
        let verdict = verdict.estimate(ratio, self.ratio.low, self.ratio.high, "1");
        vec![verdict]
    }

    fn with_zone_cause(&self, verdict: Verdict, is_disk: bool) -> Verdict {
        let verdict = if is_disk {
            verdict.with_evidence("a hard disk does so by design: its outer tracks come first and hold more")
        } else {
            verdict.caveat("flash has no reason to: something else may have used the drive, or it ran hot")
        };
        match &self.plateaus[..] {
            [outer, .., inner] => verdict.with_evidence(format!(
                "{} plateaus can be told apart, the first {} times as fast as the last",
                self.plateaus.len(),
                three_digits(outer.mean / inner.mean)
            )),
            _ => verdict.with_evidence(format!(
                "it falls smoothly, as far as {} points can tell: no plateaus stand apart; 1000 may show narrower ones",
                self.starts.len()
            )),
        }
    }
}

/// Reads alone can not tell old data at the start from nothing at the end.
fn with_age_cause(verdict: Verdict, op: Mix) -> Verdict {
    if op == Mix::Only(Op::Write) {
        return verdict;
    }
    verdict
        .with_evidence("flash reads data slowly that was written long ago, where it has to try again, and the oldest is often at the start")
        .caveat("addresses that hold nothing are answered without reading any flash, so an empty end looks fast as well")
        .caveat("to tell: write the slow part again and read it once more; what was old is fast then")
}

/// Whether a stretch of the curve stays where it is: pieces of a slope are no plateaus.
fn is_level(speeds: &[f64]) -> bool {
    trend(speeds).is_none_or(|line| {
        let change = (line.at(speeds.len() - 1) - line.at(0)).abs();
        line.p_value > SLOPE_SIGNIFICANCE || change <= SLOPE_MOST * line.at(0)
    })
}
