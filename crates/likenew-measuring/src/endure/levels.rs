//! Answers about the level of a test: what is left of its best speed, where it changes, and since when it is steady.

use likenew_core::drive::{Identity, TargetKind};
use likenew_core::findings::{Answer, Mark, Row};
use likenew_core::io::Op;
use likenew_core::quantity::{Rate, Share, Size};
use likenew_core::workload::Mix;
use likenew_procedure_support::estimate::Estimate;
use likenew_procedure_support::rows::Columns as _;
use likenew_stats::change_points::LEAST_CHANGE;
use likenew_stats::interval::{CONFIDENCE_95, mean_interval};
use likenew_stats::steady_state::ROUNDS;
use likenew_stats::summary::{maximum, minimum};

use super::test_series::{Cliff, KneeRow, Level, Steadiness, TestSeries};
use super::wording;

/// The speeds that decide steadiness.
pub(super) struct Rounds {
    /// Bytes a second of each round.
    pub(super) speeds: Vec<f64>,
    /// Bytes that the run had written when each round began.
    pub(super) started_at: Vec<u64>,
    /// Speed at the end of the run, whether it is steady or not, in bytes a second.
    pub(super) last: f64,
}

impl<'a> Level<'a> {
    pub(super) fn new(test_series: &'a TestSeries<'a>, rounds: &Rounds) -> Self {
        let speeds = &rounds.speeds;
        let steadiness = Steadiness::from_rounds(speeds);
        let window = steadiness.window.filter(|_| steadiness.is_steady());
        let interval = || mean_interval(&speeds[speeds.len() - ROUNDS..], CONFIDENCE_95);
        Self {
            knees: test_series.knees(),
            steady: window.map(|window| Estimate { value: window.mean, interval: interval() }),
            steady_from: steadiness.from.map(|round| rounds.started_at[round]),
            steadiness,
            rounds: speeds.len(),
            peak: test_series.peak(),
            last: rounds.last,
            test_series,
        }
    }

    /// Its steady speed, or its last one.
    pub(super) fn end(&self) -> f64 {
        self.steady.map_or(self.last, |steady| steady.value)
    }

    pub(super) fn row(&self) -> Row {
        let window = self.steadiness.window;
        Row::new()
            .with("test", &self.test_series.test)
            .with("op", self.test_series.op.to_string())
            .with("data", self.test_series.data.to_string())
            .with("peak_bytes_per_s", self.peak)
            .with_estimate("steady_bytes_per_s", self.steady.map(Estimate::not_negative))
            .with("share_of_peak_percent", self.share().map(|share| share * 100.0))
            .with("is_steady", self.steadiness.is_steady())
            .with("steady_from_bytes", self.steady_from)
            .with("last_bytes_per_s", self.last)
            .with("range_percent", window.map(|window| window.range_share * 100.0))
            .with("slope_percent", window.map(|window| window.slope_share * 100.0))
    }

    /// The share of the peak that is left in the steady state.
    pub(super) fn share(&self) -> Option<f64> {
        self.steady.filter(|_| self.peak > 0.0).map(|steady| steady.value / self.peak)
    }

    /// Its fall, if it has one: to its speed at the end, or to its deepest level if it recovers.
    pub(super) fn cliff(&self) -> Option<Cliff<'_>> {
        let falls = self.knees.iter().filter(|knee| knee.is_fall());
        let deepest = falls.min_by(|a, b| a.after_bytes_per_s.total_cmp(&b.after_bytes_per_s))?;
        let end = self.end();
        let has_recovered = end > deepest.before_bytes_per_s * (1.0 - LEAST_CHANGE);
        let low = if has_recovered { deepest.after_bytes_per_s } else { end };
        // A fall of several steps begins with the first one.
        let first = self.knees.iter().filter(|knee| knee.is_fall()).min_by_key(|knee| knee.at_bytes)?;
        Some(Cliff { test: &self.test_series.test, at_bytes: first.at_bytes, peak: self.peak, low })
    }

    /// The sentence about its steady speed, or else its last one.
    pub(super) fn sentence(&self) -> String {
        let (test, peak) = (&self.test_series.test, Rate(self.peak));
        match (self.steady, self.share()) {
            (Some(steady), Some(share)) => {
                wording::test_is_steady(test, Rate(steady.value), peak, Share(share.min(1.0)))
            }
            _ => wording::test_is_not_steady(test, Rate(self.last), peak),
        }
    }
}

/// A knee as a mark in a picture.
pub(super) fn knee_mark(knee: &KneeRow) -> Mark {
    Mark { x: knee.at_bytes as f64, label: wording::knee_mark(knee) }
}

/// Share of the best speed that reads must keep, in 0..1. Chosen: background garbage collection can halve it, but
/// does not explain less than this.
const READ_SHARE_MIN: f64 = 0.25;

