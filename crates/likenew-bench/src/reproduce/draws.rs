//! Drives drawn from what is not known of them: a Latin hypercube over the ranges that their files state.
//!
//! Each range is divided into as many equal parts as there are draws, and each part is drawn from once, in a random order
//! for each parameter (McKay, Beckman and Conover, "A comparison of three methods for selecting values of input variables in
//! the analysis of output from a computer code", Technometrics 21(2), 1979).

use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::Context as _;
use likenew_sim::{ParameterRange, SimDrive, Spec, catalog};
use likenew_stats::summary::quantile;
use likenew_stats::trend::rank_correlation;
use rand::seq::SliceRandom as _;
use rand::{RngExt as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;

/// All pages are made of the same draws.
const SEED: u64 = 1;

/// A drive of the catalog with values that were drawn.
#[derive(Clone, Debug)]
pub(super) struct Draw {
    name: &'static str,
    values: Vec<(String, String)>,
}

impl Draw {
    /// The drive as the catalog has it.
    pub(super) fn as_catalogued(name: &'static str) -> Self {
        Self { name, values: Vec::new() }
    }

    /// The drive in the state that a query says.
    ///
    /// # Errors
    /// The drawn values do not fit together.
    pub(super) fn open(&self, query: &str) -> anyhow::Result<SimDrive> {
        let values: Vec<(&str, &str)> =
            self.values.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
        let spec = Spec::parse(&format!("sim:{}?{query}", self.name))?;
        let drive = spec.open_with(&values, |_| Err(std::io::ErrorKind::NotFound.into()));
        drive.with_context(|| format!("{} with {:?}", self.name, self.values))
    }
}

/// The draws of one drive.
pub(super) struct Hypercube {
    /// What was drawn, by key.
    keys: Vec<String>,
    /// For each draw the position of each parameter in its range.
    positions: Vec<Vec<f64>>,
    pub(super) draws: Vec<Draw>,
}

impl Hypercube {
    /// So many draws of a drive.
    ///
    /// # Panics
    /// When the catalog has no such drive.
    pub(super) fn new(name: &'static str, count: usize) -> Self {
        let entry = catalog().iter().find(|entry| entry.name == name).expect("a drive of the catalog");
        let ranges: Vec<(&str, &ParameterRange)> = entry
            .model
            .sources
            .iter()
            .filter_map(|sourced| Some((sourced.key.as_str(), sourced.range.as_ref()?)))
            .collect();
        let positions = latin_hypercube(ranges.len(), count);
        let draw = |positions: &Vec<f64>| Draw {
            name,
            values: ranges
                .iter()
                .zip(positions)
                .map(|((key, range), position)| ((*key).to_owned(), range.at(*position)))
                .collect(),
        };
        let draws = positions.iter().map(draw).collect();
        Self { keys: ranges.iter().map(|(key, _)| (*key).to_owned()).collect(), positions, draws }
    }

    /// The parameters whose order is the order of the results most of all, at most three, with Spearman's ρ; only those whose
    /// 95% interval excludes no order at all.
    pub(super) fn deciding(&self, results: &[f64]) -> Vec<(&str, f64)> {
        let mut found: Vec<(&str, f64)> = (0..self.keys.len())
            .filter_map(|index| {
                let drawn: Vec<f64> = self.positions.iter().map(|draw| draw[index]).collect();
                let correlation = rank_correlation(&drawn, results)?;
                let interval = correlation.interval;
                (interval.low > 0.0 || interval.high < 0.0)
                    .then_some((self.keys[index].as_str(), correlation.value))
            })
            .collect();
        found.sort_by(|a, b| b.1.abs().total_cmp(&a.1.abs()));
        found.truncate(3);
        found
    }
}

/// For each draw a position below 1 in each dimension.
fn latin_hypercube(dimensions: usize, count: usize) -> Vec<Vec<f64>> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(SEED);
    let mut draws = vec![Vec::with_capacity(dimensions); count];
    for _ in 0..dimensions {
        let mut parts: Vec<usize> = (0..count).collect();
        parts.shuffle(&mut random);
        for (draw, part) in draws.iter_mut().zip(parts) {
            draw.push((part as f64 + random.random::<f64>()) / count as f64);
        }
    }
    draws
}

