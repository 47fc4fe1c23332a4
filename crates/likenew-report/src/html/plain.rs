//! Answers and tables as HTML without scripts.

use likenew_core::findings::{Action, Answer, OverviewTable, Standing, standing};
use likenew_core::quantity::Share;
use maud::{Markup, PreEscaped, html};

use crate::compare::{Group, groups};
use crate::document::Document;
use crate::grid::{Grid, Heading};
use crate::labeled_document::LabeledDocument;
use crate::overview_cell::is_number_column;
use crate::unit::clean;
use crate::wording;

const STYLE: &str = include_str!("plain.css");
/// Cells with more characters than this are wrapped.
const LONG: usize = 48;

/// The body of a page, with its style.
pub(super) fn body(documents: &[LabeledDocument]) -> String {
    markup(documents).into_string()
}

fn markup(documents: &[LabeledDocument]) -> Markup {
    let groups = groups(documents);
    html! {
        style { (PreEscaped(STYLE)) }
        main class="plain" {
            @for group in &groups {
                @if groups.len() > 1 { h1 { (clean(group.procedure)) } }
                (section(group))
            }
        }
    }
}

fn section(group: &Group<'_>) -> Markup {
    let charts = group.pictures().len();
    html! {
        @for (member, name) in group.members.iter().zip(&group.names) {
            @if group.members.len() > 1 { h2 { (title(name, &clean(&member.label))) } }
            (found(&member.document))
        }
        @for (title, grid) in group.tables() { h2 { (title) } (table(&grid)) }
        @if charts > 0 { p class="about" { (wording::PICTURES_NEED_SCRIPTS) } }
        @for member in &group.members {
            div class="about" { @for sentence in wording::run_details(&member.document) { p { (sentence) } } }
        }
    }
}

fn title(name: &str, label: &str) -> String {
    if name == label { label.to_owned() } else { format!("{name} = {label}") }
}

/// The headline, its table, the actions, and every answer with its evidence.
fn found(document: &Document) -> Markup {
    html! {
        p class="headline" { (mark(standing(&document.answers))) (wording::summary(document)) }
        @if let Some(table) = &document.overview.table { @if !table.rows.is_empty() { (overview(table)) } }
        (actions(wording::FIX_IT, document, Standing::Problem))
        (actions(wording::TO_DECIDE, document, Standing::Unknown))
        @for answer in &document.answers { (whole_answer(answer)) }
    }
}

fn mark(standing: Standing) -> Markup {
    html! {
        @if let (Some(mark), Some(meaning)) = (wording::mark(standing), wording::mark_meaning(standing)) {
            span class={ "mark " (class(standing)) } title=(meaning) { (mark) } " "
        }
    }
}

fn class(standing: Standing) -> &'static str {
    match standing {
        Standing::Good => "good",
        Standing::Problem => "problem",
        Standing::Unknown => "unknown",
        Standing::Info => "info",
    }
}

fn overview(table: &OverviewTable) -> Markup {
    let bars = table.rows.iter().any(|row| row.share.is_some());
    let numbers: Vec<bool> = (0..table.headings.len()).map(|at| is_number_column(&table.rows, at)).collect();
    let class = |at: usize| numbers.get(at).is_some_and(|number| *number).then_some("number");
    html! {
        div class="wide" {
            table class="overview" {
                thead { tr {
                    @for (at, heading) in table.headings.iter().enumerate() { th scope="col" class=[class(at)] { (clean(heading)) } }
                    @if bars { th {} }
                } }
                tbody { @for row in &table.rows { tr {
                    @for (at, cell) in row.cells.iter().enumerate() { td class=[class(at)] { (clean(cell)) } }
                    @if bars { td { @if let Some(share) = row.share { (bar(share)) } } }
                } } }
            }
        }
    }
}

fn bar(share: f64) -> Markup {
    let percent = (share * 100.0).clamp(0.0, 100.0);
    html! { span class="bar" { span style={ "width:" (format!("{percent:.1}")) "%" } {} } " " (Share(share)) }
}

/// The actions for all answers of a standing, each command once.
fn actions(heading: &str, document: &Document, standing: Standing) -> Markup {
    let actions = wording::distinct_actions(document, standing);
    html! {
        @if !actions.is_empty() { h3 { (heading) } @for action in actions { (whole_action(action)) } }
    }
}

fn whole_action(action: &Action) -> Markup {
    html! {
        div class="action" {
            @if let Some(command) = &action.command { pre { (clean(command)) } }
            p { (wording::action(action)) }
            @if let Some(undo) = &action.undo { p { (wording::undo(undo)) } }
        }
    }
}

fn whole_answer(answer: &Answer) -> Markup {
    let interval = wording::interval(answer);
    let is_short = interval.is_none()
        && answer.evidence.is_empty()
        && answer.caveats.is_empty()
        && answer.actions.is_empty();
    html! {
        @if is_short { p { (mark(answer.standing)) (wording::answer(answer)) } } @else {
            details {
                summary { (mark(answer.standing)) (wording::answer(answer)) }
                @if let Some(interval) = &interval { p { (interval) } }
                @for sentence in &answer.evidence { p { (clean(sentence)) } }
                @for sentence in &answer.caveats { p { (wording::caveat(sentence)) } }
                @for action in &answer.actions { (whole_action(action)) }
            }
        }
    }
}

fn table(grid: &Grid) -> Markup {
    let class = |heading: &Heading| heading.number.then_some("number");
    let is_long = |cell: &str| cell.chars().count() > LONG;
    let cell_class =
        |heading: &Heading, cell: &str| class(heading).or_else(|| is_long(cell).then_some("sentence"));
    html! {
        @if grid.rows.is_empty() { p { (wording::NO_ROWS) } } @else {
            div class="wide" {
                table {
                    thead { tr { @for heading in &grid.headings {
                        th scope="col" class=[class(heading)] {
                            (heading.text) @if let Some(of) = &heading.document { "\n" (of) }
                        }
                    } } }
                    tbody { @for row in &grid.rows {
                        tr { @for (heading, cell) in grid.headings.iter().zip(row) { td class=[cell_class(heading, cell)] { (cell) } } }
                    } }
                }
            }
        }
    }
}
