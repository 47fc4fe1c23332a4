//! The write buffer of a flash drive: pages that are acknowledged to the host and not yet in flash.
//!
//! It merges writes to a waiting page, and hands out complete pages in the order in which they became
//! complete. Completing a page costs a read. So it holds incomplete pages back until they fill half of it or
//! the drive is flushed.
//!
//! Write combining may be limited: only so many non-contiguous writes may share a program unit. A unit closed
//! by this limit is programmed as it is, as soon as a write arrives that it cannot take.

use std::collections::{HashMap, VecDeque};
use std::ops::Range;

use rustc_hash::FxBuildHasher;

/// The state of a page in the buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Free,
    /// Some sectors are missing.
    Partial,
    /// The missing sectors are being read.
    Filling,
    /// Trimmed while its missing sectors were being read.
    Dropped,
    /// Complete, and waiting for a die.
    Ready,
    /// Being programmed.
    Programming,
}

/// A page in the buffer.
#[derive(Clone, Copy)]
pub(crate) struct Entry {
    /// The host's page.
    pub(crate) page: u32,
    /// The sectors that the host has written, one bit each.
    pub(crate) sectors: u64,
    stage: Stage,
    /// Its size in a program unit.
    pub(crate) size: u32,
    /// Order of arrival.
    sequence: u64,
}

struct Flush {
    tag: u32,
    /// Pages that arrived before the flush have a lower number.
    sequence: u64,
    /// How many of these are still here.
    remaining: usize,
}

/// A write buffer with slots `0 .. capacity`.
pub(crate) struct WriteBuffer {
    entries: Vec<Entry>,
    free: Vec<u32>,
    slots: HashMap<u32, u32, FxBuildHasher>,
    ready: VecDeque<u32>,
    /// Total size of complete pages.
    ready_size: u32,
    partial: VecDeque<u32>,
    flushes: VecDeque<Flush>,
    /// Pages whose programming a write awaits: the page's slot and the write's tag.
    awaited: Vec<(u32, u32)>,
    /// Tags of writes that have nothing left to await.
    durable: Vec<u32>,
    reserved: usize,
    sequence: u64,
    all_sectors: u64,
    /// The most non-contiguous writes that may share a program unit, if limited.
    writes_per_unit: Option<u8>,
}

/// The unit that would be programmed next.
struct NextUnit {
    /// Number of complete pages in it.
    pages: usize,
    /// Whether it takes no more pages, full or not.
    closed: bool,
}

impl WriteBuffer {
    /// An empty buffer of `capacity` pages of `1 ..= 64` sectors. At most `writes_per_unit` writes share a
    /// program unit.
    pub(crate) fn new(capacity: u32, sectors_per_page: u32, writes_per_unit: Option<u8>) -> Self {
        let entry = Entry { page: 0, sectors: 0, stage: Stage::Free, size: 0, sequence: 0 };
        Self {
            entries: vec![entry; capacity as usize],
            free: (0..capacity).rev().collect(),
            slots: HashMap::with_capacity_and_hasher(2 * capacity as usize, FxBuildHasher),
            ready: VecDeque::with_capacity(capacity as usize),
            ready_size: 0,
            partial: VecDeque::with_capacity(capacity as usize),
            flushes: VecDeque::new(),
            awaited: Vec::new(),
            durable: Vec::new(),
            reserved: 0,
            sequence: 0,
            all_sectors: sector_mask(0, sectors_per_page),
            writes_per_unit,
        }
    }

    /// Whether no page is here or being programmed.
    pub(crate) fn is_empty(&self) -> bool {
        self.free.len() == self.entries.len()
    }

    /// Reserves room for up to `pages` that are about to arrive; returns for how many.
    pub(crate) fn reserve(&mut self, pages: u32) -> u32 {
        let room = pages.min((self.free.len() - self.reserved) as u32);
        self.reserved += room as usize;
        room
    }

    /// Whether a page is complete here, so that no read needs the flash.
    pub(crate) fn holds(&self, page: u32) -> bool {
        self.slots.get(&page).is_some_and(|slot| self.entries[*slot as usize].sectors == self.all_sectors)
    }

