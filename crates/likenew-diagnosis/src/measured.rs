//! A measured number with its 90% interval.

use statrs::distribution::{ContinuousCDF as _, Normal};

/// A positive measured number. Its interval contains the truth in nine of ten cases.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Measured {
    /// The best single value, above 0.
    pub value: f64,
    /// Lower end, above 0.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

/// Half the width of the interval that holds nine of ten values of a normal distribution, in standard
/// deviations.
const HALF_WIDTH: f64 = 1.644_853_626_951_472;
/// Smallest error of a measurement of a drive, as a share. Chosen: no drive repeats better.
const DEVIATION_LEAST: f64 = 0.005;

impl Measured {
    /// A number and the ends of its interval.
    ///
    /// # Panics
    /// When it is not 0 < low ≤ value ≤ high.
    pub fn new(value: f64, low: f64, high: f64) -> Self {
        assert!(
            0.0 < low && low <= value && value <= high,
            "{low} .. {value} .. {high} is no interval of a measurement"
        );
        Self { value, low, high }
    }

    /// A number whose interval is this share of it to either side.
    ///
    /// # Panics
    /// When the number is not above 0, or the share is not from 0 up to 1.
    pub fn with_interval(value: f64, share: f64) -> Self {
        assert!((0.0..1.0).contains(&share), "{share} is no share");
        Self::new(value, value * (1.0 - share), value * (1.0 + share))
    }

    /// This over another one. Both are taken as independent and their logarithms as normal, so that the
    /// widths add up as squares.
    #[must_use]
    pub fn divide_by(self, other: Self) -> Self {
        let half = HALF_WIDTH * self.deviation().hypot(other.deviation());
        let value = self.value / other.value;
        Self::new(value, value * (-half).exp(), value * half.exp())
    }

    /// 1 over this.
    #[must_use]
    pub fn inverse(self) -> Self {
        Self::new(1.0 / self.value, 1.0 / self.high, 1.0 / self.low)
    }

    /// The same in another unit.
    ///
    /// # Panics
    /// When the factor is not above 0.
    #[must_use]
    pub fn scale_by(self, factor: f64) -> Self {
        Self::new(self.value * factor, self.low * factor, self.high * factor)
    }

    /// The same for a true value that varies between measurements, with this standard deviation of its
    /// logarithm.
    #[must_use]
    pub fn with_scatter(self, deviation: f64) -> Self {
        let half = HALF_WIDTH * self.deviation().hypot(deviation);
        Self::new(self.value, self.value * (-half).exp(), self.value * half.exp())
    }

    /// The probability that the true value is above a threshold, with a normal logarithm.
    pub fn chance_above(self, threshold: f64) -> f64 {
        let distance = (self.value / threshold).ln() / self.deviation();
        Normal::standard().cdf(distance)
    }

    /// The standard deviation of its logarithm.
    fn deviation(self) -> f64 {
        ((self.high / self.low).ln() / (2.0 * HALF_WIDTH)).max(DEVIATION_LEAST)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wide_range_leaves_doubt_and_a_narrow_one_none() {
        let (narrow, wide) = (Measured::with_interval(1.2, 0.02), Measured::new(1.2, 0.6, 2.4));
        assert!(narrow.chance_above(1.1) > 0.999 && narrow.chance_above(1.3) < 0.001);
        assert!((0.55..0.65).contains(&wide.chance_above(1.1)), "{}", wide.chance_above(1.1));
        assert!((wide.chance_above(1.2) - 0.5).abs() < 1e-9);
        // One in twenty lies above the upper end.
        assert!((wide.chance_above(2.4) - 0.05).abs() < 1e-3);
    }

    #[test]
    fn what_is_another_number_each_time_is_less_certain() {
        let once = Measured::with_interval(0.6, 0.03);
        assert!(once.chance_above(0.85) < 1e-6);
        assert!(once.with_scatter(0.05).chance_above(0.85) < 1e-3);
        assert!((0.2..0.3).contains(&once.with_scatter(0.5).chance_above(0.85)));
        assert!((once.with_scatter(0.0).high / once.high - 1.0).abs() < 1e-3);
    }

    #[test]
    fn ratios_are_as_wide_as_both_together() {
        let ratio = Measured::with_interval(10.0, 0.1).divide_by(Measured::with_interval(5.0, 0.1));
        assert!((ratio.value - 2.0).abs() < 1e-12);
        assert!(ratio.low > 1.7 && ratio.low < 1.76 && ratio.high < 2.32 && ratio.high > 2.27, "{ratio:?}");
        let same = Measured::with_interval(3.0, 0.0);
        assert!(same.divide_by(same).chance_above(0.98) > 0.99);
    }
}
