//! Documents as one HTML file that needs neither network nor server.
//!
//! The file is the page that Vite builds from `web/`, with the documents inside. For readers without scripts,
//! `<noscript>` has answers and tables as plain HTML.

use likenew_core::findings::{Action, Answer, OverviewTable, Standing, standing};
use likenew_core::quantity::Share;
use maud::{Markup, PreEscaped, html};

use super::column::{Grid, Heading, is_number_column};
use super::compare::{Group, groups};
use super::document::{Document, ReportError, check_numbers};
use super::labeled_document::LabeledDocument;
use super::unit::clean;
use super::wording;

/// The page that `build.rs` has built or found.
const PAGE: &str = include_str!(concat!(env!("OUT_DIR"), "/page.html"));

/// The placeholder for the documents in the bundle.
const DOCUMENTS_PLACE: &str = include_str!("html/documents.place").trim_ascii();
/// The placeholder for the plain page in the bundle.
const PLAIN_PLACE: &str = include_str!("html/plain.place").trim_ascii();

/// The documents as one HTML file.
///
/// # Errors
/// [`ReportError::NotFinite`] when a number in a document is infinite or not a number.
pub fn page(documents: &[LabeledDocument]) -> Result<String, ReportError> {
    page_in(PAGE, documents)
}

/// The page for a server, which provides documents and progress on request.
pub fn live_page() -> String {
    fill(PAGE, "likenew-server", "true", wording::NEEDS_SCRIPTS)
}

/// Drives over time as one HTML file. `data` is JSON as `likenew_history::page_json` writes it; `plain` is
/// the same for readers without scripts.
pub fn history_page(data: &str, plain: &str) -> String {
    let plain = html! {
        style { (PreEscaped(STYLE)) }
        main class="plain" { pre { @for line in plain.lines() { (clean(line)) "\n" } } }
    };
    fill(PAGE, "likenew-view", data, &plain.into_string())
}

fn page_in(bundle: &str, documents: &[LabeledDocument]) -> Result<String, ReportError> {
    documents.iter().try_for_each(|labeled| check_numbers(&labeled.document))?;
    let json = serde_json::to_string(documents).expect("a document has only text keys");
    Ok(fill(bundle, "likenew-documents", &json, &body(documents)))
}

/// The bundle with data for its scripts, and a page for readers without them. The data cannot end its block or contain
/// the second placeholder, because it has no `<`.
fn fill(bundle: &str, id: &str, json: &str, plain: &str) -> String {
    let (before, after) = bundle.split_once(DOCUMENTS_PLACE).expect("the build checked the bundle's places");
    let json = json.replace('<', "\\u003c");
    let page = format!("{before}<script type=\"application/json\" id=\"{id}\">{json}</script>{after}");
    page.replacen(PLAIN_PLACE, &format!("<noscript>{plain}</noscript>"), 1)
}

const STYLE: &str = include_str!("html/plain.css");
/// Longest cell that is not wrapped, in characters.
const LONG: usize = 48;

/// The body of a page, with its style.
pub(super) fn body(documents: &[LabeledDocument]) -> String {
    let groups = groups(documents);
    let page = html! {
        style { (PreEscaped(STYLE)) }
        main class="plain" {
            @for group in &groups {
                @if groups.len() > 1 { h1 { (clean(group.procedure)) } }
                (section(group))
            }
        }
    };
    page.into_string()
}

fn section(group: &Group<'_>) -> Markup {
    let charts = group.pictures().len();
    html! {
        @for (member, name) in group.members.iter().zip(&group.names) {
            @if group.members.len() > 1 { h2 { (wording::name_and_label(name, &member.label)) } }
            (results(&member.document))
        }
        @for (title, grid) in group.tables() { h2 { (title) } (table(&grid)) }
        @if charts > 0 { p class="about" { (wording::PICTURES_NEED_SCRIPTS) } }
        @for member in &group.members {
            div class="about" { @for sentence in wording::run_details(&member.document, member.started_at.as_deref()) { p { (sentence) } } }
        }
    }
}

/// The headline, its table, the actions, and all answers with their evidence.
fn results(document: &Document) -> Markup {
    html! {
        p class="headline" { (mark(standing(&document.answers))) (wording::summary(document)) }
        @if let Some(table) = document.overview_table() { (overview(table)) }
        @for (heading, actions) in wording::action_groups(document) {
            @if !actions.is_empty() { h3 { (heading) } @for action in actions { (whole_action(action)) } }
        }
        @for answer in &document.answers { (whole_answer(answer)) }
    }
}

