//! An index over run folders, and how drives changed over time.
//!
//! Run folders are the truth. The index holds what lists and series need of them, in SQLite or PostgreSQL with the same queries,
//! and can be deleted at any time: it is brought up to date whenever it is opened, and [`History::rebuild`] makes it again. What it
//! holds depends on the folders alone, and not on the order in which they were read.
//!
//! The surface is synchronous. The database's client runs on the caller's thread.

#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "tests make files"))]

mod database;
mod dialect;
mod drive_history;
mod error;
mod indexed_run;
mod location;
pub mod metrics;
mod peers;
mod queries;
mod sync;
mod wording;

pub use database::{History, KeptRuns};
pub use drive_history::wording as drive_wording;
pub use drive_history::{Change, DriveHistory, MetricHistory, News, drive_json, drives_json, page_json};
pub use error::HistoryError;
pub use indexed_run::{MetricValue, Problem};
pub use location::Location;
pub use peers::{Peers, Place, peers, peers_json};
pub use queries::{Check, DamagedRun, DriveRow, Page, RunRow, UnknownDrive};
pub use sync::Update;
