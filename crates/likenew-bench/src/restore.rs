//! How well `recondition` restores: on generated flash drives, each used in a way that TRIM or rewriting undoes, and each slow in
//! a way that neither can change.

mod case;
mod report;

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use clap::Args;
use likenew_sim::generator::{Family, generate};

use case::{Case, Use};

/// Which drives.
#[derive(Clone, Debug, Args)]
pub(crate) struct Options {
    /// Number of generated flash drives, small ones first
    #[arg(long, default_value_t = 40)]
    drives: usize,
    /// Seed from which they are drawn
    #[arg(long, default_value_t = 1)]
    first: u64,
    /// One target: metrics when new, used and restored, and what recondition says
    #[arg(long, value_name = "TARGET")]
    target: Option<String>,
    /// Threads, each with its own drive
    #[arg(long, default_value_t = 2)]
    threads: usize,
}

/// Families with flash behind a map, which is what goes out of order.
const FAMILIES: [Family; 8] = [
    Family::PageMap,
    Family::StaticSlc,
    Family::DynamicSlc,
    Family::HybridSlc,
    Family::Compressing,
    Family::BlockMap,
    Family::Bast,
    Family::Fast,
];

/// Prints how many drives are restored, and how often help is claimed that did not come.
///
/// # Errors
/// A drive cannot be opened, or a run ended early.
pub(crate) fn run(options: &Options) -> anyhow::Result<()> {
    if let Some(target) = &options.target {
        print!("{}", report::one(&Case::run(target, Family::PageMap, Use::Fixable, 1)?));
        return Ok(());
    }
    let tasks = tasks(options.first, options.drives)?;
    let cases = run_all(&tasks, options.threads)?;
    print!("{}", report::all(options.drives, &cases));
    Ok(())
}

/// A drive and what happened to it.
#[derive(Clone, Debug)]
struct Task {
    target: String,
    family: Family,
    usage: Use,
    seed: u64,
}

/// Both uses of each drive, the smallest drives first.
fn tasks(first: u64, drives: usize) -> anyhow::Result<Vec<Task>> {
    let all = (first..).map(|seed| (seed, generate(seed)));
    let mut drawn = Vec::new();
    for (seed, drive) in all.filter(|(_, drive)| FAMILIES.contains(&drive.family)).take(drives) {
        drawn.push((drive.model()?.capacity_bytes, seed, drive));
    }
    drawn.sort_by_key(|(bytes, seed, _)| (*bytes, *seed));
    let tasks = drawn.iter().flat_map(|(_, seed, drive)| {
        let of = |usage: Use| {
            let target = usage.target(&drive.target(), *seed)?;
            Some(Task { target, family: drive.family, usage, seed: *seed })
        };
        [of(Use::Fixable), of(Use::Unfixable)]
    });
    Ok(tasks.flatten().collect())
}

/// Results in the order of the tasks.
fn run_all(tasks: &[Task], threads: usize) -> anyhow::Result<Vec<Case>> {
    let (next, cases) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let work = || -> anyhow::Result<()> {
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(task) = tasks.get(index) else { return Ok(()) };
            let case = Case::run(&task.target, task.family, task.usage, task.seed)?;
            eprintln!("{}", report::line(&case));
            cases.lock().expect("no thread panics with it").push((index, case));
        }
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..threads.max(1)).map(|_| scope.spawn(work)).collect();
        threads.into_iter().try_for_each(|thread| thread.join().expect("no thread panics"))
    })?;
    let mut cases = cases.into_inner().expect("no thread panics with it");
    cases.sort_by_key(|(index, _)| *index);
    Ok(cases.into_iter().map(|(_, case)| case).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_drive_is_used_in_both_ways_and_small_ones_come_first() {
        let tasks = tasks(1, 8).unwrap();
        assert_eq!(tasks.len(), 16);
        for pair in tasks.chunks(2) {
            assert_eq!(pair[0].seed, pair[1].seed);
            assert_eq!((pair[0].usage, pair[1].usage), (Use::Fixable, Use::Unfixable));
        }
        let bytes = |task: &Task| generate(task.seed).model().unwrap().capacity_bytes;
        assert!(tasks.iter().map(bytes).is_sorted());
    }

    #[test]
    fn a_used_drive_is_restored_and_a_narrow_link_is_not_said_to_be() {
        let used = Case::run("sim:tiny-flash?state=used&trim=off", Family::PageMap, Use::Fixable, 1).unwrap();
        assert!(used.has_fallen() && used.is_restored() && used.helped, "{}", report::one(&used));
        assert!(used.capacities_written() <= 2.0, "{}", report::one(&used));
        let narrow =
            Case::run("sim:tiny-flash?fill=0.6&link=usb2", Family::PageMap, Use::Unfixable, 1).unwrap();
        assert!(!narrow.helped, "{}", report::one(&narrow));
    }
}
