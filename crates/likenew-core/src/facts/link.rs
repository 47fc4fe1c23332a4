//! The link between host and drive, and what it can carry at most.

use serde::{Deserialize, Serialize};

use super::Fact;

/// The path from the host to the drive.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Link {
    /// `PCIe`, `SATA`, `SAS`, `USB`, `MMC`, `virtio` …
    #[serde(skip_serializing_if = "Fact::is_not_queried")]
    pub bus: Fact<String>,
    /// The kernel's driver for it: `nvme`, `uas`, `usb-storage`, `ahci`.
    #[serde(skip_serializing_if = "Fact::is_not_queried")]
    pub driver: Fact<String>,
    /// Its parts, from the drive up: the drive, the port above it, every hub up to the host.
    pub hops: Vec<Hop>,
    /// Bytes a second that it carries at most as it is now, after encoding, before the protocol's own
    /// overhead: the slowest of its parts.
    #[serde(skip_serializing_if = "Fact::is_not_queried")]
    pub ceiling_bytes_per_s: Fact<u64>,
    /// The same if every part ran at its best: what this drive could have in this place.
    #[serde(skip_serializing_if = "Fact::is_not_queried")]
    pub possible_bytes_per_s: Fact<u64>,
    /// Commands that the drive takes at once.
    #[serde(skip_serializing_if = "Fact::is_not_queried")]
    pub queue_depth: Fact<u64>,
    /// Queues of commands, each of that depth.
    #[serde(skip_serializing_if = "Fact::is_not_queried")]
    pub queues: Fact<u64>,
}

/// One part of a link.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Hop {
    /// The kernel's name: a PCI address, `ata3`, `2-1.4`.
    pub name: String,
    /// What it is, in words: `the drive`, `the port above`, `hub` …
    pub kind: String,
    /// Bits a second on one lane before encoding: 8 GT/s of PCIe and 6 Gb/s of SATA are 8e9 and 6e9.
    #[serde(skip_serializing_if = "Fact::is_not_queried")]
    pub line_bits_per_s: Fact<u64>,
    /// The same at its best.
    #[serde(skip_serializing_if = "Fact::is_not_queried")]
    pub line_bits_per_s_max: Fact<u64>,
    /// Lanes in use.
    #[serde(skip_serializing_if = "Fact::is_not_queried")]
    pub lanes: Fact<u32>,
    /// Lanes that it has.
    #[serde(skip_serializing_if = "Fact::is_not_queried")]
    pub lanes_max: Fact<u32>,
    /// Bytes a second that it carries at most now.
    #[serde(skip_serializing_if = "Fact::is_not_queried")]
    pub bytes_per_s: Fact<u64>,
    /// The same at its best.
    #[serde(skip_serializing_if = "Fact::is_not_queried")]
    pub bytes_per_s_max: Fact<u64>,
}

/// Bytes a second of PCI Express after encoding: 8b/10b up to 5 GT/s (PCI Express Base Specification 2.0,
/// §4.2.1), 128b/130b from 8 GT/s on (3.0, §4.2.2), and flits of 256 bytes, 236 of them for packets, at 64
/// GT/s (6.0, §4.2.3).
pub fn pcie_bytes_per_s(line_bits_per_s: u64, lanes: u32) -> u64 {
    let raw = u128::from(line_bits_per_s) * u128::from(lanes);
    let bits = match line_bits_per_s {
        ..8_000_000_000 => raw * 8 / 10,
        8_000_000_000..64_000_000_000 => raw * 128 / 130,
        _ => raw * 236 / 256,
    };
    u64::try_from(bits / 8).unwrap_or(u64::MAX)
}

/// Bytes a second of SATA and of SAS up to 12 Gb/s after encoding with 8b/10b (Serial ATA 3.x, §7.2; SAS-3,
/// §5.3): 6 Gb/s are 600 MB/s.
pub fn sata_bytes_per_s(line_bits_per_s: u64) -> u64 {
    line_bits_per_s / 10
}

/// Bytes a second of USB at most. Up to 480 Mb/s data and bit stuffing share one wire, and bulk transfers of
/// 512 bytes fit 13 times into a microframe of 125 µs (USB 2.0, §5.8.4), which is 53 MB/s; 12 Mb/s allow 19
/// packets of 64 bytes in a millisecond. 5 Gb/s are encoded with 8b/10b (USB 3.2, §6.3.2), faster lanes with
/// 128b/132b (§6.3.3). The kernel's `speed` counts all lanes.
pub fn usb_bytes_per_s(line_bits_per_s: u64) -> u64 {
    match line_bits_per_s {
        ..12_000_000 => line_bits_per_s / 8,
        12_000_000..480_000_000 => 19 * 64 * 1000,
        480_000_000..5_000_000_000 => 13 * 512 * 8000,
        5_000_000_000..10_000_000_000 => line_bits_per_s / 10,
        _ => line_bits_per_s / 132 * 16,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ceilings_are_those_of_the_standards() {
        for (gigabits, lanes, megabytes) in
            [(2.5, 1, 250), (5.0, 4, 2000), (8.0, 2, 1969), (8.0, 4, 3938), (16.0, 4, 7876), (32.0, 4, 15753)]
        {
            let bytes = pcie_bytes_per_s((gigabits * 1e9) as u64, lanes);
            assert_eq!(bytes / 1_000_000, megabytes, "{gigabits} GT/s x{lanes}");
        }
        assert_eq!(pcie_bytes_per_s(u64::MAX, u32::MAX), u64::MAX);
        assert_eq!(sata_bytes_per_s(6_000_000_000), 600_000_000);
        for (megabits, bytes) in
            [(12, 1_216_000), (480, 53_248_000), (5_000, 500_000_000), (10_000, 1_212_121_200)]
        {
            assert_eq!(usb_bytes_per_s(megabits * 1_000_000), bytes);
        }
    }
}
