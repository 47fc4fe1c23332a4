//! Answers and actions within a width, and the details of a document.

use likenew_core::findings::{Action, Answer, Loss, Standing};
use unicode_width::UnicodeWidthStr;

use super::Page;
use crate::compare::Group;
use crate::document::Document;
use crate::labeled_document::LabeledDocument;
use crate::unit::clean;
use crate::wording;

/// Indent below an answer or a command.
const INDENT: usize = 4;

impl Page {
    /// A text after the mark of its standing, in at most this many lines; the later lines are aligned with the text.
    pub(super) fn marked(&self, standing: Standing, text: &str, indent: usize, most: usize) -> Vec<String> {
        let blank = " ".repeat(indent);
        let Some(mark) = wording::mark(standing) else {
            return self.wrap_at_most(text, &blank, indent, most);
        };
        let below = indent + mark.width() + 1;
        let lines = self.wrap_at_most(text, &format!("{blank}{mark} "), below, most);
        let painted = self.paint.standing(standing, mark);
        lines.into_iter().enumerate().map(|(at, line)| first(at, line, mark, &painted)).collect()
    }

    /// An answer with all of its evidence and actions.
    pub(super) fn whole_answer(&self, answer: &Answer) -> Vec<String> {
        let mut lines = self.marked(answer.standing, &wording::answer(answer), 0, usize::MAX);
        let blank = " ".repeat(INDENT);
        if let Some(interval) = wording::interval(answer) {
            lines.extend(self.wrap(&interval, &blank, INDENT));
        }
        for sentence in &answer.evidence {
            lines.extend(self.wrap(&clean(sentence), &blank, INDENT));
        }
        for sentence in &answer.caveats {
            lines.extend(self.wrap(&wording::caveat(sentence), &blank, INDENT));
        }
        for action in &answer.actions {
            lines.extend(self.action(action, INDENT));
            if let Some(undo) = &action.undo {
                let indent = INDENT + 2;
                lines.extend(self.wrap(&wording::undo(undo), &" ".repeat(indent), indent));
            }
        }
        lines
    }

    /// The command of an action, and below it the action's effect, loss and cost.
    fn action(&self, action: &Action, indent: usize) -> Vec<String> {
        let mut lines = self.command(action, indent);
        lines.extend(self.effect(action, indent, usize::MAX));
        lines
    }

    /// The command of an action, in lines that can be pasted.
    pub(super) fn command(&self, action: &Action, indent: usize) -> Vec<String> {
        let Some(command) = &action.command else { return Vec::new() };
        let lines = shell_lines(&clean(command), indent, self.width);
        lines.iter().map(|line| self.paint.strong(line)).collect()
    }

    /// Effect, loss and cost of an action for below its command, in at most this many lines.
    pub(super) fn effect(&self, action: &Action, indent: usize, most: usize) -> Vec<String> {
        let indent = indent + if action.command.is_some() { 2 } else { 0 };
        let warning = wording::loss(Loss::Everything);
        // The warning stays on one line, so that all of it is colored.
        let unbroken = warning.replace(' ', "\u{a0}");
        let text = wording::action(action).replacen(warning, &unbroken, 1);
        let lines = self.wrap_at_most(&text, &" ".repeat(indent), indent, most);
        lines
            .into_iter()
            .map(|line| line.replacen(&unbroken, &self.paint.standing(Standing::Problem, warning), 1))
            .collect()
    }
}

fn first(at: usize, line: String, mark: &str, painted: &str) -> String {
    if at == 0 { line.replacen(mark, painted, 1) } else { line }
}

