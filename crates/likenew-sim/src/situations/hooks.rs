//! Situations that delay I/Os in front of a mechanism: encryption, a damaged link, power saving, a volume
//! restored from a snapshot.

use std::collections::BTreeMap;

use likenew_core::io::{Completion, DataClass, Io, Op, Outcome, Slot};
use likenew_core::units::Nanos;
use rand::{RngExt as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::{Deserialize, Serialize};

use crate::device::{Device, NO_IO, SelfCounts, SnapshotError, earlier, grow, to_bytes};
use crate::timeline::{EventQueue, Timeline, transfer_time};

/// How a layer delays I/Os. Calls come in order of time.
pub(crate) trait IoHook: Send {
    /// When to pass on an I/O that arrives at `now`.
    fn delay_before(&mut self, io: &Io, now: Nanos) -> Nanos;

    /// When an I/O that the mechanism ended at `now` ends for the host.
    fn delay_after(&mut self, _io: &Io, now: Nanos) -> Nanos {
        now
    }

    /// The I/O that the mechanism gets instead: the same bytes at the same place, perhaps with another data class.
    fn lower(&self, io: Io) -> Io {
        io
    }

    /// The mechanism's counters, plus the layer's.
    fn counts(&self, below: SelfCounts) -> SelfCounts {
        below
    }

    /// Wraps the mechanism's saved state in that of the layer.
    fn save(&self, inner: Vec<u8>) -> Vec<u8> {
        inner
    }
}

enum Event {
    /// The I/O in this slot is passed on.
    Begin(u32),
    /// The I/O in this slot ends.
    End(u32, Outcome),
}

/// A mechanism with a delaying layer in front.
pub(crate) struct HookedDevice<H> {
    hook: H,
    inner: Box<dyn Device>,
    inner_done: Vec<Completion>,
    events: EventQueue<Event>,
    /// By slot.
    ios: Vec<Io>,
}

impl<H: IoHook> HookedDevice<H> {
    pub(crate) fn new(hook: H, inner: Box<dyn Device>) -> Self {
        Self { hook, inner, inner_done: Vec::new(), events: EventQueue::new(), ios: Vec::new() }
    }

    fn begin(&mut self, slot: u32, now: Nanos) {
        let io = self.hook.lower(self.ios[slot as usize]);
        self.inner.accept(&io, now);
    }

    fn step_inner(&mut self, done: &mut Vec<Completion>) {
        let mut ended = std::mem::take(&mut self.inner_done);
        self.inner.step(&mut ended);
        for Completion { slot, at, outcome } in ended.drain(..) {
            let until = self.hook.delay_after(&self.ios[slot.index()], at);
            if until > at {
                self.events.push(until, Event::End(slot.0, outcome));
            } else {
                done.push(Completion { slot, at, outcome });
            }
        }
        self.inner_done = ended;
    }
}

impl<H: IoHook> Device for HookedDevice<H> {
    fn inside(&self) -> Option<&dyn Device> {
        Some(&*self.inner)
    }

    fn inside_mut(&mut self) -> Option<&mut dyn Device> {
        Some(&mut *self.inner)
    }

    fn announce_slots(&mut self, count: u32) {
        self.inner.announce_slots(count);
        grow(&mut self.ios, count, NO_IO);
    }

    fn accept(&mut self, io: &Io, now: Nanos) {
        self.ios[io.slot.index()] = *io;
        let at = self.hook.delay_before(io, now);
        if at > now {
            self.events.push(at, Event::Begin(io.slot.0));
        } else {
            self.begin(io.slot.0, now);
        }
    }

    fn next_at(&self) -> Option<Nanos> {
        earlier(self.inner.next_at(), self.events.next_at())
    }

    fn step(&mut self, done: &mut Vec<Completion>) {
        let next = self.next_at().expect("a drive steps only when something is to happen");
        if self.inner.next_at() == Some(next) {
            return self.step_inner(done);
        }
        match self.events.pop().expect("it is one of the two") {
            (now, Event::Begin(slot)) => self.begin(slot, now),
            (at, Event::End(slot, outcome)) => done.push(Completion { slot: Slot(slot), at, outcome }),
        }
    }

    fn self_counts(&self, now: Nanos) -> SelfCounts {
        self.hook.counts(self.inner.self_counts(now))
    }

    fn save(&self, now: Nanos) -> Vec<u8> {
        self.hook.save(self.inner.save(now))
    }
}

// Encryption above the drive, like dm-crypt: writes are encrypted before the drive gets them, and reads
// decrypted after it has answered.
//
// One core does it in order of arrival (assumed: one key and one queue, on a system without other load). Each
// I/O also waits for a work queue. Korchagin ("Speeding up Linux disk encryption", Cloudflare, 2020) found
// that such queues cost more than the cipher and halved the throughput of an SSD. Encrypted data no longer
// compresses.

/// Default time for an I/O to pass through a work queue (assumed: two wake-ups of a thread).
pub(crate) const HAND_OVER: Nanos = Nanos::from_micros(40);

/// How fast data is encrypted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CryptParameters {
    /// Rate for reads and writes together, in bytes per second.
    pub bytes_per_s: u64,
    /// How long each I/O waits for its work queue.
    pub hand_over: Nanos,
}

