//! Fits every form to a curve, tests each on points left out of its fit, and selects the simplest that
//! predicts them as well as any. From that follows the specification: throughput, access time, penalty and
//! cluster, beside the rated speeds.

use likenew_core::io::Op;
use likenew_procedure_support::estimate::Estimate;
use likenew_stats::hold_out::{HoldOut, hold_out, simplest_equivalent};
use likenew_stats::interval::{CONFIDENCE_95, Interval};
use likenew_stats::least_squares::{PositiveSum, Profile, broken_line, positive_sum, profile};
use likenew_stats::summary::median;

use super::point::{Curve, MeasuredPoint, Point, PointPattern};

/// One form, simplest first. Times are of one request; for a curve by depth, the time between two
/// completions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// Access + length/throughput.
    Plain,
    /// Access, then one rate up to some length and another above it.
    Knee,
    /// Access + length/throughput + a penalty for each partly written cluster.
    Clusters,
    /// As long at every depth: the drive serves one request after the other.
    Alone,
    /// Each request takes as long as at QD1 until the drive serves its maximum at once: min(depth·X₁, X_max).
    Bounds,
    /// Requests fall on equal servers by chance and queue there: X_max·depth/(depth + servers − 1), up to the
    /// drive's own queue depth.
    Queue,
    /// The nearest waiting request is served next: the shortest of n uniform waits is 2/(n + 1) of their
    /// mean, up to the drive's own queue depth.
    Nearest,
}

/// One data point of a fit.
#[derive(Clone, Copy, Debug)]
pub(super) struct DataPoint {
    pub(super) point: Point,
    pub(super) ns: f64,
    pub(super) deviation: f64,
}

impl From<&MeasuredPoint> for DataPoint {
    fn from(measured: &MeasuredPoint) -> Self {
        Self { point: measured.point, ns: measured.ns(), deviation: measured.deviation() }
    }
}

/// Alignment of requests, in bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Grain {
    /// The drive's block, which is the shortest request.
    pub(super) block: u64,
    /// Length of a small random request: 4 KiB or a block. Longer ones begin at its multiples.
    pub(super) small: u64,
}

/// A form with its parameters.
#[derive(Clone, Debug)]
pub(super) struct FormFit {
    pub(super) form: Form,
    /// All parameters that fit the points as well. The shape is the form's own parameter: the knee or the
    /// cluster in bytes, or the requests served or queued at once; 0 for a form without one.
    pub(super) profile: Profile<3>,
    pub(super) grain: Grain,
}

/// Probability of the middle interval that each possible fit contributes to a range. By definition: as likely
/// inside as outside.
const AS_LIKELY_AS_NOT: f64 = 0.5;
/// Points needed beyond one for each parameter of a form.
const SPARE: usize = 1;

