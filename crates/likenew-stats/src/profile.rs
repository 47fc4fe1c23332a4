//! A positive sum whose parts depend on one more number, such as where a curve has its knee: every candidate
//! is tried, and those that the values cannot distinguish from the best are kept.

use statrs::distribution::{ContinuousCDF as _, StudentsT};

use crate::interval::Interval;
use crate::positive_sum::{PositiveSum, positive_sum};

/// The best candidate, and all that are as good within the scatter.
#[derive(Clone, Debug, PartialEq)]
pub struct Profile<const PARTS: usize> {
    /// The best of the candidates.
    pub shape: f64,
    /// How much of each part there is with it.
    pub sum: PositiveSum<PARTS>,
    /// The candidates that cannot be distinguished from it at the confidence asked for, itself included, in
    /// ascending order.
    pub possible: Vec<(f64, PositiveSum<PARTS>)>,
}

/// Tries all `candidates`: `parts(candidate, index)` are the parts of the value of that index. A candidate is
/// possible when it leaves no more than (1 + *t*²/*f*) times the least squares, where *f* are the degrees of
/// freedom with one taken for the candidate itself: the region that the ratio of likelihoods gives (Bates &
/// Watts, "Nonlinear Regression Analysis", 1988, chapter 6).
///
/// `None` where no candidate can be fitted with a degree of freedom to spare.
///
/// # Panics
/// As [`positive_sum`] does.
pub fn profile<const PARTS: usize>(
    candidates: &[f64],
    parts: impl Fn(f64, usize) -> [f64; PARTS],
    values: &[f64],
    deviations: &[f64],
    confidence: f64,
) -> Option<Profile<PARTS>> {
    let fit = |candidate: &f64| {
        let rows: Vec<[f64; PARTS]> = (0..values.len()).map(|index| parts(*candidate, index)).collect();
        Some((*candidate, positive_sum(&rows, values, deviations)?))
    };
    let mut fits: Vec<(f64, PositiveSum<PARTS>)> = candidates.iter().filter_map(fit).collect();
    let (shape, mut sum) =
        *fits.iter().min_by(|(_, one), (_, other)| one.squares.total_cmp(&other.squares))?;
    // The candidate was chosen by the same values.
    sum.freedom = sum.freedom.checked_sub(1).filter(|freedom| *freedom > 0)?;
    let student = StudentsT::new(0.0, 1.0, sum.freedom as f64).expect("there is a degree of freedom");
    let t = student.inverse_cdf((1.0 + confidence) / 2.0);
    let limit = sum.squares * (1.0 + t * t / sum.freedom as f64);
    fits.retain(|(_, fit)| fit.squares <= limit);
    fits.sort_by(|(one, _), (other, _)| one.total_cmp(other));
    fits.iter_mut().for_each(|(_, fit)| fit.freedom = fit.freedom.saturating_sub(1));
    Some(Profile { shape, sum, possible: fits })
}

impl<const PARTS: usize> Profile<PARTS> {
    /// From the least candidate that is possible to the greatest.
    pub fn shape_interval(&self) -> Interval {
        let ends = (self.possible.first(), self.possible.last());
        let at = |end: Option<&(f64, PositiveSum<PARTS>)>| end.map_or(self.shape, |(shape, _)| *shape);
        Interval { low: at(ends.0), high: at(ends.1) }
    }

    /// The interval of a coefficient: all that it may be with any possible candidate.
    pub fn interval(&self, part: usize, confidence: f64) -> Option<Interval> {
        let own = self.sum.interval(part, confidence)?;
        let all = self.possible.iter().filter_map(|(_, fit)| fit.interval(part, confidence));
        Some(
            all.fold(own, |whole, of| Interval { low: whole.low.min(of.low), high: whole.high.max(of.high) }),
        )
    }
}

/// Parts of a line that starts at an ordinate and has one slope up to a knee and another from there on.
pub fn broken_line(x: f64, knee: f64) -> [f64; 3] {
    [1.0, x.min(knee), (x - knee).max(0.0)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_knee_is_found_where_it_is() {
        let x: Vec<f64> = (0..18).map(|power| f64::from(1u32 << power)).collect();
        let values: Vec<f64> = x.iter().map(|x| 50.0 + x.min(512.0) + 7.0 * (x - 512.0).max(0.0)).collect();
        let found = profile(&x[1..17], |knee, index| broken_line(x[index], knee), &values, &[0.01; 18], 0.95)
            .unwrap();
        assert_eq!((found.shape, found.shape_interval()), (512.0, Interval { low: 512.0, high: 512.0 }));
        let [start, before, after] = found.sum.coefficients;
        assert!((start - 50.0).abs() < 1e-6 && (before - 1.0).abs() < 1e-6 && (after - 7.0).abs() < 1e-6);
    }

    #[test]
    fn what_is_not_distinguished_is_kept() {
        // A straight line has its knee anywhere.
        let x: Vec<f64> = (1..20).map(f64::from).collect();
        let values: Vec<f64> = x
            .iter()
            .enumerate()
            .map(|(index, x)| (3.0 + x) * (1.0 + 0.02 * (index * 7 % 5) as f64))
            .collect();
        let found = profile(&x[2..17], |knee, index| broken_line(x[index], knee), &values, &[0.02; 19], 0.95)
            .unwrap();
        assert!(found.possible.len() > 10, "{found:?}");
        let (own, all) = (found.sum.interval(2, 0.95).unwrap(), found.interval(2, 0.95).unwrap());
        assert!(all.low <= own.low && own.high <= all.high && all.contains(1.0), "{own:?} {all:?}");
    }

    #[test]
    fn without_freedom_or_candidates_there_is_none() {
        let parts = |knee: f64, index: usize| broken_line(index as f64 + 1.0, knee);
        assert_eq!(profile(&[2.0], parts, &[1.0, 2.0, 3.0, 5.0], &[0.1; 4], 0.95), None);
        assert_eq!(profile(&[], parts, &[1.0; 9], &[0.1; 9], 0.95), None);
    }
}
