//! Decides which I/O leaves when. The I/Os come from the streams of a workload, or from a recording.

use std::ops::Range;

use likenew_core::io::{Durability, Io, Op, Sample, Slot};
use likenew_core::target::Geometry;
use likenew_core::target_error::TargetError;
use likenew_core::units::Nanos;
use likenew_core::workload::{AccessPattern, Arrival, InterArrival, Mix, Stream, Workload};
use rand::{Rng, RngExt as _, SeedableRng as _};
use rand_distr::{Distribution as _, Exp1, Zipf};
use rand_xoshiro::{SplitMix64, Xoshiro256PlusPlus};

/// Supplies the I/Os of a lane. The loop asks what may leave, and reports what has left and what has ended.
///
/// The loop is compiled for each source separately, so that none pays for what another needs.
pub(crate) trait IoSource {
    /// Most I/Os in flight.
    fn depth(&self) -> u32;

    /// Whether I/Os are due at set times, so that the source needs to know the time.
    fn is_timed(&self) -> bool;

    /// The number of an I/O that may leave at `now`, for [`IoSource::issue`]; `None` when all that may leave has left.
    ///
    /// # Errors
    /// The target cannot be measured any further.
    fn ready(&mut self, now: Nanos) -> Result<Option<usize>, TargetError>;

    /// Makes the I/O that [`IoSource::ready`] has just named in the batch that it leaves with. It is not
    /// copied there: a processor that has just stored its fields waits before it can copy them.
    fn issue(&mut self, index: usize, slot: Slot, batch: &mut Vec<Io>) -> Departure;

    /// The batch has left.
    fn on_submit(&mut self, _at: Nanos) {}

    /// The I/O that [`IoSource::issue`] made for `index` has ended.
    fn on_end(&mut self, index: usize, sample: &Sample);

    /// When to ask the source again if nothing ends before.
    fn next_due(&self, now: Nanos) -> Nanos;

    /// Whether nothing more will leave.
    fn is_done(&self) -> bool {
        false
    }
}

/// The streams of a workload, side by side, as a source.
pub(crate) struct Streams {
    issuers: Vec<Issuer>,
    open_pace: bool,
    /// The issuer that is asked next.
    at: usize,
}

impl Streams {
    /// The streams of one lane's share of a workload.
    pub(crate) fn new(
        workload: &Workload,
        copies: &[StreamCopy],
        geometry: &Geometry,
        started_at: Nanos,
    ) -> Self {
        let issuers = Issuer::all(workload, copies, geometry, started_at);
        Self { open_pace: issuers.iter().any(Issuer::is_open), issuers, at: 0 }
    }
}

impl IoSource for Streams {
    fn depth(&self) -> u32 {
        self.issuers.iter().map(Issuer::depth).sum()
    }

    #[inline]
    fn is_timed(&self) -> bool {
        self.open_pace
    }

    #[inline]
    fn ready(&mut self, now: Nanos) -> Result<Option<usize>, TargetError> {
        while self.at < self.issuers.len() {
            if self.issuers[self.at].ready(now) {
                return Ok(Some(self.at));
            }
            self.at += 1;
        }
        self.at = 0;
        Ok(None)
    }

    #[inline]
    fn issue(&mut self, index: usize, slot: Slot, batch: &mut Vec<Io>) -> Departure {
        self.issuers[index].issue(slot, batch)
    }

    #[inline]
    fn on_end(&mut self, index: usize, _: &Sample) {
        self.issuers[index].on_end();
    }

    fn next_due(&self, _: Nanos) -> Nanos {
        self.issuers.iter().map(Issuer::next_due).min().unwrap_or(Nanos::NEVER)
    }
}

/// Identifies one copy of one stream.
#[derive(Clone, Copy)]
pub(crate) struct StreamCopy {
    pub(crate) stream: u16,
    pub(crate) copy: u32,
    pub(crate) copies: u32,
}

