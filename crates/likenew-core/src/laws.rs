//! The laws that every target keeps, as checks that the tests of any crate can run on any drive.
//!
//! 1. Time never goes back, and `wait` never returns before something has ended or `until` has come.
//! 2. Every accepted I/O completes exactly once, on its own slot, after it left and not in the future.
//! 3. A rest lasts as long as requested.
//! 4. Reads return what was written: any bytes on a drive that carries data, and stamped sectors on any
//!    drive that keeps them.
//! 5. The same I/Os on the same simulated drive end at the same times.
//! 6. On a virtual clock nothing ends before `next_at`, which is known while anything is in flight.
//!
//! A broken law panics with its number.

use std::collections::HashMap;

use rand::{RngExt as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::drive::{Drive, Lane, LaneRequirements};
use crate::io::{Completion, DataClass, Io, Op, Outcome, Slot};
use crate::stamp::{SECTOR, Stamp};
use crate::target::{Clock, Geometry, Target};
use crate::units::Nanos;

const DEPTH: u32 = 8;
const LENGTH_BLOCKS_MAX: u32 = 8;
const NEED_BYTES_MIN: u32 = 4096;
/// Most blocks of the reference array.
const KEPT_BLOCKS_MAX: u64 = 4096;

/// Checks all laws on drives made by `make`, a new one for each check.
pub fn all<D: Drive>(mut make: impl FnMut() -> D) {
    completes_everything_once(&mut make(), 1, 2_000);
    rests(&mut make());
    keeps_data(&mut make(), 2, 4_000);
    keeps_stamps(&mut make(), 4, 2_000);
    if make().geometry().clock == Clock::Virtual {
        repeats_itself(&mut make, 3, 2_000);
    }
}

/// Laws 1 and 2 under seeded random I/O; returns every completion.
pub fn completes_everything_once(drive: &mut impl Drive, seed: u64, ios: usize) -> Vec<Completion> {
    let mut lane = open(drive);
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut in_flight: HashMap<Slot, (Nanos, Io)> = HashMap::new();
    let (mut completions, mut done) = (Vec::new(), Vec::new());
    let mut issued = 0;
    while issued < ios || !in_flight.is_empty() {
        let free: Vec<Slot> = (0..DEPTH).map(Slot).filter(|slot| !in_flight.contains_key(slot)).collect();
        let count = if issued < ios { random.random_range(0..=free.len()) } else { 0 };
        let batch: Vec<Io> =
            free[..count].iter().map(|slot| random_io(lane.geometry(), *slot, &mut random)).collect();
        if !batch.is_empty() {
            let before = lane.now();
            let sent = lane.submit(&batch).expect("a lane accepts what fits its geometry");
            assert!(before <= sent && sent <= lane.now(), "law 1: a batch leaves between before and after");
            issued += batch.len();
            in_flight.extend(batch.iter().map(|io| (io.slot, (sent, *io))));
        }
        let until = random_until(lane.now(), &mut random, in_flight.is_empty());
        wait(&mut *lane, until, &mut done);
        for completion in done.drain(..) {
            let (sent, io) =
                in_flight.remove(&completion.slot).expect("law 2: only what is in flight completes, once");
            assert!(sent <= completion.at, "law 2: an I/O ends after it left");
            assert!(
                !matches!(completion.outcome, Outcome::Error(_)),
                "{io:?} was refused: {:?}",
                completion.outcome
            );
            completions.push(completion);
        }
    }
    let a_little_later = lane.now() + Nanos::from_micros(100);
    wait(&mut *lane, a_little_later, &mut done);
    assert!(done.is_empty(), "law 2: nothing completes that was not submitted");
    completions
}

/// Law 3: a rest without I/O in flight lasts until its end and completes nothing.
pub fn rests(drive: &mut impl Drive) {
    let mut lane = open(drive);
    let mut done = Vec::new();
    for _ in 0..3 {
        let until = lane.now() + Nanos::from_millis(2);
        wait(&mut *lane, until, &mut done);
        assert!(lane.now() >= until, "law 3: a rest lasts");
        assert!(done.is_empty(), "law 3: nothing ends in a rest");
    }
}

/// Law 4 on a drive that carries data and may be written; other drives pass. Reads, writes and trims of one
/// to some blocks are in flight together, never two of the same block. An array beside the drive holds what
/// each block should contain. The content of a trimmed block is unknown until it is written again.
pub fn keeps_data(drive: &mut impl Drive, seed: u64, ios: usize) {
    if drive.geometry().carries_data {
        keeps(drive, seed, ios, bytes_of);
    }
}

/// Law 4 for stamped sectors, on a drive that keeps them and may be written.
pub fn keeps_stamps(drive: &mut impl Drive, seed: u64, ios: usize) {
    let geometry = drive.geometry();
    if geometry.keeps_stamps() && geometry.block.is_multiple_of(SECTOR as u32) {
        keeps(drive, seed, ios, sectors_of);
    }
}

/// Fills a block at an address for the write with this number, and returns its data class.
type Content = fn(u64, u64, &mut [u8]) -> DataClass;

/// Fills a block with what distinguishes it from all others.
fn bytes_of(number: u64, _address: u64, block: &mut [u8]) -> DataClass {
    for (byte, value) in block.iter_mut().zip(number.to_le_bytes().into_iter().cycle()) {
        *byte = value;
    }
    DataClass::Random
}

fn sectors_of(number: u64, address: u64, block: &mut [u8]) -> DataClass {
    let stamp = Stamp { key: 1, pass: number as u32 };
    stamp.fill(address, block);
    DataClass::Stamped(stamp)
}

fn keeps(drive: &mut impl Drive, seed: u64, ios: usize, content: Content) {
    let geometry = drive.geometry();
    if !geometry.writable {
        return;
    }
    let blocks = (geometry.capacity / u64::from(geometry.block)).min(KEPT_BLOCKS_MAX);
    let mut lane = open(drive);
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let block = geometry.block as usize;
    let mut array = Array { block, expected: vec![None; blocks as usize], writes: 0, content };
    let mut in_flight: HashMap<Slot, Io> = HashMap::new();
    let (mut issued, mut done) = (0, Vec::new());
    while issued < ios || !in_flight.is_empty() {
        let slot = (0..DEPTH).map(Slot).find(|slot| !in_flight.contains_key(slot));
        if let Some(slot) = slot.filter(|_| issued < ios) {
            issued += 1;
            let mut io = random_io(
                &Geometry { capacity: blocks * u64::from(geometry.block), ..geometry.clone() },
                slot,
                &mut random,
            );
            let end = |io: &Io| io.offset + u64::from(io.length);
            if in_flight.values().any(|other| io.offset < end(other) && other.offset < end(&io)) {
                continue;
            }
            io.data = match io.op {
                Op::Write => array.write(&io, lane.buffer(slot)),
                _ => content(0, io.offset, &mut []),
            };
            lane.submit(&[io]).expect("a lane accepts what fits its geometry");
            in_flight.insert(slot, io);
        }
        if in_flight.len() == DEPTH as usize || issued == ios || random.random_bool(0.3) {
            let until = random_until(lane.now(), &mut random, in_flight.is_empty());
            wait(&mut *lane, until, &mut done);
        }
        for completion in done.drain(..) {
            let io =
                in_flight.remove(&completion.slot).expect("law 2: only what is in flight completes, once");
            array.on_end(&io, lane.buffer(io.slot));
        }
    }
}

/// What a drive should hold: the number of the last write of each block, or nothing if unknown.
struct Array {
    block: usize,
    expected: Vec<Option<u64>>,
    writes: u64,
    content: Content,
}

impl Array {
    fn blocks(&self, io: &Io) -> std::ops::Range<usize> {
        let first = io.offset as usize / self.block;
        first..first + io.length as usize / self.block
    }

    /// Fills the blocks of a write and returns their data class.
    fn write(&mut self, io: &Io, buffer: &mut [u8]) -> DataClass {
        self.writes += 1;
        let mut class = io.data;
        for (index, bytes) in self.blocks(io).zip(buffer.chunks_mut(self.block)) {
            self.expected[index] = Some(self.writes);
            class = (self.content)(self.writes, (index * self.block) as u64, bytes);
        }
        class
    }

    fn on_end(&mut self, io: &Io, buffer: &[u8]) {
        let mut expected = vec![0; self.block];
        for (index, bytes) in self.blocks(io).zip(buffer.chunks(self.block)) {
            match (io.op, self.expected[index]) {
                (Op::Read, Some(held)) => {
                    (self.content)(held, (index * self.block) as u64, &mut expected);
                    assert!(bytes == expected, "law 4: block {index} reads back as written");
                }
                (Op::Trim, _) => self.expected[index] = None,
                _ => {}
            }
        }
    }
}

/// Law 5.
pub fn repeats_itself<D: Drive>(make: &mut impl FnMut() -> D, seed: u64, ios: usize) {
    let first = completes_everything_once(&mut make(), seed, ios);
    let second = completes_everything_once(&mut make(), seed, ios);
    assert_eq!(first, second, "law 5: a simulated drive repeats itself");
}

fn open<'a>(drive: &'a mut impl Drive) -> Lane<'a> {
    let length_max = (drive.geometry().block * LENGTH_BLOCKS_MAX).max(NEED_BYTES_MIN);
    let need = LaneRequirements { lanes: 1, depth: DEPTH, length_max };
    drive.lanes(&need).expect("a drive opens its lanes").pop().expect("a drive has a lane")
}

