//! The metrics of a segment that are compared: its rate, its latencies relative to their mean, and its rate over time.
//!
//! All are compared as logarithms. Latencies are divided by the segment's mean, so that a slower pass counts only once,
//! through its rate. Geometric mean and mean of the slowest 5% replace median and 99th percentile. If latencies have
//! two levels, a quantile jumps between them, and its derivative shows no direction; a mean changes smoothly.

use likenew_core::io::Op;
use likenew_core::segment::{Segment, Windows};
use likenew_core::tally::Latencies;
use likenew_core::workload::Arrival;
use serde::Serialize;

/// Kinds of metrics. Each kind has its own error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum MetricKind {
    /// Bytes per second, or IOPS if no bytes are moved; the mean latency if the workload has a fixed rate.
    Rate,
    /// Geometric mean of latencies over their mean.
    Typical,
    /// Mean of the slowest 5% of latencies over the mean of all.
    Tail,
    /// The rate in one part of a segment.
    Part,
}

impl MetricKind {
    pub(crate) const ALL: [Self; 4] = [Self::Rate, Self::Typical, Self::Tail, Self::Part];

    /// The error, as a logarithm, that the search assumes at first. Chosen: passes on real drives differ by a few
    /// percent, latencies and parts of a pass by more.
    pub(crate) fn usual_error(self) -> f64 {
        match self {
            Self::Rate => 0.04,
            Self::Typical => 0.08,
            Self::Tail => 0.2,
            Self::Part => 0.15,
        }
    }
}

/// One value of a segment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Metric {
    Rate,
    MeanLatency,
    Typical(Op),
    Tail(Op),
    /// The rate between two positions, in bytes since the start.
    PartOfBytes(f64, f64),
    /// The rate between two times, in nanoseconds since the start.
    PartOfTime(f64, f64),
}

/// Fewest I/Os for each metric; five of 100 are in the tail.
const TYPICAL_IOS_MIN: u64 = 30;
const TAIL_IOS_MIN: u64 = 100;
/// The tail's share of all I/Os.
const TAIL: f64 = 0.05;
/// Fewest windows of a segment whose parts are compared, and number of parts. Chosen: enough to place a write cliff
/// within a twelfth.
const WINDOWS_MIN: usize = 8;
const PARTS: usize = 12;

impl Metric {
    pub(crate) fn kind(self) -> MetricKind {
        match self {
            Self::Rate | Self::MeanLatency => MetricKind::Rate,
            Self::Typical(_) => MetricKind::Typical,
            Self::Tail(_) => MetricKind::Tail,
            Self::PartOfBytes(..) | Self::PartOfTime(..) => MetricKind::Part,
        }
    }

    /// All metrics of a measured segment. `course`: whether it is simulated completely, so that parts can be compared.
    pub(crate) fn of(measured: &Segment, course: bool) -> Vec<Self> {
        if measured.workload.is_rest() || measured.errors() > 0 || measured.is_dry_run() {
            return Vec::new();
        }
        let is_set = |arrival: &Arrival| {
            matches!(arrival, Arrival::Open { .. } | Arrival::Interleaved { per_second: Some(_), .. })
        };
        let paced = measured.workload.streams.iter().any(|stream| is_set(&stream.arrival));
        let mut metrics = vec![if paced { Self::MeanLatency } else { Self::Rate }];
        for op in [Op::Read, Op::Write] {
            let ios = measured.ios(op);
            if ios >= TYPICAL_IOS_MIN {
                metrics.push(Self::Typical(op));
            }
            if ios >= TAIL_IOS_MIN {
                metrics.push(Self::Tail(op));
            }
        }
        if course {
            metrics.extend(parts(measured));
        }
        metrics.retain(|metric| metric.value(measured).is_some());
        metrics
    }

