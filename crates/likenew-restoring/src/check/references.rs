//! What a check is compared with: the metrics of earlier checks of the drive, of which the first is the baseline, and rated speeds as
//! people copy them from data sheets.

use std::str::FromStr;

use likenew_core::findings::{Findings, Row};
use likenew_diagnosis::{Metric, Origin};
use likenew_stats::interval::repeatability;
use serde::de::DeserializeOwned;

use super::check_options::{IndicatorOption, ReferenceOption};
use super::wording::error;

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

/// One rated speed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RatedMetric {
    /// The metric.
    pub metric: Metric,
    /// In bytes a second, or IOPS.
    pub per_s: f64,
}

/// Rated speeds, one of a metric at most: `read=7,450MB/s,random_read=1.4M`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RatedMetrics(pub Vec<RatedMetric>);

/// Highest rated speed accepted, in bytes a second or IOPS. Chosen: a thousand times any drive on the market.
const PER_S_MAX: f64 = 1e14;

/// As they are typed, and at last as tables have them.
const NAMES: [(&str, Metric); 8] = [
    ("read", Metric::SequentialRead),
    ("write", Metric::SequentialWrite),
    ("sustained_write", Metric::SustainedWrite),
    ("random_read", Metric::RandomRead),
    ("random_write", Metric::RandomWrite),
    ("random_read_qd32", Metric::RandomReadQd32),
    ("sequential_read", Metric::SequentialRead),
    ("sequential_write", Metric::SequentialWrite),
];

/// Makers count in powers of ten; sizes elsewhere are binary.
const BYTES: [(&str, f64); 8] = [
    ("kB", 1e3),
    ("KB", 1e3),
    ("MB", 1e6),
    ("GB", 1e9),
    ("KiB", 1024.0),
    ("MiB", 1_048_576.0),
    ("GiB", 1_073_741_824.0),
    ("TB", 1e12),
];
/// Ends of units of rates.
const PER_S: [&str; 4] = ["/s", "/sec", "/Sec", "ps"];
const IOPS: [(&str, f64); 4] = [("", 1.0), ("k", 1e3), ("K", 1e3), ("M", 1e6)];

impl RatedMetric {
    /// As it is typed.
    pub fn name(&self) -> &'static str {
        NAMES.iter().find(|(_, metric)| *metric == self.metric).map_or("", |(name, _)| name)
    }
}

impl FromStr for RatedMetrics {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut parts: Vec<String> = Vec::new();
        for part in text.split(',') {
            match parts.last_mut() {
                // A comma in a number.
                Some(last) if !part.contains('=') => *last += &format!(",{part}"),
                _ => parts.push(part.to_owned()),
            }
        }
        let mut rated: Vec<RatedMetric> = Vec::new();
        for part in &parts {
            let one: RatedMetric = part.parse()?;
            if rated.iter().any(|other| other.metric == one.metric) {
                return Err(error::rated_twice(part));
            }
            rated.push(one);
        }
        Ok(Self(rated))
    }
}

impl FromStr for RatedMetric {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || error::rated_metric(text);
        let (name, value) = text.split_once('=').ok_or_else(wrong)?;
        let (_, metric) = *NAMES.iter().find(|(known, _)| *known == name.trim()).ok_or_else(wrong)?;
        let value = value.trim();
        let value = value.strip_prefix("up to ").or(value.strip_prefix("Up to ")).unwrap_or(value);
        let end = value.find(|letter: char| !letter.is_ascii_digit() && !matches!(letter, '.' | ','));
        let (digits, unit) = value.split_at(end.unwrap_or(value.len()));
        let unit = unit.trim();
        let is_bytes =
            matches!(metric, Metric::SequentialRead | Metric::SequentialWrite | Metric::SustainedWrite);
        let number = ungrouped(digits).ok_or_else(wrong)?;
        if is_bytes && unit.is_empty() {
            return Err(error::rated_without_unit(text));
        }
        let (units, ends) = if is_bytes { (&BYTES[..], &PER_S[..]) } else { (&IOPS[..], &["IOPS"][..]) };
        let unit = ends.iter().find_map(|end| unit.strip_suffix(end)).unwrap_or(unit).trim_end();
        let factor = units.iter().find(|(name, _)| *name == unit).ok_or_else(wrong)?.1;
        // No drive does a thousand GB/s, or a thousand million IOPS.
        let is_large = factor >= if is_bytes { 1e9 } else { 1e6 };
        if !is_large
            && digits.split_once('.').is_some_and(|(_, rest)| rest.len() == 3)
            && !digits.contains(',')
        {
            return Err(error::rated_in_two_ways(text, digits));
        }
        let per_s = number * factor;
        if per_s > 0.0 && per_s <= PER_S_MAX { Ok(Self { metric, per_s }) } else { Err(wrong()) }
    }
}

