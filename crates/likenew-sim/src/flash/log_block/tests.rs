//! Checks the laws of FTLs over random shapes, and single merges.

use proptest::prelude::*;

use super::*;
use crate::flash::FlashGeometry;
use crate::flash::translation_layer::laws::{acts, keeps_its_laws};
use crate::flash::translation_layer::{Counts, PendingWork, TranslationLayer, Work};

/// Clusters of 2 × 4 pages, two groups of dies, 3 clusters each, and enough spare for any family.
fn parameters(copies: Copies) -> ClusterParameters {
    ClusterParameters {
        flash: FlashGeometry {
            dies: 4,
            blocks_per_die: 8,
            pages_per_block: 4,
            row_pages: 1,
            unit_pages: 1,
            user_pages: 48,
        },
        cluster_dies: 2,
        stripe_pages: 8,
        log_blocks: 1,
        copies,
        idle_merges: true,
    }
}

fn bast(copies: Copies) -> Bast {
    let clusters = parameters(copies);
    Bast::new(BastParameters { clusters, eviction: Eviction::LeastRecent, partial_merges: true })
}

/// Writes pages; returns the work of the first group's dies.
fn write(layer: &mut impl TranslationLayer, pages: impl IntoIterator<Item = u32>) -> [Work; 2] {
    let mut pending = PendingWork::default();
    for page in pages {
        let die = layer.die_for(page).expect("every page has its place");
        layer.write(page, 1, die, &mut pending);
    }
    let mut works = [Work::NONE; 2];
    for (die, work) in pending.take_works().filter(|(die, _)| *die < 2) {
        works[die as usize].add(work);
    }
    works
}

fn merged(rows: u32, programs: u32, erases: u32) -> Work {
    Work { rows, moved: programs, programs, erases, ..Work::NONE }
}

#[test]
fn pages_are_striped_over_the_dies_of_a_group_and_clusters_over_the_groups() {
    let mut layer = bast(Copies::Valid);
    write(&mut layer, 0..48);
    let dies: Vec<u32> = [0, 1, 2, 7, 8, 9, 15, 16].map(|page| layer.find(page).unwrap().die).into();
    assert_eq!(dies, [0, 1, 0, 1, 2, 3, 3, 0]);
    let mut parameters = parameters(Copies::Valid);
    parameters.stripe_pages = 2;
    let mut striped = BlockMap::new(parameters);
    write(&mut striped, 0..1);
    let dies: Vec<u32> = (0..6).map(|page| striped.die_for(page).unwrap()).collect();
    assert_eq!(dies, [0, 1, 2, 3, 0, 1]);
}

#[test]
fn a_log_block_in_order_takes_the_place_of_its_cluster() {
    for copies in [Copies::Valid, Copies::Every] {
        let mut layer = bast(copies);
        write(&mut layer, 0..48);
        assert_eq!(write(&mut layer, 0..7), [Work::NONE; 2], "the log block is not complete");
        assert_eq!(write(&mut layer, 7..8), [merged(0, 0, 1); 2], "a switch merge is an erasure");
    }
}

#[test]
fn the_beginning_of_a_cluster_is_completed_and_anything_else_is_merged_in_full() {
    let mut layer = bast(Copies::Valid);
    write(&mut layer, 0..48);
    write(&mut layer, 0..3);
    // Pages 3 to 7 are missing, three of them on the second die.
    assert_eq!(write(&mut layer, [16]), [merged(2, 2, 1), merged(3, 3, 1)]);
    write(&mut layer, [19, 19]);
    // The newest copies of pages 16 and 19 are on the first die of the log block, at positions 0 and 2.
    assert_eq!(write(&mut layer, [32]), [merged(5, 4, 2), merged(3, 4, 2)]);
    let Counts { host_pages, programmed, erases } = layer.counts();
    assert_eq!((host_pages, programmed, erases), (48 + 7, 48 + 7 + 5 + 8, 2 * 3));
}

#[test]
fn without_partial_merges_only_a_complete_log_block_is_cheap() {
    let clusters = parameters(Copies::Valid);
    let eviction = Eviction::LeastRecent;
    let mut layer = Bast::new(BastParameters { clusters, eviction, partial_merges: false });
    write(&mut layer, 0..48);
    write(&mut layer, 0..3);
    assert_eq!(write(&mut layer, [16]).map(|work| work.programs), [4, 4]);
}

#[test]
fn a_drive_that_knows_no_pages_copies_what_was_never_written() {
    let mut valid = bast(Copies::Valid);
    write(&mut valid, [3]);
    assert_eq!(write(&mut valid, [16]), [merged(1, 0, 1), merged(0, 1, 1)], "one page is all there is");
    let mut every = bast(Copies::Every);
    write(&mut every, [3]);
    // Page 3 belongs on the second die, and its newest copy is on the first.
    assert_eq!(write(&mut every, [16]), [merged(5, 4, 2), merged(3, 4, 2)]);
    assert!(every.find(2).is_none() && every.find(3).is_some());
    let (valid, every) = (valid.counts().programmed, every.counts().programmed);
    assert_eq!((valid, every), (3, 10));
}

