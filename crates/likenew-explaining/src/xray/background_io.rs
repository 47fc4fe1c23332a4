//! I/Os that others asked for while a probe was at work, as the kernel counts them at the disk: what nothing in a latency may show.

use likenew_core::io::Op;
use likenew_core::quantity::Iops;
use likenew_core::segment::Segment;
use likenew_core::units::Nanos;

use super::wording::Disturbance;

/// More of them a second are somebody who uses the drive; a system that is left alone writes down a few for its own books.
const PER_S_MAX: f64 = 2.0;
/// Fewer in all are an accident, and so are those of a shorter time.
const IOS_MIN: u64 = 8;
const SPAN_MIN: Nanos = Nanos::from_secs(1);
/// What was read beyond what was asked for is no more I/Os than whole pages.
const PAGE: u64 = 4096;

/// What was counted and not asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct BackgroundIo {
    /// Reads and writes.
    ios: u64,
    /// For so long was counted.
    span: Nanos,
}

impl BackgroundIo {
    /// During those of these workloads that write nothing themselves, and so make nobody else write or read: a file system's books, the
    /// parity of an array. Nothing where nobody counts.
    pub(super) fn in_segment<'a>(segments: impl IntoIterator<Item = &'a Segment>) -> Self {
        let quiet = segments.into_iter().filter(|segment| is_quiet(segment));
        quiet.fold(Self::default(), |sum, segment| {
            let Some(counters) = &segment.device_counters else { return sum };
            let disk = counters.disk_counters();
            // One read may be counted as several, and then brings no more bytes.
            let more = disk.reads.saturating_sub(segment.ios(Op::Read));
            let bytes = disk.bytes_read.saturating_sub(segment.bytes(Op::Read));
            let ios = disk.writes + more.min(bytes / PAGE);
            Self { ios: sum.ios + ios, span: sum.span + segment.elapsed() }
        })
    }

    /// Whether they are enough to disturb what is measured.
    pub(super) fn disturb(&self) -> bool {
        self.ios >= IOS_MIN && self.span >= SPAN_MIN && self.per_s() > PER_S_MAX
    }

    fn per_s(&self) -> f64 {
        if self.span == Nanos::ZERO { 0.0 } else { self.ios as f64 / self.span.as_secs_f64() }
    }

    /// What is to be said of them.
    pub(super) fn disturbance(&self) -> Disturbance {
        Disturbance::BackgroundIo { ios: self.ios, elapsed: self.span, rate: Iops(self.per_s()) }
    }
}

/// Past memory, and without anything that is written by it.
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

    /// Ten seconds in which so many reads of 4 KiB were done, and so many reads of these bytes and writes counted.
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
        assert!(!is_disturbed(&segment(1000, (1005, 1005 * 4096, 6))), "a system's own books");
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
        assert!(!is_disturbed(&writing), "a file system writes its books then");
        let mut buffered = busy();
        buffered.workload.access = Access::Buffered;
        assert!(!is_disturbed(&buffered));
        let disturbance = BackgroundIo::in_segment([&uncounted, &busy()]).disturbance();
        let (elapsed, rate) = (Nanos::from_secs(10), Iops(30.0));
        assert_eq!(disturbance, Disturbance::BackgroundIo { ios: 300, elapsed, rate });
    }
}