/// Checks law 1 around one call of `wait`.
fn wait(lane: &mut dyn Target, until: Nanos, done: &mut Vec<Completion>) {
    let (before, next) = (lane.now(), lane.next_at());
    lane.wait(until, done).expect("a lane can be waited for");
    let now = lane.now();
    if lane.geometry().clock == Clock::Virtual {
        let known = |at: Nanos| next.is_some_and(|next| next <= at);
        assert!(done.iter().all(|completion| known(completion.at)), "law 6: nothing ends before next_at");
    }
    assert!(before <= now, "law 1: time never goes back");
    assert!(!done.is_empty() || now >= until, "law 1: wait does not return early");
    assert!(done.iter().all(|completion| completion.at <= now), "law 2: nothing ends in the future");
    assert!(done.is_sorted_by_key(|completion| completion.at), "law 2: completions come in order of time");
}

fn random_io(geometry: &Geometry, slot: Slot, random: &mut Xoshiro256PlusPlus) -> Io {
    let block = u64::from(geometry.block);
    let op = match random.random_range(0..8) {
        0..4 if geometry.writable => Op::Write,
        4 if geometry.writable && geometry.trims && geometry.boundary.is_none() => Op::Trim,
        _ => Op::Read,
    };
    let room = geometry.boundary.unwrap_or(geometry.capacity).min(geometry.capacity) / block;
    let blocks = random.random_range(1..=u64::from(LENGTH_BLOCKS_MAX).min(room));
    let place = random.random_range(0..=room - blocks) * block;
    let file = geometry
        .boundary
        .map_or(0, |boundary| random.random_range(0..geometry.capacity / boundary) * boundary);
    Io {
        slot,
        op,
        offset: file + place,
        length: (blocks * block) as u32,
        data: DataClass::Random,
        sync: None,
    }
}

