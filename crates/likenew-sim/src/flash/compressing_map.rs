//! A flash translation layer that compresses before it writes, as SandForce controllers do: flash holds what is left of each
//! page of the host, packed end to end.
//!
//! The flash is a log of entries of variable size, counted in granules, an even part of a page each. A page takes the
//! share of it that its data compresses to plus a fixed overhead, and never more than the whole page. Entries are packed as
//! they come. One may begin in a program unit and end in the next of the same block (as in US patent 9495288,
//! "Variable-size flash translation layer"), but none continues in another block: what is left at the end of a block
//! and too short for the next entry stays empty. The part of an entry that does not fit into a unit that is programmed waits
//! in the controller for the next one.
//!
//! Compression gives spare, never capacity: the host sees as many pages as always, and all of them fit when none
//! compresses. Placement and collection are those of the [page map](super::page_map), by granules instead of pages: the caller
//! chooses the die of a host write, victims are the closed blocks of a die with the fewest valid granules, and host writes
//! and moved entries fill separate blocks.
//!
//! Parity across the dies (SandForce's RAISE) is a program unit in every so many of each die: it takes its share
//! of capacity, and is programmed along with the data. The dies then advance together, a unit of host pages each, because
//! a stripe with its parity goes over all of them.

use std::collections::VecDeque;
use std::ops::Range;

use likenew_core::counters::Wear;
use likenew_core::io::DataClass;
use serde::{Deserialize, Serialize};

use super::history::ProgramTimes;
use super::policies::Collection;
use super::translation_layer::{
    Cell, Change, Counts, PendingWork, PhysicalPage, TranslationLayer, Unit, Work,
};
use super::victims::Victims;
use super::{FlashGeometry, LayoutError};

/// Whose entries an open block takes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stream {
    Host,
    Moved,
}

/// An open block, written up to a granule.
#[derive(Clone, Copy, Serialize, Deserialize)]
struct Frontier {
    block: u32,
    next: u32,
}

#[derive(Serialize, Deserialize)]
struct Die {
    /// By [`Stream`].
    open: [Frontier; 2],
    /// Erased blocks, the longest erased first.
    free: VecDeque<u32>,
    /// Granules of valid entries.
    valid: u32,
    /// Units of host pages that were filled or padded.
    units: u64,
    /// The unit of host pages that is under way is full; what lies beyond belongs to the next.
    unit_is_full: bool,
}

/// In the map, 0 stands for "nothing", so that a new drive's map is untouched zero memory; granule `n` is `n + 1`.
const NO_PAGE: u32 = 0;

/// The translation layer.
#[derive(Serialize, Deserialize)]
pub struct CompressingMap {
    parameters: CompressingParameters,
    block_granules: u32,
    unit_granules: u32,
    row_granules: u32,
    valid_per_die_max: u32,
    /// Host page to the granule where its entry begins.
    granules: Vec<u32>,
    /// Host page to the size of its entry.
    sizes: Vec<u8>,
    /// By block.
    entries: Vec<BlockEntries>,
    victims: Victims,
    dies: Vec<Die>,
    mapped_pages: u64,
    counts: Counts,
    /// Erasures of each block.
    erases: Vec<u32>,
    times: ProgramTimes,
}

impl CompressingMap {
    /// An erased drive.
    ///
    /// # Panics
    /// If the parameters do not pass their check.
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

    /// Where the entry of a host page begins, and its size.
    #[inline]
    fn entry(&self, page: u32) -> Option<(u32, u32)> {
        let granule = self.granules[page as usize].checked_sub(1)?;
        Some((granule, u32::from(self.sizes[page as usize])))
    }

    /// The entry of a host page is not valid any more.
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

    /// The open block is written up to a granule: counts what that takes, and gives what the die has to do beyond the
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
        // Parity crosses the channel once; what is moved crosses it twice.
        Work { moved: parity_granules / 2, programs: programs + parity, ..Work::NONE }
    }

    /// Closes the open block of a stream as it is and opens another.
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

    /// As [`Self::renew`] for host pages, and garbage-collects what that needs.
    fn renew_host(&mut self, die: u32, pending: &mut PendingWork) -> Work {
        let mut work = self.renew(die, Stream::Host);
        while self.dies[die as usize].free.len() < self.parameters.free_blocks_min as usize {
            work.add(self.collect(die, pending));
        }
        work
    }

    /// Puts an entry behind the others of an open block that has room for it; returns where it begins.
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

    /// Whether so much more may be valid on a die.
    fn has_room_for_unit(&self, die: &Die) -> bool {
        die.valid + self.parameters.unit_granules_max() <= self.valid_per_die_max
    }

    fn has_room(&self, die: u32, stream: Stream, size: u32) -> bool {
        self.dies[die as usize].open[stream as usize].next + size <= self.block_granules
    }

    /// Moves what is valid out of the emptiest closed block of a die and erases it.
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

    /// Moves all valid entries of a block, which takes these reads and programs.
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

    /// With parity, a stripe takes a unit of every die that has room before another begins.
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

