//! Parts of generated drives: random numbers, the file being written, links, chips of 2006 to 2024 (smaller
//! than real ones), and firmware.

use std::fmt::{Display, Write as _};
use std::ops::RangeInclusive;

use rand::{RngExt as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::Serialize;

use crate::wording;

/// The random choices of one drive, in order.
pub(super) struct Dice(Xoshiro256PlusPlus);

impl Dice {
    pub(super) fn new(seed: u64) -> Self {
        Self(Xoshiro256PlusPlus::seed_from_u64(seed))
    }

    /// One of `choices`, each equally likely.
    pub(super) fn one_of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.0.random_range(0..choices.len())]
    }

    /// A whole number in `range`, uniform.
    pub(super) fn integer(&mut self, range: RangeInclusive<u64>) -> u64 {
        self.0.random_range(range)
    }

    /// A number in a range, log-uniform.
    pub(super) fn log(&mut self, low: f64, high: f64) -> f64 {
        low * (high / low).powf(self.0.random::<f64>())
    }

    /// Like [`log`](Self::log), in whole steps of `step`, at least one.
    pub(super) fn steps(&mut self, low: f64, high: f64, step: u64) -> u64 {
        (self.log(low, high) / step as f64).round().max(1.0) as u64 * step
    }

    /// True with this probability.
    pub(super) fn chance(&mut self, probability: f64) -> bool {
        self.0.random::<f64>() < probability
    }
}

/// The source of every value in a generated file.
const SOURCE: &str = "drawn at random";

/// A drive's file being written.
pub(super) struct File(String);

impl File {
    /// Begins a file with the drive's identity.
    pub(super) fn new(
        kind: &str,
        seed: u64,
        technology: &str,
        capacity_bytes: u64,
        sector_bytes: u64,
    ) -> Self {
        let mut file = Self(format!("{}\nkind = \"{kind}\"\n", wording::generated_file_comment(seed)));
        file.table("identity");
        file.word("model", &format!("Drawn {seed}"));
        file.word("technology", technology);
        file.value("capacity_bytes", capacity_bytes);
        file.value("sector_bytes", sector_bytes);
        file.table("advertised");
        file
    }

    /// Begins a table.
    pub(super) fn table(&mut self, name: &str) {
        let _ = writeln!(self.0, "\n[{name}]");
    }

    /// Writes a number or boolean.
    pub(super) fn value(&mut self, key: &str, value: impl Display) {
        let _ = writeln!(self.0, "{key} = {{ value = {value}, source = \"{SOURCE}\" }}");
    }

    /// Writes all fields of a struct, which are named like the keys.
    pub(super) fn values(&mut self, fields: &impl Serialize) {
        let fields = serde_json::to_value(fields).expect("plain values can be written to memory");
        for (key, value) in fields.as_object().into_iter().flatten() {
            self.value(key, value);
        }
    }

    /// Writes a word.
    pub(super) fn word(&mut self, key: &str, word: &str) {
        self.value(key, format_args!("\"{word}\""));
    }

    /// Returns the text.
    pub(super) fn finish(self) -> String {
        self.0
    }
}

/// A link of a generated drive.
#[derive(Clone, Copy, Serialize)]
pub(super) struct Link {
    #[serde(skip)]
    pub(super) name: &'static str,
    /// Its name in catalog files.
    standard: &'static str,
    pub(super) bytes_per_s: u64,
    duplex: bool,
    pub(super) command_slots: u64,
    /// Range of the firmware time per command behind such a link, in nanoseconds.
    #[serde(skip)]
    command_ns: (f64, f64),
}

/// USB 2.0 and 3.0 mass storage: one command at a time.
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

