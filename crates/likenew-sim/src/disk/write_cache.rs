//! The write-back cache of a disk: extents that were acknowledged to the host and are not on the platters
//! yet.
//!
//! Extents never overlap: what is written again while it waits replaces what was there, so that the newest copy of a
//! sector is the only one.

use std::ops::Range;

use likenew_core::units::Nanos;

/// A write comes in by parts of so many sectors at most, so that it fits the free space.
const PART_SECTORS_MAX: u64 = 2048;

/// Adjacent sectors that wait to be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Extent {
    pub(super) sectors: Range<u64>,
    /// When the oldest write in it came.
    pub(super) since: Nanos,
    /// Counts up with every write; of the oldest write in it.
    sequence: u64,
}

/// What waits to be written.
pub(super) struct WriteCache {
    extents: Vec<Extent>,
    extents_max: usize,
    sectors_max: u64,
    /// Sectors here, on their way to the platters, or reserved.
    sectors: u64,
    reserved_extents: usize,
    /// What the arm is writing.
    on_the_way: Vec<Extent>,
    sequence: u64,
    /// Where and when the last write ended.
    last_end: u64,
    last_put: Nanos,
}

impl WriteCache {
    pub(super) fn new(sectors_max: u64, extents_max: u32) -> Self {
        Self {
            extents: Vec::with_capacity(extents_max as usize),
            extents_max: extents_max as usize,
            sectors_max,
            sectors: 0,
            reserved_extents: 0,
            on_the_way: Vec::new(),
            sequence: 0,
            last_end: 0,
            last_put: Nanos::ZERO,
        }
    }

    /// As much of a write as is let in at once.
    pub(super) fn first_part(&self, sectors: &Range<u64>) -> Range<u64> {
        sectors.start..sectors.end.min(sectors.start + self.sectors_max.min(PART_SECTORS_MAX))
    }

    /// Memory in use, in sectors.
    pub(super) fn sectors(&self) -> u64 {
        self.sectors
    }

    /// Reserves space for a write whose data is about to come in, if there is any.
    pub(super) fn reserve(&mut self, sectors: &Range<u64>) -> bool {
        // A write that continues an existing extent needs no new one.
        let needs_extent = !self.extents.iter().any(|extent| touch(&extent.sectors, sectors));
        let extents = self.extents.len() + self.reserved_extents;
        if self.sectors + length(sectors) > self.sectors_max || (needs_extent && extents >= self.extents_max)
        {
            return false;
        }
        self.sectors += length(sectors);
        self.reserved_extents += 1;
        true
    }

    /// A write for which space was reserved comes in.
    pub(super) fn put(&mut self, sectors: Range<u64>, now: Nanos) {
        self.reserved_extents -= 1;
        self.sequence += 1;
        (self.last_end, self.last_put) = (sectors.end, now);
        let mut joined = Extent { sectors, since: now, sequence: self.sequence };
        let mut index = 0;
        while index < self.extents.len() {
            if !touch(&self.extents[index].sectors, &joined.sectors) {
                index += 1;
                continue;
            }
            let extent = self.extents.swap_remove(index);
            // Sectors that were here already are counted once.
            self.sectors -= length(&overlap(&extent.sectors, &joined.sectors));
            joined = Extent {
                sectors: extent.sectors.start.min(joined.sectors.start)
                    ..extent.sectors.end.max(joined.sectors.end),
                since: extent.since.min(joined.since),
                sequence: extent.sequence.min(joined.sequence),
            };
            // The longer extent may touch one that was passed over.
            index = 0;
        }
        self.extents.push(joined);
    }

    /// Whether all of these sectors are here, so that a read needs no arm.
    pub(super) fn holds(&self, sectors: &Range<u64>) -> bool {
        self.extents.iter().chain(&self.on_the_way).any(|extent| contains_range(sectors, &extent.sectors))
    }

    /// What waits, in no particular order.
    pub(super) fn extents(&self) -> &[Extent] {
        &self.extents
    }

    /// When the last write came, if anything waits.
    pub(super) fn last_put(&self) -> Option<Nanos> {
        (!self.extents.is_empty()).then_some(self.last_put)
    }

    /// Whether the last write made this extent longer, so that it may grow further.
    pub(super) fn grows(&self, extent: &Extent) -> bool {
        extent.sectors.end == self.last_end
    }

    /// Takes sectors that wait, in one extent, out to the platters.
    pub(super) fn take(&mut self, sectors: Range<u64>) {
        let index = self.extents.iter().position(|extent| contains_range(&sectors, &extent.sectors));
        let index = index.expect("only what waits is taken");
        let Extent { since, sequence, .. } = self.extents[index];
        self.cut(index, &sectors);
        self.on_the_way.push(Extent { sectors, since, sequence });
    }

    /// What was taken is on the platters.
    pub(super) fn on_written(&mut self) {
        assert!(!self.on_the_way.is_empty(), "something was on its way");
        self.sectors -= self.on_the_way.drain(..).map(|extent| length(&extent.sectors)).sum::<u64>();
    }

    /// A number for what is here now, to ask for with [`is_flushed`](Self::is_flushed).
    pub(super) fn mark(&self) -> u64 {
        self.sequence
    }

