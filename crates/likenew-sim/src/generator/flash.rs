//! Generates flash drives with each family of FTL.

use super::Family;
use super::parts::{
    Chips, Dice, File, Firmware, GeneratedTreatment, Link, MLC, PAGE_MAP_TECHNOLOGIES, SATA_EARLY, SLC, USB,
    WITH_SLC_CACHE, draw_board, draw_buffer,
};

impl Family {
    fn has_slc_cache(self) -> bool {
        matches!(self, Self::StaticSlc | Self::DynamicSlc | Self::HybridSlc)
    }
}

/// Fewest spare blocks per die beyond its reserve. With fewer, theory that counts pages instead of blocks is
/// inaccurate.
const SPARE_BLOCKS_MIN: u64 = 20;
/// Erase blocks of a die that are open at a time.
const OPEN_BLOCKS: u64 = 2;
/// The most mapping units that the host can address: filling that many takes about a second.
const PAGES_MAX: u64 = 500_000;
/// The write buffer only shows from outside if flash programs at most at this share of the link's rate.
const FLASH_OVER_LINK_MAX: f64 = 0.75;

struct Shape {
    chips: Chips,
    link: Link,
    page_bytes: u64,
    capacity_bytes: u64,
    free_blocks_min: u64,
    spare_blocks: u64,
    parity_stripe_units: u64,
    slc: Option<Slc>,
}

#[derive(Clone, Copy)]
struct Slc {
    static_blocks: u64,
    dynamic_percent: u64,
    read_ns: u64,
    program_ns: u64,
}

/// The file of a drive with a page map, and its state.
pub(super) fn draw_page_map(dice: &mut Dice, seed: u64, family: Family) -> (String, String) {
    let shape = loop {
        if let Some(shape) = draw_shape(dice, family) {
            break shape;
        }
    };
    let Shape { chips, link, page_bytes, capacity_bytes, .. } = shape;
    let granules = dice.one_of(&[16, 32, 64]);
    let granules_min = 1 + granules * dice.integer(5..=15) / 100;
    let unit_bytes = match family {
        // A unit holds more pages when they are compressed.
        Family::Compressing => chips.unit_bytes() * granules.div_ceil(granules_min),
        _ => chips.unit_bytes(),
    };
    // Some drives have plenty of memory.
    let most = if dice.chance(0.15) { capacity_bytes / 64 } else { chips.stripe_of_blocks_bytes() / 3 };
    // An SLC cache is much larger than the buffer in front of it.
    let most = most.min(shape.slc.map_or(u64::MAX, |slc| slc.bytes_least(&chips, capacity_bytes) / 12));
    let buffer_bytes = draw_buffer(dice, &chips, page_bytes, unit_bytes, most);
    let firmware = Firmware::draw(dice, &link, buffer_bytes);
    let past = GeneratedTreatment::draw(dice, &chips, (0.2, 1.5));
    let technology = format!("{}, {}", chips.technology.name, link.name);
    let mut file = File::new("flash", seed, &technology, capacity_bytes, 512);
    link.write(&mut file);
    firmware.write(&mut file);
    file.table("map");
    file.word("family", if family == Family::Compressing { "compressing" } else { "page" });
    file.value("page_bytes", page_bytes);
    file.value("free_blocks_min_per_die", shape.free_blocks_min);
    // Some drives garbage-collect ahead in idle time, up to a share of their spare.
    let ahead = shape.free_blocks_min + shape.spare_blocks * dice.integer(25..=60) / 100;
    file.value("idle_free_blocks_per_die", if dice.chance(0.6) { ahead } else { 0 });
    if family == Family::Compressing {
        file.value("granules_per_page", granules);
        file.value("granules_min_per_page", granules_min);
        file.value("parity_stripe_units", shape.parity_stripe_units);
    } else {
        write_policies(dice, &mut file, family);
    }
    if family != Family::Compressing && dice.chance(0.25) {
        file.table("map_cache");
        let covered = dice.log(0.02, 0.4) * capacity_bytes as f64;
        let segment = dice.one_of(&[512, 1024, 2048, 4096]);
        let bytes = (covered / page_bytes as f64 * 4.0 / segment as f64).round().max(4.0) as u64 * segment;
        file.value("bytes", bytes);
        file.value("segment_bytes", segment);
    }
    chips.write(&mut file);
    if let Some(slc) = shape.slc {
        slc.write(&mut file, family, chips.technology.bits);
    }
    past.write(&mut file);
    (file.finish(), past.state)
}

