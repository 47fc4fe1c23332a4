//! All measurements of a drive that may show why it is slow, each a number with its 90% interval, and those
//! that are compared with the normal range of its design.

use serde::{Deserialize, Serialize};
use statrs::distribution::{ContinuousCDF as _, Normal};

use super::Metric;

/// The measurements. An absent one was not made, or could not be.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Measurements {
    /// The metrics that drives are sold by.
    pub metrics: Vec<(Metric, Measured)>,
    /// The fastest sequential reads of all, in bytes a second.
    pub fastest_read: Option<Measured>,
    /// Latency of a small random read, in nanoseconds: a seek takes milliseconds.
    pub access_ns: Option<Measured>,
    /// Rate of reading data just written over that of old data.
    pub new_over_old_data: Option<Measured>,
    /// The same for small reads at QD1.
    pub new_over_old_data_random: Option<Measured>,
    /// Rate of the median region over that of the slowest tenth.
    pub median_over_slowest: Option<Measured>,
    /// Rate of the first regions over that of the last ones.
    pub first_over_last: Option<Measured>,
    /// Rate of slow regions read again over that of the first time.
    pub repeat_over_first: Option<Measured>,
    /// Latency of a small read anywhere over that of one within a few MiB.
    pub wide_over_narrow: Option<Measured>,
    /// IOPS of small reads at QD32 over those at QD1.
    pub deep_over_single: Option<Measured>,
    /// Extra latency of a read after a pause over that of a read right after another one.
    pub idle_over_busy: Option<Measured>,
    /// Latency of a small write at multiples of 4 KiB over that of a shifted one, if that is shorter.
    pub aligned_over_shifted: Option<Measured>,
    /// Rate of writing zeros over that of random data.
    pub zeros_over_random: Option<Measured>,
    /// Rate of writing the same addresses again, sequentially, over their first write. They count from where
    /// first writes became slow; absent if none beyond that was written again.
    pub rewritten_over_first: Option<Measured>,
    /// The same after TRIM.
    pub trimmed_over_first: Option<Measured>,
    /// Rate of writing the same addresses again after TRIM and a rest, over that after a rest alone.
    pub trimmed_over_rested: Option<Measured>,
    /// The same ratio if TRIM only gave back a cache that the check itself had filled, which is no gain by TRIM.
    pub cache_trimmed: Option<Measured>,
    /// A lasting drop of sequential writes, if there was one.
    pub write_cliff: Option<WriteCliff>,
    /// Bytes written sequentially without any drop.
    pub steady_written_bytes: Option<f64>,
    /// Variation of the speed of sequential reads over time, as standard deviation over mean.
    pub read_scatter: Option<Measured>,
    /// Share of the time in which the drive stalled.
    pub stalled_share: Option<Measured>,
    /// Rate of the same reads after a rest over that after seconds of load, if they were fast at first.
    pub rested_over_loaded: Option<Measured>,
    /// IOPS of the flat end of a long run of small I/Os, if that was steadier than any medium.
    pub flat_iops: Option<Measured>,
    /// Rate at the beginning of such a run over that at its end.
    pub burst_over_flat: Option<Measured>,
    /// The same ratio of long sequential reads.
    pub load_burst_over_flat: Option<Measured>,
    /// Share of the time that I/Os of other programs would take at QD1, while nothing is measured.
    pub background_share: Option<Measured>,
    /// Bytes that the drive counted over those that the measurement read.
    pub counted_over_read: Option<Measured>,
    /// CPU cores that the kernel kept busy during sequential reads.
    pub kernel_processors: Option<Measured>,
    /// I/Os that the drive refused.
    pub errors: u64,
    /// Sectors that did not read back as written.
    pub wrong_sectors: u64,
}

/// A lasting drop in the speed of sequential writes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WriteCliff {
    /// Bytes written until then.
    pub at_bytes: Measured,
    /// Speed before over speed after.
    pub ratio: Measured,
    /// Bytes written after a rest until the same drop; absent if that was not tried or there was none.
    pub again_at_bytes: Option<Measured>,
    /// Bytes before the drop at half the write rate over those at full speed: 1 if bytes count, 0.5 if time
    /// counts.
    pub at_half_rate: Option<Measured>,
}