impl Form {
    /// The forms that a curve may have.
    pub(super) fn candidates(curve: Curve) -> &'static [Self] {
        match curve {
            Curve::Random(Op::Write) => &[Self::Plain, Self::Clusters, Self::Knee],
            Curve::Random(_) | Curve::Sequential(_) => &[Self::Plain, Self::Knee],
            Curve::Depth(_) => &[Self::Alone, Self::Bounds, Self::Queue, Self::Nearest],
        }
    }

    /// Number of parameters that the points determine.
    pub(super) fn parameters(self) -> usize {
        match self {
            Self::Plain | Self::Bounds => 2,
            Self::Queue | Self::Nearest => 3,
            Self::Knee | Self::Clusters => 4,
            Self::Alone => 1,
        }
    }

    fn parts(self, shape: f64, point: &Point, grain: Grain) -> [f64; 3] {
        let (bytes, depth) = (point.bytes as f64, f64::from(point.depth));
        match self {
            Self::Plain => [1.0, bytes, 0.0],
            Self::Knee => broken_line(bytes, shape),
            Self::Clusters => {
                let align = if point.pattern == PointPattern::Aligned {
                    point.bytes
                } else {
                    point.bytes.min(grain.small)
                };
                [1.0, bytes, partial_clusters(point.bytes, align, shape as u64)]
            }
            Self::Alone => [1.0, 0.0, 0.0],
            Self::Bounds => [1.0 / depth.min(shape), 0.0, 0.0],
            Self::Queue => [1.0, 1.0 / depth.min(shape), 0.0],
            // One request is served while the others wait to be chosen.
            Self::Nearest => [1.0, 2.0 / depth.min(shape).max(2.0), 0.0],
        }
    }

    /// Values that its shape parameter may have at these points.
    fn shapes(self, points: &[DataPoint], grain: Grain) -> Vec<f64> {
        let sorted = |value: fn(&Point) -> u64| {
            let mut values: Vec<u64> = points.iter().map(|point| value(&point.point)).collect();
            values.sort_unstable();
            values.dedup();
            values
        };
        match self {
            Self::Plain | Self::Alone => Vec::new(),
            Self::Knee => {
                let sizes = sorted(|point| point.bytes);
                let between = sizes.windows(2).map(|pair| (pair[0] as f64 * pair[1] as f64).sqrt());
                let inner = sizes.iter().map(|size| *size as f64).chain(between);
                let ends =
                    (sizes.first().copied().unwrap_or(0) as f64, sizes.last().copied().unwrap_or(0) as f64);
                inner.filter(|knee| *knee > ends.0 && *knee < ends.1).collect()
            }
            Self::Clusters => {
                let longest = sorted(|point| point.bytes).last().copied().unwrap_or(0);
                let doublings = |from: u64| std::iter::successors(Some(from), |length| length.checked_mul(2));
                let up_to = |from: u64| doublings(from).take_while(move |doubling| *doubling <= longest);
                up_to(2 * grain.block).chain(up_to(3 * grain.block)).map(|size| size as f64).collect()
            }
            Self::Bounds => {
                let deepest = sorted(|point| point.depth.into()).last().copied().unwrap_or(1);
                // A sixth of an octave is finer than any scatter.
                let steps = (0..).map(|step| 2f64.powf(f64::from(step) / 6.0));
                steps.take_while(|in_flight| *in_flight <= deepest as f64 * 1.001).collect()
            }
            Self::Queue | Self::Nearest => {
                let depths = sorted(|point| point.depth.into());
                depths.into_iter().filter(|depth| *depth > 1).map(|depth| depth as f64).collect()
            }
        }
    }

    /// Fits the form to these points; `None` if there are too few.
    pub(super) fn fit(self, points: &[DataPoint], grain: Grain) -> Option<FormFit> {
        if points.len() < self.parameters() + SPARE {
            return None;
        }
        let values: Vec<f64> = points.iter().map(|point| point.ns).collect();
        let deviations: Vec<f64> = points.iter().map(|point| point.deviation).collect();
        let parts = |shape: f64, index: usize| self.parts(shape, &points[index].point, grain);
        let profile = if matches!(self, Self::Plain | Self::Alone) {
            let rows: Vec<[f64; 3]> = (0..points.len()).map(|index| parts(0.0, index)).collect();
            let sum = positive_sum(&rows, &values, &deviations)?;
            Profile { shape: 0.0, sum, possible: vec![(0.0, sum)] }
        } else {
            profile(&self.shapes(points, grain), parts, &values, &deviations, CONFIDENCE_95)?
        };
        Some(FormFit { form: self, profile, grain })
    }
}

impl FormFit {
    /// The time of a request, in nanoseconds.
    pub(super) fn ns(&self, point: &Point) -> f64 {
        self.profile.sum.at(&self.form.parts(self.profile.shape, point, self.grain))
    }

    /// The range of the time at a point, over all possible fits, at 50% probability.
    pub(super) fn range_ns(&self, point: &Point) -> Interval {
        let at = |(shape, sum): &(f64, PositiveSum<3>)| {
            let parts = self.form.parts(*shape, point, self.grain);
            let alone = Interval { low: sum.at(&parts), high: sum.at(&parts) };
            sum.interval_at(&parts, AS_LIKELY_AS_NOT).unwrap_or(alone)
        };
        let interval = Interval { low: self.ns(point), high: self.ns(point) };
        self.profile.possible.iter().map(at).fold(interval, join)
    }

    /// The sum of its own squared errors over the points.
    pub(super) fn squares(&self) -> f64 {
        self.profile.sum.squares
    }

    /// A coefficient with its interval over all possible fits.
    pub(super) fn coefficient(&self, part: usize) -> Estimate {
        let only = std::array::from_fn(|index| f64::from(u8::from(index == part)));
        Estimate { value: self.profile.sum.coefficients[part], interval: self.interval_at(&only) }
    }

