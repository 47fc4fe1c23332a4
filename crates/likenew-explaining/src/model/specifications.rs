//! The specifications that the measurements give: throughput, access time, penalty and cluster, beside the
//! rated speeds.

use likenew_core::findings::{Answer, Row};
use likenew_core::row;
use likenew_stats::interval::Interval;

use super::curve_fit::CurveFit;
use super::form::{Form, FormFit};
use super::model_options::ModelOptions;
use super::point::Curve;
use super::wording::{self, OverviewLine, Quantity, Times};

/// The specification from one curve.
pub(super) struct Specification {
    pub(super) curve: Curve,
    /// The form that explains it; `None` if the numbers are only those of the longest and the shortest
    /// request.
    model: Option<Form>,
    /// Throughput of long requests, in bytes a second.
    pub(super) throughput: Quantity,
    /// Time of a request of nearly no length, penalties included, in nanoseconds.
    pub(super) access: Quantity,
    /// Cost of each partial cluster, in nanoseconds.
    penalty: Option<Quantity>,
    /// Shortest aligned request without a penalty, in bytes.
    cluster: Option<Quantity>,
    /// Largest cluster that can be read and rewritten within the penalty, in bytes.
    upper: Option<Quantity>,
    advertised: Option<f64>,
}

impl Quantity {
    fn inverse(self, scale: f64) -> Self {
        let invert = |value: f64| scale / value.max(f64::MIN_POSITIVE);
        let interval = self.interval.map(|of| Interval { low: invert(of.high), high: invert(of.low) });
        Self { value: invert(self.value), interval }
    }

    fn low(self) -> Option<f64> {
        self.interval.map(|interval| interval.low).filter(|low| low.is_finite())
    }

    fn high(self) -> Option<f64> {
        // An unbounded value has no upper end.
        self.interval.map(|interval| interval.high).filter(|high| *high < 1e15)
    }
}

impl Specification {
    /// The specification from a curve by length; `None` if nothing was measured.
    pub(super) fn from_curve_fit(curve_fit: &CurveFit, options: &ModelOptions) -> Option<Self> {
        let advertised = options.advertised_rate(curve_fit.curve.op());
        let Some(fit) = curve_fit
            .explanation()
            .filter(|fit| fit.rate_part().is_some_and(|part| fit.coefficient(part).0 > 0.0))
        else {
            return Self::without_model(curve_fit, advertised);
        };
        let metric = |(value, interval)| Quantity { value, interval };
        let per_byte = metric(fit.coefficient(fit.rate_part()?));
        let tiny = fit.access_time();
        let is_clusters = fit.form == Form::Clusters;
        Some(Self {
            curve: curve_fit.curve,
            model: Some(fit.form),
            throughput: per_byte.inverse(1e9),
            access: Quantity { value: tiny.0, interval: tiny.1 },
            penalty: is_clusters.then(|| metric(fit.coefficient(2))),
            cluster: is_clusters
                .then(|| fit.shape.map(|value| Quantity { value, interval: fit.shape_interval() }))
                .flatten(),
            upper: None,
            advertised,
        })
    }

    /// Throughput of the longest request and time of the shortest, which need no model.
    fn without_model(curve_fit: &CurveFit, advertised: Option<f64>) -> Option<Self> {
        let (first, last) = (curve_fit.data_points.first()?, curve_fit.data_points.last()?);
        let quantity_around = |value: f64, share: f64| Quantity {
            value,
            interval: Some(Interval {
                low: value * (1.0 - 2.0 * share).max(0.0),
                high: value * (1.0 + 2.0 * share),
            }),
        };
        Some(Self {
            curve: curve_fit.curve,
            model: None,
            throughput: quantity_around(last.point.bytes as f64 / last.ns * 1e9, last.deviation),
            access: quantity_around(first.ns, first.deviation),
            penalty: None,
            cluster: None,
            upper: None,
            advertised,
        })
    }

