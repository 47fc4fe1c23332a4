//! Dry runs: what a plan would run on an assumed drive, how many bytes it would move, and about how long it
//! would take.

use std::cell::Cell;

use elsa::FrozenVec;

use crate::io::Op;
use crate::probe::{Observation, Probe, ProbeResult};
use crate::procedure::{Assume, Evidence, PastStep, Place, Procedure, Step, Steps};
use crate::segment::{Segment, Stop};
use crate::tally::Tally;
use crate::target::Geometry;
use crate::trace::{ReplaySpec, TraceTotals};
use crate::units::Nanos;
use crate::wording;
use crate::workload::{AccessPattern, Arrival, Mix, Stream, Workload};

/// What a plan would do on an assumed drive. The drive moves 500 MB/s, as an SSD's SATA link does. It answers
/// a small I/O in 100 µs, or a random one in 12 ms if it rotates.
///
/// A dry run reaches no goal, so a plan that runs until something is reached is followed to its limit.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DryRun {
    /// Workloads that would run, in order; at most [`DryRun::WORKLOADS_MAX`].
    pub workloads: Vec<Workload>,
    /// Probes that would run, in order.
    pub probes: Vec<Probe>,
    /// Workloads and probes together, in order.
    pub planned_steps: Vec<Step>,
    /// Bytes that would be written: up to the workloads' bounds, or as much as the assumed drive writes in their time.
    pub bytes_written: u64,
    /// Most bytes that the run writes, whatever it finds; `None` where only time ends a part of it.
    pub bytes_written_max: Option<u64>,
    /// Bytes that would be moved in total.
    pub bytes_moved: u64,
    /// About how long it would take.
    pub elapsed: Nanos,
    /// Whether it ends within [`DryRun::WORKLOADS_MAX`] workloads.
    pub is_finite: bool,
}

/// Bytes per second of the assumed drive. Chosen: about what a 6 Gbit/s SATA link lets an SSD move.
const BYTES_PER_S: f64 = 500e6;
/// Nanoseconds of a small I/O on the assumed drive. Chosen: about what a SATA SSD takes for a 4 KiB read.
const ACCESS_NS: f64 = 100_000.0;
/// Nanoseconds of a flush on the assumed drive, whose cache is volatile. Chosen: time to program flash and its mapping.
const FLUSH_NS: f64 = 1e6;
/// Nanoseconds of a flush on an assumed drive that rotates: one turn at 7,200 rpm.
const FLUSH_ROTATING_NS: f64 = 8.3e6;
/// Nanoseconds of a random access on an assumed drive that rotates. Chosen: a typical sum of seek and half a
/// turn on a desktop disk.
const ACCESS_ROTATING_NS: f64 = 12e6;
/// Share of its QD1 rate that a hard disk gains with each doubling of the depth, as it can choose shorter
/// ways. Chosen to give about 2.5 times as many I/Os at QD32 as at QD1.
const GAIN_PER_DOUBLING: f64 = 0.3;

impl DryRun {
    /// Plans with more workloads than this count as endless. A procedure that finds its steps in the evidence
    /// goes through all segments at each step, so twice as many take four times as long.
    pub const WORKLOADS_MAX: usize = 20_000;

    /// Dry-runs the rest of a plan after `evidence`, without a drive.
    ///
    /// # Errors
    /// The procedure's error, when the plan does not fit the drive.
    pub fn plan(procedure: &dyn Procedure, evidence: &Evidence) -> Result<Self, String> {
        let mut dry_run = Self::with_rates(procedure, evidence, &|_| 1.0)?;
        if dry_run.is_finite && dry_run.bytes_written_max.is_some_and(|bytes| bytes > 0) {
            // Passes repeat up to their limit where each is slower than the one before.
            let count = Cell::new(0);
            let slower = |_: &Workload| 1.02f64.powi(count.replace(count.get() + 1).min(500));
            let other = Self::with_rates(procedure, evidence, &slower)?.bytes_written_max;
            dry_run.bytes_written_max =
                dry_run.bytes_written_max.zip(other).map(|(one, other)| one.max(other));
        }
        Ok(dry_run)
    }

