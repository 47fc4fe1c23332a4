//! Links between host and drive: rates of the standards less their coding and framing.

use super::dice::Dice;
use super::file::File;

/// A link as it is drawn.
#[derive(Clone, Copy)]
pub(super) struct Link {
    pub(super) name: &'static str,
    pub(super) bytes_per_s: u64,
    duplex: bool,
    pub(super) command_slots: u64,
    /// Firmware time of a command behind such a link, in nanoseconds, from and to.
    command_ns: (f64, f64),
}

/// USB 2.0 and 3.0, mass storage: one command at a time.
pub(super) const USB: [Link; 2] = [
    Link {
        name: "USB 2.0",
        bytes_per_s: 33_000_000,
        duplex: false,
        command_slots: 1,
        command_ns: (2e5, 6e5),
    },
    Link {
        name: "USB 3.0",
        bytes_per_s: 380_000_000,
        duplex: true,
        command_slots: 1,
        command_ns: (4e4, 1.5e5),
    },
];

/// SATA of three generations.
pub(super) const SATA: [Link; 3] = [
    Link {
        name: "SATA 1.5 Gb/s",
        bytes_per_s: 135_000_000,
        duplex: false,
        command_slots: 32,
        command_ns: (3e4, 1.5e5),
    },
    Link {
        name: "SATA 3 Gb/s",
        bytes_per_s: 275_000_000,
        duplex: false,
        command_slots: 32,
        command_ns: (1e4, 6e4),
    },
    Link {
        name: "SATA 6 Gb/s",
        bytes_per_s: 550_000_000,
        duplex: false,
        command_slots: 32,
        command_ns: (7e3, 3e4),
    },
];

/// PCIe of two generations under NVMe.
pub(super) const NVME: [Link; 3] = [
    Link {
        name: "PCIe 3.0 x2",
        bytes_per_s: 1_700_000_000,
        duplex: true,
        command_slots: 256,
        command_ns: (2e3, 8e3),
    },
    Link {
        name: "PCIe 3.0 x4",
        bytes_per_s: 3_500_000_000,
        duplex: true,
        command_slots: 1024,
        command_ns: (1e3, 5e3),
    },
    Link {
        name: "PCIe 4.0 x4",
        bytes_per_s: 7_000_000_000,
        duplex: true,
        command_slots: 1024,
        command_ns: (6e2, 3e3),
    },
];

impl Link {
    /// One of these, as fast as boards and chips make it.
    pub(super) fn draw(dice: &mut Dice, links: &[Self]) -> Self {
        let link = dice.one_of(links);
        let nominal = link.bytes_per_s as f64;
        Self { bytes_per_s: dice.steps(0.9 * nominal, 1.03 * nominal, 1_000_000), ..link }
    }

    pub(super) fn write(&self, file: &mut File) {
        file.table("link");
        file.value("bytes_per_s", self.bytes_per_s);
        file.value("duplex", self.duplex);
        file.value("command_slots", self.command_slots);
    }

    /// Dies that nobody would put fewer of behind such a link.
    pub(super) fn dies_min(&self) -> u64 {
        if self.command_slots > 32 { 4 } else { u64::from(self.command_slots > 1) + 1 }
    }

    /// Firmware time of one command.
    pub(super) fn command_ns(&self, dice: &mut Dice) -> u64 {
        let (low, high) = self.command_ns;
        dice.steps(low, high, 100)
    }
}
