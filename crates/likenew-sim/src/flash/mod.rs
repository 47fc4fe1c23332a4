//! A flash drive, layer by layer.

pub(crate) mod die_set;
pub(crate) mod flash_drive;
pub mod flash_geometry;
pub mod flash_parameters;
#[cfg(test)]
mod layer_laws;
pub mod log_block;
pub mod nand;
pub mod page_map;
pub mod translation_layer;
mod victims;
mod write_buffer;
