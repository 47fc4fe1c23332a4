//! What the samples of one workload are reduced to: a segment, in constant memory.

use std::ops::ControlFlow;

use auto_impl::auto_impl;
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;

use crate::busy;
use crate::counters::{Counters, FlashCounters};
use crate::damage::Damage;
use crate::io::{Op, Outcome, Sample};
use crate::tally::{Latencies, Tally};
use crate::target::Health;
use crate::units::Nanos;
use crate::workload::Workload;

/// The record of one workload: enough to judge it again without the drive.
#[skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Segment {
    /// The workload.
    pub workload: Workload,
    /// When it began on the drive's clock.
    pub started_at: Nanos,
    /// When its last I/O ended on the drive's clock.
    pub ended_at: Nanos,
    /// How long at least one I/O was in flight: exact for one lane; [`crate::busy::of_lanes`] explains
    /// several. Zero where it was not recorded, as in measurements by other programs.
    #[serde(default)]
    pub busy: Nanos,
    /// Why it ended.
    pub stop: Stop,
    /// One tally for each operation of each stream that occurred, by stream, then operation.
    pub tallies: Vec<Tally>,
    /// Windows over time since `started_at`, in nanoseconds.
    pub seconds: Windows,
    /// Windows over bytes moved since `started_at`; [`Workload::window`] sets their first width.
    pub gigabytes: Windows,
    /// The slowest I/Os, slowest first; at most [`Segment::SLOWEST_MAX`].
    pub slowest: Vec<Sample>,
    /// The first I/Os that the drive refused or cut short, at most [`Segment::REFUSED_MAX`]. The tallies
    /// count all of them.
    pub refused_ios: Vec<Sample>,
    /// The first I/Os in order of their ends, as many as [`Workload::samples`] asks for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub samples: Vec<Sample>,
    /// The result of a replay, beside what the recording says about the same I/Os.
    pub replay_record: Option<ReplayRecord>,
    /// Whether the run was interrupted before this workload and then resumed with a new clock.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub after_interruption: bool,
    /// The drive's state before the first I/O.
    pub health_before: Health,
    /// The drive's state after the last I/O.
    pub health_after: Health,
    /// A simulated drive's flash counters after it.
    pub accounting: Option<FlashCounters>,
    /// What the kernel counted at the device meanwhile, including I/O of other programs.
    pub device_counters: Option<Counters>,
    /// The check of stamped sectors that were read; absent if there was nothing to check.
    pub damage: Option<Damage>,
}

impl Segment {
    /// How many of the slowest I/Os are kept one by one.
    pub const SLOWEST_MAX: usize = 32;
    /// How many of the refused I/Os are kept one by one.
    pub const REFUSED_MAX: usize = 16;

    /// The record of a workload of which nothing was counted, at the start of the drive's clock.
    pub fn empty(workload: Workload, stop: Stop) -> Self {
        Self {
            workload,
            started_at: Nanos::ZERO,
            ended_at: Nanos::ZERO,
            busy: Nanos::ZERO,
            stop,
            tallies: Vec::new(),
            seconds: Windows::new(WINDOW_NS),
            gigabytes: Windows::new(WINDOW_BYTES),
            slowest: Vec::new(),
            refused_ios: Vec::new(),
            samples: Vec::new(),
            replay_record: None,
            after_interruption: false,
            health_before: Health::default(),
            health_after: Health::default(),
            accounting: None,
            device_counters: None,
            damage: None,
        }
    }

    /// The time from the start to the end of the last I/O.
    pub fn elapsed(&self) -> Nanos {
        self.ended_at - self.started_at
    }

    /// Bytes moved by this operation, over all streams.
    pub fn bytes(&self, op: Op) -> u64 {
        self.tallies_of(op).map(|tally| tally.bytes).sum()
    }

    /// I/Os of this operation, over all streams.
    pub fn ios(&self, op: Op) -> u64 {
        self.tallies_of(op).map(|tally| tally.ios).sum()
    }

    /// I/Os that the drive refused or cut short.
    pub fn errors(&self) -> u64 {
        self.tallies.iter().map(|tally| tally.errors + tally.short).sum()
    }

