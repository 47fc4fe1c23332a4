//! Situations that make a healthy drive slow: each is a small layer or a change of parameters, at work by
//! mechanism and in virtual time, which any drive may have by its file (`[situations]`) or by a setting of
//! its target (`?link=sata3g&wake=2ms`).
//!
//! Several can be combined. From the host to the medium: pieces of a fragmented file, encryption, a partition
//! that is shifted, the drive's faults, I/O of another program, a hidden cache, a damaged link, power saving,
//! a restored volume, an array that rebuilds itself, and the drive itself with its link, firmware, host
//! memory and wear.

mod address_remap;
pub mod array;
pub mod crypt;
mod damaged_link;
pub(crate) mod firmware;
pub mod host_memory;
mod io_hook;
pub mod link_standard;
mod read_cache;
mod remapped_device;
mod settings;
pub(crate) mod slow_region;
pub mod snapshot_restore;
mod stack;
pub mod wake;
mod wording;

pub use settings::Situations;
pub(crate) use stack::{wrap_above, wrap_below};
pub(crate) use wording::{FIRMWARE_WARNING, known_settings};
