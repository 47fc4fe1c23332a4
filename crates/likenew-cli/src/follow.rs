//! Follows a run: moves the progress bar, stores every segment and sight, and every sample where that was asked for.

use likenew_archive::{Run, SampleWriter};
use likenew_core::look::{Look, Sight};
use likenew_core::procedure::{Evidence, Procedure, Step};
use likenew_core::recorded::Recorded;
use likenew_core::recorder::Recorder;
use likenew_core::segment::Segment;
use likenew_core::trace::TraceSource;
use likenew_core::workload::Workload;
use likenew_run::conduct::Observer;

use crate::interrupt;
use crate::progress::Progress;
use crate::recordings::Recordings;

/// The observer of one run.
pub(crate) struct Follow<'a> {
    pub(crate) progress: Progress,
    pub(crate) archive: Option<&'a mut Run>,
    pub(crate) samples: Option<&'a SampleWriter>,
    pub(crate) recordings: Recordings,
    /// How many workloads there were so far.
    pub(crate) segments: usize,
}

impl Observer for Follow<'_> {
    fn decides(&mut self, procedure: &dyn Procedure, evidence: &Evidence, step: &Step) {
        self.progress.decides(procedure, evidence, step);
    }

    fn begins(&mut self, workload: &Workload) {
        self.progress.begins(&workload.name);
    }

    fn stop_asked(&self) -> bool {
        interrupt::asked()
    }

    fn trace(&mut self, recorded: &Recorded) -> Result<Box<dyn TraceSource>, String> {
        self.recordings.open(recorded)
    }

    fn recorder(&mut self) -> Box<dyn Recorder + Send> {
        let progress = self.progress.recorder();
        match self.samples {
            Some(samples) => Box::new((progress, samples.recorder(self.segments as u32))),
            None => Box::new(progress),
        }
    }

    fn ended(&mut self, segment: &Segment) -> Result<(), String> {
        self.segments += 1;
        self.progress.ended();
        match &mut self.archive {
            Some(run) => run.push(segment).map_err(|error| error.to_string()),
            None => Ok(()),
        }
    }

    fn looks(&mut self, look: &Look) {
        self.progress.begins(look.name());
    }

    fn looked(&mut self, sight: &Sight) -> Result<(), String> {
        self.progress.ended();
        self.progress.wrote(sight.bytes_written());
        match &mut self.archive {
            Some(run) => run.push_sight(sight).map_err(|error| error.to_string()),
            None => Ok(()),
        }
    }
}