    /// The tally of all operations together.
    pub fn total(&self) -> Tally {
        let mut total = Tally::new(0, Op::Read);
        self.tallies.iter().for_each(|tally| total.merge(tally));
        total
    }

    /// The tally of one operation over all streams.
    pub fn total_of(&self, op: Op) -> Tally {
        let mut total = Tally::new(0, op);
        self.tallies_of(op).for_each(|tally| total.merge(tally));
        total
    }

    /// Latencies of all operations together.
    pub fn latencies(&self) -> Latencies {
        self.total().latency
    }

    /// Whether a dry run made it up, with counts and no latencies.
    pub fn is_dry_run(&self) -> bool {
        self.tallies.iter().any(|tally| tally.ios > 0 && tally.latency.count() == 0)
    }

    fn tallies_of(&self, op: Op) -> impl Iterator<Item = &Tally> {
        self.tallies.iter().filter(move |tally| tally.op == op)
    }
}

/// The recorder of one lane; the recorders of all lanes make a [`Segment`].
pub struct SegmentRecorder {
    tallies: Vec<[Option<Box<Tally>>; Op::ALL.len()]>,
    seconds: Windows,
    gigabytes: Windows,
    slowest: Slowest,
    refused_ios: Vec<Sample>,
    samples: Vec<Sample>,
    samples_max: usize,
    errors_allowed: u64,
    started_at: Nanos,
    ended_at: Nanos,
    busy: Nanos,
    bytes: u64,
}

/// Refusals by the medium that stop a workload. A workload of stamped sectors goes on, to find all of them.
const ERRORS_MAX: u64 = 100;
/// Width of the windows over time and over bytes.
const WINDOW_NS: u64 = 1_000_000_000;
const WINDOW_BYTES: u64 = 1 << 30;

impl Default for SegmentRecorder {
    fn default() -> Self {
        Self {
            tallies: Vec::new(),
            seconds: Windows::new(WINDOW_NS),
            gigabytes: Windows::new(WINDOW_BYTES),
            slowest: Slowest::default(),
            refused_ios: Vec::new(),
            samples: Vec::new(),
            samples_max: 0,
            errors_allowed: ERRORS_MAX,
            started_at: Nanos::ZERO,
            ended_at: Nanos::ZERO,
            busy: Nanos::ZERO,
            bytes: 0,
        }
    }
}

impl Recorder for SegmentRecorder {
    fn begin(&mut self, workload: &Workload, at: Nanos) {
        self.tallies.resize_with(workload.stream_count(), Default::default);
        if let Some(width) = workload.window {
            self.gigabytes = Windows::new(width);
        }
        self.samples_max = workload.samples as usize;
        self.samples.reserve_exact(self.samples_max);
        if workload.is_stamped() {
            self.errors_allowed = u64::MAX;
        }
        (self.started_at, self.ended_at) = (at, at);
    }

    fn record(&mut self, samples: &[Sample]) -> ControlFlow<Stop> {
        let mut flow = ControlFlow::Continue(());
        self.keep(samples);
        for sample in samples {
            let tally = &mut self.tallies[usize::from(sample.stream)][sample.op.index()];
            tally.get_or_insert_with(|| Box::new(Tally::new(sample.stream, sample.op))).add(sample);
            let (bytes, latency) = (sample.bytes(), sample.latency());
            self.seconds.add(sample.done.since(self.started_at).0, bytes, latency, sample.done);
            self.gigabytes.add(self.bytes, bytes, latency, sample.done);
            self.bytes += bytes;
            self.slowest.add(sample, latency);
            match sample.outcome {
                Outcome::Done => {}
                Outcome::Short(_) => self.keep_refused(sample),
                Outcome::Error(errno) => flow = self.refuse(sample, errno),
            }
        }
        flow
    }

    fn busy(&mut self, busy: Nanos) {
        self.busy = busy;
    }

    fn end(&mut self, at: Nanos) {
        self.ended_at = at;
    }
}

