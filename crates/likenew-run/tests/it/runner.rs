//! The procedure runner, on a known procedure.

use likenew_core::drive::Drive as _;
use likenew_core::findings::Findings;
use likenew_core::io::Op;
use likenew_core::memory::Memory;
use likenew_core::probe::{Observation, Probe, ProbeResult};
use likenew_core::procedure::{Descriptor, Ended, Evidence, Layout, Plan, Procedure, Steps};
use likenew_core::segment::{Recorder, Segment, Stop};
use likenew_core::units::Nanos;
use likenew_core::workload::{Mix, Until, Workload};
use likenew_run::restore::{RestoreError, RestoreStep, restore};
use likenew_run::runner::{End, Observer, RunnerError, run_procedure};

/// Reads ten times, five times over.
struct FiveTimes;

static CARD: Descriptor = Descriptor { name: "five", question: "?", writes: "nothing", manual: "" };

impl Procedure for FiveTimes {
    fn descriptor(&self) -> &'static Descriptor {
        &CARD
    }

    fn layout(&self) -> Layout {
        Layout { files: 1, file_bytes: 1 << 20 }
    }

    fn run(&self, steps: &mut Steps<'_>) -> Result<Findings, String> {
        let _ended = (0..5).try_for_each(|_| steps.run_seeded(ten_reads).map(drop));
        Ok(Findings::default())
    }
}

fn ten_reads() -> Workload {
    let text = "name = 'w'\nuntil.ops = 10\n[[stream]]\nop = 'read'\nsize = '4k'\npattern.sequential = 'whole'\narrival.closed.depth = 1";
    toml::from_str(text).unwrap()
}

/// Writes for a time, so that nobody knows how much.
struct Writing;

impl Procedure for Writing {
    fn descriptor(&self) -> &'static Descriptor {
        &CARD
    }

    fn layout(&self) -> Layout {
        FiveTimes.layout()
    }

    fn run(&self, steps: &mut Steps<'_>) -> Result<Findings, String> {
        let writes = || {
            let mut workload = ten_reads();
            workload.streams[0].op = Mix::Only(Op::Write);
            workload.until = Until::elapsed(Nanos::from_millis(1));
            workload
        };
        let _ended = (0..5).try_for_each(|_| steps.run_seeded(writes).map(drop));
        Ok(Findings::default())
    }
}

/// Probes before and after each workload of another procedure.
struct Looking;

impl Procedure for Looking {
    fn descriptor(&self) -> &'static Descriptor {
        &CARD
    }

    fn layout(&self) -> Layout {
        FiveTimes.layout()
    }

    fn run(&self, steps: &mut Steps<'_>) -> Result<Findings, String> {
        let mut measure = || {
            steps.probe(|| Probe::TrimPath)?;
            (0..5).try_for_each(|_| steps.run_seeded(ten_reads).map(drop))?;
            steps.probe(|| Probe::TrimPath).map(drop)
        };
        let _ended: Result<(), Ended> = measure();
        Ok(Findings::default())
    }
}

/// Records its calls; can report a full disk, or ask to stop, after this many workloads.
#[derive(Default)]
struct RecordingObserver {
    kept: Vec<Segment>,
    result: Vec<Observation>,
    full_after: Option<usize>,
    stop_after: Option<usize>,
    forbids_writes: bool,
}

impl Observer for RecordingObserver {
    fn may_write(&self, bytes: Option<u64>) -> bool {
        !self.forbids_writes || bytes == Some(0)
    }

    fn stop_requested(&self) -> bool {
        self.stop_after == Some(self.kept.len())
    }

    fn recorder(&mut self) -> Box<dyn Recorder + Send> {
        Box::new(())
    }

    fn on_end(&mut self, segment: &Segment) -> Result<(), String> {
        if self.full_after == Some(self.kept.len()) {
            return Err("no room".into());
        }
        self.kept.push(segment.clone());
        Ok(())
    }

    fn on_probe_end(&mut self, observation: &Observation) -> Result<(), String> {
        if self.full_after == Some(self.kept.len()) {
            return Err("no room".into());
        }
        self.result.push(observation.clone());
        Ok(())
    }
}

fn evidence(drive: &Memory) -> Evidence {
    let plan = Plan::new("five", None, 7, toml::Table::new());
    Evidence::new(plan, drive.identity(), drive.geometry())
}

fn memory() -> Memory {
    Memory::new(1 << 20, Nanos::from_micros(10), 1)
}

#[test]
fn it_asks_until_there_is_enough_and_everything_is_stored() {
    let mut drive = memory();
    let (mut evidence, mut watch) = (evidence(&drive), RecordingObserver::default());
    assert!(matches!(run_procedure(&mut drive, &FiveTimes, &mut evidence, &mut watch), Ok(End::Complete)));
    assert_eq!(evidence.segments.len(), 5);
    assert_eq!(evidence.segments, watch.kept);
    assert!(evidence.segments.iter().all(|segment| segment.ios(Op::Read) == 10));
}

