//! What a check is compared with: earlier checks of the drive, the first of which is its baseline, and rated
//! speeds as people copy them from data sheets.

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
    /// The metrics of each check.
    pub checks: Vec<CheckMetrics>,
    /// Whether a hypervisor provides the drive.
    pub is_virtual: bool,
}

impl CheckHistory {
    /// The metrics of the first check, with their variation between checks; empty if there is no check.
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
        let value_in = |check: &CheckMetrics| {
            check.metrics.iter().find(|(known, _)| *known == metric).map(|(_, per_s)| *per_s)
        };
        let logarithms: Vec<f64> = self.checks.iter().filter_map(value_in).map(f64::ln).collect();
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
    /// Which metric.
    pub metric: Metric,
    /// In bytes a second, or IOPS.
    pub per_s: f64,
}

/// Rated speeds, one of a metric at most: `read=7,450MB/s,random_read=1.4M`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RatedMetrics(pub Vec<RatedMetric>);

/// Names as they are typed; tables use the last two.
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

/// Units in lower case. Makers count in powers of ten; sizes elsewhere are binary.
const BYTES: [(&str, f64); 7] = [
    ("kb", 1e3),
    ("mb", 1e6),
    ("gb", 1e9),
    ("tb", 1e12),
    ("kib", 1024.0),
    ("mib", 1_048_576.0),
    ("gib", 1_073_741_824.0),
];
const IOPS: [(&str, f64); 3] = [("", 1.0), ("k", 1e3), ("m", 1e6)];
/// Suffixes of units of rates, and the highest rate that is accepted, in bytes a second or IOPS. Chosen:
/// several times any drive on the market.
const BYTES_PER_S: ([&str; 3], f64) = (["/s", "/sec", "ps"], 1e11);
const IO_PER_S: ([&str; 3], f64) = (["iops", "io/s", "ios"], 1e8);
/// Characters that group digits: spaces of any kind, an apostrophe, and whichever of point and comma does not
/// precede decimals.
const SEPARATORS: [char; 7] = ['.', ',', ' ', '\'', '\u{a0}', '\u{2009}', '\u{202f}'];

impl RatedMetric {
    /// Its name as it is typed.
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
                // The comma belongs to a number.
                Some(last) if !part.contains('=') => *last += &format!(",{part}"),
                _ => parts.push(part.to_owned()),
            }
        }
        let mut rated: Vec<RatedMetric> = Vec::new();
        for part in &parts {
            let speed: RatedMetric = part.parse()?;
            if rated.iter().any(|other| other.metric == speed.metric) {
                return Err(error::rated_twice(part));
            }
            rated.push(speed);
        }
        Ok(Self(rated))
    }
}

impl FromStr for RatedMetric {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || error::rated_metric(text);
        let (name, value) = text.split_once('=').ok_or_else(wrong)?;
        let name = name.trim().to_ascii_lowercase().replace(['-', ' '], "_");
        let (_, metric) = *NAMES.iter().find(|(known, _)| *known == name).ok_or_else(wrong)?;
        let value = value.trim();
        let value = value.strip_prefix("up to ").or(value.strip_prefix("Up to ")).unwrap_or(value);
        let end = value.find(|letter: char| !letter.is_ascii_digit() && !SEPARATORS.contains(&letter));
        let (digits, unit) = value.split_at(end.unwrap_or(value.len()));
        let (digits, unit) = (digits.trim(), unit.trim());
        let is_bytes =
            matches!(metric, Metric::SequentialRead | Metric::SequentialWrite | Metric::SustainedWrite);
        let readings = readings(digits);
        if is_bytes && unit.is_empty() && !readings.is_empty() {
            return Err(error::rated_without_unit(text));
        }
        let (units, (ends, most)) = if is_bytes { (&BYTES[..], BYTES_PER_S) } else { (&IOPS[..], IO_PER_S) };
        let small = unit.to_ascii_lowercase();
        let stem = ends.iter().find_map(|end| small.strip_suffix(end)).unwrap_or(&small).trim_end();
        let factor = units.iter().find(|(name, _)| *name == stem).ok_or_else(wrong)?.1;
        let rates = readings.into_iter().map(|number| number * factor).filter(|per_s| *per_s >= 1.0);
        let (rates, beyond): (Vec<f64>, Vec<f64>) = rates.partition(|per_s| *per_s <= most);
        let per_s = match rates[..] {
            [] if beyond.is_empty() => return Err(wrong()),
            [] => return Err(error::rated_beyond_all_drives(text, is_bytes)),
            [per_s] => per_s,
            // Makers group by commas, as this program does; no rated speed has three decimals.
            [per_s, ..] if digits.contains(',') => per_s,
            _ => return Err(error::rated_in_two_ways(text, digits)),
        };
        if is_bytes && unit[..stem.len()].ends_with('b') {
            return Err(error::rated_in_bits(text, per_s));
        }
        Ok(Self { metric, per_s })
    }
}

