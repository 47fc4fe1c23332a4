//! A run that was interrupted, and the state of its drive.

use likenew_archive::Run;
use likenew_core::drive::{Drive, Identity};
use likenew_core::dry_run::DryRun;
use likenew_core::instrument::Instrument;
use likenew_core::procedure::Evidence;
use likenew_core::recorder::Stop;
use likenew_run::restore::{RestoreError, RestoreStep, restore};

use crate::exit::{Exit, Failure};
use crate::progress::Progress;
use crate::recordings::Recordings;
use crate::wording;

/// A run in the archive that has not come to its end.
pub(crate) struct InterruptedRun {
    pub(crate) run: Run,
    /// The evidence up to now.
    pub(crate) evidence: Evidence,
    /// As it was at the beginning of the run.
    pub(crate) instrument: Instrument,
    /// The rest of the run.
    pub(crate) dry_run: DryRun,
}

/// Refuses to continue a run on another drive.
pub(super) fn refuse_another(evidence: &Evidence, now: &Identity) -> Result<(), Failure> {
    let then = &evidence.identity;
    let text = |of: &Identity| {
        wording::drive_with_model(&of.name, of.model.as_deref(), of.capacity_bytes, of.block_bytes)
    };
    let same = then.kind == now.kind && text(then) == text(now);
    same.then_some(()).ok_or_else(|| Failure::Refused(wording::another_drive(&text(then), &text(now))))
}

/// Restores the drive's state. Nothing is measured until then, so stopping loses nothing. Returns an exit if
/// the user stopped it.
pub(super) fn restore_state(drive: &mut dyn Drive, evidence: &Evidence) -> Result<Option<Exit>, Failure> {
    crate::standard_error::note(wording::going_on(evidence.segments.len(), evidence.observations.len()));
    let progress = std::cell::RefCell::new(Progress::new());
    let begins = |step: &RestoreStep, done, all| {
        let name = match step {
            RestoreStep::Run(workload) => &*workload.name,
            RestoreStep::Probe(probe) => probe.name(),
        };
        progress.borrow_mut().on_begin(name);
        progress.borrow().set_share(done, all);
    };
    let Evidence { segments, observations, .. } = evidence;
    let mut recordings = Recordings::default();
    let restored = restore(
        drive,
        segments,
        observations,
        begins,
        &mut |replay_spec| recordings.open(replay_spec),
        &mut || Box::new(progress.borrow().recorder()),
    );
    progress.borrow().finish();
    match restored {
        Ok(()) => Ok(None),
        Err(RestoreError::Stopped(Stop::Interrupted)) => {
            crate::standard_error::note(wording::STOPPED_RESTORING);
            Ok(Some(Exit::Interrupted))
        }
        Err(error @ RestoreError::Otherwise { .. }) => Err(Failure::Refused(error.to_string())),
        Err(RestoreError::Run(error)) => Err(error.into()),
        Err(RestoreError::LabError(lab_error)) => Err(lab_error.into()),
        Err(error @ RestoreError::Stopped(_)) => Err(Failure::Other(error.into())),
    }
}
