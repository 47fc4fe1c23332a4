//! Simulated drives: their behavior, compared with theory and published values.

#![allow(clippy::disallowed_methods, reason = "tests wait, measure time and make files")]

mod catalog;
mod closed_loop;
mod cluster_drives;
mod compression;
mod disk;
mod disk_figures;
mod era_ssds;
mod explain;
mod extras;
mod faults;
mod flash;
mod generated_slc_cache;
mod generator;
mod laws;
mod machine_facts;
mod noise;
mod page_cache;
mod shingled_disk;
mod situations;
mod slc_cache;
mod snapshot;
mod trim_looks;
mod used_state;
mod volume;
mod worn_out;
