//! A page-mapped FTL: which flash page holds which host page, and when blocks are garbage-collected.
//!
//! A page here is a mapping unit, which may be smaller than the page that the flash programs.
//!
//! The caller chooses the die of each host write; garbage collection stays within a die.
//! [`Policies`](super::policies::Policies) decide which block is collected, which pages share a block, and
//! how blocks wear. A pseudo-SLC cache may take host writes first, see
//! [`SlcCacheParameters`](super::policies::SlcCacheParameters).

// A submodule, because it uses the map's private fields.
mod slc_cache;

use std::collections::VecDeque;
use std::ops::Range;

use likenew_core::counters::Wear;
use serde::{Deserialize, Serialize};

use super::FlashGeometry;
use super::history::{BlockWear, ProgramTimes, RecentWrites};
use super::policies::{ErasedBlocks, PageMapParameters, Streams};
use super::translation_layer::{
    Cell, Change, Counts, PendingWork, PhysicalPage, TranslationLayer, Unit, Work,
};
use super::victims::Victims;
use crate::memory::{Table, prefetch};
use slc_cache::SlcCache;

/// An open block, and the page at which it continues.
#[derive(Clone, Copy, Serialize, Deserialize)]
struct Frontier {
    block: u32,
    next: u32,
    end: u32,
}

#[derive(Serialize, Deserialize)]
struct Die {
    /// The open block for host pages.
    host: Frontier,
    /// Whether its current program unit holds host pages.
    unit_begun: bool,
    /// The second open block for host pages, if hot and cold ones are separated.
    other_host: Option<Frontier>,
    /// Whether `host` is the block for hot pages.
    host_is_hot: bool,
    /// The open block for relocated pages, if they do not share the host's.
    collected: Option<Frontier>,
    /// Erased blocks, in order of erasure.
    free: VecDeque<u32>,
    mapped: u32,
    /// The most host pages that the die accepts; 0 once it has failed.
    mapped_max: u32,
}

impl Die {
    /// The open block for relocated pages.
    #[inline]
    fn relocation_frontier(&mut self) -> &mut Frontier {
        self.collected.as_mut().unwrap_or(&mut self.host)
    }
}

/// Marks an empty table entry. Page `n` is stored as `n + 1`, so that a new drive's tables are untouched zero memory.
const NO_PAGE: u32 = 0;

/// A ring of pages that will be written soon, to prefetch what their writes need. An announcement prefetches
/// the page's table entry. [`ANNOUNCED_PAGES`] announcements later, the entry has arrived and what it points
/// to is prefetched, and so on once more.
#[derive(Default)]
struct AnnouncedPages {
    ring: [u32; 2 * ANNOUNCED_PAGES],
    next: usize,
}

/// Chosen: as many memory accesses as a core has under way at once.
const ANNOUNCED_PAGES: usize = 8;

impl AnnouncedPages {
    /// Adds a page; returns the pages added [`ANNOUNCED_PAGES`] and twice as many announcements ago.
    #[inline]
    fn push(&mut self, page: u32) -> [u32; 2] {
        let twice = std::mem::replace(&mut self.ring[self.next], page);
        let once = self.ring[(self.next + ANNOUNCED_PAGES) % (2 * ANNOUNCED_PAGES)];
        self.next = (self.next + 1) % (2 * ANNOUNCED_PAGES);
        [once, twice]
    }
}

/// Fewest host pages for which tables are prefetched. Chosen: 4 MiB of entries. Tables of a third of that fit
/// a processor's cache, where prefetching gave 0.85 times the speed; with 10 MiB it gave 1.9 times. Tests use
/// small drives.
const LARGE_TABLE_PAGES: usize = if cfg!(test) { 1 << 10 } else { 1 << 20 };

/// Table entries in a cache line of 64 bytes.
const ENTRIES_PER_LINE: usize = 16;

/// How many relocated pages ahead entries are prefetched. Chosen: twice [`ANNOUNCED_PAGES`].
const MOVES_AHEAD: usize = 16;

