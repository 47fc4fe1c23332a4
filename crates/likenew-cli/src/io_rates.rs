//! Speed of a run over the last interval; for whoever watches it, also that of each kind of I/O, with latencies.

use hdrhistogram::Histogram;
use likenew_core::io::{Op, Sample};
use likenew_core::units::Nanos;
use serde::Serialize;

/// Time over which the speed is taken. Chosen: shorter intervals make the number flicker, longer ones hide
/// changes.
const INTERVAL: Nanos = Nanos::from_millis(500);
/// Latencies are kept up to an hour, to two significant digits: more are not read while they change.
const LATENCY_NS_MAX: u64 = 3_600_000_000_000;
const DIGITS: u8 = 2;

/// What was moved.
#[derive(Debug, Default)]
pub(crate) struct IoCounts {
    bytes: u64,
    written: u64,
    /// By kind of I/O, if anybody watches.
    ops: Option<Box<[OpCount; Op::ALL.len()]>>,
}

#[derive(Debug)]
struct OpCount {
    bytes: u64,
    latency: Histogram<u32>,
}

/// One kind of I/O over an interval.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct IoRate {
    op: Op,
    bytes_per_s: f64,
    iops: f64,
    latency_ns_p50: u64,
    latency_ns_p99: u64,
    latency_ns_max: u64,
}

impl IoCounts {
    /// Nothing yet; each kind of I/O is counted only for whoever watches.
    pub(crate) fn new(is_watched: bool) -> Self {
        let count = || OpCount {
            bytes: 0,
            latency: Histogram::new_with_bounds(1, LATENCY_NS_MAX, DIGITS).expect("the bounds are valid"),
        };
        Self { ops: is_watched.then(|| Box::new(Op::ALL.map(|_| count()))), ..Self::default() }
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    pub(crate) fn written(&self) -> u64 {
        self.written
    }

    #[inline]
    pub(crate) fn record(&mut self, sample: &Sample) {
        let bytes = sample.bytes();
        self.bytes += bytes;
        if sample.op == Op::Write {
            self.written += bytes;
        }
        if let Some(ops) = &mut self.ops {
            let count = &mut ops[sample.op.index()];
            count.bytes += bytes;
            count.latency.saturating_record(sample.latency().0);
        }
    }

    fn add(&mut self, other: &Self) {
        self.bytes += other.bytes;
        self.written += other.written;
        let (Some(ops), Some(others)) = (&mut self.ops, &other.ops) else { return };
        for (count, other) in ops.iter_mut().zip(&**others).filter(|(_, other)| !other.latency.is_empty()) {
            count.bytes += other.bytes;
            count.latency.add(&other.latency).expect("both have the same bounds");
        }
    }

    pub(crate) fn clear(&mut self) {
        (self.bytes, self.written) = (0, 0);
        for count in self.ops.iter_mut().flat_map(|ops| ops.iter_mut()) {
            if !count.latency.is_empty() {
                count.bytes = 0;
                count.latency.reset();
            }
        }
    }

    fn rates(&self, span: Nanos) -> Vec<IoRate> {
        let ops = self.ops.iter().flat_map(|ops| Op::ALL.into_iter().zip(&**ops));
        let moved = ops.filter(|(_, count)| !count.latency.is_empty());
        let rate = |(op, count): (Op, &OpCount)| IoRate {
            op,
            bytes_per_s: count.bytes as f64 / span.as_secs_f64(),
            iops: count.latency.len() as f64 / span.as_secs_f64(),
            latency_ns_p50: count.latency.value_at_quantile(0.5),
            latency_ns_p99: count.latency.value_at_quantile(0.99),
            latency_ns_max: count.latency.max(),
        };
        moved.map(rate).collect()
    }
}

/// Speed over the last interval, on the drive's clock.
#[derive(Debug, Default)]
pub(crate) struct SpeedMeter {
    since: Nanos,
    counts: IoCounts,
    /// In bytes a second.
    pub(crate) rate: Option<f64>,
    /// Of each kind of I/O that there was.
    pub(crate) io: Vec<IoRate>,
}

impl SpeedMeter {
    pub(crate) fn new(is_watched: bool) -> Self {
        Self { counts: IoCounts::new(is_watched), ..Self::default() }
    }

    /// Adds what was moved until now.
    pub(crate) fn add(&mut self, counts: &IoCounts, now: Nanos) {
        self.counts.add(counts);
        let span = now.since(self.since);
        // Another workload may start its clock again.
        if now >= self.since && span < INTERVAL {
            return;
        }
        if now >= self.since {
            self.rate = Some(self.counts.bytes as f64 / span.as_secs_f64());
            self.io = self.counts.rates(span);
        }
        self.counts.clear();
        self.since = now;
    }
}

#[cfg(test)]
mod tests {
    use likenew_core::io::Outcome;

    use super::*;

    fn sample(op: Op, length: u32, done: Nanos, latency: u64) -> Sample {
        let due = Nanos(done.0 - latency);
        Sample { stream: 0, op, outcome: Outcome::Done, length, offset: 0, due, sent: due, done }
    }

    fn counts(op: Op, bytes: u32, latencies: &[u64]) -> IoCounts {
        let mut counts = IoCounts::new(true);
        for latency in latencies {
            let done = Nanos(1_000_000_000 + latency);
            counts.record(&sample(op, bytes, done, *latency));
        }
        counts
    }

    #[test]
    fn speed_is_of_the_last_interval_and_of_each_kind_of_io() {
        let mut speed = SpeedMeter::new(true);
        speed.add(&counts(Op::Read, 1000, &[100; 10]), Nanos::from_millis(100));
        assert_eq!((speed.rate, &*speed.io), (None, &[][..]));
        speed.add(&counts(Op::Write, 500, &[1000, 1000, 9000]), Nanos::from_millis(1000));
        assert_eq!(speed.rate, Some(11_500.0));
        let [read, write] = &*speed.io else { panic!("{:?}", speed.io) };
        assert_eq!(
            (read.op, read.bytes_per_s, read.iops, read.latency_ns_p50),
            (Op::Read, 10_000.0, 10.0, 100)
        );
        assert_eq!((write.op, write.bytes_per_s, write.iops), (Op::Write, 1500.0, 3.0));
        let near = |value: u64, of: u64| value.abs_diff(of) as f64 <= 0.01 * of as f64;
        assert!(near(write.latency_ns_p50, 1000) && near(write.latency_ns_p99, 9000), "{write:?}");
        speed.add(&counts(Op::Read, 250, &[100; 2]), Nanos::from_millis(1500));
        assert_eq!((speed.rate, speed.io.len()), (Some(1000.0), 1), "what is over is no speed of now");
    }

    #[test]
    fn without_a_watcher_there_is_one_speed() {
        let mut counts = IoCounts::new(false);
        counts.record(&sample(Op::Write, 4096, Nanos(10), 10));
        assert_eq!((counts.bytes(), counts.written()), (4096, 4096));
        let mut speed = SpeedMeter::new(false);
        speed.add(&counts, Nanos::from_secs(1));
        assert_eq!((speed.rate, &*speed.io), (Some(4096.0), &[][..]));
    }
}
