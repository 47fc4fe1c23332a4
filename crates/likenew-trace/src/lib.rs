//! Reading and writing traces: what programs did to a drive, in the formats of the field and in one of our
//! own.
//!
//! Every reader streams: a trace of any length is read in constant memory, from plain text, gzip or
//! Zstandard, and each yields the same [`TraceIo`](likenew_core::trace::TraceIo). Anything that breaks the
//! format ends the reading with the file, the line, the column, what is there and what was expected; nothing
//! is skipped in silence, and nothing in a file makes a reader panic or ask for memory without bound. No
//! existing file is ever written. This crate opens no drive and reads no clock.

mod applications;
mod cursor;
mod error;
mod format;
mod formats;
mod head;
mod intake;
mod iolog_writer;
mod lines;
mod notes;
mod open;
mod pairing;
mod reader;
mod survey;
mod trace_writer;
mod volumes;
mod window;
mod wording;

pub use error::{LineProblem, TraceError};
pub use format::Format;
pub use head::TraceHead;
pub use iolog_writer::{IologVersion, IologWriter};
pub use open::{OpenOptions, Trace, decompress, file, open, open_stream};
pub use survey::{Amount, ApplicationShare, LatencyStats, Survey, Surveyor, survey};
pub use trace_writer::TraceWriter;
