//! The words of likenew: what a drive, an I/O, a workload, a sample and a verdict are.
//!
//! Every other room imports this one and this one imports none of ours. It holds data types, the contracts
//! between rooms, and the laws that every target keeps. It never opens a drive, reads a clock, prints, or
//! estimates anything.

pub mod access;
pub mod block_store;
pub mod busy;
pub mod counters;
pub mod cure;
pub mod damage;
pub mod drive;
pub mod extents;
pub mod facts;
pub mod fault;
pub mod input;
pub mod instrument;
pub mod io;
pub mod laws;
pub mod look;
pub mod measurement_error;
pub mod memory;
pub mod mix;
pub mod old_files;
pub mod outlook;
pub mod place;
pub mod plan;
pub mod plausible;
pub mod powercut;
pub mod procedure;
pub mod reading;
pub mod recorded;
pub mod recorder;
pub mod region;
pub mod rehearsal;
pub mod replayed;
pub mod sample;
pub mod segment;
pub mod size;
pub mod stamp;
pub mod stat;
pub mod tally;
pub mod target;
pub mod trace;
pub mod trim;
pub mod units;
pub mod until;
pub mod verdict;
pub mod windows;
pub mod workload;
