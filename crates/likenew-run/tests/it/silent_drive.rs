//! A drive that stops answering is given up, and its earlier results are kept.

use std::ops::ControlFlow;

use likenew_core::drive::{Drive, Identity, Lane, LaneRequirements, TargetKind};
use likenew_core::io::{Completion, Io, Op, Outcome, Sample, Slot};
use likenew_core::segment::{Recorder, Stop};
use likenew_core::target::{Clock, Geometry, Target};
use likenew_core::target_error::TargetError;
use likenew_core::units::Nanos;
use likenew_core::workload::Workload;
use likenew_run::run::run;

const SERVICE: Nanos = Nanos::from_millis(1);

/// On a wall clock that jumps: answers this many I/Os after a millisecond each, and then none.
struct Silent {
    geometry: Geometry,
    answers: u64,
    now: Nanos,
    waiting: Vec<Io>,
    buffer: Vec<u8>,
}

impl Silent {
    fn after(answers: u64) -> Self {
        let geometry = Geometry {
            capacity: 1 << 20,
            block: 512,
            boundary: None,
            writable: true,
            trims: true,
            carries_data: false,
            clock: Clock::Wall,
        };
        Self { geometry, answers, now: Nanos::ZERO, waiting: Vec::new(), buffer: vec![0; 4096] }
    }
}

impl Drive for Silent {
    fn identity(&self) -> Identity {
        Identity {
            name: "/dev/silent".into(),
            kind: TargetKind::Simulated,
            model: None,
            engine: "none".into(),
            capacity_bytes: self.geometry.capacity,
            block_bytes: self.geometry.block,
            facts: Vec::new(),
            caveats: Vec::new(),
            accounting: None,
        }
    }

    fn geometry(&self) -> Geometry {
        self.geometry.clone()
    }

    fn lanes_max(&self) -> u32 {
        1
    }

    fn lanes(&mut self, _need: &LaneRequirements) -> Result<Vec<Lane<'_>>, TargetError> {
        Ok(vec![Box::new(SilentLane(self))])
    }
}

struct SilentLane<'a>(&'a mut Silent);

impl Target for SilentLane<'_> {
    fn geometry(&self) -> &Geometry {
        &self.0.geometry
    }

    fn now(&self) -> Nanos {
        self.0.now
    }

    fn buffer(&mut self, _slot: Slot) -> &mut [u8] {
        &mut self.0.buffer
    }

    fn submit(&mut self, batch: &[Io]) -> Result<Nanos, TargetError> {
        self.0.waiting.extend_from_slice(batch);
        Ok(self.0.now)
    }

    fn wait(&mut self, until: Nanos, done: &mut Vec<Completion>) -> Result<(), TargetError> {
        let drive = &mut *self.0;
        if drive.answers > 0 && !drive.waiting.is_empty() {
            drive.answers -= 1;
            drive.now += SERVICE;
            let io = drive.waiting.remove(0);
            done.push(Completion { slot: io.slot, at: drive.now, outcome: Outcome::Done });
            return Ok(());
        }
        assert_ne!(until, Nanos::NEVER, "waits for ever");
        drive.now = drive.now.max(until);
        Ok(())
    }
}

fn reads(rest: &str) -> Workload {
    reads_at(rest, "closed.depth = 8")
}

fn reads_at(rest: &str, pace: &str) -> Workload {
    let text = format!(
        "name = \"w\"\nseed = 1\n{rest}\n[[stream]]\nop = \"read\"\nsize = \"4k\"\npattern.sequential = \"whole\"\narrival.{pace}"
    );
    toml::from_str(&text).unwrap()
}

/// A user who stops the run after this time.
struct Asks(Nanos);

impl Recorder for Asks {
    fn begin(&mut self, _workload: &Workload, _at: Nanos) {}

    fn record(&mut self, _samples: &[Sample]) -> ControlFlow<Stop> {
        ControlFlow::Continue(())
    }