/// What is known of a departing I/O besides the I/O itself.
pub(crate) struct Departure {
    pub(crate) stream: u16,
    /// When it was due, if the arrival sets that.
    pub(crate) due: Option<Nanos>,
    /// Whether it is an I/O of the workload rather than a flush that follows its writes.
    pub(crate) is_counted: bool,
}

/// Issues the I/Os of one copy of a stream, or of all the streams that take turns.
pub(crate) struct Issuer {
    kinds: Vec<Kind>,
    /// Which kind is next, if there are several.
    schedule: ShuffledSchedule,
    timer: Timer,
    in_flight: u32,
}

/// The I/Os of one copy of one stream.
struct Kind {
    number: u16,
    stream: Stream,
    weights: u32,
    cursor: Cursor,
    random: Xoshiro256PlusPlus,
    writes: u64,
    /// The flush that is due after its last write, until it leaves.
    flush_due: Option<Durability>,
}

enum Timer {
    Closed { depth: u32 },
    Open { next: Nanos, fraction: f64, mean_ns: f64, inter_arrival: InterArrival, depth_max: u32 },
}

impl Issuer {
    /// The issuers of a lane, for the copies of streams that run there.
    pub(crate) fn all(
        workload: &Workload,
        copies: &[StreamCopy],
        geometry: &Geometry,
        started_at: Nanos,
    ) -> Vec<Self> {
        let mut issuers: Vec<Self> = Vec::new();
        // For each copy, the index of the issuer whose streams take turns.
        let mut turns: Vec<(u32, usize)> = Vec::new();
        for stream_copy in copies {
            let stream = &workload.streams[usize::from(stream_copy.stream)];
            let kind = Kind::new(stream, *stream_copy, geometry, workload.seed);
            let Arrival::Interleaved { weight, .. } = stream.arrival else {
                issuers.push(Self::new(kind, 1, stream.arrival, started_at));
                continue;
            };
            match turns.iter().find(|(copy, _)| *copy == stream_copy.copy) {
                Some((_, index)) => issuers[*index].join(kind, weight),
                None => {
                    turns.push((stream_copy.copy, issuers.len()));
                    issuers.push(Self::new(kind, weight, stream.arrival, started_at));
                }
            }
        }
        issuers
    }

    fn new(kind: Kind, weight: u32, pace: Arrival, started_at: Nanos) -> Self {
        Self {
            kinds: vec![kind],
            schedule: ShuffledSchedule::new(weight),
            timer: Timer::new(pace, started_at),
            in_flight: 0,
        }
    }

    fn join(&mut self, kind: Kind, weight: u32) {
        self.kinds.push(kind);
        self.schedule.add(weight);
    }

    /// Most I/Os in flight.
    pub(crate) fn depth(&self) -> u32 {
        match self.timer {
            Timer::Closed { depth } => depth,
            Timer::Open { depth_max, .. } => depth_max,
        }
    }

    /// Whether an I/O may leave at `now`. A closed arrival needs no clock.
    pub(crate) fn ready(&self, now: Nanos) -> bool {
        if self.owes_flush() {
            return self.in_flight == 0;
        }
        match self.timer {
            Timer::Closed { depth } => self.in_flight < depth,
            Timer::Open { next, depth_max, .. } => next <= now && self.in_flight < depth_max,
        }
    }

    /// When the next I/O may leave if nothing ends before.
    pub(crate) fn next_due(&self) -> Nanos {
        match self.timer {
            Timer::Open { next, depth_max, .. } if self.in_flight < depth_max && !self.owes_flush() => next,
            _ => Nanos::NEVER,
        }
    }

    /// Whether a flush must leave next, once everything in flight has ended.
    fn owes_flush(&self) -> bool {
        self.kinds.iter().any(|kind| kind.flush_due.is_some())
    }

    /// Whether its I/Os are due at set times.
    pub(crate) fn is_open(&self) -> bool {
        matches!(self.timer, Timer::Open { .. })
    }

