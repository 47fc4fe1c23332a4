//! Traces, replayed on a drive in memory with known latencies.

use std::collections::VecDeque;

use likenew_core::io::{DataClass, Op};
use likenew_core::memory::Memory;
use likenew_core::region::Region;
use likenew_core::segment::{ReplayPair, ReplayRecord, Segment, Stop};
use likenew_core::trace::{Fit, ReplayClock, ReplaySpec, ReplayTiming, TraceIo, TraceSource, TraceTotals};
use likenew_core::units::Nanos;
use likenew_core::workload::{Until, Workload};
use likenew_run::run::{RunResult, run, run_with};
use proptest::prelude::*;

const SERVICE: Nanos = Nanos::from_micros(10);
const MICRO: u64 = 1000;

/// A trace in memory.
struct Listed {
    ios: VecDeque<Result<TraceIo, String>>,
    names: Vec<String>,
}

impl TraceSource for Listed {
    fn next_io(&mut self) -> Result<Option<TraceIo>, String> {
        self.ios.pop_front().transpose()
    }

    fn applications(&self) -> &[String] {
        &self.names
    }
}

/// Departure and latency in microseconds.
fn io(at: u64, op: Op, offset: u64, length: u64, latency: Option<u64>, application: u16) -> TraceIo {
    let latency = latency.map(Nanos::from_micros);
    TraceIo { at: Nanos::from_micros(at), op, offset, length, latency, application }
}

fn read(at: u64, latency: u64) -> TraceIo {
    io(at, Op::Read, at * 4096, 4096, Some(latency), 1)
}

fn clocked() -> ReplayClock {
    ReplayClock { speed: 1.0, idle_max: None, closed: false }
}

fn workload(timing: ReplayTiming, depth: u32) -> Workload {
    let replay_spec = ReplaySpec {
        trace: "day".into(),
        format: None,
        volume: None,
        digest: String::new(),
        timing,
        depth,
        length_max: 64 << 10,
        region: Region::WHOLE,
        fit: Fit::Modulo,
        extent: 1 << 20,
        reads_only: false,
        data: DataClass::Random,
        applications: vec!["make".into(), "cc".into()],
        expected: TraceTotals::default(),
    };
    Workload {
        replay_spec: Some(Box::new(replay_spec)),
        samples: 4096,
        ..Workload::new("day", Until::default(), Vec::new())
    }
}

fn ran(mut drive: Memory, workload: &Workload, ios: Vec<Result<TraceIo, String>>) -> RunResult {
    let names = ["", "make", "sh", "cc"].map(String::from).to_vec();
    let mut listed = Some(Listed { ios: ios.into(), names });
    run_with(
        &mut drive,
        workload,
        &mut |_| Ok(Box::new(listed.take().expect("it is opened once"))),
        &mut || Box::new(()),
    )
    .unwrap()
}

fn replay_record(drive: Memory, workload: &Workload, ios: &[TraceIo]) -> (Segment, ReplayRecord) {
    let RunResult { segment, target_error } = ran(drive, workload, ios.iter().copied().map(Ok).collect());
    assert!(target_error.is_none() && segment.stop == Stop::Reached, "{target_error:?}");
    let replay_record = segment.replay_record.clone();
    (segment, replay_record.unwrap_or_else(|| panic!("a replay has a record")))
}

fn drive(servers: usize) -> Memory {
    Memory::new(1 << 20, SERVICE, servers)
}

fn departures(segment: &Segment) -> Vec<u64> {
    let mut sent: Vec<u64> = segment.samples.iter().map(|sample| sample.sent.0 / MICRO).collect();
    sent.sort_unstable();
    sent
}

