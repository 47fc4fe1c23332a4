//! Drives and files that fail: which error is returned, and that nothing is lost.

use std::io;

use likenew_core::drive::BlockStore;
use likenew_core::powercut::{Power, VolatileDevice};
use rand::SeedableRng as _;
use rand_xoshiro::Xoshiro256PlusPlus;

use super::rig::content;
use crate::plan::Task;
use crate::{DurableFile, InspectedRefresh, Refresh, RefreshError, Settings};

const CHUNK: u64 = 8192;

/// A drive that refuses writes to one place, or accepts and forgets them.
#[derive(Debug)]
struct Bad {
    device: VolatileDevice,
    at: u64,
    forgets: bool,
    is_well: bool,
    flushes: u32,
}

impl BlockStore for Bad {
    fn bytes(&self) -> u64 {
        self.device.bytes()
    }

    fn block(&self) -> u32 {
        self.device.block()
    }

    fn read_at(&mut self, offset: u64, into: &mut [u8]) -> io::Result<()> {
        self.device.read_at(offset, into)
    }

    fn write_at(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        if self.is_well || !(offset..offset + bytes.len() as u64).contains(&self.at) {
            return self.device.write_at(offset, bytes);
        }
        if !self.forgets {
            self.device.write_at(offset, &bytes[..512])?;
            return Err(io::Error::from_raw_os_error(5));
        }
        let mut other = bytes.to_vec();
        other[(self.at - offset) as usize] ^= 0x10;
        self.device.write_at(offset, &other)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.flushes += 1;
        self.device.flush()
    }
}

fn store(at: u64, forgets: bool) -> (Vec<u8>, Bad, Task) {
    let truth = content(10 * CHUNK as usize, &mut Xoshiro256PlusPlus::seed_from_u64(3));
    let device = VolatileDevice::new(truth.clone(), 512, 1, &Power::default());
    let task = Task {
        ranges: std::iter::once(0..device.bytes()).collect(),
        settings: Settings { chunk_bytes: CHUNK as u32, skips_zeros: false, ..Settings::default() },
        ..Task::default()
    };
    (truth, Bad { device, at, forgets, is_well: false, flushes: 0 }, task)
}

fn run<G: BlockStore, P: DurableFile>(mut refresh: Refresh<G, P>) -> Result<(), RefreshError> {
    while refresh.step()?.is_some() {}
    Ok(())
}

#[test]
fn the_first_place_that_cannot_be_read_ends_it() {
    let (truth, mut store, task) = store(u64::MAX, false);
    store.device.spoil(5 * CHUNK as usize / 512 + 3);
    let mut file = Vec::new();
    let mut refresh = Refresh::begin(&mut store, &mut file, &task).unwrap();
    for _ in 0..5 {
        refresh.step().unwrap().unwrap();
    }
    let error = refresh.step().unwrap_err();
    assert!(
        matches!(error, RefreshError::Read { offset, length: CHUNK, .. } if offset == 5 * CHUNK),
        "{error}"
    );
    assert!(error.to_string().contains("8 KiB at byte 40960"), "{error}");
    assert!(!error.needs_journal(), "what came before is durable and was read back");
    drop(refresh);
    assert!(store.device.is_unreadable(5 * CHUNK as usize, 4096), "nobody has written there");
    assert_eq!(store.flushes, 3, "two chunks each, and what was written before");
    // The place can be read again for now, so the refresh continues there.
    store.device.scribble(5 * CHUNK as usize, &truth[5 * CHUNK as usize..6 * CHUNK as usize]);
    run(InspectedRefresh::inspect(&mut store, &mut file, "").unwrap().resume(&mut Vec::new()).unwrap())
        .unwrap();
    assert!(store.device.content() == truth);
}

/// A file that records where it was written, and when it was made durable.
#[derive(Default)]
struct Noted(Vec<u8>, Vec<Option<u64>>);

impl DurableFile for Noted {
    fn bytes(&mut self) -> io::Result<u64> {
        self.0.bytes()
    }

    fn read_at(&mut self, offset: u64, into: &mut [u8]) -> io::Result<()> {
        self.0.read_at(offset, into)
    }

    fn write_at(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        self.1.push(Some(offset));
        self.0.write_at(offset, bytes)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.1.push(None);
        Ok(())
    }
}

#[test]
fn what_begins_as_a_journal_is_whole() {
    let (_, mut store, task) = store(u64::MAX, false);
    let mut file = Noted::default();
    drop(Refresh::begin(&mut store, &mut file, &task).unwrap());
    let steps = file.1;
    assert!(steps.ends_with(&[None, Some(0), None]), "{steps:?}");
    assert!(steps[..steps.len() - 3].iter().all(|step| *step != Some(0)), "{steps:?}");
}

#[test]
fn a_write_that_fails_is_made_up_for() {
    let (truth, mut store, task) = store(3 * CHUNK + 700, false);
    let mut file = Vec::new();
    let error = run(Refresh::begin(&mut store, &mut file, &task).unwrap()).unwrap_err();
    assert!(matches!(error, RefreshError::Write { offset, .. } if offset == 3 * CHUNK), "{error}");
    assert!(error.to_string().contains("resume when the drive takes writes again"), "{error}");
    // While the drive still fails, resuming fails in the same way.
    let again =
        InspectedRefresh::inspect(&mut store, &mut file, "").unwrap().resume(&mut Vec::new()).unwrap_err();
    assert!(matches!(again, RefreshError::Write { .. }), "{again}");
    store.is_well = true;
    run(InspectedRefresh::inspect(&mut store, &mut file, "").unwrap().resume(&mut Vec::new()).unwrap())
        .unwrap();
    assert!(store.device.content() == truth);
}

