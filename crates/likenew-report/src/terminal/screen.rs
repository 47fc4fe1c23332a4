//! One screen of a document: the answer, its table, a plot if there is room, and the actions, in a fixed
//! number of lines.

use std::collections::HashSet;

use likenew_core::findings::{Action, Answer, Lead, OverviewTable, Standing, standing};
use unicode_width::UnicodeWidthStr;

use super::Page;
use super::answers::shell_lines;
use crate::compare::{Group, Picture};
use crate::document::Document;
use crate::unit::clean;
use crate::wording;

/// Columns from which a screen has fewer lines, because fewer lines are wrapped.
const WIDE_FROM: usize = 100;
/// Lines of a wide screen: fits a terminal of 80 by 25 with its prompt.
const LINES_WIDE: usize = 24;
/// Lines of a narrower screen.
const LINES_NARROW: usize = 30;
/// Most lines of a headline.
const HEADLINE_MAX: usize = 6;
/// Most lines of each headline, if there are several.
const HEADLINE_OF_SEVERAL_MAX: usize = 3;
/// Most lines of listed answers.
const ANSWERS_MAX: usize = 8;
/// Most lines of one listed answer.
const ANSWER_MAX: usize = 2;
/// Most lines of remarks below a table that comes first, because the table often says the same.
const REMARKS_MAX: usize = 4;
/// Rows of a table of several documents that headlines leave room for.
const ROWS_MIN: usize = 4;
/// Lines of actions that a long table leaves room for: a heading, a command, its effect, and how many are left out.
const ACTION_LINES_MIN: usize = 5;
/// Most actions.
const ACTIONS_MAX: usize = 4;
/// Most lines about an action, below its command.
const EFFECT_MAX: usize = 2;
/// Fewest lines of a plot.
const PLOT_MIN: usize = 8;

/// Actions under one heading, each as lines.
struct ActionGroup {
    heading: &'static str,
    actions: Vec<Vec<String>>,
}

impl Page {
    /// The documents of one procedure, on one screen.
    pub(super) fn screen(
        &self,
        group: &Group<'_>,
        comparison: Option<&Document>,
        details_command: Option<&str>,
    ) -> String {
        let mut lines = match &group.members[..] {
            [only] => self.screen_of_one(&only.document, details_command),
            _ => self.screen_of_several(group, comparison, details_command),
        };
        lines.truncate(self.lines_max());
        lines.iter().map(|line| format!("{line}\n")).collect()
    }

    /// Mark and summary of each document, in one line each.
    pub(super) fn lines(&self, group: &Group<'_>) -> String {
        let several = group.members.len() > 1;
        let mut text = String::new();
        for member in &group.members {
            let document = &member.document;
            let standing = standing(&document.answers);
            if let Some(mark) = wording::mark(standing) {
                text += &format!("{} ", self.paint.standing(standing, mark));
            }
            if several {
                text += &format!("{}: ", clean(&member.label));
            }
            text += &format!("{}\n", wording::summary(document));
        }
        text
    }

    fn lines_max(&self) -> usize {
        if self.width >= WIDE_FROM { LINES_WIDE } else { LINES_NARROW }
    }

    fn screen_of_one(&self, document: &Document, details_command: Option<&str>) -> Vec<String> {
        let table = document.overview_table();
        let table_first = document.overview.lead == Lead::Table && table.is_some();
        let head = if table_first { self.remarks(document) } else { self.head(document, table.is_none()) };
        let last = self.last_line(details_command, wording::cost(document).as_deref());
        let mut room = self.lines_max().saturating_sub(section(&head) + last.len());

        // Rows take precedence over all actions but the first; the plot takes what is left.
        let table_lines = table.map_or(0, |table| self.overview_table(table, self.lines_max()).len() + 1);
        let for_actions = room.saturating_sub(table_lines).max(ACTION_LINES_MIN.min(room));
        let actions = self.actions(document, for_actions);
        room = room.saturating_sub(section(&actions));
        let table = table.map_or_else(Vec::new, |table| self.table_within(table, room));
        room = room.saturating_sub(section(&table));
        let plot = if room > PLOT_MIN { self.overview_plot(document, room - 1) } else { Vec::new() };

        let mut sections = if table_first { vec![table, head] } else { vec![head, table] };
        sections.extend([plot, actions, last]);
        join(sections)
    }