impl SegmentRecorder {
    #[inline]
    fn keep(&mut self, samples: &[Sample]) {
        let room = self.samples_max - self.samples.len();
        self.samples.extend_from_slice(&samples[..samples.len().min(room)]);
    }

    #[cold]
    fn refuse(&mut self, sample: &Sample, errno: i32) -> ControlFlow<Stop> {
        self.keep_refused(sample);
        self.errors_allowed = self.errors_allowed.saturating_sub(1);
        if self.errors_allowed == 0 || !sample.outcome.is_about_the_medium() {
            return ControlFlow::Break(Stop::Failed { op: sample.op, offset: sample.offset, errno });
        }
        ControlFlow::Continue(())
    }

    #[cold]
    fn keep_refused(&mut self, sample: &Sample) {
        if self.refused_ios.len() < Segment::REFUSED_MAX {
            self.refused_ios.push(*sample);
        }
    }

    /// Joins the records of all lanes into one segment.
    pub fn join(lanes: Vec<Self>, workload: &Workload, stop: Stop) -> Segment {
        let busy: Vec<Nanos> = lanes.iter().map(|lane| lane.busy).collect();
        let mut lanes = lanes.into_iter();
        let mut whole = lanes.next().expect("a workload has at least one lane");
        for lane in lanes {
            whole.merge(lane);
        }
        whole.tallies.iter_mut().flatten().flatten().for_each(|tally| tally.latency.compact());
        Segment {
            started_at: whole.started_at,
            ended_at: whole.ended_at,
            busy: busy::of_lanes(&busy, whole.ended_at.since(whole.started_at)),
            tallies: whole.tallies.into_iter().flatten().flatten().map(|tally| *tally).collect(),
            seconds: whole.seconds,
            gigabytes: whole.gigabytes,
            slowest: whole.slowest.sorted(),
            refused_ios: whole.refused_ios,
            samples: whole.samples,
            ..Segment::empty(workload.clone(), stop)
        }
    }

    fn merge(&mut self, other: Self) {
        for (mine, theirs) in self.tallies.iter_mut().zip(other.tallies) {
            for (mine, theirs) in mine.iter_mut().zip(theirs) {
                match (mine.as_mut(), theirs) {
                    (Some(mine), Some(theirs)) => mine.merge(&theirs),
                    (None, theirs @ Some(_)) => *mine = theirs,
                    _ => {}
                }
            }
        }
        self.seconds.merge(other.seconds);
        self.gigabytes.merge(other.gigabytes);
        other.slowest.samples.iter().for_each(|sample| self.slowest.add(sample, sample.latency()));
        self.refused_ios.extend(other.refused_ios);
        self.refused_ios.truncate(Segment::REFUSED_MAX);
        self.samples.extend(other.samples);
        self.samples.sort_by_key(|sample| sample.done);
        self.samples.truncate(self.samples_max);
        self.started_at = self.started_at.min(other.started_at);
        self.ended_at = self.ended_at.max(other.ended_at);
    }
}

/// The slowest samples so far. Once the list is full, a new sample must exceed the latency `floor`.
#[derive(Default)]
struct Slowest {
    samples: Vec<Sample>,
    floor: Nanos,
}

impl Slowest {
    #[inline]
    fn add(&mut self, sample: &Sample, latency: Nanos) {
        if self.samples.len() < Segment::SLOWEST_MAX || latency > self.floor {
            self.insert(sample, latency);
        }
    }

    fn insert(&mut self, sample: &Sample, latency: Nanos) {
        let at = self.samples.partition_point(|kept| kept.latency() >= latency);
        self.samples.insert(at, *sample);
        self.samples.truncate(Segment::SLOWEST_MAX);
        self.floor = self.samples.last().map_or(Nanos::ZERO, Sample::latency);
    }

    fn sorted(self) -> Vec<Sample> {
        self.samples
    }
}

/// Why a workload ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Stop {
    /// Its own bound was reached.
    Reached,
    /// The user asked to stop; what was measured until then stays valid.
    Interrupted,
    /// The drive answered with an error after which continuing is pointless.
    Failed {
        /// The operation.
        op: Op,
        /// Its address, in bytes.
        offset: u64,
        /// The operating system's error number.
        errno: i32,
    },
    /// A job of another program failed with this system error; which I/O failed is unknown.
    JobFailed {
        /// The operating system's error number; negative if another system has it and Linux lacks it.
        errno: i32,
    },
}

