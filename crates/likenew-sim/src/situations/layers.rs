//! Situations that are layers in front of a mechanism: delays (encryption, a damaged link, power saving, a volume
//! restored from a snapshot), a hidden read cache, and remapped addresses.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::ops::Range;

use likenew_core::io::{Completion, DataClass, Io, Op, Outcome, Slot};
use likenew_core::units::Nanos;
use lru::LruCache;
use rand::{RngExt as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;
use rustc_hash::FxBuildHasher;

use crate::device::{Device, NO_IO, SavedLayer, SelfCounts, grow, to_bytes, wraps};
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
    events: EventQueue<Event>,
    /// By slot.
    ios: Vec<Io>,
}

impl<H: IoHook> HookedDevice<H> {
    pub(crate) fn new(hook: H, inner: Box<dyn Device>) -> Self {
        Self { hook, inner, events: EventQueue::new(), ios: Vec::new() }
    }

    fn begin(&mut self, slot: u32, now: Nanos) {
        let io = self.hook.lower(self.ios[slot as usize]);
        self.inner.accept(&io, now);
    }
}

impl<H: IoHook> Device for HookedDevice<H> {
    wraps!(inner);

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

    fn own_next_at(&self) -> Option<Nanos> {
        self.events.next_at()
    }

    fn own_step(&mut self) -> Option<Completion> {
        match self.events.pop()? {
            (at, Event::End(slot, outcome)) => Some(Completion { slot: Slot(slot), at, outcome }),
            (now, Event::Begin(slot)) => {
                self.begin(slot, now);
                None
            }
        }
    }