    /// The summary after its mark, in at most this many lines.
    pub(super) fn headline(&self, document: &Document, most: usize) -> Vec<String> {
        let (standing, text) = (standing(&document.answers), wording::summary(document));
        let Some(mark) = wording::mark(standing) else {
            return self
                .wrap_at_most(&text, "", 0, most)
                .iter()
                .map(|line| self.paint.strong(line))
                .collect();
        };
        let lines = self.wrap_at_most(&text, "  ", 2, most);
        let strong = |(at, line): (usize, &String)| {
            let text = self.paint.strong(line.trim_start());
            if at == 0 {
                format!("{} {text}", self.paint.standing(standing, mark))
            } else {
                format!("  {text}")
            }
        };
        lines.iter().enumerate().map(strong).collect()
    }

    /// The headline, and the answers that the overview names unless the headline contains them. If there is
    /// neither list nor table, all answers are shown.
    fn head(&self, document: &Document, is_all_there_is: bool) -> Vec<String> {
        let mut lines = self.headline(document, HEADLINE_MAX);
        let named = &document.overview.answers;
        let answers: Vec<&Answer> = if named.is_empty() && is_all_there_is {
            document.answers.iter().collect()
        } else {
            named
                .iter()
                .flat_map(|id| document.answers.iter().filter(move |answer| answer.id == *id))
                .collect()
        };
        let summary = wording::summary(document);
        let news = answers.iter().filter(|answer| !wording::is_said_in(&summary, answer));
        let listed = news.map(|answer| self.listed(answer)).collect();
        lines.extend(self.at_most(listed, ANSWERS_MAX));
        lines
    }

    /// Answers other than plain measurements, and those that the overview names, for a screen that begins with its table.
    fn remarks(&self, document: &Document) -> Vec<String> {
        let remarkable = |answer: &&Answer| {
            matches!(answer.standing, Standing::Problem | Standing::Unknown)
                || document.overview.answers.contains(&answer.id)
        };
        let listed = document.answers.iter().filter(remarkable).map(|answer| self.listed(answer));
        self.at_most(listed.collect(), REMARKS_MAX)
    }

    /// An answer below a headline; only problems and open questions have a mark there.
    fn listed(&self, answer: &Answer) -> Vec<String> {
        // A cause belongs to the problem in the headline, which has the mark.
        let is_unmarked = answer.standing == Standing::Good || answer.is_known_cause();
        let standing = if is_unmarked { Standing::Info } else { answer.standing };
        self.marked(standing, &wording::answer(answer), 2, ANSWER_MAX)
    }

    fn at_most(&self, listed: Vec<Vec<String>>, lines_max: usize) -> Vec<String> {
        let total: usize = listed.iter().map(Vec::len).sum();
        let room = if total <= lines_max { total } else { lines_max - 1 };
        let (mut lines, mut shown) = (Vec::new(), 0);
        for answer in &listed {
            if lines.len() + answer.len() > room {
                break;
            }
            lines.extend(answer.iter().cloned());
            shown += 1;
        }
        if shown < listed.len() {
            let more = wording::more(listed.len() - shown, "answer", "answers");
            lines.push(self.paint.faint(&format!("  {more}")));
        }
        lines
    }

    fn table_within(&self, table: &OverviewTable, room: usize) -> Vec<String> {
        // A blank line precedes the table; headings without rows are left out.
        if room < 3 { Vec::new() } else { self.overview_table(table, room - 1) }
    }

    /// Actions that fix problems or decide open questions, in at most this many lines, each command once.
    fn actions(&self, document: &Document, lines_max: usize) -> Vec<String> {
        let mut room = ACTIONS_MAX;
        let mut known = HashSet::new();
        let mut groups = Vec::new();
        let mut left_out = 0;
        for (heading, mut actions) in wording::action_groups(document) {
            actions.retain(|action| known.insert(wording::action_key(action)));
            let shown = actions.len().min(room);
            room -= shown;
            left_out += actions.len() - shown;
            let actions = actions[..shown].iter().map(|action| self.short_action(action)).collect();
            groups.push(ActionGroup { heading, actions });
        }
        self.action_lines(groups, left_out, lines_max)
    }

    fn short_action(&self, action: &Action) -> Vec<String> {
        let indent = 4;
        // A command that is cut cannot be pasted, so it keeps all of its lines.
        let mut lines = self.command(action, indent);
        lines.extend(self.effect(action, indent, EFFECT_MAX));
        lines
    }

    fn action_lines(
        &self,
        mut groups: Vec<ActionGroup>,
        mut left_out: usize,
        lines_max: usize,
    ) -> Vec<String> {
        loop {
            groups.retain(|group| !group.actions.is_empty());
            let mut lines = Vec::new();
            for group in &groups {
                lines.push(format!("  {}", self.paint.strong(group.heading)));
                lines.extend(group.actions.iter().flatten().cloned());
            }
            if left_out > 0 && !lines.is_empty() {
                let more = wording::more(left_out, "action", "actions");
                lines.push(self.paint.faint(&format!("    {more}")));
            }
            if section(&lines) <= lines_max {
                return lines;
            }
            let Some(last) = groups.last_mut() else { return Vec::new() };
            last.actions.pop();
            left_out += 1;
        }
    }