    /// The interval of a sum of coefficients over all possible fits.
    pub(super) fn interval_at(&self, parts: &[f64; 3]) -> Option<Interval> {
        let interval = self.profile.sum.interval_at(parts, CONFIDENCE_95)?;
        let intervals =
            self.profile.possible.iter().filter_map(|(_, sum)| sum.interval_at(parts, CONFIDENCE_95));
        Some(intervals.fold(interval, join))
    }

    /// The coefficient that is the time per byte of a long request; `None` for a curve by depth.
    fn rate_part(&self) -> Option<usize> {
        match self.form {
            Form::Plain | Form::Clusters => Some(1),
            Form::Knee => Some(2),
            Form::Alone | Form::Bounds | Form::Queue | Form::Nearest => None,
        }
    }

    /// Time of a request without length: a tiny write leaves one cluster partly written.
    fn access_time(&self) -> Estimate {
        let parts = [1.0, 0.0, if self.form == Form::Clusters { 1.0 } else { 0.0 }];
        let value = parts.iter().zip(self.profile.sum.coefficients).map(|(times, part)| times * part).sum();
        Estimate { value, interval: self.interval_at(&parts) }
    }
}

/// A value with the ends of its interval.
pub(super) fn between(value: f64, low: f64, high: f64) -> Estimate {
    Estimate { value, interval: Some(Interval { low, high }) }
}

pub(super) fn join(one: Interval, other: Interval) -> Interval {
    Interval { low: one.low.min(other.low), high: one.high.max(other.high) }
}

/// The mean number of partial clusters of a write of `length` bytes at a random multiple of `align`, in
/// clusters of `cluster` bytes: what the write does not cover of a cluster has to be read and written again.
/// A write within one cluster leaves one partial, whole clusters none, and the two ends of a longer write one
/// each. The length is a multiple of `align`.
///
/// Counted in units of g = gcd(align, cluster), a cluster has m = cluster/g places where a write may begin,
/// each as likely, and a write l = length/g. If l < m, m − l + 1 places keep it within one cluster, and at
/// the others both of its ends are partial. If l ≥ m, its start is partial at all places but one, and so is
/// its end.
fn partial_clusters(length: u64, align: u64, cluster: u64) -> f64 {
    assert!(length > 0 && align > 0 && cluster > 0 && length.is_multiple_of(align));
    let unit = gcd(align, cluster);
    let (places, long) = ((cluster / unit) as f64, (length / unit) as f64);
    if long < places {
        return (places - long + 1.0 + 2.0 * (long - 1.0)) / places;
    }
    2.0 * (places - 1.0) / places
}

fn gcd(mut one: u64, mut other: u64) -> u64 {
    while other > 0 {
        (one, other) = (other, one % other);
    }
    one
}

/// A form fitted to a curve.
pub(super) struct FitAttempt {
    pub(super) form: Form,
    pub(super) fit: Option<FormFit>,
    pub(super) hold_out: Option<HoldOut>,
}

/// A curve and its fits.
pub(super) struct CurveFit {
    pub(super) curve: Curve,
    /// Sorted by length, then depth.
    pub(super) data_points: Vec<DataPoint>,
    /// Simplest first.
    pub(super) attempts: Vec<FitAttempt>,
    pub(super) selected_fit: Option<usize>,
}

/// Mean error of predictions, as a share, above which a model explains nothing. Chosen: a model that is off
/// by more is no use for comparing drives.
pub(super) const EXPLAINS: f64 = 0.15;
/// Scatter of the points over the error of predictions, as a ratio, from which the error may be noise.
/// Chosen: a quarter adds 3% to an error in squares.
pub(super) const NOISE: f64 = 0.25;
/// Standard deviations from which two times differ. Chosen: many pairs are compared, so two would find
/// differences by chance.
const DEVIATIONS: f64 = 3.0;
/// Fewest points held out that decide anything.
const HOLD_OUT_MIN: usize = 4;

