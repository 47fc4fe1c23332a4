//! Flash chips of the kinds that were built from 2006 to 2024, smaller than they were.

use super::dice::Dice;
use super::file::File;
use super::link::{Link, MODERN_LINKS, SATA, SATA_EARLY, SATA_LATE};

/// A kind of flash, with ranges that data sheets and conference papers of its years show.
#[derive(Clone, Copy)]
pub(super) struct Technology {
    pub(super) name: &'static str,
    /// Bits in a cell.
    pub(super) bits: u64,
    page_kib: &'static [u64],
    pages_per_block: &'static [u64],
    /// Pages that one program writes on each plane.
    pages_per_program: u64,
    read_us: (f64, f64),
    program_us: (f64, f64),
    erase_us: (f64, f64),
    channel_mb_per_s: (f64, f64),
    /// What was put before it.
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

/// Kinds of flash that a page map was put over.
pub(super) const PAGE_MAP_TECHNOLOGIES: [Technology; 5] = [SLC, MLC, TLC, TLC_3D, QLC_3D];
/// Those of which a part was used with one bit a cell.
pub(super) const WITH_SLC_CACHE: [Technology; 3] = [TLC, TLC_3D, QLC_3D];

impl Technology {
    /// A link of its years.
    pub(super) fn draw_link(&self, dice: &mut Dice) -> Link {
        Link::draw(dice, self.links)
    }
}

/// The chips of one drive in the terms of their data sheets; how many blocks they have, the map decides.
#[derive(Clone, Copy)]
pub(super) struct Chips {
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

/// Channels, and dies on each: few, or many.
pub(super) fn draw_board(dice: &mut Dice, dies: (f64, f64)) -> (u64, u64) {
    let dies = dice.log(dies.0, dies.1);
    let channels = dice.one_of(&[1, 2, 3, 4, 4, 5, 8, 8, 10]).min(dies.round() as u64).max(1);
    (channels, (dies / channels as f64).round().max(1.0) as u64)
}

impl Chips {
    /// Chips of a technology on a board with so many channels and dies on each.
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
            // Power and firmware limit some drives.
            programs_max: if dies >= 4 && dice.chance(0.15) { dies * 3 / 4 } else { dies },
        }
    }

    /// Dies, a gang counting as one.
    pub(super) fn dies(&self) -> u64 {
        self.channels * self.dies_per_channel / self.dies_per_gang
    }

    /// Bytes of one array read.
    pub(super) fn row_bytes(&self) -> u64 {
        self.page_bytes * self.planes * self.dies_per_gang
    }

    /// Bytes of one program.
    pub(super) fn unit_bytes(&self) -> u64 {
        self.row_bytes() * self.pages_per_program
    }

    /// Bytes of an erase block.
    pub(super) fn block_bytes(&self) -> u64 {
        self.row_bytes() * self.pages_per_block
    }

    /// Bytes of flash that are erased as all dies come to the end of a block.
    pub(super) fn stripe_of_blocks_bytes(&self) -> u64 {
        self.block_bytes() * self.dies()
    }

    /// Bytes a second that all of it can be programmed at, in units of so many bytes in so long.
    pub(super) fn programs_bytes_per_s(&self, unit_bytes: u64, program_ns: u64, dies: u64) -> f64 {
        let wire = unit_bytes as f64 * (1.0 + self.page_spare_bytes as f64 / self.page_bytes as f64)
            / self.dies_per_gang as f64;
        let transfer = wire / self.channel_bytes_per_s as f64;
        let of_dies = dies as f64 * unit_bytes as f64 / (transfer + program_ns as f64 / 1e9);
        of_dies.min(self.channels as f64 * unit_bytes as f64 / transfer)
    }

    pub(super) fn write(&self, file: &mut File) {
        file.table("nand");
        file.value("channels", self.channels);
        file.value("dies_per_channel", self.dies_per_channel);
        file.value("dies_per_gang", self.dies_per_gang);
        file.value("planes", self.planes);
        file.value("blocks_per_plane", self.blocks_per_plane);
        file.value("pages_per_block", self.pages_per_block);
        file.value("page_bytes", self.page_bytes);
        file.value("page_spare_bytes", self.page_spare_bytes);
        file.value("pages_per_program", self.pages_per_program);
        file.value("read_ns", self.read_ns);
        file.value("program_ns", self.program_ns);
        file.value("erase_ns", self.erase_ns);
        file.value("channel_bytes_per_s", self.channel_bytes_per_s);
        file.value("programs_max", self.programs_max);
    }
}
