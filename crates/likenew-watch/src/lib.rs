//! What every drive is doing now: readings of the kernel's counters in, rates out, and how a terminal shows
//! them.
//!
//! [`drives::Drives`] turns readings into what each drive did in each interval; [`view::View`] is what the
//! user sees and changes by keys; [`draw::draw`] puts it onto a screen. All three are functions of readings
//! and keys: this crate reads no clock, no counter and no key, and owns no terminal. [`line::Line`] is one
//! drive and interval for programs and logs, `plain` the same as text without a screen, and [`findings`]
//! the summary of a log.

pub mod column;
pub mod draw;
pub mod drives;
pub mod findings;
pub mod line;
pub mod theme;
pub mod view;
mod wording;
