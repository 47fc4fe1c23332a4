//! Plays a drive whose speed is known beforehand: a procedure's workloads become segments without any I/O.

use likenew_core::drive::{Identity, TargetKind};
use likenew_core::findings::{Answer, Findings, Standing};
use likenew_core::io::{Op, Outcome, Sample};
use likenew_core::procedure::{Evidence, Plan, Procedure, Step};
use likenew_core::segment::{Recorder as _, Segment, SegmentRecorder, Stop};
use likenew_core::target::{Clock, Geometry};
use likenew_core::units::Nanos;
use likenew_core::workload::{AccessPattern, Mix, Workload};

pub(crate) fn evidence(capacity: u64, writable: bool) -> Evidence {
    let geometry = Geometry {
        capacity,
        block: 512,
        boundary: None,
        writable,
        trims: true,
        carries_data: false,
        clock: Clock::Virtual,
    };
    let identity = Identity {
        name: "played".into(),
        kind: TargetKind::Simulated,
        model: None,
        engine: "played".into(),
        capacity_bytes: capacity,
        block_bytes: 512,
        facts: Vec::new(),
        caveats: Vec::new(),
        accounting: None,
    };
    let plan = Plan::new("played", None, 0, toml::Table::new());
    Evidence::new(plan, identity, geometry)
}

/// How one workload goes: bytes a second, a pause before its middle I/O, and after how many bytes it has another speed.
pub(crate) struct SpeedPattern {
    pub(crate) bytes_per_s: f64,
    pub(crate) pause: Nanos,
    pub(crate) drop: Option<(u64, f64)>,
}

/// Steady at this speed.
pub(crate) fn steady(bytes_per_s: f64) -> SpeedPattern {
    SpeedPattern { bytes_per_s, pause: Nanos::ZERO, drop: None }
}

/// Runs a procedure to its end on a drive that goes as `course` says for the n-th workload, and judges.
pub(crate) fn play(
    procedure: &dyn Procedure,
    evidence: Evidence,
    course: impl Fn(usize, &Workload) -> SpeedPattern,
) -> Findings {
    procedure.judge(&run_procedure(procedure, evidence, course))
}

/// What there is to judge when a procedure has come to its end on such a drive.
pub(crate) fn run_procedure(
    procedure: &dyn Procedure,
    mut evidence: Evidence,
    course: impl Fn(usize, &Workload) -> SpeedPattern,
) -> Evidence {
    let mut now = Nanos::ZERO;
    while let Step::Run(workload) = procedure.next(&evidence).expect("the plan fits") {
        assert_eq!(workload.check(&evidence.geometry), Ok(()));
        let segment = segment(&workload, now, &course(evidence.segments.len(), &workload));
        now = segment.ended_at;
        evidence.segments.push(segment);
    }
    evidence
}

/// Closed pace: with `depth` in flight, one I/O ends after the other at equal distances.
pub(crate) fn segment(workload: &Workload, started_at: Nanos, course: &SpeedPattern) -> Segment {
    let mut recorder = SegmentRecorder::default();
    recorder.begin(workload, started_at);
    let mut now = started_at;
    if let Some(stream) = workload.streams.first() {
        let length = stream.size.max();
        let in_time = |elapsed: Nanos| (course.bytes_per_s * elapsed.as_secs_f64()) as u64;
        let bytes = workload.until.bytes.or(workload.until.elapsed.map(in_time));
        let bytes = bytes.expect("played workloads are bounded by bytes or time");
        let ios = bytes / u64::from(length);
        let start = match &stream.pattern {
            AccessPattern::Sequential(region) => region.resolve(1 << 50, length).expect("it fits").start,
            _ => 0,
        };
        let mut sent = vec![started_at; stream.arrival.depth() as usize];
        for io in 0..ios {
            if workload.until.elapsed.is_some_and(|elapsed| now.since(started_at) >= elapsed) {
                break;
            }
            let speed = match course.drop {
                Some((at, slower)) if io * u64::from(length) >= at => slower,
                _ => course.bytes_per_s,
            };
            let each = Nanos::from_secs_f64(f64::from(length) / speed);
            let pause = if io == ios / 2 { course.pause } else { Nanos::ZERO };
            now = now + each + pause;
            let slot = io as usize % sent.len();
            let op = if let Mix::Only(op) = stream.op { op } else { Op::Read };
            let sample = Sample {
                stream: 0,
                op,
                outcome: Outcome::Done,
                length,
                offset: start + io * u64::from(length),
                due: sent[slot],
                sent: sent[slot],
                done: now,
            };
            assert!(recorder.record(&[sample]).is_continue());
            sent[slot] = now;
        }
    } else {
        now += workload.until.elapsed.expect("a rest has an end");
    }
    recorder.end(now);
    SegmentRecorder::join(vec![recorder], workload, Stop::Reached)
}

/// The answer of this id.
pub(crate) fn answer<'a>(findings: &'a Findings, id: &str) -> &'a Answer {
    let found = findings.answers.iter().find(|answer| answer.id == id);
    found.unwrap_or_else(|| panic!("no answer \"{id}\" in {:#?}", findings.answers))
}

/// The standing of the answer of this id, if there is one.
pub(crate) fn standing(findings: &Findings, id: &str) -> Option<Standing> {
    findings.answers.iter().find(|answer| answer.id == id).map(|answer| answer.standing)
}
