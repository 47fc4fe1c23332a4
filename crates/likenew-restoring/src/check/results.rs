//! Turns the segments of a check into metrics and indicators.

use std::collections::BTreeMap;

use likenew_core::drive::TargetKind;
use likenew_core::io::Op;
use likenew_core::probe::{Probe, ProbeResult};
use likenew_core::procedure::{Evidence, PastSteps};
use likenew_core::segment::{Cell, Segment};
use likenew_core::stamp::SECTOR;
use likenew_core::units::Nanos;
use likenew_diagnosis::{Measured, Measurements, Metric, WriteCliff};
use likenew_measuring::commits::Commits;
use likenew_stats::change_points::knees;
use likenew_stats::interval::{CONFIDENCE_90, mean_interval};
use likenew_stats::summary::{mean, median, standard_deviation};

use super::MeasuredOption;

/// Standard error of a single value, as a share. Chosen: large, because one value shows no scatter.
const SINGLE_VALUE_ERROR: f64 = 0.12;
/// Smallest standard error of several values, as a share. Chosen: drives repeat no better.
const LEAST: f64 = 0.03;
/// Largest error of a time, as a share: its rate may be five times as high.
const ERROR_MAX: f64 = 0.8;
/// One in so many regions counts as slowest.
const SLOW_PART: usize = 8;
/// Error of the processor time in the kernel, as a share. Chosen: a tenth, because other programs use it, too.
const BUSY: f64 = 0.1;
/// Windows that count as the beginning of a run of small reads.
const RUN_ENDS: usize = 1;
/// Fewest windows that a drop lasts.
const DROP_WINDOWS: usize = 6;
/// Smallest ratio of the rates before and after a drop. Chosen: above the spread of windows.
const DROP: f64 = 1.3;
/// Spread of the windows of a run, as a share, below which it is flat. Chosen: only a rate limit is that
/// steady, and no medium.
const FLAT: f64 = 0.03;
/// Share of the bytes before a drop that the last flush still writes, from which memory filled up and not
/// faster flash. Chosen: half.
const BUFFERED_SHARE: f64 = 0.5;
/// Bytes within which a drop is that of the drive's memory, whatever its flush shows. Chosen: pseudo-SLC
/// caches are larger by orders of magnitude.
const BUFFER_BYTES_MAX: f64 = 16.0 * 1024.0 * 1024.0;
/// Quantiles at which latencies after pauses are compared, in 0..1. Chosen: the middle half, without stalls.
const PAUSED_QUANTILES: [f64; 3] = [0.25, 0.5, 0.75];
/// Share of the time of writes that a flush takes, from which memory took the writes. Chosen: a tenth is more
/// than a flush of a small cache.
const FLUSH_SHARE_MIN: f64 = 0.1;
/// Standard deviations within which nine of ten values of a normal distribution lie.
const CERTAIN: f64 = 1.645;
/// Latency over the median, as a ratio, from which an I/O is a stall if it also takes `STALL_LEAST`. Chosen:
/// retries and garbage collection stay below it.
const STALL: f64 = 30.0;
/// Shortest such stall. Chosen: longer than the slowest seek of a disk.
const STALL_LEAST: Nanos = Nanos::from_millis(80);
/// The same ratio for I/Os that take `LONG_STALL_LEAST`. Chosen: lower, because users notice such a stall.
const LONG_STALL: f64 = 10.0;
/// Shortest such stall. Chosen: users notice it.
const LONG_STALL_LEAST: Nanos = Nanos::from_millis(400);

/// What other programs measured.
pub(super) fn reported_measurements(measured: &[MeasuredOption]) -> Measurements {
    let value = |reported: &MeasuredOption| Measured::with_interval(reported.per_s, SINGLE_VALUE_ERROR);
    let reads = measured.iter().find(|measured| measured.metric == Metric::RandomRead);
    Measurements {
        metrics: measured.iter().map(|measured| (measured.metric, value(measured))).collect(),
        access_ns: reads.map(|read| Measured::with_interval(1e9, 0.0).divide_by(value(read))),
        ..Measurements::default()
    }
}

/// What one check measured.
pub(crate) struct CheckResults<'a> {
    pub(crate) evidence: &'a Evidence,
    /// Everything that was done.
    pub(crate) past: PastSteps<'a>,
    /// Number of workloads at the end that the diagnosis leaves out: a mix of applications, and durable writes.
    pub(super) at_end: usize,
    pub(super) commits: Vec<Commits>,
    pub(super) ran: Workloads<'a>,
}

