//! Simulated drives as files, plans on them in this process, and the `likenew` program inside of Python.

use std::collections::HashMap;
use std::ffi::OsString;
use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use likenew_archive::{Archive, Machine, Run as KeptRun};
use likenew_cli::{Interruption, run_command as run_embedded};
use likenew_core::drive::Drive as _;
use likenew_core::input;
use likenew_core::instrument::Instrument;
use likenew_core::io::Sample;
use likenew_core::probe::Observation;
use likenew_core::procedure::{Evidence, Plan};
use likenew_core::segment::{Recorder, Segment, Stop};
use likenew_core::target::Clock;
use likenew_core::units::Nanos;
use likenew_procedures::all::{from_plan, judge};
use likenew_run::runner::{End, Observer, RunnerError, run_procedure};
use likenew_sim::generator::generate;
use likenew_sim::model::Model;
use likenew_sim::{Spec, SpecName};
use pyo3::prelude::*;

use super::errors::interruptible;
use super::run::Run;
use super::{errors, wording};

/// Runs a plan, as JSON, on the simulated drive that it names or holds. With `samples` every I/O is kept in memory; with
/// `archive` the run is kept as a folder there, too.
#[pyfunction]
#[pyo3(signature = (plan, samples=false, archive=None))]
pub(crate) fn simulate(py: Python<'_>, plan: &str, samples: bool, archive: Option<PathBuf>) -> PyResult<Run> {
    let plan: Plan = serde_json::from_str(plan).map_err(errors::usage)?;
    let stop = Arc::new(AtomicBool::new(false));
    let observer = RunFollower {
        samples: samples.then(Default::default),
        stop: Arc::clone(&stop),
        archive: None,
        segments: 0,
    };
    interruptible(py, || stop.store(true, Ordering::Relaxed), move || run(plan, observer, archive))?
}

/// The TOML of a table that is given as JSON.
#[pyfunction]
pub(crate) fn to_toml(table: &str) -> PyResult<String> {
    let table: toml::Table = serde_json::from_str(table).map_err(errors::usage)?;
    toml::to_string(&table).map_err(errors::usage)
}

fn run(plan: Plan, mut observer: RunFollower, archive: Option<PathBuf>) -> PyResult<Run> {
    let procedure = from_plan(&plan).map_err(errors::usage)?;
    let target = plan.target.as_deref().unwrap_or_default();
    let spec = Spec::parse(target).map_err(errors::usage)?;
    let mut drive = spec.open(|path| read_file(path, plan.drive.as_deref())).map_err(errors::usage)?;
    let instrument = Instrument {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        clock: Clock::Virtual,
        engine: drive.identity().engine,
        calibration: None,
    };
    let mut evidence = Evidence::new(plan, drive.identity(), drive.geometry());
    if let Some(root) = archive {
        let (identity, geometry) = (evidence.identity.clone(), evidence.geometry.clone());
        let date = likenew_real::clock::wall_date();
        let machine = Machine::new(date, identity, geometry, instrument.clone());
        observer.archive =
            Some(Archive::new(root).create(&evidence.plan, &machine).map_err(errors::unfinished)?);
    }
    let end = run_procedure(&mut drive, &*procedure, &mut evidence, &mut observer).map_err(failure)?;
    if let End::LabError(error) = &end {
        return Err(errors::unfinished(error));
    }
    let mut findings = judge(&*procedure, &evidence);
    findings.is_interrupted = !matches!(end, End::Complete);
    let folder = observer.archive.as_ref().map(|run| run.path().to_owned());
    if let Some(run) = &observer.archive {
        run.conclude(&findings).map_err(errors::unfinished)?;
    }
    let samples = observer.samples.map(|samples| std::mem::take(&mut *lock(&samples)));
    Ok(Run::new(evidence, findings, instrument, folder, samples))
}

/// The file of a drive: the text that is given, or the file system's.
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

/// Keeps what a run measures, and stops it when Python says so.
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

/// Keeps the samples of a lane, and stops it.
struct LaneRecorder {
    samples: Option<Samples>,
    segment: u32,
    stop: Arc<AtomicBool>,
}

impl LaneRecorder {
    fn flow(&self) -> ControlFlow<Stop> {
        match self.stop.load(Ordering::Relaxed) {
            true => ControlFlow::Break(Stop::Interrupted),
            false => ControlFlow::Continue(()),
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

/// Names of the simulated drives that come with the package.
#[pyfunction]
pub(crate) fn catalog() -> Vec<&'static str> {
    likenew_sim::catalog().iter().map(|entry| entry.name).collect()
}

/// The file of a drive, as `sim:` names it: of the catalog, generated, or a file.
#[pyfunction]
pub(crate) fn drive_file(name: &str) -> PyResult<String> {
    let spec = Spec::parse(&format!("sim:{name}")).map_err(errors::usage)?;
    match &spec.drive {
        SpecName::Catalog(name) => {
            let entry = likenew_sim::catalog().iter().find(|entry| entry.name == name);
            Ok(entry.expect("a name that was read is in the catalog").text.to_owned())
        }
        SpecName::Generated(seed) => Ok(generate(*seed).file),
        SpecName::File(path) => {
            let bytes = read_file(path, None);
            let text = bytes.map_err(|error| errors::unfinished(wording::unreadable_drive(name, error)))?;
            String::from_utf8(text).map_err(|error| errors::usage(wording::unreadable_drive(name, error)))
        }
        SpecName::Snapshot(_) => Err(errors::usage(wording::saved_drive(name))),
    }
}

/// The parameters in a drive's file: key, value as the file spells it, source, and whether it is assumed. The file is read as
/// strictly as the program reads it.
#[pyfunction]
pub(crate) fn drive_parameters(name: &str, text: &str) -> PyResult<Vec<(String, String, String, bool)>> {
    let model = Model::parse(name, text).map_err(errors::usage)?;
    let entry = |entry: &likenew_sim::SourceEntry| {
        (entry.key.clone(), entry.value.clone(), entry.source.clone(), entry.is_assumed())
    };
    Ok(model.sources.iter().map(entry).collect())
}

/// Whether a drive with this target can be opened, with the text of its file if no folder has that.
#[pyfunction]
#[pyo3(signature = (target, text))]
pub(crate) fn check_target(target: &str, text: Option<&str>) -> PyResult<()> {
    let spec = Spec::parse(target).map_err(errors::usage)?;
    spec.explain(|path| read_file(path, text)).map(drop).map_err(errors::usage)
}

/// Runs one command, such as `["bench", "sim:tiny-flash", "--plan"]`, and returns what it prints. `drives` are files of
/// simulated drives by name, read in place of the file system's.
#[pyfunction]
#[pyo3(signature = (words, drives=HashMap::new()))]
pub(crate) fn run_command(
    py: Python<'_>,
    words: Vec<String>,
    drives: HashMap<String, String>,
) -> PyResult<String> {
    let drives = drives.into_iter().map(|(name, text)| (name.into(), text.into_bytes())).collect();
    interruptible(py, Interruption::request, move || run_embedded(&words, drives))?
        .map_err(errors::of_command)
}

/// Runs the program with this command line, whose first word is its name, and returns its exit code. `program` are the words
/// that start it again.
#[pyfunction]
pub(crate) fn main(py: Python<'_>, command_line: Vec<OsString>, program: Vec<OsString>) -> u8 {
    py.detach(|| likenew_cli::main(command_line, program))
}

/// What the commands that measure take, as JSON: the classes of plans are made from it.
#[pyfunction]
pub(crate) fn command_grammar() -> String {
    likenew_cli::plan_grammar()
}
