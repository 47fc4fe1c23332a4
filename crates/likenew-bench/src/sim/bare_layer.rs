//! Measures the page map without simulated time: random host writes under steady garbage collection, and a
//! fill.

use std::time::Instant;

use likenew_sim::flash::FlashGeometry;
use likenew_sim::flash::page_map::PageMap;
use likenew_sim::flash::policies::{PageMapParameters, Policies};
use likenew_sim::flash::translation_layer::{PendingWork, TranslationLayer as _};
use likenew_sim::memory::{Table, prefetch};
use rand::{RngExt as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::case_run;
use crate::table::middle;

/// Writes of a round.
const WRITES: u32 = 4_000_000;
const ROUNDS: usize = 5;
/// Number of writes between announcing one and making it, as in a drive's write buffer.
const AHEAD: usize = 32;
/// Blocks of each of 40 dies, for drives of 1.2, 10, 80 GB and 1 TB, and goals in million host writes a
/// second.
const SIZES: [(u32, Option<f64>); 4] = [(64, None), (512, None), (4096, Some(8.0)), (51_200, Some(4.0))];

/// Prints the speed of drives of several sizes, up to `bytes_max` user bytes.
pub(super) fn run(bytes_max: f64) -> anyhow::Result<()> {
    println!("The page map alone, 40 dies, blocks of 128 pages of 4 KiB, 7% spare");
    println!(
        "  {:>10} {:>8} {:>10} {:>10} {:>6} {:>6} {:>14} {:>14} {:>16}",
        "user bytes",
        "memory",
        "fill s",
        "random M/s",
        "goal",
        "WA",
        "flash pages/s",
        "updates/s",
        "pages per update"
    );
    for (blocks_per_die, goal) in SIZES {
        let user_pages = user_pages(blocks_per_die);
        if f64::from(user_pages) * 4096.0 <= bytes_max {
            report(&measure(blocks_per_die, ROUNDS)?, user_pages, goal);
        }
    }
    Ok(())
}

/// Results of a page map alone.
pub(crate) struct BareLayer {
    pub(crate) fill_s: f64,
    /// Host writes a second in the steady state, in each round.
    pub(crate) writes_per_s: Vec<f64>,
    pub(crate) programs_per_write: f64,
    pub(crate) memory_bytes: f64,
    /// Updates of a table as large as those of the map, in the same run.
    pub(crate) updates: RandomUpdates,
}

/// User pages of 40 dies with 7% spare after the erased reserve.
pub(crate) fn user_pages(blocks_per_die: u32) -> u32 {
    (f64::from(40 * (blocks_per_die - 3)) * 128.0 * 0.93) as u32
}

/// Measures a page map of 40 dies, with 128 pages of 4 KiB a block.
///
/// # Errors
/// The system does not say how much memory this process has.
pub(crate) fn measure(blocks_per_die: u32, rounds: usize) -> anyhow::Result<BareLayer> {
    let user_pages = user_pages(blocks_per_die);
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
    let memory_before = case_run::memory_bytes("VmRSS:")?;
    let start = Instant::now();
    let mut map = PageMap::new(geometry);
    map.expect_use();
    (0..user_pages).for_each(|page| {
        map.write(page, 1, page % 40, &mut pending);
        pending.forget_works();
    });
    let fill = start.elapsed().as_secs_f64();
    let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
    let mut announced = [0; AHEAD];
    let mut write = |map: &mut PageMap, count: u32| {
        (0..count).for_each(|step| {
            let page = random.random_range(0..user_pages);
            map.announce(page);
            let page = std::mem::replace(&mut announced[step as usize % AHEAD], page);
            map.write(page, 1, step % 40, &mut pending);
            pending.forget_works();
        });
    };
    write(&mut map, 2 * user_pages);
    let before = map.counts();
    let round = |_| {
        let start = Instant::now();
        write(&mut map, WRITES);
        f64::from(WRITES) / start.elapsed().as_secs_f64()
    };
    let writes_per_s: Vec<f64> = (0..rounds).map(round).collect();
    let after = map.counts();
    let memory = case_run::memory_bytes("VmRSS:")? - memory_before;
    drop(map);
    // A table as large as the two tables of the map together.
    let updates = RandomUpdates::measure(2 * user_pages as usize);
    Ok(BareLayer {
        fill_s: fill,
        writes_per_s,
        programs_per_write: (after.programmed - before.programmed) as f64
            / (after.host_pages - before.host_pages) as f64,
        memory_bytes: memory,
        updates,
    })
}

fn report(bare_layer: &BareLayer, user_pages: u32, goal: Option<f64>) {
    let writes_per_s = middle(&bare_layer.writes_per_s);
    let programs_per_s = writes_per_s * bare_layer.programs_per_write;
    println!(
        "  {:>10.2e} {:>7.2}G {fill:>10.2} {:>10.2} {:>6} {:>6.2} {:>13.1}M {:>13.1}M {:>16.2}",
        f64::from(user_pages) * 4096.0,
        bare_layer.memory_bytes / 1e9,
        writes_per_s / 1e6,
        goal.map_or_else(String::new, |goal| format!("≥ {goal}")),
        bare_layer.programs_per_write,
        programs_per_s / 1e6,
        bare_layer.updates.plain / 1e6,
        programs_per_s / bare_layer.updates.plain,
        fill = bare_layer.fill_s,
    );
}

/// Random updates of a table a second, each a plain load and store: the limit that memory sets to a program.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RandomUpdates {
    /// Without a hint to the processor.
    pub(crate) plain: f64,
    /// Each entry is prefetched [`AHEAD`] updates before its own.
    pub(crate) hinted: f64,
}

impl RandomUpdates {
    /// Measures a table of `entries` entries of 4 bytes, kept as a drive keeps its own.
    pub(crate) fn measure(entries: usize) -> Self {
        let mut table = Table::<u32>::zeroed(entries);
        table.use_large_pages();
        table.fill(1);
        let plain = updates_per_s(&mut table, |_, index| index);
        let mut ring = [0; AHEAD];
        let mut at = 0;
        let hinted = updates_per_s(&mut table, |table, index| {
            prefetch(table, index);
            at = (at + 1) % AHEAD;
            std::mem::replace(&mut ring[at], index)
        });
        std::hint::black_box(table);
        Self { plain, hinted }
    }
}

/// `choose` is given the index of a random entry and returns that of the entry to update.
fn updates_per_s(table: &mut [u32], mut choose: impl FnMut(&[u32], usize) -> usize) -> f64 {
    const UPDATES: u32 = 50_000_000;
    let mut random = Xoshiro256PlusPlus::seed_from_u64(2);
    let entries = table.len() as u32;
    let start = Instant::now();
    for _ in 0..UPDATES {
        let index = choose(table, random.random_range(0..entries) as usize);
        table[index] = table[index].wrapping_mul(3);
    }
    f64::from(UPDATES) / start.elapsed().as_secs_f64()
}
