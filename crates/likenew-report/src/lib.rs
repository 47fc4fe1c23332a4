//! Shows the findings of procedures: answers, tables and series as terminal text, JSON, HTML and a picture.
//!
//! Every number shown is in the document; only ratios between two documents are calculated. The same
//! documents always give the same bytes. Text from a document can neither control a terminal nor run in a
//! page. This crate never opens a drive or a file, reads a clock, prints, or estimates: it turns documents
//! into strings.

pub mod card;
mod column;
mod compare;
pub mod csv;
pub mod document;
pub mod embedded_samples;
pub mod html;
pub mod labeled_document;
pub mod markdown;
pub mod run_document;
mod scale;
pub mod terminal;
mod unit;
mod wording;

#[cfg(test)]
mod tests {
    pub(crate) mod fixtures;
}
