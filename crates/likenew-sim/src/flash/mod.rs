//! A flash drive, layer by layer.

pub mod aging;
mod block_entries;
mod block_wear;
pub mod compressing_map;
pub mod compressing_parameters;
mod contents;
pub(crate) mod die_set;
pub(crate) mod flash_drive;
pub mod flash_geometry;
pub mod flash_parameters;
#[cfg(test)]
mod layer_laws;
pub mod layout_error;
pub mod log_block;
pub mod map_cache;
pub mod nand;
pub mod nand_parameters;
pub mod page_map;
pub mod page_map_parameters;
pub mod policies;
mod program_times;
mod read_job;
mod recent_writes;
pub mod slc_cache_parameters;
pub mod thermal;
pub mod translation_layer;
mod victims;
pub mod wear_retries;
mod write_buffer;
