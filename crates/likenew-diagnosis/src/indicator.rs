//! The form of a drive's curves, each as one number.

use serde::{Deserialize, Serialize};

use super::{Measured, Measurements};

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
