//! A simulated drive made of layers in virtual time.
//!
//! [`Spec`] reads what a user types after `sim:` and opens a [`SimDrive`], which the loop measures like any
//! other drive. A drive is a flash drive ([`flash`]: link, firmware, write buffer, translation layer, chips),
//! a hard disk ([`disk`]: link, firmware, caches, arm, platters) or a network volume ([`volume`]: link, I/O
//! credits, store); any of them may have [`faults`], and what is buffered meets the page cache of a host
//! first. Each layer answers one question: given what arrives when, when is it done. New and used drives
//! differ only by their past, which the same layers make without time. The drives themselves are data:
//! [`catalog`] lists the built-in ones, each parameter with its source, and [`generator`] draws any number of
//! them at random, whose internals ([`truth`]) are the true values for an inference.
//!
//! This crate never reads a clock or the system, opens no file, and knows no statistics. A drive holds
//! written bytes only when it is asked to, except for stamped sectors, which it always reads back. All its
//! randomness comes from fixed seeds, so that the same I/Os always end at the same times.

mod catalog;
mod device;
pub mod disk;
mod drive_file;
mod error;
pub mod explain;
mod facts;
pub mod faults;
pub mod flash;
mod front;
pub mod generator;
mod host;
mod machine_facts;
pub mod memory;
pub mod model;
mod opening;
mod sim_drive;
pub mod situations;
mod snapshot;
mod spec;
mod stamps;
mod state;
pub mod theory;
mod timeline;
pub mod truth;
pub mod volume;
mod wording;

pub use catalog::{Entry, by_reported_model, catalog};
pub use drive_file::{ParameterRange, SourceEntry, replace_entries, replace_values};
pub use error::SimError;
pub use front::LinkParameters;
pub use sim_drive::SimDrive;
pub use spec::{Spec, SpecName, settings};
pub use state::State;
