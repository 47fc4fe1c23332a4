//! Follows a run: moves the progress bar, and stores every segment and observation, and samples if
//! asked to. Also runs a plan on a simulated drive before the real run, as its reference.

use likenew_archive::{Run, SampleWriter};
use likenew_core::drive::Drive as _;
use likenew_core::dry_run::DryRun;
use likenew_core::io::Op;
use likenew_core::probe::{Observation, Probe};
use likenew_core::procedure::{Evidence, Plan, Procedure, Step};
use likenew_core::segment::{Recorder, Segment};
use likenew_core::trace::{ReplaySpec, TraceSource};
use likenew_core::workload::Workload;
use likenew_run::runner::{End, Observer, run_procedure};
use likenew_sim::{SimError, Spec};

use crate::interrupt;
use crate::io_log::IoLog;
use crate::progress::Progress;
use crate::recordings::Recordings;
use crate::resolved_target::make;
use crate::wording;

/// The observer of one run.
pub(crate) struct RunObserver<'a> {
    pub(crate) progress: Progress,
    pub(crate) archive: Option<&'a mut Run>,
    pub(crate) samples: Option<&'a SampleWriter>,
    pub(crate) log: Option<IoLog>,
    pub(crate) recordings: Recordings,
    /// Number of workloads so far.
    pub(crate) segments: usize,
    /// Announced bytes that are not written yet; `None` if no bound was announced.
    pub(crate) writes_left: Option<u64>,
}

impl RunObserver<'_> {
    /// Only moves the bar.
    pub(crate) fn new(progress: Progress) -> Self {
        Self {
            progress,
            archive: None,
            samples: None,
            log: None,
            recordings: Recordings::default(),
            segments: 0,
            writes_left: None,
        }
    }
}

impl Observer for RunObserver<'_> {
    fn on_decide(&mut self, procedure: &dyn Procedure, evidence: &Evidence, step: &Step) {
        self.progress.on_decide(procedure, evidence, step);
    }

    fn may_write(&self, bytes: Option<u64>) -> bool {
        self.writes_left.is_none_or(|left| bytes.is_some_and(|bytes| bytes <= left))
    }

    fn on_begin(&mut self, workload: &Workload) {
        self.progress.on_begin(&workload.name, &workload.activity());
        if let Some(log) = &mut self.log {
            log.begin_workload(workload, self.segments + 1);
        }
    }

    fn stop_requested(&self) -> bool {
        interrupt::is_requested()
    }

    fn trace(&mut self, replay_spec: &ReplaySpec) -> Result<Box<dyn TraceSource>, String> {
        self.recordings.open(replay_spec)
    }

    fn recorder(&mut self) -> Box<dyn Recorder + Send> {
        let mut recorder: Box<dyn Recorder + Send> = Box::new(self.progress.recorder());
        if let Some(log) = &self.log {
            recorder = Box::new((recorder, log.recorder()));
        }
        match self.samples {
            Some(samples) => Box::new((recorder, samples.recorder(self.segments as u32))),
            None => recorder,
        }
    }

    fn on_end(&mut self, segment: &Segment) -> Result<(), String> {
        self.segments += 1;
        if segment.workload.reaches_drive() {
            self.writes_left = self.writes_left.map(|left| left.saturating_sub(segment.bytes(Op::Write)));
        }
        self.progress.on_end();
        // The log is written first, so that every kept workload is in it.
        let logged = self.log.as_mut().map_or(Ok(()), |log| log.end_workload(segment));
        let kept = self.archive.as_mut().map_or(Ok(()), |run| run.push(segment));
        kept.map_err(|error| error.to_string()).and(logged)
    }

    fn on_probe(&mut self, probe: &Probe) {
        self.progress.on_begin(probe.name(), probe.name());
    }

    fn on_probe_end(&mut self, observation: &Observation) -> Result<(), String> {
        self.progress.on_end();
        let written = observation.bytes_written();
        self.progress.add_written(written);
        self.writes_left = self.writes_left.map(|left| left.saturating_sub(written));
        match &mut self.archive {
            Some(run) => run.push_observation(observation).map_err(|error| error.to_string()),
            None => Ok(()),
        }
    }
}

/// Runs a procedure on a simulated drive and returns its evidence; `None` if the user stopped it.
pub(crate) fn run_nested(
    spec: &Spec,
    procedure: &dyn Procedure,
    plan: Plan,
) -> anyhow::Result<Option<Evidence>> {
    let mut drive = match make(spec) {
        Err(SimError::Stopped) => return Ok(None),
        made => made?,
    };
    let mut evidence = Evidence::new(plan, drive.identity(), drive.geometry());
    let dry_run = DryRun::plan(procedure, &evidence).map_err(anyhow::Error::msg)?;
    let progress = Progress::for_reference(&dry_run.planned_steps, &drive, wording::SIMULATING_REFERENCE);
    let mut observer = RunObserver::new(progress);
    let end = run_procedure(&mut drive, procedure, &mut evidence, &mut observer);
    observer.progress.finish();
    match end? {
        // An error of the simulated drive is a result, too.
        End::Complete | End::Failed(_) => Ok(Some(evidence)),
        End::Interrupted => Ok(None),
        End::OverAnnounced => unreachable!("nothing was announced of a simulated drive"),
        End::TargetError(target_error) => Err(target_error.into()),
    }
}
