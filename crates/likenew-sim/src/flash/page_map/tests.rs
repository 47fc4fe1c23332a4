//! The page map's shapes, its wear, and its invariants under random use with every policy.

use proptest::prelude::*;
use rand::SeedableRng as _;
use rand_xoshiro::Xoshiro256PlusPlus;

use super::*;
use crate::flash::policies::{Collection, ErasedBlocks, Policies};
use crate::flash::translation_layer::laws::{acts, keeps_its_laws};
use crate::theory::greedy;

/// One die of 4096 blocks.
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
        policies: Policies::default(),
    };
    geometry.flash.user_pages = (geometry.closed_pages() * (1.0 - spare_share)) as u32;
    geometry
}

fn write(ftl: &mut PageMap, page: u32, die: u32) {
    let mut pending = PendingWork::default();
    ftl.write(page, 1, die, &mut pending);
}

fn fill(ftl: &mut PageMap) {
    for page in 0..ftl.flash.user_pages {
        let die = page % ftl.flash.dies;
        write(ftl, page, die);
    }
}

/// Flash pages programmed per host page, between rounds `from` and `to` of as many operations as user pages.
fn measure(ftl: &mut PageMap, from: u32, to: u32, mut operate: impl FnMut(&mut PageMap, u64)) -> f64 {
    let round = u64::from(ftl.flash.user_pages);
    (0..u64::from(from) * round).for_each(|step| operate(ftl, step));
    let before = ftl.counts();
    (0..u64::from(to - from) * round).for_each(|step| operate(ftl, step));
    let after = ftl.counts();
    (after.programmed - before.programmed) as f64 / (after.host_pages - before.host_pages) as f64
}

#[test]
fn announcements_change_nothing() {
    let geometry = shape(32, 0.1);
    let [mut announced, mut plain] = [PageMap::new(geometry), PageMap::new(geometry)];
    assert!(announced.is_large());
    let mut random = Xoshiro256PlusPlus::seed_from_u64(2);
    let mut pages: Vec<u32> = (0..geometry.flash.user_pages).collect();
    pages.extend((0..geometry.flash.user_pages).map(|_| random.random_range(0..geometry.flash.user_pages)));
    for (step, page) in pages.iter().enumerate() {
        // Some announced pages are written much later, and some never.
        announced.announce(pages[(step * 7) % pages.len()]);
        write(&mut announced, *page, 0);
        write(&mut plain, *page, 0);
    }
    assert!(announced.counts().erases > 0);
    assert_eq!(announced.counts(), plain.counts());
    assert!((0..geometry.flash.user_pages).all(|page| announced.find(page) == plain.find(page)));
}

fn random_writes(ftl: &mut PageMap, from: u32, to: u32) -> f64 {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
    let PageMap { flash: FlashGeometry { user_pages, dies, .. }, .. } = *ftl;
    measure(ftl, from, to, |ftl, step| {
        write(ftl, random.random_range(0..user_pages), (step % u64::from(dies)) as u32);
    })
}

#[test]
fn many_dies_amplify_like_one() {
    let mut geometry = shape(32, 0.15);
    (geometry.flash.dies, geometry.flash.blocks_per_die) = (4, 2048);
    geometry.flash.user_pages = (geometry.closed_pages() * 0.85) as u32;
    let mut ftl = PageMap::new(geometry);
    fill(&mut ftl);
    let theory = greedy(32, 1.0 / 0.85);
    let measured = random_writes(&mut ftl, 6, 12);
    assert!((measured / theory - 1.0).abs() < 0.01, "{measured} is not {theory}");
}

#[test]
fn sequential_overwrites_cost_nothing_extra() {
    let mut ftl = PageMap::new(shape(32, 0.07));
    fill(&mut ftl);
    let user = u64::from(ftl.flash.user_pages);
    let measured = measure(&mut ftl, 1, 3, |ftl, step| {
        write(ftl, (step % user) as u32, 0);
    });
    assert!((1.0..1.001).contains(&measured), "{measured}");
}