#[test]
fn a_drive_that_does_not_keep_what_is_written_is_found_out_while_the_journal_has_it() {
    let (truth, mut store, task) = store(4 * CHUNK + 700, true);
    let mut file = Vec::new();
    let error = run(Refresh::begin(&mut store, &mut file, &task).unwrap()).unwrap_err();
    assert!(matches!(error, RefreshError::NotKept { offset, .. } if offset == 4 * CHUNK), "{error}");
    assert!(store.device.content() != truth);
    let pieces = crate::scan_saved_pieces(&mut file).unwrap();
    let piece = pieces.iter().find(|piece| piece.range.start == 4 * CHUNK).unwrap();
    let mut taken = Vec::new();
    piece.extract(&mut file, &mut taken).unwrap();
    assert!(taken == truth[4 * CHUNK as usize..5 * CHUNK as usize]);
    store.is_well = true;
    run(InspectedRefresh::inspect(&mut store, &mut file, "").unwrap().resume(&mut Vec::new()).unwrap())
        .unwrap();
    assert!(store.device.content() == truth);
}

#[test]
fn a_file_that_is_full_stops_it_before_the_store_is_touched() {
    struct Full(Vec<u8>, u32);
    impl DurableFile for Full {
        fn bytes(&mut self) -> io::Result<u64> {
            self.0.bytes()
        }
        fn read_at(&mut self, offset: u64, into: &mut [u8]) -> io::Result<()> {
            self.0.read_at(offset, into)
        }
        fn write_at(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()> {
            self.1 = self.1.checked_sub(1).ok_or(io::ErrorKind::StorageFull)?;
            self.0.write_at(offset, bytes)
        }
        fn sync(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    for writes in 0..8 {
        let (truth, mut store, task) = store(u64::MAX, false);
        let mut file = Full(Vec::new(), writes);
        let begun = Refresh::begin(&mut store, &mut file, &task);
        let error = begun.and_then(run).unwrap_err();
        assert!(matches!(error, RefreshError::Journal { .. }), "{error}");
        assert!(store.device.content() == truth);
        file.1 = u32::MAX;
        match InspectedRefresh::inspect(&mut store, &mut file, "") {
            Ok(inspected) => run(inspected.resume(&mut Vec::new()).unwrap()).unwrap(),
            Err(error) => assert!(matches!(error, RefreshError::NoJournal(_)) && writes < 4, "{error}"),
        }
    }
}

#[test]
fn a_journal_is_begun_on_an_empty_file_alone() {
    let (_, mut store, task) = store(u64::MAX, false);
    let mut file = Vec::new();
    drop(Refresh::begin(&mut store, &mut file, &task).unwrap());
    let before = file.clone();
    let error = Refresh::begin(&mut store, &mut file, &task).unwrap_err();
    assert!(matches!(error, RefreshError::NotEmpty) && file == before, "{error}");
}

#[test]
#[should_panic(expected = "goes on from its journal alone")]
fn a_refresh_that_has_failed_takes_no_further_step() {
    let (_, mut store, task) = store(0, false);
    let mut refresh = Refresh::begin(&mut store, Vec::new(), &task).unwrap();
    assert!(refresh.step().is_err());
    let _ = refresh.step();
}

#[test]
fn whoever_wants_the_store_gets_it_with_nothing_left_to_restore() {
    struct Busy(Bad, u32);
    impl BlockStore for Busy {
        fn bytes(&self) -> u64 {
            self.0.bytes()
        }
        fn block(&self) -> u32 {
            self.0.block()
        }
        fn read_at(&mut self, offset: u64, into: &mut [u8]) -> io::Result<()> {
            self.0.read_at(offset, into)
        }
        fn write_at(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()> {
            self.1 = self.1.checked_sub(1).ok_or(io::ErrorKind::ResourceBusy)?;
            self.0.write_at(offset, bytes)
        }
        fn flush(&mut self) -> io::Result<()> {
            self.0.flush()
        }
    }
    for writes in 0..10 {
        let (mut truth, store, task) = store(u64::MAX, false);
        let (mut store, mut file, mut salvage) = (Busy(store, writes), Vec::new(), Vec::new());
        let error = run(Refresh::begin(&mut store, &mut file, &task).unwrap()).unwrap_err();
        assert!(matches!(error, RefreshError::Wanted), "{error}");
        // Another program overwrites the whole store.
        truth.fill(0x77);
        store.0.device.scribble(0, &truth);
        store.1 = u32::MAX;
        let inspected = InspectedRefresh::inspect(&mut store, &mut file, "").unwrap();
        assert_eq!(inspected.in_flight().count(), 0);
        run(inspected.resume(&mut salvage).unwrap()).unwrap();
        assert!(store.0.device.content() == truth && salvage.is_empty());
    }
}