fn write_policies(dice: &mut Dice, file: &mut File, family: Family) {
    match dice.integer(0..=9) {
        0..=6 => file.word("collection", "greedy"),
        7..=8 => {
            file.word("collection", "choices");
            file.value("collection_choices", dice.integer(5..=20));
        }
        _ => file.word("collection", "cost-benefit"),
    }
    if !family.has_slc_cache() {
        file.word("streams", dice.one_of(&["separate", "separate", "mixed", "hot-cold"]));
    }
    file.word("erased_blocks", dice.one_of(&["fifo", "least-worn"]));
}

/// Draws chips, link and sizes; `None` if they do not fit together.
fn draw_shape(dice: &mut Dice, family: Family) -> Option<Shape> {
    let technology = match family {
        Family::PageMap => dice.one_of(&PAGE_MAP_TECHNOLOGIES),
        Family::Compressing => dice.one_of(&[SLC, MLC, MLC]),
        _ => dice.one_of(&WITH_SLC_CACHE),
    };
    let link = technology.draw_link(dice);
    let over_provisioning = dice.log(0.05, 0.40);
    let board = draw_board(dice, (if link.has_long_queues() { 4.0 } else { 2.0 }, 65.0));
    // Large erase blocks and little spare seldom fit on a small drive, so try often.
    (0..400).find_map(|_| {
        let chips = Chips::draw(dice, technology, board);
        draw_sizes(dice, family, chips, link, over_provisioning)
    })
}

fn draw_sizes(
    dice: &mut Dice,
    family: Family,
    mut chips: Chips,
    link: Link,
    over_provisioning: f64,
) -> Option<Shape> {
    let page_bytes = dice.one_of(&[4096, 4096, 8192, 16_384]);
    let divides = chips.page_bytes.is_multiple_of(page_bytes);
    let spans = page_bytes.is_multiple_of(chips.page_bytes) && chips.row_bytes().is_multiple_of(page_bytes);
    let capacity_max = (PAGES_MAX * page_bytes).min(8 << 30) as f64;
    let capacity_bytes = dice.steps((1u64 << 30) as f64, capacity_max, page_bytes);
    let units = chips.pages_per_block / chips.pages_per_program;
    let parity_stripe_units = match family {
        Family::Compressing => dice.one_of(&[0, 8, 16]),
        _ => 0,
    };
    let fits = (divides || spans)
        && chips.pages_per_block.is_multiple_of(chips.pages_per_program)
        && chips.dies() <= 64
        && (parity_stripe_units == 0 || units.is_multiple_of(parity_stripe_units));
    if !fits {
        return None;
    }
    if family.has_slc_cache() {
        chips.programs_max = chips.dies();
    }
    // Blocks per die for this much data and its parity.
    let data = |bytes: f64| {
        let parity = if parity_stripe_units == 0 { 0.0 } else { 1.0 / parity_stripe_units as f64 };
        bytes / (chips.stripe_of_blocks_bytes() as f64 * (1.0 - parity))
    };
    let free_blocks_min = dice.integer(2..=4);
    let spare_blocks = data(capacity_bytes as f64 * over_provisioning).round() as u64;
    if spare_blocks < SPARE_BLOCKS_MIN + free_blocks_min + OPEN_BLOCKS {
        return None;
    }
    chips.blocks_per_plane = data(capacity_bytes as f64).ceil() as u64 + spare_blocks;
    let slc = family.has_slc_cache().then(|| Slc::draw(dice, family, &chips, capacity_bytes));
    chips.blocks_per_plane += slc.map_or(0, |slc| slc.static_blocks);
    let native = chips.programs_bytes_per_s(chips.unit_bytes(), chips.program_ns, chips.programs_max);
    let link_bytes_per_s = link.bytes_per_s as f64;
    let shows = match slc {
        None => {
            native < FLASH_OVER_LINK_MAX * link_bytes_per_s || (family == Family::PageMap && dice.chance(0.1))
        }
        Some(slc) => {
            let cached = chips.programs_bytes_per_s(chips.row_bytes(), slc.program_ns, chips.dies());
            native < 0.6 * cached.min(link_bytes_per_s)
        }
    };
    shows.then_some(Shape {
        chips,
        link,
        page_bytes,
        capacity_bytes,
        free_blocks_min,
        spare_blocks,
        parity_stripe_units,
        slc,
    })
}