    fn idle(&mut self, now: Nanos) -> ControlFlow<Stop> {
        if now >= self.0 { ControlFlow::Break(Stop::Interrupted) } else { ControlFlow::Continue(()) }
    }

    fn end(&mut self, _at: Nanos) {}
}

#[test]
fn a_drive_that_hangs_at_the_end_is_given_up() {
    let mut drive = Silent::after(100);
    let ran = run(&mut drive, &reads("until = { elapsed = '1s' }"), &mut || Box::new(())).unwrap();
    let Some(TargetError::Hung(hang)) = ran.target_error else { panic!("{:?}", ran.target_error) };
    assert_eq!((hang.target.as_str(), hang.ios.len()), ("/dev/silent", 8));
    assert_eq!(hang.ios[0].0, Op::Read);
    assert!(hang.ios.contains(&(Op::Read, 100 * 4096, 4096)), "{hang}");
    // Three minutes after the last answer.
    let expected = Nanos::from_secs(180) + Nanos(100 * SERVICE.0);
    assert!(drive.now >= expected && drive.now < expected + Nanos::from_secs(1), "{}", drive.now);
    assert_eq!(ran.segment.ios(Op::Read), 100);
    let text = hang.to_string();
    assert!(text.contains("/dev/silent has not answered for 3 min"), "{text}");
    assert!(text.contains("read of 4 KiB at offset 400 KiB") && text.contains("and 4 more"), "{text}");
}

#[test]
fn a_drive_that_hangs_in_the_middle_is_given_up_whatever_the_limits() {
    for until in ["ops = 1000", "bytes = '1GiB'", "elapsed = '10h'"] {
        let mut drive = Silent::after(100);
        let workload = reads(&format!("until = {{ {until} }}"));
        // No user stops it within an hour.
        let ran = run(&mut drive, &workload, &mut || Box::new(Asks(Nanos::from_secs(3600)))).unwrap();
        let Some(TargetError::Hung(hang)) = ran.target_error else {
            panic!("{until}: {:?}", ran.target_error)
        };
        assert_eq!((hang.ios.len(), ran.segment.ios(Op::Read)), (8, 100), "{until}");
        assert!(hang.silent >= Nanos::from_secs(180) && drive.now < Nanos::from_secs(182), "{until}: {hang}");
    }
}

#[test]
fn a_drive_that_is_given_nothing_to_do_is_not_silent() {
    // One read in ten minutes.
    let mut drive = Silent::after(u64::MAX);
    let workload = reads_at("until = { ops = 5 }", "open = { per_second = 0.0016666, depth_max = 4 }");
    let ran = run(&mut drive, &workload, &mut || Box::new(())).unwrap();
    assert!(ran.target_error.is_none(), "{:?}", ran.target_error);
    assert_eq!(ran.segment.ios(Op::Read), 5);
    assert!(drive.now > Nanos::from_secs(2000), "{}", drive.now);
}

#[test]
fn whoever_asks_to_stop_waits_for_a_shorter_time() {
    let mut drive = Silent::after(100);
    let workload = reads("until = { ops = 1000 }");
    let ran = run(&mut drive, &workload, &mut || Box::new(Asks(Nanos::from_secs(10)))).unwrap();
    assert!(matches!(ran.target_error, Some(TargetError::Hung(_))));
    assert_eq!((ran.segment.stop, ran.segment.ios(Op::Read)), (Stop::Interrupted, 100));
    assert!(drive.now >= Nanos::from_secs(40) && drive.now < Nanos::from_secs(41), "{}", drive.now);
}

#[test]
fn a_flush_that_hangs_is_given_up() {
    let mut drive = Silent::after(64);
    let ran = run(&mut drive, &reads("flush = true\nuntil = { ops = 64 }"), &mut || Box::new(())).unwrap();
    let Some(TargetError::Hung(hang)) = ran.target_error else { panic!("{:?}", ran.target_error) };
    assert_eq!(hang.ios, [(Op::Flush, 0, 0)]);
    assert_eq!(ran.segment.ios(Op::Read), 64);
}
