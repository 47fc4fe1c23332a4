//! One drive at the bottom of a stack, with everything that is known of it.

use serde::{Deserialize, Serialize};

use super::{Card, Cloud, Counts, Database, Fact, Health, HostMemory, Identity, Link, Log, Power, Space};

/// By what means a drive is spoken to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DriveKind {
    /// NVMe.
    Nvme,
    /// SATA, or ATA by any other means.
    Sata,
    /// SCSI or SAS.
    Scsi,
    /// A disk behind a bridge of USB.
    Usb,
    /// An SD card or an eMMC.
    Card,
    /// A hypervisor's disk with its own driver (virtio, xen, vmbus).
    Virtual,
    /// Memory.
    Memory,
    /// Another machine's.
    Network,
    /// A simulated drive.
    Simulated,
    /// What this version has no word for.
    #[default]
    #[serde(other)]
    Other,
}

/// A drive.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Drive {
    /// The kernel's name.
    pub name: String,
    /// By what means it is spoken to.
    pub kind: DriveKind,
    /// Who it is.
    pub identity: Identity,
    /// The way to it.
    pub link: Link,
    /// How it saves power.
    pub power: Power,
    /// Memory of the host that it uses; absent for what is no NVMe.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host_memory: Option<HostMemory>,
    /// What it says of its state.
    pub health: Health,
    /// What is counted.
    pub counts: Counts,
    /// What it holds, as it counts.
    pub space: Space,
    /// Absent for what is no card.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub card: Option<Card>,
    /// Absent for what is no volume of a cloud.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cloud: Option<Cloud>,
    /// What is known of its model.
    pub database: Database,
    /// What the kernel says of it.
    pub log: Log,
    /// I/Os of all programs that were in flight when the facts were collected.
    #[serde(skip_serializing_if = "Fact::is_not_queried")]
    pub in_flight: Fact<u64>,
    /// Reads by all programs while the facts were collected and nothing was measured.
    #[serde(skip_serializing_if = "Fact::is_not_queried")]
    pub others_read_bytes_per_s: Fact<u64>,
    /// Writes by all programs over the same time.
    #[serde(skip_serializing_if = "Fact::is_not_queried")]
    pub others_write_bytes_per_s: Fact<u64>,
}
