//! Measures how accurate an X-ray is, on generated drives with known internals.

mod case;
mod published_models;
mod report;

use std::ops::Range;

use anyhow::Context as _;
use clap::Args;
use likenew_sim::generator::{Family, generate};

use case::{Case, Noise, Query};
use report::{Score, rows_of};

use crate::case_run::on_threads;
use crate::table::{Share, middle};

/// The drives, and what to do with them.
#[derive(Clone, Debug, Args)]
pub(crate) struct Options {
    /// Number of generated drives
    #[arg(long, default_value_t = 200)]
    drives: u64,
    /// Seed of the first of them
    #[arg(long, default_value_t = 1)]
    first: u64,
    /// One drive: truth beside answer, and why
    #[arg(long, value_name = "SEED")]
    drive: Option<u64>,
    /// Only drives of this family, such as "page map" or "FAST"
    #[arg(long)]
    family: Option<String>,
    /// Tests to run; all of them by default
    #[arg(long, value_delimiter = ',')]
    only: Vec<String>,
    /// Repeat some drives with a noisy neighbor, outliers and throttling
    #[arg(long)]
    noisy: bool,
    /// Only the results of `model` for the drives of a published study
    #[arg(long)]
    published_models: bool,
    /// Threads, each with its own drive
    #[arg(long, default_value_t = 2)]
    threads: usize,
}

/// Prints how accurate an X-ray is.
///
/// # Errors
/// There is no such family, or a drive cannot be opened.
pub(crate) fn run(options: &Options) -> anyhow::Result<()> {
    let query = Query { only: options.only.clone(), noise: None };
    if options.published_models {
        print!("{}", published_models::report()?);
        return Ok(());
    }
    if let Some(seed) = options.drive {
        print!("{}", report::property_rows(&Case::run(seed, &query)?));
        return Ok(());
    }
    let seeds = seeds(options)?;
    let cases = run_all(&seeds, &query, options.threads)?;
    print!("{}", report::all(&cases));
    if options.noisy {
        print!("{}", noisy(&seeds, cases, &query, options.threads)?);
    } else if options.only.is_empty() && options.family.is_none() {
        print!("{}", published_models::report()?);
    }
    Ok(())
}

/// Results of X-rays of several drives.
pub(crate) struct Summary {
    cases: Vec<Case>,
    /// Median of the bytes written over the capacity.
    pub(crate) capacities_written: f64,
    /// Confident answers that are wrong, of all answers.
    pub(crate) false_claims: Share,
}

impl Summary {
    /// Drives with a right answer, of those that have the property and show it.
    pub(crate) fn right(&self, property: &str) -> Share {
        Score::compute(rows_of(&self.cases, property)).right
    }
}

/// X-rays the drives of some seeds, on all cores.
///
/// # Errors
/// A drive cannot be opened.
pub(crate) fn summary(seeds: Range<u64>) -> anyhow::Result<Summary> {
    let threads = std::thread::available_parallelism()?.get();
    let cases = run_all(&seeds.collect::<Vec<u64>>(), &Query::default(), threads)?;
    let written: Vec<f64> = cases.iter().map(|case| case.capacities_written).collect();
    let false_claims = Score::compute(cases.iter().flat_map(|case| &case.rows)).false_claims;
    Ok(Summary { capacities_written: middle(&written), false_claims, cases })
}

/// One drive in this many is X-rayed again under each noise. Coprime to the number of families, so that every
/// family is among them.
const NOISY_EVERY: usize = 5;

fn noisy(seeds: &[u64], quiet: Vec<Case>, query: &Query, threads: usize) -> anyhow::Result<String> {
    let seeds: Vec<u64> = seeds.iter().copied().step_by(NOISY_EVERY).collect();
    let quiet = quiet.into_iter().filter(|case| seeds.contains(&case.seed)).collect();
    let mut rounds = vec![("in peace", quiet)];
    for noise in Noise::ALL {
        let query = Query { noise: Some(noise), ..query.clone() };
        rounds.push((noise.name(), run_all(&seeds, &query, threads)?));
    }
    let mut text = report::noisy(&rounds);
    for (name, cases) in &rounds[1..] {
        text += &format!("\n{}", report::false_claims(name, cases));
    }
    Ok(text)
}

/// The seeds of the selected drives.
fn seeds(options: &Options) -> anyhow::Result<Vec<u64>> {
    let family = options.family.as_ref().map(|name| {
        let names = || Family::ALL.map(Family::name).join(", ");
        let family = Family::ALL.into_iter().find(|family| family.name().eq_ignore_ascii_case(name));
        family.with_context(|| format!("there is no family \"{name}\"; there are {}", names()))
    });
    let family = family.transpose()?;
    let seeds = options.first..options.first + options.drives;
    Ok(seeds.filter(|seed| family.is_none_or(|family| generate(*seed).family == family)).collect())
}

