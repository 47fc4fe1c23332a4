//! Drives that map whole blocks: block map, BAST, FAST.

use super::chips::{Chips, MLC, SLC, draw_board};
use super::dice::Dice;
use super::file::File;
use super::firmware::{Firmware, GeneratedTreatment, draw_buffer};
use super::link::{Link, SATA_EARLY, USB};

/// The families.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Block,
    Bast,
    Fast,
}

/// Clusters that hold the host's data: fewer make no drive, more take long to fill.
const CLUSTERS: std::ops::RangeInclusive<u64> = 120..=6000;

/// The file of such a drive, and its state.
pub(super) fn draw(dice: &mut Dice, seed: u64, kind: Kind) -> (String, String) {
    let technology = dice.one_of(&[SLC, MLC]);
    let link = match dice.integer(0..=2) {
        0 => Link::draw(dice, &USB),
        _ => Link::draw(dice, &SATA_EARLY),
    };
    let (mut chips, clusters) = loop {
        let board = draw_board(dice, (1.0, 17.0));
        let chips = Chips::draw(dice, technology, board);
        if let Some(drawn) = draw_chips(dice, chips, &link) {
            break drawn;
        }
    };
    let page_bytes = chips.row_bytes();
    let logs = match kind {
        Kind::Block => dice.integer(1..=4),
        Kind::Bast => dice.integer(1..=16),
        Kind::Fast => dice.integer(2..=24),
    };
    chips.blocks_per_plane = clusters + logs + 2 + clusters * dice.integer(1..=6) / 100;
    // A power-of-two count of clusters would be a coincidence.
    let capacity_bytes = clusters * chips.stripe_of_blocks_bytes() - dice.integer(0..=5) * page_bytes;
    let buffer_bytes = draw_buffer(dice, &chips, page_bytes, page_bytes, chips.stripe_of_blocks_bytes() / 4);
    let firmware = Firmware::draw(dice, &link, buffer_bytes);
    let past = GeneratedTreatment::draw(dice, &chips, (0.001, 0.01));
    let technology = format!("{}, {}", chips.technology.name, link.name);
    let mut file = File::new("flash", seed, &technology, capacity_bytes, 512);
    link.write(&mut file);
    firmware.write(&mut file);
    file.table("map");
    file.word(
        "family",
        match kind {
            Kind::Block => "block",
            Kind::Bast => "bast",
            Kind::Fast => "fast",
        },
    );
    file.value("page_bytes", page_bytes);
    file.value("cluster_dies", chips.dies());
    file.value("log_blocks_per_group", logs);
    file.word("merges_copy", dice.one_of(&["every page", "held pages"]));
    file.value("idle_merges", dice.chance(0.4));
    file.value("copy_page_ns", if dice.chance(0.5) { 0 } else { dice.steps(5e3, 5e4, 1000) });
    if kind == Kind::Bast {
        file.word("eviction", dice.one_of(&["least recent", "oldest"]));
        file.value("partial_merges", dice.chance(0.5));
    }
    chips.write(&mut file);
    past.write(&mut file);
    (file.finish(), past.state)
}

/// Chips of which all are read and programmed as one page of the map, and how many clusters they hold, if that goes
/// together.
fn draw_chips(dice: &mut Dice, chips: Chips, link: &Link) -> Option<(Chips, u64)> {
    let chips = Chips { planes: dice.one_of(&[1, 1, 2]), pages_per_program: 1, ..chips };
    // Planes that are always used together are one page.
    let page_bytes = chips.page_bytes * chips.planes;
    let spare = chips.page_spare_bytes * chips.planes;
    let chips = Chips { page_bytes, page_spare_bytes: spare, planes: 1, ..chips };
    let dies = chips.dies();
    let cluster_pages = chips.pages_per_block * dies;
    let capacity = dice.log((1u64 << 30) as f64, (4u64 << 30) as f64);
    let clusters = (capacity / chips.stripe_of_blocks_bytes() as f64) as u64;
    let native = chips.programs_bytes_per_s(chips.row_bytes(), chips.program_ns, chips.programs_max);
    let fits = dies <= 16
        && (4096..=16_384).contains(&chips.row_bytes())
        && cluster_pages < 16_000
        && CLUSTERS.contains(&clusters)
        && native < 0.75 * link.bytes_per_s as f64;
    fits.then_some((chips, clusters))
}