    /// Dry-runs a plan on a drive whose I/Os take a given multiple of the assumed time, workload by workload.
    ///
    /// # Errors
    /// The procedure's error, when the plan does not fit the drive.
    pub fn with_rates(
        procedure: &dyn Procedure,
        evidence: &Evidence,
        times_as_long: &dyn Fn(&Workload) -> f64,
    ) -> Result<Self, String> {
        let begun = evidence;
        let mut evidence = evidence.clone();
        let (first, first_observation, before) =
            (evidence.segments.len(), evidence.observations.len(), evidence.steps());
        let mut is_finite = false;
        while !is_finite && evidence.steps() - before < Self::WORKLOADS_MAX {
            let left = Self::WORKLOADS_MAX - (evidence.steps() - before);
            let assumptions = Assumptions::new(&evidence, left, times_as_long);
            let mut steps = Steps::planning(&evidence, Some(&assumptions));
            procedure.run(&mut steps)?;
            if let Some(step) = steps.next.take() {
                if let Step::Run(workload) = &step {
                    workload.check(&evidence.geometry)?;
                }
                // A procedure that finds its steps in the evidence asks for one at a time.
                assumptions.assume(&step, steps.place(), steps.now());
            }
            let (segments, observations) =
                (assumptions.segments.into_vec(), assumptions.observations.into_vec());
            is_finite = segments.is_empty() && observations.is_empty();
            evidence.segments.extend(segments.into_iter().map(|segment| *segment));
            evidence.observations.extend(observations.into_iter().map(|observation| *observation));
        }
        let planned_steps: Vec<Step> = evidence.history().skip(before).map(PastStep::step).collect();
        let bytes_written_max = procedure.bytes_written_max(begun, &planned_steps);
        let mut dry_run = Self { bytes_written_max, planned_steps, is_finite, ..Self::default() };
        for Observation { probe, .. } in evidence.observations.drain(first_observation..) {
            dry_run.bytes_written = dry_run.bytes_written.saturating_add(probe.bytes_written());
            dry_run.bytes_moved = dry_run.bytes_moved.saturating_add(probe.bytes_written());
            dry_run.elapsed += probe_elapsed(&probe);
            dry_run.probes.push(probe);
        }
        for segment in evidence.segments.drain(first..) {
            dry_run.bytes_moved = dry_run.bytes_moved.saturating_add(segment.total().bytes);
            if segment.workload.reaches_drive() {
                dry_run.bytes_written = dry_run.bytes_written.saturating_add(segment.bytes(Op::Write));
            }
            dry_run.elapsed += segment.elapsed();
            dry_run.workloads.push(segment.workload);
        }
        Ok(dry_run)
    }

    /// The number of workloads and probes that would run.
    pub fn steps(&self) -> usize {
        self.workloads.len() + self.probes.len()
    }
}

/// Makes up results of steps that are not run, on a drive that takes a given multiple of the assumed drive's times.
struct Assumptions<'a> {
    geometry: &'a Geometry,
    rotates: bool,
    times_as_long: &'a dyn Fn(&Workload) -> f64,
    /// How many more steps may be assumed.
    left: Cell<usize>,
    segments: FrozenVec<Box<Segment>>,
    observations: FrozenVec<Box<Observation>>,
}

impl<'a> Assumptions<'a> {
    fn new(evidence: &'a Evidence, left: usize, times_as_long: &'a dyn Fn(&Workload) -> f64) -> Self {
        Self {
            geometry: &evidence.geometry,
            rotates: evidence.identity.rotates(),
            times_as_long,
            left: Cell::new(left),
            segments: FrozenVec::new(),
            observations: FrozenVec::new(),
        }
    }
}

impl Assume for Assumptions<'_> {
    fn assume(&self, step: &Step, place: Place, now: Nanos) -> Option<PastStep<'_>> {
        self.left.set(self.left.get().checked_sub(1)?);
        Some(match step {
            Step::Run(workload) => {
                workload.check(self.geometry).ok()?;
                let segment = assumed_segment(workload, now, self.rotates, (self.times_as_long)(workload));
                PastStep::Segment(self.segments.push_get(Box::new(segment)))
            }
            Step::Probe(probe) => {
                let observation = unknown_observation(probe.clone(), place.segments);
                PastStep::Observation(self.observations.push_get(Box::new(observation)))
            }
            Step::Done => return None,
        })
    }
}

