//! All sentences of this crate, except those at the variants of an error.

likenew_core::sentences! {
    /// For a workload that replays a recording which was not given.
    pub(crate) fn recording_missing(trace: &str) = "the recording {trace} is missing here";
    /// Follows "could not".
    pub(crate) fn start_threads(threads: usize) =
        "start {threads} threads (raise the limits of processes and memory: ulimit -u, ulimit -v)";
}

// Names of workloads that restore the state in which an interrupted run left a drive

pub(crate) const REWRITE_TOUCHED: &str = "rewriting what the recording touches";
pub(crate) const REWRITE_WRITTEN: &str = "rewriting what the run had written";
