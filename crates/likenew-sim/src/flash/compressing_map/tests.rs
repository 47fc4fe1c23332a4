//! Compares the compressing FTL with theory, and checks its invariants under random use.

use proptest::prelude::*;
use rand::SeedableRng as _;
use rand_xoshiro::Xoshiro256PlusPlus;

use super::*;
use crate::flash::FlashGeometry;
use crate::flash::compressing_map::STALE_ENTRIES_SLACK;
use crate::flash::translation_layer::laws::{acts, keeps_its_laws};
use crate::theory::greedy;

/// One die of 2048 blocks of 32 pages; a page has 16 granules, or two if it is zeros.
fn shape(spare_share: f64) -> CompressingParameters {
    let mut parameters = CompressingParameters {
        flash: FlashGeometry {
            dies: 1,
            blocks_per_die: 2048,
            pages_per_block: 32,
            row_pages: 2,
            unit_pages: 2,
            user_pages: 1,
        },
        free_blocks_min: 2,
        idle_free_blocks: 0,
        granules_per_page: 16,
        granules_min: 2,
        parity_stripe_units: 0,
    };
    let usable = usable_blocks(&parameters) * f64::from(parameters.block_granules());
    parameters.flash.user_pages = (usable / 16.0 * (1.0 - spare_share)) as u32;
    parameters
}

/// Blocks that hold data when a victim is chosen. The reserve is erased, except for the block that was just
/// opened for the host. The block of relocated entries is half full on average.
fn usable_blocks(parameters: &CompressingParameters) -> f64 {
    let unusable = f64::from(parameters.free_blocks_min) + 0.5;
    f64::from(parameters.flash.dies) * (f64::from(parameters.flash.blocks_per_die) - unusable)
}

fn write(map: &mut CompressingMap, page: u32, data: DataClass) {
    let size = map.size(data);
    map.write(page, size, 0, &mut PendingWork::default());
}

fn fill(map: &mut CompressingMap, data: DataClass) {
    (0..map.user_pages()).for_each(|page| write(map, page, data));
}

/// Flash bytes over host bytes, in random overwrites between `from` and `to` times the drive's pages.
fn random_writes(map: &mut CompressingMap, from: u32, to: u32, data: impl Fn(u32) -> DataClass) -> f64 {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
    let user = map.user_pages();
    let mut round = |map: &mut CompressingMap, rounds: u32| {
        (0..rounds * user).for_each(|step| write(map, random.random_range(0..user), data(step)));
        map.counts()
    };
    let before = round(map, from);
    let after = round(map, to - from);
    let flash = (after.programmed - before.programmed) as f64 / f64::from(map.size_max());
    flash / (after.host_pages - before.host_pages) as f64
}

/// Theoretical write amplification of random writes, if each page takes `size` granules.
///
/// A block holds n = ⌊B/size⌋ of them. Compression turns the spare share S of incompressible pages into 1 −
/// (1 − S)·B/(n·size_max). The FTL then behaves like a page map with blocks of n pages and that spare. Each
/// page takes B/n granules, its part of the padding included.
fn theory(parameters: &CompressingParameters, size: u32) -> f64 {
    let entries = parameters.block_granules() / size;
    let alpha = usable_blocks(parameters) * f64::from(entries) / f64::from(parameters.flash.user_pages);
    let page_share =
        f64::from(parameters.block_granules()) / f64::from(entries * parameters.granules_per_page);
    greedy(entries, alpha) * page_share
}

#[test]
fn a_page_takes_its_compressed_share_and_the_overhead_but_never_more_than_itself() {
    let parameters = shape(0.1);
    for (data, size) in [
        (DataClass::Zero, 2),
        (DataClass::Ratio(0.01), 3),
        (DataClass::Ratio(0.5), 10),
        (DataClass::Ratio(0.51), 11),
        (DataClass::Ratio(0.9), 16),
        (DataClass::Random, 16),
    ] {
        assert_eq!(parameters.size(data), size, "{data}");
    }
}

#[test]
fn random_writes_are_amplified_as_theory_says_whatever_they_compress_to() {
    for spare in [0.07, 0.15, 0.28] {
        for data in [DataClass::Random, DataClass::Ratio(0.75), DataClass::Ratio(0.5), DataClass::Zero] {
            let parameters = shape(spare);
            let mut map = CompressingMap::new(parameters);
            fill(&mut map, data);
            let theory = theory(&parameters, parameters.size(data));
            let measured = random_writes(&mut map, 6, 12, |_| data);
            println!("spare {spare}, {data}: {measured:.4} / {theory:.4} = {:.4}", measured / theory);
            assert!(
                (measured / theory - 1.0).abs() < 0.01,
                "spare {spare}, {data}: {measured} is not {theory}"
            );
        }
    }
}