impl CurveFit {
    pub(super) fn new(curve: Curve, mut data_points: Vec<DataPoint>, grain: Grain) -> Self {
        data_points.sort_by_key(|data_point| {
            (data_point.point.bytes, data_point.point.depth, data_point.point.pattern.to_string())
        });
        let key = |data_point: &DataPoint| match curve {
            Curve::Depth(_) => u64::from(data_point.point.depth),
            _ => data_point.point.bytes,
        };
        // No model is asked to predict outside of the measured range, so both ends are always in the fit.
        let (least, most) = (data_points.iter().map(key).min(), data_points.iter().map(key).max());
        let inner = (0..data_points.len()).filter(|index| {
            let key = Some(key(&data_points[*index]));
            key != least && key != most
        });
        let inner: Vec<usize> = inner.collect();
        let values: Vec<f64> = data_points.iter().map(|data_point| data_point.ns).collect();
        let attempts = Form::candidates(curve).iter().map(|form| {
            let predict = |kept: &[usize], hold_out: usize| {
                let kept: Vec<DataPoint> = kept.iter().map(|index| data_points[*index]).collect();
                Some(form.fit(&kept, grain)?.ns(&data_points[hold_out].point))
            };
            let is_open = *form != Form::Clusters || has_cheaper_longer(&data_points);
            let hold_out = hold_out(&values, &inner, predict)
                .filter(|hold_out| is_open && hold_out.errors.len() >= HOLD_OUT_MIN);
            FitAttempt { form: *form, fit: form.fit(&data_points, grain), hold_out }
        });
        let mut attempts: Vec<FitAttempt> = attempts.collect();
        // Among forms with as many parameters, the better one comes first.
        let error = |attempt: &FitAttempt| attempt.hold_out.as_ref().map_or(f64::INFINITY, HoldOut::typical);
        attempts.sort_by(|one, other| {
            let parameters = one.form.parameters().cmp(&other.form.parameters());
            parameters.then(error(one).total_cmp(&error(other)))
        });
        let errors: Vec<Option<HoldOut>> = attempts.iter().map(|attempt| attempt.hold_out.clone()).collect();
        Self { curve, selected_fit: simplest_equivalent(&errors), data_points, attempts }
    }

    /// The selected form, with its prediction error.
    pub(super) fn selected_fit(&self) -> Option<(&FormFit, &HoldOut)> {
        let attempt = &self.attempts[self.selected_fit?];
        Some((attempt.fit.as_ref()?, attempt.hold_out.as_ref()?))
    }

    /// The selected form, if its predictions are good enough.
    pub(super) fn explanation(&self) -> Option<&FormFit> {
        self.selected_fit().filter(|(_, hold_out)| hold_out.typical() <= EXPLAINS).map(|(fit, _)| fit)
    }

    /// The data point of a point, as it went into the fit.
    pub(super) fn data_point(&self, point: &Point) -> Option<&DataPoint> {
        self.data_points.iter().find(|data_point| data_point.point == *point)
    }

    /// The typical uncertainty of the points, as a share.
    pub(super) fn noise(&self) -> Option<f64> {
        median(&self.data_points.iter().map(|data_point| data_point.deviation).collect::<Vec<_>>())
    }

    /// The best of the other forms, and its error.
    pub(super) fn next_best(&self) -> Option<(Form, f64)> {
        let others = self.attempts.iter().enumerate().filter(|(index, _)| Some(*index) != self.selected_fit);
        let errors =
            others.filter_map(|(_, attempt)| Some((attempt.form, attempt.hold_out.as_ref()?.typical())));
        errors.min_by(|(_, one), (_, other)| one.total_cmp(other))
    }
}

/// Whether some request takes less time than a shorter one. Only a partial-cluster penalty that it avoids
/// explains that; without such a request no penalty is claimed.
fn has_cheaper_longer(data_points: &[DataPoint]) -> bool {
    let is_cheaper = |long: &DataPoint, short: &DataPoint| {
        let error = DEVIATIONS * long.deviation.hypot(short.deviation);
        long.point.bytes >= short.point.bytes && (short.ns / long.ns).ln() > error
    };
    data_points.iter().any(|long| data_points.iter().any(|short| is_cheaper(long, short)))
}

/// The specification from one curve.
#[derive(Clone, Copy, Debug)]
pub(super) struct Specification {
    pub(super) curve: Curve,
    /// The form that explains it; `None` if the numbers are only those of the longest and the shortest
    /// request.
    pub(super) model: Option<Form>,
    /// Throughput of long requests, in bytes a second.
    pub(super) throughput: Estimate,
    /// Time of a request of nearly no length, penalties included, in nanoseconds.
    pub(super) access: Estimate,
    /// Cost of each partial cluster, in nanoseconds.
    pub(super) penalty: Option<Estimate>,
    /// Shortest aligned request without a penalty, in bytes.
    pub(super) cluster: Option<Estimate>,
    /// Largest cluster that can be read and rewritten within the penalty, in bytes.
    pub(super) upper: Option<Estimate>,
    /// Rated throughput, in bytes a second.
    pub(super) advertised: Option<f64>,
}

