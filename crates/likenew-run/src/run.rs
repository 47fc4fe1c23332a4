//! Runs one workload on a drive, over its lanes and into one segment. It also measures the program itself in
//! the same way, before it measures a drive.

use std::sync::atomic::AtomicBool;
use std::sync::{Barrier, OnceLock};
use std::thread::Builder;

use likenew_core::damage::Damage;
use likenew_core::drive::{Drive, Lane, LaneRequirements};
use likenew_core::instrument::Calibration;
use likenew_core::io::DataClass;
use likenew_core::region::Region;
use likenew_core::segment::{Recorder, Segment, SegmentRecorder, Stop};
use likenew_core::target::{Health, Target};
use likenew_core::target_error::TargetError;
use likenew_core::trace::ReplaySpec;
use likenew_core::units::Nanos;
use likenew_core::workload::{AccessPattern, Mix, Stream, Until, Workload};

use super::generator::Generator;
use super::io_source::{StreamCopy, Streams};
use super::lane::{LaneEnd, LaneShare, run_lane};
use super::replay::Replay;
pub use super::replay::TraceOpener;
use super::wording;

/// Makes a further recorder for each lane, beside the one that makes the segment.
pub type RecorderMaker<'a> = dyn FnMut() -> Box<dyn Recorder + Send> + 'a;

/// The result of a workload: its segment, and why it ended early if it did.
#[derive(Debug)]
pub struct RunResult {
    /// What was measured, up to any failure.
    pub segment: Segment,
    /// Why the target could not be measured to the end.
    pub target_error: Option<TargetError>,
}

/// Why a workload could not start.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The workload does not fit the drive.
    #[error("{0}")]
    Unfit(String),
    /// The drive could not be opened for the workload.
    #[error(transparent)]
    TargetError(#[from] TargetError),
    /// The workload's recording cannot be read, or is another one.
    #[error("{0}")]
    Recording(String),
}

/// Runs a workload of streams on `drive`.
///
/// # Errors
/// The workload does not fit the drive, or its lanes could not be opened. A later failure is part of
/// [`RunResult`].
pub fn run(
    drive: &mut dyn Drive,
    workload: &Workload,
    recorders: &mut RecorderMaker<'_>,
) -> Result<RunResult, RunError> {
    let mut none = |replay_spec: &ReplaySpec| Err(wording::recording_missing(&replay_spec.trace));
    run_with(drive, workload, &mut none, recorders)
}

/// Runs any workload on `drive`; `traces` opens its recording, if it names one.
///
/// # Errors
/// As for [`run`], or the recording cannot be opened or, where that is needed first, read to its end.
pub fn run_with(
    drive: &mut dyn Drive,
    workload: &Workload,
    traces: &mut TraceOpener<'_>,
    recorders: &mut RecorderMaker<'_>,
) -> Result<RunResult, RunError> {
    drive.use_old_files(workload.old_files)?;
    workload.check(&drive.geometry()).map_err(RunError::Unfit)?;
    let count = workload.lanes.min(drive.lanes_max()).max(1);
    let shares = shares(workload, count);
    let depth = shares.iter().map(|share| share.copies.len()).max().unwrap_or(0) as u32;
    let depth = if workload.streams.is_empty() {
        workload.depth()
    } else {
        depth / workload.streams.len() as u32 * workload.depth()
    };
    let source = Replay::open(workload, traces, &drive.geometry()).map_err(RunError::Recording)?;
    drive.prepare_access(workload.access, workload.cold)?;
    let counted_before = drive.counters();
    let mut lanes =
        drive.lanes(&LaneRequirements { lanes: count, depth, length_max: workload.length_max() })?;
    assert_eq!(lanes.len(), count as usize, "a drive opens as many lanes as it was asked for");

    let health_before = lanes[0].health();
    let extra: Vec<_> = lanes.iter().map(|_| recorders()).collect();
    let (ends, replay_record) = match source {
        None => (run_lanes(&mut lanes, &shares, extra)?, None),
        Some(source) => {
            let extra = extra.into_iter().next().expect("there is a recorder for each lane");
            let mut recorders = (SegmentRecorder::default(), extra);
            let (end, replay_record) = source.run(&mut *lanes[0], &shares[0], &mut recorders);
            (vec![(recorders.0, end)], replay_record)
        }
    };
    let mut ran = join(ends, workload);
    // A drive that hangs would not answer this either.
    let is_hung = matches!(ran.target_error, Some(TargetError::Hung(_)));
    let health_after = if is_hung { Health::default() } else { lanes[0].health() };
    drop(lanes);
    if let Some(TargetError::Hung(hang)) = &mut ran.target_error {
        hang.target = drive.identity().name;
    }
    ran.segment.health_before = health_before;
    ran.segment.health_after = health_after;
    ran.segment.accounting = drive.flash_counters();
    // The lanes are gone, so everything that was in flight has been counted.
    ran.segment.device_counters = counted_before.and_then(|before| Some(drive.counters()?.since(&before)));
    ran.segment.replay_record = replay_record;
    Ok(ran)
}

