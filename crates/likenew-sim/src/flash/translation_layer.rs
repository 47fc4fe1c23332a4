//! The contract of a translation layer: which place in the flash holds which page of the host, and what the chips have to
//! do to keep it so.
//!
//! A translation layer knows no time. Whatever makes the chips work beyond the program that a host write itself needs
//! (collection, merges, folding, moving for wear) is answered as [`Work`] of the dies that have to do it, and whoever keeps
//! the time decides how long that takes. "Page" is the unit of the map throughout.

use likenew_core::counters::Wear;
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

/// The laws of translation layers, as a check that the tests of every family run.
///
/// A flash array is kept beside the layer, copy by copy, from the changes that the layer notes. Every page of the host
/// must be found where the array holds what was last written to it, and be as old as that copy.
#[cfg(test)]
pub(super) mod laws {
    use std::collections::BTreeMap;

    use likenew_core::io::DataClass;
    use proptest::prelude::*;

    use super::{Change, PendingWork, TranslationLayer};
    use crate::flash::history::RESOLUTION_S;

    /// Something that happens to a drive; numbers are taken modulo what there is.
    #[derive(Clone, Copy, Debug)]
    pub(crate) enum Act {
        /// Some pages from one on, in order, of data that compresses to so many eighths.
        Write { page: u32, pages: u32, eighths: u8 },
        /// A page is announced, whether it is then written or not.
        Announce { page: u32 },
        /// Pages are forgotten.
        Trim { page: u32, pages: u32 },
        /// A unit is programmed as it is.
        EndUnit { die: u32 },
        /// A die without anything to do does a step.
        Tend { die: u32 },
        /// Seconds pass.
        Wait { seconds: u8 },
    }

    /// Up to `count_max` of them: mostly short writes, some long ones.
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
        /// By page of the host.
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

    /// Lets all of this happen to a new layer over `dies` dies and holds it to its laws.
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
