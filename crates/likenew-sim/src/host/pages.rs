//! Which pages are in memory, and which of them the drive does not have yet.

use std::collections::BTreeMap;
use std::ops::Range;

use likenew_core::io::DataClass;
use lru::LruCache;
use rustc_hash::FxBuildHasher;

/// Pages of a drive by their number. What is clean goes in the order of its last use when memory runs short;
/// what is dirty stays.
pub(crate) struct Pages {
    clean: LruCache<u64, (), FxBuildHasher>,
    dirty: BTreeMap<u64, DataClass>,
    /// How many there is memory for.
    room: usize,
    /// Where writeback continues.
    cursor: u64,
}

impl Pages {
    pub(crate) fn new(room: u64) -> Self {
        let clean = LruCache::unbounded_with_hasher(FxBuildHasher);
        Self { clean, dirty: BTreeMap::new(), room: room.max(1) as usize, cursor: 0 }
    }

    /// Uses a page, and says whether it was there.
    pub(crate) fn touch(&mut self, page: u64) -> bool {
        self.clean.get(&page).is_some() || self.dirty.contains_key(&page)
    }

    /// These pages were read.
    pub(crate) fn add_clean(&mut self, pages: Range<u64>) {
        for page in pages {
            if !self.dirty.contains_key(&page) {
                self.clean.put(page, ());
            }
        }
        self.make_room();
    }

    /// These pages were written by a program.
    pub(crate) fn add_dirty(&mut self, pages: Range<u64>, data: DataClass) {
        for page in pages {
            self.clean.pop(&page);
            self.dirty.insert(page, data);
        }
        self.make_room();
    }

    /// These pages hold nothing of use any more.
    pub(crate) fn forget(&mut self, pages: Range<u64>) {
        for page in pages {
            self.clean.pop(&page);
            self.dirty.remove(&page);
        }
    }

    pub(crate) fn forget_clean(&mut self) {
        self.clean.clear();
    }

    pub(crate) fn dirty(&self) -> u64 {
        self.dirty.len() as u64
    }

    /// The next adjacent pages, at most `most`, that are dirty with data of one class. They are clean from
    /// now on.
    pub(crate) fn take_dirty(&mut self, most: u64) -> Option<(Range<u64>, DataClass)> {
        let next = self.dirty.range(self.cursor..).next().or_else(|| self.dirty.iter().next());
        let (first, data) = next.map(|(page, data)| (*page, *data))?;
        let mut end = first;
        while end - first < most && self.dirty.get(&end) == Some(&data) {
            self.dirty.remove(&end);
            self.clean.put(end, ());
            end += 1;
        }
        self.cursor = end;
        Some((first..end, data))
    }

    fn make_room(&mut self) {
        while self.clean.len() + self.dirty.len() > self.room && self.clean.pop_lru().is_some() {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use DataClass::{Random, Zero};

    #[test]
    fn what_was_used_last_stays_and_what_is_dirty_stays_anyhow() {
        let mut pages = Pages::new(4);
        pages.add_dirty(0..1, Random);
        pages.add_clean(10..13);
        assert!(pages.touch(10));
        pages.add_clean(20..22);
        let there: Vec<u64> = (0..30).filter(|page| pages.touch(*page)).collect();
        assert_eq!(there, [0, 10, 20, 21]);
        pages.forget(0..11);
        pages.forget_clean();
        assert_eq!((0..30).filter(|page| pages.touch(*page)).count(), 0);
    }

    #[test]
    fn neighbors_are_written_back_together_in_order_of_addresses() {
        let mut pages = Pages::new(100);
        pages.add_dirty(8..10, Random);
        pages.add_dirty(0..6, Random);
        pages.add_dirty(6..8, Zero);
        let mut taken = Vec::new();
        while let Some(run) = pages.take_dirty(4) {
            taken.push(run);
        }
        assert_eq!(taken, [(0..4, Random), (4..6, Random), (6..8, Zero), (8..10, Random)]);
        assert!(pages.dirty() == 0 && pages.touch(5), "what is written back can still be read");
    }
}
