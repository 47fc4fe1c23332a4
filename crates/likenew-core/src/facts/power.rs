//! How host and drive save power, where that affects latency.

use serde::{Deserialize, Serialize};

use super::Fact;

/// Policies of power.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Power {
    /// Policy of the kernel for links of PCI Express (ASPM).
    #[serde(skip_serializing_if = "Fact::is_not_queried")]
    pub aspm_policy: Fact<String>,
    /// The longest wake-up that an NVMe drive may have by itself (APST); 0 switches it off.
    #[serde(skip_serializing_if = "Fact::is_not_queried")]
    pub wake_us_max: Fact<u64>,
    /// Policy for a SATA link: `max_performance`, `med_power_with_dipm` …
    #[serde(skip_serializing_if = "Fact::is_not_queried")]
    pub link_policy: Fact<String>,
    /// Whether the device may be suspended while it is idle: `on` (never) or `auto`.
    #[serde(skip_serializing_if = "Fact::is_not_queried")]
    pub runtime: Fact<String>,
}