impl Measurements {
    /// How much faster addresses are when they are written again, after TRIM or without: the larger ratio.
    pub fn gain_by_writing(&self) -> Option<Measured> {
        let both = [self.rewritten_over_first, self.trimmed_over_first].into_iter().flatten();
        both.max_by(|one, other| one.low.total_cmp(&other.low))
    }

    /// A metric, if it was measured.
    pub fn metric(&self, metric: Metric) -> Option<Measured> {
        self.metrics.iter().find(|(known, _)| *known == metric).map(|(_, measurement)| *measurement)
    }
}

/// A number that may also be high on a healthy drive of another design, so it is compared with the normal
/// range of this one. Greater is worse.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Indicator {
    /// [`Measurements::new_over_old_data`].
    NewOverOldData,
    /// [`Measurements::new_over_old_data_random`].
    NewOverOldDataRandom,
    /// [`Measurements::median_over_slowest`].
    MedianOverSlowest,
    /// [`Measurements::repeat_over_first`].
    RepeatOverFirst,
    /// [`Measurements::wide_over_narrow`].
    WideOverNarrow,
    /// [`Measurements::idle_over_busy`].
    IdleOverBusy,
    /// [`Measurements::aligned_over_shifted`].
    AlignedOverShifted,
    /// The ratio of [`Measurements::write_cliff`].
    WriteCliff,
    /// [`Measurements::rested_over_loaded`].
    RestedOverLoaded,
    /// [`Measurements::burst_over_flat`].
    BurstOverFlat,
    /// [`Measurements::read_scatter`].
    ReadScatter,
    /// [`Measurements::stalled_share`].
    StalledShare,
}

impl Indicator {
    /// All of them.
    pub const ALL: [Self; 12] = [
        Self::NewOverOldData,
        Self::NewOverOldDataRandom,
        Self::MedianOverSlowest,
        Self::RepeatOverFirst,
        Self::WideOverNarrow,
        Self::IdleOverBusy,
        Self::AlignedOverShifted,
        Self::WriteCliff,
        Self::RestedOverLoaded,
        Self::BurstOverFlat,
        Self::ReadScatter,
        Self::StalledShare,
    ];

    /// The measured value.
    pub fn value_in(self, measurements: &Measurements) -> Option<Measured> {
        match self {
            Self::NewOverOldData => measurements.new_over_old_data,
            Self::NewOverOldDataRandom => measurements.new_over_old_data_random,
            Self::MedianOverSlowest => measurements.median_over_slowest,
            Self::RepeatOverFirst => measurements.repeat_over_first,
            Self::WideOverNarrow => measurements.wide_over_narrow,
            Self::IdleOverBusy => measurements.idle_over_busy,
            Self::AlignedOverShifted => measurements.aligned_over_shifted,
            Self::WriteCliff => measurements.write_cliff.map(|drop| drop.ratio),
            Self::RestedOverLoaded => measurements.rested_over_loaded,
            Self::BurstOverFlat => measurements.burst_over_flat,
            Self::ReadScatter => measurements.read_scatter,
            Self::StalledShare => measurements.stalled_share,
        }
    }

    /// Its smallest possible value: 1 for a ratio, 0 for a share.
    pub fn least(self) -> f64 {
        match self {
            Self::ReadScatter | Self::StalledShare => 0.0,
            _ => 1.0,
        }
    }
}

/// A positive measured number. Its interval contains the truth in nine of ten cases.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Measured {
    /// The best single value, above 0.
    pub value: f64,
    /// Lower end, above 0.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

/// Half the width of the interval that holds nine of ten values of a normal distribution, in standard
/// deviations.
const HALF_WIDTH: f64 = 1.644_853_626_951_472;
/// Smallest error of a measurement of a drive, as a share. Chosen: no drive repeats better.
const DEVIATION_LEAST: f64 = 0.005;

