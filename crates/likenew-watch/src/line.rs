//! One drive and interval as a line of JSON, for `--json` and `live.jsonl`.

use likenew_core::io::Op;
use serde::{Deserialize, Serialize};

use crate::drives::Activity;
use crate::drives::{DriveHistory, State};

/// A drive's line for one reading. Keys contain units; unknown values are left out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Line {
    /// End of the interval in RFC 3339.
    pub time: String,
    /// End of the interval in nanoseconds since the watch began.
    pub at_ns: u64,
    /// The kernel's name of the drive.
    pub drive: String,
    /// `counted`, or why there are no counts: `appeared`, `restarted`, `gone`.
    pub state: String,
    /// Manufacturer and model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The counts, if the state is `counted`.
    #[serde(flatten)]
    pub counts: Option<IntervalCounts>,
}

/// Activity of a drive in one interval.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct IntervalCounts {
    /// Length of the interval.
    pub elapsed_ns: u64,
    /// Reads that completed.
    pub read: OpLine,
    /// Writes that completed.
    pub write: OpLine,
    /// Discards that completed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trim: Option<OpLine>,
    /// Flushes that completed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flush: Option<OpLine>,
    /// I/Os in flight at the end.
    pub in_flight: u64,
    /// Mean number of I/Os in flight.
    pub queue_mean: f64,
    /// Share of time with I/O in flight.
    pub busy_percent: f64,
    /// Least time for which I/O has been in flight without any completion.
    pub waiting_ns: u64,
    /// Temperature as the driver reports it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub temperature_c: Option<f64>,
}

/// One operation of a drive in one interval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct OpLine {
    /// I/Os that completed.
    pub ios: u64,
    /// Requests that were merged into these I/Os.
    pub merged: u64,
    /// Bytes of these I/Os.
    pub bytes: u64,
    /// I/Os per second.
    pub iops: f64,
    /// Bytes per second.
    pub bytes_per_s: f64,
    /// Mean latency; `None` without I/Os.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency_ns_mean: Option<u64>,
    /// Resolution of the mean latency.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency_ns_step: Option<u64>,
}

impl Line {
    /// The line for a drive's last reading, with this date.
    pub fn from_course(history: &DriveHistory, time: &str, at_ns: u64) -> Self {
        let state = match history.state() {
            State::Appeared => "appeared",
            State::Counted => "counted",
            State::Restarted => "restarted",
            State::Gone => "gone",
        };
        Self {
            time: time.to_owned(),
            at_ns: history.activity().map_or(at_ns, |activity| activity.at.0),
            drive: history.name().to_owned(),
            state: state.to_owned(),
            model: history.facts().model.clone(),
            counts: history.activity().map(IntervalCounts::from_activity),
        }
    }
}

impl IntervalCounts {
    fn from_activity(activity: &Activity) -> Self {
        let op = |op: Op| {
            let count = activity.stat.op_stat(op)?;
            Some(OpLine {
                ios: count.ios,
                merged: count.merged,
                bytes: count.bytes(),
                iops: activity.iops(op),
                bytes_per_s: activity.bytes_per_s(op),
                latency_ns_mean: count.latency_mean().map(|mean| mean.0),
                latency_ns_step: count.latency_step().map(|step| step.0),
            })
        };
        Self {
            elapsed_ns: activity.elapsed.0,
            read: op(Op::Read).unwrap_or_default(),
            write: op(Op::Write).unwrap_or_default(),
            trim: op(Op::Trim),
            flush: op(Op::Flush),
            in_flight: activity.stat.in_flight,
            queue_mean: activity.queue(),
            busy_percent: activity.busy() * 100.0,
            waiting_ns: activity.waiting.0,
            temperature_c: activity.temperature_c,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drives::Drives;
    use crate::drives::history_tests::{at, reading};

    #[test]
    fn a_line_is_plain_json_and_reads_back() {
        let mut drives = Drives::default();
        drives.take(at(0, vec![reading("sda", 1, 0, "0 0 0 0 0 0 0 0 0 0 0 0 0 0 0")]));
        let line = |drives: &Drives| {
            Line::from_course(drives.by_name("sda").unwrap(), "2026-03-01T12:30:45.678Z", 5)
        };
        let first = serde_json::to_string(&line(&drives)).unwrap();
        assert_eq!(
            first,
            r#"{"time":"2026-03-01T12:30:45.678Z","at_ns":5,"drive":"sda","state":"appeared"}"#
        );
        assert_eq!(serde_json::from_str::<Line>(&first).unwrap(), line(&drives));
        drives.take(at(2000, vec![reading("sda", 1, 2000, "4 1 80 6 0 0 0 0 2 500 7 0 0 0 0")]));
        let second = serde_json::to_value(line(&drives)).unwrap();
        assert_eq!(second["read"]["bytes_per_s"], 20_480.0);
        assert_eq!(second["read"]["latency_ns_mean"], 1_500_000);
        assert_eq!(
            (&second["busy_percent"], &second["elapsed_ns"]),
            (&25.0.into(), &2_000_000_000u64.into())
        );
        assert_eq!(second["write"].get("latency_ns_mean"), None);
        assert_eq!(serde_json::from_value::<Line>(second).unwrap(), line(&drives));
    }
}