    /// The slot with the newest sectors of a page, and which sectors these are.
    pub(crate) fn find(&self, page: u32) -> Option<(u32, u64)> {
        let slot = *self.slots.get(&page)?;
        Some((slot, self.entries[slot as usize].sectors))
    }

    /// Stores a page for which room was reserved; returns its slot.
    #[inline]
    pub(crate) fn put(&mut self, page: u32, sectors: u64, size: u32) -> u32 {
        self.reserved -= 1;
        if let Some(&slot) = self.slots.get(&page)
            && !matches!(self.entries[slot as usize].stage, Stage::Programming | Stage::Dropped)
        {
            self.merge(slot, sectors, size);
            return slot;
        }
        let slot = self.free.pop().expect("room was reserved");
        self.entries[slot as usize] =
            Entry { page, sectors, stage: Stage::Partial, size, sequence: self.sequence };
        self.sequence += 1;
        self.slots.insert(page, slot);
        if sectors == self.all_sectors {
            self.make_ready(slot)
        } else {
            self.partial.push_back(slot)
        }
        slot
    }

    /// Merges newer sectors into a page. The less compressible data decides its size.
    fn merge(&mut self, slot: u32, sectors: u64, size: u32) {
        let all_sectors = self.all_sectors;
        let entry = &mut self.entries[slot as usize];
        entry.sectors |= sectors;
        let size = if sectors == all_sectors { size } else { size.max(entry.size) };
        if entry.stage == Stage::Ready {
            self.ready_size = self.ready_size - entry.size + size;
        }
        entry.size = size;
        if entry.stage == Stage::Partial && entry.sectors == self.all_sectors {
            remove(&mut self.partial, slot);
            self.make_ready(slot);
        }
    }

    fn make_ready(&mut self, slot: u32) {
        let entry = &mut self.entries[slot as usize];
        entry.stage = Stage::Ready;
        self.ready_size += entry.size;
        if self.is_awaited(slot) { self.ready.push_front(slot) } else { self.ready.push_back(slot) }
    }

    fn is_awaited(&self, slot: u32) -> bool {
        self.awaited.iter().any(|(awaited, _)| *awaited == slot)
    }

    /// Slot and page of the oldest incomplete page, if it is time to complete one.
    pub(crate) fn take_partial(&mut self, hurry: bool) -> Option<(u32, u32)> {
        let is_awaited = self.partial.front().is_some_and(|slot| self.is_awaited(*slot));
        let is_urgent = hurry || is_awaited || !self.flushes.is_empty();
        if !is_urgent && self.partial.len() <= self.entries.len() / 2 {
            return None;
        }
        let slot = self.partial.pop_front()?;
        let entry = &mut self.entries[slot as usize];
        entry.stage = Stage::Filling;
        Some((slot, entry.page))
    }

    /// Marks a page as complete.
    pub(crate) fn complete(&mut self, slot: u32) {
        match self.entries[slot as usize].stage {
            Stage::Filling => {
                self.entries[slot as usize].sectors = self.all_sectors;
                self.make_ready(slot);
            }
            Stage::Dropped => self.release(slot),
            stage => unreachable!("a page that is filled is not {stage:?}"),
        }
    }

    /// The page that has been complete for longest.
    pub(crate) fn first_ready(&self) -> Option<u32> {
        self.ready.front().map(|slot| self.entries[*slot as usize].page)
    }

    /// Whether a unit is due: with enough complete pages, before a write that may not share the unit, for a
    /// page that a write awaits, or during a flush.
    pub(crate) fn has_unit(&self, size: u32) -> bool {
        if self.ready.front().is_some_and(|slot| !self.flushes.is_empty() || self.is_awaited(*slot)) {
            return true;
        }
        match self.writes_per_unit {
            None => self.ready_size >= size,
            Some(writes_max) => self.next_unit(size, writes_max).closed,
        }
    }

    /// Takes the oldest complete pages as a unit, as long as those before have less than this size and their
    /// writes may share it.
    pub(crate) fn take_unit(&mut self, size: u32, unit: &mut Vec<u32>) {
        let pages_max = self.writes_per_unit.map(|writes_max| self.next_unit(size, writes_max).pages);
        let mut taken = 0;
        while taken < size
            && pages_max.is_none_or(|pages| unit.len() < pages)
            && let Some(slot) = self.ready.pop_front()
        {
            let entry = &mut self.entries[slot as usize];
            entry.stage = Stage::Programming;
            taken += entry.size;
            unit.push(slot);
        }
        self.ready_size -= taken;
    }

