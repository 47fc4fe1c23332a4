//! What a drive reports of its present state: heat, wear, spare, errors. Its lifetime counters are in
//! [`super::Counts`].

use serde::{Deserialize, Serialize};

use super::Fact;

/// What a drive reports of its state.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Health {
    /// Whether it reports that it is failing: a threshold of SMART was crossed, or a critical warning of NVMe
    /// other than heat is set.
    #[serde(skip_serializing_if = "Fact::is_not_queried")]
    pub failing: Fact<bool>,
    /// Warnings in words; none where it warns of nothing.
    #[serde(skip_serializing_if = "Fact::is_not_queried")]
    pub warnings: Fact<Vec<String>>,
    /// Whether it refuses writes.
    #[serde(skip_serializing_if = "Fact::is_not_queried")]
    pub read_only: Fact<bool>,
    /// Composite temperature.
    #[serde(skip_serializing_if = "Fact::is_not_queried")]
    pub temperature_c: Fact<f64>,
    /// Temperature from which it warns of heat (WCTEMP of NVMe).
    #[serde(skip_serializing_if = "Fact::is_not_queried")]
    pub temperature_warning_c: Fact<f64>,
    /// Temperature from which heat is critical (CCTEMP of NVMe).
    #[serde(skip_serializing_if = "Fact::is_not_queried")]
    pub temperature_critical_c: Fact<f64>,
    /// Whether it is throttling because of heat now.
    #[serde(skip_serializing_if = "Fact::is_not_queried")]
    pub throttling: Fact<bool>,
    /// Percentage of the rated endurance that is used; may exceed 100. For eMMC the upper end of the reported
    /// step.
    #[serde(skip_serializing_if = "Fact::is_not_queried")]
    pub used_percent: Fact<f64>,
    /// Spare blocks that are left, in percent of the original ones.
    #[serde(skip_serializing_if = "Fact::is_not_queried")]
    pub spare_percent: Fact<f64>,
    /// Percentage of spare from which the drive warns.
    #[serde(skip_serializing_if = "Fact::is_not_queried")]
    pub spare_threshold_percent: Fact<f64>,
    /// Sectors waiting to be read or reallocated (SMART 197).
    #[serde(skip_serializing_if = "Fact::is_not_queried")]
    pub pending_sectors: Fact<u64>,
    /// Attributes of SMART as they are.
    #[serde(skip_serializing_if = "Fact::is_not_queried")]
    pub attributes: Fact<Vec<Attribute>>,
}

/// An attribute of SMART. Each maker decides what it counts, and in which unit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Attribute {
    /// Its number.
    pub id: u8,
    /// Its normalized value.
    pub value: u8,
    /// The lowest it was.
    pub worst: u8,
    /// The threshold that predicts failure; 0 if none does.
    pub threshold: u8,
    /// Six bytes of the maker's own.
    pub raw: u64,
    /// Whether it predicts failure, rather than counting use.
    pub prefail: bool,
}

impl Attribute {
    /// Whether it has come down to its threshold (ATA8-ACS, SMART; 0, 254 and 255 are no values).
    pub fn has_failed(&self) -> bool {
        self.threshold > 0 && (1..=253).contains(&self.value) && self.value <= self.threshold
    }
}
