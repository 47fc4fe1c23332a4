//! What a procedure found, shown: answers, tables and series as terminal text, JSON and HTML.
//!
//! Promises that every number it shows stands in the document (a ratio between two documents is the only
//! arithmetic), that the same documents always give the same bytes, and that text from a document can neither
//! steer a terminal nor run in a page. It never opens a drive or a file, reads a clock, prints, or estimates
//! anything: a caller hands in documents and gets a string back.

mod column;
mod compare;
pub mod document;
mod grid;
pub mod html;
pub mod labelled_document;
mod overview_cell;
mod scale;
pub mod terminal;
mod unit;
mod wording;

#[cfg(test)]
mod fixtures;
