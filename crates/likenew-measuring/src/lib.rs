//! Procedures that measure speed, one file pair each: the code and its manual page.
//!
//! A procedure decides what to run next and what the evidence says. It touches no drive, no clock and no file, so a
//! run can be judged again from its folder alone.

pub mod age;
pub mod apps;
pub mod bench;
pub mod cache;
pub mod commits;
pub mod data;
pub mod endure;
pub mod fill;
pub mod replay;
pub mod run;
pub mod suits;
pub mod surface;
pub mod sweep;
