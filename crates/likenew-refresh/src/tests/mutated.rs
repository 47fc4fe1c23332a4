//! Changed journals: none causes a wrong write or a panic.

use likenew_core::powercut::{Power, VolatileDevice};
use rand::{Rng as _, RngExt as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::rig::Guarded;
use crate::plan::{Plan, Task};
use crate::record::{BLOCK, Kind, Record};
use crate::{InspectedRefresh, Refresh, RefreshError, Settings, Verify, scan_saved_pieces};

const IDENTITY: &str = "a drive";
const CHUNK: usize = 8 << 10;
const STORE: usize = 48 << 10;
const MUTATIONS: usize = 100_000;

/// A refresh that was cut off after some steps.
struct Base {
    journal: Vec<u8>,
    truth: Vec<u8>,
    /// The store as the cut left it; in some bases, sectors of chunks in flight are torn.
    store: Vec<u8>,
}

fn task(verify: Verify) -> Task {
    // Half a chunk at the end, and places that are not rewritten.
    let ranges = vec![0..32 << 10, 36 << 10..40 << 10];
    let settings = Settings { chunk_bytes: CHUNK as u32, verify, ..Settings::default() };
    Task {
        identity: IDENTITY.to_owned(),
        note: "a note".to_owned(),
        ranges,
        marks: vec![0..512, 40 << 10..41 << 10],
        settings,
    }
}

impl Base {
    fn new(steps: usize, torn: usize, random: &mut Xoshiro256PlusPlus) -> Self {
        let mut truth = vec![0; STORE];
        random.fill_bytes(&mut truth);
        let mut device = VolatileDevice::new(truth.clone(), 512, 1, &Power::default());
        let mut journal = Vec::new();
        let mut refresh = Refresh::begin(&mut device, &mut journal, &task(Verify::All)).unwrap();
        for _ in 0..steps {
            refresh.step().unwrap().unwrap();
        }
        drop(refresh);
        let mut base = Self { journal, truth: truth.clone(), store: truth };
        let inspected = InspectedRefresh::inspect(&mut device, &mut base.journal, IDENTITY).unwrap();
        let in_flight: Vec<_> = inspected.in_flight().collect();
        for place in &in_flight {
            for _ in 0..torn {
                let sector = random.random_range(place.start / 512..place.end / 512) as usize;
                random.fill_bytes(&mut base.store[sector * 512..][..512]);
            }
        }
        base
    }
}

/// The offset of a slot in a journal.
fn slot(index: usize) -> usize {
    BLOCK + index * (BLOCK + CHUNK)
}

/// Changes a journal in one of many ways; `others` are journals of this and of other refreshes.
fn mutate(base: &Base, others: &[Base], random: &mut Xoshiro256PlusPlus) -> Vec<u8> {
    let mut journal = base.journal.clone();
    let end = journal.len();
    match random.random_range(0..12) {
        0 | 1 => {
            for _ in 0..random.random_range(1..8) {
                journal[random.random_range(0..end)] ^= 1 << random.random_range(0..8);
            }
        }
        // Bits of the parts with meaning: the head and the records.
        2 => {
            let at = [0, slot(0), slot(1)][random.random_range(0..3)] + random.random_range(0..400);
            journal[at] ^= 1 << random.random_range(0..8);
        }
        3 => journal.truncate(random.random_range(0..=end)),
        4 => journal.extend(vec![0; random.random_range(1..20_000)]),
        5 => {
            let length = random.random_range(1..=CHUNK);
            let (from, to) = (random.random_range(0..end - length), random.random_range(0..end - length));
            let slice = journal[from..from + length].to_vec();
            let other = journal[to..to + length].to_vec();
            journal[to..to + length].copy_from_slice(&slice);
            if from.abs_diff(to) >= length {
                journal[from..from + length].copy_from_slice(&other);
            }
        }
        6 => {
            let length = random.random_range(1..=CHUNK);
            let at = random.random_range(0..end - length);
            let fill = [0, 0xFF, random.random()][random.random_range(0..3)];
            journal[at..at + length].fill(fill);
        }
        // The slots or head of another journal.
        7 => {
            let other = &others[random.random_range(0..others.len())].journal;
            let (from, to) = [(0, BLOCK), (slot(0), slot(1)), (slot(1), end)][random.random_range(0..3)];
            journal[from..to].copy_from_slice(&other[from..to]);
        }
        8 => random.fill_bytes(&mut journal),
        9 => {
            let at =
                b"likenew refresh journal: keep this file until the refresh has finished. Version ".len();
            journal[at] = random.random();
        }
        10 => nonsense_record(&mut journal, random),
        _ => nonsense_plan(&mut journal, random),
    }
    journal
}

fn any(random: &mut Xoshiro256PlusPlus) -> u64 {
    match random.random_range(0..5) {
        0 => random.random(),
        1 => u64::MAX - random.random_range(0..3),
        2 => random.random_range(0..4),
        3 => 512 * random.random_range(0..200),
        _ => CHUNK as u64 * random.random_range(0..10),
    }
}

/// A record with a valid checksum and impossible values.
fn nonsense_record(journal: &mut [u8], random: &mut Xoshiro256PlusPlus) {
    let index = random.random_range(0..2);
    let block = &mut journal[slot(index)..][..BLOCK + CHUNK];
    let Some(mut record) = Record::decode(block) else { return };
    let resigns = random.random();
    match random.random_range(0..6) {
        0 => record.turn = any(random),
        1 => record.range.start = any(random),
        2 => record.range.end = any(random),
        3 => record.kind = [Kind::Chunk, Kind::Committed, Kind::Original][random.random_range(0..3)],
        4 => record.journal = random.random(),
        // Another chunk that seems intact, while all data there differs.
        _ => record.range = CHUNK as u64..2 * CHUNK as u64,
    }
    let length = record.range.end.wrapping_sub(record.range.start);
    if resigns && record.range.start <= record.range.end && length == CHUNK as u64 {
        record.hash = record.hash_of(&block[BLOCK..]);
    }
    record.encode(block);
}

/// A plan with a valid checksum and impossible values, with records that belong to it.
fn nonsense_plan(journal: &mut [u8], random: &mut Xoshiro256PlusPlus) {
    let end = journal.len() as u64;
    let read = |bytes: usize| Ok::<_, RefreshError>(journal[..bytes].to_vec());
    let (plan, ..) = Plan::decode(end, read).unwrap();
    let text = serde_json::to_string(&plan).unwrap();
    // Changes any number in the plan.
    let numbers: Vec<(usize, &str)> = text
        .split(|c: char| !c.is_ascii_digit())
        .filter(|part| !part.is_empty())
        .map(|part| (part.as_ptr().addr() - text.as_ptr().addr(), part))
        .collect();
    let (at, number) = numbers[random.random_range(0..numbers.len())];
    let text = format!("{}{}{}", &text[..at], any(random), &text[at + number.len()..]);
    let Ok(plan) = serde_json::from_str::<Plan>(&text) else { return };
    let head = plan.encode();
    journal[..BLOCK].copy_from_slice(&head[..BLOCK]);
    let line = head.split(|byte| *byte == b'\n').nth(1).unwrap();
    let id = u64::from_str_radix(std::str::from_utf8(&line[11..]).unwrap(), 16).unwrap();
    for index in 0..2 {
        let block = &mut journal[slot(index)..][..BLOCK + CHUNK];
        let Some(mut record) = Record::decode(block) else { continue };
        record.journal = id;
        let length = record.length() as usize;
        record.hash = record.hash_of(&block[BLOCK..BLOCK + length]);
        record.encode(block);
    }
}

#[test]
fn no_mutated_journal_leads_to_a_wrong_write() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(8);
    let bases: Vec<Base> = (0..18).map(|index| Base::new(index % 6, (index / 6) * 2, &mut random)).collect();
    let (mut refused, mut gone_on) = (0, 0);
    for index in 0..MUTATIONS {
        let base = &bases[index % bases.len()];
        let mut journal = mutate(base, &bases, &mut random);
        let mut store = Guarded { content: base.store.clone(), truth: &base.truth, writes: 0 };
        let length = journal.len();
        let pieces = scan_saved_pieces(&mut journal).unwrap();
        assert!(pieces.iter().map(|piece| piece.range.end - piece.range.start).sum::<u64>() <= length as u64);
        let inspected = InspectedRefresh::inspect(&mut store, &mut journal, IDENTITY);
        let refresh = inspected.and_then(|inspected| inspected.resume(&mut Vec::new()));
        match refresh {
            Err(error) => {
                assert!(error.is_refusal(), "{error}");
                assert_eq!(store.writes, 0, "{error}");
                refused += 1;
            }
            Ok(mut refresh) => {
                while refresh.step().unwrap().is_some() {}
                gone_on += 1;
            }
        }
    }
    assert_eq!(refused + gone_on, MUTATIONS);
    assert!(refused > MUTATIONS / 2 && gone_on > MUTATIONS / 20, "{refused} {gone_on}");
    println!(
        "attack: damaged journals of a refresh | {MUTATIONS} | nothing written wrong; {refused} refused, {gone_on} resumed"
    );
}