/// A page-mapped FTL.
#[derive(Serialize, Deserialize)]
pub struct PageMap {
    parameters: PageMapParameters,
    flash: FlashGeometry,
    /// Host page to flash page.
    flash_pages: Table<u32>,
    /// Flash page to host page; empty where the flash page holds no valid data.
    host_pages: Table<u32>,
    victims: Victims,
    dies: Vec<Die>,
    counts: Counts,
    wear: BlockWear,
    /// Recent host writes, if hot and cold pages are separated.
    recent: Option<RecentWrites>,
    /// Whether dies have lost so many blocks that host pages may not find room.
    read_only: bool,
    times: ProgramTimes,
    slc: Option<SlcCache>,
    #[serde(skip)]
    announced: AnnouncedPages,
    /// Pages that are being relocated; kept to reuse its memory.
    #[serde(skip)]
    moves: Vec<Move>,
}

impl PageMap {
    /// An erased drive.
    ///
    /// # Panics
    /// The parameters do not pass their check.
    pub fn new(parameters: PageMapParameters) -> Self {
        parameters.check().expect("the parameters were checked");
        let flash = parameters.flash;
        let streams = parameters.policies.streams;
        let native_blocks = flash.blocks_per_die - parameters.slc_cache.map_or(0, |slc| slc.static_blocks);
        let die = |index| {
            let first = index * flash.blocks_per_die;
            let mut free: VecDeque<u32> = (first..first + native_blocks).collect();
            let mut open =
                || frontier(&flash, free.pop_front().expect("a die has more than the open blocks"));
            Die {
                host: open(),
                unit_begun: false,
                other_host: (streams == Streams::HotCold).then(&mut open),
                host_is_hot: false,
                collected: (streams != Streams::Mixed).then(&mut open),
                free,
                mapped: 0,
                mapped_max: parameters.mapped_per_die_max() as u32,
            }
        };
        let mut map = Self {
            flash_pages: Table::zeroed(flash.user_pages as usize),
            host_pages: Table::zeroed(flash.pages() as usize),
            victims: Victims::new(
                flash.dies,
                flash.blocks_per_die,
                flash.pages_per_block,
                parameters.policies.collection,
            ),
            dies: (0..flash.dies).map(die).collect(),
            counts: Counts::default(),
            wear: BlockWear::new(&flash, parameters.policies.endurance_erases),
            recent: (streams == Streams::HotCold).then(|| RecentWrites::new(flash.user_pages)),
            read_only: false,
            times: ProgramTimes::new(flash.blocks() as usize, flash.pages_per_block),
            slc: SlcCache::from_parameters(&parameters),
            announced: AnnouncedPages::default(),
            moves: Vec::new(),
            parameters,
            flash,
        };
        for die in 0..flash.dies {
            let work = map.open_slc_block(die, &mut PendingWork::default());
            assert_eq!(work, Work::NONE, "nothing of a new drive has to be moved or erased");
        }
        map
    }

    /// Whether its tables are too large for a processor's caches.
    #[inline]
    fn is_large(&self) -> bool {
        self.flash_pages.len() >= LARGE_TABLE_PAGES
    }

    #[inline]
    fn flash_page(&self, host_page: u32) -> Option<u32> {
        self.flash_pages[host_page as usize].checked_sub(1)
    }

    /// Marks the copy of a host page as stale.
    #[inline]
    fn invalidate(&mut self, host_page: u32) {
        if let Some(flash_page) = self.flash_page(host_page) {
            self.flash_pages[host_page as usize] = NO_PAGE;
            self.host_pages[flash_page as usize] = NO_PAGE;
            let die = self.victims.lose(flash_page / self.flash.pages_per_block);
            self.dies[die as usize].mapped -= 1;
        }
    }

    fn renew_host_block(&mut self, die: u32, pending: &mut PendingWork) {
        if self.writes_slc(die) {
            return self.renew_slc_block(die, pending);
        }
        let mut work = self.fold_for_native_block(die, pending);
        self.victims.close(self.dies[die as usize].host.block);
        self.dies[die as usize].host = self.open_block(die, true);
        self.dies[die as usize].unit_begun = false;
        work.add(self.restore_reserve(die, pending));
        work.add(self.open_slc_block(die, pending));
        if work != Work::NONE {
            pending.push(die, work);
        }
    }

