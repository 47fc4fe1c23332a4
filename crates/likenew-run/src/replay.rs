//! Recordings carried out: which of their I/Os leaves when, where it goes, and what became of it beside what the recording says.

mod address_map;
mod gate;
mod ledger;
mod pacer;
mod preparation;
mod recording;
mod ticket;
mod timeline;

use std::sync::atomic::AtomicBool;

use likenew_core::recorded::ReplayPace;
use likenew_core::recorder::Recorder;
use likenew_core::replayed::Replayed;
use likenew_core::target::{Geometry, Target};
use likenew_core::workload::Workload;

use crate::lane::{LaneEnd, Share, run_lane};
use crate::run::{RunError, TraceOpener};
use preparation::Preparation;
use recording::Recording;

/// A recording on its way to a lane.
pub(crate) enum Replay {
    /// Its I/Os.
    Ios(Box<Recording>),
    /// What they touch.
    Touched(Preparation),
}

impl Replay {
    /// That of a workload, if it names a recording.
    pub(crate) fn of(
        workload: &Workload,
        traces: &mut TraceOpener<'_>,
        geometry: &Geometry,
    ) -> Result<Option<Self>, RunError> {
        let Some(recorded) = &workload.recorded else { return Ok(None) };
        let source = traces(recorded).map_err(RunError::Recording)?;
        Ok(Some(if recorded.pace == ReplayPace::Prepare {
            Self::Touched(Preparation::new(recorded, source, geometry).map_err(RunError::Recording)?)
        } else {
            Self::Ios(Box::new(Recording::new(recorded, source, geometry)))
        }))
    }

    /// Carries it out on the only lane there is.
    pub(crate) fn run(
        self,
        lane: &mut dyn Target,
        share: &Share<'_>,
        recorder: &mut dyn Recorder,
    ) -> (LaneEnd, Option<Replayed>) {
        let halt = AtomicBool::new(false);
        match self {
            Self::Touched(course) => (run_lane(lane, share, |_, _| course, recorder, &halt).0, None),
            Self::Ios(course) => {
                let (end, course) = run_lane(lane, share, |_, began| course.begun(began), recorder, &halt);
                (end, Some(course.replayed()))
            }
        }
    }
}
