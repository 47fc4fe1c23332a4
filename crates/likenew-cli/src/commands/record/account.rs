//! The I/O of each application, and how much of its time it waited for it.

use likenew_core::io::Op;
use likenew_core::trace::TraceIo;
use likenew_core::units::Nanos;
use likenew_core::windows::Windows;

/// The I/O of one application, or of all together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Account {
    /// I/Os by [`Op::index`].
    pub(crate) ios: [u64; 4],
    /// Bytes by [`Op::index`].
    pub(crate) bytes: [u64; 4],
    /// Reads and writes that begin where the previous one of the same application and kind ended.
    pub(crate) sequential: u64,
    /// Sum of all latencies.
    pub(crate) waiting: Nanos,
    /// Time with at least one of its I/Os in flight.
    pub(crate) busy: Nanos,
    /// I/Os whose latency is known.
    pub(crate) timed_ios: u64,
    /// The longest latency.
    pub(crate) latency_max: Nanos,
    /// End address of the last one of each kind.
    ends: [Option<u64>; 4],
    /// Time until which its I/Os are in flight.
    busy_until: Nanos,
}

impl Account {
    /// Adds an I/O; they arrive in the order in which they left.
    fn add(&mut self, io: &TraceIo) {
        let kind = io.op.index();
        self.ios[kind] += 1;
        self.bytes[kind] += io.length;
        if matches!(io.op, Op::Read | Op::Write) {
            self.sequential += u64::from(self.ends[kind] == Some(io.offset));
            self.ends[kind] = Some(io.offset.saturating_add(io.length));
        }
        if let Some(latency) = io.latency {
            let end = io.at + latency;
            self.timed_ios += 1;
            self.waiting += latency;
            self.latency_max = self.latency_max.max(latency);
            self.busy += end.since(self.busy_until.max(io.at).min(end));
            self.busy_until = self.busy_until.max(end);
        }
    }

    /// All I/Os.
    pub(crate) fn all(&self) -> u64 {
        self.ios.iter().sum()
    }

    /// Bytes read or written.
    pub(crate) fn bytes_moved(&self) -> u64 {
        self.bytes[Op::Read.index()] + self.bytes[Op::Write.index()]
    }

    /// Share of the reads and writes that continue a previous one.
    pub(crate) fn sequential_share(&self) -> Option<f64> {
        let ios = self.ios[Op::Read.index()] + self.ios[Op::Write.index()];
        (ios > 0).then(|| self.sequential as f64 / ios as f64)
    }

    /// Mean queue depth while there was an I/O in flight.
    pub(crate) fn depth_mean(&self) -> Option<f64> {
        (self.busy > Nanos::ZERO).then(|| self.waiting.0 as f64 / self.busy.0 as f64)
    }

    /// Mean latency.
    pub(crate) fn latency_mean(&self) -> Option<f64> {
        (self.timed_ios > 0).then(|| self.waiting.0 as f64 / self.timed_ios as f64)
    }
}

/// The accounts of a trace.
#[derive(Clone, Debug)]
pub(crate) struct Accounts {
    /// Everything.
    pub(crate) all: Account,
    /// By the index of the application.
    pub(crate) applications: Vec<Account>,
    /// Reads and writes over time, in nanoseconds.
    pub(crate) windows: [Windows; 2],
    /// Departure of the last one.
    pub(crate) last: Nanos,
}

/// First width of the windows over time, which doubles as the recording gets longer. Chosen: fine enough for
/// short recordings.
const CELL: Nanos = Nanos::from_millis(100);

impl Accounts {
    pub(crate) fn new() -> Self {
        let windows = [Windows::new(CELL.0), Windows::new(CELL.0)];
        Self { all: Account::default(), applications: Vec::new(), windows, last: Nanos::ZERO }
    }

    /// Adds an I/O; they arrive in the order in which they left.
    pub(crate) fn add(&mut self, io: &TraceIo) {
        self.all.add(io);
        let index = usize::from(io.application);
        if self.applications.len() <= index {
            self.applications.resize_with(index + 1, Account::default);
        }
        self.applications[index].add(io);
        self.last = io.at;
        if let Some(windows) = self.windows.get_mut(io.op.index()) {
            let latency = io.latency.unwrap_or(Nanos::ZERO);
            windows.add(io.at.0, io.length, latency, io.at + latency);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn io(at: u64, op: Op, offset: u64, length: u64, latency: Option<u64>, application: u16) -> TraceIo {
        TraceIo { at: Nanos(at), op, offset, length, latency: latency.map(Nanos), application }
    }

    #[test]
    fn waiting_is_a_sum_and_busy_is_a_union() {
        let mut accounts = Accounts::new();
        accounts.add(&io(0, Op::Read, 0, 4096, Some(100), 1));
        accounts.add(&io(50, Op::Read, 4096, 4096, Some(100), 1));
        accounts.add(&io(60, Op::Write, 8192, 512, Some(20), 2));
        accounts.add(&io(1000, Op::Flush, 0, 0, Some(500), 2));
        accounts.add(&io(1100, Op::Trim, 0, 1 << 30, None, 2));
        let one = &accounts.applications[1];
        assert_eq!((one.waiting, one.busy, one.sequential_share()), (Nanos(200), Nanos(150), Some(0.5)));
        assert_eq!((one.depth_mean(), one.latency_mean()), (Some(200.0 / 150.0), Some(100.0)));
        let two = &accounts.applications[2];
        assert_eq!((two.ios, two.bytes_moved(), two.timed_ios), ([0, 1, 1, 1], 512, 2));
        let all = &accounts.all;
        assert_eq!(
            (all.all(), all.waiting, all.busy, all.latency_max),
            (5, Nanos(720), Nanos(650), Nanos(500))
        );
        assert_eq!(accounts.applications[0], Account::default());
        assert_eq!(accounts.applications[0].depth_mean(), None);
    }
}
