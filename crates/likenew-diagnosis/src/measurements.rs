//! All measurements of a drive that may show why it is slow, and those that are compared with the normal range of
//! its design.

use serde::{Deserialize, Serialize};

use super::{Measured, Metric};

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
    /// Rate of slow regions when they are read again over the first time.
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
    /// Rate of writing places again, sequentially, over their first writes, from where those had become slow on; absent if nothing
    /// beyond that was written again.
    pub rewritten_over_first: Option<Measured>,
    /// The same after TRIM.
    pub trimmed_over_first: Option<Measured>,
    /// Rate of writing places again after TRIM and a rest, over a rest alone.
    pub trimmed_over_rested: Option<Measured>,
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
    /// Share of the time for I/Os of other programs at QD1, while nothing is measured.
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
    /// How much faster places became by being written again, by TRIM or without: the larger ratio.
    pub fn gain_by_writing(&self) -> Option<Measured> {
        let both = [self.rewritten_over_first, self.trimmed_over_first].into_iter().flatten();
        both.max_by(|one, other| one.low.total_cmp(&other.low))
    }

    /// A metric, if it was measured.
    pub fn metric(&self, metric: Metric) -> Option<Measured> {
        self.metrics.iter().find(|(of, _)| *of == metric).map(|(_, measurement)| *measurement)
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
