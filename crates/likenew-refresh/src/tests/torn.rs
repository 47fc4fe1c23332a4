//! Torn journals, with and without a torn store: which damage is recognized, and which pieces can be
//! recovered.

use likenew_core::powercut::{Power, VolatileDevice};
use rand::{Rng as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::plan::Task;
use crate::record::BLOCK;
use crate::{InspectedRefresh, Refresh, RefreshError, Settings, scan_saved_pieces};

const CHUNK: usize = 16 << 10;

/// A refresh that was dropped with two chunks in flight, the newer one in slot 0.
fn dropped() -> (Vec<u8>, VolatileDevice, Vec<u8>) {
    let mut truth = vec![0; 8 * CHUNK];
    Xoshiro256PlusPlus::seed_from_u64(4).fill_bytes(&mut truth);
    let mut device = VolatileDevice::new(truth.clone(), 512, 1, &Power::default());
    let mut journal = Vec::new();
    let task = Task {
        ranges: std::iter::once(0..truth.len() as u64).collect(),
        settings: Settings { chunk_bytes: CHUNK as u32, ..Settings::default() },
        ..Task::default()
    };
    let mut refresh = Refresh::begin(&mut device, &mut journal, &task).unwrap();
    for _ in 0..4 {
        refresh.step().unwrap().unwrap();
    }
    drop(refresh);
    (truth, device, journal)
}

/// Offsets of the slots in these journals.
const SLOTS: [usize; 2] = [BLOCK, 2 * BLOCK + CHUNK];

fn finish(device: &mut VolatileDevice, journal: &mut Vec<u8>) -> Result<u64, RefreshError> {
    let mut refresh = InspectedRefresh::inspect(device, journal, "")?.resume(&mut Vec::new())?;
    while refresh.step()?.is_some() {}
    Ok(refresh.progress().written_bytes / CHUNK as u64)
}

#[test]
fn a_slot_that_was_being_written_is_of_no_account() {
    // The slot lacks its bytes, its record, or both. The other slot's chunk is written again, and so are
    // chunks that were not begun.
    for (from, to) in [(BLOCK + 700, BLOCK + CHUNK), (0, BLOCK), (0, BLOCK + CHUNK)] {
        let (truth, mut device, mut journal) = dropped();
        journal[SLOTS[0] + from..SLOTS[0] + to].fill(0);
        let inspected = InspectedRefresh::inspect(&mut device, &mut journal, "").unwrap();
        assert_eq!((inspected.in_flight().count(), inspected.differences().count()), (1, 0));
        assert_eq!(finish(&mut device, &mut journal).unwrap(), 1 + 5);
        assert!(device.content() == truth);
    }
}

#[test]
fn a_damaged_slot_is_not_taken_for_one_that_was_being_written() {
    let (_, mut device, mut journal) = dropped();
    // The cut tore the chunk, and its saved copy is damaged, too.
    device.scribble(3 * CHUNK + 512, &[9; 512]);
    journal[SLOTS[0] + BLOCK + 5000] ^= 1;
    let before = device.content().to_vec();
    let error = finish(&mut device, &mut journal).unwrap_err();
    assert!(matches!(error, RefreshError::Damaged(_)) && device.content() == before, "{error}");
    // The chunk cannot be read at all.
    device.spoil(3 * CHUNK / 512);
    let error = finish(&mut device, &mut journal).unwrap_err();
    assert!(matches!(error, RefreshError::Damaged(_)) && device.content() == before, "{error}");
}

#[test]
fn without_a_whole_slot_nothing_is_written() {
    let (truth, mut device, mut journal) = dropped();
    for at in SLOTS {
        journal[at + 3] ^= 1;
    }
    let error = finish(&mut device, &mut journal).unwrap_err();
    assert!(matches!(error, RefreshError::Damaged(_)) && device.content() == truth, "{error}");
}

#[test]
fn chunks_are_found_where_nothing_else_is_whole() {
    let (truth, mut device, mut journal) = dropped();
    journal[..BLOCK].fill(0xA5);
    let error = finish(&mut device, &mut journal).unwrap_err();
    assert!(matches!(error, RefreshError::NoJournal(_)), "{error}");
    assert!(error.to_string().contains("taken out"), "{error}");
    journal.truncate(SLOTS[1] + BLOCK + CHUNK - 1);
    let [piece] = &scan_saved_pieces(&mut journal).unwrap()[..] else { panic!("the other one is cut off") };
    assert_eq!((piece.range.clone(), piece.is_chunk), (3 * CHUNK as u64..4 * CHUNK as u64, true));
    let mut taken = Vec::new();
    piece.extract(&mut journal, &mut taken).unwrap();
    assert!(taken == truth[3 * CHUNK..4 * CHUNK]);
}
