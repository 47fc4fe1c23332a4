//! The shape of the curve from the first address to the last: level, falling, in zones, or slow where data is
//! old.

use likenew_core::answer::{Action, Answer};
use likenew_core::io::Op;
use likenew_core::mix::Mix;
use likenew_core::quantity::{Rate, Share};
use likenew_stats::change_points::{Level, levels, zones};
use likenew_stats::interval::{CONFIDENCE_95, Interval, ratio_interval};
use likenew_stats::summary::mean;
use likenew_stats::trend::trend;
use serde::Serialize;

use super::curve::Curve;
use super::wording;

/// Start and end are each one part in this many of the points.
const END_SHARE: usize = 10;
/// Fewest points of an end.
const END_MIN: usize = 3;
/// Difference of both ends, as a share, up to which they are alike; our choice.
const ALIKE: f64 = 0.05;
/// Change along a plateau, as a share, above which it is none if chance does not explain it. Chosen: less
/// than half of `ALIKE`.
const SLOPE_MOST: f64 = 0.02;
/// Probability of such a change by chance, below which it counts. Chosen: low, because many plateaus are
/// tested.
const SLOPE_SIGNIFICANCE: f64 = 0.001;

/// Speed at the start and at the end, and the levels between, without slow regions.
pub(super) struct Ends {
    first: f64,
    last: f64,
    /// First over last.
    ratio: Interval,
    plateaus: Vec<Level>,
    /// The first address of each point used.
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
        let ratio = ratio_interval(first, last, CONFIDENCE_95)?;
        let falls = ratio.low > 1.0 + ALIKE;
        let plateaus = if falls { zones(&speeds) } else { levels(&speeds) };
        let level = plateaus.iter().all(|plateau| is_level(&speeds[plateau.range.clone()]));
        let plateaus = if level { plateaus } else { Vec::new() };
        Some(Self { first: mean(first)?, last: mean(last)?, ratio, plateaus, starts, span: curve.span })
    }

    /// The levels, if there are several.
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

    /// `is_disk` says whether access time grows with distance; `more_points` decides what the points leave open, and
    /// `check` whether data is old.
    pub(super) fn answer(
        &self,
        op: Mix,
        is_disk: bool,
        more_points: Option<&Action>,
        check: Option<&Action>,
    ) -> Answer {
        let (first, last) = (Rate(self.first), Rate(self.last));
        let ratio = self.first / self.last;
        let answer = if self.ratio.low > 1.0 - ALIKE && self.ratio.high < 1.0 + ALIKE {
            wording::ends_are_alike(first)
        } else if self.ratio.low > 1.0 {
            let falls = if is_disk {
                wording::disk_falls(first, last)
            } else {
                wording::speed_falls(first, last, ratio)
            };
            self.with_zone_cause(falls, is_disk)
        } else if self.ratio.high < 1.0 {
            self.slow_start(op, check)
        } else {
            let open = wording::ends_are_open(first, last, self.ratio);
            more_points.into_iter().cloned().fold(open, Answer::action)
        };
        answer.estimate(ratio, self.ratio.low, self.ratio.high, "×")
    }

    /// Reads alone cannot tell old data at the start from no data at the end.
    fn slow_start(&self, op: Mix, check: Option<&Action>) -> Answer {
        let (first, last) = (Rate(self.first), Rate(self.last));
        let slower = wording::start_is_slower(first, last, self.first / self.last);
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