impl Stop {
    /// Whether something failed, so that what was measured is not the workload's.
    pub fn is_failure(self) -> bool {
        matches!(self, Self::Failed { .. } | Self::JobFailed { .. })
    }
}

/// Takes the samples of one lane batch by batch, in order of completion.
///
/// The loop pushes the samples, so a recorder never sets the pace: it can only ask to stop.
#[auto_impl(Box)]
pub trait Recorder {
    /// The workload starts at this time on the drive's clock.
    fn begin(&mut self, _workload: &Workload, _at: Nanos) {}

    /// Some I/Os have ended. `Break` stops issuing; I/Os in flight are still recorded.
    fn record(&mut self, samples: &[Sample]) -> ControlFlow<Stop>;

    /// Nothing has ended for a while.
    fn idle(&mut self, _now: Nanos) -> ControlFlow<Stop> {
        ControlFlow::Continue(())
    }

    /// Reports once, before the end, how long at least one I/O was in flight.
    fn busy(&mut self, _busy: Nanos) {}

    /// The last I/O has ended, or the rest is over.
    fn end(&mut self, _at: Nanos) {}
}

/// Records nothing.
impl Recorder for () {
    fn record(&mut self, _samples: &[Sample]) -> ControlFlow<Stop> {
        ControlFlow::Continue(())
    }
}

/// Passes everything to two recorders; either may stop.
impl<A: Recorder, B: Recorder> Recorder for (A, B) {
    fn begin(&mut self, workload: &Workload, at: Nanos) {
        self.0.begin(workload, at);
        self.1.begin(workload, at);
    }

    fn record(&mut self, samples: &[Sample]) -> ControlFlow<Stop> {
        let first = self.0.record(samples);
        let second = self.1.record(samples);
        first?;
        second
    }

    fn idle(&mut self, now: Nanos) -> ControlFlow<Stop> {
        let first = self.0.idle(now);
        let second = self.1.idle(now);
        first?;
        second
    }

    fn busy(&mut self, busy: Nanos) {
        self.0.busy(busy);
        self.1.busy(busy);
    }

    fn end(&mut self, at: Nanos) {
        self.0.end(at);
        self.1.end(at);
    }
}

/// Cells of equal width along an axis: time or bytes moved since the start. When the axis exceeds
/// [`Windows::CELLS_MAX`] cells, pairs of cells are merged and the width doubles.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Windows {
    /// Width of a cell, in the unit of the axis (nanoseconds or bytes).
    pub width: u64,
    /// The cells from the start of the axis, without gaps.
    pub cells: Vec<Cell>,
}

/// The I/Os that ended within one cell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cell {
    /// I/Os that ended.
    pub ios: u64,
    /// Bytes they moved.
    pub bytes: u64,
    /// Sum of their latencies, in nanoseconds.
    pub latency_ns_sum: u64,
    /// The longest latency among them, in nanoseconds.
    pub latency_ns_max: u64,
    /// When the last of them ended, on the drive's clock.
    pub last: Nanos,
}

impl Cell {
    fn add(&mut self, bytes: u64, latency: Nanos, done: Nanos) {
        self.ios += 1;
        self.bytes += bytes;
        self.latency_ns_sum += latency.0;
        self.latency_ns_max = self.latency_ns_max.max(latency.0);
        self.last = self.last.max(done);
    }

    fn merge(&mut self, other: &Self) {
        self.ios += other.ios;
        self.bytes += other.bytes;
        self.latency_ns_sum += other.latency_ns_sum;
        self.latency_ns_max = self.latency_ns_max.max(other.latency_ns_max);
        self.last = self.last.max(other.last);
    }
}

impl Windows {
    /// Most cells that are kept.
    pub const CELLS_MAX: usize = 2048;

