//! The results of one workload, in constant memory.

use std::ops::ControlFlow;

use serde::{Deserialize, Serialize};

use crate::busy;
use crate::counters::Counters;
use crate::damage::Damage;
use crate::flash_counters::FlashCounters;
use crate::io::{Op, Outcome};
use crate::recorder::{Recorder, Stop};
use crate::replay_record::ReplayRecord;
use crate::sample::Sample;
use crate::tally::{Latencies, Tally};
use crate::target::Health;
use crate::units::Nanos;
use crate::windows::Windows;
use crate::workload::Workload;

/// The record of one workload: enough to judge it again without the drive.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Segment {
    /// The workload.
    pub workload: Workload,
    /// When it began on the drive's clock.
    pub started_at: Nanos,
    /// When its last I/O ended on the drive's clock.
    pub ended_at: Nanos,
    /// How long at least one I/O was outstanding: exact for one lane, see [`crate::busy::of_lanes`] for
    /// several. Zero where that was not recorded, as in what other programs measured.
    #[serde(default)]
    pub busy: Nanos,
    /// Why it ended.
    pub stop: Stop,
    /// One for each operation of each stream that occurred, by stream, then op.
    pub tallies: Vec<Tally>,
    /// Along time since `started_at`, in nanoseconds.
    pub seconds: Windows,
    /// Along bytes moved since `started_at`, as wide as [`Workload::window`] says at first.
    pub gigabytes: Windows,
    /// The slowest I/Os, slowest first; at most [`Segment::SLOWEST_MAX`].
    pub slowest: Vec<Sample>,
    /// The first I/Os that the drive refused or cut short; at most [`Segment::REFUSED_MAX`]. All are counted
    /// in the tallies.
    pub refused_ios: Vec<Sample>,
    /// The first I/Os in order of their ends, as many as [`Workload::samples`] asks for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub samples: Vec<Sample>,
    /// The result of a replay, next to what the recording says of the same I/Os.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replay_record: Option<ReplayRecord>,
    /// Whether the run was interrupted before this and then resumed, with a new clock.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub after_interruption: bool,
    /// Before the first I/O.
    pub health_before: Health,
    /// After the last one.
    pub health_after: Health,
    /// Flash counters of a simulated drive after it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accounting: Option<FlashCounters>,
    /// What the kernel counted at the device in that time, I/O of other programs included.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device_counters: Option<Counters>,
    /// The check of stamped sectors that were read; absent where there was nothing to check.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub damage: Option<Damage>,
}

impl Segment {
    /// How many of the slowest I/Os are kept one by one.
    pub const SLOWEST_MAX: usize = 32;
    /// How many of the refused I/Os are kept one by one.
    pub const REFUSED_MAX: usize = 16;

    /// From the start to the end of the last I/O.
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

    /// All operations together, as one.
    pub fn total(&self) -> Tally {
        let mut total = Tally::new(0, Op::Read);
        self.tallies.iter().for_each(|tally| total.merge(tally));
        total
    }

    /// One operation over all streams, as one.
    pub fn total_of(&self, op: Op) -> Tally {
        let mut total = Tally::new(0, op);
        self.tallies_of(op).for_each(|tally| total.merge(tally));
        total
    }

    /// Latencies of all operations together.
    pub fn latencies(&self) -> Latencies {
        self.total().latency
    }

    /// Whether it was assumed in a dry run, which has counts and no latencies, and not measured.
    pub fn is_dry_run(&self) -> bool {
        self.tallies.iter().any(|tally| tally.ios > 0 && tally.latency.count() == 0)
    }

    fn tallies_of(&self, op: Op) -> impl Iterator<Item = &Tally> {
        self.tallies.iter().filter(move |tally| tally.op == op)
    }
}

/// The recorder of one lane that makes a [`Segment`].
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

/// I/Os that the medium refuses which count as results before a workload is stopped, unless it is to find out which are.
const ERRORS_MAX: u64 = 100;
/// Width of the windows along time and along bytes.
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

    /// The records of all lanes as one segment.
    pub fn join(lanes: Vec<Self>, workload: &Workload, stop: Stop) -> Segment {
        let busy: Vec<Nanos> = lanes.iter().map(|lane| lane.busy).collect();
        let mut lanes = lanes.into_iter();
        let mut whole = lanes.next().expect("a workload has at least one lane");
        for lane in lanes {
            whole.merge(lane);
        }
        whole.tallies.iter_mut().flatten().flatten().for_each(|tally| tally.latency.compact());
        Segment {
            workload: workload.clone(),
            started_at: whole.started_at,
            ended_at: whole.ended_at,
            busy: busy::of_lanes(&busy, whole.ended_at.since(whole.started_at)),
            stop,
            tallies: whole.tallies.into_iter().flatten().flatten().map(|tally| *tally).collect(),
            seconds: whole.seconds,
            gigabytes: whole.gigabytes,
            slowest: whole.slowest.sorted(),
            refused_ios: whole.refused_ios,
            samples: whole.samples,
            replay_record: None,
            after_interruption: false,
            health_before: Health::default(),
            health_after: Health::default(),
            accounting: None,
            device_counters: None,
            damage: None,
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

/// The slowest samples so far. `floor` is the latency that a newcomer has to exceed once the list is full.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::until::Until;

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
        for asked in [0, 5, 150, 1000] {
            let workload = Workload { samples: asked, ..workload() };
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
                (0..u64::from(asked.min(200))).collect::<Vec<_>>(),
                "the first of both lanes"
            );
            let text = serde_json::to_string(&segment).unwrap();
            assert_eq!(text.contains("\"samples\":["), asked > 0);
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
}