impl Slc {
    fn draw(dice: &mut Dice, family: Family, chips: &Chips, capacity_bytes: u64) -> Self {
        let slc_block_bytes = (chips.pages_per_block / chips.technology.bits * chips.row_bytes()) as f64;
        let blocks = dice.log(0.02, 0.12) * capacity_bytes as f64 / chips.dies() as f64 / slc_block_bytes;
        let has = |kinds: [Family; 2]| kinds.contains(&family);
        Self {
            static_blocks: if has([Family::StaticSlc, Family::HybridSlc]) {
                (blocks.round() as u64).max(10)
            } else {
                0
            },
            dynamic_percent: if has([Family::DynamicSlc, Family::HybridSlc]) {
                dice.integer(20..=85)
            } else {
                0
            },
            read_ns: dice.steps(20e3, 35e3, 1000),
            program_ns: dice.steps(150e3, 350e3, 1000),
        }
    }

    /// Its least capacity on an empty drive.
    fn bytes_least(&self, chips: &Chips, capacity_bytes: u64) -> u64 {
        let bits = chips.technology.bits;
        let always = self.static_blocks * (chips.pages_per_block / bits) * chips.row_bytes() * chips.dies();
        always + capacity_bytes * self.dynamic_percent / 100 / bits
    }

    fn write(&self, file: &mut File, family: Family, bits: u64) {
        file.table("slc_cache");
        file.word(
            "kind",
            match family {
                Family::StaticSlc => "static",
                Family::DynamicSlc => "dynamic",
                _ => "hybrid",
            },
        );
        file.value("bits_per_cell", bits);
        if self.static_blocks > 0 {
            file.value("static_blocks_per_die", self.static_blocks);
        }
        if self.dynamic_percent > 0 {
            file.value("dynamic_percent_max", self.dynamic_percent);
        }
        file.word("when_full", "direct");
        file.value("idle_kept_blocks_per_die", 0);
        file.value("read_ns", self.read_ns);
        file.value("program_ns", self.program_ns);
    }
}

/// Fewer clusters are no realistic drive; more take long to fill.
const CLUSTERS: std::ops::RangeInclusive<u64> = 120..=6000;

/// The file of a drive with a block map, BAST or FAST, and its state.
pub(super) fn draw_clusters(dice: &mut Dice, seed: u64, family: Family) -> (String, String) {
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
    let logs = match family {
        Family::BlockMap => dice.integer(1..=4),
        Family::Bast => dice.integer(1..=16),
        _ => dice.integer(2..=24),
    };
    chips.blocks_per_plane = clusters + logs + 2 + clusters * dice.integer(1..=6) / 100;
    // Real drives rarely have a power of two of clusters.
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
        match family {
            Family::BlockMap => "block",
            Family::Bast => "bast",
            _ => "fast",
        },
    );
    file.value("page_bytes", page_bytes);
    file.value("cluster_dies", chips.dies());
    file.value("log_blocks_per_group", logs);
    file.word("merges_copy", dice.one_of(&["every page", "held pages"]));
    file.value("idle_merges", dice.chance(0.4));
    file.value("copy_page_ns", if dice.chance(0.5) { 0 } else { dice.steps(5e3, 5e4, 1000) });
    if family == Family::Bast {
        file.word("eviction", dice.one_of(&["least recent", "oldest"]));
        file.value("partial_merges", dice.chance(0.5));
    }
    chips.write(&mut file);
    past.write(&mut file);
    (file.finish(), past.state)
}

/// Chips whose planes always work together as one page, and the number of clusters they hold; `None` if they
/// do not fit.
fn draw_chips(dice: &mut Dice, chips: Chips, link: &Link) -> Option<(Chips, u64)> {
    let chips = Chips { planes: dice.one_of(&[1, 1, 2]), pages_per_program: 1, ..chips };
    // All planes together form one page.
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
