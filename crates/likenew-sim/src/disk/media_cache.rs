//! The persistent cache of a shingled disk: a log on tracks that do not overlap, and the map of what is newest in it.
//!
//! Writes are appended wherever they belong, one record for each part of a band. The log is a ring: space is
//! freed from its oldest record on, once none of that record's data is the newest copy any more. It knows no
//! time.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;

use serde::{Deserialize, Serialize};

/// Adjacent sectors whose newest copy is in the log.
#[derive(Clone, Copy, Serialize, Deserialize)]
struct Piece {
    sectors: u64,
    /// Its position, counted from the first append on.
    position: u64,
    record: u64,
}

#[derive(Serialize, Deserialize)]
struct Record {
    logical: Range<u64>,
    position: u64,
    /// Sectors of it that are still newest.
    live: u64,
}

/// The log and its map.
#[derive(Serialize, Deserialize)]
pub(super) struct MediaCache {
    log_sectors: u64,
    pieces_max: usize,
    /// By first logical sector; pieces never overlap.
    map: BTreeMap<u64, Piece>,
    records: VecDeque<Record>,
    /// Number of the first of `records`.
    first_record: u64,
    /// Where the next append goes, counted from the first on.
    head: u64,
}

/// Pieces that one more extent can add to the map at most: itself, and either what is left of an older piece
/// behind it or, where it crosses the edge of a band, itself once more.
const PIECES_PER_EXTENT: usize = 2;

impl MediaCache {
    pub(super) fn new(log_sectors: u64, pieces_max: u32) -> Self {
        Self {
            log_sectors,
            pieces_max: pieces_max as usize,
            map: BTreeMap::new(),
            records: VecDeque::new(),
            first_record: 0,
            head: 0,
        }
    }

    /// Where on the platters an append of so many extents and sectors would go, if it fits. It never wraps
    /// around the end of the ring: the rest there stays empty.
    pub(super) fn room(&self, extents: usize, sectors: u64) -> Option<Range<u64>> {
        let start = self.start_of(sectors);
        let tail = self.records.front().map_or(start, |record| record.position);
        let fits = start + sectors - tail <= self.log_sectors
            && self.map.len() + PIECES_PER_EXTENT * extents <= self.pieces_max;
        let physical = start % self.log_sectors;
        fits.then_some(physical..physical + sectors)
    }

    fn start_of(&self, sectors: u64) -> u64 {
        let in_ring = self.head % self.log_sectors;
        if in_ring + sectors > self.log_sectors { self.head + self.log_sectors - in_ring } else { self.head }
    }

    /// Begins an append that fits; the first `header` sectors of it hold its record.
    pub(super) fn begin_append(&mut self, sectors: u64, header: u64) {
        self.head = self.start_of(sectors) + header;
    }

    /// Continues it. `logical` is within one band.
    pub(super) fn append(&mut self, logical: Range<u64>) {
        self.forget(&logical);
        let (sectors, position) = (logical.end - logical.start, self.head);
        let record = self.next_record();
        self.map.insert(logical.start, Piece { sectors, position, record });
        self.records.push_back(Record { logical, position, live: sectors });
        self.head += sectors;
        assert!(self.map.len() <= self.pieces_max, "an append takes no more than the room it was given");
    }

    /// The number of the next record.
    pub(super) fn next_record(&self) -> u64 {
        self.first_record + self.records.len() as u64
    }

    /// The first of these sectors that have a place in common, in the log if their newest copy is there: how many
    /// they are, and where in the log.
    pub(super) fn first_piece(&self, logical: &Range<u64>) -> (u64, Option<u64>) {
        let before = self.map.range(..=logical.start).next_back();
        if let Some((start, piece)) = before.filter(|(start, piece)| *start + piece.sectors > logical.start) {
            let count = (start + piece.sectors).min(logical.end) - logical.start;
            return (count, Some((piece.position + logical.start - start) % self.log_sectors));
        }
        let next = self.map.range(logical.clone()).next();
        (next.map_or(logical.end, |(start, _)| *start) - logical.start, None)
    }

    /// A logical sector of the oldest record whose newest copy is still in it.
    pub(super) fn oldest(&self) -> Option<u64> {
        let Record { logical, .. } = self.records.front()?;
        let newest = |(_, piece): &(&u64, &Piece)| piece.record == self.first_record;
        let (start, _) = self.map.range(logical.clone()).find(newest).expect("the oldest record is live");
        Some(*start)
    }

    /// The newest copy of these sectors is elsewhere.
    pub(super) fn forget(&mut self, logical: &Range<u64>) {
        self.split(logical.start);
        self.split(logical.end);
        self.remove(logical, u64::MAX);
    }

    /// The data of these sectors in earlier records, which do not cut pieces, is at home.
    pub(super) fn forget_before(&mut self, logical: &Range<u64>, record: u64) {
        self.remove(logical, record);
    }

    fn remove(&mut self, logical: &Range<u64>, before: u64) {
        let mut start = logical.start;
        while let Some((&at, &piece)) = self.map.range(start..logical.end).next() {
            start = at + piece.sectors;
            if piece.record < before {
                self.map.remove(&at);
                self.records[(piece.record - self.first_record) as usize].live -= piece.sectors;
            }
        }
        while self.records.pop_front_if(|record| record.live == 0).is_some() {
            self.first_record += 1;
        }
    }

    /// Cuts the piece that spans this place in two.
    fn split(&mut self, at: u64) {
        let Some((&start, piece)) = self.map.range_mut(..at).next_back() else { return };
        let left = at - start;
        if left < piece.sectors {
            let right = Piece { sectors: piece.sectors - left, position: piece.position + left, ..*piece };
            piece.sectors = left;
            self.map.insert(at, right);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
