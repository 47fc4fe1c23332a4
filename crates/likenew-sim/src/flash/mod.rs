//! A flash drive, layer by layer.

pub(crate) mod die_set;
pub(crate) mod flash_drive;
pub mod flash_parameters;
pub mod ftl;
pub mod nand;
mod victims;
mod write_buffer;
