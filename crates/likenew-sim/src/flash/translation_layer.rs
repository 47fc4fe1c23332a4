//! The contract of an FTL (translation layer): where each host page lies, and what work keeps it so. Open
//! this first to add a new kind of FTL.
//!
//! An FTL knows no time. It returns everything beyond the program of a host write (garbage collection,
//! merges, folding, wear leveling) as [`Work`] for dies, and the caller decides how long that takes. A page
//! is a mapping unit throughout.

use likenew_core::counters::Wear;
use likenew_core::io::DataClass;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// How the cells of an erase block are used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Cell {
    /// With as many bits per cell as the chip is made for.
    #[default]
    Native,
    /// With one bit per cell: faster, with less capacity.
    Slc,
}

/// Where a host page lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PhysicalPage {
    /// Number of the copy; unique among the copies that exist at a time.
    pub at: u64,
    /// Number of its row; one array read delivers all pages of a row.
    pub row: u64,
    /// Its die.
    pub die: u32,
    /// How its cells are used.
    pub cell: Cell,
    /// Its share of a program unit; see [`TranslationLayer::size`].
    pub size: u32,
    /// When it was programmed, on the clock of [`TranslationLayer::set_clock`], in seconds; exact to the hour.
    pub programmed_s: i64,
}

/// What the next program operation of a die takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unit {
    /// The cells that it programs.
    pub cell: Cell,
    /// It takes pages as long as those before have less than this total size.
    pub size: u32,
}

/// What a die has to do beyond programs of host writes. Reads, programs and erasures are spread evenly, in
/// this order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Work {
    /// Array reads of native cells.
    pub rows: u32,
    /// Array reads of SLC cells.
    pub slc_rows: u32,
    /// Total size of the pages that leave the die and return to it or another one.
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

    /// Adds other work.
    pub fn add(&mut self, other: Self) {
        self.rows += other.rows;
        self.slc_rows += other.slc_rows;
        self.moved += other.moved;
        self.programs += other.programs;
        self.slc_programs += other.slc_programs;
        self.erases += other.erases;
    }
}

/// A change to what the flash holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// A new copy of a host page was programmed.
    Written {
        /// The host's page.
        page: u32,
        /// [`PhysicalPage::at`].
        at: u64,
    },
    /// A copy was programmed again elsewhere.
    Moved {
        /// The old [`PhysicalPage::at`].
        from: u64,
        /// The new [`PhysicalPage::at`].
        to: u64,
    },
    /// These copies no longer exist.
    Erased(std::ops::Range<u64>),
}

/// What an FTL returns: work for dies and, for a drive that keeps data, every change.
#[derive(Clone, Debug, Default)]
pub struct PendingWork {
    works: Vec<(u32, Work)>,
    changes: Option<Vec<Change>>,
}

impl PendingWork {
    /// Pending work that also records changes.
    pub fn with_changes() -> Self {
        Self { works: Vec::new(), changes: Some(Vec::new()) }
    }

    /// Adds work for a die.
    pub fn push(&mut self, die: u32, work: Work) {
        self.works.push((die, work));
    }

    /// Records a change; calls `change` only if changes are recorded.
    #[inline]
    pub fn note(&mut self, change: impl FnOnce() -> Change) {
        if let Some(changes) = &mut self.changes {
            changes.push(change());
        }
    }

    /// Records several changes, like [`note`](Self::note).
    #[inline]
    pub fn note_all<C: Iterator<Item = Change>>(&mut self, new_changes: impl FnOnce() -> C) {
        if let Some(changes) = &mut self.changes {
            changes.extend(new_changes());
        }
    }

    /// Whether any die has work.
    #[inline]
    pub fn has_works(&self) -> bool {
        !self.works.is_empty()
    }

    /// Takes the work so far.
    pub fn take_works(&mut self) -> std::vec::Drain<'_, (u32, Work)> {
        self.works.drain(..)
    }

    /// Takes the changes so far, in order.
    pub fn take_changes(&mut self) -> impl Iterator<Item = Change> + '_ {
        self.changes.iter_mut().flat_map(|changes| changes.drain(..))
    }

    /// Drops the work, for callers without time.
    pub fn forget_works(&mut self) {
        self.works.clear();
    }
}

/// Exact counts since the FTL was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Host pages written.
    pub host_pages: u64,
    /// Total size programmed: host pages, relocated pages, padding, and metadata of the FTL.
    pub programmed: u64,
    /// Block erasures.
    pub erases: u64,
}

/// A translation layer (FTL).
///
/// Laws: [`find`](Self::find) returns the newest copy of every page that was written and not trimmed since,
/// and nothing for others. The changes in a [`PendingWork`], applied to an array, keep exactly that copy
/// until the page is trimmed or written again. Equal calls give equal results.
pub trait TranslationLayer: Send + Serialize + DeserializeOwned {
    /// Number of host pages.
    fn user_pages(&self) -> u32;

