//! Numbers as people read them: three significant digits, a comma in thousands, a space before units and none
//! before the percent sign. Use these types in all sentences, tables and pages.

use std::fmt;

use crate::units::{Nanos, Number, amount, digits, parse_size};

/// Bytes a second: `77.2 MB/s`, in units of 10⁶ bytes.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Rate(pub f64);

/// I/Os per second: `4,940 IOPS`.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Iops(pub f64);

/// A time in nanoseconds, fractions included: `202 µs`.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Latency(pub f64);

/// Bytes, in binary units: `8 MiB`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Size(pub u64);

/// An address in bytes: `8 MiB`, or `301 GiB (byte 323,295,903,744)` where the rounded size is another address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Offset(pub u64);

/// A share of 1, as a percentage: `26%`.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Share(pub f64);

/// A ratio: `3.8×`.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Factor(pub f64);

/// A speed relative to another: `17% slower`, `15% faster`, `3.59× as fast`, `as fast`.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct SpeedChange(pub f64);

/// A time relative to another: `12% longer`, `12% shorter`, `4.84× as long`, `as long`.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct TimeChange(pub f64);

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} MB/s", digits(self.0 / 1e6))
    }
}

impl fmt::Display for Iops {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} IOPS", digits(self.0))
    }
}

impl fmt::Display for Latency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 < 1e3 && self.0.fract() != 0.0 {
            return write!(f, "{} ns", digits(self.0));
        }
        write!(f, "{}", Nanos(self.0.round().max(0.0) as u64))
    }
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&amount(self.0))
    }
}

impl fmt::Display for Offset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = amount(self.0);
        if parse_size(&text.replace([' ', ','], "")) == Ok(self.0) {
            return f.write_str(&text);
        }
        write!(f, "{text} (byte {})", Number(self.0 as f64))
    }
}

impl fmt::Display for Share {
    /// Shows whole percents from 10% on, and one decimal below. Just below 100% it also shows a decimal, so
    /// that 99.8% does not look like all. `{:.1}` sets the number of decimals.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let percent = self.0 * 100.0;
        if let Some(decimals) = f.precision() {
            return write!(f, "{percent:.decimals$}%");
        }
        let is_nearly_all = percent > 99.0 && percent < 100.0;
        let text = match percent.abs() {
            size if !(0.001..999.5).contains(&size) => digits(percent),
            size if size >= 9.95 && !is_nearly_all => format!("{percent:.0}"),
            size if size >= 0.095 => format!("{percent:.1}"),
            // One significant digit, so that a small share does not look like none.
            size => format!("{percent:.*}", -size.log10().floor() as usize),
        };
        let text = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
        write!(f, "{text}%")
    }
}

impl fmt::Display for Factor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}×", digits(self.0))
    }
}

impl fmt::Display for SpeedChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        change(f, self.0, ["slower", "faster", "as fast"])
    }
}

impl fmt::Display for TimeChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        change(f, self.0, ["shorter", "longer", "as long"])
    }
}

/// From this ratio on, a change is shown as a factor, which is easier to imagine than a percentage.
const FACTOR_FROM: f64 = 2.0;
/// Least change that is shown: half of the last digit that a share shows at 100%.
const CHANGE_MIN: f64 = 0.0005;

fn change(f: &mut fmt::Formatter<'_>, ratio: f64, [less, more, same]: [&str; 3]) -> fmt::Result {
    match ratio - 1.0 {
        by if by.abs() < CHANGE_MIN => f.write_str(same),
        by if by < 0.0 => write!(f, "{} {less}", Share(-by)),
        _ if ratio >= FACTOR_FROM => write!(f, "{} {same}", Factor(ratio)),
        by => write!(f, "{} {more}", Share(by)),
    }
}

/// `1 test`, `2 tests`.
pub fn count(number: u64, noun: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{} {noun}{plural}", Number(number as f64))
}

/// `19.8 MB/s (15.9–24.7)`, or only the value if the range is the same. The unit stands once where all three
/// share it.
pub fn with_range(value: impl fmt::Display, low: impl fmt::Display, high: impl fmt::Display) -> String {
    let [value, low, high] = same_decimals([&value, &low, &high]);
    if low == value && high == value {
        return value;
    }
    let units = [&value, &low, &high].map(|text| split_unit(text));
    match units {
        [Some((_, unit)), Some((from, low_unit)), Some((to, high_unit))]
            if unit == low_unit && unit == high_unit =>
        {
            format!("{value} ({})", join_range(from, to))
        }
        _ => format!("{value} ({})", range(low, high)),
    }
}

