//! What a cloud volume reports of the limits that hold it back.

use serde::{Deserialize, Serialize};

use super::Fact;

/// A cloud volume.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Cloud {
    /// Whose it is, and of what kind: `AWS EBS`, `AWS instance store`, `Google persistent disk` …
    #[serde(skip_serializing_if = "Fact::is_not_queried")]
    pub volume: Fact<String>,
    /// I/Os that wait in the volume now.
    #[serde(skip_serializing_if = "Fact::is_not_queried")]
    pub queue_length: Fact<u64>,
}
