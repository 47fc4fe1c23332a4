//! Exchange with fio: any workload as a fio job file, job files as workloads, and fio's results as our own records.
//!
//! An exported job does what the loop would do with the workload: as many I/Os of the same lengths,
//! operations, addresses, depth and rate. What fio cannot do is an error that names the workload; where it
//! only comes close, a comment in the file says how. An import reads fio's JSON and refuses whatever it would
//! have to guess; what fio and other programs print for people is read with caveats, to be compared. This crate runs nothing and opens no file, and neither the loop nor an answer depends on
//! it.

mod export;
mod import;
mod job;
mod printed;
mod wording;

pub use printed::import_any;

pub use export::{ExportError, FILENAME_LEFT_OPEN, MissingFeature, export};
pub use import::{
    Import, ImportError, JOBS_JOIN, JobFile, JobFileError, OtherText, import, is_job_file, job_file, kind_of,
};
