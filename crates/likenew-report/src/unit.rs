//! Spells numbers and keys as people write them: 10⁶ bytes a second, binary sizes, scaled times.
//!
//! `schema/spelling.json` has examples that this module and the page must agree on.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::LazyLock;

use likenew_core::quantity::{Factor, Iops, Latency, Rate, Share, Size};
use likenew_core::units::{Number, digits};

/// The unit of a number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Unit {
    /// Bytes a second.
    Rate,
    /// Bytes.
    Amount,
    /// Nanoseconds.
    Span,
    /// Hundredths, shown as a percentage.
    Percent,
    /// Parts of one, shown as a percentage.
    Share,
    /// One number over another of its kind.
    Ratio,
    /// I/Os per second.
    Iops,
    /// Something else per second.
    Frequency,
    /// Degrees Celsius.
    Celsius,
    /// A plain count or ratio.
    Plain,
    /// Another unit from the document, printed after the number.
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
            "1/s" => Self::Iops,
            "/s" => Self::Frequency,
            "°C" => Self::Celsius,
            "" | "1" => Self::Plain,
            other => Self::Other(clean(other)),
        }
    }

    /// Whether a ratio of two such numbers tells how much faster one drive is.
    pub(crate) fn is_rate(&self) -> bool {
        matches!(self, Self::Rate | Self::Iops | Self::Frequency)
    }

    /// `value` with its unit: `251 MB/s`, `74.5 GiB`, `82.1 µs`.
    pub(crate) fn spell(&self, value: f64) -> String {
        if value < 0.0 {
            return format!("-{}", self.spell(-value));
        }
        match self {
            Self::Rate => Rate(value).to_string(),
            Self::Amount => Size(value.round() as u64).to_string(),
            Self::Span => Latency(value).to_string(),
            Self::Percent => Share(value / 100.0).to_string(),
            Self::Share => Share(value).to_string(),
            Self::Ratio => Factor(value).to_string(),
            Self::Iops => Iops(value).to_string(),
            Self::Frequency => format!("{}/s", digits(value)),
            Self::Celsius => format!("{} °C", Number(value)),
            Self::Plain => Number(value).to_string(),
            Self::Other(unit) => format!("{} {unit}", Number(value)),
        }
    }

    /// `value` for a column whose heading already has MB/s or IOPS.
    pub(crate) fn spell_below_heading(&self, value: f64) -> String {
        let sign = if value < 0.0 { "-" } else { "" };
        match self {
            Self::Rate => format!("{sign}{}", digits(value.abs() / 1e6)),
            Self::Iops | Self::Frequency => format!("{sign}{}", digits(value.abs())),
            _ => self.spell(value),
        }
    }
}

/// What the keys of tables mean, and the words for identifiers: `schema/columns.json`.
#[derive(serde::Deserialize)]
pub(crate) struct Keys {
    /// Numbers that say what was measured and not the result. They identify rows in every document, as words do.
    pub(crate) keys: Vec<String>,
    /// Numbers that count work, or are ratios; a row's unit does not apply to them.
    pub(crate) counts: Vec<String>,
    /// Keys whose texts are identifiers, such as `slow_once`, each with the words for some of its texts.
    identifiers: BTreeMap<String, BTreeMap<String, String>>,
    units: Vec<UnitWords>,
}

/// The words in a key that name its unit.
#[derive(serde::Deserialize)]
struct UnitWords {
    words: Vec<String>,
    unit: String,
    /// Their text in a heading.
    shown: String,
    /// The heading of a key with no other words.
    alone: String,
}

pub(crate) static KEYS: LazyLock<Keys> = LazyLock::new(|| {
    serde_json::from_str(include_str!("../../../schema/columns.json")).expect("the list is whole")
});

impl Keys {
    /// The words for the text of a column.
    pub(crate) fn words(&self, key: &str, text: &str) -> String {
        let Some(known) = self.identifiers.get(key) else { return clean(text) };
        known.get(text).map_or_else(|| heading(text).0, Clone::clone)
    }
}

/// Name and unit of a column from its key, some words of which name the unit.
pub(crate) fn heading(key: &str) -> (String, Unit) {
    let words: Vec<&str> = key.split('_').map(percentile).collect();
    let entry = KEYS.units.iter().find_map(|unit| {
        Some((words.windows(unit.words.len()).rposition(|window| *window == *unit.words)?, unit))
    });
    let Some((at, entry)) = entry else { return (clean(&words.join(" ")), Unit::Plain) };
    let shown = Some(&*entry.shown).filter(|shown| !shown.is_empty());
    let rest = &words[at + entry.words.len()..];
    let text =
        words[..at].iter().copied().chain(shown).chain(rest.iter().copied()).collect::<Vec<_>>().join(" ");
    let text = if text.is_empty() { entry.alone.clone() } else { text.replace(" /s", "/s") };
    (clean(&text), Unit::parse(&entry.unit))
}

/// The usual spelling of a percentile: `p999` is `p99.9`.
fn percentile(word: &str) -> &str {
    match word {
        "p999" => "p99.9",
        "p9999" => "p99.99",
        "p99999" => "p99.999",
        other => other,
    }
}

/// Whether a character controls a terminal, begins a line or changes the direction of writing.
pub fn steers(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Escapes characters that [`steers`] names in JSON or TOML, whose values stay the same: only strings can
/// hold them. It keeps line ends and color codes, which no string holds unescaped.
pub fn escape_steering(text: &str) -> Cow<'_, str> {
    let is_escaped = |c: char| steers(c) && c >= '\u{7f}';
    if !text.contains(is_escaped) {
        return text.into();
    }
    let escape = |c: char| if is_escaped(c) { format!("\\u{:04x}", u32::from(c)) } else { c.to_string() };
    text.chars().map(escape).collect()
}

/// `text` without characters that control a terminal or change the direction of writing.
pub fn clean(text: &str) -> String {
    text.chars().map(|c| if steers(c) { '\u{fffd}' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use likenew_core::quantity::with_range;

    use super::*;

    #[derive(Deserialize)]
    struct Spelling {
        values: Vec<SpellingCase>,
        ranges: Vec<RangeCase>,
        headings: Vec<HeadingCase>,
    }

    #[derive(Deserialize)]
    struct SpellingCase {
        unit: String,
        value: f64,
        text: String,
    }

    #[derive(Deserialize)]
    struct RangeCase {
        value: String,
        low: String,
        high: String,
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
    fn ranges_are_spelled_as_published() {
        for RangeCase { value, low, high, text } in spelling().ranges {
            assert_eq!(with_range(&value, &low, &high), text);
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
        assert_eq!(Unit::Frequency.spell_below_heading(12_345.6), "12,300");
        assert_eq!(Unit::Span.spell_below_heading(12_340.0), "12.3 µs");
    }

    #[test]
    fn text_cannot_steer_a_terminal() {
        assert_eq!(clean("a\u{1b}[2Jb\nc\u{202e}d"), "a\u{fffd}[2Jb\u{fffd}c\u{fffd}d");
        assert_eq!(clean("µs – ✓"), "µs – ✓");
    }
}
