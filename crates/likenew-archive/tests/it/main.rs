//! What run folders promise.

mod run_folder;
mod samples;
mod support;
