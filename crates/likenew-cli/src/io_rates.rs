//! Speed of a run over the last interval, in all and by kind of I/O. Programs also get latencies.

use hdrhistogram::Histogram;
use likenew_core::io::{Op, Sample};
use likenew_core::units::Nanos;
use serde::Serialize;

/// Time over which the speed is taken. Chosen: shorter intervals make the number flicker, longer ones hide
/// changes.
const INTERVAL: Nanos = Nanos::from_millis(500);
/// Longest latency that is kept, an hour, and its significant digits. Nobody reads more while the numbers change.
const LATENCY_NS_MAX: u64 = 3_600_000_000_000;
const DIGITS: u8 = 2;

/// What was moved, by kind of I/O.
#[derive(Debug, Default)]
pub(crate) struct IoCounts {
    ops: [OpCount; Op::ALL.len()],
    /// Latencies of each kind, if a program shows them.
    latencies: Option<Box<[Histogram<u32>; Op::ALL.len()]>>,
}

#[derive(Clone, Copy, Debug, Default)]
struct OpCount {
    ios: u64,
    bytes: u64,
}

/// One kind of I/O over an interval.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct IoRate {
    op: Op,
    bytes_per_s: f64,
    iops: f64,
    #[serde(flatten)]
    latency: Option<IoLatency>,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
struct IoLatency {
    latency_ns_p50: u64,
    latency_ns_p99: u64,
    latency_ns_max: u64,
}

impl IoCounts {
    /// Begins at zero. Latencies cost a tenth of the time of a simulated I/O.
    pub(crate) fn new(has_latencies: bool) -> Self {
        let empty = |_| Histogram::new_with_bounds(1, LATENCY_NS_MAX, DIGITS).expect("the bounds are valid");
        Self { latencies: has_latencies.then(|| Box::new(Op::ALL.map(empty))), ..Self::default() }
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.ops.iter().map(|count| count.bytes).sum()
    }

    pub(crate) fn written(&self) -> u64 {
        self.ops[Op::Write.index()].bytes
    }

    #[inline]
    pub(crate) fn record(&mut self, sample: &Sample) {
        let count = &mut self.ops[sample.op.index()];
        count.ios += 1;
        count.bytes += sample.bytes();
        if let Some(latencies) = &mut self.latencies {
            latencies[sample.op.index()].saturating_record(sample.latency().0);
        }
    }

    fn add(&mut self, other: &Self) {
        for (count, other) in self.ops.iter_mut().zip(other.ops) {
            count.ios += other.ios;
            count.bytes += other.bytes;
        }
        let (Some(latencies), Some(others)) = (&mut self.latencies, &other.latencies) else { return };
        for (latency, other) in latencies.iter_mut().zip(&**others).filter(|(_, other)| !other.is_empty()) {
            latency.add(other).expect("both have the same bounds");
        }
    }

    pub(crate) fn clear(&mut self) {
        self.ops = Default::default();
        let latencies = self.latencies.iter_mut().flat_map(|by_op| by_op.iter_mut());
        latencies.filter(|latency| !latency.is_empty()).for_each(Histogram::reset);
    }

    fn rates(&self, span: Nanos) -> Vec<IoRate> {
        let rate = |op: Op| {
            let OpCount { ios, bytes } = self.ops[op.index()];
            let latency = self.latencies.as_ref().map(|by_op| &by_op[op.index()]);
            (ios > 0).then(|| IoRate {
                op,
                bytes_per_s: bytes as f64 / span.as_secs_f64(),
                iops: ios as f64 / span.as_secs_f64(),
                latency: latency.map(|latency| IoLatency {
                    latency_ns_p50: latency.value_at_quantile(0.5),
                    latency_ns_p99: latency.value_at_quantile(0.99),
                    latency_ns_max: latency.max(),
                }),
            })
        };
        Op::ALL.into_iter().filter_map(rate).collect()
    }
}

/// Speed over the last interval, on the drive's clock.
#[derive(Debug, Default)]
pub(crate) struct SpeedMeter {
    since: Nanos,
    counts: IoCounts,
    /// In bytes a second.
    pub(crate) rate: Option<f64>,
    /// Rates of each kind of I/O that occurred.
    pub(crate) io: Vec<IoRate>,
}

impl SpeedMeter {
    pub(crate) fn new(has_latencies: bool) -> Self {
        Self { counts: IoCounts::new(has_latencies), ..Self::default() }
    }

    /// Adds what was moved until now.
    pub(crate) fn add(&mut self, counts: &IoCounts, now: Nanos) {
        self.counts.add(counts);
        let span = now.since(self.since);
        // The clock may start again with another workload.
        if now >= self.since && span < INTERVAL {
            return;
        }
        if now >= self.since {
            self.rate = Some(self.counts.bytes() as f64 / span.as_secs_f64());
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
            (read.op, read.bytes_per_s, read.iops, read.latency.unwrap().latency_ns_p50),
            (Op::Read, 10_000.0, 10.0, 100)
        );
        assert_eq!((write.op, write.bytes_per_s, write.iops), (Op::Write, 1500.0, 3.0));
        let near = |value: u64, expected: u64| value.abs_diff(expected) as f64 <= 0.01 * expected as f64;
        let latency = write.latency.unwrap();
        assert!(near(latency.latency_ns_p50, 1000) && near(latency.latency_ns_p99, 9000), "{write:?}");
        speed.add(&counts(Op::Read, 250, &[100; 2]), Nanos::from_millis(1500));
        assert_eq!((speed.rate, speed.io.len()), (Some(1000.0), 1), "what is over is no speed of now");
    }

    #[test]
    fn without_a_program_that_shows_them_there_are_no_latencies() {
        let mut counts = IoCounts::new(false);
        counts.record(&sample(Op::Write, 4096, Nanos(10), 10));
        assert_eq!((counts.bytes(), counts.written()), (4096, 4096));
        let mut speed = SpeedMeter::new(false);
        speed.add(&counts, Nanos::from_secs(1));
        let write = IoRate { op: Op::Write, bytes_per_s: 4096.0, iops: 1.0, latency: None };
        assert_eq!((speed.rate, &*speed.io), (Some(4096.0), &[write][..]));
    }
}
