//! Checks that the pseudo-SLC cache keeps every page, its size and the native reserve, and costs what it should.

use proptest::prelude::*;

use super::*;
use crate::flash::FlashGeometry;
use crate::flash::policies::Policies;
use crate::flash::translation_layer::TranslationLayer as _;
use crate::flash::translation_layer::laws::{acts, keeps_its_laws};

/// One die of 60 blocks of 48 pages, in rows of 2 and units of 6. The host has 2000 pages, which are 41 native blocks.
fn shape(slc: SlcCacheParameters) -> PageMapParameters {
    PageMapParameters {
        flash: FlashGeometry {
            dies: 1,
            blocks_per_die: 60,
            pages_per_block: 48,
            row_pages: 2,
            unit_pages: 6,
            user_pages: 2000,
        },
        free_blocks_min: 2,
        idle_free_blocks: 0,
        slc_cache: Some(slc),
        policies: Policies::default(),
    }
}

/// TLC, a dynamic cache of all free capacity, and direct native writes when it is full.
const DYNAMIC: SlcCacheParameters = SlcCacheParameters {
    bits_per_cell: 3,
    static_blocks: 0,
    dynamic_percent_max: 100,
    when_full: WhenFull::Direct,
    idle_kept_blocks: 0,
};

const STATIC: SlcCacheParameters = SlcCacheParameters { static_blocks: 8, dynamic_percent_max: 0, ..DYNAMIC };

/// Writes pages to the only die, unit by unit; returns how many went to SLC cells, and the work.
fn write(map: &mut PageMap, pages: std::ops::Range<u32>) -> (u32, Work) {
    let (mut pending, mut slc_pages) = (PendingWork::default(), 0);
    for page in pages {
        slc_pages += u32::from(map.unit(0).cell == Cell::Slc);
        map.write(page, 1, 0, &mut pending);
    }
    (slc_pages, sum(&mut pending))
}

fn sum(pending: &mut PendingWork) -> Work {
    let mut total = Work::NONE;
    pending.take_works().for_each(|(_, work)| total.add(work));
    total
}

/// Lets the only die do all of its idle work.
fn rest(map: &mut PageMap) -> Work {
    let mut pending = PendingWork::default();
    while map.tend(0, &mut pending) {}
    sum(&mut pending)
}

fn free(map: &PageMap) -> u32 {
    map.free_blocks() as u32
}

#[test]
fn a_static_cache_takes_what_its_blocks_hold_with_one_bit_a_cell() {
    let mut map = PageMap::new(shape(STATIC));
    let (slc_pages, work) = write(&mut map, 0..1000);
    assert_eq!((slc_pages, work), (8 * 16, Work::NONE));
    assert!((0..128).all(|page| map.find(page).unwrap().cell == Cell::Slc));
    assert!((128..1000).all(|page| map.find(page).unwrap().cell == Cell::Native));
    let rows: std::collections::BTreeSet<u64> = (0..128).map(|page| map.find(page).unwrap().row).collect();
    assert_eq!(rows.len(), 64, "two pages come with one read");
}

#[test]
fn idle_time_brings_back_as_much_as_is_folded() {
    let mut map = PageMap::new(shape(STATIC));
    write(&mut map, 0..500);
    let (before, erased) = (map.counts(), free(&map));
    let work = rest(&mut map);
    assert_eq!(work, Work { slc_rows: 64, moved: 128, programs: 21, erases: 8, ..Work::NONE });
    assert_eq!(map.counts().programmed - before.programmed, 128);
    assert!((0..500).all(|page| map.find(page).unwrap().cell == Cell::Native));
    // Folded pages take three native blocks, one of which was already open; one of eight static blocks is open again.
    assert_eq!(free(&map), erased + 7 - 2);
    assert_eq!(write(&mut map, 500..1000).0, 128);
    assert_eq!(rest(&mut map).erases, 8);
}

#[test]
fn a_drive_may_keep_some_of_it_in_idle_time() {
    let mut map = PageMap::new(shape(SlcCacheParameters { idle_kept_blocks: 5, ..STATIC }));
    write(&mut map, 0..500);
    assert_eq!(rest(&mut map).erases, 3);
    assert_eq!(write(&mut map, 500..1000).0, 3 * 16);
}

#[test]
fn what_was_overwritten_or_trimmed_is_erased_and_not_moved() {
    let mut map = PageMap::new(shape(STATIC));
    write(&mut map, 0..128);
    write(&mut map, 128..200);
    // The second native block of 48 pages is full after 24 of these. By then the first SLC block holds no valid data.
    let (slc_pages, work) = write(&mut map, 0..32);
    assert_eq!((slc_pages, work), (8, Work { erases: 1, ..Work::NONE }));
    (112..128).for_each(|page| map.trim(page, &mut PendingWork::default()));
    assert_eq!(rest(&mut map), Work { slc_rows: 40, moved: 80, programs: 13, erases: 7, ..Work::NONE });
}