/// Time that a probe takes on the assumed drive.
pub fn probe_elapsed(probe: &Probe) -> Nanos {
    probe.waits() + Nanos((probe.bytes_written() as f64 / BYTES_PER_S * 1e9) as u64)
}

/// How long a workload takes on the assumed drive.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Expectation {
    /// Time until it has issued all its I/Os or moved all its bytes; `None` where only its time ends it.
    pub work: Option<Nanos>,
    /// Its time limit, if it has one.
    pub time: Option<Nanos>,
    /// Whether the workload, rather than the drive, sets the pace.
    pub is_paced: bool,
}

/// How long to expect a workload to take on a drive that rotates, or one that does not.
pub fn expected(workload: &Workload, rotates: bool) -> Expectation {
    let time = workload.until.elapsed;
    if let Some(replay_spec) = &workload.replay_spec {
        return Expectation { work: Some(recording_elapsed(replay_spec)), time, is_paced: false };
    }
    if workload.streams.is_empty() {
        return Expectation { work: None, time: Some(time.unwrap_or_default()), is_paced: true };
    }
    let cost = Cost::for_workload(workload, rotates);
    let ios = cost.ios_of_work(workload);
    let work = ios.is_finite().then_some(Nanos((ios * cost.each_ns) as u64));
    Expectation { work, time, is_paced: cost.is_paced }
}

/// Nanoseconds that a segment's I/Os would have taken on the assumed drive; `None` where the workload set the
/// pace, or without I/Os.
pub fn assumed_elapsed_ns(segment: &Segment, rotates: bool) -> Option<f64> {
    let workload = &segment.workload;
    if workload.streams.is_empty() || workload.replay_spec.is_some() {
        return None;
    }
    let cost = Cost::for_workload(workload, rotates);
    let flushes = segment.total_of(Op::Flush).ios;
    let ios = segment.total().ios;
    // A flush that follows writes is part of their cost.
    let ios = if workload.has_flushes() { ios - flushes } else { ios };
    let elapsed_ns = ios as f64 * cost.each_ns;
    (!cost.is_paced && elapsed_ns > 0.0).then_some(elapsed_ns)
}

/// What one I/O of a workload takes on the assumed drive.
struct Cost {
    mean_bytes: f64,
    each_ns: f64,
    is_paced: bool,
}

impl Cost {
    fn for_workload(workload: &Workload, rotates: bool) -> Self {
        let shares = workload.stream_shares();
        let parts = || workload.streams.iter().zip(&shares);
        let mean_bytes: f64 = parts().map(|(stream, share)| share * stream.size.mean()).sum();
        let moved = parts().filter(|(stream, _)| stream.op != Mix::Only(Op::Trim));
        let moved_ns =
            moved.map(|(stream, share)| share * stream.size.mean()).sum::<f64>() / BYTES_PER_S * 1e9;
        let depth = f64::from(workload.lanes) * f64::from(workload.depth().max(1));
        let seeks = rotates
            && workload.streams.iter().any(|stream| !matches!(stream.pattern, AccessPattern::Sequential(_)));
        let access_ns = if seeks {
            ACCESS_ROTATING_NS / (1.0 + GAIN_PER_DOUBLING * depth.log2())
        } else {
            ACCESS_NS / depth
        };
        let flush_ns = if rotates { FLUSH_ROTATING_NS } else { FLUSH_NS };
        let flushes: f64 = parts().map(|(stream, share)| share * flushes_per_io(stream)).sum();
        let drive_ns = moved_ns.max(access_ns) + flushes * flush_ns / f64::from(workload.lanes);
        let pace_ns = pace_ns(workload);
        Self { mean_bytes, each_ns: drive_ns.max(pace_ns), is_paced: pace_ns > drive_ns }
    }

    fn ios_of_work(&self, workload: &Workload) -> f64 {
        let by_bytes =
            workload.until.bytes.map_or(f64::INFINITY, |bytes| bytes as f64 / self.mean_bytes.max(1.0));
        by_bytes.min(workload.until.ops.map_or(f64::INFINITY, |ops| ops as f64))
    }
}

