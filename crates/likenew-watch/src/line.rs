//! One drive and one interval for programs and logs: the form of `--json` and of `live.jsonl`.

use likenew_core::io::Op;
use serde::{Deserialize, Serialize};

use crate::drives::Activity;
use crate::drives::{DriveHistory, State};

/// The line of one drive after each reading. Keys have units; what is not known is left out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Line {
    /// When the interval ended, as RFC 3339 has it.
    pub time: String,
    /// When the interval ended, on a clock that began with the watch.
    pub at_ns: u64,
    /// The kernel's name of the drive.
    pub drive: String,
    /// `counts`; or why there are no numbers: `appeared`, `restarted`, `gone`.
    pub state: String,
    /// Its maker and model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The numbers, if there are any.
    #[serde(flatten)]
    pub counts: Option<IntervalCounts>,
}

/// What a drive did in one interval.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct IntervalCounts {
    /// How long the interval was.
    pub elapsed_ns: u64,
    /// Reads that ended.
    pub read: OpLine,
    /// Writes that ended.
    pub write: OpLine,
    /// Discards that ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trim: Option<OpLine>,
    /// Flushes that ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flush: Option<OpLine>,
    /// In flight when it ended.
    pub in_flight: u64,
    /// Mean number in flight.
    pub queue_mean: f64,
    /// Share of time with something in flight.
    pub busy_percent: f64,
    /// For how long, at least, nothing has ended although I/O was in flight.
    pub waiting_ns: u64,
    /// As the driver reports.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub temperature_c: Option<f64>,
}

/// One operation of a drive in one interval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct OpLine {
    /// I/Os that ended.
    pub ios: u64,
    /// I/Os that were merged into these.
    pub merged: u64,
    /// Bytes they moved.
    pub bytes: u64,
    /// I/Os per second.
    pub iops: f64,
    /// Bytes a second.
    pub bytes_per_s: f64,
    /// Mean latency; none without I/Os.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency_ns_mean: Option<u64>,
    /// The step in which that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency_ns_step: Option<u64>,
}

impl Line {
    /// The line of a drive's last reading, at this date.
    pub fn from_course(history: &DriveHistory, time: &str, at_ns: u64) -> Self {
        let state = match history.state() {
            State::Appeared => "appeared",
            State::IntervalCounts => "counted",
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
