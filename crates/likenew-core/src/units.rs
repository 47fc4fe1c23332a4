//! Time and size: one type for nanoseconds, and the spellings people use for sizes and durations.
//!
//! Sizes are stored as bytes and times as nanoseconds. `4k`, `1M`, `1GiB` are binary, `1MB` is 10⁶ bytes. A
//! number followed by any other word is refused, never guessed.

use std::fmt;
use std::ops::{Add, AddAssign, Sub};

use serde::{Deserialize, Serialize};

/// A point in a target's time, or a span of it, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Nanos(pub u64);

impl Nanos {
    /// The start of every target's clock.
    pub const ZERO: Self = Self(0);
    /// Later than anything that happens: "wait as long as it takes".
    pub const NEVER: Self = Self(u64::MAX);

    /// This many microseconds; [`Self::NEVER`] if no clock can show them.
    pub const fn from_micros(micros: u64) -> Self {
        Self(micros.saturating_mul(1_000))
    }

    /// This many milliseconds; [`Self::NEVER`] if no clock can show them.
    pub const fn from_millis(millis: u64) -> Self {
        Self(millis.saturating_mul(1_000_000))
    }

    /// This many seconds; [`Self::NEVER`] if no clock can show them.
    pub const fn from_secs(secs: u64) -> Self {
        Self(secs.saturating_mul(1_000_000_000))
    }

    /// The nearest nanosecond to `secs` seconds; negative and not-a-number become zero.
    pub fn from_secs_f64(secs: f64) -> Self {
        Self((secs * 1e9).round() as u64)
    }

    /// This span in seconds.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e9
    }

    /// The time since `earlier`, or zero if `earlier` is later.
    pub const fn since(self, earlier: Self) -> Self {
        Self(self.0.saturating_sub(earlier.0))
    }
}

impl Add for Nanos {
    type Output = Self;
    /// Saturates at [`Nanos::NEVER`], so "never" stays never.
    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl AddAssign for Nanos {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Sub for Nanos {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        assert!(other <= self, "time went back: {} ns before {} ns", self.0, other.0);
        Self(self.0 - other.0)
    }
}

impl fmt::Display for Nanos {
    /// For people: `250 ns`, `12.3 µs`, `4.56 ms`, `7.89 s`, `12 min 3 s`, `3 h 20 min`; round ones as `10 min`, `2 h`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ns = self.0;
        match ns {
            0..1_000 => write!(f, "{ns} ns"),
            1_000..1_000_000 => write!(f, "{} µs", digits(ns as f64 / 1e3)),
            1_000_000..1_000_000_000 => write!(f, "{} ms", digits(ns as f64 / 1e6)),
            1_000_000_000..120_000_000_000 => write!(f, "{} s", digits(ns as f64 / 1e9)),
            120_000_000_000..3_600_000_000_000 => {
                let secs = ns / 1_000_000_000;
                two_units(f, (secs / 60, "min"), (secs % 60, "s"))
            }
            _ => {
                let minutes = (ns / 1_000_000_000 + 30) / 60;
                two_units(f, (minutes / 60, "h"), (minutes % 60, "min"))
            }
        }
    }
}

/// `12 min 3 s`, or `12 min` if nothing of the smaller unit is left.
fn two_units(f: &mut fmt::Formatter<'_>, large: (u64, &str), small: (u64, &str)) -> fmt::Result {
    write!(f, "{} {}", large.0, large.1)?;
    if small.0 > 0 { write!(f, " {} {}", small.0, small.1) } else { Ok(()) }
}

/// `value` with three significant digits from 1 to 1,000, and two decimals below: `1.23`, `12.3`, `123`, `0.12`.
pub fn three_digits(value: f64) -> String {
    let magnitude = value.abs();
    let decimals = if magnitude < 9.995 {
        2
    } else if magnitude < 99.95 {
        1
    } else {
        0
    };
    format!("{value:.decimals$}")
}

/// A rate for people, in units of 10⁶ bytes a second: `251 MB/s`.
pub fn rate(bytes_per_s: f64) -> String {
    format!("{} MB/s", digits(bytes_per_s / 1e6))
}

