//! Counts how often the methods are right on series of known truth.

use std::ops::Range;

use likenew_stats::bimodality::{Modality, bimodality};
use likenew_stats::interval::mean_interval;

use crate::series::{Shape, TwoLevels, of_known_mean};

/// Series for each row of a table.
pub(crate) const SERIES: u64 = 1_000;
/// Other seeds than those on which the limits of the methods were chosen.
pub(crate) const SEEDS: Range<u64> = 1_000_000..1_000_000 + SERIES;
/// Lengths of the series.
pub(crate) const LENGTHS: [usize; 5] = [10, 20, 50, 100, 1000];

/// Answers of [`bimodality`].
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct AnswerCounts {
    pub(crate) one: u64,
    pub(crate) two: u64,
    pub(crate) undecided: u64,
}

impl AnswerCounts {
    fn add(&mut self, answer: &Modality) {
        match answer {
            Modality::One => self.one += 1,
            Modality::Two(_) => self.two += 1,
            Modality::Undecided => self.undecided += 1,
        }
    }

    pub(crate) fn total(&self) -> u64 {
        self.one + self.two + self.undecided
    }
}

/// The answers for each shape of one level, by length.
pub(crate) fn one_level() -> Vec<(&'static str, [AnswerCounts; LENGTHS.len()])> {
    let count = |shape: Shape, length: usize| {
        let mut answers = AnswerCounts::default();
        SEEDS.for_each(|seed| answers.add(&bimodality(&shape.series(length, seed))));
        answers
    };
    Shape::ALL.map(|(shape, name)| (name, LENGTHS.map(|length| count(shape, length)))).to_vec()
}

/// The answers for one kind of two levels and one length.
pub(crate) struct TwoLevelRow {
    pub(crate) levels: TwoLevels,
    pub(crate) length: usize,
    /// By the size of the smaller level: 1 to 2, 3 to 5, 6 and more.
    pub(crate) answers: [AnswerCounts; 3],
}

pub(crate) fn two_levels() -> Vec<TwoLevelRow> {
    let kinds = [(2.0, 0.05), (2.0, 0.1), (3.0, 0.05), (3.0, 0.1), (3.0, 0.2), (10.0, 0.2)];
    let mut rows = Vec::new();
    for (ratio, variation) in kinds {
        for length in LENGTHS {
            let levels = TwoLevels { ratio, variation };
            let mut answers = [AnswerCounts::default(); 3];
            for seed in SEEDS {
                let (series, smaller) = levels.series(length, seed);
                answers[[3, 6].partition_point(|size| smaller >= *size)].add(&bimodality(&series));
            }
            rows.push(TwoLevelRow { levels, length, answers });
        }
    }
    rows
}

/// How often a 95% interval of the mean holds the truth.
pub(crate) struct Coverage {
    pub(crate) skewed: bool,
    pub(crate) length: usize,
    pub(crate) coverage: u64,
}

pub(crate) fn coverage() -> Vec<Coverage> {
    let mut rows = Vec::new();
    for skewed in [false, true] {
        // A lognormal with μ = 0 and σ = 0.8 has the mean exp(σ²/2); the normal one has 1.
        let true_mean = if skewed { 0.32f64.exp() } else { 1.0 };
        for length in [3, 5, 10, 30, 100] {
            let holds = |seed: &u64| {
                let interval = mean_interval(&of_known_mean(skewed, length, *seed), 0.95);
                interval.expect("several values have an interval").contains(true_mean)
            };
            rows.push(Coverage { skewed, length, coverage: SEEDS.filter(holds).count() as u64 });
        }
    }
    rows
}