/// A command in lines that fit the width and can be pasted into a shell: all but the last end with a
/// backslash. It breaks only at spaces outside of quotes.
pub(super) fn shell_lines(command: &str, indent: usize, width: usize) -> Vec<String> {
    let mut lines = vec![" ".repeat(indent)];
    for word in shell_words(command) {
        let line = lines.last_mut().expect("there is a first line");
        // Leaves room for the backslash, in case another word follows.
        let fits = line.width() + 1 + word.width() + 2 <= width;
        if line.trim().is_empty() {
            line.push_str(word);
        } else if fits {
            line.push(' ');
            line.push_str(word);
        } else {
            line.push_str(" \\");
            lines.push(format!("{}{word}", " ".repeat(indent + 2)));
        }
    }
    lines
}

/// The words of a command, including quotes.
fn shell_words(command: &str) -> Vec<&str> {
    let mut quote = None;
    let mut escaped = false;
    let outside = |c: char| {
        let is_space = c == ' ' && quote.is_none() && !escaped;
        let was_escaped = std::mem::take(&mut escaped);
        match quote {
            Some(open) if c == open && !was_escaped => quote = None,
            None if matches!(c, '\'' | '"') && !was_escaped => quote = Some(c),
            None if c == '\\' && !was_escaped => escaped = true,
            Some('"') if c == '\\' && !was_escaped => escaped = true,
            _ => {}
        }
        is_space
    };
    command.split(outside).filter(|word| !word.is_empty()).collect()
}

impl Page {
    /// The details: summary, answers with evidence and actions, how the run was made, tables, and charts.
    pub(super) fn details(&self, group: &Group<'_>) -> Vec<String> {
        let mut blocks = self.results_and_tables(group);
        let pictures = group.pictures();
        let shown = pictures.iter().filter(|picture| !picture.axis_implied);
        blocks.extend(shown.map(|picture| self.picture(picture)));
        blocks
    }

    /// The details without charts.
    pub(super) fn results_and_tables(&self, group: &Group<'_>) -> Vec<String> {
        let mut blocks = Vec::new();
        for (member, name) in group.members.iter().zip(&group.names) {
            let mut block = String::new();
            if group.members.len() > 1 {
                block = format!("{}\n", self.title(&wording::name_and_label(name, &member.label)));
            }
            block += &self.results(member);
            blocks.push(block);
        }
        blocks.extend(group.tables().iter().map(|(title, grid)| self.table(title, grid)));
        blocks
    }

    /// All answers; those of one line have no blank lines between them.
    fn answers(&self, document: &Document) -> Vec<Vec<String>> {
        let mut parts: Vec<Vec<String>> = Vec::new();
        let mut is_close = false;
        for answer in &document.answers {
            let lines = self.whole_answer(answer);
            let is_short = lines.len() == 1;
            match parts.last_mut() {
                Some(last) if is_short && is_close => last.extend(lines),
                _ => parts.push(lines),
            }
            is_close = is_short;
        }
        parts
    }

    fn results(&self, labeled: &LabeledDocument) -> String {
        let document = &labeled.document;
        let mut parts = vec![self.headline(document, usize::MAX)];
        if let Some(table) = document.overview_table() {
            parts.push(self.overview_table(table, usize::MAX));
        }
        parts.extend(self.answers(document));
        let run = wording::run_details(document, labeled.started_at.as_deref());
        parts.push(
            run.iter()
                .flat_map(|sentence| self.wrap(sentence, "", 2))
                .map(|line| self.paint.faint(&line))
                .collect(),
        );
        let parts: Vec<String> =
            parts.iter().map(|lines| lines.iter().map(|line| format!("{line}\n")).collect()).collect();
        parts.join("\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_commands_break_where_a_shell_lets_them() {
        let command = "likenew check '/mnt/my photos' --advertised read=550MB/s,write=500MB/s";
        assert_eq!(
            shell_lines(command, 2, 40),
            ["  likenew check '/mnt/my photos' \\", "    --advertised \\", "    read=550MB/s,write=500MB/s"]
        );
        assert_eq!(shell_lines(command, 2, 100), [format!("  {command}")]);
        assert_eq!(shell_words(r#"a "b \" c" d\ e 'f'"#), ["a", r#""b \" c""#, r"d\ e", "'f'"]);
    }
}