/// X-rays of these drives, in the order of their seeds.
fn run_all(seeds: &[u64], query: &Query, threads: usize) -> anyhow::Result<Vec<Case>> {
    on_threads(threads, seeds, |seed| {
        let case = Case::run(*seed, query)?;
        eprintln!("  {}", case.target);
        Ok(case)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two drives of each family.
    const DRIVES: u64 = 22;

    /// Percent of the drives of this test that must be right, of those that have the property.
    const RIGHT: [(&str, f64); 12] = [
        ("medium", 97.0),
        ("mapping", 97.0),
        ("map_page_bytes", 90.0),
        ("erase_unit_bytes", 65.0),
        ("write_buffer_bytes", 90.0),
        ("slc_cache_bytes", 90.0),
        ("parallelism", 90.0),
        ("stripe_bytes", 80.0),
        ("over_provisioning_percent", 75.0),
        ("compression", 99.0),
        ("trim", 90.0),
        ("idle_collection_ns", 60.0),
    ];
    /// Percent of false claims allowed here: a few drives decide less exactly than hundreds.
    const FALSE_MAX: f64 = 2.0;
    const COVERAGE_MIN: f64 = 85.0;

    #[test]
    fn an_x_ray_sees_what_is_inside_drives_of_every_family() {
        let seeds: Vec<u64> = (1..=DRIVES).collect();
        let cases = run_all(&seeds, &Query::default(), 2).unwrap();
        for case in &cases {
            assert!(case.findings.is_ok(), "{}: {:?}", case.target, case.findings);
        }
        let text = report::all(&cases);
        for (key, least) in RIGHT {
            let right = Score::compute(rows_of(&cases, key)).right;
            assert!(right.whole > 0 && right.percent() >= least, "{key}: {right}\n{text}");
        }
        let score = Score::compute(cases.iter().flat_map(|case| &case.rows));
        assert!(score.false_claims.percent() <= FALSE_MAX, "{text}");
        assert!(score.intervals.percent() >= COVERAGE_MIN, "{text}");
    }

    /// A drive whose small area holds nothing of one die, and two with stripes that a coarse area skips.
    const HIDDEN_IN_A_SMALL_AREA: [u64; 3] = [9317, 9306, 9332];

    #[test]
    fn a_full_drive_shows_dies_that_a_small_area_hides() {
        let cases = run_all(&HIDDEN_IN_A_SMALL_AREA, &Query::default(), 2).unwrap();
        let right = Score::compute(rows_of(&cases, "parallelism")).right.part;
        assert_eq!(right, HIDDEN_IN_A_SMALL_AREA.len(), "{}", report::all(&cases));
    }

    /// Block maps with a buffer of 9 to 11 pages, for which writes of two pages are too coarse.
    const SMALL_BUFFERS: [u64; 4] = [9041, 9052, 9206, 9272];

    #[test]
    fn a_small_buffer_before_merges_is_told_to_a_page() {
        let cases = run_all(&SMALL_BUFFERS, &Query::default(), 2).unwrap();
        let right = Score::compute(rows_of(&cases, "write_buffer_bytes")).right.part;
        assert_eq!(right, SMALL_BUFFERS.len(), "{}", report::all(&cases));
    }

    /// A pseudo-SLC cache that a noisy neighbor fills, too; one whose end is far away; a disk; a block map.
    const BESIDE_A_NEIGHBOR: [u64; 4] = [376, 341, 1, 8];

    #[test]
    fn beside_a_neighbor_nothing_wrong_is_reported_with_confidence() {
        let query = Query { noise: Some(Noise::Busy), ..Query::default() };
        let cases = run_all(&BESIDE_A_NEIGHBOR, &query, 2).unwrap();
        for case in &cases {
            assert!(report::names_noise(case), "{}: {:?}", case.target, case.findings);
        }
        let text = report::all(&cases);
        let score = Score::compute(cases.iter().flat_map(|case| &case.rows));
        assert_eq!((score.false_claims.part, score.wrongly_absent), (0, 0), "{text}");
    }

    #[test]
    fn only_the_drives_of_a_family_are_meant() {
        let options = Options {
            drives: 33,
            first: 1,
            drive: None,
            family: Some("fast".into()),
            only: Vec::new(),
            noisy: false,
            published_models: false,
            threads: 1,
        };
        let meant = seeds(&options).unwrap();
        assert_eq!(meant.len(), 3);
        assert!(meant.iter().all(|seed| generate(*seed).family == Family::Fast));
        let nobody = Options { family: Some("tape".into()), ..options };
        assert!(seeds(&nobody).unwrap_err().to_string().contains("there are page map, disk"));
    }
}
