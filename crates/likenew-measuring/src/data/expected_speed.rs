//! The speed of a user's files: the measured speed at the compressibility of each kind.

use likenew_core::answer::Answer;
use likenew_core::io::Op;
use likenew_core::quantity::{Rate, Share};
use likenew_procedure_support::pattern::Pattern;
use likenew_stats::interval::{CONFIDENCE_95, mean_interval};
use likenew_stats::summary::mean;
use serde::Serialize;

use super::curve::Curve;
use super::files::{FileScan, Weight};
use super::wording;

/// The speed of a mix of files, for one operation of one test.
pub(super) struct ExpectedSpeed {
    pattern: Pattern,
    op: Op,
    bytes_per_s: f64,
    /// `low..high`, if there was more than one pass.
    range: Option<(f64, f64)>,
    zeros_bytes_per_s: f64,
}

#[derive(Serialize)]
pub(super) struct ExpectedRow {
    pattern: Pattern,
    op: Op,
    bytes_per_s: f64,
    bytes_per_s_low: Option<f64>,
    bytes_per_s_high: Option<f64>,
    share_of_zeros_percent: f64,
    advertised_bytes_per_s: Option<f64>,
    share_of_advertised_percent: Option<f64>,
}

impl ExpectedSpeed {
    /// The harmonic mean over all bytes: the time that a byte takes, interpolated between the steps, as a
    /// drive's time grows in proportion to what it has to store.
    ///
    /// Its interval joins two independent sources, whose half widths add as squares: the passes, each of
    /// which gives one value as it visits every step, and the sample of the files.
    pub(super) fn from_curve(curve: &Curve, files: &FileScan) -> Option<Self> {
        let (weights, times) = (files.weights(), curve.times());
        if weights.is_empty() || times.is_empty() {
            return None;
        }
        let of_pass = |times: &Vec<f64>| {
            weights.iter().map(|Weight { weight, share }| weight * time_at(times, share.value)).sum::<f64>()
        };
        let by_pass: Vec<f64> = times.iter().map(of_pass).collect();
        let time = mean(&by_pass)?;
        let steps = 0..curve.steps.len();
        let mean_times: Vec<f64> =
            steps.map(|step| times.iter().map(|of| of[step]).sum::<f64>() / times.len() as f64).collect();
        let of_sample = weights.iter().map(|Weight { weight, share }| {
            weight * (time_at(&mean_times, share.high) - time_at(&mean_times, share.low)) / 2.0
        });
        let from_sample: f64 = of_sample.map(|half| half * half).sum();
        let range = mean_interval(&by_pass, CONFIDENCE_95).map(|interval| {
            let from_passes = (interval.high - interval.low) / 2.0;
            let half = (from_passes * from_passes + from_sample).sqrt();
            // A time that may be zero bounds no speed, so the fastest step does.
            let fastest = mean_times.iter().copied().fold(f64::INFINITY, f64::min);
            (1e9 / (time + half), 1e9 / (time - half).max(fastest.min(time)))
        });
        Some(Self {
            pattern: curve.test.pattern,
            op: curve.op,
            bytes_per_s: 1e9 / time,
            range,
            zeros_bytes_per_s: 1e9 / mean_times[0],
        })
    }

    pub(super) fn matches(&self, curve: &Curve) -> bool {
        (self.pattern, self.op) == (curve.test.pattern, curve.op)
    }

    fn share_of_zeros(&self) -> f64 {
        100.0 * self.bytes_per_s / self.zeros_bytes_per_s
    }

    pub(super) fn rate(&self) -> Rate {
        Rate(self.bytes_per_s)
    }

    /// `rated`: the rated speed, in bytes a second.
    pub(super) fn answer(&self, rated: Option<f64>) -> Answer {
        let of_zeros = Share(self.share_of_zeros() / 100.0);
        let mut answer = wording::expected(self.pattern, self.op, self.rate(), of_zeros)
            .with_evidence(wording::zeros_speed(Rate(self.zeros_bytes_per_s)));
        if let Some(rated) = rated {
            answer = answer.with_evidence(wording::of_rated(Rate(rated), Share(self.bytes_per_s / rated)));
        }
        match self.range {
            Some((low, high)) => answer.estimate(self.bytes_per_s, low, high, "bytes/s"),
            None => answer.caveat(wording::measured_once()),
        }
    }

    pub(super) fn row(&self, rated: Option<f64>) -> ExpectedRow {
        ExpectedRow {
            pattern: self.pattern,
            op: self.op,
            bytes_per_s: self.bytes_per_s,
            bytes_per_s_low: self.range.map(|(low, _)| low),
            bytes_per_s_high: self.range.map(|(_, high)| high),
            share_of_zeros_percent: self.share_of_zeros(),
            advertised_bytes_per_s: rated,
            share_of_advertised_percent: rated.map(|metric| 100.0 * self.bytes_per_s / metric),
        }
    }
}

/// The time a byte takes at a share between the steps.
fn time_at(times: &[f64], share: f64) -> f64 {
    let place = share.clamp(0.0, 1.0) * (times.len() - 1) as f64;
    let (below, above) = (times[place.floor() as usize], times[place.ceil() as usize]);
    below + (above - below) * place.fract()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn between_steps_time_is_in_proportion() {
        let times = [2.0, 4.0, 10.0];
        for (share, time) in [(0.0, 2.0), (0.25, 3.0), (0.5, 4.0), (0.75, 7.0), (1.0, 10.0), (1.5, 10.0)] {
            assert_eq!(time_at(&times, share), time);
        }
    }
}
