//! Keeps runs, each as a folder with the plan, the machine, the measurements and the findings.
//!
//! ```text
//! 2026-03-14T15-09-26Z-fill-mnt-photos/
//!   plan.toml            what was asked
//!   machine.json         the drive, how it is addressed, the instrument, when it began
//!   segments.jsonl       one line for each workload that ended, durable before the next one starts
//!   live.jsonl           notes of a running `watch`
//!   observations.jsonl   one line for each probe, if there was any; durable likewise
//!   samples.parquet      every single I/O, if asked for; samples-2.parquet … after the run was resumed
//!   findings.json        what was concluded; `likenew judge` makes it again from the files above
//! ```
//!
//! Next to the runs, `audit.jsonl` records what was done to drives that could harm them: a line before and a
//! line after each step.
//!
//! One run also travels as one file ([`export`], [`import`]), which reveals no serial number.
//!
//! Measurements survive a kill at any moment, except those of the running workload. What is written here
//! reads back exactly. Reading any folder ends in evidence, or in an error that names the file and says what
//! to do. This crate neither measures nor judges, and never overwrites a run.

#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "tests make files"))]

mod archive;
mod audit;
mod bundle;
mod drive_key;
mod error;
mod folder;
mod live_run;
mod run;
mod samples;
mod wording;

pub use archive::{Archive, Entry};
pub use audit::{
    AUDIT_SCHEMA, AuditConsent, AuditEntry, AuditLog, AuditOutcome, AuditStep, AuditedDrive, read_audit,
    unfinished_steps,
};
pub use bundle::{BUNDLE, ExportKey, export, import};
pub use drive_key::{AccessClass, DriveSignature, keys_by_place, place_key};
pub use error::ArchiveError;
pub use folder::{LiveWriter, Machine, SCHEMA, Settings, read_live};
pub use live_run::{LiveNote, LiveRun, live_runs};
pub use run::{Header, Record, Run, sample_files};
pub use samples::{SampleReader, SampleRecorder, SampleWriter};