    /// An empty axis with cells of this width.
    pub fn new(width: u64) -> Self {
        assert!(width > 0, "a window has a width");
        Self { width, cells: Vec::new() }
    }

    /// Counts one I/O at `position` on the axis.
    #[inline]
    pub fn add(&mut self, position: u64, bytes: u64, latency: Nanos, done: Nanos) {
        // Positions mostly grow, so the last cell usually fits and needs no division.
        let last = self.cells.len().wrapping_sub(1);
        if last != usize::MAX && position.wrapping_sub(last as u64 * self.width) < self.width {
            return self.cells[last].add(bytes, latency, done);
        }
        self.cell_at(position).add(bytes, latency, done);
    }

    fn cell_at(&mut self, position: u64) -> &mut Cell {
        while position / self.width >= Self::CELLS_MAX as u64 {
            self.coarsen();
        }
        let index = (position / self.width) as usize;
        if index >= self.cells.len() {
            self.cells.resize(index + 1, Cell::default());
        }
        &mut self.cells[index]
    }

    fn coarsen(&mut self) {
        self.width *= 2;
        let merged = self.cells.chunks(2).map(|pair| {
            let mut cell = pair[0];
            pair.iter().skip(1).for_each(|other| cell.merge(other));
            cell
        });
        self.cells = merged.collect();
    }

    /// Adds what another lane counted on the same axis.
    pub fn merge(&mut self, mut other: Self) {
        while self.width < other.width {
            self.coarsen();
        }
        while other.width < self.width {
            other.coarsen();
        }
        assert_eq!(self.width, other.width, "lanes count in windows of widths that are a power of two apart");
        if self.cells.len() < other.cells.len() {
            std::mem::swap(self, &mut other);
        }
        for (mine, theirs) in self.cells.iter_mut().zip(&other.cells) {
            mine.merge(theirs);
        }
    }
}

/// The record of a replay. It counts I/Os of the recording: a split I/O counts once, from when its first
/// piece was due until its last piece ended. I/Os that were left out appear only in `skips`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ReplayRecord {
    /// I/Os that were carried out to their end.
    pub ios: u64,
    /// I/Os that were left out: writes where only reads are replayed, and TRIMs where the target has none.
    pub skips: u64,
    /// I/Os that were moved or cut, as the target has fewer addresses or larger blocks than the recorded drive.
    pub remapped_ios: u64,
    /// Tallies by stream, then operation, where they occurred.
    pub tallies: Vec<ReplayTally>,
    /// Streams that occurred, by number.
    pub streams: Vec<ReplayStream>,
    /// Time with an I/O of any stream in flight.
    pub busy: ReplayPair,
    /// Time with a read or a flush in flight, for which programs wait. Writes usually go to memory, so
    /// programs do not wait for them.
    #[serde(default)]
    pub blocking: ReplayPair,
    /// Latencies in the replay.
    pub replay_latency: Latencies,
    /// Latencies in the recording.
    pub recording_latency: Latencies,
    /// The time from the first departure to the last end in the recording; idle times are not cut.
    pub recorded_elapsed: Nanos,
    /// Latencies in the replay over departure times in the recording, in nanoseconds since its first I/O.
    pub replayed_windows: Windows,
    /// Latencies in the recording over the same times.
    pub recorded_windows: Windows,
    /// How late the I/Os left after they were due; empty where the pace asks for no time.
    pub lateness: Latencies,
    /// Sum of `lateness`, in nanoseconds.
    pub lateness_ns_sum: u64,
    /// The part of `lateness_ns_sum` with as many I/Os in flight as allowed: the target caused it.
    pub throttled_ns_sum: u64,
    /// The slowest I/Os of the replay, slowest first; at most [`ReplayRecord::LONGEST_MAX`].
    pub longest: Vec<SlowIo>,
}

/// Two times: of the replay and of the recording.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReplayPair {
    /// Nanoseconds on this target.
    pub replayed_ns: u64,
    /// Nanoseconds in the recording, as far as known.
    pub recorded_ns: u64,
}

