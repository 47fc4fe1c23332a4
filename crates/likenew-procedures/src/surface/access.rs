//! Access time: single random I/Os one after the other, and what the way between them has to do with it.

use likenew_core::io::{Op, Outcome};
use likenew_core::mix::Mix;
use likenew_core::segment::Segment;
use likenew_core::units::Nanos;
use likenew_core::verdict::{Standing, Verdict};
use likenew_stats::interval::{Interval, mean_interval};
use likenew_stats::rank_correlation::{Correlation, PAIRS_MIN, rank_correlation};
use likenew_stats::summary::{maximum, mean, median, minimum};
use serde::Serialize;

use super::curve::Curve;
use super::seek_profile::SeekProfile;
use super::tracks::Tracks;

/// Below this rank correlation the way explains no more than a twenty-fifth of the order of latencies.
const MATTERS: f64 = 0.2;
const CONFIDENCE: f64 = 0.95;

/// One I/O, and the way to it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct AccessSample {
    /// The end of the I/O before it.
    pub(super) from: u64,
    pub(super) offset: u64,
    pub(super) length: u32,
    pub(super) latency_ns: f64,
}

impl AccessSample {
    /// Bytes of address space between the two.
    pub(super) fn distance(&self) -> f64 {
        self.offset.abs_diff(self.from) as f64
    }
}

/// What the probes say.
pub(super) struct Access {
    pub(super) probes: Vec<AccessSample>,
    pub(super) mean_ns: f64,
    interval: Option<Interval>,
    correlation: Option<Correlation>,
    seek_profile: Option<SeekProfile>,
    writes: bool,
}

/// A row of the table of access.
#[derive(Serialize)]
pub(super) struct AccessMetric {
    metric: &'static str,
    unit: &'static str,
    value: f64,
    value_low: Option<f64>,
    value_high: Option<f64>,
}

impl AccessMetric {
    pub(super) fn new(
        metric: &'static str,
        unit: &'static str,
        value: f64,
        interval: Option<Interval>,
    ) -> Self {
        let (value_low, value_high) =
            interval.map_or((None, None), |interval| (Some(interval.low), Some(interval.high)));
        Self { metric, unit, value, value_low, value_high }
    }

    /// One that was measured once, or an extreme.
    pub(super) fn once(metric: &'static str, unit: &'static str, value: f64) -> Self {
        Self::new(metric, unit, value, None)
    }
}

impl Access {
    /// `small` is one block again and again, from the drive's memory. `None` when no probe ended well.
    pub(super) fn new(probes: &Segment, small: Option<&Segment>, curve: &Curve<'_>, op: Mix) -> Option<Self> {
        let probes = ways(probes);
        let latencies: Vec<f64> = probes.iter().map(|probe| probe.latency_ns).collect();
        let distances: Vec<f64> = probes.iter().map(AccessSample::distance).collect();
        let mut access = Self {
            mean_ns: mean(&latencies)?,
            interval: mean_interval(&latencies, CONFIDENCE),
            correlation: rank_correlation(&distances, &latencies),
            seek_profile: None,
            writes: op == Mix::Only(Op::Write),
            probes,
        };
        // A write waits for memory, not for the arm.
        if access.is_disk() && !access.writes {
            let least = minimum(&latencies)?;
            let command = small.map(|small| small.latencies().quantile(0.5).0 as f64);
            // A drive whose memory does not answer takes a turn for each, and that is no overhead.
            let command = command.filter(|command| *command > 0.0 && *command < least);
            access.seek_profile = SeekProfile::fit(&access.probes, &Tracks::new(curve), command);
        }
        Some(access)
    }

    /// Whether a longer way takes longer, as only something that moves has it.
    pub(super) fn is_disk(&self) -> bool {
        self.correlation.is_some_and(|correlation| correlation.interval.low > MATTERS)
    }

    pub(super) fn verdicts(&self) -> Vec<Verdict> {
        let mut verdicts = vec![self.distance()];
        verdicts.extend(self.seek_profile.as_ref().map(SeekProfile::verdict));
        verdicts
    }

    /// Whether enough probes took one time, to the nanosecond, that no order can be in them.
    fn is_constant(&self) -> bool {
        let same = |pair: &[AccessSample]| pair[0].latency_ns == pair[1].latency_ns;
        self.probes.len() >= PAIRS_MIN && self.probes.windows(2).all(same)
    }

    fn distance(&self) -> Verdict {
        let sentence = self.correlation.map(|Correlation { value, interval: Interval { low, high } }| {
            let count = self.probes.len();
            format!(
                "the rank correlation of time and distance is {value:.2} ({low:.2} to {high:.2}) over {count} probes"
            )
        });
        let takes = Nanos(self.mean_ns as u64);
        let verdict = match self.correlation {
            Some(of) if of.interval.low > MATTERS => Verdict::new(
                format!(
                    "The longer the way, the longer the access: {takes} on average, as something has to move."
                ),
                Standing::Holds,
            ),
            Some(of) if of.interval.low > -MATTERS && of.interval.high < MATTERS => Verdict::new(
                format!("Distance does not matter: an access takes {takes} on average, wherever it goes."),
                Standing::Holds,
            ),
            None if self.is_constant() => Verdict::new(
                format!("Distance does not matter: an access takes {takes} wherever it goes."),
                Standing::Holds,
            )
            .with_evidence(format!("all {} probes took the same time", self.probes.len())),
            _ => Verdict::new("Distance does not matter to an access.", Standing::Undecided)
                .caveat("more probes would tell: --probes 1000"),
        };
        let verdict = sentence.into_iter().fold(verdict, Verdict::with_evidence);
        let verdict = match self.interval {
            Some(Interval { low, high }) => verdict.estimate(self.mean_ns, low.max(0.0), high, "ns"),
            None => verdict,
        };
        if self.writes {
            return verdict.caveat("a write is over when the drive's memory has it: reads show the way");
        }
        verdict
    }

    /// The rows of the table.
    pub(super) fn metrics(&self) -> Vec<AccessMetric> {
        let latencies: Vec<f64> = self.probes.iter().map(|probe| probe.latency_ns).collect();
        let mut metrics = vec![AccessMetric::new("mean access time", "ns", self.mean_ns, self.interval)];
        let extremes = [
            ("shortest access", minimum(&latencies)),
            ("median access", median(&latencies)),
            ("longest access", maximum(&latencies)),
        ];
        metrics.extend(
            extremes.into_iter().filter_map(|(name, value)| Some(AccessMetric::once(name, "ns", value?))),
        );
        metrics.extend(self.correlation.map(|Correlation { value, interval }| {
            AccessMetric::new("rank correlation with distance", "1", value, Some(interval))
        }));
        metrics.extend(self.seek_profile.iter().flat_map(SeekProfile::metrics));
        metrics
    }
}

/// Each probe after the first, with the way that it was: from the end of the one before it.
fn ways(segment: &Segment) -> Vec<AccessSample> {
    let pairs = segment.samples.windows(2).map(|pair| (&pair[0], &pair[1]));
    let ended = pairs.filter(|(_, probe)| probe.outcome == Outcome::Done);
    ended
        .map(|(before, probe)| AccessSample {
            from: before.offset + u64::from(before.length),
            offset: probe.offset,
            length: probe.length,
            latency_ns: probe.latency().0 as f64,
        })
        .collect()
}
