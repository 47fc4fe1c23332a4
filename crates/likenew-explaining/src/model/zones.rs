//! Finds whether the rate depends on the address, as on a disk with zones.
//!
//! A disk turns at a constant speed, so the bytes of a track, and with them the rate, grow with its radius;
//! the bytes within a radius grow with its square. So the square of the rate is a straight line over
//! addresses. On flash it is flat.

use likenew_core::findings::Answer;
use likenew_core::io::Op;
use likenew_stats::hold_out::{HoldOut, hold_out, simplest_equivalent};
use likenew_stats::interval::{CONFIDENCE_95, Interval};
use likenew_stats::least_squares::{PositiveSum, positive_sum};

use super::curve_fit::DataPoint;
use super::point::{Curve, MeasuredPoint, PointPattern, Visit};
use super::wording;
use super::workload_plan::WorkloadPlan;

/// Rates of one operation along the addresses.
pub(super) struct Zones {
    pub(super) op: Op,
    /// `[share of the addresses, bytes/s]` of each long visit, by address.
    pub(super) rates: Vec<[f64; 2]>,
    /// The square of the rate, as coefficients for the first and the last address.
    line: PositiveSum<2>,
    even_error: HoldOut,
    zoned_error: HoldOut,
    /// Whether the rate falls with the address.
    pub(super) is_zoned: bool,
}

/// Fewest visits: fewer do not tell a line from a constant.
const VISITS_MIN: usize = 6;
/// Shortest sequence: a shorter one shows more of its overhead than of the rate.
const LENGTH_MIN: u64 = 1 << 20;
/// Standard deviation of a single rate, as a share. Chosen: the width of a zone and the time of a head
/// change.
const DEVIATION: f64 = 0.03;
/// Fall of the rate over all addresses, as a share, below which it counts as even. Chosen: disks lose half,
/// and a tenth is more than noise.
const FALL_LEAST: f64 = 0.1;

impl Zones {
    /// Fits the visits of one operation; `None` if there are too few. `access_ns` is what a run takes besides
    /// its transfer.
    pub(super) fn from_visits(op: Op, workload_plan: &WorkloadPlan<'_>, access_ns: f64) -> Option<Self> {
        let long = workload_plan.points.iter().filter(|point| {
            point.point.op == op && point.point.bytes >= LENGTH_MIN && is_in_sequence(workload_plan, point)
        });
        let rates = long.flat_map(|measured| {
            let access = if measured.point.pattern == PointPattern::Sequential { 0.0 } else { access_ns };
            measured
                .visits
                .iter()
                .filter(move |visit| visit.ns > 2.0 * access)
                .map(move |visit| [visit.middle, measured.point.bytes as f64 / (visit.ns - access) * 1e9])
        });
        let mut rates: Vec<[f64; 2]> = rates.collect();
        rates.sort_by(|one, other| one[0].total_cmp(&other[0]));
        if rates.len() < VISITS_MIN {
            return None;
        }
        let squares: Vec<f64> = rates.iter().map(|[_, rate]| rate * rate).collect();
        let deviations = vec![2.0 * DEVIATION; rates.len()];
        let zoned_parts = |index: usize| [1.0 - rates[index][0], rates[index][0]];
        let fit = |kept: &[usize], parts: &dyn Fn(usize) -> [f64; 2]| {
            let rows: Vec<[f64; 2]> = kept.iter().map(|index| parts(*index)).collect();
            let values: Vec<f64> = kept.iter().map(|index| squares[*index]).collect();
            positive_sum(&rows, &values, &deviations[..kept.len()])
        };
        let indices: Vec<usize> = (0..rates.len()).collect();
        let inner = &indices[1..indices.len() - 1];
        let hold_out = |parts: &dyn Fn(usize) -> [f64; 2]| {
            hold_out(&squares, inner, |kept, index| Some(fit(kept, parts)?.at(&parts(index))))
        };
        let (even_error, zoned_error) = (hold_out(&|_| [1.0, 0.0])?, hold_out(&zoned_parts)?);
        let line = fit(&indices, &zoned_parts)?;
        let falls = line.coefficients[1] < line.coefficients[0] * (1.0 - FALL_LEAST).powi(2);
        let is_zoned =
            falls && simplest_equivalent(&[Some(even_error.clone()), Some(zoned_error.clone())]) == Some(1);
        Some(Self { op, rates, line, even_error, zoned_error, is_zoned })
    }

    /// The rate at a share of the addresses, in bytes a second.
    pub(super) fn rate_at(&self, share: f64) -> f64 {
        self.line.at(&[1.0 - share, share]).sqrt()
    }

    /// Mean rate over all addresses, in bytes a second: as the square of the rate is a line, the mean time of
    /// a byte is 2/(first + last).
    fn mean_rate(&self) -> f64 {
        (self.rate_at(0.0) + self.rate_at(1.0)) / 2.0
    }

    /// A curve with every visit corrected to the mean rate.
    pub(super) fn at_mean(&self, workload_plan: &WorkloadPlan<'_>, curve: Curve) -> Vec<DataPoint> {
        let mean = self.mean_rate();
        let correct_point = |measured: &MeasuredPoint| {
            if !is_in_sequence(workload_plan, measured) {
                return measured.clone();
            }
            let bytes = measured.point.bytes as f64;
            let correct_visit = |visit: &Visit| {
                let transfer = bytes / self.rate_at(visit.middle) * 1e9;
                let ns = if transfer <= visit.ns * 1.2 {
                    visit.ns + bytes / mean * 1e9 - transfer
                } else {
                    visit.ns
                };
                Visit { ns: ns.max(visit.ns / 4.0), ..visit.clone() }
            };
            MeasuredPoint {
                point: measured.point,
                visits: measured.visits.iter().map(correct_visit).collect(),
            }
        };
        workload_plan.points_on(curve).map(|measured| DataPoint::from(&correct_point(measured))).collect()
    }

    /// The rates at both ends of the addresses, if they differ.
    pub(super) fn answer(&self) -> Option<Answer> {
        // Errors of squares are twice those of rates.
        let errors = (self.zoned_error.typical() / 2.0, self.even_error.typical() / 2.0);
        let (first, last) = (self.rate_at(0.0), self.rate_at(1.0));
        self.is_zoned.then(|| wording::zones(self.op, first, last, self.ratio_interval(), errors))
    }

    /// The last rate over the first, with its interval.
    fn ratio_interval(&self) -> Option<Interval> {
        let first = self.line.interval(0, CONFIDENCE_95)?;
        let last = self.line.interval(1, CONFIDENCE_95)?;
        Some(Interval {
            low: (last.low / first.high).sqrt(),
            high: (last.high / first.low.max(f64::MIN_POSITIVE)).sqrt(),
        })
    }
}

/// Whether a visit is sequential, so that it lies at one place.
fn is_in_sequence(workload_plan: &WorkloadPlan<'_>, measured_point: &MeasuredPoint) -> bool {
    measured_point.point.pattern == PointPattern::Sequential || workload_plan.is_run(&measured_point.point)
}
