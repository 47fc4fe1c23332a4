//! Measures how well `sim calibrate` finds the parameters of a drive, on twins with known values.
//!
//! A twin is a drive of the catalog with every parameter moved by up to a factor of two. Its runs are those
//! of an owner: a benchmark, a sweep and a long write. Every pass is slower or faster by a draw, and the
//! candidates are simulated with other random addresses. Another benchmark is held out.

mod twin;

use std::collections::BTreeMap;
use std::time::Instant;

use anyhow::Context as _;
use clap::Args;
use likenew_calibration::{Calibration, CalibrationOptions, Estimate, Standing, calibrate};

use crate::case_run::on_threads;
use crate::table::{Share, row, table};
use twin::Twin;

/// The drives, and how long to search.
#[derive(Clone, Debug, Args)]
pub(crate) struct Options {
    /// Number of twins
    #[arg(long, default_value_t = 100)]
    twins: u64,
    /// Seed of the first of them
    #[arg(long, default_value_t = 1)]
    first: u64,
    /// Only twins of this drive of the catalog
    #[arg(long, value_name = "NAME")]
    drive: Option<String>,
    /// What passes differ by, as a share
    #[arg(long, default_value_t = 0.02)]
    noise: f64,
    /// Candidates of the global search
    #[arg(long, default_value_t = 150)]
    candidates: usize,
    /// Steps of least squares
    #[arg(long, default_value_t = 8)]
    steps: usize,
    /// Threads, each with its own twin
    #[arg(long, default_value_t = 2)]
    threads: usize,
}

/// A twin and its calibration.
struct Case {
    twin: Twin,
    calibration: Calibration,
    seconds: f64,
}

/// Calibrates twins. Prints each as soon as it is done, then the scores of all.
///
/// # Errors
/// A twin could not be made, measured or calibrated.
pub(crate) fn run(options: &Options) -> anyhow::Result<()> {
    let seeds: Vec<u64> = (options.first..options.first + options.twins).collect();
    let cases = on_threads(options.threads, &seeds, |seed| {
        let case = case(*seed, options)?;
        println!("{}", line(&case));
        Ok(case)
    })?;
    print!("{}", report(&cases));
    Ok(())
}

fn case(seed: u64, options: &Options) -> anyhow::Result<Case> {
    let twin = Twin::draw(seed, options.drive.as_deref())?;
    let (runs, held_out) = twin.measure(options.noise)?;
    let effort = CalibrationOptions {
        candidates: options.candidates,
        steps: options.steps,
        ..CalibrationOptions::default()
    };
    let started_at = Instant::now();
    let calibration = calibrate(&twin.base, &runs, &held_out, &effort, &());
    let calibration = calibration.with_context(|| format!("drive {seed} like {}", twin.base.name))?;
    Ok(Case { twin, calibration, seconds: started_at.elapsed().as_secs_f64() })
}

/// Share within which a value counts as found.
const TENTH: f64 = 0.1;

/// Counts over pairs of a twin and a parameter.
#[derive(Clone, Debug, Default, PartialEq)]
struct Score {
    /// Pairs whose parameter is reported as determined.
    determined: Share,
    /// Determined pairs whose value is within a tenth of the truth.
    within_tenth: Share,
    /// Determined pairs whose interval holds the truth.
    determined_hold: Share,
    /// Pairs whose interval holds the truth, of those reported as determined or rough.
    intervals_hold: Share,
    /// Distance of each value from the truth, as a logarithm.
    errors: Vec<f64>,
}

impl Score {
    fn compute<'a>(pairs: impl IntoIterator<Item = (&'a Estimate, f64)>) -> Self {
        let mut score = Self::default();
        pairs.into_iter().for_each(|(estimate, truth)| score.add(estimate, truth));
        score
    }

    fn add(&mut self, estimate: &Estimate, truth: f64) {
        let holds = (estimate.low..=estimate.high).contains(&truth);
        let error = (estimate.value / truth).ln().abs();
        self.determined.add(estimate.standing == Standing::Determined);
        if estimate.standing == Standing::Determined {
            self.within_tenth.add(error.exp() <= 1.0 + TENTH);
            self.determined_hold.add(holds);
        }
        if matches!(estimate.standing, Standing::Determined | Standing::Rough) {
            self.intervals_hold.add(holds);
        }
        self.errors.push(error);
    }

    fn row(&self, name: &str) -> Vec<String> {
        let Self { determined, within_tenth, intervals_hold, errors, .. } = self;
        let error = format!("{:.1}%", 100.0 * upper_median(errors).exp_m1());
        row(&[&name, determined, within_tenth, intervals_hold, &error])
    }
}

