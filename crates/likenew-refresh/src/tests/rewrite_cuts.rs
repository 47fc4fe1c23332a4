//! Kills and losses of power while a whole drive is rewritten. As in recondition's step `rewrite`, each piece
//! has a journal of its own, and all addresses are rewritten twice.

use std::ops::Range;

use likenew_core::powercut::{End, Power, VolatileDevice};
use rand::{RngExt as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::rig::{VolatileFile, content};
use crate::plan::Task;
use crate::{InspectedRefresh, Refresh, RefreshError, Settings};

const IDENTITY: &str = "a whole drive in memory";
const DRIVES: u64 = 120;
/// Most cuts of one drive; after the last one it is rewritten to its end.
const CUTS_MAX: u64 = 24;
const SPANS: u64 = 16;

#[derive(Debug, Default)]
struct Counts {
    kills: u64,
    power_losses: u64,
    between_pieces: u64,
    while_resuming: u64,
    torn: u64,
    second_pass: u64,
}

/// A probe and the rest of each span, for two passes over all addresses.
fn pieces(bytes: u64, block: u64) -> Vec<Range<u64>> {
    let span = (bytes / SPANS).max(2 * block) / block * block;
    let pass = (0..bytes).step_by(span as usize).flat_map(|start| {
        let end = (start + span).min(bytes);
        let probe = (start + (span / 16).next_multiple_of(block)).min(end);
        [start..probe, probe..end]
    });
    let pass: Vec<Range<u64>> = pass.filter(|piece| !piece.is_empty()).collect();
    [&pass[..], &pass[..]].concat()
}

/// A drive that is rewritten however often it is cut off.
struct Drive {
    truth: Vec<u8>,
    store: VolatileDevice,
    /// `None` between two pieces, because a finished piece's journal is removed.
    journal: Option<VolatileFile>,
    salvage: VolatileFile,
    power: Power,
    random: Xoshiro256PlusPlus,
    chunk_bytes: u32,
    seed: u64,
}

impl Drive {
    fn new(seed: u64) -> Self {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let block: u32 = if random.random() { 512 } else { 4096 };
        let bytes = u64::from(block) * random.random_range(64..=(1 << 20) / u64::from(block));
        let truth = content(bytes as usize, &mut random);
        let power = Power::default();
        Self {
            store: VolatileDevice::new(truth.clone(), block, seed, &power),
            journal: None,
            salvage: VolatileFile::new(seed ^ 2, &power),
            power,
            chunk_bytes: 4096 << random.random_range(0..4),
            random,
            truth,
            seed,
        }
    }

    fn run(mut self, counts: &mut Counts) {
        let all_pieces =
            pieces(self.truth.len() as u64, u64::from(likenew_core::drive::BlockStore::block(&self.store)));
        let (mut at, mut cuts) = (0, 0);
        while at < all_pieces.len() {
            if cuts < CUTS_MAX {
                let most = [6, 40, 300, 2000][self.random.random_range(0..4)];
                self.power.cut_after(self.random.random_range(0..most));
            }
            let was_begun = self.journal.is_some();
            match self.piece(&all_pieces[at]) {
                Ok(()) => at += 1,
                Err(error) => {
                    assert!(self.power.is_off(), "drive {}: {error}", self.seed);
                    counts.while_resuming += u64::from(was_begun);
                    counts.second_pass += u64::from(at >= all_pieces.len() / 2);
                    self.restore_power(counts);
                    self.inspect(counts);
                    cuts += 1;
                }
            }
        }
        self.power.switch_on();
        self.is_whole();
    }

    /// Rewrites a piece, or resumes it if it was cut off, and removes its journal.
    fn piece(&mut self, piece: &Range<u64>) -> Result<(), RefreshError> {
        match &mut self.journal {
            Some(journal) => match InspectedRefresh::inspect(&mut self.store, &mut *journal, IDENTITY) {
                Err(RefreshError::Finished) => {}
                inspected => {
                    let mut refresh = match inspected?.resume(&mut self.salvage) {
                        Err(RefreshError::TooMuch { .. }) => {
                            let inspected = InspectedRefresh::inspect(&mut self.store, journal, IDENTITY)?;
                            inspected.with_owner_confirmation().resume(&mut self.salvage)?
                        }
                        refresh => refresh?,
                    };
                    while refresh.step()?.is_some() {}
                }
            },
            None => {
                let task = Task {
                    identity: IDENTITY.to_owned(),
                    ranges: vec![piece.clone()],
                    settings: Settings { chunk_bytes: self.chunk_bytes, ..Settings::default() },
                    ..Task::default()
                };
                let journal = self.journal.insert(VolatileFile::new(self.random.random(), &self.power));
                let mut refresh = Refresh::begin(&mut self.store, journal, &task)?;
                while refresh.step()?.is_some() {}
            }
        }
        self.journal = None;
        Ok(())
    }

    fn restore_power(&mut self, counts: &mut Counts) {
        let is_kill = self.random.random_range(0..3) == 0;
        let end = if is_kill { End::Killed } else { End::PowerLost };
        self.store.restore_power(end);
        self.journal.iter_mut().for_each(|journal| journal.restore_power(end));
        self.salvage.restore_power(end);
        self.power.switch_on();
        if is_kill { counts.kills += 1 } else { counts.power_losses += 1 }
    }

    /// Checks that everything is intact except what the journal holds.
    fn inspect(&mut self, counts: &mut Counts) {
        let Some(journal) = &mut self.journal else {
            counts.between_pieces += 1;
            return self.is_whole();
        };
        match InspectedRefresh::inspect(&mut self.store, journal, IDENTITY) {
            Ok(inspected) => {
                let in_flight: Vec<Range<u64>> = inspected.in_flight().collect();
                let differences: Vec<_> = inspected.differences().cloned().collect();
                drop(inspected);
                counts.torn += u64::from(!differences.is_empty());
                for (index, block) in self.truth.chunks(512).enumerate() {
                    let at = index * 512;
                    let is_whole = !self.store.is_unreadable(at, 512)
                        && self.store.content()[at..at + block.len()] == *block;
                    let is_kept = in_flight.iter().any(|place| place.contains(&(at as u64)));
                    assert!(is_whole || is_kept, "drive {}: byte {at} was not in flight", self.seed);
                }
            }
            Err(RefreshError::Finished) => self.is_whole(),
            // The piece was cut off while beginning: nothing was written yet, and the next session begins a new journal.
            Err(RefreshError::NoJournal(_) | RefreshError::Journal { .. }) => {
                self.journal = None;
                counts.between_pieces += 1;
                self.is_whole();
            }
            Err(error) => panic!("drive {}: {error}", self.seed),
        }
    }

    fn is_whole(&self) {
        assert!(self.store.content() == self.truth, "drive {}", self.seed);
        assert!(!self.store.is_unreadable(0, self.truth.len()), "drive {}", self.seed);
    }
}

#[test]
fn pieces_cover_every_byte_twice() {
    for bytes in [64 * 512, 1 << 20, 4096 * 77] {
        let all_pieces = pieces(bytes, 512);
        let (first, second) = all_pieces.split_at(all_pieces.len() / 2);
        assert_eq!(first, second);
        let end = first.iter().fold(0, |at, piece| {
            assert_eq!(piece.start, at);
            piece.end
        });
        assert_eq!(end, bytes);
    }
}

#[test]
fn no_kill_and_no_loss_of_power_while_a_whole_drive_is_rewritten_costs_a_byte() {
    let mut counts = Counts::default();
    for seed in 0..DRIVES {
        Drive::new(seed).run(&mut counts);
    }
    let Counts { kills, power_losses, between_pieces, while_resuming, torn, second_pass } = counts;
    let cuts = kills + power_losses;
    assert!(cuts >= 1000 && kills >= 300 && power_losses >= 500, "{counts:?}");
    assert!(between_pieces > 50 && while_resuming > 50 && torn > 100 && second_pass > 50, "{counts:?}");
    println!(
        "attack: killed or power lost while all data of a drive in memory is rewritten piece by piece | {cuts} | no byte lost on \
         {DRIVES} drives; {between_pieces} came between two pieces, {while_resuming} while another cut was resumed, {second_pass} in \
         the second pass, {torn} tore a chunk"
    );
}