    /// Whether all that was here at a mark is on the platters.
    pub(super) fn is_flushed(&self, mark: u64) -> bool {
        self.extents.iter().chain(&self.on_the_way).all(|extent| extent.sequence > mark)
    }

    /// Takes a part out of an extent; what is left of it on both sides stays.
    fn cut(&mut self, index: usize, part: &Range<u64>) {
        let Extent { sectors, since, sequence } = self.extents.swap_remove(index);
        for rest in [sectors.start..part.start, part.end..sectors.end] {
            if !rest.is_empty() {
                self.extents.push(Extent { sectors: rest, since, sequence });
            }
        }
    }
}

fn length(sectors: &Range<u64>) -> u64 {
    sectors.end - sectors.start
}

fn overlap(a: &Range<u64>, b: &Range<u64>) -> Range<u64> {
    let start = a.start.max(b.start);
    start..a.end.min(b.end).max(start)
}

fn touch(a: &Range<u64>, b: &Range<u64>) -> bool {
    a.start <= b.end && b.start <= a.end
}

fn contains_range(inner: &Range<u64>, outer: &Range<u64>) -> bool {
    outer.start <= inner.start && inner.end <= outer.end
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    const NOW: Nanos = Nanos(7);

    fn put(cache: &mut WriteCache, sectors: Range<u64>) -> bool {
        let room = cache.reserve(&sectors);
        if room {
            cache.put(sectors, NOW);
        }
        room
    }

    #[test]
    fn neighbors_join_and_strangers_take_room() {
        let mut cache = WriteCache::new(1000, 2);
        assert!(put(&mut cache, 0..8) && put(&mut cache, 8..16) && put(&mut cache, 4..12));
        assert!(put(&mut cache, 100..108));
        assert!(!put(&mut cache, 200..208), "two extents are all there is room for");
        assert!(put(&mut cache, 108..116));
        let starts: Vec<u64> = cache.extents().iter().map(|extent| extent.sectors.start).collect();
        assert_eq!(starts, [0, 100]);
        assert!(cache.holds(&(2..14)) && !cache.holds(&(14..18)));
        assert_eq!(cache.sectors(), 32);
        assert!(cache.grows(&cache.extents()[1]) && !cache.grows(&cache.extents()[0]));
    }

    #[test]
    fn room_comes_back_when_the_platters_have_it() {
        let mut cache = WriteCache::new(3000, 9);
        assert_eq!((cache.first_part(&(7..9)), cache.first_part(&(7..9000))), (7..9, 7..2055));
        assert!(put(&mut cache, 0..3000) && !put(&mut cache, 5000..5001));
        cache.take(0..2048);
        assert!(!put(&mut cache, 5000..5001) && cache.holds(&(0..8)));
        cache.on_written();
        assert!(put(&mut cache, 5000..5001) && !cache.holds(&(0..8)));
        cache.take(2048..3000);
        cache.on_written();
        assert_eq!(cache.sectors(), 1);
    }

    #[test]
    fn a_flush_waits_for_what_was_there_before() {
        let mut cache = WriteCache::new(1000, 9);
        assert!(cache.is_flushed(cache.mark()));
        put(&mut cache, 0..8);
        let mark = cache.mark();
        put(&mut cache, 100..108);
        assert!(!cache.is_flushed(mark));
        cache.take(0..8);
        assert!(!cache.is_flushed(mark));
        cache.on_written();
        assert!(cache.is_flushed(mark) && !cache.is_flushed(cache.mark()));
    }

    #[derive(Clone, Debug)]
    enum Act {
        Put(Range<u64>),
        Take(usize, u64),
        Written,
    }

    fn acts() -> impl Strategy<Value = Vec<Act>> {
        let range = (0u64..100, 1u64..20).prop_map(|(start, length)| start..start + length);
        let act = prop_oneof![
            4 => range.prop_map(Act::Put),
            2 => (any::<usize>(), 1u64..10).prop_map(|(index, length)| Act::Take(index, length)),
            2 => Just(Act::Written),
        ];
        prop::collection::vec(act, 1..60)
    }

    proptest! {
        /// Against plain sets of sectors that wait and that are on their way.
        #[test]
        fn every_sector_waits_once_until_it_is_taken(acts in acts()) {
            let mut cache = WriteCache::new(80, 6);
            let (mut waiting, mut away) = (BTreeSet::new(), BTreeSet::new());
            for act in acts {
                match act {
                    Act::Put(range) => if put(&mut cache, range.clone()) {
                        waiting.extend(range);
                    },
                    Act::Take(index, length) => if away.is_empty() && !cache.extents().is_empty() {
                        let Range { start, end } = cache.extents()[index % cache.extents().len()].sectors;
                        let taken = start..end.min(start + length);
                        cache.take(taken.clone());
                        waiting.retain(|sector| !taken.contains(sector));
                        away.extend(taken);
                    },
                    Act::Written => if !away.is_empty() {
                        cache.on_written();
                        away.clear();
                    },
                }
                let mut sectors: Vec<u64> = cache.extents().iter().flat_map(|extent| extent.sectors.clone()).collect();
                sectors.sort_unstable();
                prop_assert!(sectors.iter().eq(&waiting), "{sectors:?} {waiting:?}");
                prop_assert_eq!(cache.sectors(), (waiting.len() + away.len()) as u64);
            }
        }
    }
}
