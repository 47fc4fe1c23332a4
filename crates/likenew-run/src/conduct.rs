//! Asks a procedure what to run, runs it, and asks again until there is enough.

use likenew_core::drive::Drive;
use likenew_core::fault::Fault;
use likenew_core::procedure::{Evidence, Procedure, Step};
use likenew_core::recorded::Recorded;
use likenew_core::recorder::{Recorder, Stop};
use likenew_core::segment::Segment;
use likenew_core::target::Clock;
use likenew_core::trace::TraceSource;
use likenew_core::workload::Workload;

use crate::run::{Ran, RunError, run_with};

/// Follows a run: shows it, stores it, and may stop it.
pub trait Observer {
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
    let mut after_break = !evidence.segments.is_empty() && drive.geometry().clock == Clock::Wall;
    loop {
        let workload = match procedure.next(evidence).map_err(ConductError::Plan)? {
            Step::Run(workload) => workload,
            Step::Enough => return Ok(End::Complete),
        };
        if observer.stop_asked() {
            return Ok(End::Interrupted);
        }
        observer.begins(&workload);
        let observer = std::cell::RefCell::new(&mut *observer);
        let Ran { mut segment, fault } =
            run_with(drive, &workload, &mut |recorded| observer.borrow_mut().trace(recorded), &mut || {
                observer.borrow_mut().recorder()
            })?;
        let observer = observer.into_inner();
        segment.after_break = std::mem::take(&mut after_break);
        let stop = segment.stop;
        evidence.segments.push(segment);
        evidence.identity.accounting = drive.accounting();
        observer.ended(evidence.segments.last().expect("one was just added")).map_err(ConductError::Store)?;
        match (fault, stop) {
            (Some(fault), _) => return Ok(End::Fault(fault)),
            (None, Stop::Reached) => {}
            (None, Stop::Interrupted) => return Ok(End::Interrupted),
            (None, stop @ Stop::Failed { .. }) => return Ok(End::Failed(stop)),
        }
    }
}