    /// Garbage-collects the block that the policy chooses on a die, if that can gain space.
    fn collect(&mut self, die: u32, pending: &mut PendingWork) -> Option<Work> {
        let victim = self.victims.choose(die)?;
        let valid = self.victims.valid(victim);
        // A policy that does not look for the emptiest block may have to collect a full one on the way to others.
        let gains = u32::from(valid) < self.flash.pages_per_block || self.victims.any_gains(die);
        if !gains || !self.has_room(die, valid) {
            return None;
        }
        let mut work = self.clear(victim, pending);
        work.add(self.level_wear(victim, pending));
        Some(work)
    }

    /// Relocates the valid pages of a closed block and erases it.
    fn clear(&mut self, victim: u32, pending: &mut PendingWork) -> Work {
        let die = self.victims.die(victim);
        self.victims.take(victim);
        if self.is_large()
            && let Some(next) = self.victims.likely_next(die)
        {
            prefetch_lines(&self.host_pages[self.pages_of(next)]);
        }
        let (work, survives) = self.recycle(victim, pending);
        if survives {
            self.dies[die as usize].free.push_back(victim);
        } else {
            self.lose_block(die);
        }
        work
    }

    /// Relocates the valid pages of a block that is no longer a victim, and erases it. Says whether the block survived.
    fn recycle(&mut self, victim: u32, pending: &mut PendingWork) -> (Work, bool) {
        let (die, valid) = (self.victims.die(victim), u32::from(self.victims.valid(victim)));
        let unit_fill = self.dies[die as usize].relocation_frontier().next % self.flash.unit_pages;
        let rows = if valid > 0 { self.move_out(victim, pending) } else { 0 };
        self.victims.erase(victim);
        let pages = self.pages_of(victim);
        pending.note(|| Change::Erased(pages.start as u64..pages.end as u64));
        self.counts.programmed += u64::from(valid);
        self.counts.erases += 1;
        let work = Work {
            rows,
            moved: valid,
            programs: (unit_fill + valid) / self.flash.unit_pages,
            erases: 1,
            ..Work::NONE
        };
        (work, self.wear.erase(victim))
    }

    /// Flash pages of a block.
    fn pages_of(&self, block: u32) -> Range<usize> {
        let pages = self.flash.pages_per_block as usize;
        let start = block as usize * pages;
        start..start + pages
    }

    /// Relocates all valid pages of a block; returns how many rows hold at least one.
    fn move_out(&mut self, victim: u32, pending: &mut PendingWork) -> u32 {
        let (die, is_large) = (self.victims.die(victim), self.is_large());
        let pages = self.pages_of(victim);
        let start = pages.start as u32;
        let block = &mut self.host_pages[pages];
        if is_large {
            prefetch_lines(block);
            // Prefetch the first entries here, and the others while these are moved.
            block.iter().take(MOVES_AHEAD).for_each(|entry| prefetch(&self.flash_pages, index_of(*entry)));
        }
        let mut moves = std::mem::take(&mut self.moves);
        let (rows, count) = take_valid(block, start, self.flash.row_pages as usize, &mut moves);
        let mut done = 0;
        while done < count {
            done += self.append(&moves[done..], count - done, die, pending);
        }
        self.moves = moves;
        rows
    }

    /// Moves the first `count` pages, or as many as find room, to the die's block of relocated pages; returns
    /// how many. The [`MOVES_AHEAD`] moves behind them are only prefetched.
    fn append(&mut self, moves: &[Move], count: usize, die: u32, pending: &mut PendingWork) -> usize {
        let is_large = self.is_large();
        let collected = self.dies[die as usize].relocation_frontier();
        let Frontier { block, next, end } = *collected;
        let count = count.min((end - next) as usize);
        let after = next + count as u32;
        collected.next = after;
        let (now, ahead) = (&moves[..count], &moves[MOVES_AHEAD..][..count]);
        let flash_pages = &mut self.flash_pages[..];
        let places = &mut self.host_pages[next as usize..after as usize];
        for (((now, ahead), place), to) in now.iter().zip(ahead).zip(places).zip(next + 1..after + 1) {
            if is_large {
                prefetch(flash_pages, ahead.index());
            }
            flash_pages[now.index()] = to;
            *place = now.entry;
        }
        pending.note_all(|| {
            let to = u64::from(next)..;
            now.iter().zip(to).map(|(now, to)| Change::Moved { from: u64::from(now.from), to })
        });
        self.victims.gain_by(block, count as u16);
        if after == end {
            self.victims.close(block);
            *self.dies[die as usize].relocation_frontier() = self.open_block(die, false);
        }
        count
    }
}

