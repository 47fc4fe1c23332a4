//! A network volume in a cloud: link, I/O credits, throughput limit and store.

use std::ops::RangeInclusive;

use likenew_core::counters::FlashCounters;
use likenew_core::io::{Completion, Io, Op, Outcome, Slot};
use likenew_core::units::Nanos;
use rand::SeedableRng as _;
use rand_distr::{Distribution as _, LogNormal};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::device::{Device, NO_IO, SelfCounts, SnapshotError, flash_counters, grow, to_bytes};
use crate::drive_file::parameters;
use crate::front::{Front, LinkParameters, PlainContents, Sectors};
use crate::timeline::{Timeline, transfer_time};
use crate::value::Value;

/// The parameters of a network volume.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct VolumeParameters {
    /// The machine's network link to the volume.
    pub link: LinkParameters,
    /// Its I/O credits.
    pub credits: CreditParameters,
    /// How I/Os are counted for credits.
    pub counting: CountingParameters,
    /// Throughput limit for reads and writes together, in bytes per second.
    pub bytes_per_s: u64,
    /// Latency of the store.
    pub latency: LatencyParameters,
    /// Whether TRIM reaches the store.
    pub trims: bool,
}

/// Range of a volume's IOPS.
pub(crate) const IOPS: RangeInclusive<u64> = 1..=10_000_000;
/// Range of the bytes that count as one I/O.
const IO_BYTES: RangeInclusive<u64> = 512..=1 << 30;
/// Range of a store's latency in nanoseconds.
const LATENCY_NS: RangeInclusive<u64> = 1..=10_000_000_000;

parameters! {
    /// A bucket of I/O credits: each I/O takes one, and `baseline_iops` flow in per second.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct CreditParameters {
        /// IOPS that the volume's size pays for.
        pub baseline_iops: u64,
        /// IOPS while credits last.
        pub burst_iops: u64 = whole("burst_iops", IOPS),
        /// Capacity of the bucket in credits.
        pub credits_max: u64 = whole("credits_max", 0..=1_000_000_000_000)
            => ("credits when full", Value::Count),
    }
}

impl CreditParameters {
    /// The most IOPS, however full the bucket is.
    pub fn iops_max(&self) -> u64 {
        self.burst_iops.max(self.baseline_iops)
    }

    /// How long a full bucket lasts at the burst rate, `credits / (burst − baseline)`, if it ever runs out.
    pub fn burst_span(&self) -> Option<Nanos> {
        let drain = self.burst_iops.checked_sub(self.baseline_iops).filter(|drain| *drain > 0)?;
        Some(Nanos::from_secs_f64(self.credits_max as f64 / drain as f64))
    }

    /// How long an idle volume takes to fill an empty bucket.
    pub fn refill_span(&self) -> Nanos {
        Nanos::from_secs_f64(self.credits_max as f64 / self.baseline_iops as f64)
    }
}

parameters! {
    /// How I/Os are counted for credits.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct CountingParameters {
        /// A longer I/O counts as several. Sequential ones count as one up to this length.
        pub io_bytes: u64 = whole("io_bytes", IO_BYTES) => ("one I/O at most", Value::Bytes),
        /// I/Os shorter than this are small.
        pub small_io_bytes: u64 = whole("small_io_bytes", 0..=1 << 30),
        /// Sequential small I/Os count as one up to this length.
        pub small_merge_bytes: u64 = whole("small_merge_bytes", IO_BYTES),
    }
}

parameters! {
    /// Latency of the store, from the admission of an I/O to its answer; log-normal.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct LatencyParameters {
        /// The median.
        pub median: Nanos = time("latency_ns_median", LATENCY_NS) => ("latency, median", Value::Span),
        /// The 99th percentile.
        pub p99: Nanos = time("latency_ns_p99", LATENCY_NS) => ("p99 latency", Value::Span),
    }
}

impl LatencyParameters {
    /// The 99th percentile of the standard normal distribution.
    const Z99: f64 = 2.326_347_874_040_841;

