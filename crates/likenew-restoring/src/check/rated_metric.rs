//! Rated speeds as people copy them from data sheets.

use std::str::FromStr;

use super::Metric;
use super::wording::error;

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

const NAMES: [(&str, Metric); 6] = [
    ("read", Metric::SequentialRead),
    ("write", Metric::SequentialWrite),
    ("sustained_write", Metric::SustainedWrite),
    ("random_read", Metric::RandomRead),
    ("random_write", Metric::RandomWrite),
    ("random_read_qd32", Metric::RandomReadQd32),
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
        let end = value.find(|letter: char| !letter.is_ascii_digit() && !matches!(letter, '.' | ','));
        let (number, unit) = value.split_at(end.unwrap_or(value.len()));
        let unit = unit.trim();
        let is_bytes =
            matches!(metric, Metric::SequentialRead | Metric::SequentialWrite | Metric::SustainedWrite);
        let number = ungrouped(number).ok_or_else(wrong)?;
        if is_bytes && unit.is_empty() {
            return Err(error::rated_without_unit(text));
        }
        let (units, unit) = if is_bytes {
            (&BYTES[..], unit.strip_suffix("/s").unwrap_or(unit))
        } else {
            (&IOPS[..], unit.strip_suffix("IOPS").unwrap_or(unit).trim_end())
        };
        let factor = units.iter().find(|(name, _)| *name == unit).ok_or_else(wrong)?.1;
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

    #[test]
    fn claims_are_read_as_makers_print_them() {
        for (text, metric, per_s) in [
            ("read=550MB/s", Metric::SequentialRead, 550e6),
            ("read=7,450MB/s", Metric::SequentialRead, 7450e6),
            ("read=7.45 GB/s", Metric::SequentialRead, 7450e6),
            ("read=12,400.5 MB/s", Metric::SequentialRead, 12_400.5e6),
            ("write=3.5GB/s", Metric::SequentialWrite, 3.5e9),
            ("write=500MB", Metric::SequentialWrite, 500e6),
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
