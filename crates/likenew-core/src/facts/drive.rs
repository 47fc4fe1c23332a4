//! One drive at the bottom of a stack, with everything that is known of it.

use serde::{Deserialize, Serialize};

use super::{Card, Cloud, Counts, Database, Fact, Health, HostMemory, Identity, Link, Log, Power, Space};

/// The interface of a drive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DriveKind {
    /// NVMe.
    Nvme,
    /// SATA, or ATA behind another interface.
    Sata,
    /// SCSI or SAS.
    Scsi,
    /// A disk behind a USB bridge.
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
    /// Unknown to this version.
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
    /// Its interface.
    pub kind: DriveKind,
    /// Its identity.
    pub identity: Identity,
    /// The link to it.
    pub link: Link,
    /// How it saves power.
    pub power: Power,
    /// Host memory that it uses; absent unless it is NVMe.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host_memory: Option<HostMemory>,
    /// What it reports of its state.
    pub health: Health,
    /// What is counted.
    pub counts: Counts,
    /// What it holds, as it reports.
    pub space: Space,
    /// Absent unless it is a card.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub card: Option<Card>,
    /// Absent unless it is a cloud volume.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cloud: Option<Cloud>,
    /// What is known of its model.
    pub database: Database,
    /// What the kernel's log says about it.
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