    fn overview_plot(&self, document: &Document, lines_max: usize) -> Vec<String> {
        let series = document.overview.series.as_ref().and_then(|name| document.series.get(name));
        let Some(series) = series else { return Vec::new() };
        let picture = Picture::alone(series.clone());
        self.picture_within(&picture, lines_max)
    }

    /// The command that shows the rest, and the cost of the run. A command that does not fit is broken into
    /// lines that can be pasted, with the cost on a line of its own.
    fn last_line(&self, details_command: Option<&str>, cost: Option<&str>) -> Vec<String> {
        let command = details_command.map(clean);
        let Some(text) = wording::last_line(command.as_deref(), cost) else { return Vec::new() };
        // Several spaces separate the cost; wrapping would keep them only within one line.
        if text.width() <= self.text_width() {
            return vec![self.paint.faint(&text)];
        }
        let mut lines = match wording::last_line(command.as_deref(), None) {
            Some(line) if line.width() <= self.text_width() => vec![line],
            _ => command.map_or_else(Vec::new, |command| self.details_lines(&command)),
        };
        if let Some(cost) = wording::last_line(None, cost) {
            lines.extend(self.wrap_at_most(&cost, "", 2, 2));
        }
        lines.iter().map(|line| self.paint.faint(line)).collect()
    }

    fn details_lines(&self, command: &str) -> Vec<String> {
        let mut lines = vec![wording::DETAILS.to_owned()];
        lines.extend(shell_lines(command, 2, self.text_width()));
        lines
    }

    /// How the documents differ, their speeds side by side, and a headline for each. Without a comparison:
    /// the headlines and the table that all have in common.
    fn screen_of_several(
        &self,
        group: &Group<'_>,
        comparison: Option<&Document>,
        details_command: Option<&str>,
    ) -> Vec<String> {
        let tables = if comparison.is_some() { Vec::new() } else { group.tables() };
        let last = self.last_line(details_command, None);
        let difference = comparison.map_or_else(Vec::new, |document| self.headline(document, HEADLINE_MAX));
        let speeds = comparison.and_then(|comparison| comparison.overview.table.as_ref());
        let mut headlines = Vec::new();
        for (member, name) in group.members.iter().zip(&group.names) {
            let document = &member.document;
            let name = wording::name_and_label(name, &member.label);
            let text = format!("{name}: {}", wording::summary(document));
            headlines.push(self.marked(standing(&document.answers), &text, 0, HEADLINE_OF_SEVERAL_MAX));
        }
        // The title separates these headlines from the difference, which answers another question.
        let title = comparison.map(|_| self.paint.strong(wording::EACH_BY_ITSELF));
        let difference_lines = section(&difference) + usize::from(title.is_some());
        let table_min = if tables.is_empty() && speeds.is_none() { 0 } else { 1 + 3 + ROWS_MIN };
        let room = self.lines_max().saturating_sub(difference_lines + last.len() + 1 + table_min);
        let mut head: Vec<String> = headlines.iter().flatten().cloned().collect();
        if head.len() > room {
            head = headlines.iter().map(|lines| lines[0].clone()).collect();
        }
        if head.len() > room {
            let more = wording::more(head.len() + 1 - room, "document", "documents");
            head.truncate(room - 1);
            head.push(self.paint.faint(&more));
        }
        let room = self.lines_max().saturating_sub(difference_lines + head.len() + 1 + last.len() + 1);
        let head = title.into_iter().chain(head).collect();
        match speeds {
            Some(speeds) => join(vec![difference, self.table_within(speeds, room + 1), head, last]),
            None => {
                let table = tables.first();
                let table = table.map_or_else(Vec::new, |(title, grid)| self.cut_table(title, grid, room));
                join(vec![difference, head, table, last])
            }
        }
    }
}

/// The number of lines of a section, with the blank line after it.
fn section(lines: &[String]) -> usize {
    if lines.is_empty() { 0 } else { lines.len() + 1 }
}

/// Joins sections with blank lines between them.
fn join(sections: Vec<Vec<String>>) -> Vec<String> {
    let mut lines = Vec::new();
    for section in sections.into_iter().filter(|section| !section.is_empty()) {
        if !lines.is_empty() {
            lines.push(String::new());
        }
        lines.extend(section);
    }
    lines
}
