//! Runs a plan on a simulated drive before the real run, as its reference.

use likenew_core::drive::Drive as _;
use likenew_core::dry_run::DryRun;
use likenew_core::plan::Plan;
use likenew_core::procedure::{Evidence, Procedure};
use likenew_run::runner::{End, run_procedure};
use likenew_sim::Spec;

use crate::progress::Progress;
use crate::recordings::Recordings;
use crate::resolved_target::read_file;
use crate::run_observer::RunObserver;

/// The evidence; `None` if the user stopped it.
pub(crate) fn run_nested(
    spec: &Spec,
    procedure: &dyn Procedure,
    plan: Plan,
) -> anyhow::Result<Option<Evidence>> {
    let mut drive = spec.open(read_file)?;
    let mut evidence = Evidence::new(plan, drive.identity(), drive.geometry());
    let dry_run = DryRun::plan(procedure, &evidence).map_err(anyhow::Error::msg)?;
    let mut follow = RunObserver {
        progress: Progress::for_steps(&dry_run.planned_steps, &drive, &[]),
        archive: None,
        samples: None,
        recordings: Recordings::default(),
        segments: 0,
        writes_left: None,
    };
    let end = run_procedure(&mut drive, procedure, &mut evidence, &mut follow);
    follow.progress.finish();
    match end? {
        // A drive's errors are data.
        End::Complete | End::Failed(_) => Ok(Some(evidence)),
        End::Interrupted => Ok(None),
        End::OverAnnounced => unreachable!("nothing was announced of a simulated drive"),
        End::LabError(lab_error) => Err(lab_error.into()),
    }
}
