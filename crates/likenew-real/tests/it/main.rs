//! Real drives: folders, files and devices made for the test and removed with it.

#![allow(clippy::disallowed_methods, reason = "tests wait, measure time and make files")]

mod consent;
mod counters;
mod device_store;
mod erases;
mod exit;
mod file_store;
mod file_store_killed;
mod folder;
mod laws;
mod locks;
mod no_consent;
mod recording;
mod refusal_matrix;
mod refusals;
mod scan;
mod scratch;
mod support;
mod unused;
