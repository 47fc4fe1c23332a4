//! The conductor, on a procedure that is known beforehand.

use likenew_core::drive::Drive as _;
use likenew_core::io::Op;
use likenew_core::look::{Look, Seen, Sight};
use likenew_core::memory::Memory;
use likenew_core::plan::Plan;
use likenew_core::procedure::{Card, Evidence, Layout, Procedure, Step};
use likenew_core::recorder::{Recorder, Stop};
use likenew_core::segment::Segment;
use likenew_core::units::Nanos;
use likenew_core::verdict::Findings;
use likenew_core::workload::Workload;
use likenew_run::conduct::{ConductError, End, Observer, conduct};
use likenew_run::restore::{Again, RestoreError, restore};

/// Reads ten times, five times over.
struct FiveTimes;

static CARD: Card = Card { name: "five", question: "?", writes: "nothing", manual: "" };

impl Procedure for FiveTimes {
    fn card(&self) -> &'static Card {
        &CARD
    }

    fn layout(&self) -> Layout {
        Layout { files: 1, file_bytes: 1 << 20 }
    }

    fn next(&self, evidence: &Evidence) -> Result<Step, String> {
        if evidence.segments.len() == 5 {
            return Ok(Step::Enough);
        }
        let text = "name = 'w'\nuntil.ops = 10\n[[stream]]\nop = 'read'\nsize = '4k'\nplace.forward = 'whole'\npace.closed.depth = 1";
        let workload: Workload = toml::from_str(text).unwrap();
        Ok(Step::Run(Workload { seed: evidence.plan.seed_of(evidence.segments.len()), ..workload }))
    }

    fn judge(&self, _evidence: &Evidence) -> Findings {
        Findings::default()
    }
}

/// Looks before and after what another procedure runs.
struct Looking;

impl Procedure for Looking {
    fn card(&self) -> &'static Card {
        &CARD
    }

    fn layout(&self) -> Layout {
        FiveTimes.layout()
    }

    fn next(&self, evidence: &Evidence) -> Result<Step, String> {
        let step = FiveTimes.next(evidence)?;
        let due = match evidence.sights.len() {
            0 => true,
            1 => step == Step::Enough,
            _ => false,
        };
        Ok(if due { Step::Look(Look::TrimPath) } else { step })
    }

    fn judge(&self, _evidence: &Evidence) -> Findings {
        Findings::default()
    }
}

/// Keeps what it is shown; can be full, or ask to stop, after so many workloads.
#[derive(Default)]
struct Watch {
    kept: Vec<Segment>,
    seen: Vec<Sight>,
    full_after: Option<usize>,
    stop_after: Option<usize>,
}

impl Observer for Watch {
    fn stop_asked(&self) -> bool {
        self.stop_after == Some(self.kept.len())
    }

    fn recorder(&mut self) -> Box<dyn Recorder + Send> {
        Box::new(())
    }

    fn ended(&mut self, segment: &Segment) -> Result<(), String> {
        if self.full_after == Some(self.kept.len()) {
            return Err("no room".into());
        }
        self.kept.push(segment.clone());
        Ok(())
    }

    fn looked(&mut self, sight: &Sight) -> Result<(), String> {
        if self.full_after == Some(self.kept.len()) {
            return Err("no room".into());
        }
        self.seen.push(sight.clone());
        Ok(())
    }
}

fn evidence(drive: &Memory) -> Evidence {
    let plan =
        Plan { schema: 1, procedure: "five".into(), target: None, seed: 7, options: toml::Table::new() };
    Evidence::new(plan, drive.identity(), drive.geometry())
}

fn memory() -> Memory {
    Memory::new(1 << 20, Nanos::from_micros(10), 1)
}

#[test]
fn it_asks_until_there_is_enough_and_everything_is_stored() {
    let mut drive = memory();
    let (mut evidence, mut watch) = (evidence(&drive), Watch::default());
    assert!(matches!(conduct(&mut drive, &FiveTimes, &mut evidence, &mut watch), Ok(End::Complete)));
    assert_eq!(evidence.segments.len(), 5);
    assert_eq!(evidence.segments, watch.kept);
    assert!(evidence.segments.iter().all(|segment| segment.ios(Op::Read) == 10));
}

