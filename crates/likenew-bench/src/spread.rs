//! What repeated rounds come to, as one number and as a line.

use likenew_stats::summary::{maximum, median, minimum};

const NO_ROUND: &str = "a round was measured";

/// The value in the middle.
pub(crate) fn middle(values: &[f64]) -> f64 {
    median(values).expect(NO_ROUND)
}

/// `1.003 [0.98 … 1.02]`: the middle, the lowest and the highest.
pub(crate) fn spread(ratios: &[f64]) -> String {
    let (lowest, highest) = (minimum(ratios).expect(NO_ROUND), maximum(ratios).expect(NO_ROUND));
    format!("{:.3} [{lowest:.2} … {highest:.2}]", middle(ratios))
}
