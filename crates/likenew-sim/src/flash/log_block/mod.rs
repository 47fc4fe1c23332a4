//! The translation layers of cheap and early flash drives, whose map knows whole erase blocks and not single pages.
//!
//! Data is kept in clusters: as many pages as erase blocks on a group of dies hold together, striped over them page by
//! page. The newest copy of a cluster may be elsewhere for a while (in a replacement or log block) until a merge brings
//! it together again. What differs is how that is done: [`BlockMap`], [`Bast`] and [`Fast`].

mod bast;
mod block_map;
mod cluster_map;
mod cluster_parameters;
mod clusters;
mod fast;
#[cfg(test)]
mod log_block_tests;

pub use bast::{Bast, BastLogs, BastParameters, Eviction};
pub use block_map::{BlockMap, Replacements};
pub use cluster_map::{ClusterMap, LogScheme};
pub use cluster_parameters::{ClusterParameters, Copies};
pub use clusters::Clusters;
pub use fast::{Fast, FastLogs};