impl Measured {
    /// A number and the ends of its interval.
    ///
    /// # Panics
    /// When it is not 0 < low ≤ value ≤ high.
    pub fn new(value: f64, low: f64, high: f64) -> Self {
        assert!(
            0.0 < low && low <= value && value <= high,
            "{low} .. {value} .. {high} is no interval of a measurement"
        );
        Self { value, low, high }
    }

    /// A number whose interval is this share of it to either side.
    ///
    /// # Panics
    /// When the number is not above 0, or the share is not from 0 up to 1.
    pub fn with_interval(value: f64, share: f64) -> Self {
        assert!((0.0..1.0).contains(&share), "{share} is no share");
        Self::new(value, value * (1.0 - share), value * (1.0 + share))
    }

    /// This over another one. Both are taken as independent and their logarithms as normal, so that the
    /// widths add up as squares.
    #[must_use]
    pub fn divide_by(self, other: Self) -> Self {
        let half = HALF_WIDTH * self.deviation().hypot(other.deviation());
        let value = self.value / other.value;
        Self::new(value, value * (-half).exp(), value * half.exp())
    }

    /// 1 over this.
    #[must_use]
    pub fn inverse(self) -> Self {
        Self::new(1.0 / self.value, 1.0 / self.high, 1.0 / self.low)
    }

    /// The same number in another unit.
    ///
    /// # Panics
    /// When the factor is not above 0.
    #[must_use]
    pub fn scale_by(self, factor: f64) -> Self {
        Self::new(self.value * factor, self.low * factor, self.high * factor)
    }

    /// Widens the interval for a true value that varies between measurements, with this standard deviation of
    /// its logarithm.
    #[must_use]
    pub fn with_scatter(self, deviation: f64) -> Self {
        let half = HALF_WIDTH * self.deviation().hypot(deviation);
        Self::new(self.value, self.value * (-half).exp(), self.value * half.exp())
    }

    /// The probability that the true value is above a threshold, with a normal logarithm.
    pub fn chance_above(self, threshold: f64) -> f64 {
        let distance = (self.value / threshold).ln() / self.deviation();
        Normal::standard().cdf(distance)
    }

    /// The standard deviation of its logarithm.
    fn deviation(self) -> f64 {
        ((self.high / self.low).ln() / (2.0 * HALF_WIDTH)).max(DEVIATION_LEAST)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wide_range_leaves_doubt_and_a_narrow_one_none() {
        let (narrow, wide) = (Measured::with_interval(1.2, 0.02), Measured::new(1.2, 0.6, 2.4));
        assert!(narrow.chance_above(1.1) > 0.999 && narrow.chance_above(1.3) < 0.001);
        assert!((0.55..0.65).contains(&wide.chance_above(1.1)), "{}", wide.chance_above(1.1));
        assert!((wide.chance_above(1.2) - 0.5).abs() < 1e-9);
        // One in twenty lies above the upper end.
        assert!((wide.chance_above(2.4) - 0.05).abs() < 1e-3);
    }

    #[test]
    fn what_is_another_number_each_time_is_less_certain() {
        let once = Measured::with_interval(0.6, 0.03);
        assert!(once.chance_above(0.85) < 1e-6);
        assert!(once.with_scatter(0.05).chance_above(0.85) < 1e-3);
        assert!((0.2..0.3).contains(&once.with_scatter(0.5).chance_above(0.85)));
        assert!((once.with_scatter(0.0).high / once.high - 1.0).abs() < 1e-3);
    }

    #[test]
    fn ratios_are_as_wide_as_both_together() {
        let ratio = Measured::with_interval(10.0, 0.1).divide_by(Measured::with_interval(5.0, 0.1));
        assert!((ratio.value - 2.0).abs() < 1e-12);
        assert!(ratio.low > 1.7 && ratio.low < 1.76 && ratio.high < 2.32 && ratio.high > 2.27, "{ratio:?}");
        let same = Measured::with_interval(3.0, 0.0);
        assert!(same.divide_by(same).chance_above(0.98) > 0.99);
    }
}