#[test]
fn as_fast_as_it_goes_keeps_order_and_depth() {
    let ios: Vec<TraceIo> = (0..400).map(|at| read(at * 50, 5)).collect();
    let (segment, replay_record) = replay_record(drive(4), &workload(ReplayTiming::Fast, 8), &ios);
    assert_eq!(segment.elapsed(), Nanos::from_millis(1), "400 I/Os over 4 servers of 10 µs");
    let offsets: Vec<u64> = segment.samples.iter().map(|sample| sample.offset).collect();
    assert_eq!(offsets, ios.iter().map(|io| io.offset % (1 << 20)).collect::<Vec<_>>());
    assert_eq!(
        (replay_record.ios, replay_record.bytes(), replay_record.lateness.count()),
        (400, 400 << 12, 0)
    );
    // The first four take 10 µs, all others wait as long again.
    assert_eq!(
        replay_record.waiting(),
        ReplayPair { replayed_ns: (4 * 10 + 396 * 20) * MICRO, recorded_ns: 400 * 5 * MICRO }
    );
    assert_eq!(replay_record.busy, ReplayPair { replayed_ns: 1000 * MICRO, recorded_ns: 400 * 5 * MICRO });
    assert_eq!(
        (replay_record.remapped_ios, replay_record.recorded_elapsed),
        (400 - 6, Nanos::from_micros(399 * 50 + 5))
    );
}

#[test]
fn recorded_times_are_kept_whatever_the_drive_does() {
    let ios = [read(0, 5), read(100, 5), read(101, 5), read(102, 5)];
    let (segment, of_timed) = replay_record(drive(1), &workload(ReplayTiming::Timed(clocked()), 8), &ios);
    assert_eq!(departures(&segment), [0, 100, 101, 102]);
    assert_eq!((of_timed.lateness_ns_sum, of_timed.lateness.count()), (0, 4));
    assert_eq!(of_timed.waiting().replayed_ns, (10 + 10 + 19 + 28) * MICRO);
    assert_eq!(of_timed.busy, ReplayPair { replayed_ns: 40 * MICRO, recorded_ns: (5 + 7) * MICRO });
    // At QD1 the others leave late because of the drive, and latency counts from when they were due.
    let (segment, one_by_one) = replay_record(drive(1), &workload(ReplayTiming::Timed(clocked()), 1), &ios);
    assert_eq!(departures(&segment), [0, 100, 110, 120]);
    assert_eq!(
        (one_by_one.lateness_ns_sum, one_by_one.throttled_ns_sum),
        ((9 + 18) * MICRO, (9 + 18) * MICRO)
    );
    assert_eq!(one_by_one.waiting(), of_timed.waiting());
}

#[test]
fn time_can_be_faster_and_pauses_shorter() {
    let ios = [read(0, 5), read(1000, 5), read(1020, 5), read(90_000, 5)];
    let twice = ReplayTiming::Timed(ReplayClock { speed: 2.0, ..clocked() });
    assert_eq!(departures(&replay_record(drive(1), &workload(twice, 8), &ios).0), [0, 500, 510, 45_000]);
    // A pause begins when the last I/O has ended: 995 of the 1000 µs.
    let cut = |pace| workload(pace, 8);
    let idle_max = Some(Nanos::from_micros(100));
    let timed = ReplayTiming::Timed(ReplayClock { idle_max, ..clocked() });
    assert_eq!(departures(&replay_record(drive(1), &cut(timed), &ios).0), [0, 105, 125, 230]);
    let dependent = ReplayTiming::Dependent(ReplayClock { idle_max, ..clocked() });
    let (segment, replay_record) = replay_record(drive(1), &cut(dependent), &ios);
    assert_eq!(departures(&segment), [0, 110, 135, 245], "after the end of the one before, as there");
    assert_eq!(replay_record.recorded_elapsed, Nanos::from_micros(90_005), "the recording's own time");
}

