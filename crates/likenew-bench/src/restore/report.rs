//! The results as text.

use std::fmt::Write as _;

use likenew_stats::summary::{maximum, median};

use super::FAMILIES;
use super::case::{Case, Use};

/// Goals: percent of fallen drives restored, at least; of claims of help that did not come, at most; and capacities written in
/// the median.
const RESTORED_PERCENT: f64 = 95.0;
const FALSE_PERCENT: f64 = 1.0;
const CAPACITIES: f64 = 2.2;

/// One line for a case.
pub(super) fn line(case: &Case) -> String {
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

/// All of one case.
pub(super) fn one(case: &Case) -> String {
    let mut text = format!("{}\n{}\n", line(case), case.summary);
    for share in &case.writes {
        let words = share.metric.words();
        let [before, after, attainable] =
            [share.before, share.after, share.attainable].map(|share| share * 100.0);
        writeln!(text, "  {words:18} {before:>6.1}% → {after:>6.1}% of new (attainable {attainable:.1}%)")
            .expect("a text takes all");
    }
    text
}

/// The table, and what missed a goal.
pub(super) fn all(drives: usize, cases: &[Case]) -> String {
    let mut text = format!(
        "{drives} generated drives\n  {:18} {:>6} {:>6} {:>9} {:>7} {:>10} {:>12} {:>15} {:>10}\n",
        "family",
        "used",
        "fallen",
        "restored",
        "as new",
        "unfixable",
        "false helped",
        "capacities med",
        "max"
    );
    for family in FAMILIES {
        let of = |case: &&Case| case.family == family;
        text.push_str(&row(family.name(), &cases.iter().filter(of).collect::<Vec<_>>()));
    }
    let all: Vec<&Case> = cases.iter().collect();
    text.push_str(&row("all", &all));
    text.push_str(&goals(&all));
    for case in cases.iter().filter(|case| misses(case)) {
        writeln!(text, "  missed: {}\n    {}", line(case), case.summary).expect("a text takes all");
    }
    text
}

fn fallen<'a>(cases: &[&'a Case]) -> Vec<&'a Case> {
    cases.iter().copied().filter(|case| case.usage == Use::Fixable && case.has_fallen()).collect()
}

fn misses(case: &Case) -> bool {
    match case.usage {
        Use::Fixable => case.has_fallen() && !case.is_restored(),
        Use::Unfixable => case.helped,
    }
}

fn capacities(cases: &[&Case]) -> Option<(f64, f64)> {
    let written: Vec<f64> = fallen(cases).iter().map(|case| case.capacities_written()).collect();
    Some((median(&written)?, maximum(&written)?))
}

fn row(name: &str, cases: &[&Case]) -> String {
    let used = cases.iter().filter(|case| case.usage == Use::Fixable).count();
    let unfixable = cases.len() - used;
    let fallen = fallen(cases);
    let restored = fallen.iter().filter(|case| case.is_restored()).count();
    let as_new = fallen.iter().filter(|case| case.is_as_new()).count();
    let false_helped = cases.iter().filter(|case| case.usage == Use::Unfixable && case.helped).count();
    let (middle, most) = capacities(cases)
        .map_or_else(Default::default, |(middle, most)| (format!("{middle:.2}"), format!("{most:.2}")));
    format!(
        "  {name:18} {used:>6} {:>6} {restored:>9} {as_new:>7} {unfixable:>10} {false_helped:>12} {middle:>15} {most:>10}\n",
        fallen.len()
    )
}

fn goals(cases: &[&Case]) -> String {
    let percent = |part: usize, whole: usize| 100.0 * part as f64 / whole.max(1) as f64;
    let fallen = fallen(cases);
    let restored = percent(fallen.iter().filter(|case| case.is_restored()).count(), fallen.len());
    let unfixable: Vec<_> = cases.iter().filter(|case| case.usage == Use::Unfixable).collect();
    let false_helped = percent(unfixable.iter().filter(|case| case.helped).count(), unfixable.len());
    let as_new = percent(fallen.iter().filter(|case| case.is_as_new()).count(), fallen.len());
    let mut text = format!(
        "restored to 97% of what the drive reaches when new and rewritten: {restored:.1}% of fallen drives (goal ≥ \
         {RESTORED_PERCENT:.0}%), to 97% of new: {as_new:.1}%; help claimed falsely: {false_helped:.1}% (goal ≤ \
         {FALSE_PERCENT:.0}%)"
    );
    if let Some((middle, most)) = capacities(cases) {
        write!(
            text,
            "; written: {middle:.2} × capacity in the median (goal ≤ {CAPACITIES}), {most:.2} at most"
        )
        .expect("a text takes all");
    }
    text.push('\n');
    text
}

#[cfg(test)]
mod tests {
    use likenew_sim::generator::Family;

    use super::*;

    /// Two reports compare line by line.
    #[test]
    fn a_family_without_a_drive_has_a_row() {
        let text = all(0, &[]);
        assert_eq!(text.lines().count(), 2 + FAMILIES.len() + 2, "{text}");
        assert!(text.contains(Family::Bast.name()), "{text}");
    }
}
