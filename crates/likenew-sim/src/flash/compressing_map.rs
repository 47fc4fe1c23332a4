//! An FTL that compresses data, as SandForce controllers do. Compressed pages lie packed end to end in flash.
//!
//! The flash is a log of entries of variable size, counted in granules, which are equal parts of a page. An
//! entry takes the compressed size of its page plus a fixed overhead, and at most the whole page. An entry
//! may begin in one program unit and end in the next unit of the same block (as in US patent 9495288,
//! "Variable-size flash translation layer"). It never continues in another block, so space at the end of a
//! block that is too short for the next entry stays empty. The part of an entry that does not fit into a unit
//! waits in the controller for the next.
//!
//! Compression adds spare flash, never capacity: the host sees the same number of pages, and all of them fit
//! if none compresses. Placement and garbage collection are those of the [page map](super::page_map), with
//! granules instead of pages. The caller chooses the die of a host write. The closed block of a die with the
//! fewest valid granules is the victim. Host writes and relocated entries fill separate blocks.
//!
//! Parity across dies (SandForce's RAISE) takes one program unit of each stripe. It costs its share of
//! capacity, and is programmed with the data. A stripe covers all dies, so they advance together, one unit of
//! host pages each.

use std::collections::VecDeque;
use std::ops::Range;

use likenew_core::counters::Wear;
use likenew_core::io::DataClass;
use serde::{Deserialize, Serialize};

use super::history::ProgramTimes;
use super::nand::DIES_MAX;
use super::policies::{BLOCKS_PER_DIE, Collection, FREE_BLOCKS_MIN};
use super::translation_layer::{
    Cell, Change, Counts, PendingWork, PhysicalPage, TranslationLayer, Unit, Work,
};
use super::victims::Victims;
use super::{FlashGeometry, LayoutError};
use crate::drive_file::parameters;

/// Whose entries an open block takes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stream {
    Host,
    Moved,
}

/// An open block, and the granule at which it continues.
#[derive(Clone, Copy, Serialize, Deserialize)]
struct Frontier {
    block: u32,
    next: u32,
}

#[derive(Serialize, Deserialize)]
struct Die {
    /// Open blocks, by [`Stream`].
    open: [Frontier; 2],
    /// Erased blocks, in order of erasure.
    free: VecDeque<u32>,
    /// Granules of valid entries.
    valid: u32,
    /// Units of host pages that were filled or padded.
    units: u64,
    /// Whether the current unit of host pages is full, so that anything beyond it belongs to the next.
    unit_is_full: bool,
}

/// Marks an empty table entry. Granule `n` is stored as `n + 1`, so that a new drive's table is untouched zero memory.
const NO_PAGE: u32 = 0;

/// An FTL with compression.
#[derive(Serialize, Deserialize)]
pub struct CompressingMap {
    parameters: CompressingParameters,
    block_granules: u32,
    unit_granules: u32,
    row_granules: u32,
    valid_per_die_max: u32,
    /// By host page: the granule at which its entry begins, plus one.
    granules: Vec<u32>,
    /// By host page: the size of its entry.
    sizes: Vec<u8>,
    /// By block: its entries.
    entries: Vec<BlockEntries>,
    victims: Victims,
    dies: Vec<Die>,
    mapped_pages: u64,
    counts: Counts,
    /// By block: its erasures.
    erases: Vec<u32>,
    times: ProgramTimes,
}

impl CompressingMap {
    /// An erased drive.
    ///
    /// # Panics
    /// The parameters do not pass their check.
    pub fn new(parameters: CompressingParameters) -> Self {
        parameters.check().expect("the parameters were checked");
        let flash = parameters.flash;
        let (blocks, user_pages) = (flash.blocks() as usize, flash.user_pages as usize);
        let die = |index| {
            let first = index * flash.blocks_per_die;
            let mut free: VecDeque<u32> = (first..first + flash.blocks_per_die).collect();
            let open = [0; 2].map(|next| {
                let block = free.pop_front().expect("a die has more than two blocks");
                Frontier { block, next }
            });
            Die { open, free, valid: 0, units: 0, unit_is_full: false }
        };
        Self {
            block_granules: parameters.block_granules(),
            unit_granules: parameters.unit_granules(),
            row_granules: parameters.row_granules(),
            valid_per_die_max: parameters.valid_per_die_max() as u32,
            granules: vec![NO_PAGE; user_pages],
            sizes: vec![0; user_pages],
            entries: (0..blocks).map(|_| BlockEntries::default()).collect(),
            victims: Victims::new(
                flash.dies,
                flash.blocks_per_die,
                parameters.block_granules(),
                Collection::Greedy,
            ),
            dies: (0..flash.dies).map(die).collect(),
            mapped_pages: 0,
            counts: Counts::default(),
            erases: vec![0; blocks],
            times: ProgramTimes::new(blocks, parameters.block_granules()),
            parameters,
        }
    }

