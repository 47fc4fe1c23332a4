//! No order of writes, cleaning and interruptions ever loses a write.

use std::collections::BTreeMap;
use std::ops::Range;

use likenew_core::units::Nanos;
use proptest::prelude::*;

use super::{ShingleParameters, Shingles};
use crate::disk::arm::Access;

const LOG: u64 = 64;
const BAND: u64 = 16;
const BANDS: u64 = 6;

fn parameters() -> ShingleParameters {
    ShingleParameters {
        log_sectors: LOG,
        band_sectors: BAND,
        map_entries: 40,
        append_sectors_max: 12,
        header_sectors: 1,
        gather: Nanos(0),
        idle_after: Nanos(0),
    }
}

#[derive(Clone, Debug)]
enum Act {
    Append(Vec<Range<u64>>),
    Band(u64),
    Clean,
}

fn acts() -> impl Strategy<Value = Vec<Act>> {
    let extent = (0..BAND * BANDS - 4, 1u64..5).prop_map(|(start, length)| start..start + length);
    let act = prop_oneof![
        3 => prop::collection::vec(extent, 1..4).prop_map(Act::Append),
        1 => (0..BANDS).prop_map(Act::Band),
        4 => Just(Act::Clean),
    ];
    prop::collection::vec(act, 1..200)
}

/// A reference disk: what each physical sector holds, and which write of each logical sector was last.
#[derive(Default)]
struct Plain {
    /// By physical sector: the logical sector and the write that it holds.
    platters: BTreeMap<u64, (u64, u64)>,
    /// By logical sector: the last write.
    newest: BTreeMap<u64, u64>,
    /// What cleaning has read of a band, by logical sector.
    merged: BTreeMap<u64, u64>,
    writes: u64,
}

impl Plain {
    fn write(&mut self, logical: Range<u64>, physical: u64) {
        self.writes += 1;
        for (place, sector) in (physical..).zip(logical) {
            self.platters.insert(place, (sector, self.writes));
            self.newest.insert(sector, self.writes);
        }
    }

    fn clean(&mut self, physical: Range<u64>, access: Access) {
        match access {
            Access::Read => {
                let read = physical.filter_map(|place| self.platters.get(&place).copied());
                self.merged.extend(read);
            }
            Access::Write => {
                for place in physical {
                    let sector = place - LOG;
                    self.platters.remove(&place);
                    if let Some(write) = self.merged.get(&sector) {
                        self.platters.insert(place, (sector, *write));
                    }
                }
                self.merged.clear();
            }
        }
    }

    fn check(&self, shingles: &Shingles) -> Result<(), TestCaseError> {
        let mut start = 0;
        while start < BAND * BANDS {
            let (count, physical) = shingles.locate(&(start..BAND * BANDS));
            prop_assert!(count > 0 && physical.end - physical.start == count);
            for (sector, place) in (start..start + count).zip(physical) {
                let stored = self.platters.get(&place).copied();
                let last = self.newest.get(&sector).map(|write| (sector, *write));
                prop_assert!(
                    last.is_none() || stored == last,
                    "sector {sector} at {place}: {stored:?}, not {last:?}"
                );
            }
            start += count;
        }
        Ok(())
    }
}

fn clean_once(shingles: &mut Shingles, plain: &mut Plain) -> bool {
    let fresh = shingles.step().is_none();
    shingles.take_up();
    let Some(step) = shingles.step() else { return false };
    if fresh {
        plain.merged.clear();
    }
    plain.clean(step.physical, step.access);
    shingles.step_done();
    true
}

proptest! {
    #[test]
    fn no_write_is_ever_lost(acts in acts()) {
        let mut shingles = Shingles::new(parameters());
        let mut plain = Plain::default();
        for act in acts {
            match act {
                Act::Append(extents) => {
                    let sectors = extents.iter().map(|extent| extent.end - extent.start).sum();
                    if let Some(place) = shingles.append_room(extents.len(), sectors) {
                        prop_assert!(place.end <= LOG);
                        let mut at = place.start + 1;
                        for extent in &extents {
                            plain.write(extent.clone(), at);
                            at += extent.end - extent.start;
                        }
                        shingles.on_append(&extents);
                    }
                }
                Act::Band(band) => {
                    let band = band * BAND..(band + 1) * BAND;
                    plain.write(band.clone(), shingles.home_of(&band).start);
                    shingles.band_written(&band);
                }
                Act::Clean => {
                    clean_once(&mut shingles, &mut plain);
                }
            }
            plain.check(&shingles)?;
        }
        let steps = (0..).take_while(|_| clean_once(&mut shingles, &mut plain)).count();
        prop_assert!(steps <= 200, "cleaning comes to an end");
        plain.check(&shingles)?;
        prop_assert!(!shingles.is_dirty(), "cleaning brings everything home");
        prop_assert_eq!(shingles.append_room(1, LOG - 1).is_some(), true, "and gives all room back");
    }
}

