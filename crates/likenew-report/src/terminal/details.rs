//! All parts of a document.

use super::Page;
use crate::compare::Group;
use crate::document::Document;
use crate::unit::clean;
use crate::wording;

impl Page {
    /// Summary, answers with evidence and actions, tables, charts, and how the run was made.
    pub(super) fn details(&self, group: &Group<'_>) -> Vec<String> {
        let mut blocks = Vec::new();
        for (member, name) in group.members.iter().zip(&group.names) {
            let mut block = String::new();
            if group.members.len() > 1 {
                let label = clean(&member.label);
                let heading = if *name == label { label } else { format!("{name} = {label}") };
                block = format!("{}\n", self.title(&heading));
            }
            block += &self.found(&member.document);
            blocks.push(block);
        }
        blocks.extend(group.tables().iter().map(|(title, grid)| self.table(title, grid)));
        let pictures = group.pictures();
        let shown = pictures.iter().filter(|picture| !picture.axis_implied);
        blocks.extend(shown.map(|picture| self.picture(picture)));
        blocks
    }

    /// Every answer; those of one line without blank lines between.
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

    fn found(&self, document: &Document) -> String {
        let mut parts = vec![self.headline(document, usize::MAX)];
        if let Some(table) = &document.overview.table
            && !table.rows.is_empty()
        {
            parts.push(self.overview_table(table, usize::MAX));
        }
        parts.extend(self.answers(document));
        let run = wording::run_details(document);
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