#[test]
fn what_depends_on_others_waits_for_them_and_keeps_its_think_time() {
    // Two at once, one that depends on the first of them, and one that depends on all.
    let ios = [read(0, 100), read(0, 300), read(150, 100), read(310, 10)];
    let pace = ReplayTiming::Dependent(clocked());
    let (segment, quick) = replay_record(drive(4), &workload(pace, 8), &ios);
    assert_eq!(departures(&segment), [0, 0, 60, 80]);
    assert_eq!(quick.waiting(), ReplayPair { replayed_ns: 40 * MICRO, recorded_ns: 510 * MICRO });
    assert_eq!(quick.lateness_ns_sum, 0);
    // A slower drive delays what depends on it, and nothing counts twice.
    let slow = Memory::new(1 << 20, Nanos::from_micros(400), 4);
    let (segment, slow) = replay_record(slow, &workload(pace, 8), &ios);
    assert_eq!(departures(&segment), [0, 0, 450, 860]);
    assert_eq!(slow.waiting().replayed_ns, 4 * 400 * MICRO);
}

#[test]
fn without_recorded_ends_each_application_does_one_after_the_other() {
    let ios = [(0, 1), (5, 1), (5, 3), (30, 1), (31, 3)]
        .map(|(at, application)| io(at, Op::Read, 0, 4096, None, application));
    let pace = ReplayTiming::Dependent(ReplayClock { closed: true, ..clocked() });
    let (segment, replay_record) = replay_record(drive(4), &workload(pace, 8), &ios);
    // The second was due at 5 and depends on the first; later ones keep their distance.
    assert_eq!(departures(&segment), [0, 10, 10, 35, 36]);
    assert_eq!(
        (replay_record.paired_ios(), replay_record.waiting(), replay_record.lateness_ns_sum),
        (0, ReplayPair::default(), 0)
    );
    assert_eq!(replay_record.tallies.iter().map(|tally| tally.latency_ns_sum).sum::<u64>(), 50 * MICRO);
}

#[test]
fn an_io_that_is_longer_than_a_buffer_is_split_and_counts_as_one() {
    let ios = [io(0, Op::Write, 0, 200 << 10, Some(20), 1), io(0, Op::Flush, 0, 0, Some(1), 0)];
    let (segment, replay_record) = replay_record(drive(1), &workload(ReplayTiming::Fast, 8), &ios);
    let lengths: Vec<u32> = segment.samples.iter().map(|sample| sample.length >> 10).collect();
    assert_eq!(lengths, [64, 64, 64, 8, 0]);
    assert_eq!((segment.ios(Op::Write), replay_record.ios, replay_record.bytes()), (4, 2, 200 << 10));
    let write = replay_record.tallies.iter().find(|tally| tally.op == Op::Write).unwrap();
    assert_eq!(write.waiting, ReplayPair { replayed_ns: 40 * MICRO, recorded_ns: 20 * MICRO });
    assert_eq!(
        (replay_record.longest[0].op, replay_record.longest[0].latency),
        (Op::Flush, Nanos::from_micros(50))
    );
}

#[test]
fn reads_alone_can_be_replayed_where_nothing_may_be_written() {
    let ios =
        [read(0, 5), io(1, Op::Write, 0, 4096, Some(5), 1), io(2, Op::Trim, 0, 4096, None, 1), read(3, 5)];
    let mut workload = workload(ReplayTiming::Timed(clocked()), 8);
    let mut drive = drive(1).read_only();
    let refused = run_with(&mut drive, &workload, &mut |_| unreachable!(), &mut || Box::new(()));
    assert!(refused.unwrap_err().to_string().contains("reads only"));
    workload.replay_spec.as_mut().unwrap().reads_only = true;
    let (segment, replay_record) = replay_record(drive, &workload, &ios);
    assert_eq!((segment.total().ios, replay_record.ios, replay_record.skips), (2, 2, 2));
}