fn random_until(now: Nanos, random: &mut Xoshiro256PlusPlus, idle: bool) -> Nanos {
    match random.random_range(0..3) {
        0 => now,
        1 if !idle => Nanos::NEVER,
        _ => now + Nanos(random.random_range(0..200_000)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drive::Identity;
    use crate::memory::Memory;
    use crate::target_error::TargetError;

    /// An honest drive, or one that breaks a law.
    struct LawBreach(Memory, Breach);

    #[derive(Clone, Copy, PartialEq)]
    enum Breach {
        None,
        HidesWhatIsNext,
        LosesOne,
        CompletesTwice,
        ReturnsEarly,
        EndsInTheFuture,
        Forgets,
    }

    struct BreachedLane<'a> {
        lane: Lane<'a>,
        breach: Breach,
        served: u64,
    }

    fn drive(breach: Breach) -> LawBreach {
        LawBreach(Memory::new(1 << 20, Nanos(1_000), 3), breach)
    }

    impl Drive for LawBreach {
        fn identity(&self) -> Identity {
            self.0.identity()
        }

        fn geometry(&self) -> Geometry {
            self.0.geometry()
        }

        fn lanes_max(&self) -> u32 {
            1
        }

        fn lanes<'a>(&'a mut self, need: &LaneRequirements) -> Result<Vec<Lane<'a>>, TargetError> {
            let breach = self.1;
            let lanes = self.0.lanes(need)?.into_iter();
            Ok(lanes.map(|lane| Box::new(BreachedLane { lane, breach, served: 0 }) as Lane<'a>).collect())
        }
    }

    impl Target for BreachedLane<'_> {
        fn geometry(&self) -> &Geometry {
            self.lane.geometry()
        }

        fn now(&self) -> Nanos {
            self.lane.now()
        }

        fn buffer(&mut self, slot: Slot) -> &mut [u8] {
            self.lane.buffer(slot)
        }

        fn submit(&mut self, batch: &[Io]) -> Result<Nanos, TargetError> {
            self.served += 1;
            if self.breach == Breach::Forgets && self.served.is_multiple_of(7) {
                let length = batch[0].length as usize;
                self.lane.buffer(batch[0].slot)[..length].fill(0xA5);
            }
            self.lane.submit(batch)
        }

        fn next_at(&self) -> Option<Nanos> {
            let late = if self.breach == Breach::HidesWhatIsNext { Nanos(1) } else { Nanos::ZERO };
            self.lane.next_at().map(|next| next + late)
        }

        fn wait(&mut self, until: Nanos, done: &mut Vec<Completion>) -> Result<(), TargetError> {
            if self.breach == Breach::ReturnsEarly && until != Nanos::NEVER {
                return Ok(());
            }
            self.lane.wait(until, done)?;
            match self.breach {
                Breach::LosesOne if self.served > 5 => drop(done.pop()),
                Breach::CompletesTwice if self.served > 5 => done.extend(done.last().copied()),
                Breach::EndsInTheFuture => done.iter_mut().for_each(|completion| completion.at += Nanos(1)),
                _ => {}
            }
            Ok(())
        }
    }

    #[test]
    fn an_honest_drive_keeps_all_laws() {
        all(|| drive(Breach::None));
    }

    #[test]
    fn each_breach_is_caught() {
        use Breach::{CompletesTwice, EndsInTheFuture, Forgets, HidesWhatIsNext, LosesOne, ReturnsEarly};
        for breach in [LosesOne, CompletesTwice, ReturnsEarly, EndsInTheFuture, Forgets, HidesWhatIsNext] {
            assert!(std::panic::catch_unwind(|| all(|| drive(breach))).is_err());
        }
    }

    #[test]
    fn a_drive_that_wavers_is_caught() {
        let mut service = 1_000;
        let mut wavering = || {
            service += 1;
            Memory::new(1 << 20, Nanos(service), 3)
        };
        let caught =
            std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| repeats_itself(&mut wavering, 1, 100)));
        assert!(caught.is_err());
    }
}
