//! Runs plans on simulated drives in this process.

use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use likenew_archive::{Archive, Machine, Run as KeptRun};
use likenew_core::drive::Drive as _;
use likenew_core::input;
use likenew_core::instrument::Instrument;
use likenew_core::io::Sample;
use likenew_core::probe::Observation;
use likenew_core::procedure::{Evidence, Plan, Procedure};
use likenew_core::segment::{Recorder, Segment, Stop};
use likenew_core::target::Clock;
use likenew_core::units::Nanos;
use likenew_procedures::all::{from_plan, judge};
use likenew_run::runner::{End, Observer, RunnerError, run_procedure};
use likenew_sim::{SimDrive, Spec};
use pyo3::prelude::*;

use crate::errors;
use crate::interruptible::interruptible;
use crate::run::Run;

/// Runs plans, given as JSON, one after the other on the simulated drive of the first plan. Each begins with the drive
/// as the previous one left it. `samples` keeps every I/O in memory; `archive` also keeps the runs as folders.
#[pyfunction]
#[pyo3(signature = (plans, samples=false, archive=None))]
pub(crate) fn simulate(
    py: Python<'_>,
    plans: Vec<String>,
    samples: bool,
    archive: Option<PathBuf>,
) -> PyResult<Vec<Run>> {
    let plans = plans.iter().map(|plan| serde_json::from_str(plan).map_err(errors::usage));
    let plans: Vec<Plan> = plans.collect::<PyResult<_>>()?;
    let session = Session { samples, archive: archive.map(Archive::new), stop: Arc::default() };
    interruptible(py, || session.stop.store(true, Ordering::Relaxed), || session.run_in_turn(plans))?
}

/// Converts a table from JSON to TOML.
#[pyfunction]
pub(crate) fn to_toml(table: &str) -> PyResult<String> {
    let table: toml::Table = serde_json::from_str(table).map_err(errors::usage)?;
    toml::to_string(&table).map_err(errors::usage)
}

/// What is done with all runs of one call.
struct Session {
    /// Whether every I/O is kept in memory.
    samples: bool,
    archive: Option<Archive>,
    stop: Arc<AtomicBool>,
}

impl Session {
    fn run_in_turn(&self, plans: Vec<Plan>) -> PyResult<Vec<Run>> {
        let mut drive = None;
        let run = |plan: Plan| {
            let procedure = from_plan(&plan).map_err(errors::usage)?;
            let drive = match &mut drive {
                Some(drive) => drive,
                none => none.insert(self.open(&plan)?),
            };
            self.run(drive, plan, &*procedure)
        };
        plans.into_iter().map(run).collect()
    }

    fn open(&self, plan: &Plan) -> PyResult<SimDrive> {
        let spec = Spec::parse(plan.target.as_deref().unwrap_or_default()).map_err(errors::usage)?;
        let read = |path: &Path| read_file(path, plan.drive.as_deref());
        spec.open_unless(read, &|| self.stop.load(Ordering::Relaxed)).map_err(errors::usage)
    }

    fn run(&self, drive: &mut SimDrive, plan: Plan, procedure: &dyn Procedure) -> PyResult<Run> {
        let instrument = Instrument {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            clock: Clock::Virtual,
            engine: drive.identity().engine,
            system: None,
            calibration: None,
        };
        let mut evidence = Evidence::new(plan, drive.identity(), drive.geometry());
        let keep = |archive: &Archive| {
            let (identity, geometry) = (evidence.identity.clone(), evidence.geometry.clone());
            let date = likenew_real::clock::wall_date();
            let machine = Machine::new(date, identity, geometry, instrument.clone());
            archive.create(&evidence.plan, &machine).map_err(errors::unfinished)
        };
        let kept = self.archive.as_ref().map(keep).transpose()?;
        let (samples, stop) = (self.samples.then(Default::default), Arc::clone(&self.stop));
        let mut observer = RunFollower { samples, stop, archive: kept, segments: 0 };
        let end = run_procedure(drive, procedure, &mut evidence, &mut observer).map_err(failure)?;
        if let End::TargetError(error) = &end {
            return Err(errors::unfinished(error));
        }
        let mut findings = judge(procedure, &evidence);
        findings.is_interrupted = !matches!(end, End::Complete);
        let folder = observer.archive.as_ref().map(|run| run.path().to_owned());
        if let Some(run) = &observer.archive {
            run.conclude(&findings).map_err(errors::unfinished)?;
        }
        let samples = observer.samples.map(|samples| std::mem::take(&mut *lock(&samples)));
        Ok(Run::new(evidence, findings, instrument, folder, samples))
    }
}

/// The contents of a drive file: `text` if given, or else the file's.
pub(crate) fn read_file(path: &Path, text: Option<&str>) -> io::Result<Vec<u8>> {
    if let Some(text) = text {
        return Ok(text.into());
    }
    let is_saved = path.extension().is_some_and(|extension| extension == "snapshot");
    Ok(input::read(path, if is_saved { input::SNAPSHOT } else { input::DRIVE })?)
}

fn failure(error: RunnerError) -> PyErr {
    match error {
        RunnerError::Store(_) => errors::unfinished(error),
        RunnerError::Plan(_) | RunnerError::Run(_) => errors::usage(error),
    }
}

type Samples = Arc<Mutex<Vec<(u32, Sample)>>>;

fn lock(samples: &Samples) -> std::sync::MutexGuard<'_, Vec<(u32, Sample)>> {
    samples.lock().expect("nobody panics while it is held")
}

/// Keeps a run's measurements, and stops the run on request.
struct RunFollower {
    samples: Option<Samples>,
    stop: Arc<AtomicBool>,
    archive: Option<KeptRun>,
    segments: u32,
}

impl Observer for RunFollower {
    fn stop_requested(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    fn recorder(&mut self) -> Box<dyn Recorder + Send> {
        let samples = self.samples.clone();
        Box::new(LaneRecorder { samples, segment: self.segments, stop: Arc::clone(&self.stop) })
    }

    fn on_end(&mut self, segment: &Segment) -> Result<(), String> {
        self.segments += 1;
        let run = self.archive.as_mut();
        run.map_or(Ok(()), |run| run.push(segment)).map_err(|error| error.to_string())
    }

    fn on_probe_end(&mut self, observation: &Observation) -> Result<(), String> {
        let run = self.archive.as_mut();
        run.map_or(Ok(()), |run| run.push_observation(observation)).map_err(|error| error.to_string())
    }
}

/// Keeps the samples of a lane, and stops the lane on request.
struct LaneRecorder {
    samples: Option<Samples>,
    segment: u32,
    stop: Arc<AtomicBool>,
}

impl LaneRecorder {
    fn flow(&self) -> ControlFlow<Stop> {
        if self.stop.load(Ordering::Relaxed) {
            ControlFlow::Break(Stop::Interrupted)
        } else {
            ControlFlow::Continue(())
        }
    }
}

impl Recorder for LaneRecorder {
    fn record(&mut self, samples: &[Sample]) -> ControlFlow<Stop> {
        if let Some(kept) = &self.samples {
            lock(kept).extend(samples.iter().map(|sample| (self.segment, *sample)));
        }
        self.flow()
    }

    fn idle(&mut self, _now: Nanos) -> ControlFlow<Stop> {
        self.flow()
    }
}