/// If sizes do not depend on the page, a victim's valid granules say all about it. Pages of the mean size
/// then stand for all of them.
#[test]
fn pages_of_all_sizes_amplify_like_pages_of_their_mean_size() {
    let data = |step| if step % 2 == 0 { DataClass::Random } else { DataClass::Ratio(0.5) };
    for spare in [0.07, 0.15] {
        let parameters = shape(spare);
        let mut map = CompressingMap::new(parameters);
        fill(&mut map, DataClass::Random);
        let theory = theory(&parameters, 13);
        let measured = random_writes(&mut map, 6, 12, data);
        println!("spare {spare}: {measured:.4} / {theory:.4} = {:.4}", measured / theory);
        assert!((measured / theory - 1.0).abs() < 0.03, "spare {spare}: {measured} is not {theory}");
    }
}

#[test]
fn sequential_overwrites_cost_what_they_compress_to() {
    for (data, share) in [(DataClass::Zero, 0.125), (DataClass::Ratio(0.25), 0.375), (DataClass::Random, 1.0)]
    {
        let mut map = CompressingMap::new(shape(0.07));
        (0..3).for_each(|_| fill(&mut map, data));
        let counts = map.counts();
        let measured = counts.programmed as f64 / 16.0 / counts.host_pages as f64;
        assert!((share..share * 1.01).contains(&measured), "{data}: {measured} is not {share}");
    }
}

#[test]
fn one_unit_of_a_stripe_is_parity() {
    let mut parameters = shape(0.07);
    (parameters.flash.dies, parameters.parity_stripe_units) = (4, 4);
    assert_eq!(parameters.block_granules(), 12 * parameters.unit_granules());
    // Over as many dies as a stripe has units, all data units but one are followed by a data unit.
    for unit in 0..12 {
        let after = (0..3).filter(|die| parameters.is_before_parity(unit, *die)).count();
        assert_eq!(after, 1, "unit {unit}");
    }
    parameters.flash.user_pages = 1000;
    let (mut map, mut pending) = (CompressingMap::new(parameters), PendingWork::default());
    for page in 0..2 * 12 * 2 {
        map.write(page, 16, 1, &mut pending);
    }
    assert_eq!(map.counts().programmed, 2 * 16 * map.unit_granules as u64);
    let works: Vec<Work> =
        pending.take_works().map(|(die, work)| (die == 1).then_some(work).unwrap()).collect();
    let parity = Work { moved: 16, programs: 1, ..Work::NONE };
    assert_eq!(works, vec![parity; 8]);
}

#[test]
fn dies_with_parity_advance_together() {
    let mut parameters = shape(0.07);
    (parameters.flash.dies, parameters.flash.user_pages) = (3, 1000);
    let accepting = |map: &CompressingMap| (0..3).filter(|die| map.accepts(*die)).collect::<Vec<_>>();
    for (stripe, after_one, after_two) in [(4, vec![0, 2], vec![0]), (0, vec![0, 1, 2], vec![0, 1, 2])] {
        parameters.parity_stripe_units = stripe;
        let (mut map, mut pending) = (CompressingMap::new(parameters), PendingWork::default());
        let mut unit = |map: &mut CompressingMap, die| {
            (0..2).for_each(|page| map.write(page, 16, die, &mut pending));
            map.end_unit(die, &mut pending);
            accepting(map)
        };
        assert_eq!(unit(&mut map, 1), after_one);
        assert_eq!(unit(&mut map, 2), after_two);
        assert_eq!(unit(&mut map, 0), [0, 1, 2]);
    }
}

#[test]
fn an_entry_continues_in_the_next_unit_but_not_in_the_next_block() {
    let (mut map, mut pending) = (CompressingMap::new(shape(0.07)), PendingWork::default());
    let at = |map: &CompressingMap, page| map.find(page).unwrap().at;
    assert_eq!(map.unit(0).size, 32);
    (0..3).for_each(|page| map.write(page, 15, 0, &mut pending));
    map.end_unit(0, &mut pending);
    assert_eq!((at(&map, 2), map.unit(0).size, map.counts().programmed), (30, 19, 45));
    // That unit was programmed before it was full, and nothing is left to program.
    (0..2).for_each(|_| map.end_unit(0, &mut pending));
    assert_eq!((map.unit(0).size, map.counts().programmed), (32, 64));
    (3..32).for_each(|page| map.write(page, 15, 0, &mut pending));
    map.end_unit(0, &mut pending);
    assert_eq!(
        (at(&map, 31), map.unit(0).size),
        (64 + 28 * 15, 13),
        "the last entry ends 13 granules before the block"
    );
    map.write(32, 14, 0, &mut pending);
    map.end_unit(0, &mut pending);
    assert_eq!((at(&map, 32), map.unit(0).size), (2 * 512, 18), "the next host block begins with it");
    assert_eq!(map.counts().programmed, 512 + 14);
    assert_eq!(pending.take_works().count(), 0);
}

