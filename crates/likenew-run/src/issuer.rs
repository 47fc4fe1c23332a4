//! One copy of a stream while it runs, or of several that take turns: decides when the next I/O is due and what it is.

use likenew_core::io::{DataClass, Io, Op, Slot};
use likenew_core::target::Geometry;
use likenew_core::units::Nanos;
use likenew_core::workload::{Arrival, InterArrival, Mix, Size, Stream, Workload};
use rand::{RngExt as _, SeedableRng as _};
use rand_distr::{Distribution as _, Exp1};
use rand_xoshiro::{SplitMix64, Xoshiro256PlusPlus};

use crate::cursor::Cursor;
use crate::shuffled_schedule::ShuffledSchedule;

/// Which copy of which stream an issuer is.
#[derive(Clone, Copy)]
pub(crate) struct StreamCopy {
    pub(crate) stream: u16,
    pub(crate) copy: u32,
    pub(crate) copies: u32,
}

/// What is known of an I/O that leaves beside the I/O itself.
pub(crate) struct Departure {
    pub(crate) stream: u16,
    /// When it was due, if its pace sets that.
    pub(crate) due: Option<Nanos>,
}

/// Issues the I/Os of one copy of a stream, or of the streams that take turns with it.
pub(crate) struct Issuer {
    kinds: Vec<Kind>,
    /// Which kind is next, where there are several.
    schedule: ShuffledSchedule,
    timer: Timer,
    in_flight: u32,
}

/// The I/Os of one copy of one stream.
struct Kind {
    stream: u16,
    mix: Mix,
    size: Size,
    weights: u32,
    cursor: Cursor,
    data: DataClass,
    random: Xoshiro256PlusPlus,
}

enum Timer {
    Closed { depth: u32 },
    Open { next: Nanos, fraction: f64, mean_ns: f64, inter_arrival: InterArrival, depth_max: u32 },
}

impl Issuer {
    /// Those of a lane, for the copies of streams that run there.
    pub(crate) fn all(
        workload: &Workload,
        copies: &[StreamCopy],
        geometry: &Geometry,
        started_at: Nanos,
    ) -> Vec<Self> {
        let mut issuers: Vec<Self> = Vec::new();
        // By copy: the issuer whose streams take turns.
        let mut turns: Vec<(u32, usize)> = Vec::new();
        for of in copies {
            let stream = &workload.streams[usize::from(of.stream)];
            let kind = Kind::new(stream, *of, geometry, workload.seed);
            let Arrival::Interleaved { weight, .. } = stream.arrival else {
                issuers.push(Self::new(kind, 1, stream.arrival, started_at));
                continue;
            };
            match turns.iter().find(|(copy, _)| *copy == of.copy) {
                Some((_, index)) => issuers[*index].join(kind, weight),
                None => {
                    turns.push((of.copy, issuers.len()));
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

    /// I/Os in flight at most.
    pub(crate) fn depth(&self) -> u32 {
        match self.timer {
            Timer::Closed { depth } => depth,
            Timer::Open { depth_max, .. } => depth_max,
        }
    }

    /// Whether an I/O may leave at `now`. A closed pace needs no clock.
    pub(crate) fn ready(&self, now: Nanos) -> bool {
        match self.timer {
            Timer::Closed { depth } => self.in_flight < depth,
            Timer::Open { next, depth_max, .. } => next <= now && self.in_flight < depth_max,
        }
    }

    /// When the next I/O may leave even if nothing ends first.
    pub(crate) fn next_due(&self) -> Nanos {
        match self.timer {
            Timer::Open { next, depth_max, .. } if self.in_flight < depth_max => next,
            _ => Nanos::NEVER,
        }
    }

    /// Whether its I/Os are due at set times.
    pub(crate) fn is_open(&self) -> bool {
        matches!(self.timer, Timer::Open { .. })
    }

    /// Adds the next I/O to a batch, of the stream whose turn it is.
    #[inline]
    pub(crate) fn issue(&mut self, slot: Slot, batch: &mut Vec<Io>) -> Departure {
        self.in_flight += 1;
        let turn = if self.kinds.len() == 1 { 0 } else { self.schedule.draw(&mut self.kinds[0].random) };
        let kind = &mut self.kinds[turn];
        kind.issue(slot, batch);
        Departure { stream: kind.stream, due: self.timer.tick(&mut kind.random) }
    }

    /// One of its I/Os has ended.
    pub(crate) fn on_end(&mut self) {
        self.in_flight -= 1;
    }
}

impl Kind {
    fn new(stream: &Stream, of: StreamCopy, geometry: &Geometry, seed: u64) -> Self {
        let range = stream.pattern.region().resolve(geometry.capacity, geometry.block);
        let range = range.expect("a workload is checked before it runs");
        let mut seeds =
            SplitMix64::seed_from_u64(seed ^ u64::from(of.stream) << 48 ^ u64::from(of.copy) << 32);
        Self {
            stream: of.stream,
            mix: stream.op,
            size: stream.size.clone(),
            weights: stream.size.choices().iter().map(|(_, weight)| weight).sum(),
            cursor: Cursor::new(&stream.pattern, range, geometry, of.copy, of.copies),
            data: stream.data,
            random: Xoshiro256PlusPlus::from_rng(&mut seeds),
        }
    }

    #[inline]
    fn issue(&mut self, slot: Slot, batch: &mut Vec<Io>) {
        let op = match self.mix {
            Mix::Only(op) => op,
            Mix::Reads(percent) if self.random.random_range(0..100) < percent => Op::Read,
            Mix::Reads(_) => Op::Write,
        };
        let length = self.draw_length();
        let (offset, length) = match op {
            // It is about everything that was written.
            Op::Flush => (0, 0),
            _ => self.cursor.next(length, &mut self.random),
        };
        batch.push(Io { slot, op, offset, length, data: self.data });
    }

    #[inline]
    fn draw_length(&mut self) -> u32 {
        let choices = self.size.choices();
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

    /// Returns when the I/O that leaves now was due, and sets when the next one is.
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