/// If the cache is full and writes wait for folding, every page is programmed twice.
#[test]
fn a_full_cache_is_folded_for_each_write_if_the_drive_waits_for_that() {
    let mut map = PageMap::new(shape(SlcCacheParameters { when_full: WhenFull::Fold, ..STATIC }));
    let (slc_pages, work) = write(&mut map, 0..128 + 4 * 16);
    // The block for the next page is prepared at once.
    assert_eq!((slc_pages, work.moved, work.erases), (192, 5 * 16, 5));
    let (slc_pages, work) = write(&mut map, 192..1152);
    assert_eq!((slc_pages, work.moved), (960, 960));
    assert_eq!(map.counts().programmed, 1152 + 5 * 16 + 960);
}

/// Up to two blocks less, because blocks are whole and one native block stays open for the host.
#[test]
fn a_dynamic_cache_is_as_large_as_what_is_free_divided_by_the_bits() {
    for (percent, filled) in [(100, 0), (100, 500), (100, 1000), (50, 0), (50, 1000), (20, 500)] {
        let mut map = PageMap::new(shape(SlcCacheParameters { dynamic_percent_max: percent, ..DYNAMIC }));
        write(&mut map, 0..filled);
        rest(&mut map);
        let (slc_pages, _) = write(&mut map, filled..2000);
        let (first, step) = (slc_pages as f64, 16.0);
        let predicted = f64::from((2000 - filled) * percent) / 100.0 / 3.0;
        assert!(
            (predicted - first).abs() <= 2.0 * step,
            "{percent} % of free at {filled}: {first} of {predicted}"
        );
    }
}

/// If the cache may have half of the free capacity, it takes a sixth of the drive. Half of the drive then
/// goes straight to native blocks. Only after that is anything folded that is in the way.
#[test]
fn dynamic_blocks_are_given_back_when_native_room_runs_out() {
    let mut map = PageMap::new(shape(SlcCacheParameters { dynamic_percent_max: 50, ..DYNAMIC }));
    let mut folded_from = None;
    for page in 0..2000 {
        let (_, work) = write(&mut map, page..page + 1);
        if work.moved > 0 {
            folded_from.get_or_insert(page);
        }
    }
    let predicted = 2000.0 * (0.5 / 3.0 + 0.5);
    let measured = f64::from(folded_from.unwrap());
    assert!((measured / predicted - 1.0).abs() < 0.05, "{measured} of {predicted}");
    let programmed = map.counts().programmed as f64 / 2000.0;
    assert!(
        (programmed - (1.0 + 0.5 / 3.0)).abs() < 0.02,
        "all that went through the cache, twice: {programmed}"
    );
    assert_eq!(rest(&mut map).moved, 0, "a full drive has folded everything");
}

#[test]
fn a_hybrid_cache_is_the_sum_of_both_and_a_full_drive_keeps_the_static_part() {
    let hybrid = SlcCacheParameters { static_blocks: 8, dynamic_percent_max: 40, ..DYNAMIC };
    let mut map = PageMap::new(shape(hybrid));
    let (slc_pages, _) = write(&mut map, 0..1000);
    let predicted = 128.0 + 0.4 * (2000.0 - 128.0) / 3.0;
    assert!((f64::from(slc_pages) - predicted).abs() < 32.0, "{slc_pages} of {predicted}");
    write(&mut map, 1000..2000);
    rest(&mut map);
    let (slc_pages, work) = write(&mut map, 0..500);
    assert!((128..160).contains(&slc_pages), "{slc_pages}");
    assert!(work.moved < 600, "{work:?}");
}

/// Blocks without valid data are erased when the cache needs them, even without idle garbage collection.
#[test]
fn trim_gives_the_cache_back_what_it_frees() {
    let mut map = PageMap::new(shape(DYNAMIC));
    write(&mut map, 0..2000);
    rest(&mut map);
    let (slc_pages, _) = write(&mut map, 0..100);
    assert!(
        slc_pages <= 32,
        "a full drive has the rest of an open block and what that takes out of native ones"
    );
    (0..2000).for_each(|page| map.trim(page, &mut PendingWork::default()));
    rest(&mut map);
    let (slc_pages, work) = write(&mut map, 0..600);
    assert_eq!((slc_pages, work.moved), (600, 0));
}

#[test]
fn a_cache_that_cannot_be_is_refused() {
    let refuse = |slc: SlcCacheParameters, word: &str| {
        let error = shape(slc).check().unwrap_err().to_string();
        assert!(error.contains(word), "{error}");
    };
    assert_eq!(shape(DYNAMIC).check(), Ok(()));
    refuse(SlcCacheParameters { bits_per_cell: 1, ..DYNAMIC }, "2 to 5");
    refuse(SlcCacheParameters { dynamic_percent_max: 101, ..DYNAMIC }, "0 to 100");
    refuse(SlcCacheParameters { dynamic_percent_max: 0, ..DYNAMIC }, "a static part");
    refuse(SlcCacheParameters { static_blocks: 15, ..DYNAMIC }, "too little spare");
    refuse(SlcCacheParameters { static_blocks: u32::MAX, ..DYNAMIC }, "too little spare");
    let mut coarse = shape(DYNAMIC);
    coarse.flash.row_pages = 24;
    assert!(coarse.check().unwrap_err().to_string().contains("holds no row"));
}

