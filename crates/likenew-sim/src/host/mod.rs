//! The host of a simulated drive, as far as it affects I/O: its page cache.

pub(crate) mod counting_device;
pub(crate) mod page_cache;
pub mod page_cache_parameters;
mod pages;
