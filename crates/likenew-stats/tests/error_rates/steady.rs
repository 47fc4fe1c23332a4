//! What the rule of steady state does on series of known truth.

use likenew_stats::steady_state::{ROUNDS, ROUNDS_MAX, Window, steady_at};

use crate::counts::{SEEDS, SERIES};
use crate::series::{Noise, random};
use crate::tables::{percent, row};

/// Coefficients of variation around the course.
const VARIATIONS: [f64; 4] = [0.01, 0.03, 0.06, 0.1];

/// Rounds of a drive, with the level each would have without noise.
fn rounds(level: impl Fn(usize) -> f64, variation: f64, seed: u64) -> Vec<f64> {
    let mut random = random(seed);
    let mut noise = Noise::default();
    (0..ROUNDS_MAX).map(|round| level(round) * noise.around_one(variation, 0.0, &mut random)).collect()
}

/// When series of this course are called steady: how many by the first window, how many by the last round allowed, and
/// after how many rounds on average if they are; and by how much the mean of that window misses the level in the end.
fn call_rates(level: &dyn Fn(usize) -> f64, truth: f64, variation: f64) -> [String; 4] {
    let (mut first, mut called, mut sum, mut excess) = (0, 0, 0, 0.0);
    for seed in SEEDS {
        let series = rounds(level, variation, seed);
        if let Some(at) = steady_at(&series) {
            let window = Window::last(&series[..at]).expect("a window is full");
            (called, sum, excess) = (called + 1, sum + at, excess + window.mean / truth - 1.0);
            first += u64::from(at == ROUNDS);
        }
    }
    let of_called =
        |sum: f64| if called == 0 { "–".to_owned() } else { format!("{:.1}", sum / called as f64) };
    [percent(first, SERIES), percent(called, SERIES), of_called(sum as f64), of_called(100.0 * excess)]
}

/// Drives that are steady from the first round, that fall for ever, and that settle.
pub(crate) fn table() -> String {
    let mut out = String::from(
        "| course | noise | steady after 5 rounds | after 25 at most | rounds, mean | over the final level |\n\
         |---|---|---|---|---|---|\n",
    );
    let mut add = |name: &str, level: &dyn Fn(usize) -> f64, truth: Option<f64>| {
        for variation in VARIATIONS {
            let [first, called, mean, excess] = call_rates(level, truth.unwrap_or(1.0), variation);
            let excess =
                if truth.is_some() && excess != "–" { format!("{excess}%") } else { "–".to_owned() };
            out += &row(format!("{name} | {}%", variation * 100.0), &[first, called, mean, excess]);
        }
    };
    add("steady", &|_| 1.0, Some(1.0));
    for fall in [0.01, 0.02, 0.03, 0.05, 0.1] {
        let name = format!("falls by {}% a round", fall * 100.0);
        add(&name, &|round| (1.0f64 - fall).powi(round as i32), None);
    }
    for time in [2.0, 5.0, 10.0] {
        let name = format!("from 3 to 1, by 63% in {time} rounds");
        add(&name, &|round| 1.0 + 2.0 * (-(round as f64) / time).exp(), Some(1.0));
    }
    out
}