    /// How much of a program unit a page of such data takes; 1 unless the FTL compresses.
    fn size(&self, data: DataClass) -> u32 {
        let _whatever_it_is = data;
        1
    }

    /// The [size](Self::size) of `page_bytes` of data that does not compress.
    fn size_max(&self) -> u32 {
        1
    }

    /// Where a page lies, if it was written and not trimmed since.
    fn find(&self, page: u32) -> Option<PhysicalPage>;

    /// The die that has to take this page next, if the FTL does not allow any other.
    fn die_for(&self, page: u32) -> Option<u32> {
        let _any = page;
        None
    }

    /// Whether a die has room for another unit of host pages.
    fn accepts(&self, die: u32) -> bool;

    /// What the next program operation of a die takes.
    fn unit(&self, die: u32) -> Unit;

    /// Prepares for use of most of the drive, such as by larger memory pages for its tables. Changes no result.
    fn expect_use(&mut self) {}

    /// Announces that a page will be written soon, so that the FTL can prefetch what the write needs. Changes
    /// no result.
    #[inline]
    fn announce(&mut self, page: u32) {
        let _nothing_to_bring = page;
    }

    /// Writes a page of this [size](Self::size) to a die that [accepts](Self::accepts) it.
    fn write(&mut self, page: u32, size: u32, die: u32, pending: &mut PendingWork);

    /// Ends the unit of a die, which is programmed whether it is full or not.
    fn end_unit(&mut self, die: u32, pending: &mut PendingWork);

    /// Unmaps a page.
    fn trim(&mut self, page: u32, pending: &mut PendingWork);

    /// Does one step of background work for an idle die; returns whether there was any.
    fn tend(&mut self, die: u32, pending: &mut PendingWork) -> bool;

    /// Does the background work of a drive that rests for long after its history, such as emptying a write cache.
    fn settle(&mut self, pending: &mut PendingWork) {
        let _nothing_to_empty = pending;
    }

    /// Sets the time at which pages are programmed from now on, in seconds; negative before the drive was opened.
    fn set_clock(&mut self, seconds: i64);

    /// Counts since the FTL was made.
    fn counts(&self) -> Counts;

    /// Erased blocks, ready to be written.
    fn free_blocks(&self) -> u64;

    /// Host pages that hold data.
    fn mapped_pages(&self) -> u64;

    /// Wear of the blocks.
    fn wear(&self) -> Wear;

    /// Whether so many blocks have failed that pages may not find room. The drive can then be read and
    /// trimmed, but never written again.
    fn is_read_only(&self) -> bool {
        false
    }
}

/// The laws of FTLs, as a check for the tests of every family.
///
/// A model of the flash array is kept from the changes that the FTL records. Every host page must be found
/// where the array holds what was last written to it, and be as old as that copy.
#[cfg(test)]
pub(super) mod laws {
    use std::collections::BTreeMap;

    use likenew_core::io::DataClass;
    use proptest::prelude::*;

    use super::{Change, PendingWork, TranslationLayer};
    use crate::flash::history::RESOLUTION_S;

    /// An action on a drive. Numbers are taken modulo what exists.
    #[derive(Clone, Copy, Debug)]
    pub(crate) enum Act {
        /// Writes consecutive pages of data that compresses to this many eighths.
        Write { page: u32, pages: u32, eighths: u8 },
        /// Announces a page, which may or may not be written.
        Announce { page: u32 },
        /// Trims pages.
        Trim { page: u32, pages: u32 },
        /// Ends a unit.
        EndUnit { die: u32 },
        /// An idle die does a step of background work.
        Tend { die: u32 },
        /// Time passes.
        Wait { seconds: u8 },
    }

    /// Up to `count_max` actions, mostly short writes and some long ones.
    pub(crate) fn acts(count_max: usize) -> impl Strategy<Value = Vec<Act>> {
        let run = prop_oneof![6 => 1u32..4, 1 => 1u32..200];
        let act = prop_oneof![
            16 => (any::<u32>(), run.clone(), 0u8..=8).prop_map(|(page, pages, eighths)| Act::Write { page, pages, eighths }),
            2 => any::<u32>().prop_map(|page| Act::Announce { page }),
            3 => (any::<u32>(), run).prop_map(|(page, pages)| Act::Trim { page, pages }),
            1 => any::<u32>().prop_map(|die| Act::EndUnit { die }),
            2 => any::<u32>().prop_map(|die| Act::Tend { die }),
            1 => any::<u8>().prop_map(|seconds| Act::Wait { seconds }),
        ];
        prop::collection::vec(act, 1..count_max)
    }

    /// What the flash holds, and what the host wrote.
    struct Arrays {
        /// By [`PhysicalPage::at`](super::PhysicalPage::at).
        copies: BTreeMap<u64, Copy>,
        /// By host page.
        host: Vec<Option<u64>>,
        stamp: u64,
        now_s: i64,
    }

    /// What was programmed, and when.
    struct Copy {
        stamp: u64,
        programmed_s: i64,
    }