/// The segments of a check that did not fail. Regions and files are kept as speeds in bytes a second, by their numbers.
#[derive(Default)]
pub(super) struct Workloads<'a> {
    pub(super) quiet: Option<&'a Segment>,
    pub(super) places: BTreeMap<usize, f64>,
    pub(super) places_again: BTreeMap<usize, f64>,
    pub(super) old_files: BTreeMap<usize, f64>,
    pub(super) small_reads: Option<&'a Segment>,
    pub(super) near_reads: Option<&'a Segment>,
    pub(super) deep_reads: Option<&'a Segment>,
    pub(super) paused_reads: Option<&'a Segment>,
    pub(super) load: Option<&'a Segment>,
    pub(super) cool: Option<&'a Segment>,
    pub(super) load_after_idle: Option<&'a Segment>,
    pub(super) writes: Option<&'a Segment>,
    pub(super) continued_writes: Vec<&'a Segment>,
    pub(super) fresh: BTreeMap<usize, f64>,
    pub(super) fresh_small: Option<&'a Segment>,
    /// Kept even if it failed.
    pub(super) unwritten_reads: Option<&'a Segment>,
    pub(super) small_writes: Option<&'a Segment>,
    /// Each with its shift, in bytes.
    pub(super) shifted_writes: Vec<(u64, &'a Segment)>,
    /// Writes without a shift, repeated after the shifted ones.
    pub(super) aligned_again: Option<&'a Segment>,
    pub(super) rested_writes: Option<&'a Segment>,
    pub(super) new_places: Option<&'a Segment>,
    pub(super) trimmed_writes: Option<&'a Segment>,
    pub(super) zeros: Option<&'a Segment>,
    pub(super) after_zeros: Option<&'a Segment>,
    pub(super) slow_writes: Option<&'a Segment>,
}

/// Latencies of small reads after a pause and right after another read, at the same quantile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PauseLatencies {
    pub(super) after_pause: Nanos,
    pub(super) busy: Nanos,
}

impl PauseLatencies {
    pub(super) fn ratio(self) -> f64 {
        self.after_pause.0 as f64 / self.busy.0 as f64
    }
}

/// A lasting drop of sequential writes.
struct Knee {
    at_bytes: Measured,
    ratio: Measured,
    /// Whether the drop came because the drive's memory was full.
    is_of_memory: bool,
}

impl<'a> CheckResults<'a> {
    pub(super) fn new(evidence: &'a Evidence) -> Self {
        Self {
            evidence,
            past: PastSteps::default(),
            at_end: 0,
            commits: Vec::new(),
            ran: Workloads::default(),
        }
    }

    /// The numbers of the slowest regions.
    pub(super) fn slowest_places(&self, count: usize) -> Vec<usize> {
        let mut places: Vec<(usize, f64)> = pairs(&self.ran.places).collect();
        places.sort_by(|one, other| one.1.total_cmp(&other.1));
        places.into_iter().take(count).map(|(index, _)| index).collect()
    }

    /// Whether the first step of the check was done.
    pub(crate) fn is_begun(&self) -> bool {
        self.past.observations.iter().any(|observation| observation.probe == Probe::Facts)
    }

    /// The workloads that count for the diagnosis.
    fn segments(&self) -> &[&'a Segment] {
        &self.past.segments[..self.past.segments.len() - self.at_end]
    }