/// `15.9–24.7 MB/s`: the unit once if both share it, and one value if both are equal.
pub fn range(low: impl fmt::Display, high: impl fmt::Display) -> String {
    let [low, high] = same_decimals([&low, &high]);
    if low == high {
        return low;
    }
    match (split_unit(&low), split_unit(&high)) {
        (Some((number, unit)), Some((_, unit_of_high))) if unit == unit_of_high => join_range(number, &high),
        _ => join_range(&low, &high),
    }
}

/// `41% slower to 15% faster`, `30–38% slower`: the end that changes most comes first, and what both share stands once.
pub fn change_range(low: impl fmt::Display, high: impl fmt::Display) -> String {
    let (low, high) = (low.to_string(), high.to_string());
    if low == high {
        return low;
    }
    match (low.split_once("% "), high.split_once("% ")) {
        (Some((from, way)), Some((to, other_way))) if way == other_way => {
            // The low end of "slower" is the larger number, so the ends are swapped: the smaller number comes first.
            let (from, to) = if is_less(to, from) { (to, from) } else { (from, to) };
            format!("{from}–{to}% {way}")
        }
        _ => format!("{low} to {high}"),
    }
}

/// `17% slower (41% slower to 15% faster)`, `34% slower (30–38%)`, or only the value if the range is the same.
pub fn with_change_range(
    value: impl fmt::Display,
    low: impl fmt::Display,
    high: impl fmt::Display,
) -> String {
    let (value, range) = (value.to_string(), change_range(low, high));
    if value == range {
        return value;
    }
    let way = value.split_once("% ").map(|(_, way)| format!(" {way}"));
    let is_one_way = !range.contains(" to ");
    let short = way.filter(|_| is_one_way).and_then(|way| range.strip_suffix(&*way).map(str::to_owned));
    format!("{value} ({})", short.unwrap_or(range))
}

/// The texts of some quantities. Shares get equally many decimals, unless they have them already: `9.7–10.3%`.
fn same_decimals<const COUNT: usize>(quantities: [&dyn fmt::Display; COUNT]) -> [String; COUNT] {
    let texts = quantities.map(ToString::to_string);
    let decimals = |text: &String| {
        let (_, decimals) = text.strip_suffix('%')?.split_once('.').unwrap_or(("", ""));
        Some(decimals.len())
    };
    let Some(counts) = texts.iter().map(decimals).collect::<Option<Vec<usize>>>() else { return texts };
    let most = counts.iter().copied().max().unwrap_or(0);
    if counts.iter().all(|count| *count == most) {
        return texts;
    }
    let exact = quantities.map(|quantity| format!("{quantity:.most$}"));
    // A quantity that already is text cannot show more decimals.
    if exact.iter().all(|text| text.ends_with('%')) { exact } else { texts }
}

fn is_less(one: &str, other: &str) -> bool {
    let value = |text: &str| text.replace(',', "").parse::<f64>().unwrap_or(f64::INFINITY);
    value(one) < value(other)
}

fn join_range(low: &str, high: &str) -> String {
    // A minus sign after a dash cannot be read.
    let to = if low.starts_with('-') || high.starts_with('-') { " to " } else { "–" };
    format!("{low}{to}{high}")
}

