//! Shows documents as text within a terminal's width: one screen, everything, or one line.

mod answers;
mod chart;
mod paint;
mod screen;
mod tables;

use unicode_width::UnicodeWidthStr;

use crate::compare::{Group, groups};
use crate::document::COMPARISON;
use crate::labeled_document::LabeledDocument;
pub use crate::unit::{clean, escape_steering, steers};
use crate::wording;
use paint::Paint;

/// How much of a document to show.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum View {
    /// One screen: at most 30 lines.
    #[default]
    Screen,
    /// Everything.
    Details,
    /// One line: mark and summary.
    Line,
}

/// The properties of a terminal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Terminal {
    /// Columns of characters; at least [`Terminal::WIDTH_MIN`]. 80 if unknown.
    pub width: usize,
    /// Whether to use color; without it, words say the same.
    pub color: bool,
    /// How much to show.
    pub view: View,
    /// The command that shows the details, for the last line of a screen.
    pub details_command: Option<String>,
}

impl Terminal {
    /// Fewest columns that text is formatted for.
    pub const WIDTH_MIN: usize = 30;
}

impl Default for Terminal {
    fn default() -> Self {
        Self { width: 80, color: false, view: View::Screen, details_command: None }
    }
}

/// The documents as text that ends with a newline: those of one procedure side by side, below their comparison if it is first.
pub fn show(documents: &[LabeledDocument], terminal: &Terminal) -> String {
    let page = Page {
        width: terminal.width.max(Terminal::WIDTH_MIN),
        rows_max: ROWS_MAX,
        paint: Paint { color: terminal.color },
    };
    let mut groups = groups(documents);
    let mut comparisons = Vec::new();
    if terminal.view == View::Screen {
        let parts = groups.into_iter().partition(|group| group.procedure == COMPARISON);
        (comparisons, groups) = parts;
    }
    let comparison_of = |group: &Group<'_>| {
        let documents = comparisons.iter().flat_map(|group| &group.members).map(|member| &member.document);
        documents.into_iter().find(|document| document.compared_procedure() == Some(group.procedure))
    };
    let mut blocks = Vec::new();
    for group in &groups {
        if groups.len() > 1 && terminal.view != View::Line {
            blocks.push(page.title(group.procedure));
        }
        match terminal.view {
            View::Screen => {
                blocks.push(page.screen(group, comparison_of(group), terminal.details_command.as_deref()))
            }
            View::Details => blocks.extend(page.details(group)),
            View::Line => blocks.push(page.lines(group)),
        }
    }
    trimmed(&blocks.join(if terminal.view == View::Line { "" } else { "\n" }))
}

/// Columns of a text in a browser, where wider tables are hard to read. Chosen.
const PLAIN_WIDTH: usize = 120;

/// All documents as text without charts, with all rows of all tables: there is no other place that has them.
pub(crate) fn plain(documents: &[LabeledDocument]) -> String {
    let page = Page { width: PLAIN_WIDTH, rows_max: usize::MAX, paint: Paint { color: false } };
    let groups = groups(documents);
    let mut blocks = Vec::new();
    for group in &groups {
        if groups.len() > 1 {
            blocks.push(page.title(group.procedure));
        }
        blocks.extend(page.results_and_tables(group));
        if !group.pictures().is_empty() {
            blocks.push(page.faint_lines(wording::PICTURES_NEED_SCRIPTS));
        }
    }
    trimmed(&blocks.join("\n"))
}

/// Cells and plots are padded to their full width, but lines need no spaces at their end.
fn trimmed(text: &str) -> String {
    text.lines().map(|line| format!("{}\n", line.trim_end())).collect()
}

/// Most rows of a table that is shown whole: a longer table is evidence rather than an answer.
const ROWS_MAX: usize = 24;

/// How to format the text.
struct Page {
    width: usize,
    /// Most rows of a table that is shown whole.
    rows_max: usize,
    paint: Paint,
}

impl Page {
    /// Text wider than a hundred columns is hard to read; tables may be wider.
    fn text_width(&self) -> usize {
        self.width.min(100)
    }

    fn title(&self, text: &str) -> String {
        let mut lines = self.wrap(&clean(text), "", 0);
        let last = lines.pop().unwrap_or_default();
        let rule = "─".repeat(self.text_width().saturating_sub(last.width() + 1));
        let above: String = lines.iter().map(|line| format!("{}\n", self.paint.strong(line))).collect();
        format!("{above}{} {}\n", self.paint.strong(&last), self.paint.faint(&rule))
    }

    /// A note in faint color, wrapped.
    fn faint_lines(&self, text: &str) -> String {
        let lines = self.wrap(text, "", 2);
        lines.iter().map(|line| format!("{}\n", self.paint.faint(line))).collect()
    }

    /// Wraps a text. Each line has an indent; the first has `head`, of the same width, instead.
    fn wrap(&self, text: &str, head: &str, indent: usize) -> Vec<String> {
        wrap(text, head, indent, self.text_width())
    }

    /// Wraps a text into at most `most` lines, with an ellipsis if any are left out.
    fn wrap_at_most(&self, text: &str, head: &str, indent: usize, most: usize) -> Vec<String> {
        let mut lines = self.wrap(text, head, indent);
        if lines.len() <= most {
            return lines;
        }
        lines.truncate(most);
        if let Some(last) = lines.last_mut() {
            while last.width() >= self.text_width() && last.pop().is_some() {}
            *last = format!("{}…", last.trim_end().trim_end_matches(['.', ',', ';', ':']));
        }
        lines
    }
}

/// Wraps a text to this width. Each line has an indent; the first has `head`, of the same width, instead.
fn wrap(text: &str, head: &str, indent: usize, width: usize) -> Vec<String> {
    let blank = " ".repeat(indent);
    let options = textwrap::Options::new(width)
        .initial_indent(head)
        .subsequent_indent(&blank)
        // Unicode would break MB/s after its slash.
        .word_separator(textwrap::WordSeparator::AsciiSpace)
        .word_splitter(textwrap::WordSplitter::NoHyphenation);
    textwrap::wrap(text, options).into_iter().map(|line| line.into_owned()).collect()
}

#[cfg(test)]
mod tests;
