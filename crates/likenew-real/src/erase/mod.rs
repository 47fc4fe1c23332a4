//! Powerful actions on a whole drive, each with a consent, or as instructions only.
//!
//! * [`discard`]: tells a whole device or partition that it holds nothing of use;
//! * [`mod@format`]: has an NVMe drive erase a namespace;
//! * [`instructions`]: what to type for what is never done here: ATA secure erase and the sanitize commands.
//!
//! Their preconditions are in [`precondition`], and for all of them at once in `feasibility`; known problems
//! of a model or firmware in [`deny`]. Nothing here prints, asks, or decides that something should be done.

pub mod deny;
pub mod discard;
pub(crate) mod feasibility;
pub mod format;
pub mod instructions;
#[allow(unsafe_code, reason = "the kernel takes discards, and says how large a device is, by ioctls only")]
mod ioctls;
mod nvme_status;
pub mod power_supply;
pub mod precondition;
pub mod samples;