    /// Bounds the cluster: the penalty is at most the time to read and rewrite a whole cluster, cluster/write
    /// rate + cluster/read rate.
    pub(super) fn bound_cluster(&mut self, read: Quantity) {
        let Some(penalty) = self.penalty else { return };
        let cluster = |penalty: f64, write: f64, read: f64| penalty / 1e9 / (1.0 / write + 1.0 / read);
        let interval = || {
            let (penalty_interval, write, read) =
                (penalty.interval?, self.throughput.interval?, read.interval?);
            Some(Interval {
                low: cluster(penalty_interval.low, write.low, read.low),
                high: cluster(penalty_interval.high, write.high, read.high),
            })
        };
        let value = cluster(penalty.value, self.throughput.value, read.value);
        self.upper = Some(Quantity { value, interval: interval() });
    }

    pub(super) fn row(&self) -> Row {
        let (low, high) = (
            |of: Option<Quantity>| of.and_then(Quantity::low),
            |of: Option<Quantity>| of.and_then(Quantity::high),
        );
        let value = |of: Option<Quantity>| of.map(|of| of.value);
        row! {
            op: self.curve.op().to_string(),
            pattern: self.curve.pattern(),
            model: self.model.map_or(wording::NO_MODEL, wording::model),
            throughput_bytes_per_s: self.throughput.value,
            throughput_bytes_per_s_low: self.throughput.low(),
            throughput_bytes_per_s_high: self.throughput.high(),
            access_time_ns: self.access.value,
            access_time_ns_low: self.access.low(),
            access_time_ns_high: self.access.high(),
            penalty_ns: value(self.penalty),
            penalty_ns_low: low(self.penalty),
            penalty_ns_high: high(self.penalty),
            cluster_bytes: value(self.upper),
            cluster_bytes_low: low(self.upper),
            cluster_bytes_high: high(self.upper),
            aligned_from_bytes: value(self.cluster),
            aligned_from_bytes_low: low(self.cluster),
            aligned_from_bytes_high: high(self.cluster),
            advertised_bytes_per_s: self.advertised,
            of_advertised_percent: self
                .advertised
                .map(|advertised| self.throughput.value / advertised * 100.0),
        }
    }

    /// Access time and throughput.
    pub(super) fn answer(&self) -> Answer {
        wording::specification(self.curve, self.throughput, self.access, self.model, self.advertised)
    }

    /// What partly written clusters cost.
    pub(super) fn cluster_answer(&self) -> Option<Answer> {
        let upper = self.upper.map(|upper| upper.value);
        Some(wording::write_cluster(self.cluster?, self.penalty?, upper))
    }

    /// Its times, for the summary.
    pub(super) fn times(&self) -> Times {
        let (access, throughput) = (self.access.value, self.throughput.value);
        Times { access, throughput, is_explained: self.model.is_some() }
    }

    /// Its row on the first screen, with the error of its model.
    pub(super) fn overview_line(&self, error: Option<f64>) -> OverviewLine {
        let Self { curve, model, throughput, access, .. } = *self;
        OverviewLine { curve, access, throughput, model, error: error.filter(|_| model.is_some()) }
    }
}

impl FormFit {
    /// The coefficient that is the time per byte of a long request; `None` for a curve by depth.
    fn rate_part(&self) -> Option<usize> {
        match self.form {
            Form::Plain | Form::Clusters => Some(1),
            Form::Knee => Some(2),
            Form::Alone | Form::Bounds | Form::Queue | Form::Nearest => None,
        }
    }

    /// Time of a request without length: a tiny write leaves one cluster partly written.
    fn access_time(&self) -> (f64, Option<Interval>) {
        let parts = [1.0, 0.0, if self.form == Form::Clusters { 1.0 } else { 0.0 }];
        let value = parts.iter().enumerate().map(|(part, times)| times * self.coefficient(part).0).sum();
        (value, self.interval_at(&parts))
    }
}
