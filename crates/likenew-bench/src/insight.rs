//! How accurate an X-ray is: each answer compared with the truth, on generated drives with known internals.

mod answer;
mod case;
mod confusion;
mod mark;
mod noise;
mod published_models;
mod report;
mod score;

use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use anyhow::Context as _;
use clap::Args;
use likenew_sim::generator::{Family, generate};

use case::{Case, Noise, Query};
use score::{Score, rows_of};

use crate::spread::middle;
pub(crate) use case::{QueryResult, ask};

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
        print!("{}", published_models::report());
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
        print!("{}", published_models::report());
    }
    Ok(())
}

/// What X-rays of some drives came to.
pub(crate) struct Summary {
    cases: Vec<Case>,
    /// Bytes written over the capacity, the median.
    pub(crate) capacities_written: f64,
    /// False claims, of all answers.
    pub(crate) false_claims: (u32, u32),
}

impl Summary {
    /// Drives about which an answer is right, of those that have the property and show it.
    pub(crate) fn right(&self, property: &str) -> (u32, u32) {
        let score = Score::compute(rows_of(&self.cases, property));
        (score.right, score.exists)
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
    let score = Score::compute(cases.iter().flat_map(|case| &case.rows));
    let false_claims = (score.false_claims, score.answers);
    Ok(Summary { capacities_written: middle(&written), false_claims, cases })
}

/// One drive in this many is X-rayed again under each noise; coprime to the number of families, so that all
/// of them come.
const NOISY_EVERY: usize = 5;

fn noisy(seeds: &[u64], quiet: Vec<Case>, query: &Query, threads: usize) -> anyhow::Result<String> {
    let seeds: Vec<u64> = seeds.iter().copied().step_by(NOISY_EVERY).collect();
    let quiet = quiet.into_iter().filter(|case| seeds.contains(&case.seed)).collect();
    let mut rounds = vec![("in peace", quiet)];
    for noise in Noise::ALL {
        let query = Query { noise: Some(noise), ..query.clone() };
        rounds.push((noise.name(), run_all(&seeds, &query, threads)?));
    }
    let mut text = noise::report(&rounds);
    for (name, cases) in &rounds[1..] {
        text += &report::false_claims(&format!("False claims, {name}"), cases);
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
    let (next, cases) = (AtomicU64::new(0), Mutex::new(Vec::new()));
    let work = || -> anyhow::Result<()> {
        while let Some(seed) = seeds.get(next.fetch_add(1, Ordering::Relaxed) as usize) {
            let case = Case::run(*seed, query)?;
            let mut cases = cases.lock().expect("no thread panics while holding it");
            cases.push(case);
            if cases.len().is_multiple_of(20) {
                eprintln!("  {} of {} drives", cases.len(), seeds.len());
            }
        }
        Ok(())
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..threads.max(1)).map(|_| scope.spawn(work)).collect();
        threads.into_iter().try_for_each(|thread| thread.join().expect("a panic is caught in its case"))
    })?;
    let mut cases = cases.into_inner().expect("no thread panics while holding it");
    cases.sort_by_key(|case| case.seed);
    Ok(cases)
}

#[cfg(test)]
mod tests {
    use super::*;
    use score::{Score, rows_of};

    /// Two drives of each family.
    const DRIVES: u64 = 22;

    /// Share of the drives of this test that must be right, of those that have the property.
    const RIGHT: [(&str, f64); 12] = [
        ("medium", 0.97),
        ("mapping", 0.97),
        ("map_page_bytes", 0.9),
        ("erase_unit_bytes", 0.65),
        ("write_buffer_bytes", 0.9),
        ("slc_cache_bytes", 0.9),
        ("parallelism", 0.9),
        ("stripe_bytes", 0.8),
        ("over_provisioning_percent", 0.75),
        ("compression", 0.99),
        ("trim", 0.9),
        ("idle_collection_ns", 0.6),
    ];
    /// Share of false claims allowed here: a few drives decide less exactly than hundreds.
    const FALSE_MAX: f64 = 0.02;
    const COVERAGE_MIN: f64 = 0.85;

    #[test]
    fn an_x_ray_sees_what_is_inside_drives_of_every_family() {
        let seeds: Vec<u64> = (1..=DRIVES).collect();
        let cases = run_all(&seeds, &Query::default(), 2).unwrap();
        for case in &cases {
            assert!(case.findings.is_ok(), "{}: {:?}", case.target, case.findings);
        }
        let text = report::all(&cases);
        for (key, least) in RIGHT {
            let right = Score::compute(rows_of(&cases, key)).share_right().unwrap();
            assert!(right >= least, "{key} is right of {right:.3}\n{text}");
        }
        let all = Score::compute(cases.iter().flat_map(|case| &case.rows));
        assert!(all.share_false().unwrap() <= FALSE_MAX, "{text}");
        assert!(all.coverage().unwrap() >= COVERAGE_MIN, "{text}");
    }

    /// A drive whose small area holds nothing of one die, and two whose stripes the addresses of a coarse area skip.
    const HIDDEN_IN_A_SMALL_AREA: [u64; 3] = [9317, 9306, 9332];

    #[test]
    fn a_full_drive_shows_dies_that_a_small_area_hides() {
        let cases = run_all(&HIDDEN_IN_A_SMALL_AREA, &Query::default(), 2).unwrap();
        let right = Score::compute(rows_of(&cases, "parallelism")).right;
        assert_eq!(right, HIDDEN_IN_A_SMALL_AREA.len() as u32, "{}", report::all(&cases));
    }

    /// Block maps with a buffer of 9 to 11 pages, for which writes of two pages are too coarse.
    const SMALL_BUFFERS: [u64; 4] = [9041, 9052, 9206, 9272];

    #[test]
    fn a_small_buffer_before_merges_is_told_to_a_page() {
        let cases = run_all(&SMALL_BUFFERS, &Query::default(), 2).unwrap();
        let right = Score::compute(rows_of(&cases, "write_buffer_bytes")).right;
        assert_eq!(right, SMALL_BUFFERS.len() as u32, "{}", report::all(&cases));
    }

    /// A pseudo-SLC cache that a noisy neighbor fills, too; one whose end is far away; a disk; a block map.
    const BESIDE_A_NEIGHBOR: [u64; 4] = [376, 341, 1, 8];

    #[test]
    fn beside_a_neighbor_nothing_wrong_is_reported_with_confidence() {
        let query = Query { noise: Some(Noise::Busy), ..Query::default() };
        let cases = run_all(&BESIDE_A_NEIGHBOR, &query, 2).unwrap();
        for case in &cases {
            assert!(noise::names_noise(case), "{}: {:?}", case.target, case.findings);
        }
        let text = report::all(&cases);
        let all = Score::compute(cases.iter().flat_map(|case| &case.rows));
        assert_eq!((all.false_claims, all.wrongly_absent), (0, 0), "{text}");
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
