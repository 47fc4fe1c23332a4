//! Every sentence of this crate that is not at the variant of an error.

likenew_core::sentences! {
    /// A workload replays a recording, and nobody gave it.
    pub(crate) fn recording_missing(trace: &str) = "the recording {trace} is missing here";
    /// Behind "could not".
    pub(crate) fn start_threads(threads: usize) =
        "start {threads} threads (raise the limits of processes and memory: ulimit -u, ulimit -v)";
}

// Names of the workloads that bring a drive back to where an interrupted run left it

pub(crate) const REWRITE_TOUCHED: &str = "rewriting what the recording touches";
pub(crate) const REWRITE_WRITTEN: &str = "rewriting what the run had written";
