//! The laws of translation layers, as a check that the tests of every family run.
//!
//! A flash array is kept beside the layer, copy by copy, from the changes that the layer notes. Every page of the host
//! must be found where the array holds what was last written to it, and be as old as that copy.

use std::collections::BTreeMap;

use likenew_core::io::DataClass;
use proptest::prelude::*;

use super::program_times::RESOLUTION_S;
use super::translation_layer::{Change, PendingWork, TranslationLayer};

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
    /// By [`PhysicalPage::at`](super::translation_layer::PhysicalPage::at).
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
                    assert!(before.is_none(), "page {page} was programmed over a copy that was not erased");
                }
                Change::Moved { from, to } => {
                    let stamp = self.copies.get(&from).expect("only a copy that exists is moved").stamp;
                    let before = self.copies.insert(to, Copy { stamp, programmed_s: self.now_s });
                    assert!(before.is_none(), "a move went over a copy that was not erased");
                }
                Change::Erased(range) => {
                    let mut rest = self.copies.split_off(&range.start);
                    self.copies.append(&mut rest.split_off(&range.end));
                }
            }
        }
        pending.forget_works();
    }

    fn check(&self, layer: &impl TranslationLayer) {
        for (page, written) in (0u32..).zip(&self.host) {
            let found = layer.find(page);
            match (found, written) {
                (None, None) => {}
                (Some(place), Some(_)) => {
                    let copy = self.copies.get(&place.at);
                    let stamp = copy.map(|copy| copy.stamp);
                    assert_eq!(stamp, *written, "page {page} holds what was last written to it");
                    let late_s = copy.map(|copy| copy.programmed_s - place.programmed_s);
                    let is_near = late_s.is_some_and(|late_s| (0..RESOLUTION_S).contains(&late_s));
                    assert!(is_near, "page {page} was programmed {late_s:?} s after its time");
                }
                _ => panic!("page {page} is found {found:?}, but the host last wrote {written:?}"),
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
    let mut arrays = Arrays { copies: BTreeMap::new(), host: vec![None; pages as usize], stamp: 0, now_s: 0 };
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
