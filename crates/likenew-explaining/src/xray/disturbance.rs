//! What disturbs an X-ray: how steady a drive answered, and what others asked of it.

use likenew_core::quantity::{Factor, Share};

use super::background_io::BackgroundIo;
use super::wording::Disturbance;

/// Multiple of the median above which an I/O is an outlier. Chosen: above the spread of steady drives.
pub(super) const OUTLIER: f64 = 4.0;
/// Spread between rounds, as a share, above which the drive counts as busy. Chosen: twice what quiet drives
/// show.
const SPREAD_MAX: f64 = 0.05;
const OUTLIERS_MAX: f64 = 0.01;
/// The same for reads of one address, where a drive by itself makes no outliers. Chosen: one in ten thousand.
pub(super) const RARE_MAX: f64 = 1e-4;
const WAITED_MAX: f64 = 0.05;

/// How steady a drive answers.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Noise {
    /// How much equal rounds differ beyond the drive's own spread, as a share of their median: one standard
    /// deviation.
    pub(super) spread: f64,
    /// Share of I/Os that took more than four medians, and more than the drive's own spread explains: the
    /// lower end of its 90% interval, because few I/Os show little.
    pub(super) outliers: f64,
    /// The same for reads of one address only.
    pub(super) rare: f64,
    /// The same for reads of one address that took more than 1.5 medians.
    pub(super) wait_share: f64,
    /// The drive's own spread: standard deviation of the logarithm of latencies of one address, from their
    /// lower half, which no other I/O widens.
    pub(super) log_deviation: f64,
    /// The same from their upper half, which every disturbance widens.
    pub(super) upper: f64,
    /// Median latency of reads of one address, in nanoseconds.
    pub(super) typical_ns: f64,
    /// I/Os of other programs during the test.
    pub(super) background_io: BackgroundIo,
}

impl Noise {
    /// Whether something other than the drive affects latencies.
    pub(super) fn is_busy(&self) -> bool {
        !self.disturbances().is_empty()
    }

    /// The disturbances that show it.
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

/// What disturbs an X-ray: the noise of the drive, and `background_io` that a later test met.
pub(super) fn disturbances(noise: Option<&Noise>, background_io: Option<BackgroundIo>) -> Vec<Disturbance> {
    let mut disturbances = noise.map(Noise::disturbances).unwrap_or_default();
    let is_known = noise.is_some_and(|noise| noise.background_io.disturb());
    disturbances.extend(background_io.filter(|_| !is_known).map(|background_io| background_io.disturbance()));
    disturbances
}