    /// The complete pages that the next unit takes.
    fn next_unit(&self, size: u32, writes_max: u8) -> NextUnit {
        let (mut taken, mut writes, mut pages, mut before) = (0, 0, 0, None);
        for slot in &self.ready {
            let Entry { page, size: page_size, .. } = self.entries[*slot as usize];
            let begins = before.is_none_or(|before: u32| before + 1 != page);
            writes += u32::from(begins);
            if taken >= size || writes > u32::from(writes_max) {
                return NextUnit { pages, closed: true };
            }
            taken += page_size;
            pages += 1;
            before = Some(page);
        }
        NextUnit { pages, closed: taken >= size }
    }

    /// The page in a slot.
    pub(crate) fn entry(&self, slot: u32) -> &Entry {
        &self.entries[slot as usize]
    }

    /// Removes a page that was programmed or trimmed.
    pub(crate) fn release(&mut self, slot: u32) {
        let Entry { page, sequence, .. } = self.entries[slot as usize];
        self.entries[slot as usize].stage = Stage::Free;
        if self.slots.get(&page) == Some(&slot) {
            self.slots.remove(&page);
        }
        self.free.push(slot);
        for flush in self.flushes.iter_mut().filter(|flush| sequence < flush.sequence) {
            flush.remaining -= 1;
        }
        while let Some(at) = self.awaited.iter().position(|(awaited, _)| *awaited == slot) {
            let (_, tag) = self.awaited.swap_remove(at);
            if self.awaited.iter().all(|(_, other)| *other != tag) {
                self.durable.push(tag);
            }
        }
    }

    /// Drops a page that still waits.
    pub(crate) fn discard(&mut self, page: u32) {
        let Some(&slot) = self.slots.get(&page) else { return };
        match self.entries[slot as usize].stage {
            Stage::Partial => remove(&mut self.partial, slot),
            Stage::Ready => {
                self.ready_size -= self.entries[slot as usize].size;
                remove(&mut self.ready, slot);
            }
            Stage::Filling => {
                self.entries[slot as usize].stage = Stage::Dropped;
                self.slots.remove(&page);
                return;
            }
            Stage::Programming | Stage::Dropped | Stage::Free => return,
        }
        self.release(slot);
    }

    /// Requests programming of all pages that are here now.
    pub(crate) fn flush(&mut self, tag: u32) {
        let remaining = self.entries.len() - self.free.len();
        self.flushes.push_back(Flush { tag, sequence: self.sequence, remaining });
    }

    /// Requests programming of a write's pages before all others. Pages that fill up the same unit are
    /// programmed with them.
    pub(crate) fn force(&mut self, tag: u32, pages: Range<u32>) {
        let before = self.awaited.len();
        for page in pages.rev() {
            let Some(&slot) = self.slots.get(&page) else { continue };
            self.awaited.push((slot, tag));
            let queue = match self.entries[slot as usize].stage {
                Stage::Partial => &mut self.partial,
                Stage::Ready => &mut self.ready,
                _ => continue,
            };
            remove(queue, slot);
            queue.push_front(slot);
        }
        if self.awaited.len() == before {
            self.durable.push(tag);
        }
    }

    /// Drops all flushes and writes that will never complete, and returns their tags.
    pub(crate) fn give_up_flushes(&mut self) -> Vec<u32> {
        let mut tags: Vec<u32> = self.awaited.drain(..).map(|(_, tag)| tag).collect();
        tags.extend(self.flushes.drain(..).map(|flush| flush.tag));
        tags.sort_unstable();
        tags.dedup();
        tags
    }

    /// The next flush or write that is complete.
    pub(crate) fn pop_flushed(&mut self) -> Option<u32> {
        let flush = self.flushes.pop_front_if(|flush| flush.remaining == 0).map(|flush| flush.tag);
        flush.or_else(|| self.durable.pop())
    }
}