/// One operation of one stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReplayTally {
    /// The stream.
    pub stream: u16,
    /// The operation.
    pub op: Op,
    /// I/Os of the recording.
    pub ios: u64,
    /// Bytes that they requested, as recorded.
    pub bytes: u64,
    /// Sum of all latencies in the replay.
    pub latency_ns_sum: u64,
    /// I/Os whose latency is known in the recording.
    pub paired: u64,
    /// Sums of the latencies of those paired I/Os.
    pub waiting: ReplayPair,
}

/// One stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReplayStream {
    /// Its index in the workload.
    pub stream: u16,
    /// Time with at least one of its I/Os in flight.
    pub busy: ReplayPair,
}

/// One slow I/O.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SlowIo {
    /// The stream.
    pub stream: u16,
    /// What it did.
    pub op: Op,
    /// First byte on the recorded drive.
    pub offset: u64,
    /// Bytes, as recorded.
    pub length: u64,
    /// When it left in the recording, since the recording's first I/O.
    pub at: Nanos,
    /// How long it took in the replay.
    pub latency: Nanos,
    /// How long it took in the recording, where known.
    pub recorded_latency: Option<Nanos>,
}

impl ReplayRecord {
    /// How many of the slowest I/Os are kept one by one.
    pub const LONGEST_MAX: usize = 16;

    /// Sums of the latencies of all I/Os whose latency is known on both sides.
    pub fn waiting(&self) -> ReplayPair {
        self.tallies.iter().fold(ReplayPair::default(), |sum, tally| sum.plus(tally.waiting))
    }

    /// I/Os whose latency is known on both sides.
    pub fn paired_ios(&self) -> u64 {
        self.tallies.iter().map(|tally| tally.paired).sum()
    }

    /// Bytes that the I/Os requested, as recorded.
    pub fn bytes(&self) -> u64 {
        self.tallies.iter().map(|tally| tally.bytes).sum()
    }
}

