//! Simulated drives in virtual time.
//!
//! [`Spec`] reads a target such as `sim:NAME?state=used` and opens a [`SimDrive`], which the run loop
//! measures like any other drive. A drive is a *mechanism* with layers around it. A mechanism is a flash
//! drive ([`flash`]: link, firmware, write buffer, FTL, chips), a hard disk ([`disk`]: link, firmware,
//! caches, arm, platters) or a network volume ([`volume`]: link, I/O credits, store). The layers are
//! [`faults`], [`situations`] and the host's page cache. Each layer answers one question: when does an I/O
//! that arrives now end? The same code makes a used drive out of a new one, without time. Drives are data:
//! [`catalog`] lists the built-in ones with a source for each parameter, and [`generator`] draws others at
//! random. [`truth`] says what a measurement of a drive should find.
//!
//! This crate never reads a clock or the system, opens no file, and does no statistics. A drive keeps written
//! bytes only on request, except for stamped sectors, which it always keeps. All randomness comes from fixed
//! seeds, so that equal I/Os always end at equal times.

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
mod value;
pub mod volume;
mod wording;

pub use catalog::{Entry, by_reported_model, catalog};
pub use drive_file::{ParameterRange, SourceEntry, replace_entries, replace_values};
pub use error::SimError;
pub use front::LinkParameters;
pub use sim_drive::SimDrive;
pub use spec::{Spec, SpecName, settings};
pub use state::State;