#[test]
fn eviction_takes_the_least_recent_or_the_oldest() {
    for (eviction, evicted_block) in [(Eviction::LeastRecent, 1), (Eviction::Oldest, 0)] {
        let mut clusters = parameters(Copies::Valid);
        (clusters.cluster_dies, clusters.log_blocks) = (4, 2);
        (clusters.stripe_pages, clusters.flash.user_pages) = (16, 64);
        let mut layer = Bast::new(BastParameters { clusters, eviction, partial_merges: false });
        // Clusters 0 and 1 get log blocks, cluster 0 is written again, and cluster 2 needs a log block.
        write(&mut layer, [1, 17, 2, 33]);
        let still_in_logs = [1, 17].map(|page| layer.find(page).unwrap().at % 16 == 0);
        assert!(!still_in_logs[evicted_block] && still_in_logs[1 - evicted_block], "{eviction:?}");
    }
}

#[test]
fn a_block_map_goes_on_in_order_and_copies_for_anything_else() {
    let mut layer = BlockMap::new(parameters(Copies::Valid));
    write(&mut layer, 0..48);
    assert_eq!(write(&mut layer, [2]).map(|work| work.programs), [1, 1], "what comes before");
    assert_eq!(write(&mut layer, [3]), [Work::NONE; 2]);
    let works = write(&mut layer, [16]);
    assert_eq!(works, [merged(2, 2, 1); 2], "what comes after, and the old block");
    assert_eq!(layer.counts().programmed, 48 + 3 + 2 + 4);
}

#[test]
fn fast_merges_every_cluster_that_the_oldest_log_block_holds_a_page_of() {
    let mut layer = Fast::new(parameters(Copies::Valid));
    write(&mut layer, 0..48);
    // The first page ever written is also in the log, but overwritten. Pages of three clusters fill it, one
    // of them twice.
    assert_eq!(write(&mut layer, [3, 20, 36, 3, 5, 22, 39]), [Work::NONE; 2]);
    let works = write(&mut layer, [4]);
    assert_eq!(works.map(|work| work.programs), [12, 12]);
    // The old blocks of three clusters and the log block are erased.
    assert_eq!(works.map(|work| work.erases), [4, 4]);
}

#[test]
fn fast_knows_a_stream_by_its_second_page() {
    let mut layer = Fast::new(parameters(Copies::Valid));
    write(&mut layer, 0..48);
    let before = layer.counts().programmed;
    write(&mut layer, 16..24);
    assert_eq!(layer.counts().programmed - before, 8 + 1, "the first page was in the shared log");
    // The stream continues from the last cluster of the group to the next, page by page.
    let works = write(&mut layer, 32..40);
    assert_eq!(works, [merged(0, 0, 1); 2]);
    assert_eq!(layer.counts().programmed - before, 16 + 1);
}

#[test]
fn a_stream_that_was_overwritten_is_merged_in_full() {
    let mut layer = Fast::new(parameters(Copies::Valid));
    write(&mut layer, 0..48);
    write(&mut layer, 16..20);
    write(&mut layer, [17]);
    // Completes the stream.
    let works = write(&mut layer, 20..24);
    assert_eq!(works.map(|work| work.programs), [4, 4]);
    assert_eq!(works.map(|work| work.erases), [2, 2], "the old block and the stream's");
}

#[test]
fn what_is_trimmed_is_not_copied_and_an_empty_cluster_gives_up_its_blocks() {
    fn check(mut layer: impl TranslationLayer) {
        write(&mut layer, 0..48);
        write(&mut layer, [3]);
        let before = layer.free_blocks();
        let mut pending = PendingWork::default();
        (0..8).for_each(|page| layer.trim(page, &mut pending));
        assert!((0..8).all(|page| layer.find(page).is_none()));
        assert!(layer.free_blocks() >= before + 2);
        assert_eq!(layer.mapped_pages(), 40);
    }
    check(bast(Copies::Valid));
    check(BlockMap::new(parameters(Copies::Valid)));
    check(Fast::new(parameters(Copies::Valid)));
}

#[test]
fn idle_time_merges_ahead_only_where_the_drive_does_so() {
    fn check(mut layer: impl TranslationLayer, merges: bool) {
        write(&mut layer, 0..48);
        write(&mut layer, [3, 5, 3]);
        let mut pending = PendingWork::default();
        assert_eq!(layer.tend(1, &mut pending), merges);
        assert_eq!(pending.take_works().count() > 0, merges);
        assert!(!layer.tend(0, &mut pending), "there is nothing left to do");
    }
    for idle_merges in [true, false] {
        let clusters = ClusterParameters { idle_merges, ..parameters(Copies::Valid) };
        let eviction = Eviction::Oldest;
        check(Bast::new(BastParameters { clusters, eviction, partial_merges: true }), idle_merges);
        check(BlockMap::new(clusters), idle_merges);
        check(Fast::new(clusters), idle_merges);
    }
}

