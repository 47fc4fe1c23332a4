//! Measures how well `recondition` restores generated flash drives: each used in a way that TRIM or rewriting
//! undoes, and each slow in a way that neither can change.

mod case;

use clap::Args;
use likenew_sim::generator::{Family, generate};
use likenew_stats::summary::{maximum, median};

use crate::case_run::on_threads;
use crate::table::{Share, row, table};
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

/// Families with flash behind a mapping table, which is what use puts out of order.
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

/// Prints how many drives are restored, and how often a step is wrongly said to have helped.
///
/// # Errors
/// A drive cannot be opened, or a run ended early.
pub(crate) fn run(options: &Options) -> anyhow::Result<()> {
    if let Some(target) = &options.target {
        print!("{}", one_case(&Case::run(target, Family::PageMap, Use::Fixable, 1)?));
        return Ok(());
    }
    let tasks = tasks(options.first, options.drives)?;
    let cases = on_threads(options.threads, &tasks, |task| {
        let case = Case::run(&task.target, task.family, task.usage, task.seed)?;
        eprintln!("{}", line(&case));
        Ok(case)
    })?;
    print!("{}", report(options.drives, &cases));
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
    let generated = (first..).map(|seed| (seed, generate(seed)));
    let mut drawn = Vec::new();
    for (seed, drive) in generated.filter(|(_, drive)| FAMILIES.contains(&drive.family)).take(drives) {
        drawn.push((drive.model()?.capacity_bytes, seed, drive));
    }
    drawn.sort_by_key(|(bytes, seed, _)| (*bytes, *seed));
    let tasks = drawn.iter().flat_map(|(_, seed, drive)| {
        let task = |usage: Use| {
            let target = usage.target(&drive.target(), *seed)?;
            Some(Task { target, family: drive.family, usage, seed: *seed })
        };
        [task(Use::Fixable), task(Use::Unfixable)]
    });
    Ok(tasks.flatten().collect())
}

/// Goals: least percent of fallen drives restored, most percent of false claims of help, and median
/// capacities written.
const RESTORED_PERCENT: f64 = 95.0;
const FALSE_PERCENT: f64 = 1.0;
const CAPACITIES: f64 = 2.2;

/// One line for a case.
fn line(case: &Case) -> String {
    let worst = case.worst().map_or_else(String::new, |share| {
        format!(
            "{} {:.0}% → {:.0}% of new (attainable {:.0}%)",
            share.metric.words(),
            share.before * 100.0,
            share.after * 100.0,
            share.attainable * 100.0
        )
    });
    let steps = if case.steps.is_empty() { "no step".to_owned() } else { case.steps.join(", ") };
    let helped = if case.helped { "helped" } else { "no help" };
    format!("{}: {worst}; {steps}; {helped}; {:.2} × capacity", case.target, case.capacities_written())
}

/// All metrics of one case.
fn one_case(case: &Case) -> String {
    let percent = |share: f64| format!("{:.1}%", share * 100.0);
    let rows = case.writes.iter().map(|share| {
        let words = share.metric.words();
        row(&[&words, &percent(share.before), &percent(share.after), &percent(share.attainable)])
    });
    let table = table(&["share of new", "before", "after", "attainable"], rows);
    format!("{}\n{}\n\n{table}", line(case), case.summary)
}

/// Counts over some drives.
struct Score {
    used: usize,
    unfixable: usize,
    /// Restored drives, of the used ones that had fallen.
    restored: Share,
    as_new: Share,
    /// False claims of help, of the drives that cannot be helped.
    false_helped: Share,
    /// Capacities written to the fallen drives: the median and the maximum.
    capacities: Option<(f64, f64)>,
}

impl Score {
    fn compute(cases: &[&Case]) -> Self {
        let (used, unfixable): (Vec<&Case>, _) = cases.iter().partition(|case| case.usage == Use::Fixable);
        let fallen: Vec<&Case> = used.iter().copied().filter(|case| case.has_fallen()).collect();
        let written: Vec<f64> = fallen.iter().map(|case| case.capacities_written()).collect();
        Self {
            used: used.len(),
            unfixable: unfixable.len(),
            restored: Share::count(&fallen, |case| case.is_restored()),
            as_new: Share::count(&fallen, |case| case.is_as_new()),
            false_helped: Share::count(&unfixable, |case| case.helped),
            capacities: median(&written).zip(maximum(&written)),
        }
    }

    fn row(&self, name: &str) -> Vec<String> {
        let Self { used, unfixable, restored, as_new, false_helped, .. } = self;
        let [middle, most] = self.capacities.map_or_else(Default::default, |(middle, most)| {
            [middle, most].map(|capacities| format!("{capacities:.2}"))
        });
        let (fallen, restored, as_new) = (restored.whole, restored.part, as_new.part);
        row(&[&name, used, &fallen, &restored, &as_new, unfixable, &false_helped.part, &middle, &most])
    }
}

/// The table, the goals, and the cases that missed one.
fn report(drives: usize, cases: &[Case]) -> String {
    let of_family = |family| cases.iter().filter(|case| case.family == family).collect::<Vec<_>>();
    let total = Score::compute(&cases.iter().collect::<Vec<_>>());
    let families = FAMILIES.map(|family| Score::compute(&of_family(family)).row(family.name()));
    let head = [
        "family",
        "used",
        "fallen",
        "restored",
        "as new",
        "unfixable",
        "false helped",
        "capacities, median",
        "max",
    ];
    let table = table(&head, families.into_iter().chain([total.row("all")]));
    let mut text = format!(
        "{drives} generated drives\n\n{table}\n\
         - restored to 97% of what the drive reaches when new and rewritten, of fallen drives: {} [≥ {RESTORED_PERCENT}%]\n\
         - to 97% of new: {}\n\
         - help claimed falsely: {} [≤ {FALSE_PERCENT}%]\n",
        total.restored, total.as_new, total.false_helped
    );
    if let Some((middle, most)) = total.capacities {
        text +=
            &format!("- written: {middle:.2} × capacity in the median [≤ {CAPACITIES}], {most:.2} at most\n");
    }
    for case in cases.iter().filter(|case| misses(case)) {
        text += &format!("- missed: {}\n  {}\n", line(case), case.summary);
    }
    text
}

fn misses(case: &Case) -> bool {
    match case.usage {
        Use::Fixable => case.has_fallen() && !case.is_restored(),
        Use::Unfixable => case.helped,
    }
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
        assert!(used.has_fallen() && used.is_restored() && used.helped, "{}", one_case(&used));
        assert!(used.capacities_written() <= 2.0, "{}", one_case(&used));
        let narrow =
            Case::run("sim:tiny-flash?fill=0.6&link=usb2", Family::PageMap, Use::Unfixable, 1).unwrap();
        assert!(!narrow.helped, "{}", one_case(&narrow));
    }

    /// Reports compare line by line only with the same rows.
    #[test]
    fn a_family_without_a_drive_has_a_row() {
        let text = report(0, &[]);
        assert_eq!(
            text.lines().filter(|line| line.starts_with('|')).count(),
            2 + FAMILIES.len() + 1,
            "{text}"
        );
        assert!(text.contains(Family::Bast.name()), "{text}");
    }
}
