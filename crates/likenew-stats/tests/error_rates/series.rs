//! Series of known truth, each from a seed.

use rand::{RngExt as _, SeedableRng as _, seq::SliceRandom as _};
use rand_distr::{Distribution, Exp, LogNormal, Normal, Triangular, Uniform};
use rand_xoshiro::Xoshiro256PlusPlus;

/// The randomness of the series with this seed.
pub(crate) fn random(seed: u64) -> Xoshiro256PlusPlus {
    Xoshiro256PlusPlus::seed_from_u64(seed)
}

/// Series of one level.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Shape {
    /// Normal, with this coefficient of variation.
    Normal(f64),
    /// Lognormal, with this standard deviation of the logarithm.
    Lognormal(f64),
    /// Equally likely from the first to the second.
    Uniform(f64, f64),
    /// Logarithms equally likely over this ratio.
    LogUniform(f64),
    /// Triangular from 20 to 180 with its peak at 150.
    Triangular,
    /// Exponential.
    Exponential,
    /// A disk: falls to half along the order, with this coefficient of variation around the line.
    Line(f64),
    /// A disk of so many zones, each of one speed, that falls to half.
    Zones(usize),
    /// Normal (5%), and every fiftieth value a tenth.
    Outliers,
    /// Normal (5%), and one value in ten anywhere below.
    Tail,
}

impl Shape {
    /// What is counted.
    pub(crate) const ALL: [(Self, &'static str); 14] = [
        (Self::Normal(0.05), "normal, 5%"),
        (Self::Normal(0.2), "normal, 20%"),
        (Self::Lognormal(0.3), "lognormal, σ = 0.3"),
        (Self::Lognormal(1.0), "lognormal, σ = 1"),
        (Self::Uniform(80.0, 120.0), "uniform 80 … 120"),
        (Self::Uniform(20.0, 180.0), "uniform 20 … 180"),
        (Self::LogUniform(7.4), "log-uniform, 1 : 7.4"),
        (Self::Triangular, "triangular 20 … 150 … 180"),
        (Self::Exponential, "exponential"),
        (Self::Line(0.0), "falling line, exact"),
        (Self::Line(0.03), "falling line, 3%"),
        (Self::Zones(16), "16 falling zones, exact"),
        (Self::Outliers, "normal, 2 of 100 at a tenth"),
        (Self::Tail, "normal, 10 of 100 scattered below"),
    ];

    /// So many values of it.
    pub(crate) fn series(self, count: usize, seed: u64) -> Vec<f64> {
        let mut random = random(seed);
        let line = |index: usize| 100.0 - 50.0 * index as f64 / count as f64;
        let value = |index: usize| match self {
            Self::Normal(cv) => 100.0 * around_one(cv, &mut random),
            Self::Lognormal(sigma) => LogNormal::new(4.6, sigma).unwrap().sample(&mut random),
            Self::Uniform(low, high) => Uniform::new(low, high).unwrap().sample(&mut random),
            Self::LogUniform(ratio) => 10.0 * ratio.powf(random.random()),
            Self::Triangular => Triangular::new(20.0, 180.0, 150.0).unwrap().sample(&mut random),
            Self::Exponential => Exp::new(0.01).unwrap().sample(&mut random),
            Self::Line(cv) => line(index) * around_one(cv, &mut random),
            Self::Zones(zones) => line(index * zones / count * count / zones),
            Self::Outliers if index % 50 == 7 => 10.0 * around_one(0.05, &mut random),
            Self::Tail if random.random_bool(0.1) => random.random_range(5.0..100.0),
            Self::Outliers | Self::Tail => 100.0 * around_one(0.05, &mut random),
        };
        (0..count).map(value).collect()
    }
}

/// Two levels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct TwoLevels {
    /// Fast over slow.
    pub(crate) ratio: f64,
    /// Coefficient of variation around each level.
    pub(crate) variation: f64,
}

impl TwoLevels {
    /// So many values in random order, and how many of them belong to the smaller level. The share of slow ones is
    /// anywhere from 5% to 95%, both levels occur.
    pub(crate) fn series(self, count: usize, seed: u64) -> (Vec<f64>, usize) {
        let mut random = random(seed);
        let share: f64 = random.random_range(0.05..0.95);
        let slow = ((share * count as f64).round() as usize).clamp(1, count - 1);
        let level = |index: usize| if index < slow { 100.0 / self.ratio } else { 100.0 };
        let mut values: Vec<f64> =
            (0..count).map(|index| level(index) * around_one(self.variation, &mut random)).collect();
        values.shuffle(&mut random);
        (values, slow.min(count - slow))
    }
}

/// Values whose mean and median are known, for counting coverage.
pub(crate) fn of_known_mean(skewed: bool, count: usize, seed: u64) -> Vec<f64> {
    fn draw(from: impl Distribution<f64>, count: usize, seed: u64) -> Vec<f64> {
        from.sample_iter(random(seed)).take(count).collect()
    }
    if skewed {
        draw(LogNormal::new(0.0, 0.8).unwrap(), count, seed)
    } else {
        draw(Normal::new(1.0, 0.2).unwrap(), count, seed)
    }
}

/// Normal around 1; a speed is not negative.
fn around_one(variation: f64, random: &mut Xoshiro256PlusPlus) -> f64 {
    Normal::new(1.0, variation).unwrap().sample(random).max(0.05)
}

/// Normal noise that remembers.
#[derive(Default)]
pub(crate) struct Noise(Option<f64>);

impl Noise {
    /// The next value, with a mean of 1 and this coefficient of variation.
    pub(crate) fn around_one(
        &mut self,
        variation: f64,
        dependence: f64,
        random: &mut Xoshiro256PlusPlus,
    ) -> f64 {
        let new: f64 = Normal::new(0.0, variation).unwrap().sample(random);
        let next = match self.0 {
            Some(last) => dependence * last + (1.0 - dependence * dependence).sqrt() * new,
            None => new,
        };
        self.0 = Some(next);
        (1.0 + next).max(0.05)
    }
}