#[test]
fn streams_are_applications_and_the_rest() {
    let ios: Vec<TraceIo> =
        [0, 1, 2, 3, 3].map(|application| io(0, Op::Read, 0, 4096, Some(7), application)).to_vec();
    let (segment, replay_record) = replay_record(drive(8), &workload(ReplayTiming::Fast, 8), &ios);
    let counts: Vec<(u16, u64)> = segment.tallies.iter().map(|tally| (tally.stream, tally.ios)).collect();
    assert_eq!(counts, [(0, 2), (1, 1), (2, 2)], "sh is not told apart, and cc is the second that is");
    let busy: Vec<(u16, ReplayPair)> =
        replay_record.streams.iter().map(|stream| (stream.stream, stream.busy)).collect();
    let both = ReplayPair { replayed_ns: 10 * MICRO, recorded_ns: 7 * MICRO };
    assert_eq!(busy, [(0, both), (1, both), (2, both)]);
}

#[test]
fn a_broken_recording_ends_the_workload_with_what_was_measured() {
    let ios =
        vec![Ok(read(0, 5)), Ok(read(20, 5)), Err("day, line 3: expected a number".into()), Ok(read(40, 5))];
    let RunResult { segment, target_error } =
        ran(drive(1), &workload(ReplayTiming::Timed(clocked()), 8), ios.clone());
    assert!(target_error.unwrap().to_string().contains("line 3"));
    assert!(segment.total().ios <= 2);
    let mut drive = drive(1);
    let mut listed = Some(Listed { ios: ios.into(), names: Vec::new() });
    let mut open = |_: &ReplaySpec| Ok(Box::new(listed.take().unwrap()) as Box<dyn TraceSource>);
    let error = run_with(&mut drive, &workload(ReplayTiming::Prepare, 8), &mut open, &mut || Box::new(()));
    assert!(error.unwrap_err().to_string().contains("line 3"));
    let none = run(&mut drive, &workload(ReplayTiming::Fast, 8), &mut || Box::new(()));
    assert!(none.unwrap_err().to_string().contains("missing here"));
}

#[test]
fn what_is_touched_is_written_once_in_order() {
    let ios = [
        io(0, Op::Write, 128 << 10, 4096, None, 0),
        io(0, Op::Read, 8192, 12_288, None, 0),
        io(0, Op::Read, 16_384, 100, None, 0),
        io(0, Op::Flush, 0, 0, None, 0),
        io(0, Op::Trim, 512 << 10, 4096, None, 0),
        io(0, Op::Read, (1 << 20) - 512, 512, None, 0),
        io(0, Op::Read, 300 << 10, 150 << 10, None, 0),
    ];
    let RunResult { segment, target_error } =
        ran(drive(1), &workload(ReplayTiming::Prepare, 2), ios.into_iter().map(Ok).collect());
    assert!(target_error.is_none() && segment.replay_record.is_none());
    let written: Vec<(u64, u32)> =
        segment.samples.iter().map(|sample| (sample.offset, sample.length)).collect();
    let kib = |offset: u64, length: u32| (offset << 10, length << 10);
    let long = [kib(300, 64), kib(364, 64), kib(428, 22)];
    let first = [(8192, 12_288), kib(128, 4)];
    assert_eq!(written, [&first[..], &long, &[((1 << 20) - 512, 512)]].concat());
    assert!(segment.samples.iter().all(|sample| sample.op == Op::Write));
    let reads_only = {
        let mut workload = workload(ReplayTiming::Prepare, 2);
        workload.replay_spec.as_mut().unwrap().reads_only = true;
        ran(drive(1), &workload, ios.into_iter().map(Ok).collect()).segment
    };
    assert!(reads_only.samples.iter().all(|sample| sample.offset != 128 << 10));
}

#[test]
fn a_bound_ends_it_before_its_end() {
    let ios: Vec<TraceIo> = (0..100).map(|at| read(at * 50, 5)).collect();
    let until = Until::elapsed(Nanos::from_micros(1001));
    let workload = Workload { until, ..workload(ReplayTiming::Timed(clocked()), 8) };
    let (segment, replay_record) = replay_record(drive(1), &workload, &ios);
    assert_eq!((segment.total().ios, replay_record.ios), (21, 21));
    assert_eq!(replay_record.waiting().recorded_ns, 21 * 5 * MICRO, "of what was replayed alone");
}

