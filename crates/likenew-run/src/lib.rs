//! The run loop, which issues, submits, waits and records, and the runner, which asks a procedure for its
//! next step, runs it, and asks again.
//!
//! This crate knows targets only by their contract, not by io_uring, the simulator, a clock or a file. It
//! draws no conclusions. An interrupted run resumes once the drive is back in the state in which the run
//! stopped.

pub mod forecast;
pub mod generator;
mod io_source;
mod lane;
mod replay;
pub mod restore;
pub mod run;
pub mod runner;
mod wording;
