//! The translation layer against theory, and its invariants under random use.

use proptest::prelude::*;
use rand::SeedableRng as _;
use rand_xoshiro::Xoshiro256PlusPlus;

use super::*;
use crate::flash::layer_laws::{acts, keeps_its_laws};

/// Write amplification of greedy collection under uniform random writes, in the limit of many blocks: victims hold
/// one of two successive counts m and m − 1 of valid pages (Bux and Iliadis, 2010), mixed by q, and flow balance
/// gives α = Np (H(Np) − H(m) + q/m) / (Np − m + q) and WA = Np / (Np − m + q).
pub(in crate::flash) fn greedy_write_amplification(pages_per_block: u32, alpha: f64) -> f64 {
    let np = f64::from(pages_per_block);
    let harmonic_above = |m: u32| (m + 1..=pages_per_block).map(|i| 1.0 / f64::from(i)).sum::<f64>();
    let alpha_of = |m: u32, q: f64| np * (harmonic_above(m) + q / f64::from(m)) / (np - f64::from(m) + q);
    let m = (1..pages_per_block).find(|m| alpha_of(*m, 0.0) <= alpha).expect("a spare share above zero");
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..60 {
        let middle = (low + high) / 2.0;
        if alpha_of(m, middle) < alpha { low = middle } else { high = middle }
    }
    np / (np - f64::from(m) + low)
}

/// One die of 4096 blocks. At the moment a victim is chosen, the reserve is erased (one block of it has just become
/// the empty host block) and the block of collected pages is half full on average.
fn shape(pages_per_block: u32, spare_share: f64) -> PageMapParameters {
    let mut geometry = PageMapParameters {
        flash: FlashGeometry {
            dies: 1,
            blocks_per_die: 4096,
            pages_per_block,
            row_pages: 1,
            unit_pages: 1,
            user_pages: 1,
        },
        free_blocks_min: 2,
        idle_free_blocks: 0,
        slc_cache: None,
    };
    geometry.flash.user_pages = (usable_pages(&geometry) * (1.0 - spare_share)) as u32;
    geometry
}

fn write(ftl: &mut PageMap, page: u32, die: u32) {
    let mut todo = Todo::default();
    ftl.write(page, 1, die, &mut todo);
}

fn usable_pages(geometry: &PageMapParameters) -> f64 {
    let unusable_blocks = f64::from(geometry.flash.dies) * (f64::from(geometry.free_blocks_min) + 0.5);
    geometry.flash.pages() as f64 - unusable_blocks * f64::from(geometry.flash.pages_per_block)
}

fn fill(ftl: &mut PageMap) {
    for page in 0..ftl.flash.user_pages {
        let die = page % ftl.flash.dies;
        write(ftl, page, die);
    }
}

/// Programmed over host pages between `from` and `to` rounds of as many operations as there are user pages.
fn measure(ftl: &mut PageMap, from: u32, to: u32, mut operate: impl FnMut(&mut PageMap, u64)) -> f64 {
    let round = u64::from(ftl.flash.user_pages);
    (0..u64::from(from) * round).for_each(|step| operate(ftl, step));
    let before = ftl.counts();
    (0..u64::from(to - from) * round).for_each(|step| operate(ftl, step));
    let after = ftl.counts();
    (after.programmed - before.programmed) as f64 / (after.host_pages - before.host_pages) as f64
}

fn random_writes(ftl: &mut PageMap, from: u32, to: u32) -> f64 {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
    let PageMap { flash: FlashGeometry { user_pages, dies, .. }, .. } = *ftl;
    measure(ftl, from, to, |ftl, step| {
        write(ftl, random.random_range(0..user_pages), (step % u64::from(dies)) as u32);
    })
}

#[test]
fn the_formula_gives_the_values_that_are_known() {
    for (pages, spare, known) in
        [(64, 0.07, 6.615), (128, 0.07, 6.945), (64, 0.28, 1.942), (256, 0.40, 1.474), (32, 0.10, 4.508)]
    {
        let found = greedy_write_amplification(pages, 1.0 / (1.0 - spare));
        assert!((found / known - 1.0).abs() < 1e-3, "{pages} pages, spare {spare}: {found} is not {known}");
    }
}

#[test]
fn random_writes_are_amplified_as_theory_says() {
    for (pages_per_block, spare) in
        [(32, 0.07), (64, 0.07), (32, 0.10), (32, 0.15), (64, 0.20), (32, 0.28), (32, 0.40)]
    {
        let mut ftl = PageMap::new(shape(pages_per_block, spare));
        fill(&mut ftl);
        let alpha = usable_pages(&ftl.parameters) / f64::from(ftl.flash.user_pages);
        let theory = greedy_write_amplification(pages_per_block, alpha);
        let found = random_writes(&mut ftl, 6, 14);
        println!("{pages_per_block} {spare} {found} {theory} {}", found / theory - 1.0);
        assert!(
            (found / theory - 1.0).abs() < 0.01,
            "{pages_per_block} pages a block, spare {spare}: {found} is not {theory}"
        );
    }
}

#[test]
fn many_dies_amplify_like_one() {
    let mut geometry = shape(32, 0.15);
    (geometry.flash.dies, geometry.flash.blocks_per_die) = (4, 2048);
    geometry.flash.user_pages = (usable_pages(&geometry) * 0.85) as u32;
    let mut ftl = PageMap::new(geometry);
    fill(&mut ftl);
    let theory = greedy_write_amplification(32, 1.0 / 0.85);
    let found = random_writes(&mut ftl, 6, 12);
    assert!((found / theory - 1.0).abs() < 0.01, "{found} is not {theory}");
}

