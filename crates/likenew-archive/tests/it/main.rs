//! The guarantees of run folders.

#![allow(clippy::disallowed_methods, reason = "tests wait, measure time and make files")]

mod bundle;
mod run_folder;
mod samples;
mod support;
