//! Progress as lines of JSON on standard error, for programs that start this one.
//!
//! Each line that begins with `{` is one event; any other line is a message for people.

use serde::Serialize;

use crate::io_rates::IoRate;

/// One line of JSON. Its key says which event it is.
#[derive(Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ProgressEvent<'a> {
    /// A run begins.
    Run {
        procedure: &'a str,
        target: &'a str,
        /// Its run folder, if it is kept.
        folder: Option<&'a str>,
        /// From a dry run on an assumed drive.
        estimate: RunEstimate,
    },
    /// A workload or a probe begins.
    Step {
        name: &'a str,
        /// What it does, in words.
        activity: &'a str,
    },
    /// How far the run is. At most ten times a second, or 200 times on a fast simulated drive.
    Progress {
        step: &'a str,
        /// Share of the run that is done, in 0..1; missing while it is a guess.
        share: Option<f64>,
        left_ns: Option<u64>,
        /// The time left in words.
        left: Option<String>,
        /// Bytes moved in the whole run.
        bytes_done: u64,
        /// Bytes written in the whole run.
        bytes_written: u64,
        /// Speed over the last half second.
        bytes_per_s: Option<f64>,
        /// Speed and latencies of each kind of I/O that occurred.
        io: &'a [IoRate],
        /// Time on the drive's clock.
        drive_time_ns: u64,
    },
}

/// What a run costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct RunEstimate {
    pub(crate) elapsed_ns: u64,
    pub(crate) bytes_written: u64,
    /// Whether a faster drive than the assumed one cannot write more.
    pub(crate) is_bounded: bool,
    /// Bytes of the owner's files that may be rewritten in place, beside the written ones.
    pub(crate) bytes_rewritten: u64,
}

impl RunEstimate {
    pub(crate) fn bytes_max(&self) -> u64 {
        self.bytes_written.saturating_add(self.bytes_rewritten)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_event_is_one_line_whose_key_says_what_it_is() {
        let estimate = RunEstimate { elapsed_ns: 5, bytes_written: 7, is_bounded: true, bytes_rewritten: 0 };
        let run = ProgressEvent::Run { procedure: "check", target: "a\nb", folder: None, estimate };
        let line = serde_json::to_string(&run).unwrap();
        assert!(line.starts_with("{\"run\":{\"procedure\":\"check\"") && !line.contains('\n'), "{line}");
        let step = serde_json::to_string(&ProgressEvent::Step { name: "reads", activity: "4K random reads" });
        assert_eq!(step.unwrap(), r#"{"step":{"name":"reads","activity":"4K random reads"}}"#);
    }
}
