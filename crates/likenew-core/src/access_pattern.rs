//! Where the I/Os of a stream go.

use serde::{Deserialize, Serialize};

use crate::region::Region;
use crate::units::size_text;

/// The order of addresses. Each names the zone it stays in.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum AccessPattern {
    /// From the start of the zone to its end, then again. Several copies of a stream share the zone in equal parts.
    Sequential(Region),
    /// Uniformly random, on multiples of the I/O's length from the start of the zone.
    Random(Region),
    /// Every `step` bytes from the start of the zone as long as an I/O fits in it, then again. Several copies
    /// of a stream walk the same places.
    Strided {
        /// The zone.
        region: Region,
        /// From one I/O's start to the next one's, in bytes.
        #[serde(with = "size_text")]
        step: u64,
    },
    /// Uniformly random, on multiples of `align` from the start of the zone, whatever the I/O's length: so
    /// I/Os may overlap, and start in the middle of what a drive treats as one unit.
    RandomAligned {
        /// The zone.
        region: Region,
        /// Alignment of starts, in bytes.
        #[serde(with = "size_text")]
        align: u64,
    },
    /// Random with Zipf's law over the multiples of the I/O's length: the k-th most popular comes with weight
    /// k^−θ. Popularity is scattered over the zone.
    Zipf {
        /// The zone.
        region: Region,
        /// The exponent θ, above 0 and at most 10.
        theta: f64,
    },
}

impl AccessPattern {
    /// The zone.
    pub fn region(&self) -> Region {
        match self {
            Self::Sequential(region)
            | Self::Random(region)
            | Self::Strided { region, .. }
            | Self::RandomAligned { region, .. }
            | Self::Zipf { region, .. } => *region,
        }
    }

    /// `sequential` or `random`.
    pub fn name(&self) -> &'static str {
        if matches!(self, Self::Sequential(_) | Self::Strided { .. }) { "sequential" } else { "random" }
    }

    /// The alignment of its starts beyond the target's block, if any.
    pub fn grain(&self) -> Option<u64> {
        match self {
            Self::Strided { step, .. } => Some(*step),
            Self::RandomAligned { align, .. } => Some(*align),
            Self::Sequential(_) | Self::Random(_) | Self::Zipf { .. } => None,
        }
    }
}
