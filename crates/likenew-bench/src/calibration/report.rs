//! How near the values that were found are to the true ones.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use likenew_calibration::{Estimate, Standing};

use super::Case;

/// What counts as found: within a tenth.
const TENTH: f64 = 0.1;

/// Counts over pairs of a twin and a parameter.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Score {
    /// Pairs.
    pairs: usize,
    /// Those that are said to be determined.
    pub(super) determined: usize,
    /// Of these, those within a tenth of the truth.
    pub(super) within_tenth: usize,
    /// Pairs with an interval, determined or rough.
    intervals: usize,
    /// Of these, those whose interval holds the truth.
    hold_truth: usize,
    /// Of the determined ones alone.
    determined_hold_truth: usize,
}

impl Score {
    pub(super) fn of(cases: &[Case]) -> Self {
        let mut score = Self::default();
        cases.iter().flat_map(pairs).for_each(|(estimate, truth)| score.add(estimate, truth));
        score
    }

    fn add(&mut self, estimate: &Estimate, truth: f64) {
        let count = |is: bool| usize::from(is);
        let holds = (estimate.low..=estimate.high).contains(&truth);
        let determined = estimate.standing == Standing::Determined;
        let interval = determined || estimate.standing == Standing::Rough;
        let near = (estimate.value / truth).max(truth / estimate.value) <= 1.0 + TENTH;
        self.pairs += 1;
        self.determined += count(determined);
        self.within_tenth += count(determined && near);
        self.intervals += count(interval);
        self.hold_truth += count(interval && holds);
        self.determined_hold_truth += count(determined && holds);
    }
}

/// Each estimate beside the truth.
fn pairs(case: &Case) -> impl Iterator<Item = (&Estimate, f64)> {
    case.calibration.estimates.iter().filter_map(|estimate| {
        let truth = case.twin.truth.iter().find(|(key, _)| *key == estimate.key)?;
        Some((estimate, truth.1))
    })
}

/// One twin in a line, and what was determined wrongly.
pub(super) fn line(case: &Case) -> String {
    let score = Score::of(std::slice::from_ref(case));
    let held_out = &case.calibration.held_out[0];
    let percent =
        |error: Option<f64>| error.map_or_else(|| "?".into(), |error| format!("{:.1}%", error * 100.0));
    let mut text = format!(
        "{:4} {:24} {:2} of {:2} determined, {:2} within 10%; {:2} of {:2} intervals hold; held out {} (worst {}); {} candidates, {:.0} s",
        case.twin.seed,
        case.twin.base.name,
        score.determined,
        score.pairs,
        score.within_tenth,
        score.hold_truth,
        score.intervals,
        percent(held_out.typical_error()),
        percent(held_out.worst().map(|test| test.error())),
        case.calibration.candidates,
        case.seconds,
    );
    for (estimate, truth) in pairs(case) {
        let holds = (estimate.low..=estimate.high).contains(&truth);
        let unit = |value| estimate.unit.text(value);
        if !holds && matches!(estimate.standing, Standing::Determined | Standing::Rough) {
            write!(
                text,
                "\n       {}: true {}, found {} ({} to {})",
                estimate.key,
                unit(truth),
                unit(estimate.value),
                unit(estimate.low),
                unit(estimate.high)
            )
            .expect("a text takes all");
        }
    }
    text
}

/// All twins, and each parameter.
pub(super) fn all(cases: &[Case]) -> String {
    let mut by_key: BTreeMap<&str, Score> = BTreeMap::new();
    let mut ratios: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for (estimate, truth) in cases.iter().flat_map(pairs) {
        by_key.entry(estimate.key).or_default().add(estimate, truth);
        ratios.entry(estimate.key).or_default().push((estimate.value / truth).ln().abs());
    }
    let share = |part: usize, all: usize| {
        if all == 0 { "–".to_owned() } else { format!("{:.0}%", 100.0 * part as f64 / all as f64) }
    };
    let mut text = format!(
        "\n{:32} {:>5} {:>10} {:>10} {:>9} {:>8} {:>12}\n",
        "parameter", "pairs", "determined", "within 10%", "intervals", "hold", "median error"
    );
    let mut row = |name: &str, score: &Score, median: f64| {
        writeln!(
            text,
            "{name:32} {:>5} {:>10} {:>10} {:>9} {:>8} {:>11.1}%",
            score.pairs,
            score.determined,
            share(score.within_tenth, score.determined),
            score.intervals,
            share(score.hold_truth, score.intervals),
            100.0 * median.exp_m1()
        )
        .expect("a text takes all");
    };
    let middle = |ratios: &mut Vec<f64>| {
        ratios.sort_by(f64::total_cmp);
        ratios.get(ratios.len() / 2).copied().unwrap_or(0.0)
    };
    for (key, score) in &by_key {
        row(key, score, middle(ratios.get_mut(key).expect("every key has both")));
    }
    let mut everything: Vec<f64> = ratios.into_values().flatten().collect();
    let total = Score::of(cases);
    row("all", &total, middle(&mut everything));
    let mut typical: Vec<f64> =
        cases.iter().filter_map(|case| case.calibration.held_out[0].typical_error()).collect();
    let mut worst: Vec<f64> =
        cases.iter().filter_map(|case| Some(case.calibration.held_out[0].worst()?.error())).collect();
    writeln!(
        text,
        "\n{} twins: {} of {} pairs are determined, {} of these within 10%; of their 90% intervals {} hold the truth, of all {}.\n\
         Held-out runs: median error of a run's tests {:.1}%, of its worst test {:.1}% (medians over the twins).",
        cases.len(),
        total.determined,
        total.pairs,
        share(total.within_tenth, total.determined),
        share(total.determined_hold_truth, total.determined),
        share(total.hold_truth, total.intervals),
        100.0 * middle(&mut typical),
        100.0 * middle(&mut worst),
    )
    .expect("a text takes all");
    text
}
