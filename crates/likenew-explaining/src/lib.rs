//! Procedures that explain how a drive works, one file pair each: the code and its manual page.
//!
//! A procedure decides what to run next and what the evidence says. It touches no drive, no clock and no file, so a
//! run can be judged again from its folder alone.

pub mod model;
pub mod xray;
