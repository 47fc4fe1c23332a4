//! How well `check` finds causes: on simulated drives with known causes, alone and in pairs, and on healthy
//! ones.

mod case;
mod drawn;
mod fit;
mod matrix;

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use clap::Args;

use case::{Case, ScoredEvidence, SimulatedBaselines, cases};
use likenew_diagnosis::by_name;

/// Which cases.
#[derive(Clone, Debug, Args)]
pub(crate) struct Options {
    /// Seeds of each case
    #[arg(long, default_value_t = 3)]
    seeds: u64,
    /// Only cases of this cause, such as "no_trim", or "healthy"
    #[arg(long)]
    cause: Option<String>,
    /// Only drives whose names begin so, such as "tiny-flash"
    #[arg(long, value_name = "NAME")]
    drive: Option<String>,
    /// Only single causes
    #[arg(long)]
    alone: bool,
    /// Fit the weights of evidence on even seeds, too, and report on odd ones
    #[arg(long)]
    fit: bool,
    /// Only every n-th case
    #[arg(long, default_value_t = 1)]
    sample: usize,
    /// Drawn drives in drawn situations instead: so many drives, three sick cases and a healthy one each
    #[arg(long, value_name = "DRIVES")]
    drawn: Option<u64>,
    /// The number of the first drawn drive
    #[arg(long, default_value_t = 1)]
    first: u64,
    /// One target: causes at work, answers and evidence
    #[arg(long, value_name = "TARGET")]
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
        let answer = case.run(&SimulatedBaselines::default())?;
        println!("at work: {}\nnamed: {}", case.truth.join(", "), answer.causes.join(", "));
        answer.sentences.iter().for_each(|sentence| println!("- {sentence}"));
        for items in answer.evidence_items.chunk_by(|one, other| one.cause == other.cause) {
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
        let cases: Vec<Case> = drawn.iter().map(|of| of.case.clone()).collect();
        let answers = run_all(&cases, options.threads)?;
        print!("{}\n{}", matrix::report(&cases, &answers), drawn::report(&drawn, &answers));
        return Ok(());
    }
    let mut all = cases(options.seeds, !options.alone)?;
    if let Some(cause) = &options.cause {
        all.retain(|case| {
            case.truth.iter().any(|name| name == cause) || (cause == "healthy" && case.expected.is_empty())
        });
    }
    if let Some(name) = &options.drive {
        all.retain(|case| case.target.trim_start_matches("sim:").starts_with(name.as_str()));
    }
    let all: Vec<Case> = all.into_iter().step_by(options.sample.max(1)).collect();
    let answers = run_all(&all, options.threads)?;
    print!("{}", matrix::report(&all, &answers));
    if options.fit {
        print!("\n{}", fit::report(&all, &answers));
    }
    Ok(())
}

/// Results in the order of the cases.
fn run_all(cases: &[Case], threads: usize) -> anyhow::Result<Vec<case::CaseResult>> {
    let next = AtomicUsize::new(0);
    let answers = Mutex::new(Vec::new());
    let baselines = &SimulatedBaselines::default();
    std::thread::scope(|scope| {
        for _ in 0..threads.max(1) {
            scope.spawn(|| {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(case) = cases.get(index) else { break };
                    let started = Instant::now();
                    eprintln!("{} seed {} …", case.target, case.seed);
                    let answer = case.run(baselines);
                    if let Ok(answer) = &answer {
                        let (named, s) = (answer.causes.join(", "), started.elapsed().as_secs_f64());
                        eprintln!("{} seed {}: {named} ({s:.1} s)", case.target, case.seed);
                    }
                    answers.lock().expect("no thread panics with it").push((index, answer));
                }
            });
        }
    });
    let mut answers = answers.into_inner().expect("no thread panics with it");
    answers.sort_by_key(|(index, _)| *index);
    answers.into_iter().map(|(_, answer)| answer).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A smaller set of fast drives; the bench prints all of them.
    #[test]
    fn causes_are_found_and_healthy_drives_are_called_healthy() {
        let mut all = cases(1, false).unwrap();
        all.retain(|case| {
            ["sim:tiny-flash", "sim:wd6400aaks", "sim:cloud"]
                .iter()
                .any(|quick| case.target.starts_with(quick))
        });
        assert!(all.len() >= 20, "{}", all.len());
        let score = matrix::Score::compute(&all, &run_all(&all, 2).unwrap());
        assert!(score.right_percent() >= matrix::RIGHT_REACHED, "{}", score.text());
        assert_eq!(score.healthy_called_sick, 0, "{}", score.text());
    }
}
