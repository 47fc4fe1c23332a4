//! Running sums, which give the squares around a level, a line or a parabola at once for any stretch.

use std::ops::Range;

use super::noise::running_median;

/// A parabola through few values fits a knee, too; it is tried on a stretch of at least this share of the series.
const BENT_SHARE_MIN: f64 = 0.05;

/// Running sums of a series of logarithms.
pub(super) struct Sums {
    /// Sums of the logarithms and of their squares before each index.
    level: Vec<[f64; 2]>,
    /// Sums before each index, for curves through the values themselves, weighted by one over their size: of
    /// v²; of v, vx, vx²; and of 1, x, x², x³, x⁴, where v is the value over the median around it, and x the
    /// place.
    curve: Vec<[f64; 9]>,
}

impl Sums {
    pub(super) fn new(logs: &[f64]) -> Self {
        let center = logs.iter().sum::<f64>() / logs.len().max(1) as f64;
        let (mut level, mut curve) = (vec![[0.0; 2]], vec![[0.0; 9]]);
        for (index, (log, smooth)) in logs.iter().zip(running_median(logs)).enumerate() {
            let place = index as f64 / logs.len() as f64;
            let weight = (center - smooth).exp();
            let value = (log - smooth).exp();
            let (product, square) = (value * weight, weight * weight);
            let terms = [
                value * value,
                product,
                product * place,
                product * place.powi(2),
                square,
                square * place,
                square * place.powi(2),
                square * place.powi(3),
                square * place.powi(4),
            ];
            let log = log - center;
            level.push(plus(level[index], [log, log * log]));
            curve.push(plus(curve[index], terms));
        }
        Self { level, curve }
    }

    /// Values in the series.
    pub(super) fn count(&self) -> usize {
        self.level.len() - 1
    }

    /// Mean of the logarithms, over the series' mean.
    pub(super) fn mean(&self, range: &Range<usize>) -> f64 {
        minus(self.level[range.end], self.level[range.start])[0] / range.len() as f64
    }

    /// Squares of the logarithms around their mean.
    pub(super) fn squares_of_level(&self, range: &Range<usize>) -> f64 {
        self.squares_around(range, self.mean(range))
    }

    /// Squares of the logarithms around a level.
    pub(super) fn squares_around(&self, range: &Range<usize>, level: f64) -> f64 {
        let [sum, squares] = minus(self.level[range.end], self.level[range.start]);
        (squares - 2.0 * level * sum + range.len() as f64 * level * level).max(0.0)
    }

    /// Squares of the relative distances from the best line through the values, and from the best parabola.
    pub(super) fn squares_of_curves(&self, range: &Range<usize>) -> (f64, f64) {
        let [vv, v0, v1, v2, w0, w1, w2, w3, w4] = minus(self.curve[range.end], self.curve[range.start]);
        // Moments around the center of the stretch, where the constant and the linear term are orthogonal.
        let x = w1 / w0;
        let (v1, v2) = (v1 - x * v0, v2 - x * (2.0 * v1 - x * v0));
        let (w2, w3, w4) = (
            w2 - x * w1,
            w3 - 3.0 * x * w2 + 3.0 * x * x * w1 - x.powi(3) * w0,
            w4 - 4.0 * x * w3 + 6.0 * x * x * w2 - 4.0 * x.powi(3) * w1 + x.powi(4) * w0,
        );
        if w2 <= 0.0 {
            return (f64::INFINITY, f64::INFINITY);
        }
        let line = (vv - v0 * v0 / w0 - v1 * v1 / w2).max(0.0);
        // The part of the quadratic term that is orthogonal to the others, and the part of the values along
        // it.
        let (along_constant, along_line) = (w2 / w0, w3 / w2);
        let own = w4 - along_constant * w2 - along_line * w3;
        let product = v2 - along_constant * v0 - along_line * v1;
        let long = range.len() as f64 >= BENT_SHARE_MIN * self.count() as f64;
        let bent = if long && own > 0.0 { (line - product * product / own).max(0.0) } else { f64::INFINITY };
        (line, bent)
    }
}

fn plus<const N: usize>(a: [f64; N], b: [f64; N]) -> [f64; N] {
    std::array::from_fn(|index| a[index] + b[index])
}

fn minus<const N: usize>(a: [f64; N], b: [f64; N]) -> [f64; N] {
    std::array::from_fn(|index| a[index] - b[index])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn logs(count: usize, value: impl Fn(f64) -> f64) -> Vec<f64> {
        (0..count).map(|index| value(index as f64 / count as f64).ln()).collect()
    }

    #[test]
    fn squares_around_a_level_are_those_of_the_stretch() {
        let values = [1.0, 5.0, 2.0, 4.0, 9.0];
        let sums = Sums::new(&values);
        // 5, 2, 4 have the mean 11/3 and squares 14/3 around it.
        assert!((sums.squares_of_level(&(1..4)) - 14.0 / 3.0).abs() < 1e-9);
        assert!((sums.mean(&(1..4)) - (11.0 / 3.0 - 4.2)).abs() < 1e-9);
        assert!((sums.squares_around(&(1..4), 1.0 - 4.2) - (16.0 + 1.0 + 9.0)).abs() < 1e-9);
    }

    #[test]
    fn a_line_and_a_parabola_are_recognised_wherever_they_lie() {
        let line = Sums::new(&logs(400, |x| 100.0 - 60.0 * x));
        let parabola = Sums::new(&logs(400, |x| 100.0 - 60.0 * x * x));
        for range in [0..400, 0..40, 100..300, 360..400] {
            assert!(line.squares_of_curves(&range).0 < 1e-9, "{range:?}");
            let (straight, bent) = parabola.squares_of_curves(&range);
            assert!(bent < 1e-8 && straight > bent, "{range:?}: {straight} {bent}");
        }
        assert!(parabola.squares_of_curves(&(0..400)).0 > 0.1);
    }
}