/// A valid page that leaves its block.
#[derive(Clone, Copy, Default)]
struct Move {
    /// The host page, as its table entry.
    entry: u32,
    /// The flash page.
    from: u32,
}

impl Move {
    #[inline]
    fn index(self) -> usize {
        index_of(self.entry)
    }
}

/// Table index of the host page that an entry names, or an index beyond the end if it names none.
#[inline]
fn index_of(entry: u32) -> usize {
    (entry as usize).wrapping_sub(1)
}

/// Prefetches entries that will be needed soon.
fn prefetch_lines(entries: &[u32]) {
    (0..entries.len()).step_by(ENTRIES_PER_LINE).for_each(|index| prefetch(entries, index));
}

/// Takes the entries of a block whose first flash page is `start` into `moves`. Returns how many rows hold
/// one, and their number. [`MOVES_AHEAD`] empty moves follow them.
fn take_valid(block: &mut [u32], start: u32, row_pages: usize, moves: &mut Vec<Move>) -> (u32, usize) {
    moves.resize(block.len() + MOVES_AHEAD, Move::default());
    let (mut rows, mut count, mut from) = (0, 0, start);
    for row in block.chunks_exact(row_pages) {
        let count_before = count;
        for &entry in row {
            // Store every entry, and let the next one overwrite it if it is empty: a branch would be unpredictable.
            moves[count] = Move { entry, from };
            count += usize::from(entry != NO_PAGE);
            from += 1;
        }
        rows += u32::from(count > count_before);
    }
    moves[count..][..MOVES_AHEAD].fill(Move::default());
    block.fill(NO_PAGE);
    (rows, count)
}

impl TranslationLayer for PageMap {
    fn user_pages(&self) -> u32 {
        self.flash.user_pages
    }

    #[inline]
    fn find(&self, page: u32) -> Option<PhysicalPage> {
        let at = self.flash_page(page)?;
        let block = at / self.flash.pages_per_block;
        Some(PhysicalPage {
            at: u64::from(at),
            row: u64::from(at / self.flash.row_pages),
            die: self.victims.die(block),
            cell: self.slc.as_ref().map_or(Cell::Native, |slc| slc.cell(block)),
            size: 1,
            programmed_s: self.times.programmed_s(block, at.into()),
        })
    }

    #[inline]
    fn accepts(&self, die: u32) -> bool {
        let Die { mapped, mapped_max, .. } = self.dies[die as usize];
        mapped + self.flash.unit_pages <= mapped_max
    }

    #[inline]
    fn unit(&self, die: u32) -> Unit {
        if self.writes_slc(die) {
            return Unit { cell: Cell::Slc, size: self.flash.row_pages };
        }
        // Relocated pages in the same block may have begun the unit.
        let begun = self.dies[die as usize].host.next % self.flash.unit_pages;
        Unit { cell: Cell::Native, size: self.flash.unit_pages - begun }
    }

    fn expect_use(&mut self) {
        self.flash_pages.use_large_pages();
        self.host_pages.use_large_pages();
    }

    #[inline]
    fn announce(&mut self, page: u32) {
        if !self.is_large() {
            return;
        }
        prefetch(&self.flash_pages, page as usize);
        let [once, twice] = self.announced.push(page);
        if let Some(flash_page) = self.flash_page(once) {
            prefetch(&self.host_pages, flash_page as usize);
            self.victims.prefetch(flash_page / self.flash.pages_per_block);
        }
        if let Some(flash_page) = self.flash_page(twice) {
            self.victims.prefetch_neighbors(flash_page / self.flash.pages_per_block);
        }
    }

