//! Chooses among explanations by their predictions for points that were held out of the fit.

use crate::summary::{maximum, mean, standard_deviation};

/// How far an explanation was off at points that were held out of its fit.
#[derive(Clone, Debug, PartialEq)]
pub struct HoldOut {
    /// ln(predicted/measured), in the order of the points that were held out.
    pub errors: Vec<f64>,
}

/// Holds out each of the points `out` in turn and predicts it by a fit to all others:
/// `predict(kept, test_point)` with indices of `values`. Leaving one out is least biased and, for few points,
/// as good as any other way of parting them (Stone, "Cross-validatory choice and assessment of statistical
/// predictions", JRSS B 36 (1974) 111–147).
///
/// `None` where nothing was held out, or a point could not be predicted.
///
/// # Panics
/// When a value that is held out is not above 0.
pub fn hold_out(
    values: &[f64],
    out: &[usize],
    predict: impl Fn(&[usize], usize) -> Option<f64>,
) -> Option<HoldOut> {
    let error = |test_point: &usize| {
        assert!(values[*test_point] > 0.0, "relative errors are of positive numbers");
        let kept: Vec<usize> = (0..values.len()).filter(|index| index != test_point).collect();
        let predicted = predict(&kept, *test_point).filter(|predicted| *predicted > 0.0)?;
        Some((predicted / values[*test_point]).ln())
    };
    let errors: Vec<f64> = out.iter().map(error).collect::<Option<_>>()?;
    (!errors.is_empty()).then_some(HoldOut { errors })
}

impl HoldOut {
    /// The mean size of its errors, as a share: 0.1 means wrong by a factor of 1.1 either way.
    pub fn typical(&self) -> f64 {
        mean(&self.sizes()).expect("something was held out").exp_m1()
    }

    /// The size of its largest error, as a share.
    pub fn worst(&self) -> f64 {
        maximum(&self.sizes()).expect("something was held out").exp_m1()
    }

    fn sizes(&self) -> Vec<f64> {
        self.errors.iter().map(|error| error.abs()).collect()
    }
}

/// Errors that differ by less than this share count as equal. Chosen: no reader of a prediction would care.
const DIFFERENCE_LEAST: f64 = 0.01;

/// The index of the explanation to believe: the simplest that predicts as well as the best. Candidates come
/// simplest first, `None` where one could not be tried. One predicts as well if its errors exceed those of
/// the best, point by point, by at most one standard error of that difference, or by a percent: the
/// one-standard-error rule (Breiman, Friedman, Olshen & Stone, "Classification and Regression Trees", 1984,
/// section 3.4.3) on paired differences.
///
/// # Panics
/// When candidates were tested at different points.
pub fn simplest_equivalent(candidates: &[Option<HoldOut>]) -> Option<usize> {
    let attempts =
        || candidates.iter().enumerate().filter_map(|(index, candidate)| Some((index, candidate.as_ref()?)));
    let (_, best) = attempts().min_by(|(_, one), (_, other)| one.typical().total_cmp(&other.typical()))?;
    let as_good = |candidate: &HoldOut| {
        assert_eq!(candidate.errors.len(), best.errors.len(), "explanations are compared at the same points");
        let more: Vec<f64> =
            candidate.sizes().iter().zip(best.sizes()).map(|(own, best)| own - best).collect();
        let error = standard_deviation(&more).unwrap_or(0.0) / (more.len() as f64).sqrt();
        mean(&more).expect("something was held out") <= error.max(DIFFERENCE_LEAST)
    };
    attempts().find(|(_, candidate)| as_good(candidate)).map(|(index, _)| index)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn errors(errors: &[f64]) -> Option<HoldOut> {
        Some(HoldOut { errors: errors.to_vec() })
    }

    #[test]
    fn each_point_is_predicted_without_itself() {
        let values: [f64; 4] = [1.0, 2.0, 4.0, 8.0];
        let geometric = |kept: &[usize], test_point: usize| {
            assert!(!kept.contains(&test_point) && kept.len() == 3);
            Some((values[test_point - 1] * values[test_point + 1]).sqrt())
        };
        let exact = hold_out(&values, &[1, 2], geometric).unwrap();
        assert!(exact.worst() < 1e-12 && exact.errors.len() == 2);
        let twice = hold_out(&values, &[1, 2], |_, test_point| Some(2.0 * values[test_point])).unwrap();
        assert!((twice.typical() - 1.0).abs() < 1e-12);
        assert_eq!(hold_out(&values, &[], |_, _| Some(1.0)), None);
        assert_eq!(hold_out(&values, &[1, 2], |_, test_point| (test_point == 1).then_some(1.0)), None);
    }

    #[test]
    fn the_simplest_of_equals_is_chosen_and_a_better_one_preferred() {
        let plain = errors(&[0.30, -0.02, 0.25, 0.01, -0.40, 0.02]);
        let better = errors(&[0.02, -0.02, 0.03, 0.01, -0.02, 0.02]);
        let as_good = errors(&[0.02, -0.02, 0.02, 0.01, -0.02, 0.02]);
        assert_eq!(simplest_equivalent(&[plain.clone(), better.clone(), as_good.clone()]), Some(1));
        assert_eq!(simplest_equivalent(&[as_good, better]), Some(0));
        assert_eq!(simplest_equivalent(&[None, plain]), Some(1));
        assert_eq!(simplest_equivalent(&[None, None]), None);
    }

    #[test]
    fn one_lucky_point_does_not_decide() {
        // Better on the mean, by one point of six alone.
        let simple = errors(&[0.1, 0.1, 0.1, 0.1, 0.1, 0.4]);
        let lucky = errors(&[0.12, 0.11, 0.12, 0.11, 0.12, 0.0]);
        assert_eq!(simplest_equivalent(&[simple, lucky]), Some(0));
    }
}
