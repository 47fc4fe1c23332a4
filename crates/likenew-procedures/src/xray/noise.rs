//! How steady a drive answers when it is asked the same again and again: what is not the drive's own doing shows here.

use likenew_core::segment::Segment;
use likenew_core::units::Nanos;
use likenew_core::until::Until;
use likenew_core::verdict::{Standing, Verdict};
use likenew_core::workload::Workload;
use likenew_stats::summary::{median, median_absolute_deviation};

use super::finding::Finding;
use super::probe::Probe;
use super::scene::{Scene, random_reads};

pub(super) const NAME: &str = "noise";

/// So many times the same place is read for so long.
const ROUNDS: usize = 8;
const ROUND: Nanos = Nanos::from_millis(200);
const IOS_MAX: u32 = 4096;
/// An I/O of more than so many medians is an outlier.
const OUTLIER: f64 = 4.0;
/// A spread between rounds, or a share of outliers, above which a drive is called busy.
const SPREAD_MAX: f64 = 0.05;
const OUTLIERS_MAX: f64 = 0.01;

/// How steady a drive answers.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Noise {
    /// Spread of the medians of equal rounds, as a share of their median: the standard deviation that the median absolute deviation
    /// stands for.
    pub(super) spread: f64,
    /// Share of I/Os that took more than four medians.
    pub(super) outliers: f64,
}

impl Noise {
    /// Whether something else than the drive decides how long an I/O takes.
    pub(super) fn is_busy(&self) -> bool {
        self.spread > SPREAD_MAX || self.outliers > OUTLIERS_MAX
    }
}

/// Reads one place again and again.
pub(super) struct NoiseProbe;

impl Probe for NoiseProbe {
    fn name(&self) -> &'static str {
        NAME
    }

    fn next(&self, scene: &Scene<'_>) -> Option<Workload> {
        let block = scene.block().max(4096);
        let stream = random_reads(0..u64::from(block), block, 1);
        let until = Until { elapsed: Some(ROUND), ..Until::ops(u64::from(IOS_MAX)) };
        let workload = Workload::new(format!("round {}", scene.own.len() + 1), until, vec![stream]);
        (scene.own.len() < ROUNDS).then_some(Workload { samples: IOS_MAX, ..workload })
    }

    fn find(&self, scene: &Scene<'_>) -> Finding {
        let Some(noise) = noise(&scene.own) else { return Finding::default() };
        let verdict = noise.is_busy().then(|| {
            let Noise { spread, outliers } = noise;
            Verdict::new("Something disturbs what is measured: the drive is in use, or does not answer steadily.", Standing::Holds)
                .because(format!(
                    "the same place read again and again took {:.1} % more or less from round to round, and {:.2} % of the reads more than {OUTLIER} times as long as usual",
                    spread * 100.0,
                    outliers * 100.0
                ))
                .caveat("intervals are wider than they had to be, and what does not stand out is undecided: measure again when nobody else uses the drive")
        });
        Finding { verdicts: verdict.into_iter().collect(), noise: Some(noise), ..Finding::default() }
    }
}

fn noise(rounds: &[&Segment]) -> Option<Noise> {
    let latencies = |segment: &Segment| -> Vec<f64> {
        segment.samples.iter().map(|sample| sample.latency().0 as f64).collect()
    };
    let rounds: Vec<Vec<f64>> = rounds.iter().map(|round| latencies(round)).collect();
    let medians: Vec<f64> = rounds.iter().filter_map(|round| median(round)).collect();
    let usual = median(&medians).filter(|usual| *usual > 0.0)?;
    // 1.4826 times the median absolute deviation estimates the standard deviation of a normal distribution.
    let spread = 1.4826 * median_absolute_deviation(&medians)? / usual;
    let all: Vec<f64> = rounds.concat();
    let outliers = all.iter().filter(|latency| **latency > OUTLIER * usual).count() as f64 / all.len() as f64;
    Some(Noise { spread, outliers })
}