/// Links of drives with 3D flash: SATA, USB with queues (UASP), and NVMe on two generations of PCIe.
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

    /// One of `links`, at 0.9 to 1.03 times its nominal rate, as real boards vary.
    pub(super) fn draw(dice: &mut Dice, links: &[Self]) -> Self {
        let link = dice.one_of(links);
        let nominal = link.bytes_per_s as f64;
        Self { bytes_per_s: dice.steps(0.9 * nominal, 1.03 * nominal, 1_000_000), ..link }
    }

    pub(super) fn write(&self, file: &mut File) {
        file.table("link");
        file.values(self);
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

/// A kind of flash, with ranges from data sheets and conference papers of its years.
#[derive(Clone, Copy)]
pub(super) struct Technology {
    pub(super) name: &'static str,
    /// Bits per cell.
    pub(super) bits: u64,
    page_kib: &'static [u64],
    pages_per_block: &'static [u64],
    /// Pages per plane that one program operation writes.
    pages_per_program: u64,
    read_us: (f64, f64),
    program_us: (f64, f64),
    erase_us: (f64, f64),
    channel_mb_per_s: (f64, f64),
    /// Links of drives with such flash.
    links: &'static [Link],
}

pub(super) const SLC: Technology = Technology {
    name: "SLC flash",
    bits: 1,
    page_kib: &[2, 4],
    pages_per_block: &[64, 128],
    pages_per_program: 1,
    read_us: (20.0, 30.0),
    program_us: (200.0, 350.0),
    erase_us: (1500.0, 2000.0),
    channel_mb_per_s: (33.0, 130.0),
    links: &SATA_EARLY,
};

pub(super) const MLC: Technology = Technology {
    name: "MLC flash",
    bits: 2,
    page_kib: &[4, 8],
    pages_per_block: &[96, 128, 192, 256],
    pages_per_program: 1,
    read_us: (50.0, 90.0),
    program_us: (600.0, 1500.0),
    erase_us: (1500.0, 4500.0),
    channel_mb_per_s: (50.0, 400.0),
    links: &SATA,
};

const TLC: Technology = Technology {
    name: "planar TLC flash",
    bits: 3,
    page_kib: &[8, 16],
    pages_per_block: &[192, 258, 384],
    pages_per_program: 1,
    read_us: (60.0, 100.0),
    program_us: (900.0, 2300.0),
    erase_us: (3000.0, 6000.0),
    channel_mb_per_s: (200.0, 400.0),
    links: &SATA_LATE,
};

const TLC_3D: Technology = Technology {
    name: "3D TLC flash",
    bits: 3,
    page_kib: &[4, 8, 16],
    pages_per_block: &[288, 384, 576, 768, 1152],
    pages_per_program: 3,
    read_us: (45.0, 90.0),
    program_us: (1000.0, 2200.0),
    erase_us: (3000.0, 10_000.0),
    channel_mb_per_s: (400.0, 1600.0),
    links: &MODERN_LINKS,
};

const QLC_3D: Technology = Technology {
    name: "3D QLC flash",
    bits: 4,
    page_kib: &[4, 8, 16],
    pages_per_block: &[384, 768, 1024, 1536],
    pages_per_program: 4,
    read_us: (85.0, 140.0),
    program_us: (6000.0, 12_000.0),
    erase_us: (3000.0, 10_000.0),
    channel_mb_per_s: (400.0, 1200.0),
    links: &MODERN_LINKS,
};

/// Kinds of flash that page maps were used with.
pub(super) const PAGE_MAP_TECHNOLOGIES: [Technology; 5] = [SLC, MLC, TLC, TLC_3D, QLC_3D];
/// Kinds of flash that had a pseudo-SLC cache.
pub(super) const WITH_SLC_CACHE: [Technology; 3] = [TLC, TLC_3D, QLC_3D];

impl Technology {
    /// A link of its years.
    pub(super) fn draw_link(&self, dice: &mut Dice) -> Link {
        Link::draw(dice, self.links)
    }
}

/// The chips of one drive, in data sheet terms. The FTL decides `blocks_per_plane`.
#[derive(Clone, Copy, Serialize)]
pub(super) struct Chips {
    #[serde(skip)]
    pub(super) technology: Technology,
    pub(super) channels: u64,
    pub(super) dies_per_channel: u64,
    pub(super) dies_per_gang: u64,
    pub(super) planes: u64,
    pub(super) blocks_per_plane: u64,
    pub(super) pages_per_block: u64,
    pub(super) page_bytes: u64,
    pub(super) page_spare_bytes: u64,
    pub(super) pages_per_program: u64,
    pub(super) read_ns: u64,
    pub(super) program_ns: u64,
    pub(super) erase_ns: u64,
    pub(super) channel_bytes_per_s: u64,
    pub(super) programs_max: u64,
}

/// Number of channels, and of dies on each.
pub(super) fn draw_board(dice: &mut Dice, dies: (f64, f64)) -> (u64, u64) {
    let dies = dice.log(dies.0, dies.1);
    let channels = dice.one_of(&[1, 2, 3, 4, 4, 5, 8, 8, 10]).min(dies.round() as u64).max(1);
    (channels, (dies / channels as f64).round().max(1.0) as u64)
}

impl Chips {
    /// Chips of a technology on a board, which is the number of channels and of dies on each.
    pub(super) fn draw(dice: &mut Dice, technology: Technology, board: (u64, u64)) -> Self {
        let (channels, dies_per_channel) = board;
        let dies_per_gang = if dies_per_channel % 2 == 0 && dice.chance(0.1) { 2 } else { 1 };
        let dies = channels * dies_per_channel / dies_per_gang;
        let page_bytes = 1024 * dice.one_of(technology.page_kib);
        let us = |dice: &mut Dice, (low, high): (f64, f64)| dice.steps(1e3 * low, 1e3 * high, 1000);
        Self {
            technology,
            channels,
            dies_per_channel,
            dies_per_gang,
            planes: dice.one_of(&[1, 1, 2, 4]),
            blocks_per_plane: 0,
            pages_per_block: dice.one_of(technology.pages_per_block),
            page_bytes,
            page_spare_bytes: page_bytes / 1024 * dice.one_of(&[32, 56, 64, 112, 128]),
            pages_per_program: technology.pages_per_program,
            read_ns: us(dice, technology.read_us),
            program_ns: us(dice, technology.program_us),
            erase_ns: us(dice, technology.erase_us),
            channel_bytes_per_s: {
                let (low, high) = technology.channel_mb_per_s;
                dice.steps(1e6 * low, 1e6 * high, 1_000_000)
            },
            // Power or firmware limits some drives.
            programs_max: if dies >= 4 && dice.chance(0.15) { dies * 3 / 4 } else { dies },
        }
    }

    /// Dies, where a gang counts as one.
    pub(super) fn dies(&self) -> u64 {
        self.channels * self.dies_per_channel / self.dies_per_gang
    }

    /// Bytes per array read.
    pub(super) fn row_bytes(&self) -> u64 {
        self.page_bytes * self.planes * self.dies_per_gang
    }

    /// Bytes per program operation.
    pub(super) fn unit_bytes(&self) -> u64 {
        self.row_bytes() * self.pages_per_program
    }

    /// Bytes per erase block.
    pub(super) fn block_bytes(&self) -> u64 {
        self.row_bytes() * self.pages_per_block
    }

    /// Bytes of one erase block on every die.
    pub(super) fn stripe_of_blocks_bytes(&self) -> u64 {
        self.block_bytes() * self.dies()
    }

    /// Program throughput of `dies` dies, with units of `unit_bytes` that take `program_ns` each.
    pub(super) fn programs_bytes_per_s(&self, unit_bytes: u64, program_ns: u64, dies: u64) -> f64 {
        let wire = unit_bytes as f64 * (1.0 + self.page_spare_bytes as f64 / self.page_bytes as f64)
            / self.dies_per_gang as f64;
        let transfer = wire / self.channel_bytes_per_s as f64;
        let of_dies = dies as f64 * unit_bytes as f64 / (transfer + program_ns as f64 / 1e9);
        of_dies.min(self.channels as f64 * unit_bytes as f64 / transfer)
    }

    pub(super) fn write(&self, file: &mut File) {
        file.table("nand");
        file.values(self);
    }
}

/// The table `[firmware]`, and a TRIM fault.
#[derive(Clone, Copy, Serialize)]
pub(super) struct Firmware {
    read_command_ns: u64,
    write_command_ns: u64,
    other_command_ns: u64,
    buffer_bytes: u64,
    idle_after_ns: u64,
    trim: &'static str,
    /// Whether a bridge acknowledges TRIM and drops it.
    #[serde(skip)]
    drops_trim: bool,
}

impl Firmware {
    /// Draws firmware behind a link, with a write buffer of `buffer_bytes`.
    pub(super) fn draw(dice: &mut Dice, link: &Link, buffer_bytes: u64) -> Self {
        let trim = dice.one_of(&["immediate", "immediate", "immediate", "lazy", "lazy", "ignored"]);
        let [read_command_ns, write_command_ns] = [(); 2].map(|()| link.command_ns(dice));
        Self {
            read_command_ns,
            write_command_ns,
            other_command_ns: write_command_ns,
            buffer_bytes,
            idle_after_ns: dice.steps(5e7, 5e9, 10_000_000),
            trim,
            drops_trim: trim == "immediate" && dice.chance(0.15),
        }
    }

    pub(super) fn write(&self, file: &mut File) {
        file.table("firmware");
        file.values(self);
        if self.drops_trim {
            file.table("faults");
            file.word("trim", "dropped");
        }
    }
}

/// Draws a write buffer of 64 KiB to 64 MiB in whole mapping units. It holds two program units at least, and
/// mostly one per die. Its upper bound keeps it from hiding what the dies do at the end of their blocks.
pub(super) fn draw_buffer(
    dice: &mut Dice,
    chips: &Chips,
    page_bytes: u64,
    unit_bytes: u64,
    most: u64,
) -> u64 {
    let all_dies = (chips.programs_max + 1) * unit_bytes;
    let least = if dice.chance(0.85) { all_dies.max(2 * unit_bytes) } else { 2 * unit_bytes };
    let most = most.clamp(2 * unit_bytes, 64 << 20);
    let low = least.min(most).max(65_536);
    let bytes = dice.log(low as f64, most.max(low + low / 2) as f64) as u64;
    // A size that is no power of two is a better test of a measurement.
    bytes.next_multiple_of(page_bytes).max(2 * unit_bytes)
}

/// How a generated drive's data ages, if it does, and how the drive was used.
pub(super) struct GeneratedTreatment {
    /// Onset in seconds, retries per tenfold age, and the most retries.
    aging: Option<(u64, u64, u64)>,
    /// Its state, as written after a target's question mark.
    pub(super) state: String,
    overwritten_share: f64,
}

impl GeneratedTreatment {
    /// Draws a history; `overwritten_share` is the range for the share that was overwritten.
    pub(super) fn draw(dice: &mut Dice, chips: &Chips, overwritten_share: (f64, f64)) -> Self {
        const DAY_S: u64 = 86_400;
        let ages = chips.technology.bits > 1;
        let aging = (ages && dice.chance(0.6))
            .then(|| (dice.integer(1..=20) * DAY_S, dice.integer(3..=12), dice.integer(6..=24)));
        let state = match dice.integer(0..=9) {
            0..=4 => String::new(),
            5..=6 => "state=used".to_owned(),
            _ => format!("state=used&age={}d", dice.integer(60..=720)),
        };
        let (low, high) = overwritten_share;
        let overwritten_share = (dice.log(low, high) * 1e4).round() / 1e4;
        Self { aging, state, overwritten_share }
    }

    pub(super) fn write(&self, file: &mut File) {
        if let Some((onset_s, retries_per_decade, retries_max)) = self.aging {
            file.table("aging");
            file.value("onset_s", onset_s);
            file.value("retries_per_decade", retries_per_decade);
            file.value("retries_max", retries_max);
        }
        file.table("used");
        file.value("overwritten_share", self.overwritten_share);
    }
}