    /// The metric's logarithm; `None` if the segment does not have it.
    pub(crate) fn value(self, segment: &Segment) -> Option<f64> {
        let value = match self {
            Self::Rate => segment.bytes_per_s().filter(|rate| *rate > 0.0).or_else(|| segment.iops())?,
            Self::MeanLatency => segment.total().latency_ns_mean(),
            Self::Typical(op) => over_mean(segment, op, geometric_mean)?,
            Self::Tail(op) => over_mean(segment, op, tail_mean)?,
            Self::PartOfBytes(from, to) => {
                let time = |at| time_at(segment, at);
                (to - from) / (time(to)? - time(from)?)
            }
            Self::PartOfTime(from, to) => {
                let bytes = |at| bytes_at(&segment.seconds, at);
                (bytes(to)? - bytes(from)?) / (to - from)
            }
        };
        (value > 0.0 && value.is_finite()).then(|| value.ln())
    }
}

/// A statistic of an operation's latencies, over the mean of all latencies.
fn over_mean(segment: &Segment, op: Op, statistic: fn(&Latencies) -> f64) -> Option<f64> {
    let mean = segment.total().latency_ns_mean();
    let tally = segment.total_of(op);
    (tally.ios > 0 && mean > 0.0).then(|| statistic(&tally.latency) / mean)
}

fn geometric_mean(latencies: &Latencies) -> f64 {
    let logarithms: f64 =
        latencies.places().iter().map(|(value, count)| (*value as f64).ln() * *count as f64).sum();
    (logarithms / latencies.count() as f64).exp()
}

fn tail_mean(latencies: &Latencies) -> f64 {
    let wanted = (latencies.count() as f64 * TAIL).max(1.0);
    let (mut left, mut sum) = (wanted, 0.0);
    for (value, count) in latencies.places().iter().rev() {
        let taken = (*count as f64).min(left);
        sum += *value as f64 * taken;
        left -= taken;
        if left <= 0.0 {
            break;
        }
    }
    sum / wanted
}

/// Equal parts of a segment with enough windows: parts of its time if time ended it, or else of its bytes.
fn parts(measured: &Segment) -> Vec<Metric> {
    let until = measured.workload.until;
    let bytes: u64 = measured.gigabytes.cells.iter().map(|cell| cell.bytes).sum();
    let by_time = until.elapsed.is_some_and(|elapsed| measured.elapsed() >= elapsed);
    let (end, windows) = if by_time {
        (measured.elapsed().0 as f64, measured.seconds.cells.len())
    } else {
        (bytes as f64, measured.gigabytes.cells.len())
    };
    if windows < WINDOWS_MIN || bytes == 0 {
        return Vec::new();
    }
    let count = PARTS.min(windows / 2);
    let bound = |index: usize| end * index as f64 / count as f64;
    let part = |index| {
        let (from, to) = (bound(index), bound(index + 1));
        if by_time { Metric::PartOfTime(from, to) } else { Metric::PartOfBytes(from, to) }
    };
    (0..count).map(part).collect()
}

/// Seconds since the start at which this many bytes had been moved; `None` beyond the end.
fn time_at(segment: &Segment, bytes: f64) -> Option<f64> {
    let (mut moved, mut since) = (0.0, 0.0);
    for cell in &segment.gigabytes.cells {
        let ended = cell.last.since(segment.started_at).as_secs_f64().max(since);
        let more = cell.bytes as f64;
        if moved + more >= bytes {
            return Some(since + (ended - since) * ((bytes - moved) / more.max(1.0)));
        }
        (moved, since) = (moved + more, ended);
    }
    // Rounding at the end is less than a block.
    (bytes <= moved * 1.001 && moved > 0.0).then_some(since)
}

/// Bytes moved within this many nanoseconds, assuming an even rate within each window.
fn bytes_at(windows: &Windows, at: f64) -> Option<f64> {
    let position = at / windows.width as f64;
    let whole = position as usize;
    let sum: u64 = windows.cells.iter().take(whole).map(|cell| cell.bytes).sum();
    let part = windows.cells.get(whole).map_or(0.0, |cell| cell.bytes as f64);
    (whole <= windows.cells.len()).then(|| sum as f64 + part * position.fract())
}
