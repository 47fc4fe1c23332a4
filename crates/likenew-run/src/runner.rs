//! Asks a procedure what to run, runs it, and asks again until there is enough.

use likenew_core::drive::{Drive, LaneRequirements};
use likenew_core::probe::{Observation, Probe};
use likenew_core::procedure::{Evidence, Procedure, Step};
use likenew_core::segment::{Recorder, Segment, Stop};
use likenew_core::target::Clock;
use likenew_core::target_error::TargetError;
use likenew_core::trace::{ReplaySpec, TraceSource};
use likenew_core::units::Nanos;
use likenew_core::workload::Workload;

use crate::run::{RunError, RunResult, run_with};
use crate::wording;

/// Follows a run: shows it, stores it, and may stop it.
pub trait Observer {
    /// The procedure has decided its next step from this evidence.
    fn on_decide(&mut self, _procedure: &dyn Procedure, _evidence: &Evidence, _step: &Step) {}

    /// Whether this many more bytes may be written under the announced limit; `None` if they are not known beforehand.
    fn may_write(&self, _bytes: Option<u64>) -> bool {
        true
    }

    /// A workload is about to run.
    fn on_begin(&mut self, _workload: &Workload) {}

    /// Whether the user asked to stop; checked before every workload.
    fn stop_requested(&self) -> bool {
        false
    }

    /// Opens the recording of the workload that is about to run, at its start.
    ///
    /// # Errors
    /// A sentence: the recording cannot be read, or is another one.
    fn trace(&mut self, replay_spec: &ReplaySpec) -> Result<Box<dyn TraceSource>, String> {
        Err(wording::recording_missing(&replay_spec.trace))
    }

    /// A recorder for one lane of the workload that is about to run.
    fn recorder(&mut self) -> Box<dyn Recorder + Send>;

    /// A workload has ended; its record is already part of the evidence.
    ///
    /// # Errors
    /// What was measured could not be stored; the run ends.
    fn on_end(&mut self, segment: &Segment) -> Result<(), String>;

    /// A probe is about to run.
    fn on_probe(&mut self, _probe: &Probe) {}

    /// A probe has ended; its result is already part of the evidence.
    ///
    /// # Errors
    /// What was found could not be stored; the run ends.
    fn on_probe_end(&mut self, _observation: &Observation) -> Result<(), String> {
        Ok(())
    }
}

/// How a run ended.
#[derive(Debug)]
pub enum End {
    /// The procedure had measured enough.
    Complete,
    /// The user asked to stop.
    Interrupted,
    /// The next step might write more than was announced.
    OverAnnounced,
    /// The drive answered with an error after which continuing is pointless.
    Failed(Stop),
    /// The target cannot be measured any further.
    TargetError(TargetError),
}

/// Why a run could not continue.
#[derive(Debug, thiserror::Error)]
pub enum RunnerError {
    /// The plan does not fit the drive.
    #[error("the plan does not fit this drive: {0}")]
    Plan(String),
    /// A workload could not start.
    #[error(transparent)]
    Run(#[from] RunError),
    /// What was measured could not be stored.
    #[error("could not store what was measured: {0}")]
    Store(String),
}

/// Runs `procedure` on `drive`. Adds what it measures to `evidence`, which may hold the first part of an
/// earlier run.
///
/// # Errors
/// The plan does not fit the drive, a workload could not start, or its record could not be stored. In every
/// case `evidence` holds what was measured before.
pub fn run_procedure(
    drive: &mut dyn Drive,
    procedure: &dyn Procedure,
    evidence: &mut Evidence,
    observer: &mut dyn Observer,
) -> Result<End, RunnerError> {
    // A simulated drive's time is never interrupted.
    let mut after_interruption = !evidence.is_empty() && drive.geometry().clock == Clock::Wall;
    loop {
        let step = procedure.next(evidence).map_err(RunnerError::Plan)?;
        if step == Step::Done {
            return Ok(End::Complete);
        }
        observer.on_decide(procedure, evidence, &step);
        if observer.stop_requested() {
            return Ok(End::Interrupted);
        }
        if !observer.may_write(step.bytes_written_max()) {
            return Ok(End::OverAnnounced);
        }
        let end = match step {
            Step::Run(workload) => run_one(drive, &workload, &mut after_interruption, evidence, observer)?,
            Step::Probe(probe) => probe_once(drive, probe, &mut after_interruption, evidence, observer)?,
            Step::Done => unreachable!("it was returned"),
        };
        if let Some(end) = end {
            return Ok(end);
        }
    }
}

/// Runs a workload and keeps its record; returns how the run ended, if this was its last workload.
fn run_one(
    drive: &mut dyn Drive,
    workload: &Workload,
    after_interruption: &mut bool,
    evidence: &mut Evidence,
    observer: &mut dyn Observer,
) -> Result<Option<End>, RunnerError> {
    observer.on_begin(workload);
    let shared = std::cell::RefCell::new(&mut *observer);
    let mut trace = |replay_spec: &ReplaySpec| shared.borrow_mut().trace(replay_spec);
    let RunResult { mut segment, target_error } =
        run_with(drive, workload, &mut trace, &mut || shared.borrow_mut().recorder())?;
    segment.after_interruption = std::mem::take(after_interruption);
    let stop = segment.stop;
    evidence.segments.push(segment);
    evidence.identity.accounting = drive.flash_counters();
    observer.on_end(evidence.segments.last().expect("one was just added")).map_err(RunnerError::Store)?;
    Ok(match (target_error, stop) {
        (Some(target_error), _) => Some(End::TargetError(target_error)),
        (None, Stop::Reached) => None,
        (None, Stop::Interrupted) => Some(End::Interrupted),
        (None, stop @ (Stop::Failed { .. } | Stop::JobFailed { .. })) => Some(End::Failed(stop)),
    })
}

/// Runs a probe and keeps its result; ends the run if the target cannot be queried any further.
fn probe_once(
    drive: &mut dyn Drive,
    probe: Probe,
    after_interruption: &mut bool,
    evidence: &mut Evidence,
    observer: &mut dyn Observer,
) -> Result<Option<End>, RunnerError> {
    observer.on_probe(&probe);
    let mut observation = match observation(drive, probe, evidence.segments.len()) {
        Ok(observation) => observation,
        Err(target_error) => return Ok(Some(End::TargetError(target_error))),
    };
    observation.after_interruption = std::mem::take(after_interruption);
    evidence.identity.accounting = drive.flash_counters();
    evidence.observations.push(observation);
    observer
        .on_probe_end(evidence.observations.last().expect("one was just added"))
        .map_err(RunnerError::Store)?;
    Ok(None)
}

/// Runs a probe after `after` workloads.
pub(crate) fn observation(
    drive: &mut dyn Drive,
    probe: Probe,
    after: usize,
) -> Result<Observation, TargetError> {
    let started_at = now(drive)?;
    let result = drive.probe(&probe)?;
    let ended_at = now(drive)?;
    Ok(Observation {
        probe,
        result,
        after,
        started_at,
        ended_at,
        after_interruption: false,
        accounting: drive.flash_counters(),
    })
}

/// The time on the drive's clock, which only a lane can read.
fn now(drive: &mut dyn Drive) -> Result<Nanos, TargetError> {
    let lanes = drive.lanes(&LaneRequirements { lanes: 1, depth: 0, length_max: 0 })?;
    Ok(lanes.first().expect("a drive opens the lanes it was asked for").now())
}
