//! A hard disk, layer by layer.

mod access;
mod aging;
mod arm;
mod destager;
pub(crate) mod disk_drive;
pub mod disk_parameters;
pub mod layout_error;
mod media_cache;
pub mod platters;
mod read_ahead;
mod request;
mod seek_curve;
pub mod shingles;
#[cfg(test)]
mod shingles_tests;
mod write_cache;