/// An amount for people, in binary units: `74.5 GiB`, `512 B`; a round one without decimals: `75 MiB`, `1,000 MiB`.
pub fn amount(bytes: u64) -> String {
    const UNITS: [&str; 6] = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    if bytes < 1024 {
        return format!("{bytes} B");
    }
    let mut value = bytes as f64 / 1024.0;
    let mut unit = 0;
    while value >= 1023.5 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    let text = if value.fract() == 0.0 { Number(value).to_string() } else { digits(value) };
    let whole = text.split_once('.').filter(|(_, decimals)| decimals.bytes().all(|digit| digit == b'0'));
    format!("{} {}", whole.map_or(&*text, |(whole, _)| whole), UNITS[unit])
}

/// Why a spelling of a size or a duration was refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadUnit {
    /// It is not a size.
    #[error("\"{0}\" is not a size; write 4k or 1GiB (binary), or 500MB (decimal)")]
    Size(String),
    /// It is empty, and should be a size.
    #[error("nothing was typed; write 4k or 1GiB (binary), or 500MB (decimal)")]
    NoSize,
    /// It is not a duration.
    #[error("\"{0}\" is not a duration; write 500ms, 3s, 2min, 1h or 7d")]
    Duration(String),
    /// It is empty, and should be a duration.
    #[error("nothing was typed; write 500ms, 3s, 2min, 1h or 7d")]
    NoDuration,
}

/// Reads `4k`, `1.5GiB`, `4096`, `1MB`. Letters alone and `…iB` are binary, `…B` is decimal.
///
/// # Errors
/// Anything else, a negative or fractional number of bytes, or a size beyond 2⁶³ bytes.
pub fn parse_size(text: &str) -> Result<u64, BadUnit> {
    let bad = || match text.trim() {
        "" => BadUnit::NoSize,
        _ => BadUnit::Size(text.to_owned()),
    };
    let (number, unit) = split_unit(text);
    let factor: u64 = match unit {
        "" | "B" => 1,
        "k" | "K" | "KiB" | "kiB" => 1 << 10,
        "m" | "M" | "MiB" => 1 << 20,
        "g" | "G" | "GiB" => 1 << 30,
        "t" | "T" | "TiB" => 1 << 40,
        "kB" | "KB" => 1_000,
        "MB" => 1_000_000,
        "GB" => 1_000_000_000,
        "TB" => 1_000_000_000_000,
        _ => return Err(bad()),
    };
    scale(number, factor).ok_or_else(bad)
}

/// Reads `250ns`, `10us`, `500ms`, `3s`, `2min`, `1h`, `90d`.
///
/// # Errors
/// Anything else, a bare number other than 0, or a duration that is not a whole number of nanoseconds.
pub fn parse_duration(text: &str) -> Result<Nanos, BadUnit> {
    let bad = || match text.trim() {
        "" => BadUnit::NoDuration,
        _ => BadUnit::Duration(text.to_owned()),
    };
    let (number, unit) = split_unit(text);
    let factor: u64 = match unit {
        "ns" => 1,
        "us" | "µs" => 1_000,
        "ms" => 1_000_000,
        "s" => 1_000_000_000,
        "min" | "m" => 60_000_000_000,
        "h" => 3_600_000_000_000,
        "d" => 86_400_000_000_000,
        "" if number == "0" => 1,
        _ => return Err(bad()),
    };
    scale(number, factor).map(Nanos).ok_or_else(bad)
}

fn split_unit(text: &str) -> (&str, &str) {
    let text = text.trim();
    let end = text.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(text.len());
    (&text[..end], text[end..].trim())
}

/// `number × factor` when that is a whole number below 2⁶³, computed without rounding.
fn scale(number: &str, factor: u64) -> Option<u64> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if whole.is_empty() || fraction.len() > 18 || (number.contains('.') && fraction.is_empty()) {
        return None;
    }
    let mut total = u128::from(whole.parse::<u64>().ok()?) * u128::from(factor);
    if !fraction.is_empty() {
        let part = u128::from(fraction.parse::<u64>().ok()?) * u128::from(factor);
        let divisor = 10u128.pow(u32::try_from(fraction.len()).ok()?);
        if !part.is_multiple_of(divisor) {
            return None;
        }
        total += part / divisor;
    }
    u64::try_from(total).ok().filter(|total| *total < 1 << 63)
}

