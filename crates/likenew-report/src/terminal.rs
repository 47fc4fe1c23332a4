//! Documents as text for people: verdicts first, then tables, then pictures, within the width of a terminal.

mod bars;
mod chart;
mod heat;
mod paint;
mod plot;
mod shades;
mod tables;
mod verdicts;

use unicode_width::UnicodeWidthStr;

use crate::compare::{Group, groups};
use crate::labelled_document::LabelledDocument;
use crate::unit::clean;
use paint::Paint;

/// Where the text will be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Terminal {
    /// Columns of characters; below [`Terminal::WIDTH_MIN`] counts as that many. 80 where nothing is known.
    pub width: usize,
    /// Whether to use colour; without it the same is said in words.
    pub colour: bool,
}

impl Terminal {
    /// Narrower than this nothing can be set.
    pub const WIDTH_MIN: usize = 30;
}

impl Default for Terminal {
    fn default() -> Self {
        Self { width: 80, colour: false }
    }
}

/// The documents as text that ends with a newline; those of one procedure stand side by side.
pub fn show(documents: &[LabelledDocument], terminal: &Terminal) -> String {
    let page =
        Page { width: terminal.width.max(Terminal::WIDTH_MIN), paint: Paint { colour: terminal.colour } };
    let groups = groups(documents);
    let mut blocks = Vec::new();
    for group in &groups {
        if groups.len() > 1 {
            blocks.push(page.title(group.procedure));
        }
        blocks.extend(page.group(group));
    }
    // Cells and plots are padded to their full width; the ends of lines need not be.
    let text = blocks.join("\n");
    text.lines().map(|line| format!("{}\n", line.trim_end())).collect()
}

/// How the text is set.
struct Page {
    width: usize,
    paint: Paint,
}

impl Page {
    fn group(&self, group: &Group<'_>) -> Vec<String> {
        let mut blocks = Vec::new();
        for (member, name) in group.members.iter().zip(&group.names) {
            let mut block = String::new();
            if group.members.len() > 1 {
                let label = clean(&member.label);
                let heading = if *name == label { label } else { format!("{name} = {label}") };
                block = format!("{}\n", self.title(&heading).trim_end());
            }
            block += &self.verdicts(&member.document);
            block += &self.run_details(&member.document);
            blocks.push(block);
        }
        blocks.extend(group.tables().iter().map(|(title, grid)| self.table(title, grid)));
        let pictures = group.pictures();
        let shown = pictures.iter().filter(|picture| !picture.axis_implied);
        blocks.extend(shown.map(|picture| self.picture(picture)));
        blocks
    }

    /// Lines of text longer than a hundred columns are hard to read; tables may be wider.
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

    /// A note in lines that fit.
    fn faint_lines(&self, text: &str) -> String {
        let lines = self.wrap(text, "", 2);
        lines.iter().map(|line| format!("{}\n", self.paint.faint(line))).collect()
    }

    /// A text in lines that fit, each after an indent, the first after a `head` of the same width.
    fn wrap(&self, text: &str, head: &str, indent: usize) -> Vec<String> {
        let blank = " ".repeat(indent);
        let options = textwrap::Options::new(self.text_width())
            .initial_indent(head)
            .subsequent_indent(&blank)
            // Unicode would break MB/s after its slash.
            .word_separator(textwrap::WordSeparator::AsciiSpace)
            .word_splitter(textwrap::WordSplitter::NoHyphenation);
        textwrap::wrap(text, options).into_iter().map(|line| line.into_owned()).collect()
    }
}

#[cfg(test)]
mod tests;