#[test]
fn a_band_that_the_log_has_whole_is_not_read_from_its_home() {
    let mut shingles = Shingles::new(parameters());
    for extent in [0..12, 12..16] {
        shingles.on_append(std::slice::from_ref(&extent));
    }
    let mut accesses = Vec::new();
    shingles.take_up();
    while let Some(step) = shingles.step() {
        accesses.push((step.physical.start, step.access));
        shingles.step_done();
    }
    assert_eq!(accesses, [(1, Access::Read), (14, Access::Read), (LOG, Access::Write)]);
}

#[test]
fn parameters_that_do_not_fit_are_refused() {
    let check = |parameters: ShingleParameters, cache: u64, extents: u32| {
        parameters.check(512, cache * 512, extents).err().map_or_else(String::new, |error| error.to_string())
    };
    assert_eq!(check(parameters(), 32, 10), "");
    assert!(check(parameters(), 31, 10).contains("two bands"));
    assert!(check(parameters(), 32, 11).contains("four times"));
    assert!(
        check(ShingleParameters { append_sectors_max: 17, ..parameters() }, 32, 10).contains("band_bytes")
    );
    assert!(check(ShingleParameters { log_sectors: 25, ..parameters() }, 32, 10).contains("two appends"));
}

/// Tests of the persistent cache alone.
mod media_cache {
    use std::ops::Range;

    use crate::disk::shingles::MediaCache;

    fn append(cache: &mut MediaCache, logical: Range<u64>) -> bool {
        let sectors = logical.end - logical.start;
        let room = cache.room(1, sectors).is_some();
        if room {
            cache.begin_append(sectors, 0);
            cache.append(logical);
        }
        room
    }

    #[test]
    fn the_newest_copy_is_the_one_that_is_found() {
        let mut cache = MediaCache::new(100, 50);
        assert!(append(&mut cache, 10..20) && append(&mut cache, 14..16));
        assert_eq!(cache.first_piece(&(0..30)), (10, None));
        assert_eq!(cache.first_piece(&(10..30)), (4, Some(0)));
        assert_eq!(cache.first_piece(&(14..30)), (2, Some(10)));
        assert_eq!(cache.first_piece(&(16..18)), (2, Some(6)));
        assert_eq!(cache.first_piece(&(20..30)), (10, None));
        assert_eq!(cache.oldest(), Some(10));
        cache.forget(&(0..14));
        assert_eq!(cache.oldest(), Some(16));
    }

    #[test]
    fn the_ring_takes_no_more_than_it_holds_and_gives_room_back_in_order() {
        let mut cache = MediaCache::new(100, 50);
        assert!(append(&mut cache, 0..40) && append(&mut cache, 100..140));
        assert!(!append(&mut cache, 200..230), "20 sectors are left at the end and none at the start");
        cache.forget_before(&(100..140), u64::MAX);
        assert!(!append(&mut cache, 200..230), "the older record is still in the way");
        cache.forget_before(&(0..40), u64::MAX);
        assert!(append(&mut cache, 200..230));
        assert_eq!(cache.first_piece(&(200..230)), (30, Some(0)), "an append does not reach across the end");
    }

    #[test]
    fn a_full_map_takes_no_more() {
        let mut cache = MediaCache::new(1000, 6);
        let taken = (0..10).take_while(|n| append(&mut cache, 10 * n..10 * n + 1)).count();
        assert_eq!(taken, 5, "as long as two more pieces have room");
    }

    #[test]
    fn what_came_after_a_record_stays() {
        let mut cache = MediaCache::new(100, 50);
        append(&mut cache, 0..8);
        let record = cache.next_record();
        append(&mut cache, 2..4);
        cache.forget_before(&(0..10), record);
        assert_eq!(cache.first_piece(&(0..8)), (2, None));
        assert_eq!(cache.first_piece(&(2..8)), (2, Some(8)));
    }
}