#[test]
fn a_moved_entry_is_read_with_the_rows_that_hold_it_and_programmed_once() {
    let mut parameters = shape(0.07);
    (parameters.flash.blocks_per_die, parameters.flash.user_pages) = (8, 96);
    parameters.idle_free_blocks = 8;
    let (mut map, mut pending) = (CompressingMap::new(parameters), PendingWork::default());
    // A block holds 56 entries of 9 granules and leaves 8 granules empty.
    (0..57).for_each(|page| map.write(page, 9, 0, &mut pending));
    for page in 0..56 {
        if ![2, 3, 7].contains(&page) {
            map.trim(page, &mut pending);
        }
    }
    assert!(map.tend(0, &mut pending));
    // Entry 2 is in row 0, entry 3 in rows 0 and 1, entry 7 in rows 1 and 2.
    let work = Work { rows: 3, moved: 27, erases: 1, ..Work::NONE };
    assert_eq!(pending.take_works().collect::<Vec<_>>(), [(0, work)]);
    (57..113).for_each(|page| map.write(page % 96, 9, 0, &mut pending));
    pending.forget_works();
    assert!(map.find(2).is_some_and(|place| place.size == 9));
    assert_consistent(&map);
}

#[test]
fn what_is_stale_is_forgotten_however_often_a_page_is_written() {
    let mut map = CompressingMap::new(shape(0.5));
    fill(&mut map, DataClass::Zero);
    // Every other write goes to the same page, so half of a block's entries are stale when it closes.
    for step in 0..400_000 {
        write(&mut map, if step % 2 == 0 { 7 } else { 8 + step % 1000 }, DataClass::Zero);
    }
    let listed: usize = map.entries.iter().map(|entries| entries.pages().len()).sum();
    let bound = 2 * map.mapped_pages() as usize + map.entries.len() * STALE_ENTRIES_SLACK as usize;
    assert!(listed <= bound, "{listed} entries are listed for {} pages", map.mapped_pages());
    assert_consistent(&map);
}

#[test]
fn a_shape_that_cannot_work_is_refused() {
    let fits = shape(0.1);
    assert_eq!(fits.check(), Ok(()));
    let refuse = |change: &dyn Fn(&mut CompressingParameters), word: &str| {
        let mut parameters = fits;
        change(&mut parameters);
        let error = parameters.check().unwrap_err().to_string();
        assert!(error.contains(word), "{error}");
    };
    refuse(&|p| p.flash.user_pages = 2044 * 32, "too little spare");
    refuse(&|p| p.flash.blocks_per_die = 4, "too little spare");
    refuse(&|p| p.flash.dies = 0, "at least 1");
    refuse(&|p| p.free_blocks_min = 1, "2 blocks");
    refuse(&|p| p.granules_min = 0, "at least 1");
    refuse(&|p| p.granules_min = 17, "compressed to 17");
    refuse(&|p| p.granules_per_page = 256, "at most 255");
    refuse(&|p| p.parity_stripe_units = 1, "2 at least");
    refuse(&|p| p.parity_stripe_units = 5, "a divisor");
    refuse(&|p| p.flash.row_pages = 4, "of a read");
    refuse(&|p| (p.flash.pages_per_block, p.granules_per_page) = (2048, 32), "65535 in a block");
    refuse(&|p| p.flash.blocks_per_die = 1 << 24, "in all");
    // Parity reduces the spare.
    refuse(&|p| p.parity_stripe_units = 8, "too little spare");
}