fn caches() -> impl Strategy<Value = SlcCacheParameters> {
    (2u32..=5, 0u32..4, 0u32..=100, any::<bool>(), 0u32..3).prop_map(
        |(bits_per_cell, static_blocks, dynamic_percent_max, direct, idle_kept_blocks)| SlcCacheParameters {
            bits_per_cell,
            static_blocks,
            dynamic_percent_max,
            when_full: if direct { WhenFull::Direct } else { WhenFull::Fold },
            idle_kept_blocks,
        },
    )
}

/// Small shapes, some of which cannot work.
fn shapes() -> impl Strategy<Value = PageMapParameters> {
    (caches(), 1u32..4, 8u32..30, 1u32..4, 1u32..3, 2u32..4, 2u32..4, 1u32..=100).prop_map(
        |(slc, dies, blocks_per_die, row_pages, rows, units, free_blocks_min, percent)| {
            let mut parameters = PageMapParameters {
                flash: FlashGeometry {
                    dies,
                    blocks_per_die,
                    pages_per_block: row_pages * rows * units * 2,
                    row_pages,
                    unit_pages: row_pages * rows,
                    user_pages: 1,
                },
                free_blocks_min,
                idle_free_blocks: blocks_per_die / 2,
                slc_cache: Some(slc),
                policies: Policies::default(),
            };
            let room = parameters.mapped_per_die_max().saturating_sub(u64::from(parameters.flash.unit_pages));
            parameters.flash.user_pages = (dies * room as u32 * percent / 100).max(1);
            parameters
        },
    )
}

/// Checks that each block is in one place, the reserve is erased, native blocks have room beside dynamic
/// ones, and blocks agree with the map.
fn assert_consistent(map: &PageMap) {
    let (flash, slc) = (map.flash, map.slc());
    let mut valid = vec![0u32; flash.blocks() as usize];
    (0..flash.user_pages).filter_map(|page| map.flash_page(page)).for_each(|at| {
        assert!(map.host_pages[at as usize] > 0);
        valid[(at / flash.pages_per_block) as usize] += 1;
    });
    for (index, (die, cache)) in (0..).zip(map.dies.iter().zip(&slc.dies)) {
        assert!(die.free.len() >= map.parameters.free_blocks_min as usize);
        let open = cache.native_host.map(|_| die.host.block);
        if open.is_none() && cache.dynamic > 0 {
            let taken = map.promised_pages(index) + cache.dynamic * flash.pages_per_block;
            assert!(taken <= slc.native_and_dynamic_max, "dynamic blocks stand in the way of native ones");
        }
        let in_cache: Vec<u32> = cache.full.iter().copied().chain(open).collect();
        assert_eq!(in_cache.iter().filter(|block| map.is_dynamic(**block)).count(), cache.dynamic as usize);
        assert!(in_cache.iter().all(|block| slc.cells[*block as usize] == Cell::Slc));
        assert!(in_cache.iter().all(|block| valid[*block as usize] <= slc.block_pages));
        let erased: Vec<u32> = die.free.iter().chain(&cache.static_free).copied().collect();
        assert!(
            erased
                .iter()
                .all(|block| valid[*block as usize] == 0 && slc.cells[*block as usize] == Cell::Native)
        );
        assert!(cache.static_free.iter().all(|block| !map.is_dynamic(*block)));
        assert!(die.free.iter().all(|block| map.is_dynamic(*block)));
        let mut blocks = [in_cache, erased].concat();
        blocks.sort_unstable();
        blocks.dedup_by(|a, b| {
            assert_ne!(a, b, "a block is in two places");
            false
        });
        assert!(die.host.next < die.host.end && die.collected.is_some_and(|open| open.next < open.end));
        let first = index * flash.blocks_per_die;
        let mapped_count: u32 = valid[first as usize..][..flash.blocks_per_die as usize].iter().sum();
        assert_eq!(mapped_count, die.mapped);
    }
}

proptest! {
    #[test]
    fn it_keeps_the_laws_and_its_books(parameters in shapes(), acts in acts(600)) {
        prop_assume!(parameters.check().is_ok());
        let mut map = PageMap::new(parameters);
        keeps_its_laws(&mut map, parameters.flash.dies, &acts);
        assert_consistent(&map);
        let mut pending = PendingWork::default();
        for die in 0..parameters.flash.dies {
            while map.tend_slc(die, &mut pending) {}
            let left = map.slc().dies[die as usize].full.len() as u32;
            prop_assert!(left <= parameters.slc_cache.unwrap().idle_kept_blocks);
        }
        assert_consistent(&map);
    }
}