    /// The workloads that count for the diagnosis and did not fail.
    fn usable_segments(&self) -> impl Iterator<Item = &'a Segment> {
        self.segments().iter().copied().filter_map(sound)
    }

    /// Whether this is a dry run, whose results are unknown.
    pub(crate) fn is_dry_run(&self) -> bool {
        self.past.segments.iter().any(|segment| segment.is_dry_run())
    }

    /// All metrics and indicators.
    pub(super) fn measurements(&self) -> Measurements {
        let ran = &self.ran;
        let (map, fresh) = (speeds(&ran.places), speeds(&ran.fresh));
        let small = rate(ran.small_reads);
        // In a folder, regions hold what was just written, and old data is read from files.
        let has_old = !self.is_folder();
        let fresh = if self.is_folder() { middle_half(&map) } else { fresh };
        let over =
            |dividend: Option<Measured>, divisor: Option<Measured>| Some(dividend?.divide_by(divisor?));
        let deep = ran.deep_reads;
        let drop = ran.writes.and_then(cliff_in);
        let trimmed_over_rested =
            paired_ratio(ran.rested_writes, ran.trimmed_writes, 0.0).filter(|_| self.received_trim());
        let is_undone = self.trim_undoes_check();
        Measurements {
            metrics: self.metrics(&map, &fresh),
            fastest_read: self.fastest_read(),
            access_ns: small
                .map(|rate| Measured::with_interval(1e9 * self.small_bytes(), 0.0).divide_by(rate)),
            new_over_old_data: over(measured_from(&fresh), self.old_data()),
            new_over_old_data_random: over(rate(ran.fresh_small), small).filter(|_| has_old),
            median_over_slowest: over(measured_from(&middle_half(&map)), measured_from(&slowest(&map))),
            first_over_last: over(
                measured_from(&map[..map.len().min(3)]),
                measured_from(&map[map.len().saturating_sub(3)..]),
            ),
            repeat_over_first: self.repeat_ratio().filter(|_| has_old),
            wide_over_narrow: over(rate(ran.near_reads), small),
            deep_over_single: over(rate(deep), small),
            idle_over_busy: self.idle_ratio(),
            aligned_over_shifted: self.alignment_ratio(),
            zeros_over_random: self.zeros_ratio(),
            rewritten_over_first: self.ratio_to_first(&[ran.rested_writes, ran.after_zeros]),
            trimmed_over_first: self
                .ratio_to_first(&[ran.trimmed_writes, ran.after_zeros])
                .filter(|_| self.received_trim()),
            trimmed_over_rested: trimmed_over_rested.filter(|_| !is_undone),
            cache_trimmed: trimmed_over_rested.filter(|_| is_undone),
            write_cliff: drop.map(|(at, ratio)| self.write_cliff(at, ratio)),
            steady_written_bytes: ran
                .writes
                .filter(|_| drop.is_none())
                .map(|write| write.bytes(Op::Write) as f64),
            read_scatter: self.scatter(),
            stalled_share: self.stalled_share(),
            rested_over_loaded: over(rate(ran.load_after_idle), ran.load.and_then(end_of)),
            flat_iops: deep.and_then(flat_end).map(|(iops, _)| iops),
            burst_over_flat: deep.and_then(flat_end).map(|(_, ratio)| ratio),
            load_burst_over_flat: ran.load.and_then(flat_end).map(|(_, ratio)| ratio),
            background_share: self.background_share(),
            counted_over_read: self.counted_ratio(),
            kernel_processors: self.kernel_processors(),
            errors: self.segments().iter().map(|segment| segment.errors()).sum(),
            wrong_sectors: self.wrong_sectors(),
        }
    }

    /// Sequential I/O in bytes a second, small I/O in IOPS.
    fn metrics(&self, map: &[f64], fresh: &[f64]) -> Vec<(Metric, Measured)> {
        // Rated speeds are those of the outer tracks of a disk; flash is the same everywhere.
        let first = if map.is_empty() { fresh } else { &map[..map.len().div_ceil(3)] };
        let first = median(first).map(|value| Measured::with_interval(value, LEAST));
        let bytes = self.small_bytes();
        let iops = |segment| {
            rate(segment)
                .map(|Measured { value, low, high }| Measured::new(value / bytes, low / bytes, high / bytes))
        };
        let metrics = [
            (Metric::SequentialRead, first),
            (Metric::SequentialWrite, self.writes_in_order()),
            (Metric::SustainedWrite, self.final_write_rate()),
            (Metric::RandomRead, iops(self.ran.small_reads)),
            (Metric::RandomWrite, iops(self.ran.small_writes)),
            (Metric::RandomReadQd32, iops(self.ran.deep_reads)),
        ];
        metrics.into_iter().filter_map(|(metric, measured)| Some((metric, measured?))).collect()
    }

    /// The first writes of places after TRIM over those before it, each after the same rest. A cache that lies in free space takes them
    /// at once, while writing places again shows nothing of it.
    pub(crate) fn start_after_trim(&self) -> Option<Measured> {
        let (rested, trimmed) = (self.ran.rested_writes?, self.ran.trimmed_writes?);
        if !self.received_trim() {
            return None;
        }
        Some(start_of(trimmed)?.divide_by(start_of(rested)?))
    }

    /// Whether TRIM only gave back a cache that the check itself had filled: after it, places are no faster than their first
    /// writes were, also past the drop of these, if the writes after TRIM reach it.
    pub(crate) fn trim_undoes_check(&self) -> bool {
        let is_no_faster = |gain: Measured| gain.chance_above(DROP) <= 0.5;
        let over_first = |from| paired_ratio(self.ran.writes, self.ran.trimmed_writes, from);
        over_first(0.0).is_some_and(is_no_faster)
            && over_first(self.first_knee_bytes()).is_none_or(is_no_faster)
    }

    /// Whether the drive received TRIM between the writes that are compared: it was sent, and no layer is
    /// known to drop it.
    fn received_trim(&self) -> bool {
        let observations = &self.past.observations;
        let is_sent = observations.iter().any(
            |observation| matches!(&observation.result, ProbeResult::Released(sent) if sent.refusal.is_none() && sent.bytes > 0),
        );
        let mut facts = observations.iter().filter_map(|observation| observation.result.facts());
        is_sent && !facts.any(|facts| facts.trim_blocked_by().is_some())
    }

    fn is_folder(&self) -> bool {
        self.evidence.identity.kind == TargetKind::Folder
    }

    /// How fast old data was read sequentially; in a folder, old files of the owner.
    pub(crate) fn old_data(&self) -> Option<Measured> {
        let places = if self.is_folder() { &self.ran.old_files } else { &self.ran.places };
        measured_from(&middle_half(&speeds(places)))
    }

    /// How fast data just written was read sequentially.
    pub(crate) fn fresh_data(&self) -> Option<f64> {
        median(&speeds(if self.is_folder() { &self.ran.places } else { &self.ran.fresh }))
    }

    /// Latency of small reads of data just written, at QD1, in nanoseconds.
    pub(crate) fn fresh_small_ns(&self) -> Option<f64> {
        self.small_ns(if self.is_folder() { self.ran.small_reads } else { self.ran.fresh_small })
    }

    /// The fastest sequential reads. Of regions it takes the faster half, because one region alone is read too briefly.
    fn fastest_read(&self) -> Option<Measured> {
        let kinds = [&self.ran.places, &self.ran.places_again, &self.ran.fresh];
        let kinds = kinds.into_iter().filter_map(|places| {
            let speeds = sorted(&speeds(places));
            measured_from(&speeds[speeds.len() / 2..])
        });
        kinds.chain(rate(self.ran.load)).max_by(|one, other| one.value.total_cmp(&other.value))
    }

    fn small_bytes(&self) -> f64 {
        f64::from(self.evidence.geometry.block.max(4096))
    }

    fn repeat_ratio(&self) -> Option<Measured> {
        let ratio = |(index, again)| Some(again / self.ran.places.get(&index)?);
        measured_from(&pairs(&self.ran.places_again).filter_map(ratio).collect::<Vec<_>>())
    }

    fn idle_ratio(&self) -> Option<Measured> {
        positive(self.pauses()?.ratio(), SINGLE_VALUE_ERROR)
    }

    /// Latencies after a pause and without, at the quantile that grew least: waking up delays all reads,
    /// blank addresses only some of them. Single long latencies do not count, because they are stalls.
    pub(super) fn pauses(&self) -> Option<PauseLatencies> {
        let latencies = |segment: &Segment| -> Option<Vec<Nanos>> {
            let mut sorted: Vec<Nanos> =
                segment.samples.iter().map(|sample| sample.done.since(sample.sent)).collect();
            sorted.sort();
            Some(sorted).filter(|sorted| !sorted.is_empty())
        };
        let (paused, busy) = (latencies(self.ran.paused_reads?)?, latencies(self.ran.small_reads?)?);
        let at = |sorted: &[Nanos], share: f64| sorted[((sorted.len() - 1) as f64 * share).round() as usize];
        let pairs = PAUSED_QUANTILES
            .map(|share| PauseLatencies { after_pause: at(&paused, share), busy: at(&busy, share) });
        pairs.into_iter().min_by(|one, other| one.ratio().total_cmp(&other.ratio()))
    }

    /// The fastest of the shifted small writes over those without a shift.
    fn alignment_ratio(&self) -> Option<Measured> {
        // If time was up before the last shift, the one that fits may be missing.
        let last = rate_of(self.ran.aligned_again?)?;
        let fastest = |is_shifted: bool| {
            let writes = self.ran.shifted_writes.iter().filter(|(shift, _)| (*shift > 0) == is_shifted);
            let rates = writes.filter_map(|(_, segment)| rate_of(segment));
            rates.chain((!is_shifted).then_some(last)).max_by(|one, other| one.value.total_cmp(&other.value))
        };
        Some(fastest(true)?.divide_by(fastest(false)?))
    }

    /// Zeros compared with the writes before and after them.
    fn zeros_ratio(&self) -> Option<Measured> {
        let (before, after) = (rate(self.ran.trimmed_writes)?, rate(self.ran.after_zeros)?);
        let zeros = rate(self.ran.zeros)?;
        let (over_before, over_after) = (zeros.divide_by(before), zeros.divide_by(after));
        Some(if over_before.value < over_after.value { over_before } else { over_after })
    }

    /// Share of idle time that I/Os of other programs take: their number, times the latency of one.
    fn background_share(&self) -> Option<Measured> {
        let rests = [self.ran.quiet, self.ran.cool].into_iter().flatten();
        let counters = rests.filter_map(|segment| {
            Some((segment.device_counters.as_ref()?.disk_counters(), segment.elapsed()))
        });
        let mut io_time = Some(Nanos::ZERO);
        let (mut ios, mut span) = (0, Nanos::ZERO);
        for (counts, elapsed) in counters {
            ios += counts.reads + counts.writes;
            io_time = io_time.zip(counts.io_time).map(|(sum, time)| sum + time);
            span += elapsed;
        }
        // The kernel counts the time of I/Os, which leaves out waiting in queues. Older records lack it, so
        // each I/O counts as a small read.
        let (read_ns, write_ns) = (self.access()?, self.small_ns(self.ran.small_writes).unwrap_or(0.0));
        let alone_ns = ios as f64 * read_ns.max(write_ns);
        let busy_ns = io_time.map_or(ios as f64 * read_ns, |time| (time.0 as f64).min(alone_ns));
        let share = busy_ns / span.0 as f64;
        // The error of a count is its square root.
        (share > 0.0).then(|| {
            Measured::with_interval(share, (CERTAIN / (ios as f64).sqrt()).clamp(SINGLE_VALUE_ERROR, 0.9))
        })
    }

    /// Latency of a small read, in nanoseconds.
    pub(super) fn access(&self) -> Option<f64> {
        self.small_ns(self.ran.small_reads)
    }

    /// Latency of a small I/O at QD1, in nanoseconds.
    fn small_ns(&self, ios: Option<&Segment>) -> Option<f64> {
        Some(1e9 * self.small_bytes() / ios?.bytes_per_s()?)
    }

    fn wrong_sectors(&self) -> u64 {
        let sectors = |bytes: u64| bytes / SECTOR as u64;
        let wrong_in = |segment: &Segment| {
            let Some(damage) = &segment.damage else { return 0 };
            // Other wrong data at unwritten addresses is the owner's.
            let is_unwritten = self.ran.unwritten_reads.is_some_and(|reads| std::ptr::eq(reads, segment));
            sectors(if is_unwritten { damage.wrapped_bytes } else { damage.bytes() })
        };
        self.segments().iter().copied().map(wrong_in).sum()
    }

    /// Speed of sequential writes before any drop; with their flush if memory took the first ones.
    fn writes_in_order(&self) -> Option<Measured> {
        let segment = self.ran.writes?;
        let is_held_back = flush_time(segment).0 as f64 >= FLUSH_SHARE_MIN * segment.elapsed().0 as f64;
        let in_memory = knee_of(segment).is_some_and(|knee| knee.is_of_memory);
        if is_held_back || in_memory { rate_of(segment) } else { start_of(segment) }
    }

    fn write_cliff(&self, at_bytes: Measured, ratio: Measured) -> WriteCliff {
        WriteCliff {
            at_bytes,
            ratio,
            again_at_bytes: self.ran.rested_writes.and_then(cliff_in).map(|(at, _)| at),
            at_half_rate: self.ran.slow_writes.and_then(cliff_in).map(|(at, _)| at.divide_by(at_bytes)),
        }
    }

    /// Speed of the last quarter of sequential writes, which memory cannot absorb. It is a quarter of both
    /// bytes and time: writes right after a stall are fast, and no rate that lasts.
    pub(super) fn final_write_rate(&self) -> Option<Measured> {
        let writes = std::iter::once(self.ran.writes?).chain(self.ran.continued_writes.iter().copied());
        let windows: Vec<Window> = writes.flat_map(windows_with_data).collect();
        let least = |amount: fn(&Window) -> f64| windows.iter().map(amount).sum::<f64>() / 4.0;
        let (bytes_least, seconds_least) = (least(|window| window.bytes), least(|window| window.seconds));
        let (mut bytes, mut seconds, mut from) = (0.0, 0.0, windows.len());
        while from > 0 && (bytes < bytes_least || seconds < seconds_least) {
            from -= 1;
            bytes += windows[from].bytes;
            seconds += windows[from].seconds;
        }
        rate_over(&windows[from..])
    }

    /// Speed of writing the same windows again over the first time, as one ratio for all these workloads. Windows count
    /// from where first writes became slow: before that, a cache or spare blocks take all writes. The interval holds
    /// all workloads; a single one may have met a pause of another program, so its interval is wider.
    fn ratio_to_first(&self, workloads: &[Option<&Segment>]) -> Option<Measured> {
        let ratio = self.ratio_of(workloads, self.first_knee_bytes())?;
        // What unwritten addresses gain by idle time alone is no gain by writing again. Freed blocks take
        // their first writes, so the last half counts.
        let new = self.ran.new_places.and_then(last_half_of);
        match new.and_then(|new| Some(new.divide_by(self.final_write_rate()?))) {
            Some(by_rest) if by_rest.value > 1.0 => Some(ratio.divide_by(by_rest)),
            _ => Some(ratio),
        }
    }

    /// Bytes after which first writes became slow; 0 if they did not.
    fn first_knee_bytes(&self) -> f64 {
        self.ran.writes.and_then(knee_of).map_or(0.0, |knee| knee.at_bytes.value)
    }

    fn ratio_of(&self, workloads: &[Option<&Segment>], from: f64) -> Option<Measured> {
        let ratios: Vec<Measured> =
            workloads.iter().filter_map(|again| paired_ratio(self.ran.writes, *again, from)).collect();
        if let [only] = ratios[..] {
            return Some(only.with_scatter(SINGLE_VALUE_ERROR));
        }
        let center = mean(&ratios.iter().map(|ratio| ratio.value.ln()).collect::<Vec<_>>())?.exp();
        let low = ratios.iter().map(|ratio| ratio.low).fold(center, f64::min);
        let high = ratios.iter().map(|ratio| ratio.high).fold(center, f64::max);
        Some(Measured::new(center, low, high))
    }

    fn scatter(&self) -> Option<Measured> {
        let rates = rates_by_time(self.ran.load?);
        positive(standard_deviation(&rates)? / mean(&rates)?, 0.3)
    }

    /// Share of the time of small and sequential I/Os that was spent in stalls.
    fn stalled_share(&self) -> Option<Measured> {
        let (mut stalled, mut total) = (0.0, 0.0);
        for segment in self.usable_segments().filter(|segment| !segment.workload.is_rest()) {
            stalled += stalled_ns(segment);
            total += segment.elapsed().0 as f64 * f64::from(segment.workload.depth());
        }
        (total > 0.0 && stalled > 0.0).then(|| Measured::with_interval((stalled / total).min(1.0), 0.3))
    }

    /// The longest stall.
    pub(super) fn longest_stall(&self) -> Option<Nanos> {
        let segments = self.usable_segments().filter(|segment| !segment.workload.is_rest());
        let stalled = segments.filter(|segment| stalled_ns(segment) > 0.0);
        stalled.flat_map(slowest_ios).max()
    }

    /// CPU cores that the kernel kept busy during sustained reads, which last for seconds, so clock ticks do not matter.
    fn kernel_processors(&self) -> Option<Measured> {
        let load = self.ran.load?;
        let kernel = load.device_counters?.kernel?;
        positive(kernel.0 as f64 / load.elapsed().0 as f64, BUSY)
    }

    /// Bytes that the kernel counted over bytes read. Only real drives have such counters.
    fn counted_ratio(&self) -> Option<Measured> {
        let reads = self.usable_segments().filter(|segment| !segment.workload.writes());
        let pairs = reads.filter_map(|segment| {
            Some((segment.device_counters.as_ref()?.bytes_read, segment.bytes(Op::Read)))
        });
        let (counted_bytes, read) = pairs.fold((0, 0), |sum, pair| (sum.0 + pair.0, sum.1 + pair.1));
        (counted_bytes > 0 && read > 0)
            .then(|| Measured::with_interval(counted_bytes as f64 / read as f64, LEAST))
    }
}

