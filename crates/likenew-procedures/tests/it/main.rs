//! Workloads and findings of procedures, on drives with known behavior.

#![allow(clippy::disallowed_methods, reason = "tests wait, measure time and make files")]

mod age;
mod apps;
mod bench;
mod cache;
mod check_feasibility;
mod check_upgrade;
mod data;
mod endure;
mod endure_snia;
mod fill;
mod io_errors;
mod model;
mod questions;
mod recondition;
mod recondition_credit;
mod recondition_rewrite;
mod replay;
mod replay_disk;
mod suits;
mod support;
mod surface;
mod sweep;
mod timings;
mod trim;
mod verify;
