//! Verdicts and tables as HTML without script.

use maud::{Markup, PreEscaped, html};

use crate::compare::{Group, groups};
use crate::document::Document;
use crate::grid::{Grid, Heading};
use crate::labelled_document::LabelledDocument;
use crate::unit::clean;
use crate::wording::{Severity, estimate_words, run_details, severity, standing_word};

const STYLE: &str = include_str!("plain.css");
/// Cells of more letters than this go on over several lines.
const LONG: usize = 48;

/// What stands in the body of a page, with its style.
pub(super) fn body(documents: &[LabelledDocument]) -> String {
    markup(documents).into_string()
}

fn markup(documents: &[LabelledDocument]) -> Markup {
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
            (verdicts(&member.document))
            div class="about" { @for sentence in run_details(&member.document) { p { (sentence) } } }
        }
        @for (title, grid) in group.tables() { h2 { (title) } (table(&grid)) }
        @if charts > 0 {
            p class="about" { "Pictures need a browser with scripts on, and a likenew that was built with its web page." }
        }
    }
}

fn title(name: &str, label: &str) -> String {
    if name == label { label.to_owned() } else { format!("{name} = {label}") }
}

fn verdicts(document: &Document) -> Markup {
    html! {
        @for verdict in &document.verdicts {
            article {
                h3 { (clean(&verdict.claim)) }
                p class={ "standing " (class(severity(verdict))) } {
                    (standing_word(verdict))
                    @if let Some(estimate) = &verdict.estimate { ": " (estimate_words(estimate)) }
                }
                ul {
                    @for sentence in &verdict.evidence { li { (clean(sentence)) } }
                    @for sentence in &verdict.caveats { li { "Caveat: " (clean(sentence)) } }
                }
            }
        }
    }
}

fn class(mood: Severity) -> &'static str {
    match mood {
        Severity::Good => "good",
        Severity::Bad => "bad",
        Severity::Doubtful => "doubtful",
    }
}

fn table(grid: &Grid) -> Markup {
    let class = |heading: &Heading| heading.number.then_some("number");
    let is_long = |cell: &str| cell.chars().count() > LONG;
    let cell_class =
        |heading: &Heading, cell: &str| class(heading).or_else(|| is_long(cell).then_some("sentence"));
    html! {
        @if grid.rows.is_empty() { p { "no rows" } } @else {
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
