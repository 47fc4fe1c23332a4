//! Fits every form to a curve, tests each on points left out of its fit, and selects the simplest that
//! predicts them as well as any. From that follows the specification: throughput, access time, penalty and
//! cluster, beside the rated speeds.

use likenew_core::findings::{Answer, Row};
use likenew_core::row;
use likenew_procedure_support::estimate::Estimate;
use likenew_procedure_support::rows::Columns as _;
use likenew_stats::hold_out::{HoldOut, hold_out, simplest_equivalent};
use likenew_stats::interval::Interval;
use likenew_stats::summary::median;

use super::form::{DataPoint, Form, FormFit, Grain};
use super::model_options::ModelOptions;
use super::point::{Curve, Point};
use super::wording::{self, OverviewLine, Prediction, Times};

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
    selected_fit: Option<usize>,
}

/// Mean error of predictions, as a share, above which a model explains nothing. Chosen: a model that is off
/// by more is no use for comparing drives.
const EXPLAINS: f64 = 0.15;
/// Scatter of the points over the error of predictions, as a ratio, from which the error may be noise.
/// Chosen: a quarter adds 3% to an error in squares.
const NOISE: f64 = 0.25;
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

    pub(super) fn rows(&self) -> impl Iterator<Item = Row> {
        self.attempts.iter().enumerate().map(|(index, attempt)| row! {
            op: self.curve.op().to_string(),
            pattern: self.curve.pattern(),
            model: wording::model(attempt.form),
            selected_fit: self.selected_fit == Some(index),
            parameters: attempt.form.parameters(),
            held_out_points: attempt.hold_out.as_ref().map(|hold_out| hold_out.errors.len()),
            held_out_error_percent: attempt.hold_out.as_ref().map(|hold_out| hold_out.typical() * 100.0),
            held_out_error_percent_max: attempt.hold_out.as_ref().map(|hold_out| hold_out.worst() * 100.0),
        })
    }

    /// Whether the curve is explained, by which form, and how much better than by any other.
    pub(super) fn answer(&self) -> Option<Answer> {
        if self.data_points.is_empty() {
            return None;
        }
        let Some((fit, hold_out)) = self.selected_fit() else {
            return Some(wording::too_few_points(self.curve, self.data_points.len()));
        };
        let (typical, noise) = (hold_out.typical(), self.noise()?);
        let prediction = Prediction {
            form: fit.form,
            in_flight: fit.shape,
            points: hold_out.errors.len(),
            typical,
            worst: hold_out.worst(),
            other: self.next_best(),
        };
        Some(if typical <= EXPLAINS {
            wording::explained(self.curve, &prediction)
        } else if noise >= NOISE * typical {
            wording::lost_in_noise(self.curve, &prediction, noise)
        } else {
            wording::unexplained(self.curve, &prediction)
        })
    }

    /// The best of the other forms, and its error.
    fn next_best(&self) -> Option<(Form, f64)> {
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
pub(super) struct Specification {
    pub(super) curve: Curve,
    /// The form that explains it; `None` if the numbers are only those of the longest and the shortest
    /// request.
    model: Option<Form>,
    /// Throughput of long requests, in bytes a second.
    pub(super) throughput: Estimate,
    /// Time of a request of nearly no length, penalties included, in nanoseconds.
    pub(super) access: Estimate,
    /// Cost of each partial cluster, in nanoseconds.
    penalty: Option<Estimate>,
    /// Shortest aligned request without a penalty, in bytes.
    cluster: Option<Estimate>,
    /// Largest cluster that can be read and rewritten within the penalty, in bytes.
    upper: Option<Estimate>,
    advertised: Option<f64>,
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
        let estimate = |(value, interval)| Estimate { value, interval };
        let per_byte = estimate(fit.coefficient(fit.rate_part()?));
        let tiny = fit.access_time();
        let is_clusters = fit.form == Form::Clusters;
        Some(Self {
            curve: curve_fit.curve,
            model: Some(fit.form),
            throughput: per_byte.map(|ns| 1e9 / ns.max(f64::MIN_POSITIVE)),
            access: Estimate { value: tiny.0, interval: tiny.1 },
            penalty: is_clusters.then(|| estimate(fit.coefficient(2))),
            cluster: is_clusters
                .then(|| fit.shape.map(|value| Estimate { value, interval: fit.shape_interval() }))
                .flatten(),
            upper: None,
            advertised,
        })
    }

    /// Throughput of the longest request and time of the shortest, which need no model.
    fn without_model(curve_fit: &CurveFit, advertised: Option<f64>) -> Option<Self> {
        let (first, last) = (curve_fit.data_points.first()?, curve_fit.data_points.last()?);
        let quantity_around = |value: f64, share: f64| Estimate {
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
    pub(super) fn bound_cluster(&mut self, read: Estimate) {
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
        self.upper = Some(Estimate { value, interval: interval() });
    }

    pub(super) fn row(&self) -> Row {
        // An unbounded value has no upper end.
        let bounded = |estimate: Estimate| {
            let end = |high: f64| if high < 1e15 { high } else { f64::INFINITY };
            let interval =
                estimate.interval.map(|interval| Interval { high: end(interval.high), ..interval });
            Estimate { interval, ..estimate }
        };
        let advertised = self.advertised.map(|advertised| self.throughput.value / advertised * 100.0);
        row! {
            op: self.curve.op().to_string(),
            pattern: self.curve.pattern(),
            model: self.model.map_or(wording::NO_MODEL, wording::model),
        }
        .with_estimate("throughput_bytes_per_s", Some(bounded(self.throughput)))
        .with_estimate("access_time_ns", Some(bounded(self.access)))
        .with_estimate("penalty_ns", self.penalty.map(bounded))
        .with_estimate("cluster_bytes", self.upper.map(bounded))
        .with_estimate("aligned_from_bytes", self.cluster.map(bounded))
        .with("advertised_bytes_per_s", self.advertised)
        .with("of_advertised_percent", advertised)
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

    /// Access time and throughput, for the summary.
    pub(super) fn times(&self) -> Times {
        let (access, throughput) = (self.access.value, self.throughput.value);
        Times { access, throughput, is_explained: self.model.is_some() }
    }

    /// The row of the first screen, with the error of the model.
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