impl ReplayPair {
    /// Both spans added.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            replayed_ns: self.replayed_ns + other.replayed_ns,
            recorded_ns: self.recorded_ns + other.recorded_ns,
        }
    }

    /// Time saved against the recording, in percent; negative if the replay takes longer. `None` if the
    /// recording took no time.
    pub fn saved_percent(self) -> Option<f64> {
        (self.recorded_ns > 0).then(|| (1.0 - self.replayed_ns as f64 / self.recorded_ns as f64) * 100.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::io::Sample;
    use crate::workload::Until;
    use proptest::prelude::*;

    fn workload() -> Workload {
        let stream =
            toml::from_str("op = 'read'\nsize = '4k'\npattern.random = 'whole'\narrival.closed.depth = 1")
                .unwrap();
        Workload { lanes: 2, ..Workload::new("w", Until::ops(1), vec![stream]) }
    }

    fn sample(done: u64, outcome: Outcome) -> Sample {
        Sample {
            stream: 0,
            op: Op::Read,
            outcome,
            length: 4096,
            offset: done,
            due: Nanos::ZERO,
            sent: Nanos::ZERO,
            done: Nanos(done),
        }
    }

    #[test]
    fn lanes_join_to_one_record() {
        let mut lanes = Vec::new();
        for lane in 0..2u64 {
            let mut recorder = SegmentRecorder::default();
            recorder.begin(&workload(), Nanos::ZERO);
            for index in 1..=100 {
                assert!(recorder.record(&[sample(index * (lane + 1), Outcome::Done)]).is_continue());
            }
            recorder.end(Nanos(100 * (lane + 1)));
            lanes.push(recorder);
        }
        let segment = SegmentRecorder::join(lanes, &workload(), Stop::Reached);
        assert_eq!(
            (segment.ios(Op::Read), segment.bytes(Op::Read), segment.ios(Op::Write)),
            (200, 200 * 4096, 0)
        );
        assert_eq!(segment.elapsed(), Nanos(200));
        assert_eq!(segment.iops(), Some(200.0 / 200e-9));
        assert_eq!(segment.slowest.len(), Segment::SLOWEST_MAX);
        assert_eq!(segment.slowest[0].latency(), Nanos(200));
        assert!(segment.slowest.is_sorted_by_key(|s| std::cmp::Reverse(s.latency())));
        let text = serde_json::to_string(&segment).unwrap();
        assert_eq!(serde_json::from_str::<Segment>(&text).unwrap(), segment);
    }

    #[test]
    fn as_many_samples_are_kept_as_were_asked_for() {
        for limit in [0, 5, 150, 1000] {
            let workload = Workload { samples: limit, ..workload() };
            let lanes = (0..2).map(|lane| {
                let mut recorder = SegmentRecorder::default();
                recorder.begin(&workload, Nanos::ZERO);
                for batch in 0..50 {
                    let batch: Vec<Sample> =
                        (0..2).map(|io| sample(4 * batch + 2 * io + lane, Outcome::Done)).collect();
                    assert!(recorder.record(&batch).is_continue());
                }
                recorder
            });
            let segment = SegmentRecorder::join(lanes.collect(), &workload, Stop::Reached);
            let samples: Vec<u64> = segment.samples.iter().map(|sample| sample.done.0).collect();
            assert_eq!(
                samples,
                (0..u64::from(limit.min(200))).collect::<Vec<_>>(),
                "the first of both lanes"
            );
            let text = serde_json::to_string(&segment).unwrap();
            assert_eq!(text.contains("\"samples\":["), limit > 0);
            assert_eq!(serde_json::from_str::<Segment>(&text).unwrap(), segment);
        }
    }

    #[test]
    fn a_bad_place_is_a_result_and_a_lost_drive_ends_the_workload() {
        let mut recorder = SegmentRecorder::default();
        recorder.begin(&workload(), Nanos::ZERO);
        for _ in 1..ERRORS_MAX {
            assert!(recorder.record(&[sample(1, Outcome::Error(5))]).is_continue());
        }
        assert!(recorder.record(&[sample(1, Outcome::Error(5))]).is_break());
        let mut recorder = SegmentRecorder::default();
        recorder.begin(&workload(), Nanos::ZERO);
        assert!(recorder.record(&[sample(1, Outcome::Short(512))]).is_continue());
        assert_eq!(recorder.refused_ios.len(), 1, "what was cut short is named, too");
        let mut recorder = SegmentRecorder::default();
        recorder.begin(&workload(), Nanos::ZERO);
        let failed = Stop::Failed { op: Op::Read, offset: 7, errno: 19 };
        assert_eq!(recorder.record(&[sample(7, Outcome::Error(19))]), ControlFlow::Break(failed));
        let segment = SegmentRecorder::join(vec![recorder], &workload(), failed);
        assert_eq!((segment.errors(), segment.refused_ios.len(), segment.bytes(Op::Read)), (1, 1, 0));
    }

    fn total(windows: &Windows) -> (u64, u64) {
        (windows.cells.iter().map(|c| c.ios).sum(), windows.cells.iter().map(|c| c.bytes).sum())
    }

    #[test]
    fn a_long_axis_keeps_its_memory_and_its_totals() {
        let mut windows = Windows::new(10);
        for position in 0..1_000_000 {
            windows.add(position, 3, Nanos(position), Nanos(position));
        }
        assert!(windows.cells.len() <= Windows::CELLS_MAX);
        assert_eq!(windows.width, 640);
        assert_eq!(total(&windows), (1_000_000, 3_000_000));
        assert_eq!(windows.cells[0].latency_ns_max, 639);
    }

    proptest! {
        #[test]
        fn merging_loses_nothing(a in prop::collection::vec(0u64..100_000, 0..200), b in prop::collection::vec(0u64..10_000_000, 0..200)) {
            let fill = |positions: &[u64]| {
                let mut windows = Windows::new(10);
                for &position in positions {
                    windows.add(position, 1, Nanos(1), Nanos(position));
                }
                windows
            };
            let mut merged = fill(&a);
            merged.merge(fill(&b));
            prop_assert_eq!(total(&merged).0, (a.len() + b.len()) as u64);
            let both: Vec<u64> = a.iter().chain(&b).copied().collect();
            let together = fill(&both);
            prop_assert_eq!(merged.cells, together.cells);
        }
    }
}
