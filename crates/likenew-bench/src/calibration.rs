//! How well `sim calibrate` finds the parameters of a drive: drives with known values, measured with noise.
//!
//! Each twin is a drive of the catalog with every parameter moved by up to a factor of two. Its runs are those of an owner: a
//! benchmark, a sweep and a long write; every pass is slower or faster by a draw, and the candidates are simulated with other
//! random addresses. Another benchmark is held out.

mod noise;
mod report;
mod twin;

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use anyhow::Context as _;
use clap::Args;
use likenew_calibration::{Calibration, Options as Effort, calibrate};

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

/// A twin and what was found of it.
pub(crate) struct Case {
    pub(crate) twin: Twin,
    pub(crate) calibration: Calibration,
    pub(crate) seconds: f64,
}

/// Prints how well twins are found, each as soon as it is.
///
/// # Errors
/// A twin could not be made, measured or calibrated.
pub(crate) fn run(options: &Options) -> anyhow::Result<()> {
    let (next, cases) = (AtomicU64::new(0), Mutex::new(Vec::new()));
    let work = || -> anyhow::Result<()> {
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            if index >= options.twins {
                return Ok(());
            }
            let case = case(options.first + index, options)?;
            println!("{}", report::line(&case));
            cases.lock().expect("no thread panics with it").push(case);
        }
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..options.threads.max(1)).map(|_| scope.spawn(work)).collect();
        threads.into_iter().try_for_each(|thread| thread.join().expect("a calibration does not panic"))
    })?;
    print!("{}", report::all(&cases.into_inner().expect("no thread panics with it")));
    Ok(())
}

fn case(seed: u64, options: &Options) -> anyhow::Result<Case> {
    let twin = Twin::draw(seed, options.drive.as_deref())?;
    let (runs, held_out) = twin.measure(options.noise)?;
    let effort = Effort { candidates: options.candidates, steps: options.steps, ..Effort::default() };
    let started_at = Instant::now();
    let calibration = calibrate(&twin.base, &runs, &held_out, &effort, &());
    let calibration = calibration.with_context(|| format!("drive {seed} like {}", twin.base.name))?;
    Ok(Case { twin, calibration, seconds: started_at.elapsed().as_secs_f64() })
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
            let score = report::Score::of(std::slice::from_ref(&case));
            assert!(score.determined >= 3, "{drive}: {}", report::line(&case));
            assert!(
                score.within_tenth as f64 >= 0.75 * score.determined as f64,
                "{drive}: {}",
                report::line(&case)
            );
            let held_out = &case.calibration.held_out[0];
            assert!(held_out.typical_error().unwrap() < 0.1, "{drive}: {held_out:?}");
        }
    }
}
