//! Speed of the page map without simulated time: random host writes under steady garbage collection, and a
//! fill.

use std::time::Instant;

use likenew_sim::flash::flash_geometry::FlashGeometry;
use likenew_sim::flash::page_map::PageMap;
use likenew_sim::flash::page_map_parameters::PageMapParameters;
use likenew_sim::flash::policies::Policies;
use likenew_sim::flash::translation_layer::{PendingWork, TranslationLayer as _};
use rand::{RngExt as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;

const WRITES: u32 = 20_000_000;

/// Prints drives of three sizes.
pub(super) fn run() {
    println!(
        "The page map alone, 40 dies, blocks of 128 pages of 4 KiB, 7% spare [random ≥ 3 million host writes a second a core]"
    );
    println!("  {:>10} {:>12} {:>10} {:>14} {:>8}", "user bytes", "fill s", "fill M/s", "random M/s", "WA");
    for blocks_per_die in [64, 512, 4096] {
        report(blocks_per_die);
    }
}

/// 40 dies, 128 pages of 4 KiB a block, spare share 7% after the erased reserve.
fn report(blocks_per_die: u32) {
    let user_pages = (f64::from(40 * (blocks_per_die - 3) * 128) * 0.93) as u32;
    let geometry = PageMapParameters {
        flash: FlashGeometry {
            dies: 40,
            blocks_per_die,
            pages_per_block: 128,
            row_pages: 1,
            unit_pages: 1,
            user_pages,
        },
        free_blocks_min: 2,
        idle_free_blocks: 0,
        slc_cache: None,
        policies: Policies::default(),
    };
    let mut pending = PendingWork::default();
    let start = Instant::now();
    let mut map = PageMap::new(geometry);
    (0..user_pages).for_each(|page| {
        map.write(page, 1, page % 40, &mut pending);
        pending.forget_works();
    });
    let fill = start.elapsed().as_secs_f64();
    let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
    let mut write = |map: &mut PageMap, count: u32| {
        (0..count).for_each(|step| {
            map.write(random.random_range(0..user_pages), 1, step % 40, &mut pending);
            pending.forget_works();
        });
    };
    write(&mut map, 2 * user_pages);
    let before = map.counts();
    let start = Instant::now();
    write(&mut map, WRITES);
    let seconds = start.elapsed().as_secs_f64();
    let programmed = map.counts().programmed - before.programmed;
    println!(
        "  {:>10.2e} {fill:>12.3} {:>10.1} {:>14.2} {:>8.2}",
        f64::from(user_pages) * 4096.0,
        f64::from(user_pages) / fill / 1e6,
        f64::from(WRITES) / seconds / 1e6,
        programmed as f64 / f64::from(WRITES),
    );
}
