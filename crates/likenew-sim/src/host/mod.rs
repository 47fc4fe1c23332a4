//! The machine in front of a simulated drive, as far as it decides what an I/O meets: its page cache.

pub(crate) mod counting_device;
pub(crate) mod page_cache;
pub mod page_cache_parameters;
mod pages;
