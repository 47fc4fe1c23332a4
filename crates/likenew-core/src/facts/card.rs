//! What an SD card or an eMMC reports of itself (Documentation/driver-api/mmc/mmc-dev-attrs.rst of the Linux
//! sources).

use serde::{Deserialize, Serialize};

use super::Fact;

/// What a card reports.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Card {
    /// `SD` or `MMC`.
    #[serde(skip_serializing_if = "Fact::is_not_queried")]
    pub kind: Fact<String>,
    /// Product name.
    #[serde(skip_serializing_if = "Fact::is_not_queried")]
    pub name: Fact<String>,
    /// Number of the maker.
    #[serde(skip_serializing_if = "Fact::is_not_queried")]
    pub maker: Fact<u32>,
    /// Number of the brand that sells it.
    #[serde(skip_serializing_if = "Fact::is_not_queried")]
    pub maker_for: Fact<u32>,
    /// Month and year in which it was made.
    #[serde(skip_serializing_if = "Fact::is_not_queried")]
    pub manufacture_date: Fact<String>,
    /// Its preferred unit to erase and write: the allocation unit of an SD card.
    #[serde(skip_serializing_if = "Fact::is_not_queried")]
    pub allocation_unit_bytes: Fact<u64>,
    /// Whether it takes several commands at once.
    #[serde(skip_serializing_if = "Fact::is_not_queried")]
    pub queues_commands: Fact<bool>,
    /// How it is clocked: `sd high speed`, `mmc HS200` …
    #[serde(skip_serializing_if = "Fact::is_not_queried")]
    pub timing: Fact<String>,
}