    /// Standard deviation of the logarithm.
    pub fn sigma(&self) -> f64 {
        (self.p99.0 as f64 / self.median.0 as f64).ln() / Self::Z99
    }

    /// Mean in nanoseconds: median × exp(σ² / 2).
    pub fn mean_ns(&self) -> f64 {
        self.median.0 as f64 * (self.sigma().powi(2) / 2.0).exp()
    }
}

// How the parts work together.
//
// A command waits for one of the volume's slots. Write data crosses the link first. The I/O then waits for
// credits, then for its turn under the throughput limit. The store answers after a latency drawn from a
// log-normal distribution, independently of other I/Os. Read data crosses the link last. Acknowledged data is
// durable, so a flush is an empty round trip that costs nothing.

/// The total length of a union of spans, added in order of their start.
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

/// The I/O of other customers is the same for all volumes.
const SEED: u64 = 1;

#[derive(Clone, Copy)]
enum Event {
    /// The I/O in this slot has arrived, with its data if it is a write.
    Arrived(u32),
    /// The store has answered the I/O in this slot.
    Answered(u32),
    /// The I/O in this slot ends.
    Complete(u32),
}

/// A network volume in virtual time.
pub(crate) struct NetworkVolume {
    parameters: VolumeParameters,
    front: Front<Event>,
    bucket: CreditBucket,
    counter: IoCounter,
    throughput: Timeline,
    latency: LogNormal<f64>,
    random: Xoshiro256PlusPlus,
    /// By slot.
    ios: Vec<Io>,
    /// How long the lack of credits, and the throughput limit, held I/Os back; overlapping waits count once.
    exceeded: (SpanUnion, SpanUnion),
    sector_bytes: u32,
    contents: Option<PlainContents>,
}

impl NetworkVolume {
    /// A volume with a full or empty bucket, for checked parameters.
    pub(crate) fn new(parameters: VolumeParameters, full: bool, sector_bytes: u32) -> Self {
        let latency = LogNormal::new((parameters.latency.median.0 as f64).ln(), parameters.latency.sigma());
        Self {
            front: Front::new(parameters.link),
            bucket: CreditBucket::new(parameters.credits, full),
            counter: IoCounter::new(parameters.counting),
            throughput: Timeline::default(),
            latency: latency.expect("the spread is finite"),
            random: Xoshiro256PlusPlus::seed_from_u64(SEED),
            ios: Vec::new(),
            exceeded: (SpanUnion::default(), SpanUnion::default()),
            sector_bytes,
            contents: None,
            parameters,
        }
    }

    /// Restores a [saved](Device::save) volume.
    ///
    /// # Errors
    /// The bytes are not the state of such a volume.
    pub(crate) fn restore(
        parameters: VolumeParameters,
        sector_bytes: u32,
        state: &[u8],
    ) -> Result<Self, SnapshotError> {
        let (credits, contents): (u128, Option<Sectors>) = postcard::from_bytes(state)?;
        let mut volume = Self::new(parameters, true, sector_bytes);
        volume.bucket = CreditBucket::with_level(parameters.credits, credits);
        if let Some(sectors) = contents {
            volume.keep_data();
            volume.contents.as_mut().expect("it keeps bytes").sectors = sectors;
        }
        Ok(volume)
    }

    fn begin(&mut self, slot: u32, now: Nanos) {
        let io = &self.ios[slot as usize];
        let at = match io.op {
            Op::Write => self.front.link.send_to_drive(now, u64::from(io.length)),
            Op::Read | Op::Trim | Op::Flush => now,
        };
        self.front.events.push(at, Event::Arrived(slot));
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
        self.front.events.push(served + latency, Event::Answered(slot));
    }

    fn answer(&mut self, slot: u32, now: Nanos) {
        let io = &self.ios[slot as usize];
        let at = match io.op {
            Op::Read => self.front.link.send_to_host(now, u64::from(io.length)),
            Op::Write | Op::Trim | Op::Flush => now,
        };
        self.front.events.push(at, Event::Complete(slot));
    }
}

