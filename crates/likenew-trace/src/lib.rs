//! Reading and writing traces: what programs did to a drive, in the formats of the field and in one of our
//! own.
//!
//! Every reader streams: a trace of any length is read in constant memory, plain or packed with gzip or
//! Zstandard, and each yields the same [`TraceIo`](likenew_core::trace::TraceIo). Anything that breaks the
//! format ends the reading with the file, the line and column (or the record and byte), what is there and what
//! was expected; nothing is skipped in silence, and nothing in a file makes a reader panic or ask for memory
//! without bound. No existing file is ever written. This crate opens no drive and reads no clock.

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

pub use error::{LineProblem, Place, TraceError};
pub use formats::{FORMATS, Format, IologVersion, IologWriter, TraceHead, TraceWriter, format_names};
pub use survey::{Amount, ApplicationShare, LatencyStats, Survey, Surveyor, survey};
pub use trace::{OpenOptions, Trace, decompress, file, open_stream};