    /// Adds the next I/O to a batch, from the stream whose turn it is.
    #[inline]
    pub(crate) fn issue(&mut self, slot: Slot, batch: &mut Vec<Io>) -> Departure {
        self.in_flight += 1;
        if let Some(kind) = self.kinds.iter_mut().find(|kind| kind.flush_due.is_some()) {
            let sync = kind.flush_due.take();
            batch.push(Io { slot, op: Op::Flush, offset: 0, length: 0, data: kind.stream.data, sync });
            return Departure { stream: kind.number, due: None, is_counted: false };
        }
        let turn = if self.kinds.len() == 1 { 0 } else { self.schedule.draw(&mut self.kinds[0].random) };
        let kind = &mut self.kinds[turn];
        kind.issue(slot, batch);
        Departure { stream: kind.number, due: self.timer.tick(&mut kind.random), is_counted: true }
    }

    /// One of its I/Os has ended.
    pub(crate) fn on_end(&mut self) {
        self.in_flight -= 1;
    }
}

impl Kind {
    fn new(stream: &Stream, stream_copy: StreamCopy, geometry: &Geometry, seed: u64) -> Self {
        let range = stream.pattern.region().resolve(geometry.capacity, geometry.block);
        let range = range.expect("a workload is checked before it runs");
        let mut seeds = SplitMix64::seed_from_u64(
            seed ^ u64::from(stream_copy.stream) << 48 ^ u64::from(stream_copy.copy) << 32,
        );
        Self {
            number: stream_copy.stream,
            stream: stream.clone(),
            weights: stream.size.choices().iter().map(|(_, weight)| weight).sum(),
            cursor: Cursor::new(&stream.pattern, range, geometry, stream_copy.copy, stream_copy.copies),
            random: Xoshiro256PlusPlus::from_rng(&mut seeds),
            writes: 0,
            flush_due: None,
        }
    }

    /// Counts a write, and notes the flush that is to follow it.
    fn count_write(&mut self) {
        self.writes += 1;
        let is_due = |every: u32| every > 0 && self.writes.is_multiple_of(every.into());
        self.flush_due = is_due(self.stream.fsync_every)
            .then_some(Durability::File)
            .or_else(|| is_due(self.stream.flush_every).then_some(Durability::Data));
    }

    #[inline]
    fn issue(&mut self, slot: Slot, batch: &mut Vec<Io>) {
        let op = match self.stream.op {
            Mix::Only(op) => op,
            Mix::Reads(percent) if self.random.random_range(0..100) < percent => Op::Read,
            Mix::Reads(_) => Op::Write,
        };
        if op == Op::Write {
            self.count_write();
        }
        let length = self.draw_length();
        let (offset, length) = match op {
            // A flush is about everything that was written.
            Op::Flush => (0, 0),
            _ => self.cursor.next(length, &mut self.random),
        };
        let sync = self.stream.sync.filter(|_| op == Op::Write);
        batch.push(Io { slot, op, offset, length, data: self.stream.data, sync });
    }

    #[inline]
    fn draw_length(&mut self) -> u32 {
        let choices = self.stream.size.choices();
        if let [(bytes, _)] = choices {
            return *bytes;
        }
        let mut draw = self.random.random_range(0..self.weights);
        for (bytes, weight) in choices {
            if draw < *weight {
                return *bytes;
            }
            draw -= weight;
        }
        unreachable!("a draw is below the sum of the weights")
    }
}

impl Timer {
    fn new(pace: Arrival, started_at: Nanos) -> Self {
        match pace {
            Arrival::Closed { depth } | Arrival::Interleaved { depth, per_second: None, .. } => {
                Self::Closed { depth }
            }
            Arrival::Open { per_second, inter_arrival, depth_max } => {
                Self::open(started_at, per_second, inter_arrival, depth_max)
            }
            Arrival::Interleaved { depth, per_second: Some(per_second), .. } => {
                Self::open(started_at, per_second, InterArrival::Poisson, depth)
            }
        }
    }