/// Where sequential writes became slower for good, in bytes from their start, and by how much; `None` if
/// only the drive's memory filled up.
pub(super) fn cliff_in(segment: &Segment) -> Option<(Measured, Measured)> {
    knee_of(segment).filter(|knee| !knee.is_of_memory).map(|knee| (knee.at_bytes, knee.ratio))
}

/// The last lasting drop. The final flush shows what took the bytes before it: memory if they still had to
/// reach the medium, faster flash if they were there already.
fn knee_of(segment: &Segment) -> Option<Knee> {
    let rates = rates_by_bytes(segment);
    let last = knees(&rates).into_iter().rev().find(|knee| {
        knee.at >= 1 && rates.len() - knee.at >= DROP_WINDOWS && knee.before / knee.after >= DROP
    })?;
    let ratio = last.before / last.after;
    let width = segment.gigabytes.width as f64;
    let [low, at, high] = [last.at_low, last.at, last.at_high].map(|index| index as f64 * width);
    let flushed_bytes = flush_time(segment).0 as f64 * 1e-9 * last.after;
    let ahead_bytes = at * (1.0 - 1.0 / ratio);
    Some(Knee {
        at_bytes: Measured::new(at, low.max(width / 2.0).min(at), high.max(at + width / 2.0)),
        ratio: Measured::with_interval(ratio, SINGLE_VALUE_ERROR),
        is_of_memory: at < BUFFER_BYTES_MAX || flushed_bytes >= BUFFERED_SHARE * ahead_bytes,
    })
}

