//! Links by the names of their standards, and the data rates that they carry.

use std::fmt;

use likenew_core::facts::drive::{pcie_bytes_per_s, sata_bytes_per_s, usb_bytes_per_s};
use strum::IntoStaticStr;

use crate::front::LinkParameters;

/// A family of links.
#[derive(Clone, Copy, Debug, PartialEq, Eq, IntoStaticStr)]
#[strum(serialize_all = "UPPERCASE")]
pub enum Bus {
    /// PCI Express.
    #[strum(serialize = "PCIe")]
    Pcie,
    /// Serial ATA.
    Sata,
    /// USB.
    Usb,
}

impl Bus {
    /// Its name in facts.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// A link as defined by its standard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkStandard {
    name: &'static str,
    /// The family.
    pub bus: Bus,
    /// Line rate per lane before encoding, in bits per second.
    pub line_bits_per_s: u64,
    /// Number of lanes.
    pub lanes: u32,
    /// Whether it carries one command at a time (USB mass storage, bulk-only transport).
    pub one_command: bool,
}

const fn pcie(name: &'static str, line_bits_per_s: u64, lanes: u32) -> LinkStandard {
    LinkStandard { name, bus: Bus::Pcie, line_bits_per_s, lanes, one_command: false }
}

const fn sata(name: &'static str, line_bits_per_s: u64) -> LinkStandard {
    LinkStandard { name, bus: Bus::Sata, line_bits_per_s, lanes: 1, one_command: false }
}

const fn usb(name: &'static str, line_bits_per_s: u64, one_command: bool) -> LinkStandard {
    LinkStandard { name, bus: Bus::Usb, line_bits_per_s, lanes: 1, one_command }
}

const GT: u64 = 1_000_000_000;

/// Commands in flight on a USB bridge with UAS (assumed: what most bridges announce).
const UAS_COMMANDS: u32 = 30;

impl LinkStandard {
    /// All standards with a name.
    pub const ALL: [Self; 23] = [
        pcie("pcie1x1", 5 * GT / 2, 1),
        pcie("pcie1x2", 5 * GT / 2, 2),
        pcie("pcie1x4", 5 * GT / 2, 4),
        pcie("pcie2x1", 5 * GT, 1),
        pcie("pcie2x2", 5 * GT, 2),
        pcie("pcie2x4", 5 * GT, 4),
        pcie("pcie3x1", 8 * GT, 1),
        pcie("pcie3x2", 8 * GT, 2),
        pcie("pcie3x4", 8 * GT, 4),
        pcie("pcie4x1", 16 * GT, 1),
        pcie("pcie4x2", 16 * GT, 2),
        pcie("pcie4x4", 16 * GT, 4),
        pcie("pcie5x1", 32 * GT, 1),
        pcie("pcie5x2", 32 * GT, 2),
        pcie("pcie5x4", 32 * GT, 4),
        sata("sata1.5g", 3 * GT / 2),
        sata("sata3g", 3 * GT),
        sata("sata6g", 6 * GT),
        usb("usb2", 480_000_000, true),
        usb("usb3.0", 5 * GT, false),
        usb("usb3.0-bot", 5 * GT, true),
        usb("usb3.1", 10 * GT, false),
        usb("usb3.1-bot", 10 * GT, true),
    ];

    /// The standard with this name.
    pub fn by_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|standard| standard.name == name)
    }

    /// Its name, as [`by_name`](Self::by_name) takes it.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Bytes per second after encoding, as facts report it.
    pub fn ceiling_bytes_per_s(&self) -> u64 {
        match self.bus {
            Bus::Pcie => pcie_bytes_per_s(self.line_bits_per_s, self.lanes),
            Bus::Sata => sata_bytes_per_s(self.line_bits_per_s),
            Bus::Usb => usb_bytes_per_s(self.line_bits_per_s),
        }
    }

    /// Payload in bytes per second in one direction.
    ///
    /// PCIe: packets of 256 bytes with 24 bytes around each (PCI Express Base Specification 3.0, §2.2 and
    /// §4.2.2) and one data link packet of 8 bytes (assumed). SATA: eleven twelfths, which makes 6 Gb/s the
    /// 550 MB/s that the best drives advertise. USB 2.0: nine of the 13 packets that fit into a microframe
    /// (assumed; enclosures reach 35 to 40 MB/s). USB 3: 88 % (assumed; enclosures of 5 Gb/s reach about 440
    /// MB/s).
    pub fn payload_bytes_per_s(&self) -> u64 {
        let (payload, total) = match (self.bus, self.line_bits_per_s) {
            (Bus::Pcie, _) => (256, 288),
            (Bus::Sata, _) => (11, 12),
            (Bus::Usb, 480_000_000) => (9, 13),
            (Bus::Usb, _) => (88, 100),
        };
        self.ceiling_bytes_per_s() * payload / total
    }

    /// Whether both directions move data at the same time.
    pub fn duplex(&self) -> bool {
        match self.bus {
            Bus::Pcie => true,
            Bus::Sata => false,
            // USB 3 has a pair of wires per direction, but bulk-only transport uses one at a time.
            Bus::Usb => !self.one_command,
        }
    }

    /// A drive's own link, limited to this one.
    pub(crate) fn narrow(&self, own: LinkParameters) -> LinkParameters {
        let slots = match (self.bus, self.one_command) {
            (_, true) => 1,
            (Bus::Usb, false) => UAS_COMMANDS,
            (Bus::Pcie | Bus::Sata, false) => own.command_slots,
        };
        LinkParameters {
            bytes_per_s: own.bytes_per_s.min(self.payload_bytes_per_s()),
            duplex: own.duplex && self.duplex(),
            command_slots: own.command_slots.min(slots),
        }
    }
}

impl fmt::Display for LinkStandard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn payloads_are_what_drives_and_enclosures_reach() {
        let payload = |name| LinkStandard::by_name(name).expect(name).payload_bytes_per_s() / 1_000_000;
        let names =
            ["pcie3x4", "pcie3x2", "pcie1x1", "sata6g", "sata3g", "sata1.5g", "usb2", "usb3.0", "usb3.1"];
        assert_eq!(names.map(payload), [3500, 1750, 222, 550, 275, 137, 36, 440, 1066]);
        assert!(LinkStandard::by_name("pcie6x1").is_none());
        for standard in LinkStandard::ALL {
            assert_eq!(LinkStandard::by_name(standard.name()), Some(standard));
            assert!(standard.payload_bytes_per_s() < standard.ceiling_bytes_per_s());
        }
    }

    #[test]
    fn a_link_only_takes_away() {
        let own = LinkParameters { bytes_per_s: 3_500_000_000, duplex: true, command_slots: 1024 };
        let narrow = |name| LinkStandard::by_name(name).expect(name).narrow(own);
        assert_eq!(narrow("pcie5x4"), own);
        let bot = LinkParameters { bytes_per_s: 36_864_000, duplex: false, command_slots: 1 };
        assert_eq!(narrow("usb2"), bot);
        assert_eq!((narrow("usb3.0").command_slots, narrow("usb3.0-bot").command_slots), (30, 1));
        let disk = LinkParameters { bytes_per_s: 100_000_000, duplex: false, command_slots: 32 };
        assert_eq!(LinkStandard::by_name("sata3g").expect("a name").narrow(disk), disk);
    }
}