    #[inline]
    fn write(&mut self, page: u32, _size: u32, die: u32, pending: &mut PendingWork) {
        self.invalidate(page);
        self.choose_host_block(page, die);
        let place = &mut self.dies[die as usize];
        let Frontier { block, next, end } = place.host;
        place.host.next = next + 1;
        place.unit_begun = true;
        place.mapped += 1;
        self.flash_pages[page as usize] = next + 1;
        self.host_pages[next as usize] = page + 1;
        pending.note(|| Change::Written { page, at: u64::from(next) });
        self.victims.gain(block);
        self.counts.host_pages += 1;
        self.counts.programmed += 1;
        if next + 1 == end {
            self.renew_host_block(die, pending);
        }
    }

    fn end_unit(&mut self, die: u32, pending: &mut PendingWork) {
        let slc = self.writes_slc(die);
        let Die { host, unit_begun, .. } = &mut self.dies[die as usize];
        // Relocated pages that began a unit of a shared block wait for host pages.
        if !std::mem::take(unit_begun) {
            return;
        }
        let padded =
            host.next.next_multiple_of(if slc { self.flash.row_pages } else { self.flash.unit_pages });
        self.counts.programmed += u64::from(padded - host.next);
        host.next = padded;
        if host.next == host.end {
            self.renew_host_block(die, pending);
        }
    }

    fn trim(&mut self, page: u32, _todo: &mut PendingWork) {
        self.invalidate(page);
    }

    fn tend(&mut self, die: u32, pending: &mut PendingWork) -> bool {
        if self.tend_slc(die, pending) {
            return true;
        }
        let Die { free, mapped_max, .. } = &self.dies[die as usize];
        if *mapped_max == 0 || free.len() >= self.parameters.idle_free_blocks as usize {
            return false;
        }
        let Some(mut work) = self.collect(die, pending) else { return false };
        work.add(self.restore_reserve(die, pending));
        pending.push(die, work);
        true
    }

    fn settle(&mut self, pending: &mut PendingWork) {
        for die in 0..self.flash.dies {
            while self.tend_slc(die, pending) {}
        }
    }

    fn set_clock(&mut self, seconds: i64) {
        self.times.set_clock(seconds);
        let open = |die: &Die| [Some(die.host), die.other_host, die.collected];
        let beside_cache = self.slc.iter().flat_map(SlcCache::native_host_blocks);
        for Frontier { block, next, .. } in self.dies.iter().flat_map(open).flatten().chain(beside_cache) {
            self.times.program(block, next.into());
        }
    }

    fn counts(&self) -> Counts {
        self.counts
    }

    fn free_blocks(&self) -> u64 {
        let in_cache = self.slc.as_ref().map_or(0, SlcCache::free_blocks);
        self.dies.iter().map(|die| die.free.len() as u64).sum::<u64>() + in_cache
    }

    fn mapped_pages(&self) -> u64 {
        self.dies.iter().map(|die| u64::from(die.mapped)).sum()
    }

    fn wear(&self) -> Wear {
        self.wear.summary()
    }

    fn is_read_only(&self) -> bool {
        self.read_only
    }
}

fn frontier(flash: &FlashGeometry, block: u32) -> Frontier {
    let next = block * flash.pages_per_block;
    Frontier { block, next, end: next + flash.pages_per_block }
}

// The blocks of a die: which erased one is opened, how many are reserved, when resting data is moved, and
// what happens when blocks fail.

impl PageMap {
    /// Opens an erased block of a die for host pages or relocated pages.
    fn open_block(&mut self, die: u32, for_host: bool) -> Frontier {
        let place = &mut self.dies[die as usize];
        let block = match self.parameters.policies.erased_blocks {
            ErasedBlocks::Fifo => place.free.pop_front(),
            ErasedBlocks::LeastWorn => {
                let least = for_host || place.collected.is_none();
                let chosen = choose_by_wear(&place.free, &self.wear, least);
                chosen.and_then(|index| place.free.remove(index))
            }
        };
        let block = block.expect("collection keeps enough erased blocks");
        self.times.open(block);
        frontier(&self.flash, block)
    }

