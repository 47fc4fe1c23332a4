//! Random choices for a drive that is drawn, all from one seed.

use std::ops::RangeInclusive;

use rand::{RngExt as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;

/// The choices of one drive, in order.
pub(super) struct Dice(Xoshiro256PlusPlus);

impl Dice {
    pub(super) fn new(seed: u64) -> Self {
        Self(Xoshiro256PlusPlus::seed_from_u64(seed))
    }

    /// One of these, each equally often.
    pub(super) fn one_of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.0.random_range(0..choices.len())]
    }

    /// A whole number of a range, each equally often.
    pub(super) fn integer(&mut self, range: RangeInclusive<u64>) -> u64 {
        self.0.random_range(range)
    }

    /// A number between two, each tenfold equally often.
    pub(super) fn log(&mut self, low: f64, high: f64) -> f64 {
        low * (high / low).powf(self.0.random::<f64>())
    }

    /// As [`log`](Self::log), in whole steps of `step`, one at least.
    pub(super) fn steps(&mut self, low: f64, high: f64, step: u64) -> u64 {
        (self.log(low, high) / step as f64).round().max(1.0) as u64 * step
    }

    /// Whether something is so that is with this probability.
    pub(super) fn chance(&mut self, probability: f64) -> bool {
        self.0.random::<f64>() < probability
    }
}
