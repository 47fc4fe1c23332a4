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
    /// Where all randomness comes from.
    #[serde(default)]
    pub seed: u64,
    /// The procedure's own settings.
    #[serde(default)]
    pub options: toml::Table,
}

fn schema() -> u32 {
    1
}
