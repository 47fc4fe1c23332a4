//! How much of a drive is in use as the drive itself sees it, and in which units it should be written.

use serde::{Deserialize, Serialize};

use super::Fact;

/// What a drive holds, as it reports.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Space {
    /// Bytes that the drive counts as in use (NVMe's NUSE); unknown where it reports its size instead.
    #[serde(skip_serializing_if = "Fact::is_not_queried")]
    pub allocated_bytes: Fact<u64>,
    /// Whether the drive reports another block size as better than the one in use.
    #[serde(skip_serializing_if = "Fact::is_not_queried")]
    pub better_block_bytes: Fact<u64>,
    /// Zones that must be written sequentially.
    pub zones: Zones,
}

/// Zones, of drives that have them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Zones {
    /// `none`, `host-aware`, `host-managed`. A drive-managed shingled disk reports `none`.
    #[serde(skip_serializing_if = "Fact::is_not_queried")]
    pub model: Fact<String>,
    /// Bytes of a zone.
    #[serde(skip_serializing_if = "Fact::is_not_queried")]
    pub zone_bytes: Fact<u64>,
}