    fn open(started_at: Nanos, per_second: f64, inter_arrival: InterArrival, depth_max: u32) -> Self {
        Self::Open { next: started_at, fraction: 0.0, mean_ns: 1e9 / per_second, inter_arrival, depth_max }
    }

    /// Returns when the departing I/O was due, and sets when the next one is due.
    fn tick(&mut self, random: &mut Xoshiro256PlusPlus) -> Option<Nanos> {
        let Self::Open { next, fraction, mean_ns, inter_arrival, .. } = self else { return None };
        let due = *next;
        let gap: f64 = match inter_arrival {
            InterArrival::Even => *mean_ns,
            InterArrival::Poisson => {
                let unit: f64 = Exp1.sample(random);
                unit * *mean_ns
            }
        };
        // Fractions of a nanosecond are carried over, so that the rate is exact in the long run.
        let exact = gap + *fraction;
        *fraction = exact.fract();
        *next = due + Nanos(exact as u64);
        Some(due)
    }
}

/// A prime above the number of positions on any drive of 2⁶³ bytes. So multiplying by it modulo the number of
/// positions visits each of them once.
const SCATTER: u128 = 9_223_372_036_854_775_837;

/// The address of the next I/O.
pub(crate) enum Cursor {
    /// No I/O crosses a multiple of `boundary`.
    Sequential {
        range: Range<u64>,
        at: u64,
        boundary: u64,
    },
    Random {
        range: Range<u64>,
    },
    Strided {
        range: Range<u64>,
        at: u64,
        step: u64,
    },
    RandomAligned {
        range: Range<u64>,
        align: u64,
    },
    Zipf {
        range: Range<u64>,
        theta: f64,
        ranks: Option<(u64, Zipf<f64>)>,
    },
}

impl Cursor {
    /// The cursor of one copy of a stream within `range`.
    pub(crate) fn new(
        place: &AccessPattern,
        range: Range<u64>,
        geometry: &Geometry,
        copy: u32,
        copies: u32,
    ) -> Self {
        match *place {
            AccessPattern::Sequential(_) => {
                let part = part(&range, geometry.block, copy, copies);
                Self::Sequential {
                    at: part.start,
                    range: part,
                    boundary: geometry.boundary.unwrap_or(u64::MAX),
                }
            }
            AccessPattern::Random(_) => Self::Random { range },
            AccessPattern::Strided { step, .. } => Self::Strided { at: range.start, range, step },
            AccessPattern::RandomAligned { align, .. } => Self::RandomAligned { range, align },
            AccessPattern::Zipf { theta, .. } => Self::Zipf { range, theta, ranks: None },
        }
    }

    /// Offset and length of the next I/O of `length` bytes. Only the last one before the end of a sequential
    /// range, or of a file in it, is shorter.
    pub(crate) fn next(&mut self, length: u32, random: &mut impl Rng) -> (u64, u32) {
        match self {
            Self::Sequential { range, at, boundary } => {
                let offset = *at;
                let left = range.end - offset;
                let length = u64::from(length).min(left).min(*boundary - offset % *boundary);
                *at = if length == left { range.start } else { offset + length };
                (offset, length as u32)
            }
            Self::Random { range } => {
                let places = (range.end - range.start) / u64::from(length);
                (range.start + random.random_range(0..places) * u64::from(length), length)
            }
            Self::Strided { range, at, step } => {
                if *at > range.end - u64::from(length) {
                    *at = range.start;
                }
                let offset = *at;
                *at = offset.saturating_add(*step);
                (offset, length)
            }
            Self::RandomAligned { range, align } => {
                let places = (range.end - range.start - u64::from(length)) / *align + 1;
                (range.start + random.random_range(0..places) * *align, length)
            }
            Self::Zipf { range, theta, ranks } => {
                let places = (range.end - range.start) / u64::from(length);
                let law = match ranks {
                    Some((known, law)) if *known == places => law,
                    _ => &mut ranks.insert((places, zipf(places, *theta))).1,
                };
                let rank = law.sample(random) as u64 - 1;
                let place = (u128::from(rank) * SCATTER % u128::from(places)) as u64;
                (range.start + place * u64::from(length), length)
            }
        }
    }
}

