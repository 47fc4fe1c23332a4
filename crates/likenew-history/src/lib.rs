//! An index of run folders, and how drives changed over time.
//!
//! Run folders are the truth. The index holds what lists and time series need of them, in SQLite or PostgreSQL with the
//! same queries. [`History::update`] brings it up to date. It can be deleted at any time; [`History::rebuild`] makes it
//! again. Its contents depend on the folders only, not on the order in which they were read.
//!
//! The interface is synchronous: the database driver runs on the caller's thread.

#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "tests make files"))]

mod database;
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
