//! Host memory in which a drive without its own DRAM keeps its mapping table (NVMe's Host Memory Buffer).

use serde::{Deserialize, Serialize};

use super::Fact;

/// Memory that was requested and granted.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct HostMemory {
    /// Bytes that the drive prefers (HMPRE of Identify Controller); 0 where it wants none.
    #[serde(skip_serializing_if = "Fact::is_not_queried")]
    pub wanted_bytes: Fact<u64>,
    /// Bytes that it needs at least to use any (HMMIN).
    #[serde(skip_serializing_if = "Fact::is_not_queried")]
    pub least_bytes: Fact<u64>,
    /// Bytes that it has been granted; 0 for none.
    #[serde(skip_serializing_if = "Fact::is_not_queried")]
    pub given_bytes: Fact<u64>,
    /// Bytes that the kernel grants a drive at most (`nvme.max_host_mem_size_mb`).
    #[serde(skip_serializing_if = "Fact::is_not_queried")]
    pub limit_bytes: Fact<u64>,
}

impl HostMemory {
    /// Whether the drive wants memory and has none, as far as known.
    pub fn is_refused(&self) -> Option<bool> {
        match self.wanted_bytes.get()? {
            0 => Some(false),
            _ => Some(self.given_bytes.get()? == 0),
        }
    }
}