/// Flushes per I/O of a stream. A write that is durable by itself counts as a write with one flush.
fn flushes_per_io(stream: &Stream) -> f64 {
    let every = |writes: u32| if writes > 0 { 1.0 / f64::from(writes) } else { 0.0 };
    if stream.sync.is_some() { 1.0 } else { every(stream.flush_every).max(every(stream.fsync_every)) }
}

/// The least time of a replay, by the recording's pace, its bytes and its accesses.
fn recording_elapsed(replay_spec: &ReplaySpec) -> Nanos {
    let TraceTotals { ios, read_bytes, written_bytes, elapsed, .. } = replay_spec.expected;
    let moved_ns = (read_bytes as f64 + written_bytes as f64) / BYTES_PER_S * 1e9;
    let access_ns = ios as f64 * ACCESS_NS / f64::from(replay_spec.depth.max(1));
    elapsed.max(Nanos(moved_ns.max(access_ns) as u64))
}

/// The observation of a probe in a dry run, with an unknown result.
fn unknown_observation(probe: Probe, after: usize) -> Observation {
    Observation {
        probe,
        result: ProbeResult::Unknown(wording::DRY_RUN.to_owned()),
        after,
        started_at: Nanos::ZERO,
        ended_at: Nanos::ZERO,
        after_interruption: false,
        accounting: None,
    }
}

/// Makes up the segment of a workload, without latencies, on the assumed drive or one that takes a multiple
/// of its time.
fn assumed_segment(workload: &Workload, started_at: Nanos, rotates: bool, times_as_long: f64) -> Segment {
    if let Some(replay_spec) = &workload.replay_spec {
        return assumed_replay(workload, replay_spec, started_at);
    }
    let mut segment = Segment::empty(workload.clone(), Stop::Reached);
    let until = workload.until;
    let shares = workload.stream_shares();
    let parts = || workload.streams.iter().zip(&shares);
    let mut cost = Cost::for_workload(workload, rotates);
    if !cost.is_paced {
        cost.each_ns *= times_as_long;
    }
    let by_time = until.elapsed.map_or(f64::INFINITY, |span| span.0 as f64 / cost.each_ns);
    let ios = by_time.min(cost.ios_of_work(workload));
    let elapsed = if workload.streams.is_empty() {
        until.elapsed.unwrap_or_default()
    } else {
        Nanos((ios * cost.each_ns) as u64)
    };
    (segment.started_at, segment.ended_at) = (started_at, started_at + elapsed);
    for (index, (stream, of_stream)) in parts().enumerate() {
        for (op, share) in stream.op.shares() {
            let mut tally = Tally::new(index as u16, op);
            tally.ios = (ios * of_stream * share) as u64;
            tally.bytes = (ios * of_stream * share * stream.size.mean()) as u64;
            segment.tallies.push(tally);
        }
    }
    segment
}

/// Makes up the segment of a replay: the expected totals, in the least time by pace, bytes and accesses.
fn assumed_replay(workload: &Workload, replay_spec: &ReplaySpec, started_at: Nanos) -> Segment {
    let mut segment = Segment::empty(workload.clone(), Stop::Reached);
    let TraceTotals { ios, read_bytes, written_bytes, trims, .. } = replay_spec.expected;
    let elapsed = recording_elapsed(replay_spec);
    let elapsed = workload.until.elapsed.map_or(elapsed, |bound| elapsed.min(bound));
    (segment.started_at, segment.ended_at) = (started_at, started_at + elapsed);
    // The operations of its I/Os are unknown: only the bytes matter.
    let tally = |op, ios, bytes| Tally { ios, bytes, ..Tally::new(0, op) };
    segment
        .tallies
        .extend([tally(Op::Read, ios - trims.min(ios), read_bytes), tally(Op::Write, 0, written_bytes)]);
    segment.tallies.retain(|tally| tally.ios > 0 || tally.bytes > 0);
    segment
}

