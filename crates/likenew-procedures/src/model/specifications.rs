//! The specifications that the measurement stands for: throughput, access time, penalty and cluster, beside what the maker says.

use likenew_core::io::Op;
use likenew_core::units::{Nanos, amount, rate};
use likenew_core::verdict::{Standing, Verdict};
use likenew_stats::interval::Interval;
use serde::Serialize;

use super::account::Account;
use super::form::{Fitted, Form};
use super::model_options::ModelOptions;
use super::point::Curve;

/// A figure with the interval it can be trusted to, where that is known.
#[derive(Clone, Copy, Debug)]
pub(super) struct Figure {
    pub(super) value: f64,
    pub(super) interval: Option<Interval>,
}

/// What one curve says of the drive.
pub(super) struct Specification {
    pub(super) curve: Curve,
    /// What explains it; `None` where the figures are those of the longest and the shortest request alone.
    model: Option<Form>,
    /// Of long requests, in bytes a second.
    pub(super) throughput: Figure,
    /// Of a request that is next to nothing, its penalties included, in nanoseconds.
    pub(super) access: Figure,
    /// What each partial cluster costs, in nanoseconds.
    penalty: Option<Figure>,
    /// The length from which on aligned requests pay no penalty, in bytes.
    seen: Option<Figure>,
    /// The cluster whose reading and rewriting takes the penalty, in bytes.
    upper: Option<Figure>,
    advertised: Option<f64>,
}

#[derive(Serialize)]
pub(super) struct FitRow {
    op: String,
    pattern: &'static str,
    model: &'static str,
    throughput_bytes_per_s: f64,
    throughput_bytes_per_s_low: Option<f64>,
    throughput_bytes_per_s_high: Option<f64>,
    access_time_ns: f64,
    access_time_ns_low: Option<f64>,
    access_time_ns_high: Option<f64>,
    penalty_ns: Option<f64>,
    penalty_ns_low: Option<f64>,
    penalty_ns_high: Option<f64>,
    cluster_bytes: Option<f64>,
    cluster_bytes_low: Option<f64>,
    cluster_bytes_high: Option<f64>,
    aligned_from_bytes: Option<f64>,
    aligned_from_bytes_low: Option<f64>,
    aligned_from_bytes_high: Option<f64>,
    advertised_bytes_per_s: Option<f64>,
    of_advertised_percent: Option<f64>,
}

impl Figure {
    fn inverse(self, scale: f64) -> Self {
        let invert = |value: f64| scale / value.max(f64::MIN_POSITIVE);
        let interval = self.interval.map(|of| Interval { low: invert(of.high), high: invert(of.low) });
        Self { value: invert(self.value), interval }
    }

    fn low(self) -> Option<f64> {
        self.interval.map(|interval| interval.low).filter(|low| low.is_finite())
    }

    fn high(self) -> Option<f64> {
        // What may be any number has no end.
        self.interval.map(|interval| interval.high).filter(|high| *high < 1e15)
    }
}

impl Specification {
    /// What a curve of lengths says; `None` where nothing was measured.
    pub(super) fn of(account: &Account, options: &ModelOptions) -> Option<Self> {
        let advertised = options.advertised(account.curve.op());
        let Some(fitted) = account
            .explanation()
            .filter(|fitted| fitted.rate_part().is_some_and(|part| fitted.coefficient(part).0 > 0.0))
        else {
            return Self::measured(account, advertised);
        };
        let figure = |(value, interval)| Figure { value, interval };
        let per_byte = figure(fitted.coefficient(fitted.rate_part()?));
        let tiny = fitted.of_next_to_nothing();
        let is_clusters = fitted.form == Form::Clusters;
        Some(Self {
            curve: account.curve,
            model: Some(fitted.form),
            throughput: per_byte.inverse(1e9),
            access: Figure { value: tiny.0, interval: tiny.1 },
            penalty: is_clusters.then(|| figure(fitted.coefficient(2))),
            seen: is_clusters
                .then(|| fitted.shape.map(|value| Figure { value, interval: fitted.shape_interval() }))
                .flatten(),
            upper: None,
            advertised,
        })
    }

    /// The throughput of the longest request and the time of the shortest: what no model is needed for.
    fn measured(account: &Account, advertised: Option<f64>) -> Option<Self> {
        let (first, last) = (account.observations.first()?, account.observations.last()?);
        let around = |value: f64, share: f64| Figure {
            value,
            interval: Some(Interval {
                low: value * (1.0 - 2.0 * share).max(0.0),
                high: value * (1.0 + 2.0 * share),
            }),
        };
        Some(Self {
            curve: account.curve,
            model: None,
            throughput: around(last.point.bytes as f64 / last.ns * 1e9, last.deviation),
            access: around(first.ns, first.deviation),
            penalty: None,
            seen: None,
            upper: None,
            advertised,
        })
    }

