//! The first screen as Markdown, for a forum or an issue.

use std::fmt::Write as _;

use likenew_core::findings::{Answer, Lead, OverviewTable, Standing, standing};
use likenew_core::quantity::Share;

use crate::document::Document;
use crate::labeled_document::LabeledDocument;
use crate::unit::clean;
use crate::wording;

/// Documents one below the other: summary, answers, table, commands, and what was measured.
pub fn markdown(documents: &[LabeledDocument]) -> String {
    let parts: Vec<String> = documents.iter().map(|document| document_text(&document.document)).collect();
    parts.join("\n---\n\n")
}

fn document_text(document: &Document) -> String {
    let mark = wording::mark(standing(&document.answers)).map_or_else(String::new, |mark| format!("{mark} "));
    let summary = wording::summary(document);
    let mut text = format!("**{mark}{}**\n", plain(&summary));
    let named = document.overview.answers.iter();
    let mut answers: Vec<&Answer> =
        named.filter_map(|id| document.answers.iter().find(|answer| answer.id == *id)).collect();
    if document.overview.lead == Lead::Table {
        let is_news = |answer: &&Answer| matches!(answer.standing, Standing::Problem | Standing::Unknown);
        answers.extend(document.answers.iter().filter(is_news));
    }
    answers.retain(|answer| !wording::is_said_in(&summary, answer));
    text += if answers.is_empty() { "" } else { "\n" };
    for answer in answers {
        let mark = wording::mark(answer.standing).map_or_else(String::new, |mark| format!("{mark} "));
        let _ = writeln!(text, "- {mark}{}", plain(&wording::answer(answer)));
    }
    if let Some(table) = document.overview_table() {
        text += &format!("\n{}", table_lines(table));
    }
    for (heading, actions) in wording::action_groups(document) {
        let commands = actions.iter().filter_map(|action| Some((clean(action.command.as_deref()?), action)));
        let commands: Vec<String> =
            commands.map(|(command, action)| format!("# {}\n{command}\n", wording::action(action))).collect();
        if !commands.is_empty() {
            let _ = write!(text, "\n{heading}:\n\n```sh\n{}```\n", commands.join("\n"));
        }
    }
    let target = &document.target;
    let model = target.model.as_deref().map_or_else(String::new, |model| format!(", {}", clean(model)));
    let measured = wording::measured_by(&document.procedure, &document.instrument.version);
    let _ = writeln!(text, "\n{measured}: `{}`{}", clean(&target.name), plain(&model));
    text
}

/// A text with everything escaped that Markdown would interpret.
fn plain(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    for letter in text.chars() {
        if matches!(letter, '\\' | '`' | '*' | '_' | '<' | '>' | '|' | '[' | ']' | '#' | '~') {
            plain.push('\\');
        }
        plain.push(letter);
    }
    plain
}

/// Aligns names left and values right. A last column has the shares that a terminal draws as bars.
fn table_lines(table: &OverviewTable) -> String {
    let has_shares = table.rows.iter().any(|row| row.share.is_some());
    let share = |share: Option<f64>| share.map_or_else(String::new, |share| Share(share).to_string());
    let line = |cells: &[String], last: String| {
        let cells = cells.iter().map(|cell| plain(&clean(cell))).chain(has_shares.then_some(last));
        format!("| {} |\n", cells.collect::<Vec<_>>().join(" | "))
    };
    let columns = table.headings.len() + usize::from(has_shares);
    let rule: String = (0..columns).map(|column| if column == 0 { "---|" } else { "---:|" }).collect();
    let rows: String = table.rows.iter().map(|row| line(&row.cells, share(row.share))).collect();
    format!("{}|{rule}\n{rows}", line(&table.headings, String::new()))
}

#[cfg(test)]
mod tests {
    use likenew_core::findings::{Action, Overview};

    use super::*;
    use crate::tests::fixtures;

    #[test]
    fn a_screen_can_be_pasted_into_an_issue() {
        let mut document = fixtures::sick();
        document.summary = "Writes are slow: 20 MB/s, 26% of new.".into();
        let cause = Answer::problem("cause", "Cause", "data on /mnt/my_disk | scattered")
            .action(Action::new("trim", "Tell the drive").command("likenew recondition /mnt/my_disk"));
        document.answers = vec![cause];
        let mut table = OverviewTable::new(["", "now", "when new"]);
        table.push_with_share(["sustained write", "20.0 MB/s", "77.0 MB/s"], Some(0.26));
        document.overview =
            Overview { answers: vec!["cause".into()], table: Some(table), ..Overview::default() };
        let text = document_text(&document);
        assert!(text.starts_with("**✗ Writes are slow: 20 MB/s, 26% of new.**\n\n- ✗ Cause: data on /mnt/my\\_disk \\| scattered\n"), "{text}");
        assert!(text.contains("|  | now | when new |  |\n|---|---:|---:|---:|\n| sustained write | 20.0 MB/s | 77.0 MB/s | 26% |\n"), "{text}");
        assert!(text.contains("```sh\n# Tell the drive"), "{text}");
        assert!(text.contains("likenew recondition /mnt/my_disk\n```"), "{text}");
    }
}
