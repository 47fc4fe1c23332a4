//! Fits a line that is level on one side of a knee and rises on the other.

use crate::interval::Interval;
use crate::summary::refuse_nan;

/// A measured point and its standard error.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// Where it was measured; above 0.
    pub x: f64,
    /// What was measured.
    pub y: f64,
    /// The standard error of `y`; above 0.
    pub error: f64,
}

/// y = level + rise · max(0, 1 − x/knee): level from the knee on, and higher by `rise` at 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BrokenLine {
    /// The value from the knee on.
    pub level: f64,
    /// How much higher the line is at 0; not below 0.
    pub rise: f64,
    /// Where the line becomes level.
    pub knee: f64,
    /// The interval of the knee at the confidence asked for.
    pub knee_interval: Interval,
    /// χ² per degree of freedom: how much farther the points are from the line than their errors say, squared.
    pub misfit: f64,
}

/// Fewest points: any knee fits fewer.
pub const POINTS_MIN: usize = 4;
/// Number of knees tried, evenly spaced in the logarithm, and again around the best.
const KNEES: usize = 400;
/// The 90% quantile of χ² with one degree of freedom: the rise of χ² that limits the interval of the knee.
const CHI_90: f64 = 2.706;

/// The broken line that fits best: weighted least squares for level and rise at each knee, and the knee with
/// the least χ² (Hinkley, "Inference about the intersection in two-phase regression", Biometrika 56 (1969)
/// 495–504). The interval holds the knees whose χ² is at most 2.706 above the least (profile likelihood,
/// 90 %). If the points lie farther from the line than their errors say, the errors count as that much
/// larger. `None` with fewer than [`POINTS_MIN`] points, or when nothing rises.
///
/// # Panics
/// When a value is not a number, or `x` or `error` is not above 0.
pub fn broken_line(points: &[Point]) -> Option<BrokenLine> {
    points.iter().for_each(|point| {
        refuse_nan(&[point.x, point.y, point.error]);
        assert!(point.x > 0.0 && point.error > 0.0, "{point:?}: x and error are above 0");
    });
    if points.len() < POINTS_MIN {
        return None;
    }
    let least = points.iter().map(|point| point.x).fold(f64::INFINITY, f64::min);
    let most = points.iter().map(|point| point.x).fold(0.0, f64::max);
    let step = (most / least).powf(1.0 / KNEES as f64);
    let coarse = best(points, least, step, KNEES)?;
    let fine_step = step.powf(2.0 / KNEES as f64);
    let (knee, best_fit) = best(points, coarse.0 / step, fine_step, KNEES)?;
    // Level, rise and knee take three degrees of freedom.
    let misfit = best_fit.chi / (points.len() - 3).max(1) as f64;
    let limit = best_fit.chi + CHI_90 * misfit.max(1.0);
    let inside = |knee: f64| fit(points, knee).is_some_and(|fit| fit.chi <= limit);
    let edge = |factor: f64| {
        let mut at = knee;
        while (least..=most).contains(&(at * factor)) && inside(at * factor) {
            at *= factor;
        }
        at
    };
    let careful = 1.0 + (fine_step - 1.0).max(2e-4);
    let knee_interval = Interval { low: edge(1.0 / careful), high: edge(careful) };
    Some(BrokenLine { level: best_fit.level, rise: best_fit.rise, knee, knee_interval, misfit })
}

impl BrokenLine {
    /// The value of the line at `x`.
    pub fn at(&self, x: f64) -> f64 {
        self.level + self.rise * (1.0 - x / self.knee).max(0.0)
    }
}

struct Fit {
    level: f64,
    rise: f64,
    chi: f64,
}

fn best(points: &[Point], from: f64, step: f64, count: usize) -> Option<(f64, Fit)> {
    let knees = (0..=count).map(|index| from * step.powi(index as i32));
    let fits = knees.filter_map(|knee| Some((knee, fit(points, knee)?)));
    fits.min_by(|one, other| one.1.chi.total_cmp(&other.1.chi))
}

/// Weighted least squares of level and rise for one knee; `None` when no point lies before it, or nothing
/// rises.
fn fit(points: &[Point], knee: f64) -> Option<Fit> {
    let (mut s, mut sh, mut shh, mut sy, mut shy) = (0.0, 0.0, 0.0, 0.0, 0.0);
    for Point { x, y, error } in points {
        let (weight, hinge) = (error.powi(-2), (1.0 - x / knee).max(0.0));
        s += weight;
        sh += weight * hinge;
        shh += weight * hinge * hinge;
        sy += weight * y;
        shy += weight * hinge * y;
    }
    let determinant = s * shh - sh * sh;
    if determinant <= 1e-12 * s * shh {
        return None;
    }
    let rise = (s * shy - sh * sy) / determinant;
    let level = (sy - rise * sh) / s;
    let chi = points.iter().map(|Point { x, y, error }| {
        let line = level + rise * (1.0 - x / knee).max(0.0);
        ((y - line) / error).powi(2)
    });
    (rise > 0.0).then(|| Fit { level, rise, chi: chi.sum() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng as _;
    use rand_distr::{Distribution as _, Normal};
    use rand_xoshiro::Xoshiro256PlusPlus;

    fn points(knee: f64, error: f64, seed: u64) -> Vec<Point> {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let noise = Normal::new(0.0, error).unwrap();
        let places = (0..14).map(|index| 0.001 * 1.6_f64.powi(index));
        let y = |x: f64| 100.0 + 80.0 * (1.0 - x / knee).max(0.0);
        places.map(|x| Point { x, y: y(x) + noise.sample(&mut random), error }).collect()
    }

    #[test]
    fn an_exact_knee_is_found() {
        let line = broken_line(&points(0.05, 1e-6, 1)).unwrap();
        assert!((line.knee / 0.05 - 1.0).abs() < 1e-3, "{line:?}");
        assert!((line.level - 100.0).abs() < 0.01 && (line.rise - 80.0).abs() < 0.1);
        assert!((line.at(0.025) - 140.0).abs() < 0.2 && (line.at(1.0) - 100.0).abs() < 0.01);
    }

    #[test]
    fn nine_in_ten_intervals_hold_the_knee() {
        let holds = |seed: &u64| broken_line(&points(0.05, 1.5, *seed)).unwrap().knee_interval.contains(0.05);
        let hits = (0..400).filter(holds).count();
        assert!((340..=392).contains(&hits), "{hits} of 400");
    }

    #[test]
    fn what_only_falls_away_from_a_line_is_a_misfit() {
        let mut bent = points(0.05, 0.1, 3);
        bent.iter_mut().step_by(2).for_each(|point| point.y += 30.0);
        assert!(broken_line(&bent).unwrap().misfit > 100.0);
    }

    #[test]
    fn nothing_that_rises_has_no_knee() {
        let falling: Vec<Point> =
            (1..10).map(|x| Point { x: f64::from(x), y: f64::from(x), error: 0.1 }).collect();
        assert_eq!(broken_line(&falling), None);
        assert_eq!(broken_line(&points(0.05, 1.0, 1)[..3]), None);
    }
}
