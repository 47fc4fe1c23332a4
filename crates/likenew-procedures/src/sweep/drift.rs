//! Whether the drive stayed what it was from the first round to the last: cells can only be compared if it did.

use likenew_core::mix::Mix;
use likenew_core::verdict::{Standing, Verdict};
use likenew_stats::interval::{Interval, mean_interval};
use likenew_stats::summary::mean;

use super::cell::noun;
use super::results::{Matrix, MeasuredCell};
use super::{DIFFERENCE, MORE_PASSES};
use crate::CONFIDENCE;

/// Fewer cells than this say little of all of them.
const CELLS_MIN: usize = 4;

/// How much faster the last round was than the first, of one operation.
struct Drift {
    op: Mix,
    cells: usize,
    /// Geometric mean over the cells.
    ratio: f64,
    interval: Interval,
}

impl Drift {
    /// The drift of the cells of an operation: each cell is one witness, so that few passes of many cells tell it well.
    fn from_cells(op: Mix, cells: &[&MeasuredCell<'_>]) -> Option<Self> {
        let witness = |one: &&MeasuredCell<'_>| match one.speeds[..] {
            [first, .., last] if first > 0.0 && last > 0.0 => Some((last / first).ln()),
            _ => None,
        };
        let logarithms: Vec<f64> = cells.iter().filter_map(witness).collect();
        let interval = mean_interval(&logarithms, CONFIDENCE).filter(|_| logarithms.len() >= CELLS_MIN)?;
        let interval = Interval { low: interval.low.exp(), high: interval.high.exp() };
        Some(Self { op, cells: logarithms.len(), ratio: mean(&logarithms)?.exp(), interval })
    }

    /// Whether it changed by less than 5 %; `None` where that is not decided.
    fn is_steady(&self) -> Option<bool> {
        let (low, high) = (1.0 - DIFFERENCE, 1.0 / (1.0 - DIFFERENCE));
        let Interval { low: from, high: to } = self.interval;
        if low < from && to < high {
            return Some(true);
        }
        (to < low || high < from).then_some(false)
    }

    fn text(&self) -> String {
        let percent = |ratio: f64| match (ratio - 1.0) * 100.0 {
            // Nobody wants to read −0.0.
            change if change.abs() < 0.05 => "0".to_owned(),
            change => format!("{change:+.1}"),
        };
        format!(
            "{}, last round over first: {} % ({} to {} %, {} cells)",
            noun(self.op),
            percent(self.ratio),
            percent(self.interval.low),
            percent(self.interval.high),
            self.cells
        )
    }
}

/// One verdict for all operations; none where each cell was measured once, as then nothing can be said.
pub(super) fn drift(matrix: &Matrix<'_>) -> Option<Verdict> {
    let drifts: Vec<Drift> =
        matrix.ops().into_iter().filter_map(|op| Drift::from_cells(op, &matrix.of_op(op))).collect();
    if drifts.is_empty() {
        return None;
    }
    let standing = if drifts.iter().any(|drift| drift.is_steady() == Some(false)) {
        Standing::Fails
    } else if drifts.iter().all(|drift| drift.is_steady() == Some(true)) {
        Standing::Holds
    } else {
        Standing::Undecided
    };
    let claim = "The drive stayed as fast as it was from the first round to the last.";
    let verdict = drifts
        .iter()
        .fold(Verdict::new(claim, standing), |verdict, drift| verdict.with_evidence(drift.text()));
    Some(match standing {
        Standing::Holds => verdict,
        Standing::Fails => verdict.caveat("the sweep changed the drive while it measured it: the intervals of the cells hold that change, and endure or fill show it along the bytes written"),
        Standing::Undecided => verdict.caveat(MORE_PASSES),
    })
}
