//! Documents as one HTML file that needs neither network nor server.
//!
//! The file is the page that Vite builds from `web/`, with the documents inside, and with answers and tables
//! as plain HTML in `<noscript>` for readers without scripts.

mod plain;

use crate::document::{ReportError, check_numbers};
use crate::labeled_document::LabeledDocument;
use crate::wording;

/// The page, which `build.rs` has built or found.
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

/// The page for a server, which gives it documents and progress when they are asked for.
pub fn live_page() -> String {
    let (before, after) = PAGE.split_once(DOCUMENTS_PLACE).expect("the build checked the bundle's places");
    let page =
        format!("{before}<script type=\"application/json\" id=\"likenew-server\">true</script>{after}");
    page.replacen(PLAIN_PLACE, &format!("<noscript>{}</noscript>", wording::NEEDS_SCRIPTS), 1)
}

fn page_in(bundle: &str, documents: &[LabeledDocument]) -> Result<String, ReportError> {
    documents.iter().try_for_each(|labeled| check_numbers(&labeled.document))?;
    let (before, after) = bundle.split_once(DOCUMENTS_PLACE).expect("the build checked the bundle's places");
    let embedded = format!("{before}{}{after}", data_block(documents));
    // The data block cannot contain the second placeholder, because it has no `<`.
    Ok(embedded.replacen(PLAIN_PLACE, &format!("<noscript>{}</noscript>", plain::body(documents)), 1))
}

/// The documents as a block of data in HTML. Without any `<`, nothing inside can end it or start a comment.
fn data_block(documents: &[LabeledDocument]) -> String {
    let json =
        serde_json::to_string(documents).expect("a document has only text keys").replace('<', "\\u003c");
    format!("<script type=\"application/json\" id=\"likenew-documents\">{json}</script>")
}

#[cfg(test)]
mod tests {
    use likenew_core::findings::Answer;

    use super::*;
    use crate::document::Document;
    use crate::fixtures;
    use crate::labeled_document::label_all;

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
    fn the_plain_page_has_all_rows_and_no_script() {
        let page = plain::body(&nasty());
        assert!(!page.contains("<script") && !page.contains("<!--") && !page.contains("http"));
        assert!(page.contains("&lt;/script&gt;&lt;!--"));
        assert_eq!(page.matches("<tr>").count(), 201 + 11, "files and stalls, each with a row of headings");
        let first = page.find("alert(1)").unwrap();
        assert!(first < page.find("two: 5.70").unwrap(), "answers keep their order");
    }

    #[test]
    fn the_plain_page_says_what_is_wrong_and_what_to_do() {
        let page = plain::body(&label_all(vec![fixtures::sick()]));
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
        let page = plain::body(&documents);
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