/// The rate of writing windows in the second workload over that in the first one, from this many bytes on.
fn paired_ratio(first: Option<&Segment>, again: Option<&Segment>, from_bytes: f64) -> Option<Measured> {
    let (first, again) = first.zip(again)?;
    if first.gigabytes.width != again.gigabytes.width {
        return None;
    }
    let passed = (from_bytes / first.gigabytes.width as f64) as usize;
    let (first, again) = (windows_of(first), windows_of(again));
    let pairs = first.into_iter().zip(again).skip(passed);
    let ratios: Vec<f64> = pairs.filter_map(|(first, again)| Some(again?.rate() / first?.rate())).collect();
    measured_from(&ratios).filter(|_| ratios.len() >= DROP_WINDOWS)
}

/// The rate of the first quarter.
fn start_of(segment: &Segment) -> Option<Measured> {
    let windows = windows_with_data(segment);
    rate_over(&windows[..windows.len().div_ceil(4)])
}

/// The rate of the last quarter.
fn end_of(segment: &Segment) -> Option<Measured> {
    let rates = above_zero(segment, &rates_by_time(segment));
    measured_from(&rates[rates.len() - rates.len().div_ceil(4)..])
}

/// The rate of the last half.
fn last_half_of(segment: &Segment) -> Option<Measured> {
    let windows = windows_with_data(segment);
    rate_over(&windows[windows.len() / 2..])
}

