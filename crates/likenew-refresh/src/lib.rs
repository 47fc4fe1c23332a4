//! Rewrites data in place without loss.
//!
//! Flash that has held its data for long reads slowly; rewritten data reads as fast as ever. [`Refresh`]
//! rewrites a [`BlockStore`](likenew_core::drive::BlockStore) chunk by chunk, with one write each. A kill or
//! a loss of power at any point loses no byte, and an interrupted refresh can be resumed
//! ([`InspectedRefresh`]).
//!
//! **The order.** A chunk is read, its bytes are made durable in a [`Journal`] on other blocks, and only then
//! is the chunk written. The journal keeps two chunks in turn. Before the first is overwritten, the store is
//! flushed and both are read back. So at most two chunks are *in flight* at any moment, and the journal holds
//! both.
//!
//! **After a power cut** only sectors of chunks in flight are ever restored. A refresh writes the bytes that
//! were there before, so a sector that differs was torn by the cut, or another program has written to it
//! since. Three things distinguish these cases, and a fourth makes sure:
//! - *Witnesses*: the places where a file system, a volume or a partition table leaves its mark when it is
//!   used, and places all over the store, are never rewritten. If they have changed, the store was in use:
//!   nothing is written.
//! - A cut tears a few sectors. If more than half of a chunk differs, that was no cut: nothing is written
//!   unless the owner says so.
//! - Data outside of chunks in flight is only ever written with what was read there a moment before.
//! - The existing data of a sector that is restored is first made durable on another file
//!   ([`InspectedRefresh::resume`]), so even an undetectable change is kept.
//!
//! ```
//! # use likenew_core::powercut::{Power, VolatileDevice};
//! # use likenew_refresh::{InspectedRefresh, Refresh, RefreshError, Task};
//! # fn main() -> Result<(), RefreshError> {
//! let mut drive = VolatileDevice::new(vec![7; 64 << 10], 512, 1, &Power::default());
//! let (mut journal, mut salvage) = (Vec::new(), Vec::new());
//! let task = Task { identity: "my drive".into(), ranges: vec![0..16 << 10, 20 << 10..64 << 10], ..Task::default() };
//!
//! let mut refresh = Refresh::begin(&mut drive, &mut journal, &task)?;
//! refresh.step()?;
//! drop(refresh); // As if it had been killed.
//!
//! let inspected = InspectedRefresh::inspect(&mut drive, &mut journal, "my drive")?;
//! assert_eq!(inspected.differences().count(), 0);
//! let mut refresh = inspected.resume(&mut salvage)?;
//! while let Some(_step) = refresh.step()? {
//!     // Show refresh.progress(), check the temperature, stop() if wanted.
//! }
//! # Ok(())
//! # }
//! ```
//!
//! [`RefreshSession`] does all of that with files: it creates the journal, resumes from a journal that must
//! be our own, and removes it at the end.
//!
//! This crate knows no device, clock or simulator. The code that opens the store makes sure that no other
//! program uses it.

#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "tests make files"))]

mod durable_file;
mod error;
mod journal;
mod journal_file;
mod plan;
mod ranges;
mod record;
mod refresh;
mod resume;
mod salvage_file;
mod session;
mod wording;

#[cfg(test)]
mod tests;

pub use durable_file::DurableFile;
pub use error::RefreshError;
pub use journal::Journal;
pub use journal_file::{Folder, JournalFile, JournalPaths};
pub use plan::{CHUNK_BYTES_DEFAULT, CHUNK_BYTES_MAX, Settings, StoreFacts, Task, Verify};
pub use ranges::Ranges;
pub use refresh::{Progress, Refresh, Step};
pub use resume::{Difference, InspectedRefresh};
pub use salvage_file::{SalvageFile, SavedPiece, scan_saved_pieces};
pub use session::{End, InterruptedRefresh, Outcome, RefreshSession, State};