fn mark(standing: Standing) -> Markup {
    html! {
        @if let (Some(mark), Some(meaning)) = (wording::mark(standing), wording::mark_meaning(standing)) {
            span class={ "mark " (standing.name()) } title=(meaning) { (mark) } " "
        }
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
                            (heading.text) @if let Some(document) = &heading.document { "\n" (document) }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::Document;
    use crate::labeled_document::label_all;
    use crate::tests::fixtures;
    use likenew_core::findings::Answer;

    const NASTY: &str = "</script><!--<script>alert(1)</script> & \"quoted\"";

    fn nasty() -> Vec<LabeledDocument> {
        let mut document = fixtures::fill("sim:<b>");
        document.answers.insert(0, Answer::problem(NASTY, NASTY, NASTY).with_evidence(NASTY).caveat(NASTY));
        document.tables.get_mut("files").unwrap()[0].insert(NASTY.into(), NASTY.into());
        document.tables.insert(NASTY.into(), Vec::new());
        label_all(vec![document])
    }

    fn bundle() -> String {
        format!("<html><head>{DOCUMENTS_PLACE}</head><body>{PLAIN_PLACE}<p>end</p></body></html>")
    }

    #[test]
    fn the_page_gives_back_exactly_what_was_embedded() {
        let documents = nasty();
        let page = page_in(&bundle(), &documents).unwrap();
        let (_, rest) = page.split_once("id=\"likenew-documents\">").unwrap();
        let (json, rest) = rest.split_once("</script>").unwrap();
        let back: Vec<serde_json::Value> = serde_json::from_str(json).unwrap();
        assert_eq!(back.len(), 1);
        assert_eq!(back[0]["label"], "sim:<b>");
        let document = Document::from_json(&back[0]["document"].to_string()).unwrap();
        assert_eq!(document, documents[0].document);
        assert!(!json.contains('<'));
        assert!(
            rest.contains("<noscript>")
                && rest.contains("<table")
                && rest.ends_with("<p>end</p></body></html>")
        );
        assert_eq!(page.matches("<script").count(), 1, "text of a document never becomes a script");
    }

    #[test]
    fn a_page_of_history_has_its_data_and_the_same_for_readers_without_scripts() {
        let data = serde_json::json!({"answers": {"drives": [NASTY]}}).to_string();
        let page = history_page(&data, "✓ sim:<b>\n");
        let (_, rest) = page.split_once("id=\"likenew-view\">").unwrap();
        let (json, _) = rest.split_once("</script>").unwrap();
        assert_eq!(serde_json::from_str::<serde_json::Value>(json).unwrap().to_string(), data);
        assert!(page.contains("<noscript><style>") && page.contains("<pre>✓ sim:&lt;b&gt;\n"));
        assert!(!page.contains("likenew-documents\">["), "it holds no documents");
    }

    #[test]
    fn the_plain_page_has_all_rows_and_no_script() {
        let page = body(&nasty());
        assert!(!page.contains("<script") && !page.contains("<!--") && !page.contains("http"));
        assert!(page.contains("&lt;/script&gt;&lt;!--"));
        assert_eq!(page.matches("<tr>").count(), 201 + 11, "files and stalls, each with a row of headings");
        let first = page.find("alert(1)").unwrap();
        assert!(first < page.find("two: 5.70").unwrap(), "answers keep their order");
    }

    #[test]
    fn the_plain_page_says_what_is_wrong_and_what_to_do() {
        let page = body(&label_all(vec![fixtures::sick()]));
        let order = [
            "class=\"mark problem\"",
            "Writes are slow: sustained writes run at 19.8 MB/s",
            "width:25.6%",
            "Fix it",
            "<pre>likenew recondition 'sim:x25m?state=used'</pre>",
            "nothing lost · about 90 min",
            "ERASES everything",
            "To decide",
            "<details><summary>",
            "no TRIM (this drive ignores it), 99.8% likely",
            "Target sim:x25m?state=used: Intel X25-M 80 GB",
        ];
        let places = order.map(|text| page.find(text).unwrap_or_else(|| panic!("no {text} in {page}")));
        assert!(places.is_sorted(), "{places:?}");
    }

    #[test]
    fn documents_are_compared_and_grouped() {
        let documents = label_all(vec![
            fixtures::bench("new", 1.0),
            fixtures::bench("used", 0.25),
            fixtures::fill("new"),
        ]);
        let page = body(&documents);
        assert!(page.contains("used ÷ new") && page.contains("0.250×"));
        assert!(page.find("<h1>bench</h1>").unwrap() < page.find("<h1>fill</h1>").unwrap());
    }

    #[test]
    fn numbers_that_json_cannot_hold_are_refused() {
        let mut document = fixtures::bench("sim:new", 1.0);
        document.answers[0].estimate.as_mut().unwrap().value = f64::NAN;
        assert!(page(&label_all(vec![document])).unwrap_err().to_string().contains("estimate.value is NaN"));
    }
}
