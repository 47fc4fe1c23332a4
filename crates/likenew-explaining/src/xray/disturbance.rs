//! What disturbs an X-ray: how steadily a drive answered, and the I/Os of other programs.

use likenew_core::io::Op;
use likenew_core::quantity::{Factor, Iops, Share};
use likenew_core::segment::Segment;
use likenew_core::units::Nanos;

use super::wording;

/// Multiple of the median above which an I/O is an outlier. Chosen: above the spread of steady drives.
pub(super) const OUTLIER: f64 = 4.0;
/// Spread between rounds, as a share, above which the drive counts as busy. Chosen: twice what quiet drives
/// show.
const SPREAD_MAX: f64 = 0.05;
const OUTLIERS_MAX: f64 = 0.01;
/// Most outliers among reads of one address, as a share, where a drive makes none. Chosen: 1 in 10,000.
pub(super) const RARE_MAX: f64 = 1e-4;
const WAITED_MAX: f64 = 0.05;

/// How steadily a drive answers.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Noise {
    /// How much equal rounds differ beyond the drive's own spread, as a share of their median: one standard
    /// deviation.
    pub(super) spread: f64,
    /// Share of I/Os that took more than four medians, and more than the drive's own spread explains: the
    /// lower end of its 90% interval, because few I/Os show little.
    pub(super) outliers: f64,
    /// Share of such outliers among reads of one address.
    pub(super) rare: f64,
    /// The share of reads of one address that took more than 1.5 medians, by the same rule.
    pub(super) wait_share: f64,
    /// The drive's own spread: standard deviation of the logarithm of latencies of one address, from their
    /// lower half, which no other I/O widens.
    pub(super) log_deviation: f64,
    /// The spread from the upper half of these latencies, which every disturbance widens.
    pub(super) upper: f64,
    /// Median latency of reads of one address, in nanoseconds.
    pub(super) typical_ns: f64,
    /// I/Os of other programs during the test.
    pub(super) background_io: BackgroundIo,
}

impl Noise {
    /// Whether something other than the drive affects latencies.
    pub(super) fn is_busy(&self) -> bool {
        !self.disturbances().is_empty()
    }

    /// The disturbances that the noise shows, in sentences.
    fn disturbances(&self) -> Vec<String> {
        let outliers = self.outliers.max(self.rare);
        let has_outliers = self.outliers > OUTLIERS_MAX || self.rare > RARE_MAX;
        let disturbances = [
            (self.spread > SPREAD_MAX).then(|| wording::unequal_rounds(Share(self.spread))),
            has_outliers.then(|| wording::outliers(Share(outliers), Factor(OUTLIER))),
            (self.wait_share > WAITED_MAX).then(|| wording::slow_reads(Share(self.wait_share))),
            self.background_io.disturb().then(|| self.background_io.disturbance()),
        ];
        disturbances.into_iter().flatten().collect()
    }
}

/// What disturbs an X-ray, in sentences: the noise of the drive, and `background_io` that a later test met.
pub(super) fn disturbances(noise: Option<Noise>, background_io: Option<BackgroundIo>) -> Vec<String> {
    let mut disturbances = noise.map(|noise| noise.disturbances()).unwrap_or_default();
    let is_known = noise.is_some_and(|noise| noise.background_io.disturb());
    disturbances.extend(background_io.filter(|_| !is_known).map(|background_io| background_io.disturbance()));
    disturbances
}

/// Foreign I/Os per second from which someone uses the drive. Chosen: an idle system writes a little
/// file-system metadata.
const PER_S_MAX: f64 = 2.0;
/// Fewer I/Os of other programs than this, in all, are chance.
const IOS_MIN: u64 = 8;
/// Shortest time over which the rate means something. Chosen: one write in a tenth of a second is not ten a
/// second of use.
const SPAN_MIN: Nanos = Nanos::from_secs(1);
/// A foreign read moves at least this many bytes: a page.
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
    /// Counts I/Os of others during workloads that write nothing, and so cause no writes of others, such as
    /// file-system metadata or the parity of an array. Zero if the kernel does not count.
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

    /// Whether these I/Os are enough to disturb a measurement.
    pub(super) fn disturb(&self) -> bool {
        self.ios >= IOS_MIN && self.span >= SPAN_MIN && self.per_s() > PER_S_MAX
    }

    fn per_s(&self) -> f64 {
        if self.span == Nanos::ZERO { 0.0 } else { self.ios as f64 / self.span.as_secs_f64() }
    }

    /// The disturbance to report, in a sentence.
    pub(super) fn disturbance(&self) -> String {
        wording::background_io(self.ios, self.span, Iops(self.per_s()))
    }
}

/// Whether a segment bypassed memory, wrote nothing and had no errors.
fn is_quiet(segment: &Segment) -> bool {
    let reads_only = [Op::Write, Op::Trim, Op::Flush].iter().all(|op| segment.ios(*op) == 0);
    reads_only && segment.workload.access.is_direct() && segment.errors() == 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use likenew_core::counters::Counters;
    use likenew_core::segment::{SegmentRecorder, Stop};
    use likenew_core::tally::Tally;
    use likenew_core::workload::{Access, Until, Workload};

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
        assert_eq!(disturbance, wording::background_io(300, Nanos::from_secs(10), Iops(30.0)));
    }
}
