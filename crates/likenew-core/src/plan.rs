//! A plan: everything that decides a run, as a file.

use serde::{Deserialize, Serialize};

/// What was asked, completely: the same plan and seed on the same drive is the same run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// Version of this form: 1.
    #[serde(default = "schema")]
    pub schema: u32,
    /// The name of a procedure, as typed on the command line.
    pub procedure: String,
    /// The drive, as typed on the command line. A plan may leave it open.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// The file of the simulated drive that the target names, if a program made that drive and no folder has its file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drive: Option<String>,
    /// The seed of all randomness.
    #[serde(default)]
    pub seed: u64,
    /// The procedure's own settings.
    #[serde(default)]
    pub options: toml::Table,
}

impl Plan {
    /// A plan for a drive that needs no file from it.
    pub fn new(
        procedure: impl Into<String>,
        target: Option<String>,
        seed: u64,
        options: toml::Table,
    ) -> Self {
        Self { schema: schema(), procedure: procedure.into(), target, drive: None, seed, options }
    }

    /// The seed of each of a run's workloads.
    pub fn seed_of(&self, workload: usize) -> u64 {
        // SplitMix64's increment keeps consecutive seeds apart; the generators that are seeded with this mix
        // it further.
        self.seed.wrapping_add((workload as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15))
    }
}

fn schema() -> u32 {
    1
}
