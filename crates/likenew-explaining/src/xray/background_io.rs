//! I/Os of other programs during a test, as the kernel counts them at the disk. Latencies need not show them.

use likenew_core::io::Op;
use likenew_core::quantity::Iops;
use likenew_core::segment::Segment;
use likenew_core::units::Nanos;

use super::wording::Disturbance;

/// Foreign I/Os per second from which someone uses the drive. Chosen: an idle system writes a little
/// file-system metadata.
const PER_S_MAX: f64 = 2.0;
/// Fewer I/Os than this in all are chance.
const IOS_MIN: u64 = 8;
/// Shortest time over which the rate means something. Chosen: one write in a tenth of a second is not ten a
/// second of use.
const SPAN_MIN: Nanos = Nanos::from_secs(1);
/// Bytes read beyond those requested are at most this many per foreign read: a page.
const PAGE: u64 = 4096;

/// I/Os counted beyond those requested.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct BackgroundIo {
    /// Reads and writes.
    ios: u64,
    /// Time over which they were counted.
    span: Nanos,
}

impl BackgroundIo {
    /// I/Os during those workloads that write nothing, and so cause no writes of others, such as file-system
    /// metadata or the parity of an array. None if the kernel does not count.
    pub(super) fn in_segment<'a>(segments: impl IntoIterator<Item = &'a Segment>) -> Self {
        let quiet = segments.into_iter().filter(|segment| is_quiet(segment));
        quiet.fold(Self::default(), |sum, segment| {
            let Some(counters) = &segment.device_counters else { return sum };
            let disk = counters.disk_counters();
            // The kernel may split one read into several, which move no more bytes.
            let more = disk.reads.saturating_sub(segment.ios(Op::Read));
            let bytes = disk.bytes_read.saturating_sub(segment.bytes(Op::Read));
            let ios = disk.writes + more.min(bytes / PAGE);
            Self { ios: sum.ios + ios, span: sum.span + segment.elapsed() }
        })
    }

    /// Whether they are enough to disturb a measurement.
    pub(super) fn disturb(&self) -> bool {
        self.ios >= IOS_MIN && self.span >= SPAN_MIN && self.per_s() > PER_S_MAX
    }

    fn per_s(&self) -> f64 {
        if self.span == Nanos::ZERO { 0.0 } else { self.ios as f64 / self.span.as_secs_f64() }
    }

    /// The disturbance to report.
    pub(super) fn disturbance(&self) -> Disturbance {
        Disturbance::BackgroundIo { ios: self.ios, elapsed: self.span, rate: Iops(self.per_s()) }
    }
}

/// Past memory, and without writes.
fn is_quiet(segment: &Segment) -> bool {
    let reads_only = [Op::Write, Op::Trim, Op::Flush].iter().all(|op| segment.ios(*op) == 0);
    reads_only && segment.workload.access.is_direct() && segment.errors() == 0
}

#[cfg(test)]
mod tests {
    use likenew_core::access::Access;
    use likenew_core::counters::Counters;
    use likenew_core::recorder::Stop;
    use likenew_core::segment::SegmentRecorder;
    use likenew_core::tally::Tally;
    use likenew_core::until::Until;
    use likenew_core::workload::Workload;

    use super::*;

    /// Ten seconds with this many reads of 4 KiB, and with these counts of reads, bytes read and writes.
    fn segment(ios: u64, counted: (u64, u64, u64)) -> Segment {
        let workload = Workload::new("w", Until::ops(1), Vec::new());
        let mut segment = SegmentRecorder::join(vec![SegmentRecorder::default()], &workload, Stop::Reached);
        let mut tally = Tally::new(0, Op::Read);
        (tally.ios, tally.bytes) = (ios, ios * 4096);
        segment.tallies.push(tally);
        (segment.started_at, segment.ended_at) = (Nanos::ZERO, Nanos::from_secs(10));
        let (reads, bytes_read, writes) = counted;
        segment.device_counters = Some(Counters { reads, bytes_read, writes, ..Counters::default() });
        segment
    }

    fn is_disturbed(segment: &Segment) -> bool {
        BackgroundIo::in_segment([segment]).disturb()
    }

    #[test]
    fn somebody_elses_reads_and_writes_are_counted() {
        assert!(is_disturbed(&segment(1000, (1030, 1030 * 4096, 0))));
        assert!(is_disturbed(&segment(1000, (1000, 1000 * 4096, 30))));
        assert!(!is_disturbed(&segment(1000, (1005, 1005 * 4096, 6))), "file-system metadata");
        assert!(!is_disturbed(&segment(1000, (4000, 1000 * 4096, 0))), "the same bytes in smaller pieces");
        assert!(!is_disturbed(&segment(1000, (400, 400 * 4096, 0))), "what came from memory");
    }

    #[test]
    fn nothing_is_reported_where_nothing_is_known() {
        let busy = || segment(1000, (1000, 1000 * 4096, 300));
        assert!(is_disturbed(&busy()));
        let uncounted = Segment { device_counters: None, ..busy() };
        assert!(!is_disturbed(&uncounted));
        let short = Segment { ended_at: Nanos::from_millis(200), ..busy() };
        assert!(!is_disturbed(&short));
        let mut writing = busy();
        let mut tally = Tally::new(0, Op::Write);
        tally.ios = 1;
        writing.tallies.push(tally);
        assert!(!is_disturbed(&writing), "a file system writes metadata then");
        let mut buffered = busy();
        buffered.workload.access = Access::Buffered;
        assert!(!is_disturbed(&buffered));
        let disturbance = BackgroundIo::in_segment([&uncounted, &busy()]).disturbance();
        let (elapsed, rate) = (Nanos::from_secs(10), Iops(30.0));
        assert_eq!(disturbance, Disturbance::BackgroundIo { ios: 300, elapsed, rate });
    }
}
