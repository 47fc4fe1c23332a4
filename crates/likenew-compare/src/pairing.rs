//! The same speed of two runs as a ratio with its interval.

use std::collections::HashMap;

use likenew_stats::interval::{CONFIDENCE_95, WINDOWS_MIN, window_interval};
use likenew_stats::summary::mean;

use crate::compared_run::ComparedRun;
use crate::speed::{Basis, Speed};
use crate::speed_ratio::SpeedRatio;

/// Standard errors from a value to each end of its interval at 95%, of a normal distribution.
const REACH_95: f64 = 1.96;

/// The ratio of the same speed of two runs.
///
/// Logarithms are taken as normally distributed. Errors of both runs add as squares, with the scatter of runs that are made
/// again. Samples at the same places are paired: what both runs have in common there, such as slow inner tracks, is in neither
/// error.
pub(crate) fn ratio_of(runs: [&ComparedRun<'_>; 2], first: &Speed, other: &Speed) -> Option<SpeedRatio> {
    let (center, error) = match (&first.basis, &other.basis) {
        (Basis::Interval { low, high }, Basis::Interval { low: other_low, high: other_high }) => {
            let errors = [(first.value, *low, *high), (other.value, *other_low, *other_high)].map(error_of);
            ((other.value / first.value).ln(), errors[0].hypot(errors[1]))
        }
        (Basis::Samples(first), Basis::Samples(other)) => paired(first, other)?,
        _ => return None,
    };
    let error = runs.iter().fold(error, |error, run| error.hypot(run.scatter()));
    Some(SpeedRatio {
        name: first.name.clone(),
        unit: first.unit,
        values: [first.value, other.value],
        ratio: center.exp(),
        low: (center - REACH_95 * error).exp(),
        high: (center + REACH_95 * error).exp(),
    })
}

/// The standard error of the logarithm of a value, from its interval.
fn error_of((value, low, high): (f64, f64, f64)) -> f64 {
    if low > 0.0 { (high / low).ln() / 2.0 / REACH_95 } else { (high - low) / 2.0 / REACH_95 / value }
}

/// The mean of the logarithms of the ratios at places that both have, and its standard error.
fn paired(first: &[(String, f64)], other: &[(String, f64)]) -> Option<(f64, f64)> {
    let other: HashMap<&str, f64> = other.iter().map(|(place, value)| (place.as_str(), *value)).collect();
    let logarithm = |(place, value): &(String, f64)| Some((other.get(place.as_str())? / value).ln());
    let logarithms: Vec<f64> = first.iter().filter_map(logarithm).collect();
    if logarithms.len() < WINDOWS_MIN {
        return None;
    }
    let interval = window_interval(&logarithms, CONFIDENCE_95)?;
    Some((mean(&logarithms)?, (interval.high - interval.low) / 2.0 / REACH_95))
}

#[cfg(test)]
mod tests {
    use indexmap::IndexMap;
    use likenew_core::drive::Kind;
    use likenew_core::procedure::Plan;

    use super::*;
    use crate::speed_ratio::Difference;

    fn speed(value: f64, spread: f64) -> Speed {
        let basis = Basis::Interval { low: value / spread, high: value * spread };
        Speed { name: "write".into(), unit: "bytes/s", value, basis }
    }

    fn ratio(kind: Kind, is_virtual: bool, first: &Speed, other: &Speed) -> Option<SpeedRatio> {
        let (plan, tables) = (Plan::new("check", None, 0, toml::Table::new()), IndexMap::new());
        let run = ComparedRun { name: "A", plan: &plan, kind, is_virtual, tables: &tables };
        ratio_of([&run, &run], first, other)
    }

    #[test]
    fn half_the_speed_is_half_with_an_interval_of_both() {
        let half = ratio(Kind::Simulated, false, &speed(100.0, 1.03), &speed(50.0, 1.04)).unwrap();
        // Errors of 3% and 4% are 5% together.
        let reach = half.high / half.ratio;
        assert!((half.ratio - 0.5).abs() < 1e-12 && (reach - 1.05).abs() < 0.001, "{half:?}");
        assert_eq!(half.difference(), Difference::Slower);
        let exact = ratio(Kind::Simulated, false, &speed(100.0, 1.0), &speed(101.0, 1.0)).unwrap();
        assert_eq!((exact.low, exact.difference()), (exact.high, Difference::Same));
    }

    #[test]
    fn a_real_drive_is_only_slower_by_more_than_it_scatters() {
        let (new, used) = (speed(100.0, 1.01), speed(92.0, 1.01));
        let of = |kind, is_virtual| ratio(kind, is_virtual, &new, &used).unwrap().difference();
        assert_eq!(of(Kind::Simulated, false), Difference::Slower);
        assert_eq!(of(Kind::Device, false), Difference::Unclear);
        let much = ratio(Kind::Device, false, &new, &speed(70.0, 1.01)).unwrap();
        assert_eq!(much.difference(), Difference::Slower);
        let shared = ratio(Kind::Device, true, &new, &speed(70.0, 1.01)).unwrap();
        assert_eq!(shared.difference(), Difference::Unclear, "a virtual disk does that unchanged");
    }

    #[test]
    fn places_are_paired() {
        let samples = |factor: f64| {
            let places = (0..40).map(|place| (place.to_string(), factor * f64::from(200 - 3 * place)));
            Speed {
                name: "files".into(),
                unit: "bytes/s",
                value: 1.0,
                basis: Basis::Samples(places.collect()),
            }
        };
        let half = ratio(Kind::Simulated, false, &samples(1.0), &samples(0.5)).unwrap();
        // Outer and inner tracks differ by a factor of two; the ratio is the same everywhere.
        assert!((half.ratio - 0.5).abs() < 1e-9 && half.high - half.low < 1e-9, "{half:?}");
        let mut few = samples(1.0);
        let Basis::Samples(places) = &mut few.basis else { panic!() };
        places.truncate(WINDOWS_MIN - 1);
        assert_eq!(ratio(Kind::Simulated, false, &few, &samples(0.5)), None);
        assert_eq!(ratio(Kind::Simulated, false, &few, &speed(1.0, 1.0)), None);
    }
}
