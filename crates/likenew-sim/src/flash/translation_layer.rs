//! The contract of a translation layer: which place in the flash holds which page of the host, and what the chips have to
//! do to keep it so.
//!
//! A translation layer knows no time. Whatever makes the chips work beyond the program that a host write itself needs
//! (collection, merges, folding, moving for wear) is answered as [`Work`] of the dies that have to do it, and whoever keeps
//! the time decides how long that takes. "Page" is the unit of the map throughout.

use likenew_core::flash_counters::Wear;
use likenew_core::io::DataClass;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// How the cells of an erase block are used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Cell {
    /// As many bits in a cell as the chip is made for.
    #[default]
    Native,
    /// One bit in a cell: faster, and the block holds less.
    Slc,
}

/// Where a page of the host is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PhysicalPage {
    /// The copy itself: no two copies that exist at the same time share it.
    pub at: u64,
    /// Pages of one row come with one array read.
    pub row: u64,
    /// The die that holds it.
    pub die: u32,
    /// How its cells are used.
    pub cell: Cell,
    /// How much of a program unit it takes; see [`TranslationLayer::size`].
    pub size: u32,
    /// When it was programmed, in seconds of [`TranslationLayer::set_clock`]; to the hour.
    pub programmed_s: i64,
}

/// What the next program operation of a die takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unit {
    /// The cells it programs.
    pub cell: Cell,
    /// Pages are taken for it as long as the sizes of those before are less than this.
    pub size: u32,
}

/// What a die has to do beyond the programs of the host's own writes. It is done in the order read, program, erase,
/// spread evenly.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Work {
    /// Array reads of native cells.
    pub rows: u32,
    /// Array reads of SLC cells.
    pub slc_rows: u32,
    /// Sizes of pages that leave the die and come back to it or to another.
    pub moved: u32,
    /// Program operations of native cells.
    pub programs: u32,
    /// Program operations of SLC cells.
    pub slc_programs: u32,
    /// Block erasures.
    pub erases: u32,
}

impl Work {
    /// Nothing to do.
    pub const NONE: Self = Self { rows: 0, slc_rows: 0, moved: 0, programs: 0, slc_programs: 0, erases: 0 };

    /// Adds more of it.
    pub fn add(&mut self, other: Self) {
        self.rows += other.rows;
        self.slc_rows += other.slc_rows;
        self.moved += other.moved;
        self.programs += other.programs;
        self.slc_programs += other.slc_programs;
        self.erases += other.erases;
    }
}

/// A change of what the flash holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// The host's newest copy of a page was programmed.
    Written {
        /// The host's page.
        page: u32,
        /// [`PhysicalPage::at`].
        at: u64,
    },
    /// A copy was programmed again elsewhere.
    Moved {
        /// [`PhysicalPage::at`] before.
        from: u64,
        /// [`PhysicalPage::at`] now.
        to: u64,
    },
    /// These copies do not exist any more.
    Erased(std::ops::Range<u64>),
}

/// What a translation layer answers: work for the dies, and, for whoever keeps data, every change.
#[derive(Clone, Debug, Default)]
pub struct PendingWork {
    works: Vec<(u32, Work)>,
    changes: Option<Vec<Change>>,
}

impl PendingWork {
    /// One that keeps changes too.
    pub fn with_changes() -> Self {
        Self { works: Vec::new(), changes: Some(Vec::new()) }
    }

    /// Gives a die work.
    pub fn push(&mut self, die: u32, work: Work) {
        self.works.push((die, work));
    }

    /// Notes a change, if anybody wants to know; `change` is called only then.
    #[inline]
    pub fn note(&mut self, change: impl FnOnce() -> Change) {
        if let Some(changes) = &mut self.changes {
            changes.push(change());
        }
    }

    /// Notes changes, as [`note`](Self::note) does one.
    #[inline]
    pub fn note_all<C: Iterator<Item = Change>>(&mut self, new_changes: impl FnOnce() -> C) {
        if let Some(changes) = &mut self.changes {
            changes.extend(new_changes());
        }
    }