/// The shortest exact spelling that [`parse_size`] reads back: `4KiB`, `1GiB`, `4097`.
pub fn exact_size(bytes: u64) -> String {
    for (shift, unit) in [(40, "TiB"), (30, "GiB"), (20, "MiB"), (10, "KiB")] {
        if bytes > 0 && bytes.trailing_zeros() >= shift {
            return format!("{}{unit}", bytes >> shift);
        }
    }
    bytes.to_string()
}

/// The shortest exact spelling that [`parse_duration`] reads back: `3s`, `500ms`, `17ns`.
pub fn exact_duration(span: Nanos) -> String {
    if span == Nanos::ZERO {
        return "0s".to_owned();
    }
    for (factor, unit) in [(1_000_000_000, "s"), (1_000_000, "ms"), (1_000, "us")] {
        if span.0.is_multiple_of(factor) {
            return format!("{}{unit}", span.0 / factor);
        }
    }
    format!("{}ns", span.0)
}

/// Serde for a size in a plan: written as an exact spelling, read as one or as a number of bytes.
pub mod size_text {
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    /// Writes the exact spelling.
    pub fn serialize<S: Serializer>(bytes: &u64, out: S) -> Result<S::Ok, S::Error> {
        out.serialize_str(&super::exact_size(*bytes))
    }

    /// Reads a spelling or a number of bytes.
    pub fn deserialize<'de, D: Deserializer<'de>>(input: D) -> Result<u64, D::Error> {
        match super::NumberOrText::deserialize(input)? {
            super::NumberOrText::Number(bytes) => Ok(bytes),
            super::NumberOrText::Text(text) => super::parse_size(&text).map_err(D::Error::custom),
        }
    }

    /// Serde for an optional size.
    pub mod optional {
        use serde::{Deserializer, Serialize as _, Serializer};

        /// Writes the exact spelling, or nothing.
        pub fn serialize<S: Serializer>(bytes: &Option<u64>, out: S) -> Result<S::Ok, S::Error> {
            bytes.map(crate::units::exact_size).serialize(out)
        }

        /// Reads an optional value.
        pub fn deserialize<'de, D: Deserializer<'de>>(input: D) -> Result<Option<u64>, D::Error> {
            super::deserialize(input).map(Some)
        }
    }
}

/// Serde for a duration in a plan: written and read as an exact spelling; a bare number has no unit and is refused.
pub mod duration_text {
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    use super::Nanos;

    /// Writes the exact spelling.
    pub fn serialize<S: Serializer>(span: &Nanos, out: S) -> Result<S::Ok, S::Error> {
        out.serialize_str(&super::exact_duration(*span))
    }

    /// Reads a spelling.
    pub fn deserialize<'de, D: Deserializer<'de>>(input: D) -> Result<Nanos, D::Error> {
        super::parse_duration(&String::deserialize(input)?).map_err(D::Error::custom)
    }

    /// Serde for an optional duration.
    pub mod optional {
        use serde::{Deserializer, Serialize as _, Serializer};

        use crate::units::{Nanos, exact_duration};

        /// Writes the exact spelling, or nothing.
        pub fn serialize<S: Serializer>(span: &Option<Nanos>, out: S) -> Result<S::Ok, S::Error> {
            span.map(exact_duration).serialize(out)
        }

        /// Reads an optional value.
        pub fn deserialize<'de, D: Deserializer<'de>>(input: D) -> Result<Option<Nanos>, D::Error> {
            super::deserialize(input).map(Some)
        }
    }
}

#[derive(Deserialize)]
#[serde(untagged, expecting = "a size such as \"4KiB\", or a whole number of bytes")]
enum NumberOrText {
    Number(u64),
    Text(String),
}

/// Serializes a type through its `Display` and `FromStr`, so that plans read the way flags are typed.
#[macro_export]
macro_rules! serde_as_text {
    ($type:ty) => {
        impl serde::Serialize for $type {
            fn serialize<S: serde::Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
                out.collect_str(self)
            }
        }
        impl<'de> serde::Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
                let text = String::deserialize(input)?;
                text.parse().map_err(serde::de::Error::custom)
            }
        }
    };
}

/// A plain number or count: `4,940`.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Number(pub f64);

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.fract() == 0.0 && self.0.abs() < 1e15 {
            return f.write_str(&group_thousands(&format!("{:.0}", self.0)));
        }
        f.write_str(&digits(self.0))
    }
}