fn zipf(places: u64, theta: f64) -> Zipf<f64> {
    Zipf::new(places as f64, theta).expect("a workload is checked before it runs: places ≥ 1, θ > 0")
}

/// This copy's equal part of the range, in whole blocks; the last copy gets the rest.
fn part(range: &Range<u64>, block: u32, copy: u32, copies: u32) -> Range<u64> {
    let length = (range.end - range.start) / u64::from(copies);
    let length = length - length % u64::from(block);
    let start = range.start + u64::from(copy) * length;
    let end = if copy + 1 == copies { range.end } else { start + length };
    start..end
}

/// A deck with some cards of each stream, which is shuffled again when it is empty. Draws are in exact
/// proportion at the end of every deck, and never further from it than chance would be.
pub(crate) struct ShuffledSchedule {
    full: Vec<u32>,
    remaining: Vec<u32>,
    entries: u64,
}

impl ShuffledSchedule {
    /// A deck with the cards of one stream.
    pub(crate) fn new(weight: u32) -> Self {
        Self { full: vec![weight], remaining: vec![weight], entries: u64::from(weight) }
    }

    /// Adds the cards of another stream, before the first card is drawn.
    pub(crate) fn add(&mut self, weight: u32) {
        self.full.push(weight);
        self.remaining.push(weight);
        self.entries += u64::from(weight);
    }