impl Device for NetworkVolume {
    fn announce_slots(&mut self, count: u32) {
        grow(&mut self.ios, count, NO_IO);
    }

    fn accept(&mut self, io: &Io, now: Nanos) {
        self.ios[io.slot.index()] = *io;
        if let Some(contents) = &mut self.contents {
            contents.serve(io);
        }
        if self.front.accept(io) {
            self.begin(io.slot.0, now);
        }
    }

    fn next_at(&self) -> Option<Nanos> {
        self.front.events.next_at()
    }

    fn step(&mut self, done: &mut Vec<Completion>) {
        let (now, event) = self.front.events.pop().expect("a volume steps only when something is to happen");
        match event {
            Event::Arrived(slot) => self.arrive(slot, now),
            Event::Answered(slot) => self.answer(slot, now),
            Event::Complete(slot) => {
                if let Some(next) = self.front.end(slot, Outcome::Done, now, done) {
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

    fn save(&self, now: Nanos) -> Vec<u8> {
        let contents = self.contents.as_ref().map(|contents| &contents.sectors);
        to_bytes(&(self.bucket.level(now), contents))
    }

    fn self_counts(&self, _now: Nanos) -> SelfCounts {
        let (ios, bytes) = &self.exceeded;
        SelfCounts { exceeded: Some((ios.sum, bytes.sum)), ..SelfCounts::default() }
    }

    /// What a store does is unknown, so all data counts as written once.
    fn flash_counters(&self) -> FlashCounters {
        flash_counters(self.front.host_bytes_written, self.front.host_bytes_written, 0, 0, None)
    }
}

// When a volume admits I/Os: its bucket of credits over time.
//
// Credits are counted in billionths, so that IOPS times nanoseconds is exact.

const CREDIT: u128 = 1_000_000_000;

/// Admits I/Os in order of arrival.
pub(crate) struct CreditBucket {
    parameters: CreditParameters,
    /// Spaces I/Os as the burst rate demands.
    interval: Timeline,
    /// Credits in billionths, at the time `level_at`.
    level: u128,
    /// The time for which `level` holds.
    level_at: Nanos,
}

impl CreditBucket {
    pub(crate) fn new(parameters: CreditParameters, full: bool) -> Self {
        let level = if full { Self::level_max(&parameters) } else { 0 };
        Self::with_level(parameters, level)
    }

    /// A bucket with this many billionths of credits.
    pub(crate) fn with_level(parameters: CreditParameters, level: u128) -> Self {
        Self { parameters, interval: Timeline::default(), level, level_at: Nanos::ZERO }
    }

    /// Credits in billionths at a time at which no I/O waits for any.
    pub(crate) fn level(&self, now: Nanos) -> u128 {
        self.earned_credits(now.max(self.level_at)).min(Self::level_max(&self.parameters))
    }

    /// When `ios` I/Os that arrive now may pass, after all earlier ones.
    pub(crate) fn admit(&mut self, now: Nanos, ios: u64) -> Nanos {
        let from = self.interval.reserve(now, Nanos::ZERO);
        let cost = u128::from(ios) * CREDIT;
        self.refill(from, cost);
        let missing = cost.saturating_sub(self.level);
        let at = from + Nanos(missing.div_ceil(u128::from(self.parameters.baseline_iops)) as u64);
        self.level = self.earned_credits(at) - cost;
        self.level_at = at;
        let apart = cost.div_ceil(u128::from(self.parameters.iops_max()));
        self.interval.reserve(at, Nanos(apart as u64));
        at
    }

    /// Credits at a time, were the bucket unlimited.
    fn earned_credits(&self, at: Nanos) -> u128 {
        self.level + u128::from(self.parameters.baseline_iops) * u128::from((at - self.level_at).0)
    }

    /// Updates the level to a time. Even the smallest bucket holds the cost of the next I/O.
    fn refill(&mut self, at: Nanos, cost: u128) {
        self.level = self.earned_credits(at).min(Self::level_max(&self.parameters).max(cost));
        self.level_at = at;
    }

    fn level_max(parameters: &CreditParameters) -> u128 {
        u128::from(parameters.credits_max) * CREDIT
    }
}

/// Counts I/Os in order of arrival. An I/O of the same kind that begins where the last one ended is merged
/// with it, even if that one has already ended.
pub(crate) struct IoCounter {
    parameters: CountingParameters,
    last: Op,
    /// Where an I/O must begin to be merged with the last.
    end: u64,
    /// Up to how many bytes such I/Os are merged.
    merge_bytes: u64,
    /// Bytes already in the I/O counted last, at most that many.
    filled: u64,
}

impl IoCounter {
    pub(crate) fn new(parameters: CountingParameters) -> Self {
        Self { parameters, last: Op::Flush, end: 0, merge_bytes: 0, filled: 0 }
    }

    /// How many I/Os this one counts as; 0 if it was merged with one already counted.
    pub(crate) fn count(&mut self, io: &Io) -> u64 {
        let CountingParameters { io_bytes, small_io_bytes, small_merge_bytes } = self.parameters;
        let length = u64::from(io.length);
        let merge_bytes = if length < small_io_bytes { small_merge_bytes } else { io_bytes };
        let goes_on = io.op == self.last && io.offset == self.end && merge_bytes == self.merge_bytes;
        let filled = if goes_on { self.filled } else { 0 };
        // A small I/O is never split, even if it exceeds the merge limit.
        let part = merge_bytes.max(length.min(io_bytes));
        let count = (filled + length).div_ceil(part) - filled.div_ceil(part);
        self.filled = (filled + length - 1) % part + 1;
        (self.last, self.end, self.merge_bytes) = (io.op, io.offset + length, merge_bytes);
        count
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    mod credit_bucket {
        use super::*;
        use proptest::prelude::*;

        const PARAMETERS: CreditParameters =
            CreditParameters { baseline_iops: 300, burst_iops: 3000, credits_max: 54_000 };

        /// When the last of `ios` waiting I/Os is admitted.
        fn admit_all(bucket: &mut CreditBucket, now: Nanos, ios: u64) -> f64 {
            (0..ios).map(|_| bucket.admit(now, 1)).last().expect("some I/Os").as_secs_f64()
        }

        #[test]
        fn a_burst_lasts_credits_over_burst_less_baseline() {
            let mut bucket = CreditBucket::new(PARAMETERS, true);
            // 54000 / 2700 = 20 s, in which 60000 I/Os are admitted.
            assert_eq!(PARAMETERS.burst_span(), Some(Nanos::from_secs(20)));
            let burst = admit_all(&mut bucket, Nanos::ZERO, 60_000);
            assert!((burst - 20.0).abs() < 0.01, "{burst}");
            let then = admit_all(&mut bucket, Nanos::ZERO, 3000);
            assert!((then - burst - 10.0).abs() < 0.01, "300 a second from then on: {burst} {then}");
        }

        #[test]
        fn an_empty_bucket_fills_while_nobody_asks() {
            let mut bucket = CreditBucket::new(PARAMETERS, false);
            let rested = Nanos::from_secs(9);
            // 2700 credits last a second at 3000 less 300.
            let burst = admit_all(&mut bucket, rested, 3000) - 9.0;
            assert!((burst - 1.0).abs() < 0.01, "{burst}");
            let next = admit_all(&mut bucket, rested, 300) - 9.0 - burst;
            assert!((next - 1.0).abs() < 0.01, "{next}");
        }

        #[test]
        fn it_never_holds_more_than_it_can() {
            let mut bucket = CreditBucket::new(PARAMETERS, true);
            let week = Nanos::from_secs(7 * 86_400);
            let burst = admit_all(&mut bucket, week, 60_000) - week.as_secs_f64();
            assert!((burst - 20.0).abs() < 0.01, "{burst}");
        }

        #[test]
        fn a_volume_without_credits_keeps_to_its_baseline() {
            for burst_iops in [100, 3000] {
                let parameters = CreditParameters { credits_max: 0, burst_iops, ..PARAMETERS };
                let span = admit_all(&mut CreditBucket::new(parameters, true), Nanos::ZERO, 3001);
                assert!((span - 10.0).abs() < 0.01, "{span}");
            }
        }

        #[test]
        fn a_baseline_above_the_burst_rate_needs_no_credits() {
            let parameters = CreditParameters { baseline_iops: 6000, ..PARAMETERS };
            assert_eq!(parameters.burst_span(), None);
            for full in [true, false] {
                let span = admit_all(&mut CreditBucket::new(parameters, full), Nanos::ZERO, 12_000);
                assert!((span - 2.0).abs() < 0.01, "{span}");
            }
        }

        proptest! {
            #[test]
            fn no_span_admits_more_than_credits_and_rate_allow(
                gaps in prop::collection::vec((0u64..2_000_000_000, 1u64..40), 1..200),
                full in any::<bool>(),
            ) {
                let mut bucket = CreditBucket::new(PARAMETERS, full);
                let (mut now, mut before, mut admitted) = (Nanos::ZERO, Nanos::ZERO, 0);
                for (gap, ios) in gaps {
                    now += Nanos(gap);
                    let at = bucket.admit(now, ios);
                    prop_assert!(at >= now && at >= before, "in order, and not before it arrives");
                    before = at;
                    admitted += ios;
                    let credits = if full { 54_000.0 } else { 0.0 };
                    prop_assert!(admitted as f64 <= credits + 300.0 * at.as_secs_f64() + 1e-6);
                }
            }
        }
    }

    mod io_counter {
        use super::*;
        use proptest::prelude::*;

        use crate::device::NO_IO;

        const KIB: u32 = 1024;

        fn counter() -> IoCounter {
            let counting = CountingParameters {
                io_bytes: 256 << 10,
                small_io_bytes: 32 << 10,
                small_merge_bytes: 16 << 10,
            };
            IoCounter::new(counting)
        }

        /// How often `ios` reads count, sequential or a mebibyte apart.
        fn count(length: u32, ios: u64, sequential: bool) -> u64 {
            let mut counter = counter();
            let step = if sequential { u64::from(length) } else { 1 << 30 };
            let io = |index| Io { op: Op::Read, offset: index * step, length, ..NO_IO };
            (0..ios).map(|index| counter.count(&io(index))).sum()
        }

        #[test]
        fn the_examples_of_the_maker_come_out() {
            assert_eq!(count(1024 * KIB, 1, true), 4);
            assert_eq!(count(32 * KIB, 8, true), 1);
            assert_eq!(count(32 * KIB, 8, false), 8);
            assert_eq!(count(4 * KIB, 256, true), 64);
            assert_eq!(count(4 * KIB, 256, false), 256);
        }

        #[test]
        fn another_kind_of_io_begins_anew() {
            let mut counter = counter();
            let io = |op, offset| Io { op, offset, length: 4 * KIB, ..NO_IO };
            assert_eq!(counter.count(&io(Op::Read, 0)), 1);
            assert_eq!(counter.count(&io(Op::Read, 4096)), 0);
            assert_eq!(counter.count(&io(Op::Write, 8192)), 1);
            assert_eq!(counter.count(&io(Op::Write, 4096)), 1);
        }

        proptest! {
            #[test]
            fn bytes_are_paid_for(lengths in prop::collection::vec(1u32..3000, 1..50)) {
                let mut counter = counter();
                let (mut offset, mut paid) = (0, 0);
                for sectors in lengths {
                    let length = sectors * 512;
                    let io = Io { op: Op::Write, offset, length, ..NO_IO };
                    offset += u64::from(length);
                    let count = counter.count(&io);
                    prop_assert!(count <= u64::from(length).div_ceil(256 << 10));
                    paid += count;
                }
                prop_assert!(paid * (256 << 10) >= offset, "{paid} I/Os carried {offset} bytes");
            }
        }
    }
}
