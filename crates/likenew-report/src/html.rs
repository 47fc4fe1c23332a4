//! Documents as one HTML file that needs neither network nor server.
//!
//! The file is the page that Vite builds from `web/`, with the documents inside. For readers without scripts,
//! `<noscript>` has the text that a terminal shows, with all rows of all tables.

use maud::{PreEscaped, html};

use super::document::{ReportError, check_numbers};
use super::labeled_document::LabeledDocument;
use super::unit::clean;
use super::{terminal, wording};

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
    fill(PAGE, "likenew-view", data, &plain_page(plain))
}

fn page_in(bundle: &str, documents: &[LabeledDocument]) -> Result<String, ReportError> {
    documents.iter().try_for_each(|labeled| check_numbers(&labeled.document))?;
    let json = serde_json::to_string(documents).expect("a document has only text keys");
    Ok(fill(bundle, "likenew-documents", &json, &plain_page(&terminal::plain(documents))))
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

/// What readers without scripts see: text as for a terminal.
fn plain_page(text: &str) -> String {
    let page = html! {
        style { (PreEscaped(STYLE)) }
        main class="plain" { pre { @for line in text.lines() { (clean(line)) "\n" } } }
    };
    page.into_string()
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
        assert!(rest.contains("<noscript>") && rest.ends_with("<p>end</p></body></html>"));
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

    /// The plain page of these documents.
    fn body(documents: &[LabeledDocument]) -> String {
        plain_page(&terminal::plain(documents))
    }

    #[test]
    fn the_plain_page_has_all_rows_and_no_script() {
        let page = body(&nasty());
        assert!(!page.contains("<script") && !page.contains("<!--") && !page.contains("http"));
        assert!(page.contains("&lt;/script&gt;&lt;!--"));
        let (_, files) = page.split_once("files ─").unwrap();
        let rows = (1..=200).map(|file| format!("\n{file:>4}  "));
        assert!(rows.into_iter().all(|row| files.contains(&row)), "{files}");
        assert!(!page.contains("--html"), "nothing is elsewhere");
        let first = page.find("alert(1)").unwrap();
        assert!(first < page.find("two: 5.70").unwrap(), "answers keep their order");
    }

    #[test]
    fn the_plain_page_says_what_is_wrong_and_what_to_do() {
        let page = body(&label_all(vec![fixtures::sick()]));
        let order = [
            "✗ Writes are slow: sustained writes run at 19.8 MB/s",
            "26%",
            "likenew recondition 'sim:x25m?state=used'",
            "nothing lost · about 90 min",
            "ERASES everything",
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
        assert!(page.find("bench ─").unwrap() < page.find("fill ─").unwrap());
        assert!(page.contains(wording::PICTURES_NEED_SCRIPTS));
    }

    #[test]
    fn numbers_that_json_cannot_hold_are_refused() {
        let mut document = fixtures::bench("sim:new", 1.0);
        document.answers[0].estimate.as_mut().unwrap().value = f64::NAN;
        assert!(page(&label_all(vec![document])).unwrap_err().to_string().contains("estimate.value is NaN"));
    }
}