    /// First granule and size of a host page's entry.
    #[inline]
    fn entry(&self, page: u32) -> Option<(u32, u32)> {
        let granule = self.granules[page as usize].checked_sub(1)?;
        Some((granule, u32::from(self.sizes[page as usize])))
    }

    /// Marks the entry of a host page as stale.
    #[inline]
    fn invalidate(&mut self, page: u32) {
        let Some((granule, size)) = self.entry(page) else { return };
        self.granules[page as usize] = NO_PAGE;
        self.mapped_pages -= 1;
        let block = granule / self.block_granules;
        let die = self.victims.lose_by(block, size as u16);
        self.dies[die as usize].valid -= size;
        if self.entries[block as usize].lose() {
            self.forget_stale(block);
        }
    }

    fn forget_stale(&mut self, block: u32) {
        let start = block * self.block_granules;
        let granules = &self.granules;
        self.entries[block as usize]
            .forget_stale(start, start + self.block_granules, |page| granules[page as usize].checked_sub(1));
    }

    /// Advances an open block to granule `to`. Counts the programming and returns the die's work beyond
    /// programs of host pages.
    fn advance(&mut self, die: u32, stream: Stream, to: u32) -> Work {
        let place = &mut self.dies[die as usize];
        let from = std::mem::replace(&mut place.open[stream as usize].next, to);
        let full: Range<u32> = from / self.unit_granules..to / self.unit_granules;
        let programs = match stream {
            Stream::Host => {
                place.unit_is_full |= !full.is_empty();
                place.units += full.len() as u64;
                0
            }
            Stream::Moved => full.len() as u32,
        };
        let parity = full.filter(|unit| self.parameters.is_before_parity(*unit, die)).count() as u32;
        let parity_granules = parity * self.unit_granules;
        self.counts.programmed += u64::from(to - from + parity_granules);
        // Relocated data crosses the channel twice and parity only once, so half of it counts as moved.
        Work { moved: parity_granules / 2, programs: programs + parity, ..Work::NONE }
    }

    /// Closes the open block of a stream and opens another.
    fn renew(&mut self, die: u32, stream: Stream) -> Work {
        let work = self.advance(die, stream, self.block_granules);
        let place = &mut self.dies[die as usize];
        let open = &mut place.open[stream as usize];
        self.victims.close(open.block);
        self.entries[open.block as usize].shrink();
        let block = place.free.pop_front().expect("collection keeps at least two blocks free");
        *open = Frontier { block, next: 0 };
        self.times.open(block);
        work
    }

    /// Like [`Self::renew`] for host pages, then garbage-collects until the reserve is restored.
    fn renew_host(&mut self, die: u32, pending: &mut PendingWork) -> Work {
        let mut work = self.renew(die, Stream::Host);
        while self.dies[die as usize].free.len() < self.parameters.free_blocks_min as usize {
            work.add(self.collect(die, pending));
        }
        work
    }

    /// Appends an entry to an open block that has room for it; returns its first granule.
    #[inline]
    fn append(&mut self, die: u32, stream: Stream, page: u32, size: u32) -> (u32, Work) {
        let Frontier { block, next } = self.dies[die as usize].open[stream as usize];
        let granule = block * self.block_granules + next;
        self.granules[page as usize] = granule + 1;
        self.sizes[page as usize] = size as u8;
        self.entries[block as usize].push(page);
        self.times.program(block, granule.into());
        self.victims.gain_by(block, size as u16);
        (granule, self.advance(die, stream, next + size))
    }

    /// Whether a die may hold another unit of valid data.
    fn has_room_for_unit(&self, die: &Die) -> bool {
        die.valid + self.parameters.unit_granules_max() <= self.valid_per_die_max
    }

    fn has_room(&self, die: u32, stream: Stream, size: u32) -> bool {
        self.dies[die as usize].open[stream as usize].next + size <= self.block_granules
    }

