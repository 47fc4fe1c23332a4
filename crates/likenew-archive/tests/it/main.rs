//! The guarantees of run folders.

mod bundle;
mod run_folder;
mod samples;
mod support;