#[test]
fn it_goes_on_where_an_earlier_run_ended() {
    let mut drive = memory();
    let (mut evidence, mut first) =
        (evidence(&drive), RecordingObserver { stop_after: Some(2), ..RecordingObserver::default() });
    assert!(matches!(run_procedure(&mut drive, &FiveTimes, &mut evidence, &mut first), Ok(End::Interrupted)));
    assert_eq!(evidence.segments.len(), 2);
    let mut second = RecordingObserver::default();
    assert!(matches!(run_procedure(&mut drive, &FiveTimes, &mut evidence, &mut second), Ok(End::Complete)));
    assert_eq!((evidence.segments.len(), second.kept.len()), (5, 3));
}

#[test]
fn a_step_that_may_write_more_than_was_announced_does_not_run() {
    let mut drive = memory();
    let mut watch = RecordingObserver { forbids_writes: true, ..RecordingObserver::default() };
    let mut reads = evidence(&drive);
    assert!(matches!(run_procedure(&mut drive, &FiveTimes, &mut reads, &mut watch), Ok(End::Complete)));
    let mut writes = evidence(&drive);
    let end = run_procedure(&mut drive, &Writing, &mut writes, &mut watch);
    assert!(matches!(end, Ok(End::OverAnnounced)) && writes.segments.is_empty(), "{end:?}");
}

#[test]
fn probes_run_in_order_and_keep_their_position() {
    let mut drive = memory();
    let (mut evidence, mut watch) = (evidence(&drive), RecordingObserver::default());
    assert!(matches!(run_procedure(&mut drive, &Looking, &mut evidence, &mut watch), Ok(End::Complete)));
    assert_eq!((evidence.segments.len(), evidence.steps()), (5, 7));
    assert_eq!(evidence.observations, watch.result);
    let [first, last] = watch.result.as_slice() else { panic!("two looks") };
    assert_eq!((first.after, last.after), (0, 5));
    assert!(
        matches!(&first.result, ProbeResult::Unknown(reason) if !reason.is_empty()),
        "a drive in memory has no layers"
    );
    assert_eq!(first.ended_at, evidence.segments[0].started_at);
    assert_eq!(last.started_at, evidence.segments[4].ended_at);
    let mut full = RecordingObserver { full_after: Some(0), ..RecordingObserver::default() };
    evidence.observations.pop();
    let error = run_procedure(&mut drive, &Looking, &mut evidence, &mut full).unwrap_err();
    assert!(matches!(error, RunnerError::Store(_)));
}

#[test]
fn a_drive_is_restored_by_its_workloads_and_probes() {
    let mut drive = memory();
    let (mut evidence, mut watch) = (evidence(&drive), RecordingObserver::default());
    run_procedure(&mut drive, &Looking, &mut evidence, &mut watch).unwrap();
    let mut names = Vec::new();
    let mut back = |evidence: &Evidence| {
        let begins = |again: &RestoreStep, _: usize, all: usize| {
            assert_eq!(all, 7);
            names.push(matches!(again, RestoreStep::Probe(_)));
        };
        let mut none = |_: &_| Err("there is no recording here".to_owned());
        restore(&mut memory(), &evidence.segments, &evidence.observations, begins, &mut none, &mut || {
            Box::new(())
        })
    };
    back(&evidence).unwrap();
    evidence.observations[1].result = ProbeResult::Unknown("something else".into());
    let error = back(&evidence).unwrap_err();
    assert!(matches!(error, RestoreError::OtherResults { number: 7, .. }), "{error}");
    assert_eq!(names[..7], [true, false, false, false, false, false, true]);
}

#[test]
fn what_cannot_be_stored_ends_the_run() {
    let mut drive = memory();
    let (mut evidence, mut watch) =
        (evidence(&drive), RecordingObserver { full_after: Some(3), ..RecordingObserver::default() });
    let error = run_procedure(&mut drive, &FiveTimes, &mut evidence, &mut watch).unwrap_err();
    assert!(matches!(&error, RunnerError::Store(reason) if reason == "no room"), "{error}");
    assert_eq!(watch.kept.len(), 3);
}

#[test]
fn a_drive_that_vanishes_ends_the_run_with_what_there_is() {
    let mut drive = memory().lost_after(25);
    let (mut evidence, mut watch) = (evidence(&drive), RecordingObserver::default());
    let end = run_procedure(&mut drive, &FiveTimes, &mut evidence, &mut watch).unwrap();
    assert!(matches!(end, End::TargetError(_)));
    assert_eq!(evidence.segments.iter().map(|segment| segment.ios(Op::Read)).sum::<u64>(), 25);
}

#[test]
fn a_drive_that_refuses_everything_ends_the_run() {
    const ENODEV: i32 = 19;
    let mut drive = memory().with_bad(0..1 << 20, ENODEV);
    let (mut evidence, mut watch) = (evidence(&drive), RecordingObserver::default());
    let end = run_procedure(&mut drive, &FiveTimes, &mut evidence, &mut watch).unwrap();
    assert!(matches!(end, End::Failed(Stop::Failed { errno: ENODEV, .. })));
    assert_eq!(evidence.segments.len(), 1);
}