pub(crate) struct Crypt {
    parameters: CryptParameters,
    processor: Timeline,
    /// CPU time so far.
    cpu_time: Nanos,
}

impl Crypt {
    pub(crate) fn new(parameters: CryptParameters) -> Self {
        Self { parameters, processor: Timeline::default(), cpu_time: Nanos::ZERO }
    }

    fn work(&mut self, io: &Io, now: Nanos) -> Nanos {
        let span = transfer_time(io.length.into(), self.parameters.bytes_per_s);
        self.cpu_time += span;
        self.processor.reserve(now + self.parameters.hand_over, span)
    }
}

impl IoHook for Crypt {
    fn delay_before(&mut self, io: &Io, now: Nanos) -> Nanos {
        if io.op == Op::Write { self.work(io, now) } else { now }
    }

    fn delay_after(&mut self, io: &Io, now: Nanos) -> Nanos {
        if io.op == Op::Read { self.work(io, now) } else { now }
    }

    fn counts(&self, below: SelfCounts) -> SelfCounts {
        SelfCounts { kernel: Some(below.kernel.unwrap_or_default() + self.cpu_time), ..below }
    }

    fn lower(&self, io: Io) -> Io {
        let data = match io.data {
            DataClass::Zero | DataClass::Ratio(_) => DataClass::Random,
            DataClass::Random | DataClass::Stamped(_) => io.data,
        };
        Io { data, ..io }
    }
}

// A cable or contact that damages data: one command out of many ends with a checksum error, the link is
// reset, and the command is sent again.
//
// On SATA and USB, this is the host's error handling: Linux resets the link, waits until it is up and stable,
// and restarts all commands (libata's `ata_eh_recover`; debouncing alone takes 100 ms). PCI Express repeats a
// packet by itself within microseconds, which nobody notices.

/// From the checksum error until commands are sent again (assumed: the shortest time in kernel logs between
/// "hard resetting link" and "EH complete").
const RESET: Nanos = Nanos::from_millis(300);
/// All such links fail at the same commands.
const SEED: u64 = 3;

pub(crate) struct DamagedLink {
    every_ios: u64,
    random: Xoshiro256PlusPlus,
    /// When the link is up again after a reset.
    up_at: Nanos,
    errors: u64,
}

impl DamagedLink {
    pub(crate) fn new(every_ios: u64) -> Self {
        let random = Xoshiro256PlusPlus::seed_from_u64(SEED);
        Self { every_ios, random, up_at: Nanos::ZERO, errors: 0 }
    }
}

impl IoHook for DamagedLink {
    fn delay_before(&mut self, _io: &Io, now: Nanos) -> Nanos {
        let begins = now.max(self.up_at);
        if self.random.random_range(0..self.every_ios) == 0 {
            self.errors += 1;
            self.up_at = begins + RESET;
        }
        now.max(self.up_at)
    }

    fn delay_after(&mut self, _io: &Io, now: Nanos) -> Nanos {
        now.max(self.up_at)
    }

    fn counts(&self, below: SelfCounts) -> SelfCounts {
        SelfCounts { link_errors: below.link_errors + self.errors, ..below }
    }
}

// Power saving: a drive or its link sleeps after some idle time, and the next I/O waits for it to wake up.
//
// PCI Express links sleep after tens of microseconds (ASPM), NVMe drives after 100 ms with Linux's setup
// (APST: `nvme_core.apst_primary_timeout_ms`), and disks after minutes.

/// Default idle time before sleep (assumed: the order of magnitude of an ASPM idle timer).
pub(crate) const SLEEP_AFTER: Nanos = Nanos::from_micros(100);

/// Power saving of a drive or link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WakeParameters {
    /// Wake-up time.
    pub time: Nanos,
    /// Idle time before sleep.
    pub after: Nanos,
}

/// A drive that sleeps, over time.
pub(crate) struct Wake {
    parameters: WakeParameters,
    in_flight: u32,
    quiet_since: Nanos,
    /// When the last wake-up ends.
    awake_at: Nanos,
}