/// What a number can mean: its decimals follow a point, or a comma.
fn readings(text: &str) -> Vec<f64> {
    let mut numbers: Vec<f64> = ['.', ','].iter().filter_map(|decimal| reading(text, *decimal)).collect();
    numbers.dedup();
    numbers
}

/// Reads a number whose decimals follow `decimal`, with at most one other separator between groups of three digits.
fn reading(text: &str, decimal: char) -> Option<f64> {
    let (whole, decimals) = text.split_once(decimal).unwrap_or((text, "0"));
    let groups: Vec<&str> = match whole.find(SEPARATORS) {
        Some(at) => whole.split(whole[at..].chars().next()?).collect(),
        None => vec![whole],
    };
    let is_grouped = |groups: &[&str]| match groups {
        [_] => true,
        [first, others @ ..] => {
            first.len() <= 3 && !first.starts_with('0') && others.iter().all(|group| group.len() == 3)
        }
        [] => false,
    };
    let is_digits = |text: &&str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let is_number = groups.iter().chain([&decimals]).all(is_digits) && is_grouped(&groups);
    is_number.then(|| format!("{}.{decimals}", groups.concat()).parse().ok())?
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
            ("read=7.450,00MB/s", Metric::SequentialRead, 7450e6),
            ("read=3.500,5MB/s", Metric::SequentialRead, 3500.5e6),
            ("read=7,45 GB/s", Metric::SequentialRead, 7450e6),
            ("read=7,450GB/s", Metric::SequentialRead, 7450e6),
            ("write=0,550GB/s", Metric::SequentialWrite, 550e6),
            ("random_read=95.000,00", Metric::RandomRead, 95_000.0),
            ("random_read=95 000", Metric::RandomRead, 95_000.0),
            ("random_read=1\u{202f}400\u{202f}000 IOPS", Metric::RandomRead, 1.4e6),
            ("random_read=1'400'000", Metric::RandomRead, 1.4e6),
            ("random_read=1.400.000", Metric::RandomRead, 1.4e6),
            ("random_read=1,4M", Metric::RandomRead, 1.4e6),
            ("random_read=1,400M", Metric::RandomRead, 1.4e6),
            ("random_read=90K IOPs", Metric::RandomRead, 90e3),
            ("Random-Read=90k", Metric::RandomRead, 90e3),
            ("READ=550 mB/S", Metric::SequentialRead, 550e6),
        ] {
            assert_eq!(text.parse(), Ok(RatedMetric { metric, per_s }), "{text}");
        }
        for text in [
            "read",
            "read=",
            "read=fast",
            "read=0MB/s",
            "read=7,45,1GB/s",
            "read=7.4,500MB/s",
            "read=7 45MB/s",
            "read=0.550.000MB/s",
            "read=,450MB/s",
            "read=1.2.3GB/s",
            "random_read=0,400",
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
    fn bits_and_more_than_any_drive_does_are_asked_about() {
        for (text, words) in [
            ("read=4400Mb/s", "write 4400MB/s for bytes or 550MB/s for bits"),
            ("read=6Gbps", "write 6000MB/s for bytes or 750MB/s for bits"),
            ("read=550mb/s", "write 550MB/s for bytes or 68.75MB/s for bits"),
            ("read=7450000MB/s", "more than any drive reads or writes"),
            ("random_read=1,400,000K", "more than any drive does"),
        ] {
            let error = text.parse::<RatedMetric>().unwrap_err();
            assert!(error.contains(words), "{error}");
        }
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
