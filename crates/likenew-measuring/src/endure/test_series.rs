//! One test over the whole run: its speed each time, where its level changed, and whether it is steady at the end.

use likenew_core::findings::Line;
use likenew_core::io::DataClass;
use likenew_core::segment::Segment;
use likenew_core::workload::Mix;
use likenew_procedure_support::estimate::Estimate;
use likenew_stats::change_points::{LEAST_CHANGE, LEVEL_MIN, knees};
use likenew_stats::steady_state::{ROUNDS, Window};
use likenew_stats::summary::{maximum, mean};
use serde::Serialize;

/// A test and an operation, with all of their passes.
pub(super) struct TestSeries<'a> {
    pub(super) test: String,
    pub(super) op: Mix,
    pub(super) data: DataClass,
    /// In the order they ran.
    pub(super) passes: Vec<Pass<'a>>,
    /// After this many passes the addresses repeat; 1 if every pass has the same ones.
    pub(super) period: usize,
}

/// One run of a test.
#[derive(Clone, Copy)]
pub(super) struct Pass<'a> {
    /// Bytes that the run had written before it.
    pub(super) written_before: u64,
    /// Bytes that the run had written after it.
    pub(super) written_after: u64,
    pub(super) segment: &'a Segment,
    pub(super) bytes_per_s: f64,
}

/// A test with the results of its series.
pub(super) struct Level<'a> {
    pub(super) test_series: &'a TestSeries<'a>,
    pub(super) knees: Vec<KneeRow>,
    pub(super) steadiness: Steadiness,
    /// Number of rounds that decide steadiness.
    pub(super) rounds: usize,
    /// Mean of the last five rounds and its interval, if they are steady.
    pub(super) steady: Option<Estimate>,
    /// Bytes written when the steady part began.
    pub(super) steady_from: Option<u64>,
    pub(super) peak: f64,
    pub(super) last: f64,
}

/// A change of level.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct KneeRow {
    pub(super) test: String,
    pub(super) op: String,
    pub(super) data: String,
    pub(super) at_bytes: u64,
    at_bytes_low: u64,
    at_bytes_high: u64,
    pub(super) before_bytes_per_s: f64,
    pub(super) after_bytes_per_s: f64,
}

impl TestSeries<'_> {
    /// With fewer passes than this, any change of level may be chance.
    pub(super) const PASSES_MIN: usize = 2 * LEVEL_MIN;

    /// Bytes a second of each pass.
    pub(super) fn speeds(&self) -> Vec<f64> {
        self.passes.iter().map(|pass| pass.bytes_per_s).collect()
    }

    /// Speed of the fastest pass, in bytes a second.
    pub(super) fn peak(&self) -> f64 {
        maximum(&self.speeds()).expect("a test has a pass")
    }

    /// Where its level changed as the drive was written.
    pub(super) fn knees(&self) -> Vec<KneeRow> {
        let speeds = self.speeds();
        let changes = knees(&speeds).into_iter().filter(|knee| self.is_of_writing(&speeds, knee.at));
        let before = |index: usize| self.passes[index.min(self.passes.len() - 1)].written_before;
        changes
            .map(|knee| KneeRow {
                test: self.test.clone(),
                op: self.op.to_string(),
                data: self.data.to_string(),
                at_bytes: before(knee.at),
                at_bytes_low: self.passes[knee.at_low.saturating_sub(1)].written_after.min(before(knee.at)),
                at_bytes_high: self.passes[knee.at_high].written_after,
                before_bytes_per_s: knee.before,
                after_bytes_per_s: knee.after,
            })
            .collect()
    }

    /// Whether writing changed the level. A disk is faster on its outer tracks, so a change that comes when addresses
    /// repeat counts only if the same addresses are faster or slower than the time before.
    fn is_of_writing(&self, speeds: &[f64], at: usize) -> bool {
        let Some(before) = at.checked_sub(self.period).filter(|_| self.period > 1) else { return true };
        let count = self.period.min(speeds.len() - at);
        let (earlier, now) = (mean(&speeds[before..before + count]), mean(&speeds[at..at + count]));
        match (earlier, now) {
            (Some(earlier), Some(now)) if earlier.min(now) > 0.0 => {
                (earlier / now).ln().abs() >= (1.0 + LEAST_CHANGE).ln()
            }
            _ => true,
        }
    }

    /// Speed against bytes written.
    pub(super) fn line(&self) -> Line {
        let point = |pass: &Pass<'_>| [pass.written_after as f64, pass.bytes_per_s];
        Line::new(self.op.to_string(), self.passes.iter().map(point).collect())
    }
}

impl KneeRow {
    /// A change of the writes of a test, at a known place.
    #[cfg(test)]
    pub(super) fn between(
        test: &str,
        at_bytes: u64,
        before_bytes_per_s: f64,
        after_bytes_per_s: f64,
    ) -> Self {
        Self {
            test: test.into(),
            op: "write".into(),
            data: "random".into(),
            at_bytes,
            at_bytes_low: at_bytes,
            at_bytes_high: at_bytes,
            before_bytes_per_s,
            after_bytes_per_s,
        }
    }

    /// Whether it is slower from there on.
    pub(super) fn is_fall(&self) -> bool {
        self.after_bytes_per_s < self.before_bytes_per_s
    }
}

/// The fall of a test from its fastest loop.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Cliff<'a> {
    pub(super) test: &'a str,
    /// Bytes written when it begins.
    pub(super) at_bytes: u64,
    /// Bytes a second of the fastest loop.
    pub(super) peak: f64,
    /// Bytes a second after the fall.
    pub(super) low: f64,
}

impl Cliff<'_> {
    /// What is left of the peak, in 0..1.
    pub(super) fn share(&self) -> f64 {
        (self.low / self.peak).min(1.0)
    }
}

/// The state at the end of a series of rounds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Steadiness {
    /// The last five rounds; `None` if there are fewer.
    pub(super) window: Option<Window>,
    /// Index of the first round from which on every window is steady; `None` if the last one is not.
    pub(super) from: Option<usize>,
}

impl Steadiness {
    /// From the values of rounds, in the order they ran.
    pub(super) fn from_rounds(rounds: &[f64]) -> Self {
        let steady = |end: usize| Window::last(&rounds[..end]).is_some_and(|window| window.is_steady());
        let ends = (ROUNDS..=rounds.len()).rev().take_while(|end| steady(*end));
        Self { window: Window::last(rounds), from: ends.last().map(|end| end - ROUNDS) }
    }

    pub(super) fn is_steady(&self) -> bool {
        self.from.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_level_that_was_left_is_not_steady() {
        let left: Vec<f64> = [[100.0; 8], [50.0; 8]].concat();
        assert_eq!(Steadiness::from_rounds(&left).from, Some(8));
        assert_eq!(Steadiness::from_rounds(&left[..8]).from, Some(0));
        let after = Steadiness::from_rounds(&left[..11]);
        assert!(!after.is_steady() && after.window.is_some(), "{after:?}");
    }

    #[test]
    fn four_rounds_say_nothing() {
        assert_eq!(Steadiness::from_rounds(&[100.0; 4]), Steadiness { window: None, from: None });
        assert!(!Steadiness::from_rounds(&[]).is_steady());
    }
}