    /// Garbage-collects the closed block of a die with the fewest valid granules.
    fn collect(&mut self, die: u32, pending: &mut PendingWork) -> Work {
        let victim = self.victims.choose(die).expect("a die that needs collection has a closed block");
        self.victims.take(victim);
        let valid = u32::from(self.victims.valid(victim));
        assert!(
            valid < self.parameters.block_granules_sure(),
            "a die never holds so much that collection gains nothing"
        );
        let mut work = self.move_out(die, victim, pending);
        work.add(Work { moved: valid, erases: 1, ..Work::NONE });
        self.victims.erase(victim);
        self.erases[victim as usize] += 1;
        let start = u64::from(victim) * u64::from(self.block_granules);
        pending.note(|| Change::Erased(start..start + u64::from(self.block_granules)));
        self.dies[die as usize].free.push_back(victim);
        self.counts.erases += 1;
        work
    }

    /// Relocates the valid entries of a block; returns the reads and programs that this takes.
    fn move_out(&mut self, die: u32, victim: u32, pending: &mut PendingWork) -> Work {
        self.forget_stale(victim);
        let entries = std::mem::take(&mut self.entries[victim as usize]);
        let (mut work, mut next_row) = (Work::NONE, 0);
        for page in entries.pages() {
            let (from, size) = self.entry(*page).expect("only valid entries are left");
            let rows = from / self.row_granules..(from + size).div_ceil(self.row_granules);
            work.rows += rows.end - rows.start.max(next_row);
            next_row = rows.end;
            if !self.has_room(die, Stream::Moved, size) {
                work.add(self.renew(die, Stream::Moved));
            }
            let (to, programs) = self.append(die, Stream::Moved, *page, size);
            work.add(programs);
            if !self.has_room(die, Stream::Moved, 1) {
                work.add(self.renew(die, Stream::Moved));
            }
            pending.note(|| Change::Moved { from: u64::from(from), to: u64::from(to) });
        }
        work
    }

    fn give(pending: &mut PendingWork, die: u32, work: Work) {
        if work != Work::NONE {
            pending.push(die, work);
        }
    }
}

impl TranslationLayer for CompressingMap {
    fn user_pages(&self) -> u32 {
        self.parameters.flash.user_pages
    }

    fn size(&self, data: DataClass) -> u32 {
        self.parameters.size(data)
    }

    fn size_max(&self) -> u32 {
        self.parameters.granules_per_page
    }

    #[inline]
    fn find(&self, page: u32) -> Option<PhysicalPage> {
        let (granule, size) = self.entry(page)?;
        let block = granule / self.block_granules;
        Some(PhysicalPage {
            at: u64::from(granule),
            row: u64::from(granule / self.row_granules),
            die: self.victims.die(block),
            cell: Cell::Native,
            size,
            programmed_s: self.times.programmed_s(block, granule.into()),
        })
    }

    /// With parity, every die with room takes a unit of a stripe before the next stripe begins.
    #[inline]
    fn accepts(&self, die: u32) -> bool {
        let place = &self.dies[die as usize];
        let is_behind = |other: &Die| other.units < place.units && self.has_room_for_unit(other);
        let waits = self.parameters.parity_stripe_units > 0 && self.dies.iter().any(is_behind);
        self.has_room_for_unit(place) && !waits
    }

    #[inline]
    fn unit(&self, die: u32) -> Unit {
        let next = self.dies[die as usize].open[Stream::Host as usize].next;
        Unit { cell: Cell::Native, size: self.unit_granules - next % self.unit_granules }
    }

    fn write(&mut self, page: u32, size: u32, die: u32, pending: &mut PendingWork) {
        assert!((1..=self.size_max()).contains(&size), "an entry of {size} granules is none of ours");
        self.invalidate(page);
        let mut work = Work::NONE;
        if !self.has_room(die, Stream::Host, size) {
            work.add(self.renew_host(die, pending));
        }
        let (granule, parity) = self.append(die, Stream::Host, page, size);
        work.add(parity);
        self.dies[die as usize].valid += size;
        self.mapped_pages += 1;
        self.counts.host_pages += 1;
        pending.note(|| Change::Written { page, at: u64::from(granule) });
        if !self.has_room(die, Stream::Host, 1) {
            work.add(self.renew_host(die, pending));
        }
        Self::give(pending, die, work);
    }

