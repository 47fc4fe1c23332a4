//! The identity of a drive.

use serde::{Deserialize, Serialize};

use super::Fact;

/// What identifies a drive.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Identity {
    /// Maker and model.
    #[serde(skip_serializing_if = "Fact::is_not_queried")]
    pub model: Fact<String>,
    /// Version of its firmware.
    #[serde(skip_serializing_if = "Fact::is_not_queried")]
    pub firmware: Fact<String>,
    /// Its serial number, as a hash wherever it is stored.
    #[serde(skip_serializing_if = "Fact::is_not_queried")]
    pub serial: Fact<Serial>,
    /// Where a drive is plugged in that may show no serial number of its own: its USB port and its number there.
    #[serde(skip_serializing_if = "Fact::is_not_queried")]
    pub port: Fact<String>,
    /// Bytes that it reports to hold.
    #[serde(skip_serializing_if = "Fact::is_not_queried")]
    pub capacity_bytes: Fact<u64>,
    /// Rotation in rpm; 0 for a drive that does not rotate.
    #[serde(skip_serializing_if = "Fact::is_not_queried")]
    pub rotation_rpm: Fact<u32>,
    /// What presents the drive, if a hypervisor, a cloud or a controller does, so that the real medium is
    /// hidden; else none.
    #[serde(skip_serializing_if = "Fact::is_not_queried")]
    pub virtual_by: Fact<Option<String>>,
    /// Whether it reports TRIM support.
    #[serde(skip_serializing_if = "Fact::is_not_queried")]
    pub knows_trim: Fact<bool>,
}

/// A serial number. What is stored is a keyed hash: it distinguishes the drives of one machine and reveals no
/// number. The number itself is only shown on the terminal, and is never written.
#[derive(Clone, Debug, Default, Eq, Serialize, Deserialize)]
pub struct Serial {
    /// HMAC-SHA-256 of the number, keyed with this machine's identity, in hexadecimal.
    pub hash: String,
    /// The number itself, where it has just been read.
    #[serde(skip)]
    pub plain: Option<String>,
}

impl PartialEq for Serial {
    /// Compared by what is stored, so that facts just collected equal the same facts read back.
    fn eq(&self, other: &Self) -> bool {
        self.hash == other.hash
    }
}
