//! The shared types: what a drive, an I/O, a workload, a sample and an answer are.
//!
//! Every other crate imports this one, and this one imports no other of the workspace. It holds data types,
//! the contracts between crates, and the laws that every target keeps. It never opens a drive, reads a clock,
//! prints, or estimates anything.

#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "tests make files"))]

pub mod access;
pub mod access_pattern;
pub mod answer;
pub mod block_store;
pub mod busy;
pub mod counters;
pub mod damage;
pub mod digits;
pub mod drive;
pub mod dry_run;
pub mod extents;
pub mod facts;
pub mod feasibility;
pub mod findings;
pub mod fix;
pub mod flash_counters;
pub mod input;
pub mod instrument;
pub mod io;
pub mod lab_error;
pub mod laws;
pub mod measurement_error;
pub mod memory;
pub mod mix;
pub mod old_files;
pub mod overview;
pub mod plan;
pub mod powercut;
pub mod probe;
pub mod procedure;
pub mod quantity;
pub mod reading;
pub mod recorder;
pub mod region;
pub mod replay_record;
pub mod replay_spec;
pub mod sample;
pub mod segment;
pub mod shell;
pub mod size;
pub mod stamp;
pub mod stat;
pub mod suggest;
pub mod system_error;
pub mod tally;
pub mod target;
pub mod trace;
pub mod trim;
pub mod units;
pub mod until;
pub mod validation;
pub mod windows;
mod wording;
pub mod workload;
mod workload_error;