/// A number in which commas may group three digits, as in 7,450; elsewhere one could be a decimal point.
fn ungrouped(text: &str) -> Option<f64> {
    let whole = text.split_once('.').map_or(text, |(whole, _)| whole);
    let mut groups = whole.split(',');
    let first = groups.next()?.len();
    let is_grouped = whole.len() == first || (1..=3).contains(&first) && groups.all(|group| group.len() == 3);
    is_grouped.then(|| text.replace(',', "").parse().ok())?
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

    #[test]
    fn claims_are_read_as_makers_print_them() {
        for (text, metric, per_s) in [
            ("read=550MB/s", Metric::SequentialRead, 550e6),
            ("read=7,450MB/s", Metric::SequentialRead, 7450e6),
            ("read=7.45 GB/s", Metric::SequentialRead, 7450e6),
            ("read=12,400.5 MB/s", Metric::SequentialRead, 12_400.5e6),
            ("write=3.5GB/s", Metric::SequentialWrite, 3.5e9),
            ("write=500MB", Metric::SequentialWrite, 500e6),
            ("sequential_write=up to 3500MBps", Metric::SequentialWrite, 3500e6),
            ("read=Up to 7,450 MB/sec", Metric::SequentialRead, 7450e6),
            ("read=7.450GB/s", Metric::SequentialRead, 7450e6),
            ("random_write=1.350M IOPS", Metric::RandomWrite, 1.35e6),
            ("read=100MiB/s", Metric::SequentialRead, 104_857_600.0),
            ("random_read_qd32=95000", Metric::RandomReadQd32, 95_000.0),
            ("random_read_qd32=95,000", Metric::RandomReadQd32, 95_000.0),
            ("random_write=95K IOPS", Metric::RandomWrite, 95_000.0),
            ("random_read=1.4M", Metric::RandomRead, 1.4e6),
            ("random_read=1,400kIOPS", Metric::RandomRead, 1.4e6),
        ] {
            assert_eq!(text.parse(), Ok(RatedMetric { metric, per_s }), "{text}");
        }
        for text in [
            "read",
            "read=",
            "read=fast",
            "read=0MB/s",
            "read=7,45GB/s",
            "read=,450MB/s",
            "read=1.2.3GB/s",
            "read=4400Mb/s",
            "read=4400Mbps",
            "read=95000 IOPS",
            "speed=3MB/s",
            "random_read=-1",
            "random_read=5MB/s",
            "read=NaNMB/s",
        ] {
            assert!(text.parse::<RatedMetric>().unwrap_err().contains("550MB/s"), "{text}");
        }
    }

    #[test]
    fn a_speed_without_a_unit_is_refused_with_the_one_to_add() {
        let error = "read=550".parse::<RatedMetric>().unwrap_err();
        assert_eq!(error, "\"read=550\" has no unit; write read=550MB/s, or GB/s");
    }

    #[test]
    fn a_point_that_may_group_thousands_is_asked_about() {
        for text in ["read=7.300 MB/s", "random_read=95.000", "random_read=1.400K"] {
            let error = text.parse::<RatedMetric>().unwrap_err();
            assert!(
                error.contains("write 7300") || error.contains("write 95000") || error.contains("write 1400"),
                "{error}"
            );
        }
    }

    #[test]
    fn several_have_commas_between_and_in_them_and_none_comes_twice() {
        let RatedMetrics(rated) = "read=7,450MB/s,write=6,900MB/s,random_read=1,000,000".parse().unwrap();
        assert_eq!(rated.iter().map(|rated| rated.per_s).collect::<Vec<_>>(), [7.45e9, 6.9e9, 1e6]);
        let error = "read=7GB/s,write=6GB/s,read=5GB/s".parse::<RatedMetrics>().unwrap_err();
        assert_eq!(error, "\"read=5GB/s\" comes second; give one speed of a kind");
        for text in ["", ",", "read=5GB/s,", ",read=5GB/s", "read=5GB/s,fast"] {
            assert!(text.parse::<RatedMetrics>().is_err(), "{text}");
        }
    }
}
