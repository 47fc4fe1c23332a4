//! The forms that can explain a curve, and the fit of each.

use likenew_core::io::Op;
use likenew_stats::interval::{CONFIDENCE_95, Interval};
use likenew_stats::least_squares::{PositiveSum, broken_line, positive_sum, profile};

use super::point::{Curve, Point, PointPattern};

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

/// Alignment of requests, in bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Grain {
    /// The drive's block.
    pub(super) block: u64,
    /// Length of a small random request; longer ones begin here.
    pub(super) small: u64,
}

/// A form with its parameters.
#[derive(Clone, Debug)]
pub(super) struct FormFit {
    pub(super) form: Form,
    /// The form's own parameter, if it has one: the knee or the cluster in bytes, or the requests served or
    /// queued at once.
    pub(super) shape: Option<f64>,
    sum: PositiveSum<3>,
    /// All parameters that fit the points as well, the best included.
    possible: Vec<(Option<f64>, PositiveSum<3>)>,
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
        let shapes = self.shapes(points, grain);
        if matches!(self, Self::Plain | Self::Alone) {
            let rows: Vec<[f64; 3]> = (0..points.len()).map(|index| parts(0.0, index)).collect();
            let sum = positive_sum(&rows, &values, &deviations)?;
            return Some(FormFit { form: self, shape: None, sum, possible: vec![(None, sum)], grain });
        }
        let profile = profile(&shapes, parts, &values, &deviations, CONFIDENCE_95)?;
        let possible = profile.possible.iter().map(|(shape, sum)| (Some(*shape), *sum)).collect();
        Some(FormFit { form: self, shape: Some(profile.shape), sum: profile.sum, possible, grain })
    }
}

impl FormFit {
    /// The time of a request, in nanoseconds.
    pub(super) fn ns(&self, point: &Point) -> f64 {
        self.sum.at(&self.form.parts(self.shape.unwrap_or(0.0), point, self.grain))
    }

    /// The range of the time at a point, over all possible fits, at 50% probability.
    pub(super) fn range_ns(&self, point: &Point) -> Interval {
        let at = |(shape, sum): &(Option<f64>, PositiveSum<3>)| {
            let parts = self.form.parts(shape.unwrap_or(0.0), point, self.grain);
            let alone = Interval { low: sum.at(&parts), high: sum.at(&parts) };
            sum.interval_at(&parts, AS_LIKELY_AS_NOT).unwrap_or(alone)
        };
        let interval = Interval { low: self.ns(point), high: self.ns(point) };
        self.possible.iter().map(at).fold(interval, join)
    }

    /// The sum of its own squared errors over the points.
    pub(super) fn squares(&self) -> f64 {
        self.sum.squares
    }

    /// A coefficient with its interval over all possible fits.
    pub(super) fn coefficient(&self, part: usize) -> (f64, Option<Interval>) {
        let only = std::array::from_fn(|index| f64::from(u8::from(index == part)));
        (self.sum.coefficients[part], self.interval_at(&only))
    }

    /// The interval of a sum of coefficients over all possible fits.
    pub(super) fn interval_at(&self, parts: &[f64; 3]) -> Option<Interval> {
        let interval = self.sum.interval_at(parts, CONFIDENCE_95)?;
        let intervals = self.possible.iter().filter_map(|(_, sum)| sum.interval_at(parts, CONFIDENCE_95));
        Some(intervals.fold(interval, join))
    }

    /// The range of the shape parameter; `None` for a form without one.
    pub(super) fn shape_interval(&self) -> Option<Interval> {
        interval_around(self.possible.iter().filter_map(|(shape, _)| *shape))
    }
}

/// The range of the values; `None` if there are none.
fn interval_around(values: impl Iterator<Item = f64>) -> Option<Interval> {
    values.map(|value| Interval { low: value, high: value }).reduce(join)
}

fn join(one: Interval, other: Interval) -> Interval {
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
