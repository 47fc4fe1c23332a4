//! A network volume: link, credits, throughput limit and store, put together.
//!
//! A command waits for one of the volume's slots. The data of a write crosses the link first; then the I/O
//! waits for credits, then for its turn under the throughput limit, and then the store answers after a
//! latency drawn for each I/O from a log-normal distribution, side by side with all others. The data of a
//! read crosses the link last. What is acknowledged is durable, so that a flush is one empty round trip,
//! which costs nothing.

use std::collections::VecDeque;

use likenew_core::flash_counters::FlashCounters;
use likenew_core::io::{Completion, Io, Op, Outcome, Slot};
use likenew_core::units::Nanos;
use rand::SeedableRng as _;
use rand_distr::{Distribution as _, LogNormal};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::{Deserialize, Serialize};

use super::credit_bucket::CreditBucket;
use super::io_counter::IoCounter;
use super::volume_parameters::VolumeParameters;
use crate::device::{Device, NO_IO, SelfCounts, flash_counters};
use crate::event_queue::EventQueue;
use crate::host_link::HostLink;
use crate::plain_contents::{PlainContents, Sectors};
use crate::snapshot_error::SnapshotError;
use crate::timeline::{Timeline, transfer_time};

/// The union of spans that begin one after the other.
#[derive(Clone, Copy, Default)]
struct SpanUnion {
    until: Nanos,
    sum: Nanos,
}

impl SpanUnion {
    fn add(&mut self, from: Nanos, until: Nanos) {
        self.sum += until.since(from.max(self.until));
        self.until = self.until.max(until);
    }
}

/// The other customers' I/O is the same for all volumes.
const SEED: u64 = 1;

#[derive(Clone, Copy)]
enum Event {
    /// The I/O in this slot, with its data if it is a write, has arrived.
    Arrived(u32),
    /// The store has answered.
    Answered(u32),
    /// The I/O in this slot ends.
    Complete(u32),
}

/// The volume.
pub(crate) struct NetworkVolume {
    parameters: VolumeParameters,
    events: EventQueue<Event>,
    link: HostLink,
    bucket: CreditBucket,
    counter: IoCounter,
    throughput: Timeline,
    latency: LogNormal<f64>,
    random: Xoshiro256PlusPlus,
    /// By slot.
    ios: Vec<Io>,
    /// In the host, waiting for one of the volume's slots.
    waiting: VecDeque<u32>,
    slots_used: u32,
    host_bytes_written: u64,
    /// How long I/Os were held back for want of credits, and by the throughput limit: the union of their waits.
    exceeded: (SpanUnion, SpanUnion),
    sector_bytes: u32,
    contents: Option<PlainContents>,
}

/// What a volume that is saved holds.
#[derive(Deserialize)]
struct SavedState {
    credits: u128,
    contents: Option<Sectors>,
}

/// The same, to be written.
#[derive(Serialize)]
struct SavedStateRef<'a> {
    credits: u128,
    contents: Option<&'a Sectors>,
}

impl NetworkVolume {
    /// A volume whose bucket is full or empty; its parameters have been checked.
    pub(crate) fn new(parameters: VolumeParameters, full: bool, sector_bytes: u32) -> Self {
        let latency = LogNormal::new((parameters.latency.median.0 as f64).ln(), parameters.latency.sigma());
        Self {
            events: EventQueue::new(),
            link: HostLink::new(parameters.link),
            bucket: CreditBucket::new(parameters.credits, full),
            counter: IoCounter::new(parameters.counting),
            throughput: Timeline::default(),
            latency: latency.expect("the spread is finite"),
            random: Xoshiro256PlusPlus::seed_from_u64(SEED),
            ios: Vec::new(),
            waiting: VecDeque::new(),
            slots_used: 0,
            host_bytes_written: 0,
            exceeded: (SpanUnion::default(), SpanUnion::default()),
            sector_bytes,
            contents: None,
            parameters,
        }
    }

    /// A volume as it was when it was [saved](Device::save).
    ///
    /// # Errors
    /// These bytes are not such a volume.
    pub(crate) fn restore(
        parameters: VolumeParameters,
        sector_bytes: u32,
        state: &[u8],
    ) -> Result<Self, SnapshotError> {
        let saved: SavedState = postcard::from_bytes(state)?;
        let mut volume = Self::new(parameters, true, sector_bytes);
        volume.bucket = CreditBucket::with_level(parameters.credits, saved.credits);
        if let Some(sectors) = saved.contents {
            volume.keep_data();
            volume.contents.as_mut().expect("it keeps bytes").restore(sectors);
        }
        Ok(volume)
    }

