//! The write-back cache of a disk: extents that the host was told are written and that the platters do not hold yet.

use std::ops::Range;

/// Sectors that are written in one go at most, so that room comes back steadily.
const DESTAGE_SECTORS_MAX: u64 = 2048;

struct Extent {
    sectors: Range<u64>,
    /// Counts up with every write; of the oldest write in it.
    sequence: u64,
}

/// What waits to be written.
pub(crate) struct WriteCache {
    extents: Vec<Extent>,
    extents_max: usize,
    sectors_max: u64,
    /// Sectors here, on their way to the platters, or reserved.
    sectors: u64,
    reserved_extents: usize,
    on_the_way: Option<Extent>,
    sequence: u64,
}

impl WriteCache {
    pub(crate) fn new(sectors_max: u64, extents_max: u32) -> Self {
        Self {
            extents: Vec::with_capacity(extents_max as usize),
            extents_max: extents_max as usize,
            sectors_max,
            sectors: 0,
            reserved_extents: 0,
            on_the_way: None,
            sequence: 0,
        }
    }

    /// Whether a write can be cached at all.
    pub(crate) fn is_for(&self, sectors: &Range<u64>) -> bool {
        sectors.end - sectors.start <= self.sectors_max
    }

    /// Sets room aside for a write whose data is about to come in, if there is any.
    pub(crate) fn reserve(&mut self, sectors: &Range<u64>) -> bool {
        let length = sectors.end - sectors.start;
        // A write that continues what is here needs no extent of its own.
        let needs_extent = self.joinable(sectors).is_none();
        let extents = self.extents.len() + self.reserved_extents;
        if self.sectors + length > self.sectors_max || (needs_extent && extents >= self.extents_max) {
            return false;
        }
        self.sectors += length;
        self.reserved_extents += 1;
        true
    }

    /// A write for which room was reserved comes in.
    pub(crate) fn put(&mut self, sectors: Range<u64>) {
        self.reserved_extents -= 1;
        self.sequence += 1;
        let sequence = self.sequence;
        let Some(index) = self.joinable(&sectors) else {
            return self.extents.push(Extent { sectors, sequence });
        };
        let held = &mut self.extents[index].sectors;
        let joined = held.start.min(sectors.start)..held.end.max(sectors.end);
        // Sectors that were here already are counted once.
        self.sectors -= (held.end - held.start) + (sectors.end - sectors.start) - (joined.end - joined.start);
        *held = joined;
    }

    fn joinable(&self, sectors: &Range<u64>) -> Option<usize> {
        let touches =
            |extent: &Extent| extent.sectors.start <= sectors.end && sectors.start <= extent.sectors.end;
        self.extents.iter().position(touches)
    }

    /// Whether all of these sectors are here, so that a read needs no arm.
    pub(crate) fn holds(&self, sectors: &Range<u64>) -> bool {
        let covers =
            |extent: &Extent| extent.sectors.start <= sectors.start && sectors.end <= extent.sectors.end;
        self.extents.iter().chain(&self.on_the_way).any(covers)
    }

    /// The first sector of each extent that waits, in no particular order.
    pub(crate) fn starts(&self) -> impl Iterator<Item = u64> + '_ {
        self.extents.iter().map(|extent| extent.sectors.start)
    }

    /// Takes the extent at this place in [`starts`](Self::starts), or as much of it as is written in one go.
    pub(crate) fn take(&mut self, index: usize) -> Range<u64> {
        let Extent { sectors, sequence } = &mut self.extents[index];
        let end = sectors.end.min(sectors.start + DESTAGE_SECTORS_MAX);
        let taken = Extent { sectors: sectors.start..end, sequence: *sequence };
        if end == sectors.end {
            self.extents.swap_remove(index);
        } else {
            sectors.start = end;
        }
        let range = taken.sectors.clone();
        assert!(self.on_the_way.replace(taken).is_none(), "a disk has one arm");
        range
    }

    /// What was taken is on the platters.
    pub(crate) fn written(&mut self) {
        let Extent { sectors, .. } = self.on_the_way.take().expect("something was on its way");
        self.sectors -= sectors.end - sectors.start;
    }

    /// A number for what is here now, to ask for with [`is_flushed`](Self::is_flushed).
    pub(crate) fn mark(&self) -> u64 {
        self.sequence
    }

    /// Whether all that was here at a mark is on the platters.
    pub(crate) fn is_flushed(&self, mark: u64) -> bool {
        self.extents.iter().chain(&self.on_the_way).all(|extent| extent.sequence > mark)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(cache: &mut WriteCache, sectors: Range<u64>) -> bool {
        let room = cache.reserve(&sectors);
        if room {
            cache.put(sectors);
        }
        room
    }

    #[test]
    fn neighbours_join_and_strangers_take_room() {
        let mut cache = WriteCache::new(1000, 2);
        assert!(put(&mut cache, 0..8) && put(&mut cache, 8..16) && put(&mut cache, 4..12));
        assert!(put(&mut cache, 100..108));
        assert!(!put(&mut cache, 200..208), "two extents are all there is room for");
        assert!(put(&mut cache, 108..116));
        assert_eq!(cache.starts().collect::<Vec<_>>(), [0, 100]);
        assert!(cache.holds(&(2..14)) && !cache.holds(&(14..18)));
        assert_eq!(cache.sectors, 32);
    }

    #[test]
    fn room_comes_back_when_the_platters_have_it() {
        let mut cache = WriteCache::new(3000, 9);
        assert!(cache.is_for(&(0..3000)) && !cache.is_for(&(0..3001)));
        assert!(put(&mut cache, 0..3000) && !put(&mut cache, 5000..5001));
        assert_eq!(cache.take(0), 0..2048);
        assert!(!put(&mut cache, 5000..5001) && cache.holds(&(0..8)));
        cache.written();
        assert!(put(&mut cache, 5000..5001) && !cache.holds(&(0..8)));
        assert_eq!(cache.take(0), 2048..3000);
        cache.written();
        assert_eq!(cache.sectors, 1);
    }

    #[test]
    fn a_flush_waits_for_what_was_there_before() {
        let mut cache = WriteCache::new(1000, 9);
        assert!(cache.is_flushed(cache.mark()));
        put(&mut cache, 0..8);
        let mark = cache.mark();
        put(&mut cache, 100..108);
        assert!(!cache.is_flushed(mark));
        cache.take(0);
        assert!(!cache.is_flushed(mark));
        cache.written();
        assert!(cache.is_flushed(mark) && !cache.is_flushed(cache.mark()));
    }
}