/// The bits of sectors `from .. to` of a page.
pub(crate) fn sector_mask(from: u32, to: u32) -> u64 {
    assert!(from < to && to <= 64, "a page has 1 to 64 sectors");
    (u64::MAX >> (64 - (to - from))) << from
}

fn remove(queue: &mut VecDeque<u32>, slot: u32) {
    let at = queue.iter().rposition(|queued| *queued == slot).expect("a waiting page is queued");
    queue.remove(at);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(buffer: &mut WriteBuffer, page: u32, sectors: u64) {
        assert_eq!(buffer.reserve(1), 1);
        buffer.put(page, sectors, 1);
    }

    fn take(buffer: &mut WriteBuffer, pages: u32) -> Vec<u32> {
        let mut unit = Vec::new();
        buffer.take_unit(pages, &mut unit);
        unit
    }

    #[test]
    fn room_is_given_once_and_comes_back() {
        let mut buffer = WriteBuffer::new(4, 8, None);
        assert_eq!((buffer.reserve(3), buffer.reserve(3)), (3, 1));
        for page in 0..4 {
            buffer.put(page, 0xff, 1);
        }
        assert_eq!(buffer.reserve(1), 0);
        let unit = take(&mut buffer, 4);
        assert_eq!(unit.iter().map(|slot| buffer.entry(*slot).page).collect::<Vec<_>>(), [0, 1, 2, 3]);
        assert!(buffer.holds(2));
        unit.iter().for_each(|slot| buffer.release(*slot));
        assert!(!buffer.holds(2));
        assert_eq!(buffer.reserve(9), 4);
    }

    #[test]
    fn writes_to_a_waiting_page_merge_and_to_one_on_its_way_do_not() {
        let mut buffer = WriteBuffer::new(4, 8, None);
        (0..8).for_each(|sector| put(&mut buffer, 7, sector_mask(sector, sector + 1)));
        assert!(buffer.has_unit(1) && !buffer.has_unit(2));
        let first = take(&mut buffer, 1);
        put(&mut buffer, 7, 0xff);
        let second = take(&mut buffer, 1);
        assert_ne!(first, second);
        buffer.release(first[0]);
        assert!(buffer.holds(7), "the newer copy is still here");
        buffer.release(second[0]);
        assert!(!buffer.holds(7));
    }

    /// Puts complete pages into a buffer that limits sharing; returns whether the next unit of four is due,
    /// and its pages.
    fn next_unit_of(pages: &[u32], writes_per_unit: Option<u8>) -> (bool, Vec<u32>) {
        let mut buffer = WriteBuffer::new(8, 8, writes_per_unit);
        pages.iter().for_each(|page| put(&mut buffer, *page, 0xff));
        let is_due = buffer.has_unit(4);
        (is_due, take(&mut buffer, 4).iter().map(|slot| buffer.entry(*slot).page).collect())
    }

    #[test]
    fn writes_that_do_not_continue_each_other_share_a_unit_as_far_as_they_may() {
        for (pages, writes_per_unit, is_due, unit) in [
            (vec![5, 6, 7, 8, 9], Some(1), true, vec![5, 6, 7, 8]),
            (vec![5, 6], Some(1), false, vec![5, 6]),
            (vec![5, 6, 90], Some(1), true, vec![5, 6]),
            (vec![5, 90, 91, 92, 93], Some(1), true, vec![5]),
            (vec![5, 90, 3], Some(2), true, vec![5, 90]),
            (vec![5, 90, 91], Some(2), false, vec![5, 90, 91]),
            (vec![5, 90, 3, 200], Some(4), true, vec![5, 90, 3, 200]),
            (vec![5, 90, 3], None, false, vec![5, 90, 3]),
            (vec![5, 90, 3, 200], None, true, vec![5, 90, 3, 200]),
        ] {
            assert_eq!(
                next_unit_of(&pages, writes_per_unit),
                (is_due, unit),
                "{pages:?}, {writes_per_unit:?}"
            );
        }
    }

    #[test]
    fn a_flush_programs_a_unit_that_waits_for_the_rest_of_its_write() {
        let mut buffer = WriteBuffer::new(4, 8, Some(1));
        put(&mut buffer, 7, 0xff);
        assert!(!buffer.has_unit(2), "the next page may still come");
        buffer.flush(1);
        assert!(buffer.has_unit(2));
        assert_eq!(take(&mut buffer, 2).len(), 1);
    }

    #[test]
    fn incomplete_pages_wait_until_they_are_half_of_the_buffer() {
        let mut buffer = WriteBuffer::new(4, 8, None);
        (0..2).for_each(|page| put(&mut buffer, page, 1));
        assert_eq!(buffer.take_partial(false), None);
        put(&mut buffer, 2, 1);
        let (slot, page) = buffer.take_partial(false).unwrap();
        assert_eq!((page, buffer.take_partial(false)), (0, None));
        assert!(!buffer.has_unit(1));
        buffer.complete(slot);
        assert!(buffer.has_unit(1));
        assert_eq!(buffer.take_partial(true).unwrap().1, 1);
    }

    #[test]
    fn a_flush_is_over_when_all_before_it_is_programmed() {
        let mut buffer = WriteBuffer::new(4, 8, None);
        buffer.flush(1);
        assert_eq!(buffer.pop_flushed(), Some(1));
        put(&mut buffer, 0, 0xff);
        put(&mut buffer, 1, 1);
        buffer.flush(2);
        assert!(buffer.has_unit(9));
        let unit = take(&mut buffer, 9);
        let (partial, _) = buffer.take_partial(false).unwrap();
        put(&mut buffer, 2, 0xff);
        buffer.release(unit[0]);
        assert_eq!(buffer.pop_flushed(), None);
        buffer.complete(partial);
        let unit = take(&mut buffer, 9);
        unit.iter().for_each(|slot| buffer.release(*slot));
        assert_eq!(buffer.pop_flushed(), Some(2));
    }

    #[test]
    fn a_write_that_waits_for_the_flash_goes_first_and_alone() {
        let mut buffer = WriteBuffer::new(8, 8, None);
        (0..2).for_each(|page| put(&mut buffer, page, 0xff));
        put(&mut buffer, 2, 1);
        (7..9).for_each(|page| put(&mut buffer, page, 0xff));
        put(&mut buffer, 9, 1);
        assert!(!buffer.has_unit(8));
        buffer.force(1, 7..10);
        let (filling, page) = buffer.take_partial(false).unwrap();
        assert_eq!((page, buffer.take_partial(false)), (9, None));
        assert!(buffer.has_unit(8));
        let first = take(&mut buffer, 2);
        assert_eq!(first.iter().map(|slot| buffer.entry(*slot).page).collect::<Vec<_>>(), [7, 8]);
        assert!(!buffer.has_unit(8), "nobody waits for the other pages");
        first.iter().for_each(|slot| buffer.release(*slot));
        assert_eq!(buffer.pop_flushed(), None);
        // A newer copy of a page being programmed belongs to another write.
        buffer.complete(filling);
        let last = take(&mut buffer, 1);
        put(&mut buffer, 9, 0xff);
        buffer.release(last[0]);
        assert_eq!((buffer.pop_flushed(), buffer.has_unit(8)), (Some(1), false));
        // A page that is no longer here is in flash.
        buffer.force(2, 20..24);
        assert_eq!(buffer.pop_flushed(), Some(2));
        // Two writes await the same page, and each is told only once that the page will never be programmed.
        buffer.force(3, 0..2);
        buffer.force(4, 1..2);
        assert_eq!((buffer.give_up_flushes(), buffer.give_up_flushes()), (vec![3, 4], vec![]));
    }

    #[test]
    fn what_is_trimmed_never_reaches_the_flash() {
        let mut buffer = WriteBuffer::new(4, 8, None);
        put(&mut buffer, 0, 0xff);
        put(&mut buffer, 1, 1);
        put(&mut buffer, 2, 1);
        let (filling, _) = buffer.take_partial(true).unwrap();
        (0..4).for_each(|page| buffer.discard(page));
        assert!(!buffer.has_unit(1) && !buffer.holds(0));
        put(&mut buffer, 1, 0xff);
        buffer.complete(filling);
        assert!(buffer.holds(1));
        assert_eq!(buffer.reserve(9), 3);
    }
}
