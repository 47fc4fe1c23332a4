//! Intervals of counts: shares and rates.

use statrs::distribution::{ContinuousCDF as _, Gamma, Normal};

use super::{Interval, tail};

/// The interval of a share of which `hits` of `of` independent cases were counted (Wilson, "Probable inference, the law
/// of succession, and statistical inference", JASA 22 (1927) 209–212): the shares that a normal test does not reject.
/// It stays within 0 and 1, and has a width even when none or all were hits. `None` of no cases.
///
/// # Panics
/// When `confidence` is not between 0 and 1, or there are more hits than cases.
pub fn share_interval(hits: u64, of: u64, confidence: f64) -> Option<Interval> {
    let z = Normal::standard().inverse_cdf(1.0 - tail(confidence));
    assert!(hits <= of, "{hits} hits of {of} cases");
    if of == 0 {
        return None;
    }
    let (cases, share) = (of as f64, hits as f64 / of as f64);
    let weight = z * z / cases;
    let center = (share + weight / 2.0) / (1.0 + weight);
    let half = (share * (1.0 - share) * weight + weight * weight / 4.0).sqrt() / (1.0 + weight);
    // At none and at all the end is exact, but for rounding.
    let low = if hits == 0 { 0.0 } else { center - half };
    let high = if hits == of { 1.0 } else { center + half };
    Some(Interval { low, high })
}

/// The interval of the expected number of rare events of which so many were counted, such as stalls: exact for
/// independent events (Garwood, "Fiducial limits for the Poisson distribution", Biometrika 28 (1936) 437–442). Of no
/// event the lower end is zero, and the upper one, at 95 %, is 3.69. Divide both ends by what was watched (gigabytes,
/// seconds) to have a rate.
///
/// # Panics
/// When `confidence` is not between 0 and 1.
pub fn rate_interval(count: u64, confidence: f64) -> Interval {
    let tail = tail(confidence);
    // The gamma distribution of shape k is half of χ² with 2k degrees of freedom.
    let gamma = |shape: u64| Gamma::new(shape as f64, 1.0).expect("a shape of at least one");
    let low = if count == 0 { 0.0 } else { gamma(count).inverse_cdf(tail) };
    Interval { low, high: gamma(count + 1).inverse_cdf(1.0 - tail) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use statrs::distribution::{DiscreteCDF as _, Poisson};

    fn assert_near(interval: Interval, low: f64, high: f64) {
        assert!((interval.low - low).abs() < 1e-4 && (interval.high - high).abs() < 1e-4, "{interval:?}");
    }

    #[test]
    fn wilsons_interval_of_worked_examples() {
        // 81 of 263 and 0 of 20: Newcombe, Statistics in Medicine 17 (1998) 857–872, table I, method 3.
        assert_near(share_interval(81, 263, 0.95).unwrap(), 0.2553, 0.3662);
        assert_near(share_interval(0, 20, 0.95).unwrap(), 0.0, 0.1611);
        assert_near(share_interval(1, 29, 0.95).unwrap(), 0.0061, 0.1718);
        assert_eq!(share_interval(7, 7, 0.95).unwrap().high, 1.0);
        assert_eq!(share_interval(0, 0, 0.95), None);
    }

    #[test]
    fn garwoods_interval_of_worked_examples() {
        // −ln 0.025 above none; the other ends solve their defining equations.
        assert_near(rate_interval(0, 0.95), 0.0, 3.688_879);
        assert_near(rate_interval(1, 0.95), 0.025_318, 5.571_643);
        assert_near(rate_interval(10, 0.95), 4.795_389, 18.390_356);
    }

    #[test]
    #[should_panic(expected = "3 hits of 2 cases")]
    fn more_hits_than_cases_are_a_mistake() {
        let _ = share_interval(3, 2, 0.95);
    }

    proptest! {
        #[test]
        fn the_ends_of_a_rate_leave_just_the_tails(count in 1u64..100_000, confidence in 0.5..0.99f64) {
            let interval = rate_interval(count, confidence);
            let tail = (1.0 - confidence) / 2.0;
            let at_most = |rate: f64, count| Poisson::new(rate).unwrap().cdf(count);
            prop_assert!((1.0 - at_most(interval.low, count - 1) - tail).abs() < 1e-5);
            prop_assert!((at_most(interval.high, count) - tail).abs() < 1e-5);
        }

        #[test]
        fn a_share_lies_within_its_interval(hits in 0u64..300, others in 0u64..300, confidence in 0.5..0.999f64) {
            prop_assume!(hits + others > 0);
            let interval = share_interval(hits, hits + others, confidence).unwrap();
            prop_assert!(interval.contains(hits as f64 / (hits + others) as f64));
            prop_assert!(0.0 <= interval.low && interval.low < interval.high && interval.high <= 1.0);
        }
    }
}