fn rate(segment: Option<&Segment>) -> Option<Measured> {
    segment.and_then(rate_of)
}

/// Each region's number and speed.
pub(super) fn pairs(places: &BTreeMap<usize, f64>) -> impl Iterator<Item = (usize, f64)> {
    places.iter().map(|(index, speed)| (*index, *speed))
}

fn speeds(places: &BTreeMap<usize, f64>) -> Vec<f64> {
    places.values().copied().collect()
}

/// A segment, unless it failed.
pub(super) fn sound(segment: &Segment) -> Option<&Segment> {
    segment.measurement_error().is_none().then_some(segment)
}

/// Time of a segment's I/Os that are stalls, in nanoseconds. The slowest I/Os are samples; if all of these
/// are stalls, the others come from the latency histogram, which has three digits. Flushes are left out: they
/// do the work of all writes that a buffer took.
fn stalled_ns(segment: &Segment) -> f64 {
    let mut ios = segment.total_of(Op::Read);
    ios.merge(&segment.total_of(Op::Write));
    ios.merge(&segment.total_of(Op::Trim));
    let latencies = ios.latency;
    let typical = latencies.quantile(0.5).0 as f64;
    let from = |times: f64, least: Nanos| (times * typical).max(least.0 as f64);
    let least = from(STALL, STALL_LEAST).min(from(LONG_STALL, LONG_STALL_LEAST));
    let slowest: Vec<f64> = slowest_ios(segment).map(|latency| latency.0 as f64).collect();
    let kept: f64 = slowest.iter().filter(|span| **span >= least).sum();
    let is_full = segment.slowest.len() >= Segment::SLOWEST_MAX;
    if !is_full || slowest.iter().any(|span| *span < least) {
        return kept;
    }
    let places = latencies.places();
    let slow_places = places.iter().filter(|(value, _)| *value as f64 >= least);
    let slow_ns: f64 = slow_places.map(|(value, count)| *value as f64 * *count as f64).sum();
    kept + (slow_ns - kept).max(0.0)
}

