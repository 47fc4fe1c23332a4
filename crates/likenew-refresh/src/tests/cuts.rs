//! Kills and losses of power at random points, also in runs that resume from interrupted ones.

use std::collections::BTreeMap;

use likenew_core::powercut::{End, Power, VolatileDevice};
use rand::{RngExt as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::rig::{Counted, VolatileFile, content, ranges};
use crate::plan::Task;
use crate::{InspectedRefresh, Refresh, RefreshError, Settings, Verify};

const IDENTITY: &str = "a drive in memory";
const CASES: u64 = 600;

#[derive(Debug, Default)]
struct Counts {
    cuts: u64,
    kills: u64,
    power_losses: u64,
    while_beginning: u64,
    while_going_on: u64,
    torn_chunks: u64,
    unreadable: u64,
    by_word: u64,
    finished: u64,
}

/// One refresh from its beginning to its end, however often it is cut off.
struct Case {
    truth: Vec<u8>,
    task: Task,
    store: Counted,
    file: VolatileFile,
    salvage: VolatileFile,
    power: Power,
    random: Xoshiro256PlusPlus,
    cuts: u64,
    seed: u64,
}

impl Case {
    fn new(seed: u64) -> Self {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let block = if random.random() { 512 } else { 4096 };
        // Larger stores have witnesses.
        let most = if random.random() { 200 << 10 } else { 2 << 20 };
        let bytes = u64::from(block) * random.random_range(1..=most / u64::from(block));
        let truth = content(bytes as usize, &mut random);
        let power = Power::default();
        let settings = Settings {
            chunk_bytes: 4096 << random.random_range(0..5),
            skips_zeros: random.random_range(0..4) > 0,
            verify: if random.random_range(0..4) > 0 { Verify::All } else { Verify::Off },
        };
        let task = Task {
            identity: IDENTITY.to_owned(),
            ranges: ranges(bytes, u64::from(block), &mut random),
            settings,
            ..Task::default()
        };
        let device = VolatileDevice::new(truth.clone(), block, seed, &power);
        Self {
            truth,
            task,
            store: Counted { device, writes: BTreeMap::new() },
            file: VolatileFile::new(seed ^ 1, &power),
            salvage: VolatileFile::new(seed ^ 2, &power),
            power,
            random,
            cuts: 0,
            seed,
        }
    }

    fn run(mut self, counts: &mut Counts) {
        let mut has_begun = false;
        loop {
            if self.cuts < 8 {
                let most = [12, 60, 400][self.random.random_range(0..3)];
                self.power.cut_after(self.random.random_range(0..most));
            }
            let result = if has_begun { self.resume(counts) } else { self.begin() };
            match result {
                Ok(()) => break,
                Err(error) => assert!(self.power.is_off(), "case {}: {error}", self.seed),
            }
            self.restore_power(counts);
            has_begun = self.inspect(counts);
        }
        self.power.switch_on();
        self.is_whole();
        let looked = InspectedRefresh::inspect(&mut self.store, &mut self.file, IDENTITY);
        assert!(matches!(looked, Err(RefreshError::Finished)), "case {}", self.seed);
        let most = self.store.writes.values().max().copied().unwrap_or(0);
        assert!(most <= 1 + self.cuts, "case {}: {most} writes after {} cuts", self.seed, self.cuts);
        counts.finished += 1;
    }

    fn begin(&mut self) -> Result<(), RefreshError> {
        let mut refresh = Refresh::begin(&mut self.store, &mut self.file, &self.task)?;
        // Some runs are stopped and then continue, as after Ctrl-C.
        for _ in 0..self.random.random_range(0..40) {
            if refresh.step()?.is_none() {
                return Ok(());
            }
        }
        refresh.stop()?;
        match InspectedRefresh::inspect(&mut self.store, &mut self.file, IDENTITY) {
            Ok(inspected) => {
                assert_eq!((inspected.in_flight().count(), inspected.differences().count()), (0, 0));
                finish(inspected.resume(&mut self.salvage)?)
            }
            Err(RefreshError::Finished) => Ok(()),
            Err(error) => Err(error),
        }
    }

    fn resume(&mut self, counts: &mut Counts) -> Result<(), RefreshError> {
        let inspected = InspectedRefresh::inspect(&mut self.store, &mut self.file, IDENTITY);
        let inspected = match inspected {
            Err(RefreshError::Finished) => return Ok(()),
            inspected => inspected?,
        };
        let refresh = match inspected.resume(&mut self.salvage) {
            Err(RefreshError::TooMuch { .. }) if !self.power.is_off() => {
                counts.by_word += 1;
                let inspected = InspectedRefresh::inspect(&mut self.store, &mut self.file, IDENTITY)?;
                inspected.with_owner_confirmation().resume(&mut self.salvage)
            }
            refresh => refresh,
        };
        if refresh.is_err() {
            counts.while_going_on += 1;
        }
        finish(refresh?)
    }

    fn restore_power(&mut self, counts: &mut Counts) {
        let end = if self.random.random_range(0..3) == 0 { End::Killed } else { End::PowerLost };
        self.store.device.restore_power(end);
        self.file.restore_power(end);
        self.salvage.restore_power(end);
        self.power.switch_on();
        self.cuts += 1;
        counts.cuts += 1;
        match end {
            End::Killed => counts.kills += 1,
            End::PowerLost => counts.power_losses += 1,
        }
    }

    /// Checks that everything but chunks in flight is intact; returns whether a journal was begun.
    fn inspect(&mut self, counts: &mut Counts) -> bool {
        let inspected = match InspectedRefresh::inspect(&mut self.store, &mut self.file, IDENTITY) {
            Ok(inspected) => inspected,
            Err(RefreshError::Finished) => {
                self.is_whole();
                return true;
            }
            Err(RefreshError::NoJournal(_) | RefreshError::Journal { .. }) => {
                // The refresh was cut off while beginning: nothing was written, and the owner removes its journal.
                assert!(self.store.writes.is_empty(), "case {}", self.seed);
                self.is_whole();
                self.file = VolatileFile::new(self.random.random(), &self.power);
                counts.while_beginning += 1;
                return false;
            }
            Err(error) => panic!("case {}: {error}", self.seed),
        };
        let in_flight: Vec<_> = inspected.in_flight().collect();
        assert!(in_flight.len() <= 2);
        let differences: Vec<_> = inspected.differences().cloned().collect();
        counts.torn_chunks += u64::from(!differences.is_empty());
        counts.unreadable += differences.iter().filter(|difference| !difference.is_readable).count() as u64;
        let inside = |at: u64| in_flight.iter().any(|place| place.contains(&at));
        for (index, block) in self.truth.chunks(512).enumerate() {
            let at = index * 512;
            let device = &self.store.device;
            let is_whole = !device.is_unreadable(at, 512) && device.content()[at..at + 512] == *block;
            assert!(is_whole || inside(at as u64), "case {}: byte {at} was not in flight", self.seed);
            let differs = differences.iter().any(|difference| difference.range.contains(&(at as u64)));
            assert!(is_whole || differs, "case {}: byte {at} is not named", self.seed);
        }
        true
    }

    fn is_whole(&self) {
        let device = &self.store.device;
        assert!(device.content() == self.truth, "case {}", self.seed);
        assert!(!device.is_unreadable(0, self.truth.len()), "case {}", self.seed);
    }
}

fn finish<G: likenew_core::drive::BlockStore, P: crate::DurableFile>(
    mut refresh: Refresh<G, P>,
) -> Result<(), RefreshError> {
    while refresh.step()?.is_some() {}
    let progress = refresh.progress();
    assert_eq!(progress.done_bytes, progress.all_bytes);
    Ok(())
}

#[test]
fn no_kill_and_no_loss_of_power_costs_a_byte() {
    let mut counts = Counts::default();
    for seed in 0..CASES {
        Case::new(seed).run(&mut counts);
    }
    let Counts { cuts, kills, power_losses, while_beginning, while_going_on, .. } = counts;
    assert!(cuts >= 1000 && kills >= 300 && power_losses >= 500, "{counts:?}");
    assert!(while_beginning >= 20 && while_going_on >= 80, "{counts:?}");
    assert!(counts.torn_chunks >= 100 && counts.unreadable >= 50 && counts.by_word > 0, "{counts:?}");
    assert_eq!(counts.finished, CASES);
    println!(
        "attack: killed or power lost while a drive in memory is rewritten | {cuts} | no byte lost in {CASES} refreshes; {while_beginning} came while the \
         journal was begun, {while_going_on} while another cut was resumed, {} tore a chunk",
        counts.torn_chunks
    );
}
