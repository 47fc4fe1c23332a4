//! What a healthy drive can meet that makes it slow: each is a small layer or a change of parameters, at work by mechanism and in
//! virtual time, which any drive may have by its file (`[situations]`) or by a setting of its target (`?link=sata3g&wake=2ms`).
//!
//! Several go together. From the host to the medium: pieces of a fragmented file, encryption, a partition that is shifted, the
//! drive's faults, its neighbour, a cache that nobody sees, a damaged link, power saving, a restored volume, an array that rebuilds itself, and the drive
//! itself with its link, firmware, host memory and wear.

pub mod array;
pub mod crypt;
mod damaged_link;
pub(crate) mod firmware;
mod held;
pub mod host_memory;
pub mod link_standard;
mod places;
mod read_cache;
pub mod restored;
mod scattered;
mod settings;
mod stack;
pub mod wake;
mod weak_zone;
pub mod worn;

pub use settings::Situations;
pub(crate) use stack::{above, below};