prop_compose! {
    fn recordings()(
        steps in prop::collection::vec((0u64..40, 0u64..120, 0u16..4, 1u64..40, 0usize..4), 1..80)
    ) -> Vec<TraceIo> {
        let mut at = 0;
        let made = steps.into_iter().enumerate().map(|(index, (gap, latency, application, blocks, op))| {
            at += gap;
            let op = Op::ALL[op];
            let length = if op == Op::Flush { 0 } else { blocks * 4096 };
            io(at, op, index as u64 * 8192, length, Some(latency), application)
        });
        made.collect()
    }
}

/// Time in `spans` with at least one I/O, checked for every microsecond.
fn union(spans: &[(u64, u64)]) -> u64 {
    let end = spans.iter().map(|span| span.1).max().unwrap_or(0);
    (0..end).filter(|now| spans.iter().any(|(from, to)| (from..to).contains(&now))).count() as u64
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn everything_happens_once_in_order_and_the_books_are_exact(
        ios in recordings(), servers in 1usize..4, depth in 1u32..6, pace in 0usize..3,
    ) {
        let pace = [ReplayTiming::Fast, ReplayTiming::Timed(clocked()), ReplayTiming::Dependent(clocked())][pace];
        let (segment, replay_record) = replay_record(drive(servers), &workload(pace, depth), &ios);
        prop_assert_eq!(replay_record.ios as usize, ios.len());
        prop_assert_eq!(replay_record.bytes(), ios.iter().map(|io| io.length).sum::<u64>());
        let (any, blocking) = (|_: Op| true, |op: Op| matches!(op, Op::Read | Op::Flush));
        for (both, which) in [(replay_record.busy, any as fn(Op) -> bool), (replay_record.blocking, blocking)] {
            let recorded_ios = ios.iter().filter(|io| which(io.op));
            let recorded_spans: Vec<(u64, u64)> =
                recorded_ios.map(|io| (io.at.0 / MICRO, (io.at + io.latency.unwrap()).0 / MICRO)).collect();
            prop_assert_eq!(both.recorded_ns, union(&recorded_spans) * MICRO);
            let samples = segment.samples.iter().filter(|sample| which(sample.op));
            let replayed_spans: Vec<(u64, u64)> =
                samples.map(|sample| (sample.sent.0 / MICRO, sample.done.0 / MICRO)).collect();
            prop_assert_eq!(both.replayed_ns, union(&replayed_spans) * MICRO);
        }
        prop_assert!(segment.samples.iter().all(|sample| sample.sent >= sample.due && sample.done > sample.sent));
    }

    #[test]
    fn nothing_leaves_before_what_it_depends_on_has_ended(ios in recordings(), servers in 1usize..4, depth in 1u32..9) {
        let small = |(index, io): (usize, &TraceIo)| {
            let op = if index % 3 == 0 { Op::Write } else { Op::Read };
            TraceIo { op, offset: index as u64 * 4096, length: 4096, ..*io }
        };
        let ios: Vec<TraceIo> = ios.iter().enumerate().map(small).collect();
        let (segment, _) = replay_record(drive(servers), &workload(ReplayTiming::Dependent(clocked()), depth), &ios);
        let of = |index: usize| segment.samples.iter().find(|s| s.offset == index as u64 * 4096).unwrap();
        for (index, io) in ios.iter().enumerate() {
            for (before, other) in ios[..index].iter().enumerate() {
                prop_assert!(of(before).sent <= of(index).sent, "in their order");
                let ended = other.at + other.latency.unwrap();
                if ended <= io.at {
                    prop_assert!(of(before).done <= of(index).sent, "{before} before {index}");
                }
            }
        }
    }
}
