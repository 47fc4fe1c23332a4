//! Links between host and drive: rates of the standards less their coding and framing.

use super::dice::Dice;
use super::file::File;

/// A link as it is drawn.
#[derive(Clone, Copy)]
pub(super) struct Link {
    pub(super) name: &'static str,
    /// As catalog files name it.
    standard: &'static str,
    pub(super) bytes_per_s: u64,
    duplex: bool,
    pub(super) command_slots: u64,
    /// Firmware time of a command behind such a link, in nanoseconds, from and to.
    command_ns: (f64, f64),
}

/// USB 2.0 and 3.0, mass storage: one command at a time.
pub(super) const USB: [Link; 2] = [
    Link::new("USB 2.0", "usb2", 33, false, 1, (200.0, 600.0)),
    Link::new("USB 3.0", "usb3.0-bot", 380, true, 1, (40.0, 150.0)),
];

/// SATA of 1.5 and 3 Gb/s.
pub(super) const SATA_EARLY: [Link; 2] = [
    Link::new("SATA 1.5 Gb/s", "sata1.5g", 135, false, 32, (25.0, 120.0)),
    Link::new("SATA 3 Gb/s", "sata3g", 275, false, 32, (10.0, 50.0)),
];

/// SATA of 3 and 6 Gb/s.
pub(super) const SATA: [Link; 2] = [SATA_EARLY[1], SATA_LATE[0]];

/// SATA of 6 Gb/s.
pub(super) const SATA_LATE: [Link; 1] = [Link::new("SATA 6 Gb/s", "sata6g", 550, false, 32, (7.0, 25.0))];

/// What drives with flash in three dimensions have: SATA, USB with queues (UASP), PCIe of two generations under NVMe.
pub(super) const MODERN_LINKS: [Link; 5] = [
    SATA_LATE[0],
    Link::new("USB 3.1, UASP", "usb3.1", 900, true, 32, (15.0, 40.0)),
    Link::new("PCIe 3.0 x2", "pcie3x2", 1700, true, 256, (2.0, 8.0)),
    Link::new("PCIe 3.0 x4", "pcie3x4", 3500, true, 1024, (1.0, 5.0)),
    Link::new("PCIe 4.0 x4", "pcie4x4", 7000, true, 1024, (0.6, 3.0)),
];

impl Link {
    const fn new(
        name: &'static str,
        standard: &'static str,
        mb_per_s: u64,
        duplex: bool,
        command_slots: u64,
        (low_us, high_us): (f64, f64),
    ) -> Self {
        let command_ns = (low_us * 1e3, high_us * 1e3);
        Self { name, standard, bytes_per_s: mb_per_s * 1_000_000, duplex, command_slots, command_ns }
    }

    /// One of these, as fast as boards and chips make it.
    pub(super) fn draw(dice: &mut Dice, links: &[Self]) -> Self {
        let link = dice.one_of(links);
        let nominal = link.bytes_per_s as f64;
        Self { bytes_per_s: dice.steps(0.9 * nominal, 1.03 * nominal, 1_000_000), ..link }
    }

    pub(super) fn write(&self, file: &mut File) {
        file.table("link");
        file.word("standard", self.standard);
        file.value("bytes_per_s", self.bytes_per_s);
        file.value("duplex", self.duplex);
        file.value("command_slots", self.command_slots);
    }

    /// Whether it takes more commands at once than SATA.
    pub(super) fn has_long_queues(&self) -> bool {
        self.command_slots > 32
    }

    /// Firmware time of one command.
    pub(super) fn command_ns(&self, dice: &mut Dice) -> u64 {
        let (low, high) = self.command_ns;
        dice.steps(low, high, 100)
    }
}