/// Latencies of its slowest I/Os without flushes.
fn slowest_ios(segment: &Segment) -> impl Iterator<Item = Nanos> {
    segment
        .slowest
        .iter()
        .filter(|sample| sample.op != Op::Flush)
        .map(|sample| sample.done.since(sample.sent))
}

/// The rate, with its error from the windows.
fn rate_of(segment: &Segment) -> Option<Measured> {
    let value = segment.bytes_per_s()?;
    let windows = rates_by_time(segment);
    let spread = measured_from(&above_zero(segment, &windows)).filter(|_| windows.len() > 3);
    Some(match spread {
        Some(spread) => {
            Measured::new(value, value * spread.low / spread.value, value * spread.high / spread.value)
        }
        None => Measured::with_interval(value, LEAST),
    })
}

/// A value with this error, as a share; `None` where nothing was measured.
fn positive(value: f64, error: f64) -> Option<Measured> {
    (value.is_finite() && value > 0.0).then(|| Measured::with_interval(value, error))
}

/// Several values that should be equal: their geometric mean and its error.
fn measured_from(values: &[f64]) -> Option<Measured> {
    let logarithms: Vec<f64> = values.iter().filter(|value| **value > 0.0).map(|value| value.ln()).collect();
    let center = mean(&logarithms)?;
    let half = match mean_interval(&logarithms, CONFIDENCE_90) {
        Some(interval) => ((interval.high - interval.low) / 2.0).max(LEAST),
        None => SINGLE_VALUE_ERROR,
    };
    Some(Measured::new(center.exp(), (center - half).exp(), (center + half).exp()))
}

fn sorted(values: &[f64]) -> Vec<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted
}

/// The middle half, by value.
fn middle_half(values: &[f64]) -> Vec<f64> {
    let quarter = values.len() / 4;
    sorted(values)[quarter..values.len() - quarter].to_vec()
}

fn slowest(values: &[f64]) -> Vec<f64> {
    sorted(values)[..values.len() / SLOW_PART].to_vec()
}

/// The end of a run that began faster and became flat: its IOPS, and how much faster it began.
fn flat_end(segment: &Segment) -> Option<(Measured, Measured)> {
    let rates = rates_by_time(segment);
    let half = rates.len() / 2;
    if half < 2 * RUN_ENDS {
        return None;
    }
    let (first, end) = (&rates[..RUN_ENDS], &rates[half..]);
    let level = mean(end)?;
    let scatter = standard_deviation(end)? / level;
    let block = f64::from(segment.workload.length_max());
    (scatter <= FLAT).then(|| {
        let ratio = mean(first).expect("there are first windows") / level;
        (Measured::with_interval(level / block, FLAT), Measured::with_interval(ratio, FLAT))
    })
}

/// Time of the flush at the end of a segment.
fn flush_time(segment: &Segment) -> Nanos {
    Nanos(segment.total_of(Op::Flush).latency_ns_sum)
}

/// Bytes of consecutive I/Os, and the time they took.
#[derive(Clone, Copy, Debug)]
struct Window {
    bytes: f64,
    seconds: f64,
}

impl Window {
    /// In bytes a second.
    fn rate(&self) -> f64 {
        self.bytes / self.seconds
    }
}

/// A segment in equal parts of its bytes; `None` for a part that moved nothing.
fn windows_of(segment: &Segment) -> Vec<Option<Window>> {
    let mut from = segment.started_at;
    let window = |cell: &Cell| {
        let seconds = cell.last.since(from).as_secs_f64();
        from = from.max(cell.last);
        (cell.bytes > 0 && seconds > 0.0).then_some(Window { bytes: cell.bytes as f64, seconds })
    };
    segment.gigabytes.cells.iter().map(window).collect()
}

fn windows_with_data(segment: &Segment) -> Vec<Window> {
    windows_of(segment).into_iter().flatten().collect()
}

/// Bytes a second of each window of bytes.
pub(super) fn rates_by_bytes(segment: &Segment) -> Vec<f64> {
    windows_with_data(segment).iter().map(Window::rate).collect()
}

/// The rate over all windows, with its error from their times: a mean of rates would ignore that slow windows
/// last longer. A partial window counts with the one before it.
fn rate_over(windows: &[Window]) -> Option<Measured> {
    let add = |sum: Window, window: &Window| Window {
        bytes: sum.bytes + window.bytes,
        seconds: sum.seconds + window.seconds,
    };
    let total = windows.iter().fold(Window { bytes: 0.0, seconds: 0.0 }, add);
    let whole_bytes = windows.iter().map(|window| window.bytes).fold(0.0, f64::max);
    let mut parts: Vec<Window> = Vec::new();
    for window in windows {
        match parts.last_mut() {
            Some(last) if window.bytes < whole_bytes => *last = add(*last, window),
            _ => parts.push(*window),
        }
    }
    let times: Vec<f64> = parts.iter().map(|part| 1.0 / part.rate()).collect();
    let error = match mean_interval(&times, CONFIDENCE_90) {
        Some(interval) => {
            ((interval.high - interval.low) / (interval.high + interval.low)).clamp(LEAST, ERROR_MAX)
        }
        None => SINGLE_VALUE_ERROR,
    };
    let rate = total.rate();
    rate.is_finite().then(|| Measured::new(rate, rate / (1.0 + error), rate / (1.0 - error)))
}