    fn pass_on(&mut self, completion: Completion) -> Option<Completion> {
        let Completion { slot, at, outcome } = completion;
        let until = self.hook.delay_after(&self.ios[slot.index()], at);
        if until > at {
            self.events.push(until, Event::End(slot.0, outcome));
            return None;
        }
        Some(completion)
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

impl SnapshotRestore {
    /// A volume that was just restored, or one with chunks that were there when it was saved.
    pub(crate) fn new(saved: Option<&[u64]>) -> Self {
        let there = saved.unwrap_or_default().iter().map(|chunk| (*chunk, Nanos::ZERO));
        Self { present: there.collect(), store: Timeline::default() }
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
        to_bytes(&SavedLayer { layer: self.present.keys().copied().collect::<Vec<_>>(), inner })
    }
}

// A hidden read cache in front of a drive, such as a hypervisor's page cache or an array controller's. It answers
// reads of what was read or written before; writes also go to the drive at once.
//
// The cache has lines of 64 KiB and drops the least recently used. Only I/Os that cover a line bring it in, and only
// reads whose lines are all present are answered. One core copies 6 GB/s, 20 µs after the request (assumed: a request
// through virtio and back, and memcpy). A drive that keeps data answers all reads itself.

/// Bytes per line, and the smallest cache.
pub(crate) const LINE_BYTES: u64 = 64 << 10;
/// Copy rate of one core in bytes per second. Assumed.
const COPIED_BYTES_PER_S: u64 = 6_000_000_000;
/// Latency of a hit before the copy. Assumed: a request through virtio and back.
const HIT_TIME: Nanos = Nanos::from_micros(20);

/// A read cache, and the mechanism behind it.
pub(crate) struct ReadCache {
    inner: Box<dyn Device>,
    lines: LruCache<u64, (), FxBuildHasher>,
    core: Timeline,
    answers: EventQueue<u32>,
    /// By slot.
    ios: Vec<Io>,
}

impl ReadCache {
    /// An empty cache of `bytes`.
    pub(crate) fn new(bytes: u64, inner: Box<dyn Device>) -> Self {
        let lines = NonZeroUsize::new((bytes / LINE_BYTES).max(1) as usize).expect("one line at least");
        let lines = LruCache::with_hasher(lines, FxBuildHasher);
        Self { inner, lines, core: Timeline::default(), answers: EventQueue::new(), ios: Vec::new() }
    }

    fn has(&mut self, touched: Range<u64>) -> bool {
        // Mark all lines as used, even if one is missing.
        let missing = touched.filter(|line| self.lines.get(line).is_none());
        missing.count() == 0
    }

    fn keep(&mut self, io: &Io) {
        let filled = io.offset.div_ceil(LINE_BYTES)..end(io) / LINE_BYTES;
        for line in filled {
            self.lines.put(line, ());
        }
    }
}

fn end(io: &Io) -> u64 {
    io.offset + u64::from(io.length)
}

fn touched_lines(io: &Io) -> Range<u64> {
    io.offset / LINE_BYTES..end(io).div_ceil(LINE_BYTES)
}

impl Device for ReadCache {
    wraps!(inner);

    fn announce_slots(&mut self, count: u32) {
        self.inner.announce_slots(count);
        grow(&mut self.ios, count, NO_IO);
    }

    fn accept(&mut self, io: &Io, now: Nanos) {
        self.ios[io.slot.index()] = *io;
        match io.op {
            Op::Read if !self.inner.brings_bytes(io) && self.has(touched_lines(io)) => {
                let copied = transfer_time(io.length.into(), COPIED_BYTES_PER_S);
                self.answers.push(self.core.reserve(now + HIT_TIME, copied), io.slot.0);
                return;
            }
            Op::Write => self.keep(io),
            Op::Trim => touched_lines(io).for_each(|line| {
                self.lines.pop(&line);
            }),
            Op::Read | Op::Flush => {}
        }
        self.inner.accept(io, now);
    }

    fn own_next_at(&self) -> Option<Nanos> {
        self.answers.next_at()
    }

    fn own_step(&mut self) -> Option<Completion> {
        let (at, slot) = self.answers.pop()?;
        Some(Completion { slot: Slot(slot), at, outcome: Outcome::Done })
    }

    fn pass_on(&mut self, completion: Completion) -> Option<Completion> {
        let io = self.ios[completion.slot.index()];
        if io.op == Op::Read && completion.outcome == Outcome::Done {
            self.keep(&io);
        }
        Some(completion)
    }
}

// Host addresses as drive addresses, for a misaligned partition or a fragmented file.

/// A host I/O in parts.
#[derive(Clone, Copy)]
struct Request {
    io: Io,
    parts_left: u32,
    outcome: Outcome,
}

/// A part of a host I/O, by its own slot at the mechanism.
#[derive(Clone, Copy)]
struct Part {
    /// Slot of the host's I/O.
    parent: u32,
    /// Bytes of the host's I/O before this part.
    from: u32,
    io: Io,
}

/// A mechanism with remapped addresses.
pub(crate) struct RemappedDevice {
    places: AddressRemap,
    inner: Box<dyn Device>,
    /// By slot.
    requests: Vec<Request>,
    parts: Vec<Part>,
    free: Vec<u32>,
    /// Buffers of the host's I/Os, by slot, if the mechanism keeps data.
    data: Vec<Vec<u8>>,
}

impl RemappedDevice {
    pub(crate) fn new(places: AddressRemap, inner: Box<dyn Device>) -> Self {
        Self { places, inner, requests: Vec::new(), parts: Vec::new(), free: Vec::new(), data: Vec::new() }
    }

    fn free_slot(&mut self) -> u32 {
        if let Some(slot) = self.free.pop() {
            return slot;
        }
        let slot = u32::try_from(self.parts.len()).expect("parts in flight fit 32 bits");
        self.parts.push(Part { parent: 0, from: 0, io: NO_IO });
        self.inner.announce_slots(slot + 1);
        slot
    }

    fn send(&mut self, part: Part, now: Nanos) {
        let Part { parent, from, io } = part;
        self.parts[io.slot.index()] = part;
        // A read's buffer has the same position.
        if self.inner.brings_bytes(&io) {
            let bytes = &self.data[parent as usize][from as usize..(from + io.length) as usize];
            let below = self.inner.data(io.slot);
            below.clear();
            below.extend_from_slice(bytes);
        }
        self.inner.accept(&io, now);
    }
}

impl Device for RemappedDevice {
    wraps!(inner);

    fn announce_slots(&mut self, count: u32) {
        grow(&mut self.requests, count, Request { io: NO_IO, parts_left: 0, outcome: Outcome::Done });
        grow(&mut self.data, count, Vec::new());
    }

    fn accept(&mut self, io: &Io, now: Nanos) {
        let parent = io.slot.0;
        let mut parts = Vec::new();
        let mut from = 0;
        loop {
            let left = io.length - from;
            let (offset, length) = match left {
                0 => (io.offset, 0),
                _ => self.places.locate(io.offset + u64::from(from), left.into()),
            };
            let slot = Slot(self.free_slot());
            let length = u32::try_from(length).expect("a part is no longer than its whole");
            parts.push(Part { parent, from, io: Io { slot, offset, length, ..*io } });
            from += length;
            if from == io.length {
                break;
            }
        }
        let parts_left = u32::try_from(parts.len()).expect("no more parts than bytes");
        self.requests[io.slot.index()] = Request { io: *io, parts_left, outcome: Outcome::Done };
        parts.into_iter().for_each(|part| self.send(part, now));
    }

    fn pass_on(&mut self, Completion { slot, at, outcome }: Completion) -> Option<Completion> {
        let Part { parent, from, io } = self.parts[slot.index()];
        self.free.push(slot.0);
        if io.op == Op::Read && self.inner.brings_bytes(&io) {
            let bytes = self.inner.data(slot);
            self.data[parent as usize][from as usize..from as usize + bytes.len()].copy_from_slice(bytes);
        }
        let request = &mut self.requests[parent as usize];
        if request.outcome == Outcome::Done {
            request.outcome = outcome;
        }
        request.parts_left -= 1;
        let Request { io, parts_left, outcome } = *request;
        (parts_left == 0).then_some(Completion { slot: io.slot, at, outcome })
    }

    fn data(&mut self, slot: Slot) -> &mut Vec<u8> {
        &mut self.data[slot.index()]
    }
}

/// Rounds of the permutation. Four make it pseudorandom (Luby and Rackoff, "How to Construct Pseudorandom
/// Permutations from Pseudorandom Functions", SIAM Journal on Computing 17(2), 1988).
const ROUNDS: u64 = 4;

/// How addresses are remapped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AddressRemap {
    /// All addresses move by the same offset; those beyond the end of the drive wrap around.
    Shifted {
        /// Bytes of the drive.
        capacity: u64,
        /// The offset in bytes, less than `capacity`.
        by: u64,
    },
    /// Pieces of equal size are permuted, in the same way on all drives; the rest at the end stays in place.
    Pieces {
        /// Bytes of the drive.
        capacity: u64,
        /// Bytes per piece.
        piece: u64,
    },
}

impl AddressRemap {
    /// Where an address goes, and how many of the `length` bytes from there are contiguous.
    pub(crate) fn locate(&self, address: u64, length: u64) -> (u64, u64) {
        match *self {
            Self::Shifted { capacity, by } => {
                let place = (address + by) % capacity;
                (place, length.min(capacity - place))
            }
            Self::Pieces { capacity, piece } => {
                let (pieces, index, within) = (capacity / piece, address / piece, address % piece);
                if index == pieces {
                    return (address, length);
                }
                (permute(index, pieces) * piece + within, length.min(piece - within))
            }
        }
    }
}

/// The image of `index` in a fixed permutation of `0 .. count`: a Feistel network over a power of four,
/// iterated until its result lies in the range.
fn permute(index: u64, count: u64) -> u64 {
    let half_bits = count.next_power_of_two().trailing_zeros().div_ceil(2).max(1);
    let mask = (1u64 << half_bits) - 1;
    let mut at = index;
    loop {
        let (mut left, mut right) = (at >> half_bits, at & mask);
        for round in 0..ROUNDS {
            (left, right) = (right, left ^ (mix_bits(right ^ (round << 32)) & mask));
        }
        at = left << half_bits | right;
        if at < count {
            return at;
        }
    }
}

/// SplitMix64's mixing function (Steele, Lea and Flood, OOPSLA 2014).
fn mix_bits(value: u64) -> u64 {
    let value = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
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
            let saved = SavedLayer::<Vec<u64>>::unpack(&volume.save(vec![1, 2])).unwrap();
            assert_eq!(saved.inner, [1, 2]);
            let mut again = SnapshotRestore::new(Some(&saved.layer));
            assert_eq!(again.delay_before(&io(Op::Read, 0, 4096), Nanos(9)), Nanos(9));
            assert!(again.delay_before(&io(Op::Read, 3 * CHUNK_BYTES, 4096), Nanos(9)) > Nanos(9));
        }
    }

    mod remap {
        use super::*;

        #[test]
        fn a_permutation_reaches_every_place_once_and_far_away() {
            for count in [1, 2, 3, 64, 1000, 4097] {
                let mut places: Vec<u64> = (0..count).map(|index| permute(index, count)).collect();
                let steps = places.windows(2).filter(|pair| pair[0].abs_diff(pair[1]) > count / 10).count();
                assert!(count < 1000 || steps as u64 > count * 7 / 10, "{count}: {steps}");
                places.sort_unstable();
                assert!(places.into_iter().eq(0..count), "{count}");
            }
        }

        #[test]
        fn what_lies_behind_one_another_stays_so_up_to_the_end_of_a_piece() {
            let pieces = AddressRemap::Pieces { capacity: 10_500, piece: 1000 };
            let (place, length) = pieces.locate(3200, 5000);
            assert_eq!((place % 1000, length), (200, 800));
            assert_eq!(pieces.locate(3900, 50), (place + 700, 50));
            assert_eq!(pieces.locate(10_100, 400), (10_100, 400), "the rest stays");
            let shifted = AddressRemap::Shifted { capacity: 10_000, by: 512 };
            assert_eq!(shifted.locate(0, 4096), (512, 4096));
            assert_eq!(shifted.locate(9000, 1000), (9512, 488));
            assert_eq!(shifted.locate(9488, 512), (0, 512));
        }
    }
}
