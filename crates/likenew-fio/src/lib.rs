//! Exchange with fio: workloads as job files and back, and results of fio and other programs as segments.
//!
//! An exported job does what the run loop does with the workload: equal numbers of I/Os, lengths, operations,
//! addresses, depth and rate. What fio cannot do is an error that names the workload; what only comes close is a
//! comment in the file. The import of fio's JSON refuses what it would have to guess. Text that programs print for
//! people is read with caveats, for comparison. This crate runs nothing and opens no file.

mod export;
mod fio_option;
mod import;
mod job;
mod printed;
mod wording;

pub use printed::import_any;

pub use export::{ExportError, FILENAME_LEFT_OPEN, MissingFeature, export};
pub use import::{
    Import, ImportError, JOBS_JOIN, JobFile, JobFileError, OtherText, import, is_job_file, job_file, kind_of,
};
