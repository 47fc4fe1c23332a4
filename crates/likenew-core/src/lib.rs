//! The shared types: drives, I/Os, workloads, samples and answers.
//!
//! Every other crate imports this one, and this one imports no other of the workspace. It holds data types,
//! the contracts between crates, and the laws that every target keeps. It never opens a drive, reads a clock,
//! prints or estimates.

#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "tests make files"))]

pub mod busy;
pub mod counters;
pub mod damage;
pub mod drive;
pub mod dry_run;
pub mod facts;
pub mod findings;
pub mod fix;
pub mod input;
pub mod instrument;
pub mod io;
pub mod laws;
pub mod measurement_error;
pub mod memory;
pub mod powercut;
pub mod probe;
pub mod procedure;
pub mod quantity;
pub mod region;
pub mod segment;
mod sentences;
pub mod shell;
pub mod stamp;
pub mod stat;
pub mod state_folder;
pub mod tally;
pub mod target;
pub mod target_error;
pub mod trace;
pub mod units;
pub mod validation;
mod wording;
pub mod workload;

/// Whether a field has the value that it gets when it is missing, so that it need not be written.
pub(crate) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