    impl Arrays {
        fn apply(&mut self, pending: &mut PendingWork) {
            for change in pending.take_changes() {
                match change {
                    Change::Written { page, at } => {
                        let copy = Copy { stamp: self.stamp, programmed_s: self.now_s };
                        let before = self.copies.insert(at, copy);
                        assert!(
                            before.is_none(),
                            "page {page} was programmed over a copy that was not erased"
                        );
                    }
                    Change::Moved { from, to } => {
                        let stamp = self.copies.get(&from).expect("only a copy that exists is moved").stamp;
                        let before = self.copies.insert(to, Copy { stamp, programmed_s: self.now_s });
                        assert!(before.is_none(), "a move went over a copy that was not erased");
                    }
                    Change::Erased(range) => {
                        let mut tail = self.copies.split_off(&range.start);
                        self.copies.append(&mut tail.split_off(&range.end));
                    }
                }
            }
            pending.forget_works();
        }

        fn check(&self, layer: &impl TranslationLayer) {
            for (page, written) in (0u32..).zip(&self.host) {
                let mapped = layer.find(page);
                match (mapped, written) {
                    (None, None) => {}
                    (Some(place), Some(_)) => {
                        let copy = self.copies.get(&place.at);
                        let stamp = copy.map(|copy| copy.stamp);
                        assert_eq!(stamp, *written, "page {page} holds what was last written to it");
                        let late_s = copy.map(|copy| copy.programmed_s - place.programmed_s);
                        let is_near = late_s.is_some_and(|late_s| (0..RESOLUTION_S).contains(&late_s));
                        assert!(is_near, "page {page} was programmed {late_s:?} s after its time");
                    }
                    _ => panic!("page {page} is found {mapped:?}, but the host last wrote {written:?}"),
                }
            }
            let mapped_count = self.host.iter().flatten().count() as u64;
            assert_eq!(layer.mapped_pages(), mapped_count, "as many pages are mapped as hold data");
        }
    }

    /// Applies actions to a new FTL over `dies` dies and checks its laws.
    pub(crate) fn keeps_its_laws(layer: &mut impl TranslationLayer, dies: u32, acts: &[Act]) {
        let mut pending = PendingWork::with_changes();
        let pages = layer.user_pages();
        let mut arrays =
            Arrays { copies: BTreeMap::new(), host: vec![None; pages as usize], stamp: 0, now_s: 0 };
        let mut cursor = 0;
        for (step, act) in acts.iter().enumerate() {
            match *act {
                Act::Write { page, pages: run, eighths } => {
                    let data = data(eighths);
                    for page in (0..run).map(|next| page.wrapping_add(next) % pages) {
                        if layer.is_read_only() {
                            break;
                        }
                        arrays.stamp += 1;
                        let size = layer.size(data);
                        assert!((1..=layer.size_max()).contains(&size));
                        let die = die_for(layer, page, dies, &mut cursor);
                        assert!(layer.unit(die).size > 0, "a die that accepts pages has room in its unit");
                        layer.write(page, size, die, &mut pending);
                        if layer.die_for(page).is_some() {
                            layer.end_unit(die, &mut pending);
                        }
                        arrays.host[page as usize] = Some(arrays.stamp);
                        arrays.apply(&mut pending);
                    }
                }
                Act::Announce { page } => layer.announce(page % pages),
                Act::Trim { page, pages: run } => {
                    for page in (0..run).map(|next| page.wrapping_add(next) % pages) {
                        layer.trim(page, &mut pending);
                        arrays.host[page as usize] = None;
                        arrays.apply(&mut pending);
                    }
                }
                Act::EndUnit { die } => layer.end_unit(die % dies, &mut pending),
                Act::Tend { die } => {
                    layer.tend(die % dies, &mut pending);
                }
                Act::Wait { seconds: span } => {
                    arrays.now_s += i64::from(span);
                    layer.set_clock(arrays.now_s);
                }
            }
            arrays.apply(&mut pending);
            if step % 64 == 0 {
                arrays.check(layer);
            }
        }
        arrays.check(layer);
        let counts = layer.counts();
        assert_eq!(counts.host_pages, arrays.stamp, "every host write is counted");
        let wear = layer.wear();
        assert!(wear.erases_min as f64 <= wear.erases_mean && wear.erases_mean <= f64::from(wear.erases_max));
    }

    fn data(eighths: u8) -> DataClass {
        match eighths {
            0 => DataClass::Zero,
            8 => DataClass::Random,
            part => DataClass::Ratio(f32::from(part) / 8.0),
        }
    }

    fn die_for(layer: &impl TranslationLayer, page: u32, dies: u32, cursor: &mut u32) -> u32 {
        layer.die_for(page).unwrap_or_else(|| {
            let round = (1..=dies).map(|step| (*cursor + step) % dies);
            *cursor = round.into_iter().find(|die| layer.accepts(*die)).expect("some die has room");
            *cursor
        })
    }
}