#[test]
fn a_shape_that_cannot_work_is_refused() {
    let fits = shape(32, 0.1);
    assert_eq!(fits.check(), Ok(()));
    let refuse = |change: &dyn Fn(&mut PageMapParameters), word: &str| {
        let mut geometry = fits;
        change(&mut geometry);
        let error = geometry.check().unwrap_err().to_string();
        assert!(error.contains(word), "{error}");
    };
    refuse(&|g| g.flash.user_pages = 4092 * 32, "too little spare");
    refuse(&|g| g.flash.dies = 0, "at least 1");
    refuse(&|g| g.free_blocks_min = 1, "2 blocks");
    refuse(&|g| g.policies.collection = Collection::Choices(0), "at least 1");
    refuse(&|g| g.policies.endurance_erases = Some(0), "at least 1");
    refuse(&|g| g.flash.row_pages = 3, "multiple");
    refuse(&|g| g.flash.pages_per_block = 70_000, "65535");
    refuse(&|g| g.flash.blocks_per_die = 1 << 30, "2³²");
    refuse(&|g| g.flash.blocks_per_die = 3, "too little spare");
}

/// Fills a small die, then writes as many pages as it has, `rounds` times, a share `hot_writes` of them to a
/// twentieth of its pages. Also returns how many pages were relocated.
fn wear_down(policies: Policies, hot_writes: f64, rounds: u32) -> (PageMap, u64) {
    let mut parameters = PageMapParameters { policies, ..shape(16, 0.2) };
    parameters.flash.blocks_per_die = 256;
    parameters.flash.user_pages = (parameters.closed_pages() * 0.8) as u32;
    let mut map = PageMap::new(parameters);
    fill(&mut map);
    let mut random = Xoshiro256PlusPlus::seed_from_u64(3);
    let (user, mut pending, mut moved) = (parameters.flash.user_pages, PendingWork::with_changes(), 0);
    for _ in 0..rounds * user {
        if map.is_read_only() {
            break;
        }
        let hot = random.random_bool(hot_writes);
        let page = random.random_range(if hot { 0..user / 20 } else { user / 20..user });
        map.write(page, 1, 0, &mut pending);
        moved +=
            pending.take_changes().filter(|change| matches!(change, Change::Moved { .. })).count() as u64;
        pending.forget_works();
    }
    (map, moved)
}

#[test]
fn wear_spreads_unless_resting_blocks_are_moved() {
    let choices = [ErasedBlocks::Fifo, ErasedBlocks::LeastWorn].map(|erased| [(erased, 0.9), (erased, 1.0)]);
    for (erased_blocks, hot_writes) in choices.into_iter().flatten() {
        let wear = |wear_spread_max| {
            let policies = Policies { erased_blocks, wear_spread_max, ..Policies::default() };
            let (map, moved) = wear_down(policies, hot_writes, 60);
            assert_consistent(&map);
            let counts = map.counts();
            assert_eq!(counts.programmed, counts.host_pages + moved, "every page that moves is counted");
            (map.wear().erases_max - map.wear().erases_min, counts.programmed)
        };
        let ((alone, without), (levelled, with)) = (wear(0), wear(20));
        assert!(alone > 60 && levelled <= 20, "{erased_blocks:?}, {hot_writes}: {alone} and {levelled}");
        // If some resting pages are written, moving them also sorts them, which may save more than it costs.
        assert!(with > without || hot_writes < 1.0, "{with} pages are not more than {without}");
    }
}

#[test]
fn blocks_that_fail_take_the_spare_and_then_end_the_drive() {
    let endurance = |endurance_erases| Policies { endurance_erases, ..Policies::default() };
    let (immortal, _) = wear_down(endurance(None), 0.5, 100);
    assert_eq!((immortal.wear().bad_blocks, immortal.is_read_only()), (0, false));
    let (map, _) = wear_down(endurance(Some(100)), 0.5, 1000);
    assert!(map.is_read_only());
    let spare_blocks = (map.parameters.mapped_per_die_max() as u32 - map.user_pages()) / 16;
    // Garbage collection under way continues until the reserve is restored, and may meet another block that fails.
    let bad_blocks = map.wear().bad_blocks;
    assert!((spare_blocks + 1..spare_blocks + 4).contains(&bad_blocks), "{bad_blocks} of {spare_blocks}");
    assert_consistent(&map);
    assert!((0..map.user_pages()).all(|page| map.find(page).is_some()), "all data can still be read");
}

