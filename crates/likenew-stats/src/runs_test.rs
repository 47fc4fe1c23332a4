//! Whether two kinds of things come in runs or are mixed at random.

use statrs::function::factorial::ln_binomial;

/// How often a sequence of two kinds changes from one to the other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Runs {
    /// Runs that were counted: one more than the changes.
    pub observed: usize,
    /// Runs to be expected if the order were random.
    pub expected: f64,
    /// The probability of so few runs, or fewer, if the order were random.
    pub p_value: f64,
}

impl Runs {
    /// At a smaller probability than this, [`Runs::is_clustered`] holds.
    pub const SIGNIFICANCE: f64 = 0.01;

    /// Whether equal things come together more than chance would have it.
    pub fn is_clustered(&self) -> bool {
        self.p_value < Self::SIGNIFICANCE
    }
}

/// The exact one-sided runs test against clustering (Wald and Wolfowitz, "On a test whether two samples are from the
/// same population", Annals of Mathematical Statistics 11 (1940) 147–162). `None` unless both kinds occur.
pub fn runs_test(kinds: &[bool]) -> Option<Runs> {
    let ones = kinds.iter().filter(|kind| **kind).count();
    let others = kinds.len() - ones;
    if ones == 0 || others == 0 {
        return None;
    }
    let observed = 1 + kinds.windows(2).filter(|pair| pair[0] != pair[1]).count();
    let expected = 1.0 + 2.0 * ones as f64 * others as f64 / kinds.len() as f64;
    let p_value = (2..=observed).map(|runs| probability(runs, ones, others)).sum::<f64>().min(1.0);
    Some(Runs { observed, expected, p_value })
}

/// The probability of exactly so many runs of `a` and `b` things in random order.
fn probability(runs: usize, a: usize, b: usize) -> f64 {
    let half = runs / 2;
    let orders = ln_binomial((a + b) as u64, a as u64);
    if runs.is_multiple_of(2) {
        2.0 * (ln_cuts(a, half) + ln_cuts(b, half) - orders).exp()
    } else {
        (ln_cuts(a, half + 1) + ln_cuts(b, half) - orders).exp()
            + (ln_cuts(a, half) + ln_cuts(b, half + 1) - orders).exp()
    }
}

/// The logarithm of the number of ways to cut `count` things into `runs` runs.
fn ln_cuts(count: usize, runs: usize) -> f64 {
    if runs > count { f64::NEG_INFINITY } else { ln_binomial(count as u64 - 1, runs as u64 - 1) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(text: &str) -> Vec<bool> {
        text.bytes().map(|byte| byte == b'x').collect()
    }

    #[test]
    fn one_kind_has_no_runs_to_test() {
        assert_eq!((runs_test(&[]), runs_test(&kinds("xxx")), runs_test(&kinds("..."))), (None, None, None));
    }

    #[test]
    fn the_distribution_is_exact() {
        // Of the 6 orders of xx.. two have 2 runs, two have 3, two have 4.
        let p = |text| runs_test(&kinds(text)).unwrap().p_value;
        assert!((p("xx..") - 2.0 / 6.0).abs() < 1e-12);
        assert!((p("x..x") - 4.0 / 6.0).abs() < 1e-12);
        assert!((p("x.x.") - 1.0).abs() < 1e-12);
        // 5 + 5 things in 2 runs: 2 of 252 orders.
        assert!((p("xxxxx.....") - 2.0 / 252.0).abs() < 1e-12);
    }

    #[test]
    fn all_numbers_of_runs_together_are_certain() {
        for (a, b) in [(1, 1), (1, 9), (7, 3), (40, 60), (500, 500)] {
            let total: f64 = (2..=a + b).map(|runs| probability(runs, a, b)).sum();
            assert!((total - 1.0).abs() < 1e-9, "{a} and {b}: {total}");
        }
    }

    #[test]
    fn blocks_are_clustered_and_alternation_is_not() {
        let blocks = runs_test(&kinds(&"xxxx......".repeat(10))).unwrap();
        assert!(blocks.is_clustered() && blocks.observed == 20 && (blocks.expected - 49.0).abs() < 1e-9);
        assert!(!runs_test(&kinds(&"x.".repeat(50))).unwrap().is_clustered());
    }
}