impl Wake {
    pub(crate) fn new(parameters: WakeParameters) -> Self {
        Self { parameters, in_flight: 0, quiet_since: Nanos::ZERO, awake_at: Nanos::ZERO }
    }
}

impl IoHook for Wake {
    fn delay_before(&mut self, _io: &Io, now: Nanos) -> Nanos {
        if self.in_flight == 0 && now.since(self.quiet_since) >= self.parameters.after {
            self.awake_at = now + self.parameters.time;
        }
        self.in_flight += 1;
        now.max(self.awake_at)
    }

    fn delay_after(&mut self, _io: &Io, now: Nanos) -> Nanos {
        self.in_flight -= 1;
        self.quiet_since = now;
        now
    }
}

// A volume restored from a snapshot: each chunk is fetched from the snapshot store when first touched.
//
// "Storage blocks must be downloaded from Amazon S3 and written to the volume before you can access them",
// which costs latency "the first time each block is accessed" (Amazon EBS User Guide, initialize volumes). A
// chunk has 512 KiB, as in snapshots (EBS direct APIs). It takes 30 ms (assumed), and all chunks share 100
// MiB a second (the lowest rate that EBS sells for this). Writes of whole chunks do not wait.

/// Bytes fetched at a time.
pub const CHUNK_BYTES: u64 = 512 << 10;
/// Time until a chunk arrives from the store. Assumed.
const LATENCY: Nanos = Nanos::from_millis(30);
/// Rate in bytes per second that all chunks share: the lowest that Amazon sells for EBS.
const BYTES_PER_S: u64 = 100 << 20;

/// Which chunks have been fetched, and the store.
pub(crate) struct SnapshotRestore {
    /// When each touched chunk is present.
    present: BTreeMap<u64, Nanos>,
    store: Timeline,
}

/// The saved state: the chunks that are present, and the volume.
#[derive(Serialize, Deserialize)]
pub(crate) struct SavedState {
    present: Vec<u64>,
    pub(crate) inner: Vec<u8>,
}

impl SnapshotRestore {
    /// A volume that was just restored, or was saved.
    pub(crate) fn new(saved: Option<&SavedState>) -> Self {
        let there = saved.map_or(&[][..], |saved| &saved.present).iter().map(|chunk| (*chunk, Nanos::ZERO));
        Self { present: there.collect(), store: Timeline::default() }
    }

    /// Reads the [saved](IoHook::save) state.
    ///
    /// # Errors
    /// The bytes are not the state of such a volume.
    pub(crate) fn unpack(state: &[u8]) -> Result<SavedState, SnapshotError> {
        Ok(postcard::from_bytes(state)?)
    }

    fn fetch(&mut self, chunk: u64, now: Nanos) -> Nanos {
        let store = &mut self.store;
        let fetched = || store.reserve(now, transfer_time(CHUNK_BYTES, BYTES_PER_S)) + LATENCY;
        *self.present.entry(chunk).or_insert_with(fetched)
    }
}

impl IoHook for SnapshotRestore {
    fn delay_before(&mut self, io: &Io, now: Nanos) -> Nanos {
        if !matches!(io.op, Op::Read | Op::Write) {
            return now;
        }
        let end = io.offset + u64::from(io.length);
        let chunks = io.offset / CHUNK_BYTES..end.div_ceil(CHUNK_BYTES);
        chunks.fold(now, |ready, chunk| {
            let covers = io.offset <= chunk * CHUNK_BYTES && end >= (chunk + 1) * CHUNK_BYTES;
            if io.op == Op::Write && covers {
                self.present.entry(chunk).or_insert(now);
                return ready;
            }
            ready.max(self.fetch(chunk, now))
        })
    }

