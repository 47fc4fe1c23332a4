//! Shows the findings of procedures: answers, tables and series as terminal text, JSON, HTML and a picture.
//!
//! Every number shown is in the document (a ratio between two documents is the only arithmetic), the same
//! documents always give the same bytes, and text from a document can neither control a terminal nor run in a
//! page. This crate never opens a drive or a file, reads a clock, prints, or estimates anything: a caller
//! passes documents and gets a string.

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
mod fixtures;