    fn end_unit(&mut self, die: u32, pending: &mut PendingWork) {
        let place = &mut self.dies[die as usize];
        if std::mem::take(&mut place.unit_is_full) {
            return;
        }
        let padded = place.open[Stream::Host as usize].next.next_multiple_of(self.unit_granules);
        let mut work = self.advance(die, Stream::Host, padded);
        if !self.has_room(die, Stream::Host, 1) {
            work.add(self.renew_host(die, pending));
        }
        self.dies[die as usize].unit_is_full = false;
        Self::give(pending, die, work);
    }

    fn trim(&mut self, page: u32, _todo: &mut PendingWork) {
        self.invalidate(page);
    }

    fn tend(&mut self, die: u32, pending: &mut PendingWork) -> bool {
        let wanted = self.dies[die as usize].free.len() < self.parameters.idle_free_blocks as usize;
        let sure = self.parameters.block_granules_sure();
        let victim = if wanted { self.victims.choose(die) } else { None };
        if victim.is_none_or(|victim| u32::from(self.victims.valid(victim)) >= sure) {
            return false;
        }
        let work = self.collect(die, pending);
        pending.push(die, work);
        true
    }

    fn set_clock(&mut self, seconds: i64) {
        self.times.set_clock(seconds);
    }

    fn counts(&self) -> Counts {
        self.counts
    }

    fn free_blocks(&self) -> u64 {
        self.dies.iter().map(|die| die.free.len() as u64).sum()
    }

    fn mapped_pages(&self) -> u64 {
        self.mapped_pages
    }

    fn wear(&self) -> Wear {
        Wear::from_erases(self.erases.iter().copied(), 0)
    }
}

parameters! {
    /// How a [`CompressingMap`] is laid out, and when it garbage-collects.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
    pub struct CompressingParameters {
        /// The geometry, parity included.
        pub flash: FlashGeometry,
        /// A die garbage-collects when it has fewer erased blocks than this; 2 at least.
        pub free_blocks_min: u32 = whole("free_blocks_min_per_die", FREE_BLOCKS_MIN),
        /// An idle drive garbage-collects until each die has this many erased blocks.
        pub idle_free_blocks: u32 = whole("idle_free_blocks_per_die", BLOCKS_PER_DIE),
        /// Size of a page that does not compress, in granules.
        pub granules_per_page: u32 = whole("granules_per_page", 1..=255),
        /// Overhead of a compressed page, and so the size of a page of zeros, in granules.
        pub granules_min: u32 = whole("granules_min_per_page", 1..=255),
        /// Program units per stripe, one of them parity; 0 for no parity.
        pub parity_stripe_units: u32 = whole("parity_stripe_units", 0..=DIES_MAX),
    }
}

impl CompressingParameters {
    /// Granules for a page of such data.
    pub fn size(&self, data: DataClass) -> u32 {
        let compressed = (data.compressed_share() * f64::from(self.granules_per_page)).ceil() as u32;
        (self.granules_min + compressed).min(self.granules_per_page)
    }

    /// Granules per program operation.
    pub fn unit_granules(&self) -> u32 {
        self.flash.unit_pages * self.granules_per_page
    }

    /// Granules per array read.
    pub fn row_granules(&self) -> u32 {
        self.flash.row_pages * self.granules_per_page
    }

    /// Granules per block, parity excluded.
    pub fn block_granules(&self) -> u32 {
        let units = self.flash.pages_per_block / self.flash.unit_pages;
        let parity = units.checked_div(self.parity_stripe_units).unwrap_or(0);
        (units - parity) * self.unit_granules()
    }

    /// Granules that a block is sure to hold: less than a page may stay empty at its end.
    pub fn block_granules_sure(&self) -> u32 {
        self.block_granules() - (self.granules_per_page - 1)
    }

    /// The most granules that a unit of host pages makes valid: its last entry may end beyond it.
    pub fn unit_granules_max(&self) -> u32 {
        self.unit_granules() + self.granules_per_page - 1
    }

    /// The most host pages in a program unit.
    pub fn unit_pages_max(&self) -> u32 {
        self.unit_granules().div_ceil(self.granules_min)
    }

    /// The most valid granules on a die for which garbage collection always gains space.
    ///
    /// A block of relocated entries holds [`Self::block_granules_sure`] or more, so collection gains if its
    /// victim holds less. When it starts, all blocks are closed except the two open ones and the reserve less
    /// one. If the valid data surely fits into one block fewer than are closed, their mean is below that
    /// limit. The victim holds no more than the mean.
    pub fn valid_per_die_max(&self) -> u64 {
        let reserve = u64::from(self.free_blocks_min) + 2;
        let blocks = u64::from(self.flash.blocks_per_die).saturating_sub(reserve);
        blocks * u64::from(self.block_granules_sure())
    }

