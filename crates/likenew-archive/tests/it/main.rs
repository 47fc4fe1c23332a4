//! The guarantees of run folders.

mod run_folder;
mod samples;
mod support;
