//! The share of a test's best speed that is left at the end of a run, and since when it is steady.

use likenew_core::findings::Mark;
use likenew_core::quantity::{Rate, Share};
use likenew_stats::change_points::LEAST_CHANGE;
use likenew_stats::interval::{CONFIDENCE_95, Interval, mean_interval};
use likenew_stats::steady_state::ROUNDS;
use serde::Serialize;

use super::cliff::Cliff;
use super::steadiness::Steadiness;
use super::test_series::{KneeRow, TestSeries};
use super::wording::{self, LevelCells};

/// A test with the results of its series.
pub(super) struct Level<'a> {
    pub(super) test_series: &'a TestSeries<'a>,
    pub(super) knees: Vec<KneeRow>,
    pub(super) steadiness: Steadiness,
    /// Number of rounds that decide steadiness.
    pub(super) rounds: usize,
    /// Mean of the last five rounds and its interval, if they are steady.
    pub(super) steady: Option<(f64, Option<Interval>)>,
    /// Bytes written when the steady part began.
    pub(super) steady_from: Option<u64>,
    pub(super) peak: f64,
    pub(super) last: f64,
}

#[derive(Serialize)]
pub(super) struct LevelRow {
    test: String,
    op: String,
    data: String,
    peak_bytes_per_s: f64,
    steady_bytes_per_s: Option<f64>,
    steady_bytes_per_s_low: Option<f64>,
    steady_bytes_per_s_high: Option<f64>,
    share_of_peak_percent: Option<f64>,
    is_steady: bool,
    steady_from_bytes: Option<u64>,
    last_bytes_per_s: f64,
    range_percent: Option<f64>,
    slope_percent: Option<f64>,
}

/// The speeds that decide steadiness.
pub(super) struct Rounds {
    /// Bytes a second of each round.
    pub(super) speeds: Vec<f64>,
    /// Bytes that the run had written when each of them began.
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
            steady: window.map(|window| (window.mean, interval())),
            steady_from: steadiness.from.map(|round| rounds.started_at[round]),
            steadiness,
            rounds: speeds.len(),
            peak: test_series.peak(),
            last: rounds.last,
            test_series,
        }
    }

    pub(super) fn row(&self) -> LevelRow {
        let interval = self.steady.and_then(|(_, interval)| interval);
        LevelRow {
            test: self.test_series.test.clone(),
            op: self.test_series.op.to_string(),
            data: self.test_series.data.to_string(),
            peak_bytes_per_s: self.peak,
            steady_bytes_per_s: self.steady.map(|(mean, _)| mean),
            steady_bytes_per_s_low: interval.map(|interval| interval.low.max(0.0)),
            steady_bytes_per_s_high: interval.map(|interval| interval.high),
            share_of_peak_percent: self.share().map(|share| share * 100.0),
            is_steady: self.steadiness.is_steady(),
            steady_from_bytes: self.steady_from,
            last_bytes_per_s: self.last,
            range_percent: self.steadiness.window.map(|window| window.range_share * 100.0),
            slope_percent: self.steadiness.window.map(|window| window.slope_share * 100.0),
        }
    }

    /// The share of the peak that is left in the steady state.
    pub(super) fn share(&self) -> Option<f64> {
        self.steady.filter(|_| self.peak > 0.0).map(|(mean, _)| mean / self.peak)
    }

    /// How far it falls, if it does: to its end, or to its deepest level where it recovers from that.
    pub(super) fn cliff(&self) -> Option<Cliff<'_>> {
        let falls = self.knees.iter().filter(|knee| knee.is_fall());
        let deepest = falls.min_by(|a, b| a.after_bytes_per_s.total_cmp(&b.after_bytes_per_s))?;
        let end = self.steady.map_or(self.last, |(mean, _)| mean);
        let has_recovered = end > deepest.before_bytes_per_s * (1.0 - LEAST_CHANGE);
        let low = if has_recovered { deepest.after_bytes_per_s } else { end };
        // Where it falls step by step, it begins with the first of them.
        let first = self.knees.iter().filter(|knee| knee.is_fall()).min_by_key(|knee| knee.at_bytes)?;
        Some(Cliff { test: &self.test_series.test, at_bytes: first.at_bytes, peak: self.peak, low })
    }

    /// Its steady speed, or its last one.
    pub(super) fn sentence(&self) -> String {
        let (test, peak) = (&self.test_series.test, Rate(self.peak));
        match (self.steady, self.share()) {
            (Some((mean, _)), Some(share)) => {
                wording::test_is_steady(test, Rate(mean), peak, Share(share.min(1.0)))
            }
            _ => wording::test_is_not_steady(test, Rate(self.last), peak),
        }
    }

    /// Its row on the first screen.
    pub(super) fn cells(&self) -> LevelCells<'_> {
        LevelCells {
            test: &self.test_series.test,
            op: self.test_series.op,
            peak: self.peak,
            steady: self.steady.map(|(mean, _)| mean),
            is_open: self.steadiness.window.is_none(),
            last: self.last,
            cliffs: self.knees.iter().filter(|knee| knee.is_fall()).count(),
        }
    }
}

/// A knee as a mark in a picture.
pub(super) fn knee_mark(knee: &KneeRow) -> Mark {
    Mark { x: knee.at_bytes as f64, label: wording::knee_mark(knee) }
}

#[cfg(test)]
mod tests {
    use likenew_core::io::{DataClass, Op};
    use likenew_core::mix::Mix;

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
