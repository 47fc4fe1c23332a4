//! Measures how well `check` finds causes: on simulated drives with known causes, alone and in pairs, and on
//! healthy ones.

mod case;
mod drawn;
mod fit;

use std::time::Instant;

use clap::Args;
use likenew_diagnosis::by_name;

use crate::case_run::on_threads;
use crate::table::{Share, confusion, mark};
use case::{Case, CaseResult, ScoredEvidence, SimulatedBaselines, cases};

/// Which cases.
#[derive(Clone, Debug, Args)]
pub(crate) struct Options {
    /// Seeds of each case
    #[arg(long, default_value_t = 3)]
    seeds: u64,
    /// Only cases of this cause, such as "no_trim", or "healthy"
    #[arg(long)]
    cause: Option<String>,
    /// Only drives whose name starts with this, such as "tiny-flash"
    #[arg(long, value_name = "NAME")]
    drive: Option<String>,
    /// Skip pairs of causes
    #[arg(long)]
    alone: bool,
    /// Also fit the weights of evidence on even seeds, and score them on odd ones
    #[arg(long)]
    fit: bool,
    /// Only every n-th case
    #[arg(long, default_value_t = 1)]
    sample: usize,
    /// Test this many randomly generated drives instead, each healthy and in random situations
    #[arg(long, value_name = "DRIVES", conflicts_with_all = ["seeds", "cause", "drive", "alone", "fit", "sample"])]
    drawn: Option<u64>,
    /// First seed of the random drives (with --drawn)
    #[arg(long, default_value_t = 1)]
    first: u64,
    /// Only this target; print its true causes, the named causes and all evidence
    #[arg(long, value_name = "TARGET", exclusive = true)]
    target: Option<String>,
    /// Threads, each with its own drive
    #[arg(long, default_value_t = 2)]
    threads: usize,
}

/// Prints how well causes are found.
///
/// # Errors
/// A drive cannot be opened.
pub(crate) fn run(options: &Options) -> anyhow::Result<()> {
    if let Some(target) = &options.target {
        let case = Case::new(target, 1)?;
        let result = case.run(&SimulatedBaselines::default())?;
        println!("at work: {}\nnamed: {}", case.truth.join(", "), result.causes.join(", "));
        result.sentences.iter().for_each(|sentence| println!("- {sentence}"));
        for items in result.evidence_items.chunk_by(|one, other| one.cause == other.cause) {
            let item = |item: &ScoredEvidence| {
                format!("{} ({:.2}) {:+.1}", item.evidence_id, item.chance, item.bits)
            };
            let cause = by_name(items[0].cause).expect("evidence belongs to a cause");
            let bits = cause.prior + items.iter().map(|item| item.bits).sum::<f64>();
            let items_text: Vec<String> = items.iter().map(item).collect();
            println!("{:15} {bits:+.1} bits: {}", cause.name, items_text.join(", "));
        }
        return Ok(());
    }
    if let Some(drives) = options.drawn {
        let drawn = drawn::draw(options.first, drives);
        let cases: Vec<Case> = drawn.iter().map(|drawn| drawn.case.clone()).collect();
        let results = run_all(&cases, options.threads)?;
        print!("{}\n{}", report(&cases, &results), drawn::report(&drawn, &results));
        return Ok(());
    }
    let mut cases = cases(options.seeds, !options.alone)?;
    if let Some(cause) = &options.cause {
        cases.retain(|case| {
            case.truth.iter().any(|name| name == cause) || (cause == "healthy" && case.expected.is_empty())
        });
    }
    if let Some(name) = &options.drive {
        cases.retain(|case| case.target.trim_start_matches("sim:").starts_with(name.as_str()));
    }
    let cases: Vec<Case> = cases.into_iter().step_by(options.sample.max(1)).collect();
    let results = run_all(&cases, options.threads)?;
    print!("{}", report(&cases, &results));
    if options.fit {
        print!("\n{}", fit::report(&cases, &results));
    }
    Ok(())
}

/// Results in the order of the cases.
fn run_all(cases: &[Case], threads: usize) -> anyhow::Result<Vec<CaseResult>> {
    let baselines = &SimulatedBaselines::default();
    on_threads(threads, cases, |case| {
        let started = Instant::now();
        eprintln!("{} seed {} …", case.target, case.seed);
        let result = case.run(baselines)?;
        let (named, s) = (result.causes.join(", "), started.elapsed().as_secs_f64());
        eprintln!("{} seed {}: {named} ({s:.1} s)", case.target, case.seed);
        Ok(result)
    })
}