    fn begin(&mut self, slot: u32, now: Nanos) {
        self.slots_used += 1;
        let io = &self.ios[slot as usize];
        let at = match io.op {
            Op::Write => self.link.send_to_drive(now, u64::from(io.length)),
            Op::Read | Op::Trim | Op::Flush => now,
        };
        self.events.push(at, Event::Arrived(slot));
    }

    fn arrive(&mut self, slot: u32, now: Nanos) {
        let io = self.ios[slot as usize];
        let served = match io.op {
            Op::Read | Op::Write => {
                let ios = self.counter.count(&io);
                let admitted = self.bucket.admit(now, ios);
                let span = transfer_time(u64::from(io.length), self.parameters.bytes_per_s);
                let passed = self.throughput.reserve(admitted, span);
                self.exceeded.0.add(now, admitted);
                self.exceeded.1.add(admitted, passed.since(span));
                passed
            }
            Op::Trim if self.parameters.trims => self.bucket.admit(now, 1),
            Op::Trim | Op::Flush => now,
        };
        let latency = Nanos(self.latency.sample(&mut self.random).round() as u64);
        self.events.push(served + latency, Event::Answered(slot));
    }

    fn answer(&mut self, slot: u32, now: Nanos) {
        let io = &self.ios[slot as usize];
        let at = match io.op {
            Op::Read => self.link.send_to_host(now, u64::from(io.length)),
            Op::Write | Op::Trim | Op::Flush => now,
        };
        self.events.push(at, Event::Complete(slot));
    }
}

impl Device for NetworkVolume {
    fn announce_slots(&mut self, count: u32) {
        let count = self.ios.len().max(count as usize);
        self.ios.resize(count, NO_IO);
    }

    fn accept(&mut self, io: &Io, now: Nanos) {
        self.ios[io.slot.index()] = *io;
        if let Some(contents) = &mut self.contents {
            contents.serve(io);
        }
        if io.op == Op::Write {
            self.host_bytes_written += u64::from(io.length);
        }
        if self.slots_used < self.link.command_slots() {
            self.begin(io.slot.0, now);
        } else {
            self.waiting.push_back(io.slot.0);
        }
    }

    fn next_at(&self) -> Option<Nanos> {
        self.events.next_at()
    }

    fn step(&mut self, done: &mut Vec<Completion>) {
        let (now, event) = self.events.pop().expect("a volume steps only when something is to happen");
        match event {
            Event::Arrived(slot) => self.arrive(slot, now),
            Event::Answered(slot) => self.answer(slot, now),
            Event::Complete(slot) => {
                done.push(Completion { slot: Slot(slot), at: now, outcome: Outcome::Done });
                self.slots_used -= 1;
                if let Some(next) = self.waiting.pop_front() {
                    self.begin(next, now);
                }
            }
        }
    }

    fn keeps_data(&self) -> bool {
        self.contents.is_some()
    }

    fn keep_data(&mut self) {
        self.contents = Some(PlainContents::new(self.sector_bytes));
    }

    fn data(&mut self, slot: Slot) -> &mut Vec<u8> {
        self.contents.as_mut().expect("the volume was asked to keep data").request(slot)
    }

    /// What was acknowledged is in the store.
    fn settle(&mut self, now: Nanos) -> Nanos {
        now
    }

    fn save(&self, now: Nanos) -> Vec<u8> {
        let contents = self.contents.as_ref().map(PlainContents::sectors);
        let saved = SavedStateRef { credits: self.bucket.level(now), contents };
        postcard::to_stdvec(&saved).expect("plain values can be written to memory")
    }

    fn self_counts(&self, _now: Nanos) -> SelfCounts {
        let (ios, bytes) = &self.exceeded;
        SelfCounts { exceeded: Some((ios.sum, bytes.sum)), ..SelfCounts::default() }
    }

    /// What is behind a store is not known: it counts as written once.
    fn flash_counters(&self) -> FlashCounters {
        flash_counters(self.host_bytes_written, self.host_bytes_written, 0, 0, None)
    }
}
