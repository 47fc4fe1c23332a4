//! One copy of a stream while it runs: decides when the next I/O is due and what it is.

use std::ops::Range;

use likenew_core::io::{DataClass, Io, Op, Slot};
use likenew_core::mix::Mix;
use likenew_core::size::Size;
use likenew_core::target::Geometry;
use likenew_core::units::Nanos;
use likenew_core::workload::{Arrivals, Pace, Stream};
use rand::{RngExt as _, SeedableRng as _};
use rand_distr::{Distribution as _, Exp1};
use rand_xoshiro::{SplitMix64, Xoshiro256PlusPlus};

use crate::cursor::Cursor;

/// Which copy of which stream an issuer is.
#[derive(Clone, Copy)]
pub(crate) struct Copy {
    pub(crate) stream: u16,
    pub(crate) copy: u32,
    pub(crate) copies: u32,
}

/// Issues the I/Os of one copy of one stream.
pub(crate) struct Issuer {
    pub(crate) stream: u16,
    mix: Mix,
    size: Size,
    weights: u32,
    cursor: Cursor,
    timer: Timer,
    data: DataClass,
    in_flight: u32,
    random: Xoshiro256PlusPlus,
}

enum Timer {
    Closed { depth: u32 },
    Open { next: Nanos, fraction: f64, mean_ns: f64, arrivals: Arrivals, depth_max: u32 },
}

impl Issuer {
    pub(crate) fn new(
        stream: &Stream,
        of: Copy,
        geometry: &Geometry,
        range: Range<u64>,
        seed: u64,
        began: Nanos,
    ) -> Self {
        let mut seeds =
            SplitMix64::seed_from_u64(seed ^ u64::from(of.stream) << 48 ^ u64::from(of.copy) << 32);
        Self {
            stream: of.stream,
            mix: stream.op,
            size: stream.size.clone(),
            weights: stream.size.choices().iter().map(|(_, weight)| weight).sum(),
            cursor: Cursor::new(&stream.place, range, geometry.block, of.copy, of.copies),
            timer: Timer::new(stream.pace, began),
            data: stream.data,
            in_flight: 0,
            random: Xoshiro256PlusPlus::from_rng(&mut seeds),
        }
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

    /// When it may next leave without anything else ending first.
    pub(crate) fn next_due(&self) -> Nanos {
        match self.timer {
            Timer::Open { next, depth_max, .. } if self.in_flight < depth_max => next,
            _ => Nanos::NEVER,
        }
    }

    /// Whether its I/Os are due at times of their own.
    pub(crate) fn is_open(&self) -> bool {
        matches!(self.timer, Timer::Open { .. })
    }

    /// The next I/O, and when it was due if its pace says so.
    pub(crate) fn issue(&mut self, slot: Slot) -> (Io, Option<Nanos>) {
        self.in_flight += 1;
        let op = match self.mix {
            Mix::Only(op) => op,
            Mix::Reads(percent) if self.random.random_range(0..100) < percent => Op::Read,
            Mix::Reads(_) => Op::Write,
        };
        let length = self.draw_length();
        let (offset, length) = self.cursor.next(length, &mut self.random);
        (Io { slot, op, offset, length, data: self.data }, self.timer.tick(&mut self.random))
    }

    /// One of its I/Os has ended.
    pub(crate) fn ended(&mut self) {
        self.in_flight -= 1;
    }

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
    fn new(pace: Pace, began: Nanos) -> Self {
        match pace {
            Pace::Closed { depth } => Self::Closed { depth },
            Pace::Open { per_second, arrivals, depth_max } => {
                Self::Open { next: began, fraction: 0.0, mean_ns: 1e9 / per_second, arrivals, depth_max }
            }
        }
    }

    /// Returns when the I/O that leaves now was due, and sets when the next one is.
    fn tick(&mut self, random: &mut Xoshiro256PlusPlus) -> Option<Nanos> {
        let Self::Open { next, fraction, mean_ns, arrivals, .. } = self else { return None };
        let due = *next;
        let gap: f64 = match arrivals {
            Arrivals::Even => *mean_ns,
            Arrivals::Poisson => {
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
