//! A flash drive, layer by layer.

mod block_wear;
pub(crate) mod die_set;
pub(crate) mod flash_drive;
pub mod flash_geometry;
pub mod flash_parameters;
#[cfg(test)]
mod layer_laws;
pub mod nand;
pub mod page_map;
pub mod policies;
mod recent_writes;
pub mod translation_layer;
mod victims;
pub mod write_amplification;
mod write_buffer;
