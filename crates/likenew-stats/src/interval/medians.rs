//! The interval of a median.

use statrs::distribution::{Binomial, DiscreteCDF as _};

use super::{Interval, tail};
use crate::summary::sorted;

/// The interval of the median of independent values of any distribution: from the k-th smallest to the k-th
/// largest, where k is the largest number for which at most a tail's share of coin tosses give fewer than k
/// heads (Thompson, "On confidence ranges for the median and other expectation distributions for populations
/// of unknown distribution form", Annals of Mathematical Statistics 7 (1936) 122–128). It holds the truth at
/// least as often as its confidence says. `None` when even the extremes do not reach it: at 95% below six
/// values.
///
/// # Panics
/// When `confidence` is not between 0 and 1, or a value is not a number.
pub fn median_interval(values: &[f64], confidence: f64) -> Option<Interval> {
    let tail = tail(confidence);
    let ascending = sorted(values);
    let tosses = Binomial::new(0.5, values.len() as u64).expect("a fair coin");
    // How many of the outermost values may be left out at each end; the number is at most half of them.
    let (mut enough, mut too_many) = (None, values.len() as u64 / 2 + 1);
    let mut fewest = 0;
    while fewest < too_many {
        let middle = fewest.midpoint(too_many);
        if tosses.cdf(middle) <= tail {
            (enough, fewest) = (Some(middle as usize), middle + 1);
        } else {
            too_many = middle;
        }
    }
    enough.map(|skips| Interval { low: ascending[skips], high: ascending[values.len() - 1 - skips] })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::summary::median;
    use proptest::prelude::*;

    #[test]
    fn worked_examples() {
        let values = |count: u32| (1..=count).map(f64::from).collect::<Vec<_>>();
        let interval = |count| median_interval(&values(count), 0.95);
        // 2·½⁵ = 6.25 % and 2·½⁶ = 3.1 %; of 10 tosses 1.07 % give at most one head, of 20 2.07 % at most five.
        assert_eq!((interval(0), interval(5)), (None, None));
        assert_eq!(interval(6), Some(Interval { low: 1.0, high: 6.0 }));
        assert_eq!(interval(10), Some(Interval { low: 2.0, high: 9.0 }));
        assert_eq!(interval(20), Some(Interval { low: 6.0, high: 15.0 }));
    }

    proptest! {
        #[test]
        fn it_holds_the_median_of_the_values(values in prop::collection::vec(0.0..1e6f64, 6..200), confidence in 0.5..0.95f64) {
            let interval = median_interval(&values, confidence).unwrap();
            prop_assert!(interval.contains(median(&values).unwrap()));
        }
    }
}
