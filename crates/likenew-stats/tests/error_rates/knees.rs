//! Series with knees, and series without that look as if they had some.

use std::cmp::Ordering;

use likenew_stats::change_points::{Knee, knees, zones};
use rand::RngExt as _;
use rand_distr::{Distribution, LogNormal, StudentT};

use crate::counts::{SEEDS, SERIES};
use crate::series::{Noise, random};
use crate::tables::{head, percent, row, thousands};

/// Lengths of the series.
pub(crate) const LENGTHS: [usize; 4] = [20, 50, 200, 1000];
/// Ratios of the levels.
pub(crate) const RATIOS: [f64; 5] = [1.1, 1.25, 1.5, 2.0, 5.0];
/// Coefficients of variation around the levels.
pub(crate) const VARIATIONS: [f64; 4] = [0.02, 0.05, 0.1, 0.2];

/// Series without a knee.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Plain {
    /// Normal, with this coefficient of variation.
    Normal(f64),
    /// Each value depends on the one before it by this much; 10% around the level.
    Dependent(f64),
    /// Lognormal, with this standard deviation of the logarithm.
    Lognormal(f64),
    /// Student's distribution with three degrees of freedom, of this scale.
    Heavy(f64),
    /// Normal (5%), and one value in fifty at a tenth.
    Hiccups,
    /// Normal (5%), and one value in ten anywhere below.
    Tail,
    /// One value in three at a tenth, in random order.
    Mixed,
    /// Falls along a straight line to half, with this coefficient of variation around it.
    Line(f64),
    /// Falls as the speed of a disk does whose inner tracks are half as long, around which this is the coefficient of
    /// variation.
    Disk(f64),
    /// A wave of this many values, 20% up and down, and 3% of noise.
    Wave(f64),
}

impl Plain {
    pub(crate) const ALL: [(Self, &'static str); 17] = [
        (Self::Normal(0.02), "normal, 2%"),
        (Self::Normal(0.05), "normal, 5%"),
        (Self::Normal(0.2), "normal, 20%"),
        (Self::Dependent(0.3), "AR(1), φ = 0.3, 10%"),
        (Self::Dependent(0.5), "AR(1), φ = 0.5, 10%"),
        (Self::Dependent(0.8), "AR(1), φ = 0.8, 10%"),
        (Self::Lognormal(0.5), "lognormal, σ = 0.5"),
        (Self::Heavy(0.1), "Student, 3 degrees of freedom, 10%"),
        (Self::Hiccups, "normal 5%, 2 of 100 at a tenth"),
        (Self::Tail, "normal 5%, 10 of 100 scattered below"),
        (Self::Mixed, "a third at a tenth, in random order"),
        (Self::Line(0.0), "falling line, exact"),
        (Self::Line(0.03), "falling line, 3%"),
        (Self::Line(0.1), "falling line, 10%"),
        (Self::Disk(0.03), "a disk's curve, 3%"),
        (Self::Wave(8.0), "wave of 8 values"),
        (Self::Wave(16.0), "wave of 16 values"),
    ];

    pub(crate) fn series(self, count: usize, seed: u64) -> Vec<f64> {
        let mut random = random(seed);
        let mut noise = Noise::default();
        let phase: f64 = random.random();
        let value = |index: usize| {
            let place = index as f64 / count as f64;
            match self {
                Self::Normal(cv) => noise.around_one(cv, 0.0, &mut random),
                Self::Dependent(on) => noise.around_one(0.1, on, &mut random),
                Self::Lognormal(sigma) => LogNormal::new(0.0, sigma).unwrap().sample(&mut random),
                Self::Heavy(scale) => {
                    (1.0 + scale * StudentT::new(3.0).unwrap().sample(&mut random)).max(0.0)
                }
                Self::Hiccups if random.random_bool(0.02) => 0.1 * noise.around_one(0.05, 0.0, &mut random),
                Self::Tail if random.random_bool(0.1) => random.random_range(0.05..1.0),
                Self::Hiccups | Self::Tail => noise.around_one(0.05, 0.0, &mut random),
                Self::Mixed => {
                    noise.around_one(0.05, 0.0, &mut random)
                        / if random.random_bool(1.0 / 3.0) { 10.0 } else { 1.0 }
                }
                Self::Line(cv) => (1.0 - 0.5 * place) * noise.around_one(cv, 0.0, &mut random),
                Self::Disk(cv) => (1.0 - 0.75 * place).sqrt() * noise.around_one(cv, 0.0, &mut random),
                Self::Wave(length) => {
                    let angle = std::f64::consts::TAU * (phase + index as f64 / length);
                    (1.0 + 0.2 * angle.sin()) * noise.around_one(0.03, 0.0, &mut random)
                }
            }
        };
        (0..count).map(value).map(|value| 100.0 * value).collect()
    }
}

/// How often series without a knee are said to have one, by length.
pub(crate) fn false_knees(lengths: &[usize]) -> Vec<(&'static str, Vec<u64>)> {
    let count = |plain: Plain, length: &usize| {
        SEEDS.filter(|seed| !knees(&plain.series(*length, *seed)).is_empty()).count() as u64
    };
    Plain::ALL
        .iter()
        .map(|(plain, name)| (*name, lengths.iter().map(|length| count(*plain, length)).collect()))
        .collect()
}

pub(crate) fn false_knees_head() -> String {
    head("no knee", &LENGTHS.map(|length| format!("n = {}", thousands(length as u64))))
}

/// The row of a shape, which begins the same for fewer lengths.
pub(crate) fn false_knees_row(name: &str, counts: &[u64]) -> String {
    let cells: Vec<String> = counts.iter().map(|count| percent(*count, SERIES)).collect();
    format!("| {name} | {} |", cells.join(" | "))
}

/// Series with knees.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct SteppedSeries {
    pub(crate) knees: usize,
    /// Ratio of neighboring levels.
    pub(crate) ratio: f64,
    pub(crate) variation: f64,
}

