//! What an import expects of a value: "expected a list, found null".

// ## Of any value

pub(crate) const OBJECT: &str = "an object";
pub(crate) const LIST: &str = "a list";
pub(crate) const TEXT: &str = "a text";
pub(crate) const COUNT: &str = "a whole number from 0 to 2⁶⁰";
pub(crate) const NUMBER: &str = "a number from 0 to 2⁶⁰";
pub(crate) const ERRNO: &str = "an error number of the system";

// ## Of the document

pub(crate) const UNIX_TIME: &str = "seconds since 1970 as a whole number";
pub(crate) const VERSION: &str = "the version of fio, such as \"fio-3.33\"";
pub(crate) const NEWER_VERSION: &str =
    "fio 3 or newer: older versions give amounts and latencies in other units";
pub(crate) const JOBS: &str = "a list of jobs, or client_stats of fio --client";
pub(crate) const ONE_JOB: &str = "a list of at least one job";
pub(crate) const JOB_NAME: &str = "the name of the job";
pub(crate) const GROUP_NUMBER: &str = "the number of its group";
pub(crate) const STREAM_COUNT: &str = "at most 65535 streams in a workload";
pub(crate) const TOTALS: &str = "jobs that come to less than 2⁶⁰ in all";

// ## Of a job's options

pub(crate) const OPTIONS: &str = "the options of the job, as fio 3 gives them";
pub(crate) const OPERATION: &str = "read, write, trim, rw, readwrite or trimwrite, with or without rand";

// ## Of what a job did

pub(crate) const SIDE: &str = "an object that says what the job did";
pub(crate) const IO_COUNT: &str = "a count of I/Os";
pub(crate) const FLUSH_COUNT: &str = "a count of flushes";
pub(crate) const BYTES: &str = "a number of bytes";
pub(crate) const BYTES_OF_KIBIBYTES: &str = "bytes, 1024 times io_kbytes";
pub(crate) const MILLISECONDS: &str = "milliseconds";
pub(crate) const RUNTIME: &str = "milliseconds that make less than 36 years";

// ## Of its latencies

pub(crate) const LATENCY: &str = "an object with \"mean\" in nanoseconds, as fio 3 gives it";
pub(crate) const MEAN: &str = "a mean in nanoseconds";
pub(crate) const NANOSECONDS: &str = "nanoseconds";
pub(crate) const BIN: &str = "a bin whose name is a whole number of nanoseconds";
pub(crate) const BIN_SUM: &str = "bins that hold less than 2⁶⁰ I/Os";
pub(crate) const PERCENTILE: &str = "a percentile whose name is a number from 0 to 100";
pub(crate) const LATENCY_SUM: &str = "latencies that sum up to less than 36 years";