    /// Draws a card, and returns its stream by the order in which streams were added.
    pub(crate) fn draw(&mut self, random: &mut impl Rng) -> usize {
        if self.entries == 0 {
            self.remaining.copy_from_slice(&self.full);
            self.entries = self.full.iter().copied().map(u64::from).sum();
        }
        let mut card = random.random_range(0..self.entries);
        self.entries -= 1;
        for (index, left) in self.remaining.iter_mut().enumerate() {
            if card < u64::from(*left) {
                *left -= 1;
                return index;
            }
            card -= u64::from(*left);
        }
        unreachable!("a card is one of those that are left")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use likenew_core::region::Region;
    use likenew_core::target::Clock;
    use rand_xoshiro::Xoshiro256PlusPlus;

    fn random() -> Xoshiro256PlusPlus {
        Xoshiro256PlusPlus::seed_from_u64(1)
    }

    #[test]
    fn forward_covers_everything_once_a_round_whatever_the_copies() {
        for copies in [1, 3, 16] {
            let mut covered = vec![0; 1000];
            for copy in 0..copies {
                let place = AccessPattern::Sequential(Region::WHOLE);
                let mut cursor = Cursor::new(&place, 0..1_000 * 512, &geometry(512, None), copy, copies);
                loop {
                    let (offset, length) = cursor.next(8 * 512, &mut random());
                    for block in offset / 512..(offset + u64::from(length)) / 512 {
                        covered[block as usize] += 1;
                    }
                    if let Cursor::Sequential { range, at, .. } = &cursor
                        && *at == range.start
                    {
                        break;
                    }
                }
            }
            assert!(covered.iter().all(|times| *times == 1), "{copies} copies");
        }
    }

    fn geometry(block: u32, boundary: Option<u64>) -> Geometry {
        Geometry {
            capacity: 1 << 30,
            block,
            boundary,
            writable: true,
            trims: true,
            carries_data: false,
            clock: Clock::Virtual,
        }
    }

    #[test]
    fn several_lengths_in_sequence_cross_no_file() {
        let place = AccessPattern::Sequential(Region::WHOLE);
        let mut cursor = Cursor::new(&place, 0..10 * 65_536, &geometry(4096, Some(65_536)), 0, 1);
        let mut at = 0;
        for io in 0..1000u32 {
            let (offset, length) = cursor.next([4096, 65_536, 16_384][io as usize % 3], &mut random());
            assert_eq!(offset, at % (10 * 65_536));
            assert_eq!(offset / 65_536, (offset + u64::from(length) - 1) / 65_536);
            at = offset + u64::from(length);
        }
    }

    #[test]
    fn random_places_stay_inside_and_reach_everything() {
        let range = 4096..4096 + 100 * 4096;
        for place in
            [AccessPattern::Random(Region::WHOLE), AccessPattern::Zipf { region: Region::WHOLE, theta: 0.5 }]
        {
            let mut cursor = Cursor::new(&place, range.clone(), &geometry(4096, None), 0, 1);
            let (mut random, mut visited) = (random(), std::collections::HashSet::new());
            for _ in 0..10_000 {
                let (offset, length) = cursor.next(4096, &mut random);
                assert!(
                    range.contains(&offset) && offset % 4096 == 0 && offset + u64::from(length) <= range.end
                );
                visited.insert(offset);
            }
            assert_eq!(visited.len(), 100, "{place:?}");
        }
    }

    #[test]
    fn strides_reach_every_step_and_begin_again() {
        let place = AccessPattern::Strided { region: Region::WHOLE, step: 12_288 };
        let mut cursor = Cursor::new(&place, 4096..65_536, &geometry(4096, None), 0, 1);
        let offsets: Vec<u64> = (0..7).map(|_| cursor.next(8192, &mut random()).0).collect();
        assert_eq!(offsets, [4096, 16_384, 28_672, 40_960, 53_248, 4096, 16_384]);
        assert_eq!(cursor.next(32_768, &mut random()).0, 28_672, "the last place where it fits");
        assert_eq!(cursor.next(32_768, &mut random()).0, 4096);
    }

    #[test]
    fn scattered_places_keep_to_their_alignment_alone() {
        let place = AccessPattern::RandomAligned { region: Region::WHOLE, align: 512 };
        let range = 4096..4096 + 16 * 512;
        let mut cursor = Cursor::new(&place, range.clone(), &geometry(512, None), 0, 1);
        let (mut random, mut visited) = (random(), std::collections::BTreeSet::new());
        for _ in 0..1000 {
            let (offset, length) = cursor.next(4096, &mut random);
            assert!(range.contains(&offset) && offset + u64::from(length) <= range.end);
            visited.insert(offset);
        }
        assert_eq!(visited.into_iter().collect::<Vec<_>>(), (8..17).map(|n| n * 512).collect::<Vec<_>>());
    }

    #[test]
    fn zipf_prefers_few_places() {
        let place = AccessPattern::Zipf { region: Region::WHOLE, theta: 1.2 };
        let mut cursor = Cursor::new(&place, 0..1_000 * 4096, &geometry(4096, None), 0, 1);
        let (mut random, mut counts) = (random(), std::collections::HashMap::new());
        for _ in 0..100_000 {
            *counts.entry(cursor.next(4096, &mut random).0).or_insert(0) += 1;
        }
        // P(rank 1) = 1 / Σ k^−1.2, k = 1..1000 = 0.2305.
        let most = f64::from(*counts.values().max().unwrap()) / 100_000.0;
        assert!((most - 0.2305).abs() < 0.01, "{most}");
    }

    #[test]
    fn every_round_issues_each_stream_by_its_weight_in_random_order() {
        let mut schedule = ShuffledSchedule::new(5);
        schedule.add(0);
        schedule.add(95);
        let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
        let mut first = Vec::new();
        for _ in 0..200 {
            let drawn: Vec<usize> = (0..100).map(|_| schedule.draw(&mut random)).collect();
            let count = |stream| drawn.iter().filter(|index| **index == stream).count();
            assert_eq!((count(0), count(1), count(2)), (5, 0, 95));
            first.push(drawn[0]);
        }
        // Of 100 cards five are of the first stream, so 200 draws give 10, give or take 3.1; five times that is beyond chance.
        let rare = first.iter().filter(|index| **index == 0).count();
        assert!((1..=25).contains(&rare), "{rare}");
    }
}
