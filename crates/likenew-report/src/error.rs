//! Why a document could not be written or read.

/// A document that cannot be shown.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// A number is infinite or not a number; JSON has neither, and would silently become `null`.
    #[error(
        "{place} is {value}, which is no number that JSON can hold: correct it where it comes from (a plan's \
         option, or a procedure that divided by zero) and report again; the measurement itself is not affected"
    )]
    NotFinite {
        /// The number, as a path of keys.
        place: String,
        /// `NaN`, `inf` or `-inf`.
        value: f64,
    },
    /// The text is not the JSON of a document.
    #[error("this is not a likenew document: {0}; give a file that was written with --json")]
    NotADocument(#[source] serde_json::Error),
    /// The text is a document of another version of the form.
    #[error(
        "this document has schema {version}, and this version of likenew reads schema {} only: write it again with \
         `likenew report RUN --json FILE`, after `likenew judge RUN` if the run is as old as the document",
        crate::document::SCHEMA
    )]
    OtherSchema {
        /// The version in the document.
        version: u64,
    },
}
