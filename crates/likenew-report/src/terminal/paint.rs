//! Color and weight of text, or none.

use anstyle::{Ansi256Color, AnsiColor, Style};

/// Adds styles to text if the terminal shows them.
pub(super) struct Paint {
    /// Whether it does.
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

    pub(super) fn good(&self, text: &str) -> String {
        self.with(AnsiColor::Green.on_default().bold(), text)
    }

    pub(super) fn bad(&self, text: &str) -> String {
        self.with(AnsiColor::Red.on_default().bold(), text)
    }

    pub(super) fn doubtful(&self, text: &str) -> String {
        self.with(AnsiColor::Yellow.on_default().bold(), text)
    }

    /// In the color of the line of this index.
    pub(super) fn line(&self, index: usize, text: &str) -> String {
        self.with(LINES[index % LINES.len()].on_default(), text)
    }

    /// In one of the 256 colors that terminals share.
    pub(super) fn shade(&self, color: u8, text: &str) -> String {
        self.with(Ansi256Color(color).on_default(), text)
    }

    fn with(&self, style: Style, text: &str) -> String {
        if self.color && !text.is_empty() { format!("{style}{text}{style:#}") } else { text.to_owned() }
    }
}