/// With probability q an operation trims a random mapped page instead of writing a random page. The mapped share
/// settles at s = (1 − 2q)/(1 − q) and the spare share at 1 − s(1 − S) (after Frankie and others, arXiv 1210.5975).
#[test]
fn trim_lowers_write_amplification_as_theory_says() {
    let spare = 0.07;
    for q in [0.1, 0.2] {
        let mut ftl = PageMap::new(shape(32, spare));
        fill(&mut ftl);
        let user = ftl.flash.user_pages;
        let mut random = Xoshiro256PlusPlus::seed_from_u64(2);
        let found = measure(&mut ftl, 6, 14, |ftl, _| {
            let page = random.random_range(0..user);
            if random.random_bool(q) {
                let mut page = page;
                while ftl.flash_page(page).is_none() {
                    page = random.random_range(0..user);
                }
                ftl.trim(page, &mut Todo::default());
            } else {
                write(ftl, page, 0);
            }
        });
        let mapped = (1.0 - 2.0 * q) / (1.0 - q);
        let theory = greedy_write_amplification(32, 1.0 / (mapped * (1.0 - spare)));
        assert!((found / theory - 1.0).abs() < 0.015, "q {q}: {found} is not {theory}");
    }
}

#[test]
fn sequential_overwrites_cost_nothing_extra() {
    let mut ftl = PageMap::new(shape(32, 0.07));
    fill(&mut ftl);
    let user = u64::from(ftl.flash.user_pages);
    let found = measure(&mut ftl, 1, 3, |ftl, step| {
        write(ftl, (step % user) as u32, 0);
    });
    assert!((1.0..1.001).contains(&found), "{found}");
}

#[test]
fn a_shape_that_can_not_work_is_refused() {
    let fits = shape(32, 0.1);
    assert_eq!(fits.check(), Ok(()));
    let refuse = |change: &dyn Fn(&mut PageMapParameters), word: &str| {
        let mut geometry = fits;
        change(&mut geometry);
        let error = geometry.check().unwrap_err();
        assert!(error.contains(word), "{error}");
    };
    refuse(&|g| g.flash.user_pages = 4092 * 32, "too little spare");
    refuse(&|g| g.flash.dies = 0, "at least 1");
    refuse(&|g| g.free_blocks_min = 1, "2 blocks");
    refuse(&|g| g.flash.row_pages = 3, "multiple");
    refuse(&|g| g.flash.pages_per_block = 70_000, "65535");
    refuse(&|g| g.flash.blocks_per_die = 1 << 30, "2³²");
    refuse(&|g| g.flash.blocks_per_die = 3, "too little spare");
}

fn small_shapes() -> impl Strategy<Value = PageMapParameters> {
    (1u32..4, 7u32..16, 1u32..5, 1u32..4, 2u32..4, 1u32..=100).prop_map(
        |(dies, blocks_per_die, units, unit_pages, free_blocks_min, percent)| {
            let mut geometry = PageMapParameters {
                flash: FlashGeometry {
                    dies,
                    blocks_per_die,
                    pages_per_block: units * unit_pages,
                    row_pages: unit_pages,
                    unit_pages,
                    user_pages: 1,
                },
                free_blocks_min,
                idle_free_blocks: blocks_per_die,
                slc_cache: None,
            };
            let room = dies * (geometry.mapped_per_die_max() as u32 - unit_pages);
            geometry.flash.user_pages = (room * percent / 100).max(1);
            geometry
        },
    )
}

/// Both maps agree page by page, so no host page can be read from a place that was overwritten or moved; counts
/// of valid pages are those of the maps; the reserve of erased blocks stands.
fn assert_consistent(ftl: &PageMap) {
    let geometry = ftl.parameters;
    let mut valid = vec![0u32; (geometry.flash.dies * geometry.flash.blocks_per_die) as usize];
    for host_page in 0..geometry.flash.user_pages {
        if let Some(flash_page) = ftl.flash_page(host_page) {
            assert_eq!(ftl.host_pages[flash_page as usize], host_page + 1);
            valid[(flash_page / geometry.flash.pages_per_block) as usize] += 1;
        }
    }
    let held = ftl.host_pages.iter().filter(|held| **held != NOTHING).count() as u64;
    assert_eq!(held, ftl.mapped_pages());
    for (block, valid) in (0..).zip(valid) {
        assert_eq!(u32::from(ftl.victims.valid(block)), valid, "block {block}");
    }
    for die in &ftl.dies {
        assert!(die.free.len() >= geometry.free_blocks_min as usize);
        assert!(die.free.iter().all(|block| ftl.victims.valid(*block) == 0));
        assert!(die.host.next < die.host.end && die.collected.next < die.collected.end);
    }
}

proptest! {
    #[test]
    fn it_keeps_the_laws_and_its_maps_stay_consistent(parameters in small_shapes(), acts in acts(600)) {
        prop_assume!(parameters.check().is_ok());
        let mut map = PageMap::new(parameters);
        keeps_its_laws(&mut map, parameters.flash.dies, &acts);
        assert_consistent(&map);
        prop_assert!(map.counts().programmed >= map.counts().host_pages);
    }
}
