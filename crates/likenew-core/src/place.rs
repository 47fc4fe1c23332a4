//! Where the I/Os of a stream go.

use serde::{Deserialize, Serialize};

use crate::region::Region;

/// The order of addresses. Each names the zone it stays in.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
pub enum Place {
    /// From the start of the zone to its end, then again. Several copies of a stream share the zone in equal parts.
    Forward(Region),
    /// Uniformly random, on multiples of the I/O's length from the start of the zone.
    Uniform(Region),
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
            Self::Forward(region) | Self::Uniform(region) | Self::Zipf { region, .. } => *region,
        }
    }

    /// `sequential` or `random`.
    pub fn pattern(&self) -> &'static str {
        if matches!(self, Self::Forward(_)) { "sequential" } else { "random" }
    }
}
