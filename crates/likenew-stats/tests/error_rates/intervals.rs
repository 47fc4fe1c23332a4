//! How often intervals hold the truth: of dependent windows, ratios, shares, rates, medians, and at stopping.

use likenew_stats::interval::{
    Goal, Interval, Precision, median_interval, precision, rate_interval, ratio_interval, share_interval,
    window_interval,
};
use rand::RngExt as _;
use rand_distr::{Distribution as _, Poisson};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::counts::{SEEDS, SERIES};
use crate::series::{Noise, of_known_mean, random};
use crate::tables::{head, percent, row, thousands};

/// How often an interval that exists holds the truth, in percent.
fn coverage_percent(truth: f64, interval: impl Fn(u64) -> Option<Interval>) -> String {
    let intervals: Vec<Interval> = SEEDS.filter_map(interval).collect();
    percent(
        intervals.iter().filter(|interval| interval.contains(truth)).count() as u64,
        intervals.len() as u64,
    )
}

/// So many values around 1, each depending on the one before it.
fn around_one(count: usize, variation: f64, dependence: f64, random: &mut Xoshiro256PlusPlus) -> Vec<f64> {
    let mut noise = Noise::default();
    (0..count).map(|_| noise.around_one(variation, dependence, random)).collect()
}

/// Correlations of neighboring windows.
const DEPENDENCES: [f64; 4] = [0.0, 0.3, 0.5, 0.8];

pub(crate) fn windows_head() -> String {
    head("windows", &DEPENDENCES.map(|dependence| format!("φ = {dependence}")))
}

pub(crate) fn windows_rows(lengths: &[usize]) -> String {
    let mut out = String::new();
    for length in lengths {
        let cells = DEPENDENCES.map(|dependence| {
            coverage_percent(1.0, |seed| {
                window_interval(&around_one(*length, 0.1, dependence, &mut random(seed)), 0.95)
            })
        });
        out += &row(format!("n = {}", thousands(*length as u64)), &cells);
    }
    out
}

/// Ratios of two means, by how much the values of each vary, and how many there are of each.
pub(crate) fn ratios() -> String {
    const COUNTS: [(usize, usize); 5] = [(3, 3), (3, 10), (5, 5), (10, 3), (10, 10)];
    let mut out = head("ratio of values", &COUNTS.map(|(above, below)| format!("{above} to {below}")));
    for (above, below) in [(0.02, 0.02), (0.1, 0.1), (0.02, 0.1), (0.1, 0.02), (0.2, 0.2)] {
        let cells = COUNTS.map(|(count_above, count_below)| {
            coverage_percent(1.0, |seed| {
                let mut random = random(seed);
                let numerator = around_one(count_above, above, 0.0, &mut random);
                let denominator = around_one(count_below, below, 0.0, &mut random);
                ratio_interval(&numerator, &denominator, 0.95)
            })
        });
        out += &row(format!("{}% to {}%", above * 100.0, below * 100.0), &cells);
    }
    out
}

/// Shares and rates, which are counted, and medians.
pub(crate) fn count_table() -> String {
    let mut out = String::from("| interval | of | holds the truth |\n|---|---|---|\n");
    let mut add = |name: &str, sample: String, coverage: String| {
        out += &row(name, &[sample, coverage + "%"]);
    };
    for share in [0.01, 0.1, 0.5] {
        for cases in [10, 30, 100, 1000] {
            let hits = |seed| {
                let mut random = random(seed);
                (0..cases).filter(|_| random.random_bool(share)).count() as u64
            };
            add(
                "share, Wilson",
                format!("{}% of {}", share * 100.0, thousands(cases)),
                coverage_percent(share, |seed| share_interval(hits(seed), cases, 0.95)),
            );
        }
    }
    for rate in [0.1, 1.0, 3.0, 10.0, 100.0] {
        let events = |seed| Poisson::new(rate).unwrap().sample(&mut random(seed)) as u64;
        add(
            "rate, Garwood",
            format!("{rate} expected"),
            coverage_percent(rate, |seed| Some(rate_interval(events(seed), 0.95))),
        );
    }
    for length in [6, 10, 30, 100] {
        let values = |seed| of_known_mean(true, length, seed);
        add(
            "median, order",
            format!("{length} lognormal"),
            coverage_percent(1.0, |seed| median_interval(&values(seed), 0.95)),
        );
    }
    out
}

/// Coefficients of variation of the passes.
const VARIATIONS: [f64; 7] = [0.005, 0.01, 0.02, 0.03, 0.05, 0.08, 0.15];
/// Goals: half the width over the mean, and the least number of passes.
pub(crate) const GOALS: [(f64, usize); 4] = [(0.05, 5), (0.05, 3), (0.02, 5), (0.02, 3)];

pub(crate) fn stopping_head() -> String {
    head("goal", &VARIATIONS.map(|variation| format!("{}%", variation * 100.0)))
}

/// Stopping at a goal: how often the interval then holds the truth, how often the goal is reached, and how
/// many passes it took.
pub(crate) fn stopping_rows(goals: &[(f64, usize)]) -> String {
    let mut out = String::new();
    for (share, passes_min) in goals.iter().copied() {
        let goal = Goal { share, passes_min, ..Goal::default() };
        let cells = VARIATIONS.map(|variation| {
            let (mut coverage, mut reached, mut passes) = (0, 0, 0);
            for seed in SEEDS {
                let (interval, is_reached, count) = stop_at_goal(&goal, variation, &mut random(seed));
                coverage += u64::from(interval.contains(1.0));
                reached += u64::from(is_reached);
                passes += count;
            }
            let mean = passes as f64 / SERIES as f64;
            format!("{} / {} / {mean:.1}", percent(coverage, SERIES), percent(reached, SERIES))
        });
        out += &row(format!("± {}%, from {passes_min} passes", share * 100.0), &cells);
    }
    out
}

fn stop_at_goal(goal: &Goal, variation: f64, random: &mut Xoshiro256PlusPlus) -> (Interval, bool, usize) {
    let mut passes = Vec::new();
    loop {
        passes.extend(around_one(1, variation, 0.0, random));
        match precision(&passes, goal) {
            Precision::More => {}
            Precision::Reached(interval) => return (interval, true, passes.len()),
            Precision::Unreachable(interval) => return (interval, false, passes.len()),
        }
    }
}
