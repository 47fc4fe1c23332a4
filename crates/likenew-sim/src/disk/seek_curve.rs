//! How long the arm of a disk takes to move.

use likenew_core::units::Nanos;

use super::layout_error::LayoutError;

/// Seek time by distance: the square root of the distance up to a third of the stroke, where the arm accelerates
/// and brakes, and linear beyond, where it coasts (the shape that Ruemmler and Wilkes give in "An Introduction to Disk
/// Drive Modeling", IEEE Computer 27(3), 1994).
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct SeekCurve {
    stroke: f64,
    track_ns: f64,
    knee_ns: f64,
    full_ns: f64,
}

/// Where the two parts meet, as a share of the stroke: the mean distance between two random places.
const KNEE: f64 = 1.0 / 3.0;

impl SeekCurve {
    /// The curve over `cylinders` that takes `track` for the shortest and `full` for the longest seek, and whose
    /// mean over pairs of random cylinders is `average`, which is how data sheets define it.
    ///
    /// # Errors
    /// No such curve rises all the way.
    pub(crate) fn new(
        cylinders: u32,
        track: Nanos,
        average: Nanos,
        full: Nanos,
    ) -> Result<Self, LayoutError> {
        let (track_ns, average_ns, full_ns) = (track.0 as f64, average.0 as f64, full.0 as f64);
        // A random distance x of the stroke has the density 2(1 − x). Below the knee the time is
        // track + (knee − track)·√(x/K), above it knee + (full − knee)·(x − K)/(1 − K); each mean is
        // a weighted sum of the three times.
        let root_mean =
            (2.0 * (2.0 / 3.0) * KNEE.powf(1.5) - 2.0 * (2.0 / 5.0) * KNEE.powf(2.5)) / KNEE.sqrt();
        let near = 2.0 * KNEE - KNEE * KNEE;
        let far = (1.0 - KNEE) * (1.0 - KNEE);
        let far_slope = far / 3.0;
        let knee_ns = (average_ns - track_ns * (near - root_mean) - full_ns * far_slope)
            / (root_mean + far - far_slope);
        if track_ns <= knee_ns && knee_ns <= full_ns {
            Ok(Self { stroke: f64::from(cylinders).max(2.0) - 1.0, track_ns, knee_ns, full_ns })
        } else {
            Err(LayoutError::SeekCurve { track, average, full })
        }
    }

    /// The time to move over so many cylinders; none for none.
    pub(crate) fn time(&self, distance: u32) -> Nanos {
        if distance == 0 {
            return Nanos::ZERO;
        }
        let share = f64::from(distance - 1) / self.stroke;
        let ns = if share < KNEE {
            self.track_ns + (self.knee_ns - self.track_ns) * (share / KNEE).sqrt()
        } else {
            self.knee_ns + (self.full_ns - self.knee_ns) * (share - KNEE) / (1.0 - KNEE)
        };
        Nanos(ns as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn curve() -> SeekCurve {
        let [track, average, full] = [2_000, 8_900, 21_000].map(Nanos::from_micros);
        SeekCurve::new(90_000, track, average, full).unwrap()
    }

    #[test]
    fn it_rises_from_track_to_full_stroke() {
        let curve = curve();
        assert_eq!(curve.time(0), Nanos(0));
        assert_eq!(curve.time(1), Nanos::from_micros(2_000));
        assert!((0..90_000).step_by(100).is_sorted_by_key(|distance| curve.time(distance)));
        assert_eq!(curve.time(90_000), Nanos::from_micros(21_000));
    }

    #[test]
    fn its_mean_over_random_pairs_is_the_average() {
        let curve = curve();
        let weighted = (1..1000u32).map(|x| {
            let share = f64::from(x) / 1000.0;
            2.0 * (1.0 - share) / 1000.0 * curve.time(x * 90).0 as f64
        });
        let mean: f64 = weighted.sum();
        assert!((mean / 8.9e6 - 1.0).abs() < 0.002, "{mean}");
    }

    #[test]
    fn times_that_do_not_rise_are_refused() {
        let [short, long] = [1, 20].map(Nanos::from_millis);
        assert!(SeekCurve::new(1000, short, long, short).is_err());
        assert!(SeekCurve::new(1000, long, short, long).is_err());
    }
}
