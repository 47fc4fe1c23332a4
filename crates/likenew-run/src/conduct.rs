//! Asks a procedure what to run, runs it, and asks again until there is enough.

use likenew_core::drive::{Drive, Need};
use likenew_core::fault::Fault;
use likenew_core::look::{Look, Sight};
use likenew_core::procedure::{Evidence, Procedure, Step};
use likenew_core::recorded::Recorded;
use likenew_core::recorder::{Recorder, Stop};
use likenew_core::segment::Segment;
use likenew_core::target::Clock;
use likenew_core::trace::TraceSource;
use likenew_core::units::Nanos;
use likenew_core::workload::Workload;

use crate::run::{Ran, RunError, run_with};

/// Follows a run: shows it, stores it, and may stop it.
pub trait Observer {
    /// The procedure has said what comes next, by this evidence.
    fn decides(&mut self, _procedure: &dyn Procedure, _evidence: &Evidence, _step: &Step) {}

    /// A workload is about to run.
    fn begins(&mut self, _workload: &Workload) {}

    /// Whether somebody has asked to stop; looked at before every workload.
    fn stop_asked(&self) -> bool {
        false
    }

    /// The recording of the workload that is about to run, at its start.
    ///
    /// # Errors
    /// A sentence: it can not be read, or is not the recording that is meant.
    fn trace(&mut self, recorded: &Recorded) -> Result<Box<dyn TraceSource>, String> {
        Err(format!("the recording {} is not at hand here", recorded.trace))
    }

    /// A recorder for one lane of the workload that is about to run.
    fn recorder(&mut self) -> Box<dyn Recorder + Send>;

    /// A workload has ended; its record is already part of the evidence.
    ///
    /// # Errors
    /// What was measured could not be stored; the run ends.
    fn ended(&mut self, segment: &Segment) -> Result<(), String>;

    /// A look is about to be taken.
    fn looks(&mut self, _look: &Look) {}

    /// A look was taken; what it found is already part of the evidence.
    ///
    /// # Errors
    /// What was found could not be stored; the run ends.
    fn looked(&mut self, _sight: &Sight) -> Result<(), String> {
        Ok(())
    }
}

/// How a run ended that measured what it could.
#[derive(Debug)]
pub enum End {
    /// The procedure had enough.
    Complete,
    /// Somebody asked to stop.
    Interrupted,
    /// The drive answered with an error that makes going on pointless.
    Failed(Stop),
    /// The lab failed in the middle.
    Fault(Fault),
}

/// Why a run could not go on.
#[derive(Debug, thiserror::Error)]
pub enum ConductError {
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

/// Conducts `procedure` on `drive`; what is measured is added to `evidence`, which may hold the part of an earlier run.
///
/// # Errors
/// The plan does not fit the drive, a workload could not start, or its record could not be stored. What was measured
/// before is in `evidence` in every case.
pub fn conduct(
    drive: &mut dyn Drive,
    procedure: &dyn Procedure,
    evidence: &mut Evidence,
    observer: &mut dyn Observer,
) -> Result<End, ConductError> {
    // A simulated drive's own time has no breaks.
    let mut after_break = !evidence.is_empty() && drive.geometry().clock == Clock::Wall;
    loop {
        let step = procedure.next(evidence).map_err(ConductError::Plan)?;
        if step == Step::Enough {
            return Ok(End::Complete);
        }
        observer.decides(procedure, evidence, &step);
        if observer.stop_asked() {
            return Ok(End::Interrupted);
        }
        let end = match step {
            Step::Run(workload) => run_one(drive, &workload, &mut after_break, evidence, observer)?,
            Step::Look(look) => look_once(drive, look, &mut after_break, evidence, observer)?,
            Step::Enough => unreachable!("it was returned"),
        };
        if let Some(end) = end {
            return Ok(end);
        }
    }
}

/// Runs a workload and keeps its record; an end, if it was the last.
fn run_one(
    drive: &mut dyn Drive,
    workload: &Workload,
    after_break: &mut bool,
    evidence: &mut Evidence,
    observer: &mut dyn Observer,
) -> Result<Option<End>, ConductError> {
    observer.begins(workload);
    let shared = std::cell::RefCell::new(&mut *observer);
    let mut trace = |recorded: &Recorded| shared.borrow_mut().trace(recorded);
    let Ran { mut segment, fault } =
        run_with(drive, workload, &mut trace, &mut || shared.borrow_mut().recorder())?;
    segment.after_break = std::mem::take(after_break);
    let stop = segment.stop;
    evidence.segments.push(segment);
    evidence.identity.accounting = drive.accounting();
    observer.ended(evidence.segments.last().expect("one was just added")).map_err(ConductError::Store)?;
    Ok(match (fault, stop) {
        (Some(fault), _) => Some(End::Fault(fault)),
        (None, Stop::Reached) => None,
        (None, Stop::Interrupted) => Some(End::Interrupted),
        (None, stop @ (Stop::Failed { .. } | Stop::JobFailed { .. })) => Some(End::Failed(stop)),
    })
}

/// Takes a look and keeps what it found; an end, if the lab failed.
fn look_once(
    drive: &mut dyn Drive,
    look: Look,
    after_break: &mut bool,
    evidence: &mut Evidence,
    observer: &mut dyn Observer,
) -> Result<Option<End>, ConductError> {
    observer.looks(&look);
    let mut sight = match sight(drive, look, evidence.segments.len()) {
        Ok(sight) => sight,
        Err(fault) => return Ok(Some(End::Fault(fault))),
    };
    sight.after_break = std::mem::take(after_break);
    evidence.identity.accounting = drive.accounting();
    evidence.sights.push(sight);
    observer.looked(evidence.sights.last().expect("one was just added")).map_err(ConductError::Store)?;
    Ok(None)
}

/// Takes a look after so many workloads.
pub(crate) fn sight(drive: &mut dyn Drive, look: Look, after: usize) -> Result<Sight, Fault> {
    let began = now(drive)?;
    let seen = drive.look(&look)?;
    let ended = now(drive)?;
    Ok(Sight { look, seen, after, began, ended, after_break: false, accounting: drive.accounting() })
}

/// What the drive's clock reads; a lane is who knows.
fn now(drive: &mut dyn Drive) -> Result<Nanos, Fault> {
    let lanes = drive.lanes(&Need { lanes: 1, depth: 0, length_max: 0 })?;
    Ok(lanes.first().expect("a drive opens the lanes it was asked for").now())
}
