//! Numbers for narrow columns.

use likenew_core::stat::OpStat;
use likenew_core::units::{Nanos, three_digits};

/// The unit of rates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Units {
    /// MB/s, 10⁶ bytes a second, as makers have it.
    #[default]
    Decimal,
    /// MiB/s, 2²⁰ bytes a second.
    Binary,
}

impl Units {
    /// As a column's title.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Decimal => "MB/s",
            Self::Binary => "MiB/s",
        }
    }

    /// A rate without its unit.
    pub(crate) fn rate(self, bytes_per_s: f64) -> String {
        let factor = match self {
            Self::Decimal => 1e6,
            Self::Binary => 1_048_576.0,
        };
        number(bytes_per_s / factor)
    }
}

/// Three digits; only zero is shown as zero, and only one as one.
pub(crate) fn number(value: f64) -> String {
    if value == 0.0 {
        "0".to_owned()
    } else if value < 0.005 {
        "<0.01".to_owned()
    } else {
        three_digits(value)
    }
}

/// I/Os per second.
pub(crate) fn iops(per_s: f64) -> String {
    match per_s {
        0.0 => "0".to_owned(),
        ..0.5 => "<1".to_owned(),
        ..99_999.5 => format!("{per_s:.0}"),
        ..1e6 => format!("{:.0}k", per_s / 1e3),
        _ => format!("{}M", three_digits(per_s / 1e6)),
    }
}

/// With fewer milliseconds than this the mean has less than one significant digit.
const MS_PRECISE: u64 = 10;

/// A mean latency: `<13 µs` where all I/Os together took less than the kernel's millisecond, `~50 µs` where
/// they took so few that the mean is rough, `-` where there was none.
pub(crate) fn latency(count: &OpStat) -> String {
    match (count.latency_mean(), count.latency_step()) {
        (Some(_), Some(step)) if count.ms == 0 => format!("<{}", rough(step, f64::ceil)),
        (Some(mean), _) if count.ms < MS_PRECISE => format!("~{}", rough(mean, f64::round)),
        (Some(mean), _) => mean.to_string(),
        _ => "-".to_owned(),
    }
}

/// With two digits at most.
fn rough(span: Nanos, round: fn(f64) -> f64) -> String {
    let (value, unit) = match span.0 {
        0..1_000 => (span.0 as f64, "ns"),
        1_000..1_000_000 => (span.0 as f64 / 1e3, "µs"),
        1_000_000..1_000_000_000 => (span.0 as f64 / 1e6, "ms"),
        _ => (span.0 as f64 / 1e9, "s"),
    };
    let digit = if value >= 9.95 { 10_f64.powf((value.log10().floor() - 1.0).max(0.0)) } else { 0.1 };
    let rounded = round(value / digit) * digit;
    if rounded.fract().abs() < 0.05 { format!("{rounded:.0} {unit}") } else { format!("{rounded:.1} {unit}") }
}

/// A share as whole percents; only zero is shown as zero.
pub(crate) fn percent(share: f64) -> String {
    if share > 0.0 && share < 0.005 { "<1%".to_owned() } else { format!("{:.0}%", share * 100.0) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn latencies_say_how_well_they_are_known() {
        let spelled = |ios, ms| latency(&OpStat { ios, merged: 0, sectors: 0, ms });
        assert_eq!(spelled(0, 0), "-");
        assert_eq!(spelled(1, 0), "<1 ms");
        assert_eq!(spelled(2, 0), "<500 µs");
        assert_eq!(spelled(80, 0), "<13 µs");
        assert_eq!(spelled(3, 1), "~330 µs");
        assert_eq!(spelled(40, 2), "~50 µs");
        assert_eq!(spelled(100, 850), "8.50 ms");
        assert_eq!(spelled(10_000, 850), "85.0 µs");
        assert_eq!(spelled(4, 6), "~1.5 ms");
    }

    #[test]
    fn numbers_fit_their_columns() {
        let spelled = [0.0, 0.3, 42.0, 99_999.0, 250_000.0, 1.5e6].map(iops);
        assert_eq!(spelled, ["0", "<1", "42", "99999", "250k", "1.50M"]);
        assert_eq!(
            [0.0, 0.001, 0.05, 7.0, 123.4, 14_000.0].map(number),
            ["0", "<0.01", "0.05", "7.00", "123", "14000"]
        );
        assert_eq!([0.0, 0.001, 0.5, 1.0].map(percent), ["0%", "<1%", "50%", "100%"]);
        assert_eq!(
            (Units::Decimal.rate(1.5e6), Units::Binary.rate(1_048_576.0)),
            ("1.50".into(), "1.00".into())
        );
    }
}
