//! Whether the drive changed from the first round to the last: cells can only be compared if it did not.

use likenew_core::answer::{Action, Answer};
use likenew_core::mix::Mix;
use likenew_stats::interval::{CONFIDENCE_95, Interval, mean_interval};
use likenew_stats::summary::mean;

use super::DIFFERENCE;
use super::results::{Matrix, MeasuredCell};
use super::wording::{self, DriftText};

/// Fewer cells than this show little of all of them.
const CELLS_MIN: usize = 4;

/// Speed of the last round over the first, for one operation.
struct Drift {
    op: Mix,
    cells: usize,
    /// Geometric mean over the cells.
    ratio: f64,
    interval: Interval,
}

impl Drift {
    /// The drift over the cells of an operation: each cell is one sample, so few passes of many cells show it
    /// well.
    fn from_cells(op: Mix, cells: &[&MeasuredCell<'_>]) -> Option<Self> {
        let witness = |one: &&MeasuredCell<'_>| match one.speeds[..] {
            [first, .., last] if first > 0.0 && last > 0.0 => Some((last / first).ln()),
            _ => None,
        };
        let logarithms: Vec<f64> = cells.iter().filter_map(witness).collect();
        let interval = mean_interval(&logarithms, CONFIDENCE_95).filter(|_| logarithms.len() >= CELLS_MIN)?;
        let interval = Interval { low: interval.low.exp(), high: interval.high.exp() };
        Some(Self { op, cells: logarithms.len(), ratio: mean(&logarithms)?.exp(), interval })
    }

    /// Whether it changed by less than 5%; `None` if that is not decided.
    fn is_steady(&self) -> Option<bool> {
        let (low, high) = (1.0 - DIFFERENCE, 1.0 / (1.0 - DIFFERENCE));
        let Interval { low: from, high: to } = self.interval;
        if low < from && to < high {
            return Some(true);
        }
        (to < low || high < from).then_some(false)
    }

    fn text(&self) -> DriftText {
        DriftText { op: self.op, ratio: self.ratio, interval: self.interval, cells: self.cells }
    }
}

/// One answer for all operations; `None` if each cell was measured once, which shows nothing.
pub(super) fn drift(matrix: &Matrix<'_>, more_passes: &Action) -> Option<Answer> {
    let drifts: Vec<Drift> =
        matrix.ops().into_iter().filter_map(|op| Drift::from_cells(op, &matrix.of_op(op))).collect();
    let worst = |is_steady: Option<bool>| {
        let candidates = drifts.iter().filter(|drift| drift.is_steady() == is_steady);
        candidates.max_by(|a, b| a.ratio.ln().abs().total_cmp(&b.ratio.ln().abs())).map(Drift::text)
    };
    let answer = if let Some(worst) = worst(Some(false)) {
        wording::drive_changed(&worst)
    } else if let Some(worst) = worst(None) {
        wording::drift_is_open(&worst).action(more_passes.clone())
    } else if drifts.is_empty() {
        return None;
    } else {
        wording::drive_stayed_the_same()
    };
    Some(drifts.iter().fold(answer, |answer, drift| answer.with_evidence(wording::drift_of(&drift.text()))))
}
