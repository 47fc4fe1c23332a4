//! The one loop: issue, submit, wait, record. And the runner, which asks a procedure for its next step, runs
//! it, and asks again.
//!
//! It knows targets only by their contract: neither io_uring nor the simulator, neither a clock nor a file.
//! It draws no conclusions. An interrupted run resumes once the drive is back in the state in which it
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
