//! Real drives in wall time: folders, files and block devices over io_uring or threads, and a drive that does nothing.
//!
//! This is the only crate with `unsafe`, clocks, /sys and ioctls. [`open::examine`] says what a path is, and
//! [`open::open`] opens it as a drive that keeps the laws of `likenew_core::laws`.
//!
//! It guarantees that no data of the user changes without consent. Everything that it writes to a folder is
//! in one marked directory, [`scratch`], which is removed on every way out. Files and block devices are only
//! read, with two exceptions. One needs a [`consent::Consent`], which only that module can make; a
//! [`file_store::FileStore`] writes a file's own bytes again. This crate never decides what to measure, never
//! judges results, and never prints.

#![allow(clippy::disallowed_methods, reason = "it is the one that reads clocks and writes files")]

pub mod clock;
pub mod consent;
pub mod device_store;
pub mod drive_lock;
pub mod drive_traffic;
pub mod engine;
pub mod erase;
pub mod facts;
#[allow(unsafe_code, reason = "no library in use here asks for the generation of an inode")]
pub mod file_store;
mod folder;
pub mod folder_times;
#[doc(hidden)]
pub mod fuzzing;
pub mod host;
pub mod listing;
pub mod nop;
pub mod old_files;
pub mod open;
pub mod sampler;
pub mod scan;
pub mod scratch;
pub mod space;
pub mod tracefs;
#[allow(
    unsafe_code,
    reason = "submission entries and registered buffers carry addresses that the kernel uses"
)]
pub mod uring;

mod block;
#[allow(unsafe_code, reason = "memory that the kernel reads and writes is mapped and handed out by address")]
mod buffers;
#[allow(unsafe_code, reason = "drives tell of themselves by ioctls only")]
mod drive_commands;
#[allow(unsafe_code, reason = "no library in use here asks for leases")]
mod hold;
mod identify;
mod in_use;
mod medium;
mod mounts;
mod openers;
#[allow(unsafe_code, reason = "a buffer goes to the thread that does its I/O by address")]
mod posix;
mod single_file;
mod standards;
mod target_error;
mod trim;
mod wording;