/// The middle value, or the upper of two; 0 for none.
fn upper_median(values: &[f64]) -> f64 {
    let mut values = values.to_vec();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(0.0)
}

/// Each estimate with its true value.
fn pairs(case: &Case) -> impl Iterator<Item = (&Estimate, f64)> {
    case.calibration.estimates.iter().filter_map(|estimate| {
        let truth = case.twin.truth.iter().find(|(key, _)| *key == estimate.key)?;
        Some((estimate, truth.1))
    })
}

/// A line about one twin, and the parameters that it determined wrongly.
fn line(case: &Case) -> String {
    let Score { determined, within_tenth, intervals_hold, .. } = Score::compute(pairs(case));
    let held_out = &case.calibration.held_out[0];
    let percent =
        |error: Option<f64>| error.map_or_else(|| "?".into(), |error| format!("{:.1}%", error * 100.0));
    let mut text = format!(
        "{:4} {:24} determined {determined}, within 10% {within_tenth}; intervals that hold {intervals_hold}; held out {} (worst {}); {} candidates, {:.0} s",
        case.twin.seed,
        case.twin.base.name,
        percent(held_out.typical_error()),
        percent(held_out.worst().map(|test| test.error())),
        case.calibration.candidates,
        case.seconds,
    );
    for (estimate, truth) in pairs(case) {
        let holds = (estimate.low..=estimate.high).contains(&truth);
        if !holds && matches!(estimate.standing, Standing::Determined | Standing::Rough) {
            let [truth, value, low, high] =
                [truth, estimate.value, estimate.low, estimate.high].map(|value| estimate.unit.text(value));
            text += &format!("\n       {}: true {truth}, found {value} ({low} to {high})", estimate.key);
        }
    }
    text
}

/// The scores of all twins, and of each parameter.
fn report(cases: &[Case]) -> String {
    let mut by_key: BTreeMap<&str, Score> = BTreeMap::new();
    for (estimate, truth) in cases.iter().flat_map(pairs) {
        by_key.entry(estimate.key).or_default().add(estimate, truth);
    }
    let total = Score::compute(cases.iter().flat_map(pairs));
    let rows = by_key.iter().map(|(key, score)| score.row(key)).chain([total.row("all")]);
    let table = table(&["parameter", "determined", "within 10%", "intervals hold", "median error"], rows);
    let held_out = || cases.iter().map(|case| &case.calibration.held_out[0]);
    let typical: Vec<f64> = held_out().filter_map(|run| run.typical_error()).collect();
    let worst: Vec<f64> = held_out().filter_map(|run| Some(run.worst()?.error())).collect();
    format!(
        "\n{table}\n{} twins. Of the determined pairs, 90% intervals that hold the truth: {}.\n\
         Held-out runs: median error of a run's tests {:.1}%, of its worst test {:.1}% (medians over the twins).\n",
        cases.len(),
        total.determined_hold,
        100.0 * upper_median(&typical),
        100.0 * upper_median(&worst),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_few_twins_are_found_within_a_tenth() {
        let options =
            Options { twins: 0, first: 1, drive: None, noise: 0.02, candidates: 60, steps: 5, threads: 1 };
        for drive in ["tiny-flash", "wd6400aaks"] {
            let case = case(1, &Options { drive: Some(drive.into()), ..options.clone() }).unwrap();
            let score = Score::compute(pairs(&case));
            assert!(score.determined.part >= 3, "{drive}: {}", line(&case));
            assert!(score.within_tenth.percent() >= 75.0, "{drive}: {}", line(&case));
            let held_out = &case.calibration.held_out[0];
            assert!(held_out.typical_error().unwrap() < 0.1, "{drive}: {held_out:?}");
        }
    }
}