/// Replaces rates of 0 by one I/O per window: a window in which the drive stalled has to count, and its true
/// rate is lower still.
fn above_zero(segment: &Segment, rates: &[f64]) -> Vec<f64> {
    let least = f64::from(segment.workload.length_max()) / segment.seconds.width.max(1) as f64 * 1e9;
    rates.iter().map(|rate| if *rate > 0.0 { *rate } else { least }).collect()
}

/// Bytes a second of each whole window of time.
fn rates_by_time(segment: &Segment) -> Vec<f64> {
    let width = segment.seconds.width;
    let whole = (segment.elapsed().0 / width.max(1)) as usize;
    segment.seconds.cells.iter().take(whole).map(|cell| cell.bytes as f64 / width as f64 * 1e9).collect()
}

#[cfg(test)]
mod tests {
    use likenew_core::io::{DataClass, Outcome, Sample};
    use likenew_core::region::Region;
    use likenew_core::segment::{Recorder as _, SegmentRecorder, Stop};
    use likenew_core::workload::{AccessPattern, Mix, Stream, Until, Workload};

    use super::*;

    /// Consecutive reads with these latencies, in nanoseconds.
    fn segment(name: &str, started_at: u64, latencies: impl Iterator<Item = u64>) -> Segment {
        let place = AccessPattern::Random(Region::WHOLE);
        let stream = Stream::closed(Mix::Only(Op::Read), 4096, place, 1, DataClass::Random);
        let workload = Workload::new(name, Until::ops(1), vec![stream]);
        let mut recorder = SegmentRecorder::default();
        recorder.begin(&workload, Nanos(started_at));
        let mut now = started_at;
        for latency in latencies {
            let (due, done) = (Nanos(now), Nanos(now + latency));
            let sample = Sample {
                stream: 0,
                op: Op::Read,
                outcome: Outcome::Done,
                length: 4096,
                offset: 0,
                due,
                sent: due,
                done,
            };
            assert!(recorder.record(&[sample]).is_continue());
            now = done.0;
        }
        recorder.end(Nanos(now));
        SegmentRecorder::join(vec![recorder], &workload, Stop::Reached)
    }

    fn evidence(segments: Vec<Segment>) -> Evidence {
        Evidence { segments, ..crate::fixtures::evidence() }
    }

    fn results(evidence: &Evidence) -> CheckResults<'_> {
        let mut results = CheckResults::new(evidence);
        results.past.segments = evidence.segments.iter().collect();
        results
    }

    const MS: u64 = 1_000_000;

    #[test]
    fn every_stall_counts_however_many_there_are() {
        for stalls in [1, 31, 32, 33, 100, 400] {
            // A stall of 80 ms after every 520 reads of 1 ms: 100 of them in a minute.
            let latencies = (0..520 * stalls).map(|io| if io % 520 == 519 { 80 * MS } else { MS });
            let evidence = evidence(vec![segment("load", 0, latencies)]);
            let share = results(&evidence).stalled_share().unwrap().value;
            let truth = 80.0 / (519.0 + 80.0);
            assert!((share / truth - 1.0).abs() < 0.005, "{stalls}: {share} is not {truth}");
            assert_eq!(results(&evidence).longest_stall(), Some(Nanos(80 * MS)));
        }
        let calm = evidence(vec![segment("load", 0, (0..60_000).map(|_| MS))]);
        assert_eq!(results(&calm).stalled_share(), None);
        assert_eq!(results(&calm).longest_stall(), None);
    }

    #[test]
    fn what_failed_is_neither_drawn_nor_called_a_stall() {
        use likenew_core::findings::Findings;
        let drawn = |segment: Segment| {
            let evidence = evidence(vec![segment]);
            let (mut measured, mut findings) = (results(&evidence), Findings::default());
            measured.ran.writes = sound(&evidence.segments[0]);
            super::super::tables::draw(&measured, &mut findings);
            (findings.series.contains_key("writes"), measured.stalled_share().is_some())
        };
        let ios = || (0..4000).map(|io| if io == 9 { 3000 * MS } else { MS });
        let fine = segment("writes", 0, ios());
        let failed = Segment { stop: Stop::Failed { op: Op::Write, offset: 0, errno: 28 }, ..fine.clone() };
        assert_eq!(drawn(fine), (true, true));
        assert_eq!(drawn(failed), (false, false));
    }

    #[test]
    fn a_window_in_which_it_stood_still_counts() {
        // Six seconds of reads, the last two of which are one read of 2 s; then the same without it.
        let stood = (0..4000).map(|_| MS).chain([2000 * MS]).chain((0..10).map(|_| MS));
        let load = segment("load", 0, stood);
        let rested = segment("load after idle", load.ended_at.0, (0..1000).map(|_| MS));
        let even = segment("load", 0, (0..6010).map(|_| MS));
        let ratio = |load: Segment| {
            let evidence = evidence(Vec::new());
            let mut results = results(&evidence);
            (results.ran.load, results.ran.load_after_idle) = (Some(&load), Some(&rested));
            results.measurements().rested_over_loaded.unwrap().value
        };
        assert!((ratio(even) - 1.0).abs() < 0.01);
        assert!(ratio(load) > 10.0, "two seconds of nothing at the end are a fall");
    }
}