/// Three significant digits, with commas between thousands: `0.123`, `1.23`, `12.3`, `123`, `1,230`. Below 0.0001
/// and from 10¹⁵ on in powers of ten.
pub fn digits(value: f64) -> String {
    if value == 0.0 {
        return "0".into();
    }
    let magnitude = value.abs();
    if !(1e-4..1e15).contains(&magnitude) {
        return format!("{value:.1e}");
    }
    // Decimals that leave three significant digits after rounding: 9.996 is 10.0.
    let exponent = magnitude.log10().floor() as i32;
    let rounds_up = (magnitude / 10f64.powi(exponent - 2)).round() >= 1000.0;
    let exponent = exponent + i32::from(rounds_up);
    let decimals = (2 - exponent).max(0) as usize;
    if decimals > 0 {
        return format!("{value:.decimals$}");
    }
    let step = 10f64.powi(exponent - 2);
    group_thousands(&format!("{:.0}", (value / step).round() * step))
}

/// Commas between thousands of a whole number.
fn group_thousands(text: &str) -> String {
    let (sign, text) = text.strip_prefix('-').map_or(("", text), |rest| ("-", rest));
    let mut out = String::from(sign);
    for (index, digit) in text.chars().enumerate() {
        if index > 0 && (text.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn sizes_are_binary_unless_spelled_decimal() {
        for (text, bytes) in [
            ("4k", 4096),
            ("1M", 1 << 20),
            ("1GiB", 1 << 30),
            ("1.5 GiB", 3 << 29),
            ("512", 512),
            ("1MB", 1_000_000),
            ("0", 0),
        ] {
            assert_eq!(parse_size(text), Ok(bytes), "{text}");
        }
    }

    #[test]
    fn more_than_a_clock_can_read_is_never() {
        for at in
            [Nanos::from_micros(u64::MAX), Nanos::from_millis(u64::MAX), Nanos::from_secs(u64::MAX / 1000)]
        {
            assert_eq!(at, Nanos::NEVER);
        }
    }

    #[test]
    fn nonsense_sizes_and_durations_are_refused() {
        for text in
            ["", "k", "-4k", "4q", "1.3", "1e9", "99999999999999999999", "9000000TiB", "4 k i", ".5k", "5.k"]
        {
            assert!(parse_size(text).is_err(), "{text}");
        }
        for text in ["", "3", "s", "-1s", "3 fortnights", "0.1ns"] {
            assert!(parse_duration(text).is_err(), "{text}");
        }
        let size = |text| parse_size(text).unwrap_err().to_string();
        assert_eq!(size("4q"), "\"4q\" is not a size; write 4k or 1GiB (binary), or 500MB (decimal)");
        assert_eq!(size(""), "nothing was typed; write 4k or 1GiB (binary), or 500MB (decimal)");
    }

    #[test]
    fn spans_read_well() {
        for (ns, text) in [
            (0, "0 ns"),
            (12_340, "12.3 µs"),
            (4_560_000, "4.56 ms"),
            (7_890_000_000, "7.89 s"),
            (723_000_000_000, "12 min 3 s"),
            (600_000_000_000, "10 min"),
            (3_600_000_000_000, "1 h"),
            (6_992_000_000_000, "1 h 57 min"),
            (12_000_000_000_000, "3 h 20 min"),
        ] {
            assert_eq!(Nanos(ns).to_string(), text);
        }
        for (bytes, text) in [
            (80_000_000_000, "74.5 GiB"),
            (1000 << 20, "1,000 MiB"),
            ((1 << 30) + 1, "1 GiB"),
            ((75 << 20) + 1, "75 MiB"),
            ((5 << 29) + 1, "2.50 GiB"),
        ] {
            assert_eq!(amount(bytes), text);
        }
        assert_eq!(rate(251.3e6), "251 MB/s");
    }

    proptest! {
        #[test]
        fn exact_spellings_read_back(bytes in 0u64..1 << 62, ns in 0u64..1 << 62) {
            prop_assert_eq!(parse_size(&exact_size(bytes)), Ok(bytes));
            prop_assert_eq!(parse_duration(&exact_duration(Nanos(ns))), Ok(Nanos(ns)));
        }

        #[test]
        fn no_spelling_panics(text in "\\PC*") {
            let _ = parse_size(&text);
            let _ = parse_duration(&text);
        }
    }
}