impl Specification {
    /// The specification from a curve by length; `None` if nothing was measured.
    pub(super) fn from_curve_fit(curve_fit: &CurveFit, advertised: Option<f64>) -> Option<Self> {
        let measured = Self::without_model(curve_fit, advertised)?;
        let explained = || {
            let fit = curve_fit.explanation()?;
            let per_byte = fit.coefficient(fit.rate_part()?);
            let clusters = Some(fit).filter(|fit| fit.form == Form::Clusters);
            (per_byte.value > 0.0).then(|| Self {
                model: Some(fit.form),
                throughput: per_byte.map(|ns| 1e9 / ns.max(f64::MIN_POSITIVE)),
                access: fit.access_time(),
                penalty: clusters.map(|fit| fit.coefficient(2)),
                cluster: clusters.map(|FormFit { profile, .. }| Estimate {
                    value: profile.shape,
                    interval: Some(profile.shape_interval()),
                }),
                ..measured
            })
        };
        Some(explained().unwrap_or(measured))
    }

    /// Throughput of the longest request and time of the shortest, which need no model.
    fn without_model(curve_fit: &CurveFit, advertised: Option<f64>) -> Option<Self> {
        let (first, last) = (curve_fit.data_points.first()?, curve_fit.data_points.last()?);
        let around = |value: f64, share: f64| {
            between(value, value * (1.0 - 2.0 * share).max(0.0), value * (1.0 + 2.0 * share))
        };
        Some(Self {
            curve: curve_fit.curve,
            model: None,
            throughput: around(last.point.bytes as f64 / last.ns * 1e9, last.deviation),
            access: around(first.ns, first.deviation),
            penalty: None,
            cluster: None,
            upper: None,
            advertised,
        })
    }

    /// Bounds the cluster: the penalty is at most the time to read and rewrite a whole cluster, cluster/write
    /// rate + cluster/read rate.
    pub(super) fn bound_cluster(&mut self, read: Estimate) {
        let Some(penalty) = self.penalty else { return };
        let cluster = |penalty: f64, write: f64, read: f64| penalty / 1e9 / (1.0 / write + 1.0 / read);
        let write = self.throughput;
        let ends = penalty.interval.zip(write.interval).zip(read.interval);
        let interval = ends.map(|((penalty, write), read)| Interval {
            low: cluster(penalty.low, write.low, read.low),
            high: cluster(penalty.high, write.high, read.high),
        });
        let value = cluster(penalty.value, write.value, read.value);
        self.upper = Some(Estimate { value, interval });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The number of partial clusters by counting.
    fn count_partial(length: u64, align: u64, cluster: u64) -> f64 {
        let places = cluster / gcd(align, cluster);
        let partial = |place: u64| {
            let start = place * align;
            let end = start + length;
            let clusters = start / cluster..end.div_ceil(cluster);
            clusters.filter(|at| start > at * cluster || end < (at + 1) * cluster).count() as u64
        };
        (0..places).map(partial).sum::<u64>() as f64 / places as f64
    }

    #[test]
    fn the_formula_counts_partial_clusters() {
        for cluster in [1, 3, 8, 12, 40] {
            for align in 1..=45 {
                for times in 1..=5 {
                    let length = align * times;
                    let (expected, counted) =
                        (partial_clusters(length, align, cluster), count_partial(length, align, cluster));
                    assert!(
                        (expected - counted).abs() < 1e-12,
                        "{length} {align} {cluster}: {expected} is {counted}"
                    );
                }
            }
        }
    }

    #[test]
    fn tiny_writes_pay_one_whole_clusters_none_and_long_ones_two() {
        let cluster = 8 << 20;
        assert_eq!(partial_clusters(512, 512, cluster), 1.0);
        for times in [1, 2, 7] {
            assert_eq!(partial_clusters(times * cluster, times * cluster, cluster), 0.0);
        }
        let long = partial_clusters(512 << 20, 512, cluster);
        assert!((1.999..2.0).contains(&long), "{long}");
    }
}