    /// A penalty is at most the reading and rewriting of a whole cluster: cluster/write rate + cluster/read rate = penalty.
    pub(super) fn bound_cluster(&mut self, read: Figure) {
        let Some(penalty) = self.penalty else { return };
        let cluster = |penalty: f64, write: f64, read: f64| penalty / 1e9 / (1.0 / write + 1.0 / read);
        let interval = || {
            let (own, write, read) = (penalty.interval?, self.throughput.interval?, read.interval?);
            Some(Interval {
                low: cluster(own.low, write.low, read.low),
                high: cluster(own.high, write.high, read.high),
            })
        };
        let value = cluster(penalty.value, self.throughput.value, read.value);
        self.upper = Some(Figure { value, interval: interval() });
    }

    pub(super) fn row(&self) -> FitRow {
        let (low, high) =
            (|of: Option<Figure>| of.and_then(Figure::low), |of: Option<Figure>| of.and_then(Figure::high));
        let value = |of: Option<Figure>| of.map(|of| of.value);
        FitRow {
            op: self.curve.op().to_string(),
            pattern: self.curve.pattern(),
            model: self.model.map_or("none: the longest and the shortest request as measured", Form::name),
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
            aligned_from_bytes: value(self.seen),
            aligned_from_bytes_low: low(self.seen),
            aligned_from_bytes_high: high(self.seen),
            advertised_bytes_per_s: self.advertised,
            of_advertised_percent: self
                .advertised
                .map(|advertised| self.throughput.value / advertised * 100.0),
        }
    }

    /// The sentence that a reader takes away.
    pub(super) fn verdict(&self) -> Verdict {
        let verb = if self.curve.op() == Op::Read { "reads" } else { "writes" };
        let claim = format!(
            "It {verb} at {} once under way, and takes {} to begin anywhere.",
            rate(self.throughput.value),
            Nanos(self.access.value as u64)
        );
        let standing = if self.model.is_some() { Standing::Holds } else { Standing::Undecided };
        let mut verdict = Verdict::new(claim, standing);
        if let Some(interval) = self.throughput.interval {
            verdict = verdict.estimate(self.throughput.value, interval.low, interval.high, "bytes/s");
        }
        verdict = match self.access.interval {
            Some(Interval { low, high }) => {
                verdict.because(format!("to begin takes {} to {}", Nanos(low as u64), Nanos(high as u64)))
            }
            None => verdict,
        };
        if let Some(advertised) = self.advertised {
            verdict = verdict.because(format!(
                "its maker says {}: {:.0} % of that is there",
                rate(advertised),
                self.throughput.value / advertised * 100.0
            ));
        }
        if self.model.is_none() {
            verdict =
                verdict.caveat("no model explains what lies between the shortest and the longest request");
        }
        verdict
    }

    /// What is said of partial clusters.
    pub(super) fn penalty_verdict(&self) -> Option<Verdict> {
        let (penalty, seen) = (self.penalty?, self.seen?);
        let is_sure = penalty.interval.is_some_and(|interval| interval.low > 0.0);
        let claim = format!(
            "A write pays {} for each cluster of {} that it leaves in part.",
            Nanos(penalty.value as u64),
            amount(seen.value as u64)
        );
        let mut verdict = Verdict::new(claim, if is_sure { Standing::Holds } else { Standing::Undecided });
        if let Some(interval) = penalty.interval {
            verdict = verdict.estimate(penalty.value, interval.low, interval.high, "ns");
        }
        if let Some(interval) = seen.interval {
            let range = if interval.low < interval.high {
                format!(" (between {} and {})", amount(interval.low as u64), amount(interval.high as u64))
            } else {
                String::new()
            };
            verdict = verdict.because(format!(
                "aligned writes are free of it from {} on{range}; short ones pay it once, long ones that begin anywhere twice",
                amount(seen.value as u64)
            ));
        }
        if let Some(upper) = self.upper {
            verdict = verdict.because(format!(
                "in that time at most {} can be read and written again",
                amount(upper.value as u64)
            ));
        }
        Some(verdict)
    }
}

impl Fitted {
    /// Which coefficient is the time of a byte of a long request; `None` of a curve by depth.
    fn rate_part(&self) -> Option<usize> {
        match self.form {
            Form::Plain | Form::Clusters => Some(1),
            Form::Knee => Some(2),
            Form::Alone | Form::Bounds | Form::Queue | Form::Nearest => None,
        }
    }

    /// The time of a request without length: a tiny write leaves one cluster in part.
    fn of_next_to_nothing(&self) -> (f64, Option<Interval>) {
        let parts = [1.0, 0.0, if self.form == Form::Clusters { 1.0 } else { 0.0 }];
        let value = parts.iter().enumerate().map(|(part, times)| times * self.coefficient(part).0).sum();
        (value, self.interval_at(&parts))
    }
}
