//! Replays recordings: which of their I/Os leaves when, where it goes, and its result next to what the
//! recording says.

mod address_map;
mod gate;
mod ledger;
mod pacer;
mod preparation;
mod recording;
mod ticket;
mod timeline;

use std::sync::atomic::AtomicBool;

use likenew_core::segment::{Recorder, ReplayRecord};
use likenew_core::target::{Geometry, Target};
use likenew_core::trace::{ReplaySpec, ReplayTiming, TraceSource};
use likenew_core::workload::Workload;

use crate::lane::{LaneEnd, LaneShare, run_lane};
use preparation::Preparation;
use recording::Recording;

/// Opens the recording that a workload names, at its start.
///
/// It answers with a sentence where that cannot be read, or is not the recording that is meant.
pub type TraceOpener<'a> = dyn FnMut(&ReplaySpec) -> Result<Box<dyn TraceSource>, String> + 'a;

/// A recording on its way to a lane.
pub(crate) enum Replay {
    /// Its I/Os.
    Ios(Box<Recording>),
    /// What they touch.
    Preparation(Preparation),
}

impl Replay {
    /// That of a workload, if it names a recording; a sentence where that cannot be read.
    pub(crate) fn open(
        workload: &Workload,
        traces: &mut TraceOpener<'_>,
        geometry: &Geometry,
    ) -> Result<Option<Self>, String> {
        let Some(replay_spec) = &workload.replay_spec else { return Ok(None) };
        let source = traces(replay_spec)?;
        Ok(Some(if replay_spec.timing == ReplayTiming::Prepare {
            Self::Preparation(Preparation::new(replay_spec, source, geometry)?)
        } else {
            Self::Ios(Box::new(Recording::new(replay_spec, source, geometry)))
        }))
    }

    /// Replays it on the only lane there is.
    pub(crate) fn run(
        self,
        lane: &mut dyn Target,
        share: &LaneShare<'_>,
        recorder: &mut dyn Recorder,
    ) -> (LaneEnd, Option<ReplayRecord>) {
        let halt = AtomicBool::new(false);
        match self {
            Self::Preparation(source) => (run_lane(lane, share, |_, _| source, recorder, &halt).0, None),
            Self::Ios(source) => {
                let (end, source) =
                    run_lane(lane, share, |_, started_at| source.start(started_at), recorder, &halt);
                (end, Some(source.into_record()))
            }
        }
    }
}