/// A median and what 90% of the draws lie within.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Interval {
    pub(super) median: f64,
    pub(super) low: f64,
    pub(super) high: f64,
}

impl Interval {
    /// Of results of which there is at least one.
    pub(super) fn from_results(results: &[f64]) -> Self {
        let at = |share| quantile(results, share).expect("there are results");
        Self { median: at(0.5), low: at(0.05), high: at(0.95) }
    }
}

/// Runs something on every draw, on all processors, and returns the results in the order of the draws.
///
/// # Errors
/// The first failure.
pub(super) fn on_every_draw<T: Send>(
    draws: &[Draw],
    run: impl Fn(&Draw) -> anyhow::Result<T> + Sync,
) -> anyhow::Result<Vec<T>> {
    let workers = std::thread::available_parallelism().map_or(1, usize::from).min(draws.len().max(1));
    let next = AtomicUsize::new(0);
    let work = || {
        let mut done = Vec::new();
        while let Some((index, draw)) = {
            let index = next.fetch_add(1, Ordering::Relaxed);
            draws.get(index).map(|draw| (index, draw))
        } {
            done.push((index, run(draw)?));
        }
        anyhow::Ok(done)
    };
    let parts = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..workers).map(|_| scope.spawn(work)).collect();
        let joined = threads.into_iter().map(|thread| thread.join().expect("a draw does not panic"));
        joined.collect::<anyhow::Result<Vec<_>>>()
    })?;
    let mut results: Vec<(usize, T)> = parts.into_iter().flatten().collect();
    results.sort_by_key(|(index, _)| *index);
    Ok(results.into_iter().map(|(_, result)| result).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_of_every_range_is_drawn_once() {
        let draws = latin_hypercube(5, 64);
        for dimension in 0..5 {
            let mut parts: Vec<usize> = draws.iter().map(|draw| (draw[dimension] * 64.0) as usize).collect();
            parts.sort_unstable();
            assert_eq!(parts, (0..64).collect::<Vec<_>>());
        }
        assert_eq!(draws, latin_hypercube(5, 64));
        assert_ne!(draws[0][0], draws[0][1]);
    }

    #[test]
    fn every_draw_of_every_drive_of_the_studies_can_be_built() {
        for name in super::super::predictions::drives() {
            let cube = Hypercube::new(name, 32);
            assert!(!cube.keys.is_empty(), "{name} states no range");
            for draw in &cube.draws {
                draw.open("state=new").unwrap();
            }
        }
    }

    #[test]
    fn what_decides_a_result_is_found_and_nothing_else() {
        let cube = Hypercube::new("intel-x25-m-80gb", 64);
        let index = cube.keys.iter().position(|key| key == "firmware.write_command_ns").unwrap();
        let results: Vec<f64> = cube.positions.iter().map(|draw| -draw[index].powi(3)).collect();
        let deciding = cube.deciding(&results);
        assert_eq!(deciding[0].0, "firmware.write_command_ns");
        assert!(deciding[0].1 < -0.99 && deciding.iter().skip(1).all(|(_, rho)| rho.abs() < 0.5));
    }

    #[test]
    fn results_come_in_the_order_of_the_draws() {
        let cube = Hypercube::new("intel-x25-m-80gb", 40);
        let values = on_every_draw(&cube.draws, |draw| Ok(draw.values.clone())).unwrap();
        assert_eq!(values, cube.draws.iter().map(|draw| draw.values.clone()).collect::<Vec<_>>());
        let failed = on_every_draw(&cube.draws, |_| -> anyhow::Result<()> { anyhow::bail!("no") });
        assert!(failed.is_err());
    }

    #[test]
    fn an_interval_holds_nine_tenths() {
        let results: Vec<f64> = (0..=100).map(f64::from).collect();
        assert_eq!(Interval::from_results(&results), Interval { median: 50.0, low: 5.0, high: 95.0 });
    }
}
