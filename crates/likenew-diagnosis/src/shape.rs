//! What the curves of a drive look like, each as one number.

use serde::{Deserialize, Serialize};

use super::{Sign, Signs};

/// A number that a healthy drive of another design may have as well, so that it is held against what is usual for this one. Greater is
/// worse.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Shape {
    /// [`Signs::fresh_over_old`].
    FreshOverOld,
    /// [`Signs::fresh_small_over_old`].
    FreshSmallOverOld,
    /// [`Signs::median_over_slowest`].
    MedianOverSlowest,
    /// [`Signs::again_over_first`].
    AgainOverFirst,
    /// [`Signs::wide_over_narrow`].
    WideOverNarrow,
    /// [`Signs::paused_over_busy`].
    PausedOverBusy,
    /// [`Signs::aligned_over_shifted`].
    AlignedOverShifted,
    /// The ratio of [`Signs::write_drop`].
    WriteDrop,
    /// [`Signs::cool_over_warm`].
    CoolOverWarm,
    /// [`Signs::burst_over_flat`].
    BurstOverFlat,
    /// [`Signs::read_scatter`].
    ReadScatter,
    /// [`Signs::stalled_share`].
    StalledShare,
}

impl Shape {
    /// All of them.
    pub const ALL: [Self; 12] = [
        Self::FreshOverOld,
        Self::FreshSmallOverOld,
        Self::MedianOverSlowest,
        Self::AgainOverFirst,
        Self::WideOverNarrow,
        Self::PausedOverBusy,
        Self::AlignedOverShifted,
        Self::WriteDrop,
        Self::CoolOverWarm,
        Self::BurstOverFlat,
        Self::ReadScatter,
        Self::StalledShare,
    ];

    /// What was measured of it.
    pub fn of(self, signs: &Signs) -> Option<Sign> {
        match self {
            Self::FreshOverOld => signs.fresh_over_old,
            Self::FreshSmallOverOld => signs.fresh_small_over_old,
            Self::MedianOverSlowest => signs.median_over_slowest,
            Self::AgainOverFirst => signs.again_over_first,
            Self::WideOverNarrow => signs.wide_over_narrow,
            Self::PausedOverBusy => signs.paused_over_busy,
            Self::AlignedOverShifted => signs.aligned_over_shifted,
            Self::WriteDrop => signs.write_drop.map(|drop| drop.ratio),
            Self::CoolOverWarm => signs.cool_over_warm,
            Self::BurstOverFlat => signs.burst_over_flat,
            Self::ReadScatter => signs.read_scatter,
            Self::StalledShare => signs.stalled_share,
        }
    }

    /// What there is of it where all is well: no ratio is below 1, and no share below 0.
    pub fn least(self) -> f64 {
        match self {
            Self::ReadScatter | Self::StalledShare => 0.0,
            _ => 1.0,
        }
    }
}
