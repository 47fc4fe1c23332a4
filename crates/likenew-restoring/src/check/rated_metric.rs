//! Parses rated speeds from the command line.

use std::str::FromStr;

use likenew_core::units::parse_size;

use super::MetricName;
use super::wording::error;

/// One rated speed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RatedMetric {
    /// The metric.
    pub metric: MetricName,
    /// In bytes a second, or IOPS.
    pub per_s: f64,
}

impl FromStr for RatedMetric {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || error::rated_metric(text);
        let (name, value) = text.split_once('=').ok_or_else(wrong)?;
        let metric = match name {
            "read" => MetricName::SequentialRead,
            "write" => MetricName::SequentialWrite,
            "sustained_write" => MetricName::SustainedWrite,
            "random_read" => MetricName::RandomRead,
            "random_write" => MetricName::RandomWrite,
            "random_read_qd32" => MetricName::RandomReadQd32,
            _ => return Err(wrong()),
        };
        let is_bytes = matches!(
            metric,
            MetricName::SequentialRead | MetricName::SequentialWrite | MetricName::SustainedWrite
        );
        let value = value.trim_end_matches("/s");
        let per_s = if is_bytes { bytes(value) } else { value.parse::<f64>().ok() };
        per_s
            .filter(|value| *value > 0.0 && *value <= PER_S_MAX)
            .map(|per_s| Self { metric, per_s })
            .ok_or_else(wrong)
    }
}

/// Highest rated speed accepted, in bytes a second or IOPS. Chosen: a thousand times any drive on the market.
const PER_S_MAX: f64 = 1e14;

/// Makers count in powers of ten; sizes elsewhere are binary.
fn bytes(text: &str) -> Option<f64> {
    let decimal = [("GB", 1e9), ("MB", 1e6), ("kB", 1e3)];
    let unit = decimal.into_iter().find_map(|(unit, factor)| Some((text.strip_suffix(unit)?, factor)));
    match unit {
        Some((number, factor)) => number.trim().parse::<f64>().ok().map(|number| number * factor),
        None => parse_size(text).ok().map(|bytes| bytes as f64),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn claims_are_read_as_makers_print_them() {
        for (text, metric, per_s) in [
            ("read=550MB/s", MetricName::SequentialRead, 550e6),
            ("write=3.5GB/s", MetricName::SequentialWrite, 3.5e9),
            ("read=100MiB/s", MetricName::SequentialRead, 104_857_600.0),
            ("random_read_qd32=95000", MetricName::RandomReadQd32, 95_000.0),
        ] {
            assert_eq!(text.parse(), Ok(RatedMetric { metric, per_s }), "{text}");
        }
        for text in
            ["read", "read=", "read=fast", "read=0MB/s", "speed=3MB/s", "random_read=-1", "read=NaNMB/s"]
        {
            assert!(text.parse::<RatedMetric>().unwrap_err().contains("550MB/s"), "{text}");
        }
    }
}
