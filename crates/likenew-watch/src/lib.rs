//! Live rates of all drives: takes readings of the kernel's counters and shows rates on a terminal.
//!
//! [`drives::Drives`] turns readings into activity per interval. [`view::View`] is what the user sees and changes by
//! keys; [`draw::draw`] puts it onto a screen. All three are functions of readings and keys: this crate reads no clock,
//! counter or key, and owns no terminal. [`line::Line`] is one drive and interval for programs and logs,
//! [`column::table`] a table without a screen, and [`findings`] the summary of a log.

pub mod column;
pub mod draw;
pub mod drives;
pub mod findings;
pub mod line;
pub mod theme;
pub mod view;
mod wording;