    /// Whether parity follows this data unit of a die, counted from the start of its block. The dies take
    /// turns.
    pub(super) fn is_before_parity(&self, data_unit: u32, die: u32) -> bool {
        let data_units = self.parity_stripe_units.saturating_sub(1);
        data_units > 0 && (data_unit + die) % data_units == data_units - 1
    }

    /// Checks that an FTL of this shape can work.
    ///
    /// # Errors
    /// The parameters contradict each other.
    pub fn check(&self) -> Result<(), LayoutError> {
        let flash = &self.flash;
        flash.check()?;
        if self.free_blocks_min < 2 {
            return Err(LayoutError::SmallReserve);
        }
        self.check_granules()?;
        // Each die leaves room for another unit, so that the next unit always finds a die.
        let room = self.valid_per_die_max().saturating_sub(u64::from(self.unit_granules_max()));
        let usable = u64::from(flash.dies) * room / u64::from(self.granules_per_page);
        if u64::from(flash.user_pages) > usable {
            let (user_pages, pages) = (flash.user_pages, flash.pages());
            return Err(LayoutError::LittleSpareUncompressed { user_pages, pages, usable });
        }
        Ok(())
    }

    fn check_granules(&self) -> Result<(), LayoutError> {
        let (granules, least) = (self.granules_per_page, self.granules_min);
        if granules > u32::from(u8::MAX) || least == 0 || least > granules {
            return Err(LayoutError::Granules { granules, least });
        }
        let units = self.flash.pages_per_block / self.flash.unit_pages;
        let stripe = self.parity_stripe_units;
        if stripe > 0 && (stripe == 1 || !units.is_multiple_of(stripe)) {
            return Err(LayoutError::ParityStripe { stripe, units });
        }
        if !self.flash.unit_pages.is_multiple_of(self.flash.row_pages) {
            return Err(LayoutError::OddUnit { unit: self.flash.unit_pages, row: self.flash.row_pages });
        }
        let (blocks, granules) = (self.flash.blocks(), u64::from(self.block_granules()));
        if granules > u64::from(u16::MAX) || granules * u64::from(blocks) >= u64::from(u32::MAX) {
            return Err(LayoutError::TooManyGranules { blocks, granules });
        }
        Ok(())
    }
}

/// A block drops its stale entries when they exceed the valid ones by this many. This keeps the memory for
/// all entries proportional to the host's pages, however small the entries are.
pub(super) const STALE_ENTRIES_SLACK: u32 = 64;

/// The valid entries of a block, and some stale ones.
#[derive(Default, Serialize, Deserialize)]
pub(super) struct BlockEntries {
    /// Host pages in the order of writing.
    pages: Vec<u32>,
    /// How many of them are valid.
    valid: u32,
}

impl BlockEntries {
    pub(super) fn pages(&self) -> &[u32] {
        &self.pages
    }

    /// Adds the entry of a page.
    #[inline]
    pub(super) fn push(&mut self, page: u32) {
        self.pages.push(page);
        self.valid += 1;
    }

    /// Marks an entry as stale; returns whether it is time to [drop](Self::forget_stale) stale ones.
    #[inline]
    pub(super) fn lose(&mut self) -> bool {
        self.valid -= 1;
        self.pages.len() as u32 > 2 * self.valid + STALE_ENTRIES_SLACK
    }

    /// Drops all entries but those that begin between `start` and `end`. Of several entries for one page only
    /// the last is valid, so each valid entry begins before the valid ones behind it.
    pub(super) fn forget_stale(&mut self, start: u32, mut end: u32, granule: impl Fn(u32) -> Option<u32>) {
        self.pages.reverse();
        self.pages.retain(|page| {
            let valid = granule(*page).filter(|granule| (start..end).contains(granule));
            end = valid.unwrap_or(end);
            valid.is_some()
        });
        self.pages.reverse();
        self.shrink();
        assert_eq!(self.pages.len() as u32, self.valid, "the valid entries of a block are in its list");
    }

    /// Frees memory that a closed block does not need.
    pub(super) fn shrink(&mut self) {
        self.pages.shrink_to_fit();
    }
}

#[cfg(test)]
mod tests;
