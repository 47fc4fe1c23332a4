//! Sizes and times as fio spells them (`parse.c`).

use likenew_core::units::Nanos;

/// A size: a number of bytes, or a share of what there is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Amount {
    Bytes(u64),
    Percent(f64),
}

impl Amount {
    /// The bytes, where they are known.
    pub(super) fn bytes(self) -> Option<u64> {
        match self {
            Self::Bytes(bytes) => Some(bytes),
            Self::Percent(_) => None,
        }
    }
}

/// Reads `4096`, `4k`, `0x1000`, `1GiB`, `10%`. `kibi` is what `k` stands for, 1024 unless `kb_base=1000` was set; `Ki`
/// stands for the other of both.
pub(super) fn parse_amount(text: &str, kibi: u64) -> Option<Amount> {
    let text = text.trim();
    if let Some(percent) = text.strip_suffix('%') {
        let percent = percent.parse().ok().filter(|percent| (0.0..=100.0).contains(percent));
        return percent.map(Amount::Percent);
    }
    if let Some(digits) = text.strip_prefix("0x") {
        return u64::from_str_radix(digits, 16).ok().filter(|bytes| *bytes < 1 << 60).map(Amount::Bytes);
    }
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (digits, unit) = text.split_at(end);
    let unit = unit.to_ascii_lowercase();
    let (base, letter) = match unit.strip_suffix("ib") {
        Some(letter) => (if kibi == 1024 { 1000 } else { 1024 }, letter),
        None => (kibi, unit.strip_suffix('b').unwrap_or(&unit)),
    };
    let power = ["", "k", "m", "g", "t", "p"].iter().position(|known| *known == letter)?;
    let factor = u64::pow(base, u32::try_from(power).ok()?);
    let bytes = digits.parse::<u64>().ok()?.checked_mul(factor)?;
    (bytes < 1 << 60).then_some(Amount::Bytes(bytes))
}

/// Reads `5` (seconds), `500ms`, `2m`, `1h`, `10us`.
pub(super) fn parse_duration(text: &str) -> Option<Nanos> {
    let text = text.trim();
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (digits, unit) = text.split_at(end);
    let factor: u64 = match unit.to_ascii_lowercase().as_str() {
        "us" | "usec" => 1_000,
        "ms" | "msec" => 1_000_000,
        "" | "s" | "sec" => 1_000_000_000,
        "m" => 60_000_000_000,
        "h" => 3_600_000_000_000,
        "d" => 86_400_000_000_000,
        _ => return None,
    };
    digits.parse::<u64>().ok()?.checked_mul(factor).filter(|ns| *ns < 1 << 60).map(Nanos)
}

/// Reads a number of threads or of I/Os in flight.
pub(super) fn parse_count(text: &str) -> Option<u32> {
    text.parse().ok().filter(|count| (1..=1 << 20).contains(count))
}

pub(super) fn parse_percent(text: &str) -> Option<u8> {
    text.parse().ok().filter(|percent| *percent <= 100)
}

/// Reads the θ of `zipf:1.2`, and what follows it, such as the place of the most popular address.
pub(super) fn parse_zipf(text: &str) -> Option<(f64, Option<&str>)> {
    let text = text.strip_prefix("zipf:")?;
    let (theta, more) = text.split_once(':').map_or((text, None), |(theta, more)| (theta, Some(more)));
    theta.parse().ok().filter(|theta| *theta > 0.0 && *theta <= 10.0).map(|theta| (theta, more))
}

/// Reads `4k`, or `4k/70:64k/`: lengths with their percents; those without share equally what is left.
pub(super) fn parse_lengths(text: &str, kibi: u64) -> Option<Vec<(u64, u64)>> {
    let mut lengths = Vec::new();
    for part in text.split(':') {
        let (size, percent) =
            part.split_once('/').map_or((part, None), |(size, percent)| (size, Some(percent)));
        let percent = match percent {
            None | Some("") => None,
            Some(percent) => Some(u64::from(parse_percent(percent)?)),
        };
        lengths.push((parse_amount(size, kibi)?.bytes().filter(|bytes| *bytes > 0)?, percent));
    }
    let message: u64 = lengths.iter().filter_map(|(_, percent)| *percent).sum();
    let silent = lengths.iter().filter(|(_, percent)| percent.is_none()).count() as u64;
    let rest = 100u64.saturating_sub(message).checked_div(silent).unwrap_or(0);
    Some(lengths.into_iter().map(|(size, percent)| (size, percent.unwrap_or(rest))).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn sizes_mean_what_fio_makes_of_them() {
        for (text, kibi, bytes) in [
            ("4096", 1024, 4096),
            ("4k", 1024, 4096),
            ("4kB", 1024, 4096),
            ("4GiB", 1024, 4_000_000_000),
            ("4GiB", 1000, 4 << 30),
            ("4G", 1000, 4_000_000_000),
            ("0x200", 1024, 512),
        ] {
            assert_eq!(parse_amount(text, kibi), Some(Amount::Bytes(bytes)), "{text}");
        }
        assert_eq!(parse_amount("25%", 1024), Some(Amount::Percent(25.0)));
        for text in ["", "k", "4q", "-1", "1e9", "101%", "99999999999999999999", "9000000p"] {
            assert_eq!(parse_amount(text, 1024), None, "{text}");
        }
    }

    #[test]
    fn times_are_seconds_without_a_unit() {
        assert_eq!(parse_duration("5"), Some(Nanos::from_secs(5)));
        assert_eq!(parse_duration("1500ms"), Some(Nanos::from_millis(1500)));
        assert_eq!(parse_duration("2m"), Some(Nanos::from_secs(120)));
        for text in ["", "s", "5 parsecs", "-3s"] {
            assert_eq!(parse_duration(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn no_spelling_panics(text in "[0-9a-zA-Z%é. -]{0,24}") {
            parse_amount(&text, 1024);
            parse_duration(&text);
            parse_lengths(&text, 1000);
            parse_zipf(&text);
        }
    }
}
