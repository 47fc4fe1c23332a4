//! Numbers and keys in the spelling people use: 10⁶ bytes a second, binary sizes, scaled times.
//!
//! `schema/spelling.json` lists examples that this module and the page both keep.

use likenew_core::units::{Nanos, amount, three_digits};

/// What a number counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Unit {
    /// Bytes a second.
    Rate,
    /// Bytes.
    Amount,
    /// Nanoseconds.
    Span,
    /// Hundredths.
    Percent,
    /// Parts of one, shown as hundredths.
    Share,
    /// One number over another of its kind.
    Ratio,
    /// Something a second.
    Frequency,
    /// Degrees Celsius.
    Celsius,
    /// A plain count or ratio.
    Plain,
    /// A word of the document's own, printed behind the number.
    Other(String),
}

impl Unit {
    /// The unit of an axis or an estimate.
    pub(crate) fn parse(text: &str) -> Self {
        match text {
            "bytes/s" => Self::Rate,
            "bytes" => Self::Amount,
            "ns" => Self::Span,
            "%" => Self::Percent,
            "share" => Self::Share,
            "×" => Self::Ratio,
            "1/s" => Self::Frequency,
            "°C" => Self::Celsius,
            "" | "1" => Self::Plain,
            other => Self::Other(clean(other)),
        }
    }

    /// Whether a ratio of two such numbers says how much faster one drive is.
    pub(crate) fn is_rate(&self) -> bool {
        matches!(self, Self::Rate | Self::Frequency)
    }

    /// `value` with its unit: `251 MB/s`, `74.5 GiB`, `82.1 µs`.
    pub(crate) fn spell(&self, value: f64) -> String {
        if value < 0.0 {
            return format!("-{}", self.spell(-value));
        }
        match self {
            Self::Rate => format!("{} MB/s", digits(value / 1e6)),
            Self::Amount => amount(value.round() as u64),
            Self::Span if value < 1e3 && value.fract() != 0.0 => format!("{} ns", digits(value)),
            Self::Span => Nanos(value.round() as u64).to_string(),
            Self::Percent => format!("{}%", digits(value)),
            Self::Share => format!("{}%", digits(value * 100.0)),
            Self::Ratio => format!("{}×", digits(value)),
            Self::Frequency => format!("{}/s", digits(value)),
            Self::Celsius => format!("{} °C", digits(value)),
            Self::Plain if value.fract() == 0.0 => whole_number(value),
            Self::Plain => digits(value),
            Self::Other(unit) if value.fract() == 0.0 => format!("{} {unit}", whole_number(value)),
            Self::Other(unit) => format!("{} {unit}", digits(value)),
        }
    }

    /// `value` for a column whose heading already says MB/s or IOPS.
    pub(crate) fn spell_below_heading(&self, value: f64) -> String {
        let sign = if value < 0.0 { "-" } else { "" };
        match self {
            Self::Rate => format!("{sign}{}", digits(value.abs() / 1e6)),
            Self::Frequency => format!("{sign}{}", digits(value.abs())),
            _ => self.spell(value),
        }
    }
}

/// At least two significant digits, three from 0.1 on, all of them from 1000 on, in groups from 10 000 on.
fn digits(value: f64) -> String {
    if value == 0.0 {
        "0".into()
    } else if !(1e-4..1e15).contains(&value) {
        scientific(value)
    } else if value < 0.0995 {
        let decimals = (1.0 - value.log10().floor()) as usize;
        format!("{value:.decimals$}")
    } else {
        group_thousands(&three_digits(value))
    }
}

fn whole_number(value: f64) -> String {
    if value < 1e15 { group_thousands(&format!("{value:.0}")) } else { scientific(value) }
}

fn scientific(value: f64) -> String {
    format!("{value:.1e}")
}

/// Commas between thousands of a number of five digits or more.
fn group_thousands(text: &str) -> String {
    if text.len() < 5 || text.contains('.') {
        return text.to_owned();
    }
    let mut out = String::with_capacity(text.len() + text.len() / 3);
    for (index, digit) in text.chars().enumerate() {
        if index > 0 && (text.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// What a column is called, and what its numbers count, from the key: the unit is one of its words.
pub(crate) fn heading(key: &str) -> (String, Unit) {
    let words: Vec<&str> = key.split('_').collect();
    let found = [
        (&["bytes", "per", "s"][..], Unit::Rate, "MB/s"),
        (&["per", "s"], Unit::Frequency, "/s"),
        (&["iops"], Unit::Frequency, "IOPS"),
        (&["bytes"], Unit::Amount, ""),
        (&["ns"], Unit::Span, ""),
        (&["percent"], Unit::Percent, ""),
        (&["share"], Unit::Share, "share"),
        (&["c"], Unit::Celsius, ""),
    ]
    .into_iter()
    .find_map(|(unit_words, unit, shown)| {
        let at = words.windows(unit_words.len()).rposition(|window| window == unit_words)?;
        Some((at..at + unit_words.len(), unit, shown))
    });
    let Some((place, unit, shown)) = found else { return (clean(&words.join(" ")), Unit::Plain) };
    let mut parts = words[..place.start].to_vec();
    if !shown.is_empty() {
        parts.push(shown);
    }
    parts.extend(&words[place.end..]);
    let heading = match (parts.join(" "), &unit) {
        (text, Unit::Amount) if text.is_empty() => "size".into(),
        (text, Unit::Span) if text.is_empty() => "time".into(),
        (text, Unit::Percent) if text.is_empty() => "%".into(),
        (text, Unit::Celsius) if text.is_empty() => "°C".into(),
        (text, _) => text.replace(" /s", "/s"),
    };
    (clean(&heading), unit)
}

/// `text` without characters that steer a terminal or turn the direction of writing.
pub(crate) fn clean(text: &str) -> String {
    let steers = |c: char| c.is_control() || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    text.chars().map(|c| if steers(c) { '\u{fffd}' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[derive(Deserialize)]
    struct Spelling {
        values: Vec<SpellingCase>,
        headings: Vec<HeadingCase>,
    }

    #[derive(Deserialize)]
    struct SpellingCase {
        unit: String,
        value: f64,
        text: String,
    }

    #[derive(Deserialize)]
    struct HeadingCase {
        key: String,
        heading: String,
        unit: String,
    }

    fn spelling() -> Spelling {
        serde_json::from_str(include_str!("../../../schema/spelling.json")).unwrap()
    }

    #[test]
    fn numbers_are_spelled_as_published() {
        for SpellingCase { unit, value, text } in spelling().values {
            assert_eq!(Unit::parse(&unit).spell(value), text, "{value} {unit}");
        }
    }

    #[test]
    fn keys_become_headings_as_published() {
        for HeadingCase { key, heading: expected, unit } in spelling().headings {
            assert_eq!(heading(&key), (expected, Unit::parse(&unit)), "{key}");
        }
    }

    #[test]
    fn a_heading_with_the_unit_is_not_repeated_in_its_cells() {
        assert_eq!(Unit::Rate.spell_below_heading(-251.3e6), "-251");
        assert_eq!(Unit::Frequency.spell_below_heading(12_345.6), "12,346");
        assert_eq!(Unit::Span.spell_below_heading(12_340.0), "12.3 µs");
    }

    #[test]
    fn text_cannot_steer_a_terminal() {
        assert_eq!(clean("a\u{1b}[2Jb\nc\u{202e}d"), "a\u{fffd}[2Jb\u{fffd}c\u{fffd}d");
        assert_eq!(clean("µs – ✓"), "µs – ✓");
    }
}