fn policies() -> impl Strategy<Value = Policies> {
    let collection = prop_oneof![
        Just(Collection::Greedy),
        Just(Collection::Fifo),
        (1u32..5).prop_map(Collection::Choices),
        Just(Collection::CostBenefit),
    ];
    let streams = prop::sample::select(vec![Streams::Mixed, Streams::Separate, Streams::HotCold]);
    let erased_blocks = prop::sample::select(vec![ErasedBlocks::Fifo, ErasedBlocks::LeastWorn]);
    let spread = prop_oneof![Just(0u32), 1u32..6];
    let endurance = prop_oneof![2 => Just(None), 1 => (1u32..8).prop_map(Some)];
    (collection, streams, erased_blocks, spread, endurance).prop_map(
        |(collection, streams, erased_blocks, wear_spread_max, endurance_erases)| Policies {
            collection,
            streams,
            erased_blocks,
            wear_spread_max,
            endurance_erases,
        },
    )
}

fn small_shapes() -> impl Strategy<Value = PageMapParameters> {
    (1u32..4, 12u32..20, 1u32..5, 1u32..4, 2u32..4, 1u32..=100, policies()).prop_map(
        |(dies, blocks_per_die, units, unit_pages, free_blocks_min, percent, policies)| {
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
                policies,
            };
            let room = dies * (geometry.mapped_per_die_max() as u32 - unit_pages);
            geometry.flash.user_pages = (room * percent / 100).max(1);
            geometry
        },
    )
}

/// Checks that both tables agree page by page, so that no host page is read from an overwritten or moved
/// place. Also checks the counts of valid pages and the reserve.
fn assert_consistent(ftl: &PageMap) {
    let geometry = ftl.parameters;
    let mut valid = vec![0u32; (geometry.flash.dies * geometry.flash.blocks_per_die) as usize];
    for host_page in 0..geometry.flash.user_pages {
        if let Some(flash_page) = ftl.flash_page(host_page) {
            assert_eq!(ftl.host_pages[flash_page as usize], host_page + 1);
            valid[(flash_page / geometry.flash.pages_per_block) as usize] += 1;
        }
    }
    let mapped_count = ftl.host_pages.iter().filter(|entry| **entry != NO_PAGE).count() as u64;
    assert_eq!(mapped_count, ftl.mapped_pages());
    for (block, valid) in (0..).zip(valid) {
        assert_eq!(u32::from(ftl.victims.valid(block)), valid, "block {block}");
    }
    for die in &ftl.dies {
        assert!(die.free.iter().all(|block| ftl.victims.valid(*block) == 0));
        let mut open = [Some(die.host), die.other_host, die.collected].into_iter().flatten();
        assert!(open.all(|open| open.next < open.end));
    }
    assert_reserve(ftl);
}

/// Checks that every die that takes pages has its reserve, and that one takes pages while the drive is writable.
fn assert_reserve(ftl: &PageMap) {
    for die in ftl.dies.iter().filter(|die| die.mapped_max > 0) {
        assert!(die.free.len() >= ftl.parameters.reserve_blocks() as usize);
    }
    assert!(ftl.is_read_only() || (0..ftl.flash.dies).any(|die| ftl.accepts(die)));
    assert!(!ftl.is_read_only() || ftl.wear().bad_blocks > 0, "only blocks that fail end a drive");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn it_keeps_the_laws_and_its_maps_stay_consistent(parameters in small_shapes(), acts in acts(600)) {
        prop_assert_eq!(parameters.check(), Ok(()));
        let mut map = PageMap::new(parameters);
        keeps_its_laws(&mut map, parameters.flash.dies, &acts);
        assert_consistent(&map);
        prop_assert!(map.counts().programmed >= map.counts().host_pages);
    }

    #[test]
    fn its_reserve_stands_after_every_write(parameters in small_shapes(), seed in any::<u64>()) {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut map = PageMap::new(parameters);
        let mut pending = PendingWork::default();
        let mut programs = 0;
        for _ in 0..1000 {
            assert_reserve(&map);
            if map.is_read_only() {
                break;
            }
            let die = (0..parameters.flash.dies).filter(|die| map.accepts(*die)).max().expect("it was asserted");
            for _ in 0..map.unit(die).size {
                map.write(random.random_range(0..parameters.flash.user_pages), 1, die, &mut pending);
            }
            map.end_unit(die, &mut pending);
            programs += 1 + pending.take_works().map(|(_, work)| u64::from(work.programs)).sum::<u64>();
        }
        assert_consistent(&map);
        let unit = u64::from(parameters.flash.unit_pages);
        let begun = u64::from(parameters.flash.dies) * (unit - 1);
        let programmed = map.counts().programmed;
        let program_pages = programs * unit;
        prop_assert!((programmed.saturating_sub(begun)..=programmed).contains(&program_pages), "{} programs of {}", program_pages, programmed);
    }
}