    /// Switches to the open block for hot or cold pages, as the page requires. Only the first page of a
    /// program unit can switch, as a unit lies in one block.
    #[inline]
    fn choose_host_block(&mut self, page: u32, die: u32) {
        let Some(recent) = &mut self.recent else { return };
        let hot = recent.note(page);
        let place = &mut self.dies[die as usize];
        if hot != place.host_is_hot
            && place.host.next.is_multiple_of(self.flash.unit_pages)
            && let Some(other) = &mut place.other_host
        {
            std::mem::swap(&mut place.host, other);
            place.host_is_hot = hot;
        }
    }

    /// Garbage-collects until a die has its reserve of erased blocks.
    fn restore_reserve(&mut self, die: u32, pending: &mut PendingWork) -> Work {
        let mut work = Work::NONE;
        while self.dies[die as usize].free.len() < self.parameters.reserve_blocks() as usize {
            let Some(more) = self.collect(die, pending) else {
                self.give_up(die);
                break;
            };
            work.add(more);
        }
        work
    }

    /// Whether a die can take this many relocated pages.
    fn has_room(&mut self, die: u32, pages: u16) -> bool {
        let place = &mut self.dies[die as usize];
        let collected = *place.relocation_frontier();
        // An open block is replaced as soon as it is full.
        !place.free.is_empty() || collected.end - collected.next > u32::from(pages)
    }

    /// Levels wear after an erasure: relocates data that rests in little-worn blocks, so that these blocks
    /// are used, too.
    ///
    /// From half of the allowed spread on, each erasure moves one block. That is early enough for the worn
    /// block to come to rest with the moved data. At the limit, it moves as many blocks as necessary.
    fn level_wear(&mut self, worn_block: u32, pending: &mut PendingWork) -> Work {
        let mut work = Work::NONE;
        let (die, spread_max) = (self.victims.die(worn_block), self.parameters.policies.wear_spread_max);
        let worn_erases = self.wear.erases(worn_block);
        while spread_max > 0 && self.wear.spread(die, worn_erases) > spread_max / 2 {
            let Some(rested) = self.victims.closed_blocks(die).min_by_key(|block| self.wear.erases(*block))
            else {
                break;
            };
            let spread = worn_erases.saturating_sub(self.wear.erases(rested));
            if spread <= spread_max / 2 || !self.has_room(die, self.victims.valid(rested)) {
                break;
            }
            work.add(self.clear(rested, pending));
            if spread < spread_max {
                break;
            }
        }
        work
    }

    /// Removes a failed block from a die's capacity.
    fn lose_block(&mut self, die: u32) {
        let place = &mut self.dies[die as usize];
        place.mapped_max = place.mapped_max.saturating_sub(self.flash.pages_per_block);
        self.update_read_only();
    }

    /// Stops writes to a die that cannot restore its reserve.
    fn give_up(&mut self, die: u32) {
        assert!(
            self.parameters.policies.endurance_erases.is_some(),
            "a die never holds so much that collection gains nothing"
        );
        let place = &mut self.dies[die as usize];
        (place.mapped_max, place.unit_begun) = (0, false);
        self.update_read_only();
    }

    /// While the dies that accept pages could hold all host pages, one of them has room for the next unit.
    fn update_read_only(&mut self) {
        let unit = self.flash.unit_pages;
        let room = self.dies.iter().map(|die| u64::from(die.mapped_max.saturating_sub(unit))).sum::<u64>();
        self.read_only = room < u64::from(self.flash.user_pages);
    }
}

/// Index of the least or most worn of some blocks; the first one if there are several.
fn choose_by_wear(blocks: &VecDeque<u32>, wear: &BlockWear, least: bool) -> Option<usize> {
    let key = |index: &usize| wear.erases(blocks[*index]);
    if !least {
        return (0..blocks.len()).rev().max_by_key(key);
    }
    // On a nearly new drive the first block matches, which avoids a long search.
    (0..blocks.len())
        .find(|index| wear.is_least(blocks[*index]))
        .or_else(|| (0..blocks.len()).min_by_key(key))
}

#[cfg(test)]
mod tests;
