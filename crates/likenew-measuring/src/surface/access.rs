//! Access time: random I/Os at QD1, and whether the distance between them matters.

use likenew_core::answer::{Action, Answer};
use likenew_core::io::{Op, Outcome};
use likenew_core::mix::Mix;
use likenew_core::quantity::Latency;
use likenew_core::segment::Segment;
use likenew_stats::interval::{CONFIDENCE_95, Interval, mean_interval};
use likenew_stats::rank_correlation::{Correlation, PAIRS_MIN, rank_correlation};
use likenew_stats::summary::{maximum, mean, median, minimum};

use super::access_sample::{AccessMetric, AccessSample};
use super::curve::Curve;
use super::seek_profile::SeekProfile;
use super::tracks::Tracks;
use super::wording;

/// Rank correlation below which distance explains no more than its square, 4%, of the order of latencies; our
/// choice.
const MATTERS: f64 = 0.2;

/// The result of the probes.
pub(super) struct Access {
    pub(super) probes: Vec<AccessSample>,
    pub(super) mean_ns: f64,
    interval: Option<Interval>,
    correlation: Option<Correlation>,
    seek_profile: Option<SeekProfile>,
    writes: bool,
}

impl Access {
    /// `small` is one block again and again, from the drive's cache. `None` if no probe succeeded.
    pub(super) fn new(probes: &Segment, small: Option<&Segment>, curve: &Curve<'_>, op: Mix) -> Option<Self> {
        let probes = ways(probes);
        let latencies: Vec<f64> = probes.iter().map(|probe| probe.latency_ns).collect();
        let distances: Vec<f64> = probes.iter().map(AccessSample::distance).collect();
        let mut access = Self {
            mean_ns: mean(&latencies)?,
            interval: mean_interval(&latencies, CONFIDENCE_95),
            correlation: rank_correlation(&distances, &latencies),
            seek_profile: None,
            writes: op == Mix::Only(Op::Write),
            probes,
        };
        // A write ends in the drive's cache before the heads move.
        if access.is_disk() && !access.writes {
            let least = minimum(&latencies)?;
            let command = small.map(|small| small.latencies().quantile(0.5).0 as f64);
            // A drive whose cache does not answer needs a revolution for each, which is no overhead.
            let command = command.filter(|command| *command > 0.0 && *command < least);
            access.seek_profile = SeekProfile::fit(&access.probes, &Tracks::new(curve), command);
        }
        Some(access)
    }

    /// Whether longer distances take longer, as only moving parts do.
    pub(super) fn is_disk(&self) -> bool {
        self.correlation.is_some_and(|correlation| correlation.interval.low > MATTERS)
    }

    /// `more_accesses` decides what too few accesses leave open.
    pub(super) fn answers(&self, more_accesses: &Action) -> Vec<Answer> {
        let mut answers = vec![self.distance(more_accesses)];
        answers.extend(self.seek_profile.as_ref().map(|profile| profile.answer(more_accesses)));
        answers
    }

    /// Whether enough probes took the same time, to the nanosecond, that there is no order in them.
    fn is_constant(&self) -> bool {
        let same = |pair: &[AccessSample]| pair[0].latency_ns == pair[1].latency_ns;
        self.probes.len() >= PAIRS_MIN && self.probes.windows(2).all(same)
    }

    fn distance(&self, more_accesses: &Action) -> Answer {
        let (mean, probes) = (Latency(self.mean_ns), self.probes.len());
        let mut answer = match self.correlation {
            Some(of) if of.interval.low > MATTERS => wording::access_grows_with_distance(mean),
            Some(of) if of.interval.low > -MATTERS && of.interval.high < MATTERS => {
                wording::access_ignores_distance(mean)
            }
            None if self.is_constant() => wording::access_ignores_distance(mean)
                .with_evidence(wording::all_accesses_take_the_same(probes)),
            _ => wording::access_is_open(mean, probes).action(more_accesses.clone()),
        };
        if let Some(Correlation { value, interval }) = self.correlation {
            answer = answer.with_evidence(wording::rank_correlation(value, interval, probes));
        }
        if let Some(Interval { low, high }) = self.interval {
            answer = answer.estimate(self.mean_ns, low.max(0.0), high, "ns");
        }
        if self.writes { answer.caveat(wording::WRITES_END_IN_MEMORY) } else { answer }
    }

    /// The rows of the table.
    pub(super) fn metrics(&self) -> Vec<AccessMetric> {
        let latencies: Vec<f64> = self.probes.iter().map(|probe| probe.latency_ns).collect();
        let mut metrics = vec![AccessMetric::new("mean access time", "ns", self.mean_ns, self.interval)];
        let extremes = [
            ("shortest access", minimum(&latencies)),
            ("median access", median(&latencies)),
            ("max access time", maximum(&latencies)),
        ];
        metrics.extend(
            extremes.into_iter().filter_map(|(name, value)| Some(AccessMetric::once(name, "ns", value?))),
        );
        metrics.extend(self.correlation.map(|Correlation { value, interval }| {
            AccessMetric::new(wording::RANK_CORRELATION, "1", value, Some(interval))
        }));
        metrics.extend(self.seek_profile.iter().flat_map(SeekProfile::metrics));
        metrics
    }
}

/// Each probe after the first, with its distance from the end of the one before it.
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
