//! Where the I/Os of a stream go.

use serde::{Deserialize, Serialize};

use crate::region::Region;
use crate::units::size_text;

/// The order of addresses. Each names the zone it stays in.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
pub enum Place {
    /// From the start of the zone to its end, then again. Several copies of a stream share the zone in equal parts.
    Forward(Region),
    /// Uniformly random, on multiples of the I/O's length from the start of the zone.
    Uniform(Region),
    /// Every `step` bytes from the start of the zone as long as an I/O fits in it, then again. Several copies of a stream walk
    /// the same places.
    Strided {
        /// The zone.
        region: Region,
        /// From one I/O's start to the next one's, in bytes.
        #[serde(with = "size_text")]
        step: u64,
    },
    /// Uniformly random, on multiples of `align` from the start of the zone, whatever the I/O's length: so I/Os may overlap, and
    /// start anywhere in what a drive treats as one.
    Scattered {
        /// The zone.
        region: Region,
        /// What starts are multiples of, in bytes.
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

impl Place {
    /// The zone.
    pub fn region(&self) -> Region {
        match self {
            Self::Forward(region)
            | Self::Uniform(region)
            | Self::Strided { region, .. }
            | Self::Scattered { region, .. }
            | Self::Zipf { region, .. } => *region,
        }
    }

    /// `sequential` or `random`.
    pub fn pattern(&self) -> &'static str {
        if matches!(self, Self::Forward(_) | Self::Strided { .. }) { "sequential" } else { "random" }
    }

    /// What it adds to starts of I/Os: a multiple of the target's block, where it says one.
    pub fn grain(&self) -> Option<u64> {
        match self {
            Self::Strided { step, .. } => Some(*step),
            Self::Scattered { align, .. } => Some(*align),
            Self::Forward(_) | Self::Uniform(_) | Self::Zipf { .. } => None,
        }
    }
}