impl SteppedSeries {
    /// So many values, and where the knees are: one knee anywhere from 15% to 85% of the series, a second one anywhere
    /// from 30% of it after the first. The level falls, and falls again or rises again.
    fn series(self, count: usize, seed: u64) -> (Vec<f64>, Vec<usize>) {
        let mut random = random(seed);
        let at = |share: f64| (share * count as f64).round() as usize;
        let places = match self.knees {
            1 => vec![at(random.random_range(0.15..0.85))],
            _ => {
                let first = random.random_range(0.15..0.5);
                vec![at(first), at(random.random_range(first + 0.3..0.85))]
            }
        };
        let again = random.random_bool(0.5);
        let (mut noise, mut values) = (Noise::default(), Vec::new());
        for index in 0..count {
            let level = match places.iter().filter(|place| index >= **place).count() {
                0 => 100.0,
                1 => 100.0 / self.ratio,
                _ if again => 100.0 / self.ratio / self.ratio,
                _ => 100.0,
            };
            values.push(level * noise.around_one(self.variation, 0.0, &mut random));
        }
        (values, places)
    }
}

/// What became of series with knees.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct KneeCounts {
    /// As many knees as there are, each at most 2% of the series or one value from its place.
    pub(crate) found: u64,
    /// As many as there are, one of them further off.
    pub(crate) misplaced: u64,
    pub(crate) too_few: u64,
    pub(crate) too_many: u64,
    /// Knees of the first two kinds, and those whose place is within the reported interval.
    pub(crate) knees: u64,
    pub(crate) placed: u64,
}

