//! Simulated drives: what they do, held against theory and published figures.

mod announced;
mod catalog;
mod closed_loop;
mod cluster_drives;
mod compression;
mod disk;
mod disk_figures;
mod drawn;
mod drawn_slc_cache;
mod era_ssds;
mod explain;
mod extras;
mod faults;
mod flash;
mod laws;
mod noise;
mod page_cache;
mod shingled_disk;
mod situations;
mod slc_cache;
mod snapshot;
mod trim_looks;
mod volume;
mod worn_out;
