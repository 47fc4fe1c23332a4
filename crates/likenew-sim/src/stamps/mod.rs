//! The stamped sectors of a drive that keeps no other bytes.

pub(crate) mod stamp_keeper;
mod stamp_memory;