impl KneeCounts {
    fn add(&mut self, knees: &[Knee], places: &[usize], count: usize) {
        let tolerance = (count / 50).max(1);
        let is_near = |(knee, place): (&Knee, &usize)| knee.at.abs_diff(*place) <= tolerance;
        let holds = |(knee, place): (&Knee, &usize)| (knee.at_low..=knee.at_high).contains(place);
        match knees.len().cmp(&places.len()) {
            Ordering::Less => self.too_few += 1,
            Ordering::Greater => self.too_many += 1,
            Ordering::Equal => {
                let near = knees.iter().zip(places).all(is_near);
                *(if near { &mut self.found } else { &mut self.misplaced }) += 1;
                self.knees += places.len() as u64;
                self.placed += knees.iter().zip(places).filter(|pair| holds(*pair)).count() as u64;
            }
        }
    }
}

/// Series with so many knees, by ratio of the levels.
pub(crate) struct StepRow {
    pub(crate) knees: usize,
    pub(crate) variation: f64,
    pub(crate) length: usize,
    pub(crate) found: [KneeCounts; RATIOS.len()],
}

pub(crate) fn steps(lengths: &[usize]) -> Vec<StepRow> {
    let mut rows = Vec::new();
    for knees in [1, 2] {
        for variation in VARIATIONS {
            for length in lengths {
                let found =
                    RATIOS.map(|ratio| count_found(SteppedSeries { knees, ratio, variation }, *length));
                rows.push(StepRow { knees, variation, length: *length, found });
            }
        }
    }
    rows
}

fn count_found(stepped: SteppedSeries, length: usize) -> KneeCounts {
    let mut answers = KneeCounts::default();
    for seed in SEEDS {
        let (series, places) = stepped.series(length, seed);
        answers.add(&knees(&series), &places, length);
    }
    answers
}

pub(crate) fn steps_head() -> String {
    let ratios = RATIOS.map(|ratio| format!("ratio {ratio}")).join(" | ");
    format!("| knees | n | {ratios} | place held |\n|---|---|{}---|\n", "---|".repeat(RATIOS.len()))
}

pub(crate) fn steps_row(row: &StepRow) -> String {
    let cells = row.found.map(|counts| {
        [counts.found, counts.misplaced, counts.too_few, counts.too_many]
            .map(|count| percent(count, SERIES))
            .join(" / ")
    });
    let sum = |count: fn(&KneeCounts) -> u64| row.found.iter().map(count).sum::<u64>();
    format!(
        "| {}, {}% | {} | {} | {} |",
        row.knees,
        row.variation * 100.0,
        thousands(row.length as u64),
        cells.join(" | "),
        percent(sum(|counts| counts.placed), sum(|counts| counts.knees))
    )
}

/// Standard deviations around the zones, in percent.
const ZONE_NOISE: [f64; 6] = [0.0, 0.25, 0.5, 1.0, 2.0, 3.0];

/// Sixteen falling zones: how often all of them are found, or one slope, or something else.
pub(crate) fn sixteen_zones(lengths: &[usize]) -> String {
    let mut out = String::new();
    for length in lengths {
        for noise in ZONE_NOISE {
            let mut counts = [0; 3];
            for seed in SEEDS {
                let values = zoned_series(*length, noise / 100.0, seed);
                counts[match zones(&values).len() {
                    16 => 0,
                    1 => 1,
                    _ => 2,
                }] += 1;
            }
            out += &row(format!("{noise}% | {length}"), &counts.map(|count| percent(count, SERIES)));
        }
    }
    out
}

pub(crate) fn zones_head() -> String {
    "| noise | n | 16 zones | one slope | other |\n|---|---|---|---|---|\n".to_owned()
}

/// Sixteen zones of equal length, from 100 down to half of it.
fn zoned_series(count: usize, variation: f64, seed: u64) -> Vec<f64> {
    let mut random = random(seed);
    let mut noise = Noise::default();
    let level = |index: usize| 100.0 - 50.0 * (index * 16 / count) as f64 / 15.0;
    (0..count).map(|index| level(index) * noise.around_one(variation, 0.0, &mut random)).collect()
}