/// The record of a lane, and how it ended.
type LaneResult = (SegmentRecorder, LaneEnd);

/// Runs one lane on the caller's thread, or several lanes on threads of their own that start together.
///
/// # Errors
/// Not all threads could be started; then no lane has done anything.
fn run_lanes(
    lanes: &mut [Lane<'_>],
    shares: &[LaneShare<'_>],
    extra: Vec<Box<dyn Recorder + Send>>,
) -> Result<Vec<LaneResult>, TargetError> {
    let count = lanes.len();
    let halt = &AtomicBool::new(false);
    let measure_lane = move |lane: &mut Lane<'_>, share: &LaneShare<'_>, extra| {
        let mut recorders = (SegmentRecorder::default(), extra);
        let source = |target: &dyn Target, started_at| {
            Streams::new(share.workload, &share.copies, target.geometry(), started_at)
        };
        let (end, _) = run_lane(&mut **lane, share, source, &mut recorders, halt);
        (recorders.0, end)
    };
    let work = lanes.iter_mut().zip(shares).zip(extra);
    if count == 1 {
        return Ok(work.map(|((lane, share), extra)| measure_lane(lane, share, extra)).collect());
    }
    // Empty until all threads have started; `None` if one could not start, so that the others do nothing.
    let start: &OnceLock<Option<Barrier>> = &OnceLock::new();
    std::thread::scope(|scope| {
        let threads: std::io::Result<Vec<_>> = work
            .map(|((lane, share), extra)| {
                Builder::new().name("lane".into()).spawn_scoped(scope, move || {
                    start.wait().as_ref().map(|barrier| {
                        barrier.wait();
                        measure_lane(lane, share, extra)
                    })
                })
            })
            .collect();
        start.get_or_init(|| threads.is_ok().then(|| Barrier::new(count)));
        let threads = threads.map_err(TargetError::system(wording::start_threads(count)))?;
        let ends = threads.into_iter().map(|thread| thread.join().expect("a lane's thread ends by itself"));
        Ok(ends.map(|end| end.expect("all have started")).collect())
    })
}

/// Joins the lanes' results. A failure outranks an interruption, and both outrank a reached bound.
fn join(ends: Vec<LaneResult>, workload: &Workload) -> RunResult {
    let mut stop = Stop::Reached;
    let (mut target_error, mut records) = (None, Vec::with_capacity(ends.len()));
    let mut damage: Option<Damage> = None;
    for (recorder, end) in ends {
        match (stop, end.stop) {
            (Stop::Reached, other) | (Stop::Interrupted, other @ Stop::Failed { .. }) => stop = other,
            _ => {}
        }
        target_error = target_error.or(end.target_error);
        records.push(recorder);
        if let Some(lane_damage) = end.damage {
            damage.get_or_insert_default().merge(lane_damage);
        }
    }
    let segment = Segment { damage, ..SegmentRecorder::join(records, workload, stop) };
    RunResult { segment, target_error }
}

/// Distributes the copies of all streams, and the bounds, over the lanes.
fn shares(workload: &Workload, lanes: u32) -> Vec<LaneShare<'_>> {
    let copies = workload.lanes;
    (0..lanes)
        .map(|lane| LaneShare {
            workload,
            copies: (0..copies)
                .filter(|copy| copy % lanes == lane)
                .flat_map(|copy| (0..workload.streams.len()).map(move |stream| (stream as u16, copy)))
                .map(|(stream, copy)| StreamCopy { stream, copy, copies })
                .collect(),
            ops: portion(workload.until.ops, lane, lanes),
            bytes: portion(workload.until.bytes, lane, lanes),
            lane,
        })
        .collect()
}

/// A lane's part of a bound; all parts add up to the bound.
fn portion(bound: Option<u64>, lane: u32, lanes: u32) -> u64 {
    let Some(bound) = bound else { return u64::MAX };
    let (lane, lanes) = (u64::from(lane), u64::from(lanes));
    bound / lanes + u64::from(lane < bound % lanes)
}

const CLOCK_READINGS: usize = 1_000;
const NOP_IOS: u64 = 20_000;
const DATA_BYTES: u32 = 128 << 10;
const DATA_ROUNDS: u64 = 64;

/// Measures the program against a null drive on a wall clock. Takes a few milliseconds, so that it can
/// precede every run.
///
/// # Errors
/// The null drive could not be opened.
pub fn calibrate(nop: &mut dyn Drive) -> Result<Calibration, RunError> {
    let nop_iops = run(nop, &reads(NOP_IOS), &mut || Box::new(()))?.segment.iops();
    let nop_iops = nop_iops.expect("a drive that does nothing refuses nothing, and its clock moves");
    let mut lanes = nop.lanes(&LaneRequirements { lanes: 1, depth: 1, length_max: DATA_BYTES })?;
    let clock = lanes.pop().expect("a drive opens the lanes it was asked for");
    Ok(Calibration {
        timer_step_ns: timer_step(&*clock).0,
        nop_iops,
        overhead_ns_per_io: 1e9 / nop_iops,
        random_data_bytes_per_s: data_rate(&*clock, DataClass::Random),
        ratio_data_bytes_per_s: data_rate(&*clock, DataClass::Ratio(0.5)),
        added_latency: None,
    })
}

/// Random 4 KiB reads at QD32.
fn reads(ops: u64) -> Workload {
    let op = Mix::Only(likenew_core::io::Op::Read);
    let stream = Stream::closed(op, 4096, AccessPattern::Random(Region::WHOLE), 32, DataClass::Random);
    Workload::new("calibration", Until::ops(ops), vec![stream])
}

/// The smallest step between two different readings of the clock.
fn timer_step(clock: &dyn Target) -> Nanos {
    let mut last = clock.now();
    let mut step = Nanos::NEVER;
    for _ in 0..CLOCK_READINGS {
        let now = clock.now();
        if now > last {
            step = step.min(now - last);
        }
        last = now;
    }
    step
}

/// Bytes a second that one core generates, into a buffer that stays in its own cache.
fn data_rate(clock: &dyn Target, class: DataClass) -> f64 {
    let mut words = vec![0u64; DATA_BYTES as usize / size_of::<u64>()];
    let buffer: &mut [u8] = bytemuck::cast_slice_mut(&mut words);
    let mut generator = Generator::new(0);
    generator.fill(buffer, class, 0);
    let started_at = clock.now();
    for _ in 0..DATA_ROUNDS {
        generator.fill(buffer, class, 0);
        std::hint::black_box(&mut *buffer);
    }
    (DATA_ROUNDS * u64::from(DATA_BYTES)) as f64 / clock.now().since(started_at).as_secs_f64()
}
