//! Reads and writes block I/O traces, in the formats of the field and in one of our own.
//!
//! Every reader streams: it reads a trace of any length in constant memory, plain or compressed with gzip or Zstandard.
//! All readers yield the same [`TraceIo`](likenew_core::trace::TraceIo). An error names the file, the line and column
//! (or record and byte), what is there and what was expected. Nothing is skipped in silence, and no file makes a reader
//! panic or use memory without bound. No existing file is ever written. This crate opens no drive and reads no clock.

mod error;
mod files;
mod formats;
mod intake;
mod lines;
mod notes;
mod pairing;
mod survey;
mod trace;
mod wording;

pub use error::{FileProblem, LineProblem, Place, TraceError};
pub use formats::{FORMATS, Format, IologVersion, IologWriter, TraceHead, TraceWriter, format_names};
pub use survey::{Amount, ApplicationShare, LatencyStats, Survey, Surveyor, survey};
pub use trace::{OpenOptions, Trace, decompress, file, open_stream};
