//! The questions likenew can ask of a drive: one file pair each, the code and its manual page.
//!
//! A procedure decides what to run next and what the evidence says. It never touches a drive, a clock or a file, so a
//! run can be judged again from its folder alone.

pub mod age;
pub mod all;
pub mod apps;
pub mod bench;
pub mod cache;
pub mod check;
pub mod data;
mod device_counters;
pub mod endure;
pub mod facts;
pub mod fill;
#[cfg(test)]
mod fixtures;
pub mod model;
mod options;
pub mod pattern;
pub mod precision_goal;
pub mod profile;
pub mod recondition;
mod refusals;
pub mod replay;
mod rows;
pub mod run;
mod series;
pub mod site;
pub mod surface;
pub mod sweep;
pub mod trim;
pub mod verify;
mod workloads;
pub mod xray;

/// Of the intervals that are reported.
pub(crate) const CONFIDENCE: f64 = 0.95;