fn small_shapes() -> impl Strategy<Value = CompressingParameters> {
    let flash = (1u32..4, 7u32..16, 1u32..6, 1u32..4, 1u32..3);
    let granules = (1u32..20, 1u32..20, 0u32..4);
    (flash, granules, 2u32..4, 1u32..=100).prop_map(
        |((dies, blocks_per_die, units, row_pages, rows), (pages, min, stripe), free_blocks_min, percent)| {
            let unit_pages = row_pages * rows;
            let stripe = if stripe < 2 { 0 } else { stripe };
            let flash = FlashGeometry {
                dies,
                blocks_per_die,
                pages_per_block: units * unit_pages * stripe.max(1),
                row_pages,
                unit_pages,
                user_pages: 1,
            };
            let mut parameters = CompressingParameters {
                flash,
                free_blocks_min,
                idle_free_blocks: blocks_per_die,
                granules_per_page: pages.max(min),
                granules_min: min,
                parity_stripe_units: stripe,
            };
            let room =
                parameters.valid_per_die_max().saturating_sub(u64::from(parameters.unit_granules_max()));
            let user = u64::from(dies) * room / u64::from(pages.max(min)) * u64::from(percent) / 100;
            parameters.flash.user_pages = (user as u32).max(1);
            parameters
        },
    )
}

/// Checks that valid entries match the table, are listed once and in order, and do not overlap. Also checks
/// the counts of valid granules and the reserve.
fn assert_consistent(map: &CompressingMap) {
    let mut entries: Vec<(u32, u32, u32)> = (0..map.user_pages())
        .filter_map(|page| map.entry(page).map(|(granule, size)| (granule, size, page)))
        .collect();
    entries.sort_unstable();
    assert_eq!(entries.len() as u64, map.mapped_pages());
    assert!(entries.windows(2).all(|pair| pair[0].0 + pair[0].1 <= pair[1].0), "entries overlap");
    for block in 0..map.parameters.flash.blocks() {
        let start = block * map.block_granules;
        let end = start + map.block_granules;
        let in_block: Vec<_> = entries.iter().filter(|entry| (start..end).contains(&entry.0)).collect();
        let valid: u32 = in_block.iter().map(|entry| entry.1).sum();
        assert_eq!(u32::from(map.victims.valid(block)), valid, "block {block}");
        assert!(in_block.iter().all(|entry| entry.0 + entry.1 <= end));
        let listed = &map.entries[block as usize];
        let mut of_list = listed.pages().iter();
        assert!(
            in_block.iter().all(|entry| of_list.any(|page| *page == entry.2)),
            "block {block} lists its entries"
        );
    }
    for die in &map.dies {
        assert!(die.free.len() >= map.parameters.free_blocks_min as usize);
        assert!(die.free.iter().all(|block| map.victims.valid(*block) == 0));
        assert!(die.open.iter().all(|open| open.next < map.block_granules));
    }
}

proptest! {
    #[test]
    fn it_keeps_the_laws_and_its_map_stays_consistent(parameters in small_shapes(), acts in acts(600)) {
        prop_assume!(parameters.check().is_ok());
        let mut map = CompressingMap::new(parameters);
        keeps_its_laws(&mut map, parameters.flash.dies, &acts);
        assert_consistent(&map);
    }

    /// Random writes to a full drive always find room, whatever compresses.
    #[test]
    fn a_full_drive_goes_on(parameters in small_shapes(), seed in any::<u64>()) {
        prop_assume!(parameters.check().is_ok());
        let (mut map, mut pending) = (CompressingMap::new(parameters), PendingWork::default());
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        for step in 0..5000 {
            let page = if step < map.user_pages() { step } else { random.random_range(0..map.user_pages()) };
            let size = if random.random_bool(0.7) { map.size_max() } else { random.random_range(1..=map.size_max()) };
            let die = (0..parameters.flash.dies).map(|die| (die + step) % parameters.flash.dies);
            let die = die.into_iter().find(|die| map.accepts(*die)).expect("some die has room");
            map.write(page, size, die, &mut pending);
            if random.random_bool(0.2) {
                map.end_unit(die, &mut pending);
            }
            pending.forget_works();
        }
        assert_consistent(&map);
    }
}

mod block_entries {
    use super::*;

    #[test]
    fn only_the_last_entry_of_a_page_is_kept_and_only_if_it_is_here() {
        let mut entries = BlockEntries::default();
        [7, 3, 7, 5, 9].into_iter().for_each(|page| entries.push(page));
        // Page 7 is valid at its second entry, page 5 elsewhere, page 9 nowhere.
        (0..3).for_each(|_| assert!(!entries.lose()));
        let granule = |page: u32| [(7, 120), (3, 110), (5, 90)].into_iter().find(|(known, _)| *known == page);
        entries.forget_stale(100, 200, |page| granule(page).map(|(_, granule)| granule));
        assert_eq!(entries.pages(), [3, 7]);
    }

    #[test]
    fn it_is_time_to_forget_when_most_is_stale() {
        let mut entries = BlockEntries::default();
        (0..200).for_each(|page| entries.push(page));
        assert_eq!((0..200).position(|_| entries.lose()), Some(132), "67 valid, 133 stale");
    }
}
