//! The metrics of earlier checks of a drive, the baseline from them, and how far to trust it.

use likenew_core::findings::{Findings, Row};
use likenew_diagnosis::{Metric, Origin};
use likenew_stats::interval::repeatability;
use serde::de::DeserializeOwned;

use super::check_options::{IndicatorOption, ReferenceOption};

/// How much a metric of a drive varies between checks, as standard deviation of its logarithm, before any
/// check has shown it (assumed: a drive with its own medium repeats to a few percent).
const SINGLE_VALUE_ERROR: f64 = 0.04;
/// The same for a virtual disk, which shares its medium with others and may have a cache in its host.
/// (Assumed: on a small cloud instance writes differed by a factor of 3.6 between checks half a minute apart,
/// and other metrics by up to 1.6.)
const SHARED_HOST_ERROR: f64 = 0.8;

/// Completed checks of one drive, the earliest first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CheckHistory {
    /// The metrics of each.
    pub checks: Vec<CheckMetrics>,
    /// Whether a hypervisor provides the drive.
    pub is_virtual: bool,
}

impl CheckHistory {
    /// The metrics of the first one, with their variation between checks; empty if there is none.
    pub fn references(&self) -> Vec<ReferenceOption> {
        let Some(first) = self.checks.first() else { return Vec::new() };
        let reference = |(metric, per_s): &(Metric, f64)| ReferenceOption {
            metric: *metric,
            origin: Origin::Baseline,
            per_s: *per_s,
            repeatability: self.repeatability(*metric),
        };
        first.metrics.iter().map(reference).collect()
    }

    fn repeatability(&self, metric: Metric) -> f64 {
        let of = |check: &CheckMetrics| {
            check.metrics.iter().find(|(of, _)| *of == metric).map(|(_, per_s)| *per_s)
        };
        let logarithms: Vec<f64> = self.checks.iter().filter_map(of).map(f64::ln).collect();
        repeatability(&logarithms, Self::assumed(self.is_virtual))
    }

    /// How much a metric is assumed to vary between checks, as standard deviation of its logarithm, before any check has
    /// shown it.
    pub fn assumed(is_virtual: bool) -> f64 {
        if is_virtual { SHARED_HOST_ERROR } else { SINGLE_VALUE_ERROR }
    }
}

/// The metrics and indicators of one check.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CheckMetrics {
    /// In bytes a second; those of small I/Os in IOPS.
    pub metrics: Vec<(Metric, f64)>,
    /// Its indicators.
    pub indicators: Vec<IndicatorOption>,
}

impl CheckMetrics {
    /// From the findings that [`Check`](super::Check) makes.
    pub fn from_findings(findings: &Findings) -> Self {
        let rows = |name: &str| findings.tables.get(name).map(Vec::as_slice).unwrap_or_default();
        Self {
            metrics: rows("metrics")
                .iter()
                .map(|row| (cell(row, "metric"), cell(row, "measured_per_s")))
                .collect(),
            indicators: rows("indicators")
                .iter()
                .map(|row| IndicatorOption { indicator: cell(row, "indicator"), value: cell(row, "value") })
                .collect(),
        }
    }
}

/// A cell of one of this program's tables.
fn cell<T: DeserializeOwned>(row: &Row, key: &str) -> T {
    let cell = row.get(key).and_then(|value| serde_json::from_value(value.clone()).ok());
    cell.unwrap_or_else(|| panic!("a row of a check has no {key}: {row:?}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn earlier(reads: &[f64], is_virtual: bool) -> Vec<ReferenceOption> {
        let check = |read: &f64| CheckMetrics {
            metrics: vec![(Metric::SequentialRead, *read)],
            ..CheckMetrics::default()
        };
        CheckHistory { checks: reads.iter().map(check).collect(), is_virtual }.references()
    }

    #[test]
    fn the_first_check_is_the_reference_and_all_of_them_say_how_good_it_is() {
        assert_eq!(earlier(&[], false), []);
        for (is_virtual, assumed) in [(false, SINGLE_VALUE_ERROR), (true, SHARED_HOST_ERROR)] {
            let [only] = earlier(&[5e8], is_virtual)[..] else { panic!() };
            assert_eq!((only.per_s, only.origin), (5e8, Origin::Baseline));
            assert!((only.repeatability - assumed).abs() < 1e-12);
        }
        let noisy = [5e8, 9e8, 4e8, 8e8, 5e8, 1e9];
        let [first] = earlier(&noisy, false)[..] else { panic!() };
        assert!(first.per_s == 5e8 && first.repeatability > 0.4, "{first:?}");
        let steady = [5e8, 5.02e8, 5.01e8, 4.99e8, 5e8, 5.01e8];
        let [first] = earlier(&steady, true)[..] else { panic!() };
        assert!(
            first.repeatability < 0.01,
            "a disk that is virtual by name and comes back each time: {first:?}"
        );
    }

    #[test]
    fn a_figure_that_was_not_asked_then_is_not_missed() {
        let mut later =
            CheckMetrics { metrics: vec![(Metric::SequentialRead, 5e8)], ..CheckMetrics::default() };
        let first = later.clone();
        later.metrics.push((Metric::SequentialWrite, 1e8));
        let earlier = CheckHistory { checks: vec![first, later], is_virtual: false };
        assert_eq!(earlier.references().len(), 1);
    }
}