/// How a [`CompressingMap`] is laid out and when it garbage-collects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CompressingParameters {
    /// The flash, parity included.
    pub flash: FlashGeometry,
    /// A die garbage-collects as soon as fewer erased blocks are left, 2 at least.
    pub free_blocks_min: u32,
    /// A drive without anything to do garbage-collects until each die has so many erased blocks.
    pub idle_free_blocks: u32,
    /// The size of a page that does not compress.
    pub granules_per_page: u32,
    /// The size of a page of zeros, which is what every compressed page takes beyond its compressed data.
    pub granules_min: u32,
    /// One program unit of so many holds the parity of the others; 0 for no parity.
    pub parity_stripe_units: u32,
}

impl CompressingParameters {
    /// The granules that a page of such data takes.
    pub fn size(&self, data: DataClass) -> u32 {
        let compressed = (data.compressed_share() * f64::from(self.granules_per_page)).ceil() as u32;
        (self.granules_min + compressed).min(self.granules_per_page)
    }

    /// Granules that one program operation of a die writes.
    pub fn unit_granules(&self) -> u32 {
        self.flash.unit_pages * self.granules_per_page
    }

    /// Granules that one array read of a die delivers.
    pub fn row_granules(&self) -> u32 {
        self.flash.row_pages * self.granules_per_page
    }

    /// Granules of a block beside its parity.
    pub fn block_granules(&self) -> u32 {
        let units = self.flash.pages_per_block / self.flash.unit_pages;
        let parity = units.checked_div(self.parity_stripe_units).unwrap_or(0);
        (units - parity) * self.unit_granules()
    }

    /// Granules that surely fit into a block: what is left may be too short for the next entry.
    pub fn block_granules_sure(&self) -> u32 {
        self.block_granules() - (self.granules_per_page - 1)
    }

    /// Granules that a program unit of host pages makes valid at most, as the last entry may end beyond it.
    pub fn unit_granules_max(&self) -> u32 {
        self.unit_granules() + self.granules_per_page - 1
    }

    /// Host pages that a program unit takes at most.
    pub fn unit_pages_max(&self) -> u32 {
        self.unit_granules().div_ceil(self.granules_min)
    }

    /// Valid granules that one die may hold, so that collection always gains something.
    ///
    /// A block that is filled with moved entries takes at least [`Self::block_granules_sure`]. Collection gains as long as
    /// its victim holds less. When it is needed, all blocks are closed but the two open ones and the erased reserve less
    /// one; if no more is valid than surely fits into one closed block fewer, the victim, which holds no more than the
    /// mean, holds less than surely fits.
    pub fn valid_per_die_max(&self) -> u64 {
        let reserve = u64::from(self.free_blocks_min) + 2;
        let blocks = u64::from(self.flash.blocks_per_die).saturating_sub(reserve);
        blocks * u64::from(self.block_granules_sure())
    }

    /// Whether the unit of this die that follows on this one, both counted from the start of a block, holds parity. It
    /// comes to each die in its turn.
    pub(super) fn is_before_parity(&self, data_unit: u32, die: u32) -> bool {
        let data_units = self.parity_stripe_units.saturating_sub(1);
        data_units > 0 && (data_unit + die) % data_units == data_units - 1
    }

    /// Whether a translation layer of this shape can work.
    ///
    /// # Errors
    /// What does not fit.
    pub fn check(&self) -> Result<(), LayoutError> {
        let flash = &self.flash;
        flash.check()?;
        if self.free_blocks_min < 2 {
            return Err(LayoutError::SmallReserve);
        }
        self.check_granules()?;
        // One unit a die more, so that a die with room is always found for the next unit.
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

/// A block forgets its stale entries when they are more than the valid ones and so many, so that the lists of all blocks
/// together stay in proportion to the pages of the host, however small its entries are.
pub(super) const STALE_ENTRIES_SLACK: u32 = 64;

/// The valid and some stale entries of a block.
#[derive(Default, Serialize, Deserialize)]
pub(super) struct BlockEntries {
    /// In the order in which they were written.
    pages: Vec<u32>,
    /// How many of them are valid.
    valid: u32,
}

impl BlockEntries {
    /// The host pages, in the order in which they were written.
    pub(super) fn pages(&self) -> &[u32] {
        &self.pages
    }

    /// A page is written to the block.
    #[inline]
    pub(super) fn push(&mut self, page: u32) {
        self.pages.push(page);
        self.valid += 1;
    }

    /// An entry is not valid any more; returns whether it is time to [forget](Self::forget_stale) such entries.
    #[inline]
    pub(super) fn lose(&mut self) -> bool {
        self.valid -= 1;
        self.pages.len() as u32 > 2 * self.valid + STALE_ENTRIES_SLACK
    }

    /// Keeps valid entries only: those that begin between `start` and `end`. A page that was written to the block more than
    /// once is valid where it was written last, so that a valid entry begins before all valid ones behind it.
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

    /// Gives back memory that a closed block does not need.
    pub(super) fn shrink(&mut self) {
        self.pages.shrink_to_fit();
    }
}

#[cfg(test)]
mod tests;