#[test]
fn wear_spreads_over_the_blocks_that_are_rewritten() {
    let mut layer = bast(Copies::Valid);
    (0..50).for_each(|_| {
        write(&mut layer, 0..48);
    });
    let wear = layer.wear();
    assert!(wear.erases_min > 0 && wear.erases_max <= wear.erases_min + 1, "{wear:?}");
}

#[test]
fn a_shape_that_cannot_work_is_refused() {
    let fits = parameters(Copies::Every);
    assert_eq!(fits.check::<FastLogs>(), Ok(()));
    let refuse = |change: &dyn Fn(&mut ClusterParameters), word: &str| {
        let mut shape = fits;
        change(&mut shape);
        let error = shape.check::<Replacements>().unwrap_err().to_string();
        assert!(error.contains(word), "{error}");
    };
    refuse(&|shape| shape.flash.row_pages = 2, "a page over all planes");
    refuse(&|shape| shape.flash.unit_pages = 2, "a page over all planes");
    refuse(&|shape| shape.cluster_dies = 3, "divisor of the 4 dies");
    refuse(&|shape| shape.cluster_dies = 0, "divisor of the 4 dies");
    refuse(&|shape| shape.stripe_pages = 3, "not a divisor of a cluster");
    refuse(&|shape| shape.stripe_pages = 0, "not a divisor of a cluster");
    refuse(&|shape| shape.log_blocks = 0, "at least 1 log block");
    refuse(&|shape| shape.log_blocks = 6, "too few");
    refuse(&|shape| shape.flash.user_pages = 0, "at least 1");
    refuse(&|shape| shape.flash.pages_per_block = 40_000, "65534");
    let logs = |log_blocks| ClusterParameters { log_blocks, ..fits };
    assert!(logs(5).check::<Replacements>().is_ok() && logs(4).check::<FastLogs>().is_err());
    assert!(logs(4).check::<BastLogs>().is_ok() && logs(5).check::<BastLogs>().is_err());
}

/// Small shapes, with just enough spare for a family that needs `spare` blocks beyond clusters and log blocks.
fn shapes(spare: u32) -> impl Strategy<Value = ClusterParameters> {
    let flash = (1u32..4, 1u32..4, 1u32..7, 1u32..5);
    (flash, (1u32..4, 1u32..4, 1u32..=100), any::<bool>()).prop_map(
        move |((groups, cluster_dies, pages_per_block, in_group), (log_blocks, stripes, percent), every)| {
            let cluster_pages = cluster_dies * pages_per_block;
            let stripe_pages =
                if cluster_pages.is_multiple_of(stripes) { cluster_pages / stripes } else { 1 };
            let flash = FlashGeometry {
                dies: groups * cluster_dies,
                blocks_per_die: in_group + log_blocks + spare,
                pages_per_block,
                row_pages: 1,
                unit_pages: 1,
                user_pages: (groups * in_group * cluster_pages * percent / 100).max(1),
            };
            let copies = if every { Copies::Every } else { Copies::Valid };
            ClusterParameters { flash, cluster_dies, stripe_pages, log_blocks, copies, idle_merges: true }
        },
    )
}

/// Checks that `in_group` blocks of each group are erased.
fn keeps_blocks_free(layer: &impl TranslationLayer, shape: ClusterParameters, in_group: u32) {
    let least = u64::from(in_group * shape.flash.dies);
    let free = layer.free_blocks();
    assert!((least..=u64::from(shape.flash.blocks())).contains(&free), "{free} blocks are free");
}

proptest! {
    #[test]
    fn a_block_map_keeps_the_laws(shape in shapes(0), acts in acts(300)) {
        let mut layer = BlockMap::new(shape);
        keeps_its_laws(&mut layer, shape.flash.dies, &acts);
        keeps_blocks_free(&layer, shape, 0);
    }

    #[test]
    fn bast_keeps_the_laws(shape in shapes(1), acts in acts(300), oldest in any::<bool>(), partial_merges in any::<bool>()) {
        let eviction = if oldest { Eviction::Oldest } else { Eviction::LeastRecent };
        let mut layer = Bast::new(BastParameters { clusters: shape, eviction, partial_merges });
        keeps_its_laws(&mut layer, shape.flash.dies, &acts);
        keeps_blocks_free(&layer, shape, 1);
    }

    #[test]
    fn fast_keeps_the_laws(shape in shapes(2), acts in acts(300)) {
        let mut layer = Fast::new(shape);
        keeps_its_laws(&mut layer, shape.flash.dies, &acts);
        keeps_blocks_free(&layer, shape, 1);
    }
}
