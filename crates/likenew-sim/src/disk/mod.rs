//! A hard disk, layer by layer.

pub(crate) mod disk_drive;
pub mod disk_parameters;
pub mod platters;
mod read_ahead;
mod seek_curve;
mod write_cache;
