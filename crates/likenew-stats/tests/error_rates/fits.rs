//! How often intervals of fitted times hold the truth, and how often the explanation that is chosen is the true one.

use likenew_stats::hold_out::{HoldOut, hold_out, simplest_equivalent};
use likenew_stats::interval::CONFIDENCE_95;
use likenew_stats::least_squares::{broken_line, positive_sum, profile};
use rand_distr::{Distribution as _, Normal};

use crate::counts::{SEEDS, SERIES};
use crate::series::random;
use crate::tables::{head, percent, row};

/// Points of a curve, from 512 B to 512 MiB at equal ratios.
const POINTS: [usize; 3] = [6, 11, 21];
const SCATTERS: [f64; 3] = [0.01, 0.05, 0.2];
/// What a request takes to begin, in nanoseconds, and each byte.
const ACCESS: f64 = 447_000.0;
const PER_BYTE: f64 = 7.63;
/// Where the rate changes, and by how much.
const KNEE: f64 = 1_048_576.0;
const SLOWER: f64 = 4.0;

fn lengths(points: usize) -> Vec<f64> {
    (0..points).map(|point| 512.0 * 2f64.powf(20.0 * point as f64 / (points - 1) as f64)).collect()
}

/// The times of a curve, each off by a share of itself.
fn times(points: usize, has_knee: bool, scatter: f64, seed: u64) -> Vec<f64> {
    let mut random = random(seed);
    let normal = Normal::new(0.0, scatter).expect("a scatter is positive");
    let at = |length: f64| {
        let slower = if has_knee { (SLOWER - 1.0) * (length - KNEE).max(0.0) } else { 0.0 };
        let off: f64 = normal.sample(&mut random);
        (ACCESS + PER_BYTE * (length + slower)) * off.exp()
    };
    lengths(points).into_iter().map(at).collect()
}

/// Intervals of access time and of the time of a byte.
pub(crate) fn intervals() -> String {
    let mut out = head("points", &SCATTERS.map(|scatter| format!("{}%", scatter * 100.0)));
    for points in POINTS {
        let parts: Vec<[f64; 2]> = lengths(points).into_iter().map(|length| [1.0, length]).collect();
        let cells = SCATTERS.map(|scatter| {
            let (mut access, mut per_byte) = (0, 0);
            for seed in SEEDS {
                let times = times(points, false, scatter, seed);
                let fit = positive_sum(&parts, &times, &vec![0.01; points]).expect("there are enough points");
                let holds = |part, truth| {
                    fit.interval(part, CONFIDENCE_95).is_some_and(|interval| interval.contains(truth))
                };
                access += u64::from(holds(0, ACCESS));
                per_byte += u64::from(holds(1, PER_BYTE));
            }
            format!("{} / {}", percent(access, SERIES), percent(per_byte, SERIES))
        });
        out += &row(points, &cells);
    }
    out
}

/// How often the true form is chosen on held-out points, and how often the interval of the knee holds it.
pub(crate) fn choices() -> String {
    const POINTS: usize = 11;
    let mut out = head("truth", &SCATTERS.map(|scatter| format!("{}%", scatter * 100.0)));
    for (name, has_knee) in [("one rate", false), ("two rates, 1 : 4", true)] {
        let cells = SCATTERS.map(|scatter| {
            let right = SEEDS
                .filter(|seed| choice(&times(POINTS, has_knee, scatter, *seed)) == usize::from(has_knee));
            percent(right.count() as u64, SERIES)
        });
        out += &row(name, &cells);
    }
    let cells = SCATTERS.map(|scatter| {
        let holds = |seed: &u64| {
            let x = lengths(POINTS);
            let parts = |knee: f64, index: usize| broken_line(x[index], knee);
            let profile = profile(
                &knees(&x),
                parts,
                &times(POINTS, true, scatter, *seed),
                &[0.01; POINTS],
                CONFIDENCE_95,
            );
            // The candidates are the points and the middles between them, on either side of the truth.
            profile.is_some_and(|profile| {
                let interval = profile.shape_interval();
                interval.low <= 2.0 * KNEE && KNEE / 2.0 <= interval.high
            })
        };
        percent(SEEDS.filter(holds).count() as u64, SERIES)
    });
    out + &row("knee within its interval", &cells)
}

/// 0 for one rate, 1 for two.
fn choice(times: &[f64]) -> usize {
    let x = lengths(times.len());
    let deviations = vec![0.01; times.len()];
    let inner: Vec<usize> = (1..times.len() - 1).collect();
    let select = |kept: &[usize]| -> (Vec<f64>, Vec<f64>) {
        kept.iter().map(|index| (x[*index], times[*index])).unzip()
    };
    let plain = |kept: &[usize], test_point: usize| {
        let (x_kept, times) = select(kept);
        let parts: Vec<[f64; 2]> = x_kept.iter().map(|x| [1.0, *x]).collect();
        Some(positive_sum(&parts, &times, &deviations[..kept.len()])?.at(&[1.0, x[test_point]]))
    };
    let knee = |kept: &[usize], test_point: usize| {
        let (x_kept, times) = select(kept);
        let parts = |knee: f64, index: usize| broken_line(x_kept[index], knee);
        let profile = profile(&knees(&x_kept), parts, &times, &deviations[..kept.len()], CONFIDENCE_95)?;
        Some(profile.sum.at(&broken_line(x[test_point], profile.shape)))
    };
    let attempts: [Option<HoldOut>; 2] = [hold_out(times, &inner, plain), hold_out(times, &inner, knee)];
    simplest_equivalent(&attempts).expect("both can be fitted")
}

/// Inner lengths and the middles between them.
fn knees(x: &[f64]) -> Vec<f64> {
    let middles = x.windows(2).map(|pair| (pair[0] * pair[1]).sqrt());
    x[1..x.len() - 1].iter().copied().chain(middles).collect()
}
