//! A plan carried out on a simulated drive beside the run that is to come: what others do that a run is held against.

use likenew_core::drive::Drive as _;
use likenew_core::plan::Plan;
use likenew_core::procedure::{Evidence, Procedure};
use likenew_core::rehearsal::Rehearsal;
use likenew_run::conduct::{End, conduct};
use likenew_sim::Spec;

use crate::aim::read_file;
use crate::follow::Follow;
use crate::progress::Progress;
use crate::recordings::Recordings;

/// What was measured; nothing when somebody asked to stop.
pub(crate) fn conducted(
    spec: &Spec,
    procedure: &dyn Procedure,
    plan: Plan,
) -> anyhow::Result<Option<Evidence>> {
    let mut drive = spec.open(read_file)?;
    let mut evidence = Evidence::new(plan, drive.identity(), drive.geometry());
    let rehearsal = Rehearsal::of(procedure, &evidence).map_err(anyhow::Error::msg)?;
    let mut follow = Follow {
        progress: Progress::of(&rehearsal.course, &drive),
        archive: None,
        samples: None,
        recordings: Recordings::default(),
        segments: 0,
    };
    let end = conduct(&mut drive, procedure, &mut evidence, &mut follow);
    follow.progress.finish();
    match end? {
        // A drive's errors are data.
        End::Complete | End::Failed(_) => Ok(Some(evidence)),
        End::Interrupted => Ok(None),
        End::Fault(fault) => Err(fault.into()),
    }
}