    fn save(&self, inner: Vec<u8>) -> Vec<u8> {
        to_bytes(&SavedState { present: self.present.keys().copied().collect(), inner })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    mod crypt {
        use super::*;
        use likenew_core::io::Slot;

        #[test]
        fn reads_and_writes_share_one_processor() {
            let parameters = CryptParameters { bytes_per_s: 100_000_000, hand_over: Nanos::from_micros(30) };
            let mut crypt = Crypt::new(parameters);
            let io =
                |op| Io { slot: Slot(0), op, offset: 0, length: 4096, data: DataClass::Zero, sync: None };
            // 4 KiB take 40.96 µs.
            assert_eq!(crypt.delay_before(&io(Op::Write), Nanos(0)), Nanos(70_960));
            assert_eq!(crypt.delay_after(&io(Op::Read), Nanos(10_000)), Nanos(111_920));
            assert_eq!(
                crypt.delay_before(&io(Op::Read), Nanos(10_000)),
                Nanos(10_000),
                "it is encrypted still"
            );
            assert_eq!(crypt.delay_after(&io(Op::Write), Nanos(10_000)), Nanos(10_000));
            assert_eq!(crypt.delay_before(&io(Op::Flush), Nanos(10_000)), Nanos(10_000));
            assert_eq!(crypt.counts(SelfCounts::default()).kernel, Some(Nanos(81_920)));
            assert_eq!(crypt.lower(io(Op::Write)).data, DataClass::Random);
        }
    }

    mod damaged_link {
        use super::*;
        use crate::device::NO_IO;

        #[test]
        fn everybody_waits_for_the_reset_and_it_is_counted() {
            let mut always = DamagedLink::new(1);
            assert_eq!(always.delay_before(&NO_IO, Nanos(5)), RESET + Nanos(5));
            assert_eq!(
                always.delay_after(&NO_IO, Nanos(7)),
                RESET + Nanos(5),
                "what was in flight is lost, too"
            );
            assert_eq!(always.delay_before(&NO_IO, Nanos(9)), RESET + RESET + Nanos(5));
            assert_eq!(always.counts(SelfCounts::default()).link_errors, 2);
            let mut seldom = DamagedLink::new(100);
            let waits = (0..10_000_u64).filter(|second| {
                let now = Nanos::from_secs(*second);
                seldom.delay_before(&NO_IO, now) > now
            });
            let count = waits.count() as u64;
            assert!((70..130).contains(&count), "{count} of 10 000");
            assert_eq!(seldom.counts(SelfCounts::default()).link_errors, count);
        }
    }

    mod wake {
        use super::*;
        use crate::device::NO_IO;

        #[test]
        fn only_who_finds_it_asleep_waits() {
            let mut wake = Wake::new(WakeParameters { time: Nanos(500), after: Nanos(100) });
            assert_eq!(wake.delay_before(&NO_IO, Nanos(99)), Nanos(99), "it was awake until then");
            assert_eq!(wake.delay_after(&NO_IO, Nanos(200)), Nanos(200));
            assert_eq!(wake.delay_before(&NO_IO, Nanos(299)), Nanos(299));
            wake.delay_after(&NO_IO, Nanos(400));
            assert_eq!(wake.delay_before(&NO_IO, Nanos(500)), Nanos(1000));
            assert_eq!(
                wake.delay_before(&NO_IO, Nanos(600)),
                Nanos(1000),
                "who comes meanwhile waits for the same"
            );
            wake.delay_after(&NO_IO, Nanos(1100));
            assert_eq!(wake.delay_before(&NO_IO, Nanos(1300)), Nanos(1300), "it never rested");
        }
    }

    mod snapshot_restore {
        use super::*;
        use likenew_core::io::{DataClass, Slot};

        fn io(op: Op, offset: u64, length: u64) -> Io {
            Io { slot: Slot(0), op, offset, length: length as u32, data: DataClass::Random, sync: None }
        }

        #[test]
        fn only_the_first_touch_of_a_chunk_waits() {
            let mut volume = SnapshotRestore::new(None);
            let first = volume.delay_before(&io(Op::Read, 4096, 4096), Nanos::ZERO);
            assert_eq!(first, Nanos::from_millis(35), "5 ms of the store's rate");
            let meanwhile = Nanos::from_millis(1);
            assert_eq!(volume.delay_before(&io(Op::Read, 8192, 4096), meanwhile), first);
            assert_eq!(
                volume.delay_before(&io(Op::Write, CHUNK_BYTES, 4096), meanwhile),
                Nanos::from_millis(40)
            );
            let late = Nanos::from_secs(1);
            assert_eq!(volume.delay_before(&io(Op::Read, 0, 2 * CHUNK_BYTES), late), late);
        }

        #[test]
        fn a_chunk_that_is_written_whole_is_never_fetched() {
            let mut volume = SnapshotRestore::new(None);
            let whole = io(Op::Write, 0, 2 * CHUNK_BYTES);
            assert_eq!(volume.delay_before(&whole, Nanos(7)), Nanos(7));
            assert_eq!(volume.delay_before(&io(Op::Read, CHUNK_BYTES, 4096), Nanos(8)), Nanos(8));
            let saved = SnapshotRestore::unpack(&volume.save(vec![1, 2])).unwrap();
            assert_eq!(saved.inner, [1, 2]);
            let mut again = SnapshotRestore::new(Some(&saved));
            assert_eq!(again.delay_before(&io(Op::Read, 0, 4096), Nanos(9)), Nanos(9));
            assert!(again.delay_before(&io(Op::Read, 3 * CHUNK_BYTES, 4096), Nanos(9)) > Nanos(9));
        }
    }
}