    /// Whether any die was given work.
    #[inline]
    pub fn has_works(&self) -> bool {
        !self.works.is_empty()
    }

    /// The work so far, which is then forgotten.
    pub fn take_works(&mut self) -> std::vec::Drain<'_, (u32, Work)> {
        self.works.drain(..)
    }

    /// The changes so far in the order in which they happened, which are then forgotten.
    pub fn take_changes(&mut self) -> impl Iterator<Item = Change> + '_ {
        self.changes.iter_mut().flat_map(|changes| changes.drain(..))
    }

    /// Forgets the work, where there is no time.
    pub fn forget_works(&mut self) {
        self.works.clear();
    }
}

/// Exact counts since the layer was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Pages the host had written.
    pub host_pages: u64,
    /// Sizes programmed: the host's pages, the moved ones, padding, and the layer's own notes.
    pub programmed: u64,
    /// Block erasures.
    pub erases: u64,
}

/// A translation layer.
///
/// Laws: [`find`](Self::find) gives the newest copy of every page that was written and not trimmed since, and nothing for
/// others; the changes noted in a [`PendingWork`], applied to an array, keep exactly that copy alive until it is trimmed or
/// written again; equal calls give equal answers.
pub trait TranslationLayer: Send + Serialize + DeserializeOwned {
    /// Host pages that there are.
    fn user_pages(&self) -> u32;

    /// How much of a program unit a page with such data takes; 1 for a layer that does not compress.
    fn size(&self, data: DataClass) -> u32 {
        let _whatever_it_is = data;
        1
    }

    /// The [size](Self::size) of a page of data that does not compress; `page_bytes` of a page are this.
    fn size_max(&self) -> u32 {
        1
    }

    /// Where a page is, if it was written and not trimmed since.
    fn find(&self, page: u32) -> Option<PhysicalPage>;

    /// The die that has to take this page next, if the layer cannot leave it to whichever is idle.
    fn die_for(&self, page: u32) -> Option<u32> {
        let _any = page;
        None
    }

    /// Whether a die has room for another unit of host pages.
    fn accepts(&self, die: u32) -> bool;

    /// What the next program operation of a die takes.
    fn unit(&self, die: u32) -> Unit;

    /// Most of the drive will be in use. Changes nothing: its tables may take more memory at once, where that makes them faster.
    fn expect_use(&mut self) {}

    /// A page will be written soon. Changes nothing: what the write will need is brought into the processor's caches.
    #[inline]
    fn announce(&mut self, page: u32) {
        let _nothing_to_bring = page;
    }

    /// Writes a page of a [size](Self::size) to a die that [accepts](Self::accepts) it.
    fn write(&mut self, page: u32, size: u32, die: u32, pending: &mut PendingWork);

    /// The unit of a die is programmed as it is, whether it is full or not.
    fn end_unit(&mut self, die: u32, pending: &mut PendingWork);

    /// Forgets what a page holds.
    fn trim(&mut self, page: u32, pending: &mut PendingWork);

    /// Does a step of what a drive without anything to do does for a die that has nothing to do, if there is any.
    fn tend(&mut self, die: u32, pending: &mut PendingWork) -> bool;

    /// Does what a drive does that is left alone for long after its past: a write cache is emptied.
    fn settle(&mut self, pending: &mut PendingWork) {
        let _nothing_to_empty = pending;
    }

    /// What time pages are programmed at from now on, in seconds; negative before the drive was opened.
    fn set_clock(&mut self, seconds: i64);

    /// What it has done since it was made.
    fn counts(&self) -> Counts;

    /// Erased blocks that are ready to be written.
    fn free_blocks(&self) -> u64;

    /// Host pages that hold data.
    fn mapped_pages(&self) -> u64;

    /// How worn the blocks are.
    fn wear(&self) -> Wear;

    /// Whether so many blocks have failed that pages may not find room any more. It may still be read and trimmed, but not
    /// be written, and stays so.
    fn is_read_only(&self) -> bool {
        false
    }
}