/// Nanoseconds between departures at an open pace.
fn pace_ns(workload: &Workload) -> f64 {
    let turns = workload
        .streams
        .iter()
        .filter(|stream| matches!(stream.arrival, Arrival::Interleaved { .. }))
        .count() as f64;
    let rates = workload.streams.iter().map(|stream| match stream.arrival {
        Arrival::Closed { .. } | Arrival::Interleaved { per_second: None, .. } => f64::INFINITY,
        Arrival::Open { per_second, .. } => per_second,
        Arrival::Interleaved { per_second: Some(together), .. } => together / turns,
    });
    1e9 / (rates.sum::<f64>() * f64::from(workload.lanes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drive::{Identity, TargetKind};
    use crate::findings::Findings;
    use crate::probe::ReadBack;
    use crate::procedure::{Descriptor, Ended, Layout, Plan};
    use crate::target::Clock;
    use crate::workload::Until;

    /// Repeats one workload until it has written enough.
    struct RepeatProcedure {
        workload: Workload,
        bytes: u64,
    }

    static DESCRIPTOR: Descriptor = Descriptor { name: "again", question: "", writes: "", manual: "" };

    impl Procedure for RepeatProcedure {
        fn descriptor(&self) -> &'static Descriptor {
            &DESCRIPTOR
        }

        fn layout(&self) -> Layout {
            Layout { files: 1, file_bytes: 1 }
        }

        fn run(&self, steps: &mut Steps<'_>) -> Result<Findings, String> {
            let mut written = 0;
            while written < self.bytes {
                let Ok(segment) = steps.run(|| self.workload.clone()) else { break };
                written += segment.bytes(Op::Write);
            }
            Ok(Findings::default())
        }
    }

    fn evidence() -> Evidence {
        Evidence::new(
            Plan::new("again", None, 0, toml::Table::new()),
            Identity {
                name: "nothing".into(),
                kind: TargetKind::Nop,
                model: None,
                engine: "nop".into(),
                capacity_bytes: 1 << 30,
                block_bytes: 512,
                facts: Vec::new(),
                caveats: Vec::new(),
                accounting: None,
            },
            Geometry {
                capacity: 1 << 30,
                block: 512,
                boundary: None,
                writable: true,
                trims: true,
                carries_data: false,
                clock: Clock::Virtual,
            },
        )
    }

    fn again(op: &str, until: Until, bytes: u64) -> RepeatProcedure {
        let stream =
            format!("op = '{op}'\nsize = '1MiB'\npattern.sequential = 'whole'\narrival.closed.depth = 1");
        let streams = vec![toml::from_str(&stream).unwrap()];
        RepeatProcedure { workload: Workload::new("w", until, streams), bytes }
    }

    #[test]
    fn bounds_decide_what_is_moved_and_how_long_it_takes() {
        let by_bytes =
            DryRun::plan(&again("write", Until::bytes(500 << 20), 1000 << 20), &evidence()).unwrap();
        assert_eq!(
            (by_bytes.workloads.len(), by_bytes.bytes_written, by_bytes.is_finite),
            (2, 1000 << 20, true)
        );
        assert!((by_bytes.elapsed.as_secs_f64() - 2.097).abs() < 0.01, "{}", by_bytes.elapsed);
        let by_time =
            DryRun::plan(&again("mix:50", Until::elapsed(Nanos::from_secs(10)), 1), &evidence()).unwrap();
        assert_eq!((by_time.workloads.len(), by_time.elapsed), (1, Nanos::from_secs(10)));
        assert!((by_time.bytes_moved as f64 / 5e9 - 1.0).abs() < 0.01, "{}", by_time.bytes_moved);
        assert!((by_time.bytes_written as f64 / 2.5e9 - 1.0).abs() < 0.01, "{}", by_time.bytes_written);
    }

    #[test]
    fn what_was_measured_counts_and_is_not_run_again() {
        let procedure = again("write", Until::bytes(500 << 20), 1000 << 20);
        let mut evidence = evidence();
        evidence.segments.push(assumed_segment(&procedure.workload, Nanos::ZERO, false, 1.0));
        assert_eq!(DryRun::plan(&procedure, &evidence).unwrap().workloads.len(), 1);
    }

    /// Reads back before and after one workload.
    struct ProbesOnce(RepeatProcedure);

    impl Procedure for ProbesOnce {
        fn descriptor(&self) -> &'static Descriptor {
            &DESCRIPTOR
        }

        fn layout(&self) -> Layout {
            self.0.layout()
        }

        fn run(&self, steps: &mut Steps<'_>) -> Result<Findings, String> {
            let wait = Nanos::from_secs(3);
            let read_back = ReadBack { seed: 0, bytes: 1 << 20, wait, probes: 0, raw: true };
            let mut follow = || {
                steps.probe(|| Probe::TrimReadBack(read_back.clone()))?;
                steps.run(|| self.0.workload.clone())?;
                steps.probe(|| Probe::TrimReadBack(read_back.clone())).map(drop)
            };
            let _ended: Result<(), Ended> = follow();
            Ok(Findings::default())
        }
    }

    #[test]
    fn a_dry_run_counts_what_probes_write_and_wait() {
        let probes = ProbesOnce(again("write", Until::bytes(4 << 20), 4 << 20));
        let dry_run = DryRun::plan(&probes, &evidence()).unwrap();
        assert_eq!((dry_run.workloads.len(), dry_run.probes.len(), dry_run.steps()), (1, 2, 3));
        assert_eq!((dry_run.bytes_written, dry_run.is_finite), (8 << 20, true));
        assert!(dry_run.elapsed >= Nanos::from_secs(6), "{}", dry_run.elapsed);
        let mut evidence = evidence();
        evidence.observations.push(unknown_observation(dry_run.probes[0].clone(), 0));
        let remaining = DryRun::plan(&probes, &evidence).unwrap();
        assert_eq!(
            (remaining.workloads.len(), remaining.probes.len()),
            (1, 1),
            "what was seen is not looked at again"
        );
        evidence.segments.push(assumed_segment(&probes.0.workload, Nanos::ZERO, false, 1.0));
        evidence.observations.push(unknown_observation(dry_run.probes[1].clone(), 1));
        let order: Vec<bool> =
            evidence.history().map(|history| matches!(history, PastStep::Observation(_))).collect();
        assert_eq!(order, [true, false, true]);
    }

    #[test]
    fn what_was_measured_has_a_time_on_the_assumed_drive() {
        let procedure = again("write", Until::bytes(500 << 20), 1);
        let slow = assumed_segment(&procedure.workload, Nanos::ZERO, false, 3.0);
        let assumed = assumed_elapsed_ns(&slow, false).unwrap();
        assert!((slow.elapsed().0 as f64 / assumed - 3.0).abs() < 1e-6, "{assumed}");
        let rest = Workload::new("rest", Until::elapsed(Nanos::from_secs(1)), Vec::new());
        assert_eq!(assumed_elapsed_ns(&assumed_segment(&rest, Nanos::ZERO, false, 1.0), false), None);
    }

    #[test]
    fn a_record_of_another_step_is_not_taken_for_this_one() {
        let procedure = again("write", Until::bytes(1 << 20), 2 << 20);
        let mut evidence = evidence();
        let mut other = procedure.workload.clone();
        other.name = "what an earlier version measured here".into();
        for (workload, next) in [(&procedure.workload, true), (&other, false)] {
            evidence.segments = vec![assumed_segment(workload, Nanos::ZERO, false, 1.0)];
            let step = procedure.next(&evidence).unwrap();
            assert_eq!(matches!(step, Step::Run(_)), next, "{}", workload.name);
        }
    }

    /// Writes until two passes are alike, at most five times.
    struct UntilSteady(Workload);

    impl Procedure for UntilSteady {
        fn descriptor(&self) -> &'static Descriptor {
            &DESCRIPTOR
        }

        fn layout(&self) -> Layout {
            Layout { files: 1, file_bytes: 1 }
        }

        fn run(&self, steps: &mut Steps<'_>) -> Result<Findings, String> {
            let mut before = f64::INFINITY;
            for _ in 0..5 {
                let Ok(segment) = steps.run(|| self.0.clone()) else { break };
                let speed = segment.bytes_per_s().unwrap();
                if (speed / before - 1.0).abs() < 0.01 {
                    break;
                }
                before = speed;
            }
            Ok(Findings::default())
        }
    }

    #[test]
    fn a_bound_of_bytes_holds_whatever_is_found() {
        let plan = |until: Until| {
            DryRun::plan(&UntilSteady(again("write", until, 1).workload), &evidence()).unwrap()
        };
        let dry_run = plan(Until::bytes(1 << 20));
        assert_eq!((dry_run.bytes_written, dry_run.bytes_written_max), (2 << 20, Some(5 << 20)));
        assert_eq!(plan(Until::elapsed(Nanos::from_secs(1))).bytes_written_max, None);
        let reads = again("read", Until::bytes(1 << 20), 0);
        assert_eq!(DryRun::plan(&reads, &evidence()).unwrap().bytes_written_max, Some(0));
    }

    /// Counts its calls, and checks that each step has the seed of its place. With `finds` it finds its steps
    /// in the evidence, and asks for one at a time.
    struct Followed {
        steps: usize,
        finds: bool,
        times: Cell<usize>,
    }

    impl Procedure for Followed {
        fn descriptor(&self) -> &'static Descriptor {
            &DESCRIPTOR
        }

        fn layout(&self) -> Layout {
            Layout { files: 1, file_bytes: 1 }
        }

        fn run(&self, steps: &mut Steps<'_>) -> Result<Findings, String> {
            self.times.set(self.times.get() + 1);
            let rest = || Workload::new("rest", Until::elapsed(Nanos::from_secs(1)), Vec::new());
            if self.finds {
                steps.probe(|| Probe::Facts).map_err(|_| "the probe is assumed")?;
                steps.skip_done();
                if steps.evidence().segments.len() < self.steps {
                    assert!(steps.run_seeded(rest).is_err());
                }
                return Ok(Findings::default());
            }
            for index in 0..self.steps {
                assert_eq!(steps.place().segments, index);
                let Ok(segment) = steps.run_seeded(rest) else { break };
                assert_eq!(segment.workload.seed, steps.evidence().plan.seed_of(index));
                let past = steps.since(Place { segments: index / 2, observations: 0 }).segments;
                assert_eq!(
                    (past.len(), past.last().unwrap().ended_at),
                    (index + 1 - index / 2, segment.ended_at)
                );
            }
            Ok(Findings::default())
        }
    }

    #[test]
    fn a_procedure_that_goes_by_what_its_steps_return_is_followed_once() {
        for (steps, done) in [(300, 0), (300, 7)] {
            let procedure = Followed { steps, finds: false, times: Cell::new(0) };
            let mut evidence = evidence();
            let planned = DryRun::plan(&procedure, &evidence).unwrap();
            evidence.segments.extend(planned.workloads.into_iter().take(done).enumerate().map(
                |(index, workload)| assumed_segment(&workload, Nanos::from_secs(index as u64), false, 1.0),
            ));
            procedure.times.set(0);
            let dry_run = DryRun::with_rates(&procedure, &evidence, &|_| 1.0).unwrap();
            assert_eq!(
                (dry_run.steps(), dry_run.elapsed),
                (steps - done, Nanos::from_secs((steps - done) as u64))
            );
            // One call assumes its steps, and one finds that there are no more.
            assert_eq!((dry_run.is_finite, procedure.times.get()), (true, 2));
        }
    }

    #[test]
    fn a_procedure_that_finds_its_steps_in_the_evidence_has_those_that_were_assumed_there() {
        let procedure = Followed { steps: 5, finds: true, times: Cell::new(0) };
        let dry_run = DryRun::with_rates(&procedure, &evidence(), &|_| 1.0).unwrap();
        assert_eq!((dry_run.workloads.len(), dry_run.probes.len(), dry_run.is_finite), (5, 1, true));
    }

    #[test]
    fn an_endless_plan_is_seen_to_be_one() {
        let dry_run = DryRun::plan(&again("read", Until::bytes(1 << 20), 1), &evidence()).unwrap();
        assert_eq!((dry_run.workloads.len(), dry_run.is_finite), (DryRun::WORKLOADS_MAX, false));
        assert_eq!(dry_run.bytes_written, 0);
    }
}