/// Splits a text into number and unit: `77.2` and `MB/s`, `26` and `%`, `4` and nothing. `None` where it has
/// several units, as in `2 min 3 s`.
fn split_unit(text: &str) -> Option<(&str, &str)> {
    for sign in ["%", "×"] {
        if let Some(number) = text.strip_suffix(sign) {
            return Some((number, sign));
        }
    }
    match text.split_once(' ') {
        None => Some((text, "")),
        Some((_, unit)) if unit.contains(' ') => None,
        number_and_unit => number_and_unit,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Number;
    use crate::units::digits;

    #[test]
    fn numbers_have_three_significant_digits() {
        let spelled: Vec<String> = [
            0.0, 0.001234, 0.1234, 1.234, 9.996, 12.34, 99.96, 123.4, 999.6, 4938.0, 36225.9, 1234567.0,
            -12.34,
        ]
        .into_iter()
        .map(digits)
        .collect();
        let expected = [
            "0",
            "0.00123",
            "0.123",
            "1.23",
            "10.0",
            "12.3",
            "100",
            "123",
            "1,000",
            "4,940",
            "36,200",
            "1,230,000",
            "-12.3",
        ];
        assert_eq!(spelled, expected);
        assert_eq!(digits(2.5e-4), "0.000250");
        assert_eq!(digits(1.2e-5), "1.2e-5");
    }

    #[test]
    fn units_follow_a_space_and_percent_signs_none() {
        assert_eq!(Rate(77.2e6).to_string(), "77.2 MB/s");
        assert_eq!(Iops(4938.0).to_string(), "4,940 IOPS");
        assert_eq!(Latency(202_400.0).to_string(), "202 µs");
        assert_eq!(Size(8 << 20).to_string(), "8 MiB");
        assert_eq!(Offset(8 << 20).to_string(), "8 MiB");
        assert_eq!(Offset(0).to_string(), "0 B");
        assert_eq!(Offset(323_295_903_744).to_string(), "301 GiB (byte 323,295,903,744)");
        assert_eq!(Share(0.2567).to_string(), "26%");
        assert_eq!(Share(0.9982).to_string(), "99.8%");
        assert_eq!(Share(1.0).to_string(), "100%");
        assert_eq!(Share(0.0123).to_string(), "1.2%");
        assert_eq!(Share(0.05).to_string(), "5%");
        assert_eq!(Share(0.00131).to_string(), "0.1%");
        assert_eq!(Share(0.00052).to_string(), "0.05%");
        assert_eq!(Share(-0.0204).to_string(), "-2%");
        assert_eq!(Share(25.9).to_string(), "2,590%");
        assert_eq!(Factor(3.8).to_string(), "3.80×");
        assert_eq!(Number(4938.0).to_string(), "4,938");
    }

    #[test]
    fn a_range_says_its_unit_once() {
        let text = with_range(Rate(19.8e6), Rate(15.9e6), Rate(24.7e6));
        assert_eq!(text, "19.8 MB/s (15.9–24.7)");
        assert_eq!(with_range(Rate(19.8e6), Rate(19.8e6), Rate(19.8e6)), "19.8 MB/s");
        assert_eq!(with_range(Share(0.26), Share(0.2), Share(0.3)), "26% (20–30)");
        assert_eq!(with_range(Share(0.1), Share(0.0969), Share(0.103)), "10.0% (9.7–10.3)");
        assert_eq!(range(Share(-0.0204), Share(0.081)), "-2.0 to 8.1%");
        assert_eq!(with_range("10%", "9.7%", "10%"), "10% (9.7–10)");
        assert_eq!(range(Latency(950.0), Latency(1200.0)), "950 ns–1.20 µs");
        assert_eq!(range(Number(31.0), Number(33.0)), "31–33");
        assert_eq!(range(Share(-0.01), Share(0.69)), "-1 to 69%");
        assert_eq!(with_range(Latency(1.6e6), Latency(168e3), Latency(3.04e6)), "1.60 ms (168 µs–3.04 ms)");
        assert_eq!(range(Nanos::from_secs(120), Nanos::from_secs(240)), "2–4 min");
        assert_eq!(range(Nanos::from_secs(121), Nanos::from_secs(247)), "2 min 1 s–4 min 7 s");
    }

    #[test]
    fn a_change_says_which_way_it_goes() {
        assert_eq!(SpeedChange(0.828).to_string(), "17% slower");
        assert_eq!(SpeedChange(1.154).to_string(), "15% faster");
        assert_eq!(SpeedChange(3.59).to_string(), "3.59× as fast");
        assert_eq!(SpeedChange(1.0).to_string(), "as fast");
        assert_eq!(TimeChange(1.12).to_string(), "12% longer");
        assert_eq!(TimeChange(0.88).to_string(), "12% shorter");
        assert_eq!(TimeChange(4.84).to_string(), "4.84× as long");
        let speeds = |low, high| change_range(SpeedChange(low), SpeedChange(high));
        assert_eq!(speeds(0.594, 1.154), "41% slower to 15% faster");
        assert_eq!(speeds(0.62, 0.7), "30–38% slower");
        assert_eq!(speeds(1.02, 1.05), "2–5% faster");
        assert_eq!(speeds(0.9, 2.5), "10% slower to 2.50× as fast");
        assert_eq!(speeds(0.9, 0.9), "10% slower");
        let with =
            |value, low, high| with_change_range(SpeedChange(value), SpeedChange(low), SpeedChange(high));
        assert_eq!(with(0.66, 0.62, 0.7), "34% slower (30–38%)");
        assert_eq!(with(0.83, 0.59, 1.15), "17% slower (41% slower to 15% faster)");
        assert_eq!(with(0.83, 0.83, 0.83), "17% slower");
    }
}
