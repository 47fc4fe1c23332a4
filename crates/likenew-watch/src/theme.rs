//! Characters and colors of a screen: what the terminal can show, readable on light and dark backgrounds.

use ratatui_core::style::{Color, Modifier, Style};
use ratatui_core::symbols::bar;

/// What the terminal can show.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Theme {
    /// Whether only ASCII is available.
    pub ascii: bool,
    /// Whether to use colors. Bold text is used in any case.
    pub color: bool,
}

/// ASCII characters for bars in eighths.
const ASCII_BARS: bar::Set = bar::Set {
    full: "#",
    seven_eighths: "%",
    three_quarters: "*",
    five_eighths: "+",
    half: "=",
    three_eighths: "-",
    one_quarter: ":",
    one_eighth: ".",
    empty: " ",
};

impl Theme {
    /// Detects the theme from the locale (POSIX: LC_ALL before LC_CTYPE before LANG) and NO_COLOR (no-color.org). `env`
    /// returns a variable.
    pub fn from_env(env: impl Fn(&str) -> Option<String>) -> Self {
        let set = |name: &&str| env(name).filter(|value| !value.is_empty());
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"].iter().find_map(set).unwrap_or_default().to_lowercase();
        let ascii = !(locale.contains("utf-8") || locale.contains("utf8"));
        Self { ascii, color: set(&"NO_COLOR").is_none() }
    }

    pub(crate) fn bars(&self) -> bar::Set<'static> {
        if self.ascii { ASCII_BARS } else { bar::NINE_LEVELS }
    }

    /// The text in characters that the terminal can show.
    pub(crate) fn text(&self, text: &str) -> String {
        if !self.ascii || text.is_ascii() {
            return text.to_owned();
        }
        let plain = |c: char| match c {
            'µ' => "u".to_owned(),
            '°' => String::new(),
            '–' | '—' | '─' => "-".to_owned(),
            '…' => "...".to_owned(),
            '↑' => "up".to_owned(),
            '↓' => "down".to_owned(),
            '▲' => "^".to_owned(),
            '▼' => "v".to_owned(),
            '·' => ".".to_owned(),
            '└' => "`".to_owned(),
            c if c.is_ascii() => c.to_string(),
            _ => "?".to_owned(),
        };
        text.chars().map(plain).collect()
    }

    pub(crate) fn read(&self) -> Style {
        self.style(Color::Cyan)
    }

    pub(crate) fn write(&self) -> Style {
        self.style(Color::Magenta)
    }

    pub(crate) fn neutral(&self) -> Style {
        self.style(Color::Green)
    }

    pub(crate) fn alarm(&self) -> Style {
        self.style(Color::Red).add_modifier(Modifier::BOLD)
    }

    pub(crate) fn strong(&self) -> Style {
        Style::new().add_modifier(Modifier::BOLD)
    }

    pub(crate) fn faint(&self) -> Style {
        Style::new().add_modifier(Modifier::DIM)
    }

    pub(crate) fn selection(&self) -> Style {
        Style::new().add_modifier(Modifier::REVERSED)
    }

    fn style(&self, color: Color) -> Style {
        if self.color { Style::new().fg(color) } else { Style::new() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_locale_decides_about_characters() {
        let theme = |set: &'static [(&str, &str)]| {
            Theme::from_env(|name| {
                set.iter().find(|(set, _)| *set == name).map(|(_, value)| (*value).to_owned())
            })
        };
        assert_eq!(theme(&[("LANG", "de_DE.UTF-8")]), Theme { ascii: false, color: true });
        assert_eq!(theme(&[("LANG", "de_DE.UTF-8"), ("LC_ALL", "C")]), Theme { ascii: true, color: true });
        assert_eq!(theme(&[("LC_ALL", ""), ("LC_CTYPE", "C.utf8"), ("NO_COLOR", "1")]), Theme::default());
        assert_eq!(theme(&[("NO_COLOR", "")]), Theme { ascii: true, color: true });
    }

    #[test]
    fn nothing_but_ascii_is_left() {
        let text = Theme { ascii: true, color: false }.text("12 µs 41 °C ▲ … └ ü 漢");
        assert_eq!(text, "12 us 41 C ^ ... ` ? ?");
    }
}