#[test]
fn it_goes_on_where_an_earlier_run_ended() {
    let mut drive = memory();
    let (mut evidence, mut first) = (evidence(&drive), Watch { stop_after: Some(2), ..Watch::default() });
    assert!(matches!(conduct(&mut drive, &FiveTimes, &mut evidence, &mut first), Ok(End::Interrupted)));
    assert_eq!(evidence.segments.len(), 2);
    let mut second = Watch::default();
    assert!(matches!(conduct(&mut drive, &FiveTimes, &mut evidence, &mut second), Ok(End::Complete)));
    assert_eq!((evidence.segments.len(), second.kept.len()), (5, 3));
}

#[test]
fn looks_take_their_turn_and_are_kept_with_their_place() {
    let mut drive = memory();
    let (mut evidence, mut watch) = (evidence(&drive), Watch::default());
    assert!(matches!(conduct(&mut drive, &Looking, &mut evidence, &mut watch), Ok(End::Complete)));
    assert_eq!((evidence.segments.len(), evidence.steps()), (5, 7));
    assert_eq!(evidence.sights, watch.seen);
    let [first, last] = watch.seen.as_slice() else { panic!("two looks") };
    assert_eq!((first.after, last.after), (0, 5));
    assert!(matches!(&first.seen, Seen::Unknown(why) if !why.is_empty()), "a drive in memory has no layers");
    assert_eq!(first.ended, evidence.segments[0].began);
    assert_eq!(last.began, evidence.segments[4].ended);
    let mut full = Watch { full_after: Some(0), ..Watch::default() };
    evidence.sights.pop();
    let error = conduct(&mut drive, &Looking, &mut evidence, &mut full).unwrap_err();
    assert!(matches!(error, ConductError::Store(_)));
}

#[test]
fn a_drive_is_brought_back_by_what_was_run_and_looked_at() {
    let mut drive = memory();
    let (mut evidence, mut watch) = (evidence(&drive), Watch::default());
    conduct(&mut drive, &Looking, &mut evidence, &mut watch).unwrap();
    let mut names = Vec::new();
    let mut back = |evidence: &Evidence| {
        let begins = |again: &Again, _: usize, all: usize| {
            assert_eq!(all, 7);
            names.push(matches!(again, Again::Look(_)));
        };
        let mut none = |_: &_| Err("there is no recording here".to_owned());
        restore(&mut memory(), &evidence.segments, &evidence.sights, begins, &mut none, &mut || Box::new(()))
    };
    back(&evidence).unwrap();
    evidence.sights[1].seen = Seen::Unknown("something else".into());
    let error = back(&evidence).unwrap_err();
    assert!(matches!(error, RestoreError::Otherwise { number: 7, .. }), "{error}");
    assert_eq!(names[..7], [true, false, false, false, false, false, true]);
}

#[test]
fn what_can_not_be_stored_ends_the_run() {
    let mut drive = memory();
    let (mut evidence, mut watch) = (evidence(&drive), Watch { full_after: Some(3), ..Watch::default() });
    let error = conduct(&mut drive, &FiveTimes, &mut evidence, &mut watch).unwrap_err();
    assert!(matches!(&error, ConductError::Store(why) if why == "no room"), "{error}");
    assert_eq!(watch.kept.len(), 3);
}

#[test]
fn a_drive_that_vanishes_ends_the_run_with_what_there_is() {
    let mut drive = memory().lost_after(25);
    let (mut evidence, mut watch) = (evidence(&drive), Watch::default());
    let end = conduct(&mut drive, &FiveTimes, &mut evidence, &mut watch).unwrap();
    assert!(matches!(end, End::Fault(_)));
    assert_eq!(evidence.segments.iter().map(|segment| segment.ios(Op::Read)).sum::<u64>(), 25);
}

#[test]
fn a_drive_that_refuses_everything_ends_the_run() {
    const ENODEV: i32 = 19;
    let mut drive = memory().with_bad(0..1 << 20, ENODEV);
    let (mut evidence, mut watch) = (evidence(&drive), Watch::default());
    let end = conduct(&mut drive, &FiveTimes, &mut evidence, &mut watch).unwrap();
    assert!(matches!(end, End::Failed(Stop::Failed { errno: ENODEV, .. })));
    assert_eq!(evidence.segments.len(), 1);
}