/// The share of the best speed that is left, from the steady tests.
pub(super) fn remainder(op: Mix, levels: &[&Level<'_>]) -> Option<Answer> {
    let shares = levels.iter().filter_map(|level| level.share().map(|share| (share, *level)));
    let (share, level) = shares.min_by(|a, b| a.0.total_cmp(&b.0))?;
    let is_low = op == Mix::Only(Op::Read) && share < READ_SHARE_MIN;
    let steady_share = if is_low { wording::steady_share_is_low } else { wording::steady_share };
    let (test, left) = (&level.test_series.test, Share(share.min(1.0)));
    let mut answer =
        steady_share(op, test, Rate(level.end()), left, Rate(level.peak)).caveat(wording::PEAK_IS_ONE_PASS);
    if let Some(steady) = level.steady {
        answer = steady.not_negative().put(answer, "bytes/s");
    }
    // The answer says everything about a single test.
    let tests = levels.iter().filter(|_| levels.len() > 1);
    Some(tests.map(|level| level.sentence()).fold(answer, Answer::with_evidence))
}

/// The answer about changes of level. `span` is what a fill writes; `is_settled`: whether the speeds are steady at the end.
pub(super) fn changes(op: Mix, levels: &[&Level<'_>], span: u64, is_settled: bool) -> Answer {
    let knees: Vec<&KneeRow> = levels.iter().flat_map(|level| &level.knees).collect();
    if let Some(mut answer) = main_knee(op, levels, &knees) {
        answer.evidence.extend(wording::changes_in_all(knees.len()));
        return knees.iter().map(|knee| wording::knee(knee, span)).fold(answer, Answer::with_evidence);
    }
    let passes = levels.iter().map(|level| level.test_series.passes.len()).min().unwrap_or(0);
    if passes < TestSeries::PASSES_MIN {
        return wording::too_few_for_knees(op, passes, TestSeries::PASSES_MIN);
    }
    let last = levels.iter().filter_map(|level| level.test_series.passes.last());
    let written = Size(last.map(|pass| pass.written_after).max().unwrap_or(0));
    let ends: Vec<f64> = levels.iter().map(|level| level.end()).collect();
    let shares: Vec<f64> = ends.iter().zip(levels).map(|(end, level)| (end / level.peak).min(1.0)).collect();
    let ends_of = |values: &[f64]| minimum(values).zip(maximum(values)).unwrap_or_default();
    let ((slowest, fastest), (least, most)) = (ends_of(&ends), ends_of(&shares));
    let (rates, shares) = ((Rate(slowest), Rate(fastest)), (Share(least), Share(most)));
    wording::no_knee(op, passes, written, rates, shares, is_settled)
}

/// The answer about the deepest fall, or about the first rise if nothing falls; `None` without a change.
fn main_knee(op: Mix, levels: &[&Level<'_>], knees: &[&KneeRow]) -> Option<Answer> {
    let cliffs = levels.iter().filter_map(|level| level.cliff());
    if let Some(cliff) = cliffs.min_by(|a, b| a.share().total_cmp(&b.share())) {
        return Some(wording::deepest_cliff(op, &cliff));
    }
    let rise = knees.iter().min_by_key(|knee| knee.at_bytes)?;
    Some(wording::first_rise(op, rise))
}

/// The caveat for a drive that was not purged, as far as can be known.
pub(super) fn missing_purge(identity: &Identity) -> Option<&'static str> {
    match identity.kind {
        TargetKind::Simulated => (!is_new(identity)).then_some(wording::SIMULATED_WAS_NOT_NEW),
        TargetKind::Nop => None,
        TargetKind::Folder | TargetKind::File | TargetKind::Device => Some(wording::WAS_NOT_PURGED),
    }
}

/// Whether a simulated drive was opened new, not filled or used.
fn is_new(identity: &Identity) -> bool {
    let state = identity.facts.iter().find(|(name, _)| name == "state").map(|(_, value)| value.as_str());
    state.is_none_or(|state| state.starts_with("new") && !state.contains("then") && !state.contains("ago"))
}

#[cfg(test)]
mod tests {
    use likenew_core::io::DataClass;

    use super::*;

    fn knee(at_bytes: u64, before: f64, after: f64) -> KneeRow {
        KneeRow::between("file", at_bytes, before, after)
    }

    fn level<'a>(test_series: &'a TestSeries<'a>, knees: Vec<KneeRow>, last: f64) -> Level<'a> {
        let steadiness = Steadiness::from_rounds(&[]);
        Level { test_series, knees, steadiness, rounds: 0, steady: None, steady_from: None, peak: 70e6, last }
    }

    #[test]
    fn a_cliff_reaches_from_the_peak_to_the_end_unless_the_speed_recovers() {
        let test_series = TestSeries {
            test: "file".into(),
            op: Mix::Only(Op::Write),
            data: DataClass::Random,
            passes: Vec::new(),
            period: 1,
        };
        let knees = vec![knee(4 << 30, 67e6, 51e6), knee(5 << 30, 51e6, 31e6)];
        let falls = level(&test_series, knees.clone(), 28e6);
        assert_eq!(falls.cliff(), Some(Cliff { test: "file", at_bytes: 4 << 30, peak: 70e6, low: 28e6 }));
        assert!((falls.cliff().unwrap().share() - 0.4).abs() < 1e-9);
        let recovers = level(&test_series, [knees, vec![knee(6 << 30, 31e6, 69e6)]].concat(), 69e6);
        assert_eq!(recovers.cliff().unwrap().low, 31e6);
        assert_eq!(level(&test_series, vec![knee(1, 30e6, 60e6)], 60e6).cliff(), None);
    }
}
