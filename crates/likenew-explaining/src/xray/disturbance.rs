//! What disturbs an X-ray: how steady a drive answered, and what others asked of it.

use likenew_core::quantity::{Factor, Share};

use super::background_io::BackgroundIo;
use super::wording::Disturbance;

/// An I/O of more than so many medians is an outlier.
pub(super) const OUTLIER: f64 = 4.0;
/// A spread between rounds, a share of outliers, and one of reads that had waited, above which a drive is called busy.
const SPREAD_MAX: f64 = 0.05;
const OUTLIERS_MAX: f64 = 0.01;
/// The share of outliers among reads of one place, of which nothing of the drive's own makes any.
pub(super) const RARE_MAX: f64 = 1e-4;
const WAITED_MAX: f64 = 0.05;

/// How steady a drive answers.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Noise {
    /// By how much equal rounds differ beyond what the drive's own spread explains, as a share of their median: one standard
    /// deviation.
    pub(super) spread: f64,
    /// Share of I/Os that took more than four medians, and more than the drive's own spread explains: the lower end of its
    /// 90 % interval, as few tell little.
    pub(super) outliers: f64,
    /// The same of reads of one place alone.
    pub(super) rare: f64,
    /// The same of reads of one place that took half as long again as usual.
    pub(super) wait_share: f64,
    /// The drive's own spread: the standard deviation of the logarithm of the latency of reading one place, as its lower half
    /// shows it, which nobody else's I/O makes wider.
    pub(super) log_deviation: f64,
    /// The same as the upper half shows it, which everything makes wider.
    pub(super) upper: f64,
    /// The median latency of reading one place, in nanoseconds.
    pub(super) typical_ns: f64,
    /// What others asked of the drive meanwhile.
    pub(super) background_io: BackgroundIo,
}

impl Noise {
    /// Whether something else than the drive decides how long an I/O takes.
    pub(super) fn is_busy(&self) -> bool {
        !self.disturbances().is_empty()
    }

    /// What says so.
    fn disturbances(&self) -> Vec<Disturbance> {
        let outliers = self.outliers.max(self.rare);
        let disturbances = [
            (self.spread > SPREAD_MAX).then_some(Disturbance::Rounds(Share(self.spread))),
            (self.outliers > OUTLIERS_MAX || self.rare > RARE_MAX)
                .then_some(Disturbance::Outliers { share: Share(outliers), factor: Factor(OUTLIER) }),
            (self.wait_share > WAITED_MAX).then_some(Disturbance::SlowReads(Share(self.wait_share))),
            self.background_io.disturb().then(|| self.background_io.disturbance()),
        ];
        disturbances.into_iter().flatten().collect()
    }
}

/// What disturbs an X-ray: how the drive answered, and `background_io` that a later test met.
pub(super) fn disturbances(noise: Option<&Noise>, background_io: Option<BackgroundIo>) -> Vec<Disturbance> {
    let mut disturbances = noise.map(Noise::disturbances).unwrap_or_default();
    let is_known = noise.is_some_and(|noise| noise.background_io.disturb());
    disturbances.extend(background_io.filter(|_| !is_known).map(|background_io| background_io.disturbance()));
    disturbances
}
