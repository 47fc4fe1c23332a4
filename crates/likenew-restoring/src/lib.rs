//! Procedures that find out why a drive is slow or wrong, and restore it, one file pair each: the code and
//! its manual page.
//!
//! A procedure decides what to run next and what the evidence says. It touches no drive, no clock and no
//! file, so a run can be judged again from its folder alone.

pub mod check;
pub mod facts;
#[cfg(test)]
mod fixtures;
pub mod recondition;
pub mod site;
pub mod trim;
pub mod verify;
