//! Adds color and weight to text, or nothing, and chooses the shades of a heat map.

use anstyle::{Ansi256Color, AnsiColor, Style};
use likenew_core::findings::{Axis, Scale, Standing};

use crate::scale;
use crate::unit::Unit;

/// Adds styles to text if the terminal shows them.
#[derive(Clone, Copy)]
pub(super) struct Paint {
    /// Whether the terminal shows them.
    pub(super) color: bool,
}

/// Colors of the lines of a chart, in turn.
const LINES: [AnsiColor; 6] = [
    AnsiColor::Cyan,
    AnsiColor::Magenta,
    AnsiColor::Yellow,
    AnsiColor::Green,
    AnsiColor::Blue,
    AnsiColor::Red,
];

impl Paint {
    pub(super) fn strong(&self, text: &str) -> String {
        self.with(Style::new().bold(), text)
    }

    pub(super) fn faint(&self, text: &str) -> String {
        self.with(Style::new().dimmed(), text)
    }

    /// The text in the color of its standing.
    pub(super) fn standing(&self, standing: Standing, text: &str) -> String {
        let color = match standing {
            Standing::Good => AnsiColor::Green,
            Standing::Problem => AnsiColor::Red,
            Standing::Unknown => AnsiColor::Yellow,
            Standing::Info => return text.to_owned(),
        };
        self.with(color.on_default().bold(), text)
    }

    /// The text in the color of the line with this index.
    pub(super) fn line(&self, index: usize, text: &str) -> String {
        self.with(LINES[index % LINES.len()].on_default(), text)
    }

    /// The text in one of the 256 colors that terminals share.
    pub(super) fn shade(&self, color: u8, text: &str) -> String {
        self.with(Ansi256Color(color).on_default(), text)
    }

    fn with(&self, style: Style, text: &str) -> String {
        if self.color && !text.is_empty() { format!("{style}{text}{style:#}") } else { text.to_owned() }
    }
}

/// The look of a cell. Without color, its blocks say the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shade {
    /// Two columns of text.
    pub(super) blocks: &'static str,
    /// One of the 256 terminal colors, in a middle tone that is visible on light and dark backgrounds.
    pub(super) color: u8,
}

/// From the lowest values to the highest.
const AMOUNTS: [Shade; 4] = [
    Shade { blocks: "░░", color: 68 },
    Shade { blocks: "▒▒", color: 37 },
    Shade { blocks: "▓▓", color: 107 },
    Shade { blocks: "██", color: 178 },
];
/// From much less to much more. Colors do not say which is worse, because that depends on the comparison.
const RATIOS: [Shade; 5] = [
    Shade { blocks: "▼▼", color: 172 },
    Shade { blocks: "▼ ", color: 179 },
    Shade { blocks: "· ", color: 244 },
    Shade { blocks: "▲ ", color: 74 },
    Shade { blocks: "▲▲", color: 32 },
];
/// Ratios at which all shades but the last end. Chosen: within a tenth, two runs are about equal; beyond a
/// factor of two, they clearly differ.
const RATIO_ENDS: [f64; 4] = [0.5, 0.9, 1.1, 2.0];
/// Ratio of the highest to the lowest value from which shades are logarithmic even if the axis is not.
/// Chosen: as for axes.
const LOGARITHMIC_FROM: f64 = 1000.0;

/// The shades of one heat map.
pub(super) struct Shades {
    shades: &'static [Shade],
    /// The values at which shades end; the last shade has no end.
    ends: Vec<f64>,
    highest: f64,
    unit: Unit,
}

impl Shades {
    /// Divides the values into four equal parts, or `range` if other maps share it; ratios have fixed parts.
    pub(super) fn for_values(
        values: impl Iterator<Item = f64>,
        range: Option<[f64; 2]>,
        axis: &Axis,
    ) -> Self {
        let unit = Unit::parse(&axis.unit);
        let range = range.or_else(|| scale::range(values));
        let [low, high] = range.unwrap_or([f64::INFINITY, f64::NEG_INFINITY]);
        if unit == Unit::Ratio {
            return Self { shades: &RATIOS, ends: RATIO_ENDS.into(), highest: high, unit };
        }
        let logarithmic = low > 0.0 && (axis.scale == Scale::Log || high / low >= LOGARITHMIC_FROM);
        let end = |level: usize| {
            let share = level as f64 / AMOUNTS.len() as f64;
            if logarithmic {
                low * (high / low).powf(share)
            } else {
                low.min(0.0) + share * (high - low.min(0.0))
            }
        };
        Self { shades: &AMOUNTS, ends: (1..AMOUNTS.len()).map(end).collect(), highest: high, unit }
    }

    pub(super) fn shade(&self, value: f64) -> Shade {
        self.shades[self.ends.iter().position(|end| value < *end).unwrap_or(self.ends.len())]
    }

    /// Each shade with its range of values, in words.
    pub(super) fn legend(&self) -> impl Iterator<Item = (Shade, String)> {
        let last = self.shades.len() - 1;
        let meaning = move |level: usize| {
            if level < last {
                format!("below {}", self.unit.spell(self.ends[level]))
            } else if self.unit == Unit::Ratio {
                format!("{} or more", self.unit.spell(self.ends[last - 1]))
            } else {
                format!("up to {}", self.unit.spell(self.highest))
            }
        };
        self.shades.iter().enumerate().map(move |(level, shade)| (*shade, meaning(level)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn meanings(values: &[f64], axis: Axis) -> Vec<String> {
        Shades::for_values(values.iter().copied(), None, &axis).legend().map(|(_, meaning)| meaning).collect()
    }

    #[test]
    fn shades_are_equal_parts_of_what_is_shown() {
        let speed = Axis::new("speed", "bytes/s");
        assert_eq!(
            meanings(&[40e6, 200e6], speed.clone()),
            ["below 50.0 MB/s", "below 100 MB/s", "below 150 MB/s", "up to 200 MB/s"]
        );
        let logarithmic = ["below 10.0 MB/s", "below 100 MB/s", "below 1,000 MB/s", "up to 10,000 MB/s"];
        assert_eq!(meanings(&[1e6, 10e9], speed.clone()), logarithmic, "too far apart for equal steps");
        assert_eq!(meanings(&[1e6, 16e6], speed.logarithmic())[0], "below 2.00 MB/s");
        assert_eq!(
            meanings(&[0.0, 4.0], Axis::new("", "").logarithmic())[0],
            "below 1",
            "0 has no logarithm"
        );
    }

    #[test]
    fn a_value_has_the_shade_whose_words_it_keeps() {
        let shades = Shades::for_values([0.0, 4.0].into_iter(), None, &Axis::new("", ""));
        let blocks = [0.0, 0.99, 1.0, 3.0, 4.0].map(|value| shades.shade(value).blocks);
        assert_eq!(blocks, ["░░", "░░", "▒▒", "██", "██"]);
        let shades = Shades::for_values([1.0].into_iter(), None, &Axis::new("", "×").logarithmic());
        let blocks = [0.4, 0.5, 1.0, 1.2, 2.0].map(|value| shades.shade(value).blocks);
        assert_eq!(blocks, ["▼▼", "▼ ", "· ", "▲ ", "▲▲"]);
        assert_eq!(shades.legend().last().unwrap().1, "2.00× or more");
    }
}