/// Goal: least percent of sick drives whose first named cause is right. Chosen: one wrong answer in twenty.
const RIGHT_PERCENT_MIN: f64 = 95.0;
/// Goal: most percent of healthy drives called slow. Chosen: such an answer costs trust, and maybe a new drive.
const CALLED_SICK_PERCENT_MAX: f64 = 1.0;

/// Counts over cases.
#[derive(Clone, Debug, Default)]
struct Score {
    /// Sick cases whose first named cause is one of [`Case::expected`].
    right: Share,
    /// Sick cases for which no cause was named: undecided or not noticed.
    unnamed: usize,
    /// Healthy cases for which a cause was named that is not at work.
    healthy_called_sick: Share,
    /// A line for every case that is wrong or undecided.
    lines: Vec<String>,
}

impl Score {
    fn compute(cases: &[Case], results: &[CaseResult]) -> Self {
        let mut score = Self::default();
        for (case, result) in cases.iter().zip(results) {
            let top = result.causes.first().map(String::as_str);
            let outcome = if case.expected.is_empty() {
                let wrong = top.filter(|top| !case.truth.contains(top));
                score.healthy_called_sick.add(wrong.is_some());
                match wrong {
                    Some(top) => Some(format!("healthy, called {top}")),
                    None => result.is_undecided.then(|| "healthy, undecided".to_owned()),
                }
            } else {
                let is_right = top.is_some_and(|top| case.expected.contains(&top));
                score.right.add(is_right);
                score.unnamed += usize::from(top.is_none());
                let outcome = match top {
                    Some(top) => format!("called {top}"),
                    None if result.is_undecided => "undecided".to_owned(),
                    None => "not noticed".to_owned(),
                };
                (!is_right).then(|| format!("{} {outcome}", case.expected.join("+")))
            };
            score
                .lines
                .extend(outcome.map(|outcome| format!("{} seed {}: {outcome}", case.target, case.seed)));
        }
        score
    }

    /// The score in words.
    fn text(&self) -> String {
        let Self { right, unnamed, healthy_called_sick, lines } = self;
        format!(
            "{}\nsick: top cause right {right} [{RIGHT_PERCENT_MIN}]{}, undecided or not noticed {unnamed}, wrong {}\n\
             healthy: called sick {healthy_called_sick} [{CALLED_SICK_PERCENT_MAX}]{}\n",
            lines.join("\n"),
            mark(right.percent() >= RIGHT_PERCENT_MIN),
            right.whole - right.part - unnamed,
            mark(healthy_called_sick.percent() <= CALLED_SICK_PERCENT_MAX),
        )
    }
}

/// Causes at work against those named first; then the score, with every case that is wrong.
fn report(cases: &[Case], results: &[CaseResult]) -> String {
    let pairs = cases.iter().zip(results).map(|(case, result)| {
        let truth = if case.expected.is_empty() { "healthy".to_owned() } else { case.expected.join("+") };
        let nothing = if result.is_undecided { "undecided" } else { "nothing" };
        (truth, result.causes.first().cloned().unwrap_or_else(|| nothing.to_owned()))
    });
    format!("{}\n{}", confusion("at work", pairs), Score::compute(cases, results).text())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the smaller set reaches, in percent. Chosen: slightly below the goal, because it has few cases.
    const RIGHT_REACHED: f64 = 94.0;

    /// A smaller set of fast drives; the bench prints all of them.
    #[test]
    fn causes_are_found_and_healthy_drives_are_called_healthy() {
        let mut cases = cases(1, false).unwrap();
        cases.retain(|case| {
            ["sim:tiny-flash", "sim:wd6400aaks", "sim:cloud"]
                .iter()
                .any(|quick| case.target.starts_with(quick))
        });
        assert!(cases.len() >= 20, "{}", cases.len());
        let score = Score::compute(&cases, &run_all(&cases, 2).unwrap());
        assert!(score.right.percent() >= RIGHT_REACHED, "{}", score.text());
        assert_eq!(score.healthy_called_sick.part, 0, "{}", score.text());
    }
}
