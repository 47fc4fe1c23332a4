//! `likenew sim calibrate RUN…`: a simulated drive from kept runs of a real one.

use std::path::{Path, PathBuf};
use std::sync::Mutex;

use likenew_archive::Archive;
use likenew_calibration::{
    Base, Calibration, CalibrationError, CalibrationOptions, Estimate, MeasuredRun, Observer, Standing,
    calibrate, closest,
};
use likenew_core::drive::TargetKind;
use likenew_core::facts::Facts;
use likenew_core::probe::ProbeResult;
use likenew_sim::model::Mechanism;
use likenew_sim::{Spec, catalog};
use serde::Serialize;

use super::super::report as kept_runs;
use super::SimCalibrate;
use crate::exit::{Exit, Failure, Result};
use crate::progress::{Progress, locked};
use crate::references::find_in_catalog;
use crate::resolved_target::read_file;
use crate::wording::sim as wording;
use crate::{interrupt, output, output_file};

/// With this many runs, the last is held out unless the user says otherwise. Two remain to fit.
const HELD_OUT_FROM: usize = 3;
/// Most candidates that are simulated at once: each is a whole drive in memory.
const THREADS_MAX: usize = 2;

pub(crate) fn run(command: &SimCalibrate) -> Result<Exit> {
    let archive = command.folder.archive()?;
    let open_all = |named: &[PathBuf]| -> Result<Vec<MeasuredRun>> {
        named.iter().map(|named| open(&archive, named)).collect()
    };
    let (mut runs, mut held_out) = (open_all(&command.runs)?, open_all(&command.held_out)?);
    check_same_drive(runs.iter().chain(&held_out))?;
    if command.held_out.is_empty() && runs.len() >= HELD_OUT_FROM {
        held_out.extend(runs.pop());
    }
    if let Some(path) = &command.output {
        check(path, command.replace)?;
    }
    command.json.as_deref().map_or(Ok(()), output::check_file)?;
    interrupt::listen_saying(Some(crate::wording::STOPPING_WITHOUT_RESULTS))?;
    let options = CalibrationOptions {
        candidates: command.candidates as usize,
        threads: std::thread::available_parallelism().map_or(1, usize::from).min(THREADS_MAX),
        ..CalibrationOptions::default()
    };
    let bar = Bar(Mutex::new(Progress::new()));
    let calibration = choose_base(command, &runs, &options, &bar).and_then(|base| {
        bar.begin(wording::FITTING);
        Ok(calibrate(&base, &runs, &held_out, &options, &bar)?)
    });
    bar.finish();
    let calibration = match calibration {
        Err(_) if interrupt::is_requested() => {
            crate::console::note(wording::STOPPED);
            return Ok(Exit::Interrupted);
        }
        calibration => calibration?,
    };
    let path =
        command.output.clone().unwrap_or_else(|| PathBuf::from(wording::file_name(&calibration, &runs)));
    write(&path, &calibration.file, command.replace)?;
    report(command, &calibration, &path)?;
    Ok(Exit::Fine)
}

/// What the calibration found, and the file of its drive.
#[derive(Serialize)]
struct Report<'a> {
    file: &'a Path,
    #[serde(flatten)]
    calibration: &'a Calibration,
}

fn report(command: &SimCalibrate, calibration: &Calibration, path: &Path) -> Result<()> {
    if let Some(json) = &command.json {
        let report = Report { file: path, calibration };
        output::write_json(json, &report)?;
        if json == Path::new("-") {
            return Ok(());
        }
    }
    output::print(&text(calibration, path))
}

fn open(archive: &Archive, named: &Path) -> Result<MeasuredRun> {
    let path = kept_runs::folder(archive, named);
    let mut record = kept_runs::open_measured(&path)?;
    let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
    Ok(MeasuredRun { name, evidence: record.take_evidence() })
}

/// Refuses runs of different models.
fn check_same_drive<'a>(mut runs: impl Iterator<Item = &'a MeasuredRun>) -> Result<()> {
    let Some(first) = runs.next() else { return Ok(()) };
    let model = |run: &MeasuredRun| run.evidence.identity.model.clone();
    let differs = |run: &&MeasuredRun| model(first).zip(model(run)).is_some_and(|(a, b)| a != b);
    match runs.find(differs) {
        Some(other) => Err(Failure::Usage(wording::other_drive(first, other))),
        None => Ok(()),
    }
}

impl From<CalibrationError> for Failure {
    fn from(error: CalibrationError) -> Self {
        Self::Usage(error.to_string())
    }
}

fn check(path: &Path, replace: bool) -> Result<()> {
    output_file::check(path)?;
    Failure::refuse_if(!replace && path.symlink_metadata().is_ok(), wording::file_exists(path))?;
    Ok(())
}

fn write(path: &Path, text: &str, replace: bool) -> Result<()> {
    check(path, replace)?;
    output_file::write(path, text)
}

/// The progress bar, moved by all threads.
struct Bar(Mutex<Progress>);

impl Bar {
    fn begin(&self, name: &str) {
        locked(&self.0).on_begin(name, name);
    }

    fn finish(&self) {
        locked(&self.0).finish();
    }
}

impl Observer for Bar {
    fn on_progress(&self, done: usize, planned: usize) {
        locked(&self.0).set_share(done, planned);
    }

    fn stop_requested(&self) -> bool {
        interrupt::is_requested()
    }
}

/// Chooses the simulated drive to begin with: the named one, the catalog's of this model, or the
/// one closest to the runs. It is as large as the real drive.
fn choose_base(
    command: &SimCalibrate,
    runs: &[MeasuredRun],
    options: &CalibrationOptions,
    bar: &Bar,
) -> Result<Base> {
    let capacity = capacity(runs);
    let of_model = runs.iter().find_map(|run| find_in_catalog(facts(run)?)).map(|entry| entry.simulation);
    let named = command.like.as_deref().map(super::spec).transpose()?;
    if let Some(spec) = named.or(of_model) {
        return base(&spec, capacity);
    }
    let state = state(runs);
    let rotates = runs.iter().any(|run| run.evidence.identity.rotates());
    let is_of_medium = |mechanism: &Mechanism| match mechanism {
        Mechanism::Flash(_) => !rotates,
        Mechanism::Disk(_) => rotates,
        Mechanism::Volume(_) => false,
    };
    let candidates: Vec<Base> = catalog()
        .iter()
        .filter(|entry| entry.model.faults.is_none() && is_of_medium(&entry.model.mechanism))
        .filter_map(|entry| base(&Spec::parse(&format!("sim:{}{state}", entry.name)).ok()?, capacity).ok())
        .collect();
    bar.begin(wording::CHOOSING_BASE);
    let nearest = closest(&candidates, runs, options, bar)?;
    nearest.cloned().ok_or_else(|| Failure::Usage(wording::NO_BASE.into()))
}

fn base(spec: &Spec, capacity: Option<u64>) -> Result<Base> {
    let (file, text) = spec.text(read_file)?;
    let base = Base::new(spec, &file, text)?;
    Ok(match capacity {
        Some(bytes) => base.with_capacity(bytes)?,
        None => base,
    })
}

/// The facts of a run, if it has any.
fn facts(run: &MeasuredRun) -> Option<&Facts> {
    run.evidence.observations.iter().find_map(|observation| match &observation.result {
        ProbeResult::Facts(facts) => Some(&**facts),
        _ => None,
    })
}

/// Capacity of the drive in bytes; `None` if the runs know only the files of a folder.
fn capacity(runs: &[MeasuredRun]) -> Option<u64> {
    let reported = |run: &MeasuredRun| match facts(run)?.drives.as_slice() {
        [drive] => drive.identity.capacity_bytes.get(),
        _ => None,
    };
    let whole = |run: &MeasuredRun| {
        let is_whole = matches!(run.evidence.identity.kind, TargetKind::Device | TargetKind::Simulated);
        is_whole.then_some(run.evidence.geometry.capacity)
    };
    runs.iter().find_map(reported).or_else(|| runs.iter().find_map(whole))
}

/// The state in which the runs began, as a setting of a simulated drive. Of a real drive, only its
/// fill is known. An unknown fill counts as full, so that no read goes to a blank address.
fn state(runs: &[MeasuredRun]) -> String {
    let simulated = |run: &MeasuredRun| {
        let identity = &run.evidence.identity;
        let query = identity.name.split_once('?').map_or("", |(_, query)| query);
        (identity.kind == TargetKind::Simulated).then(|| format!("?{query}"))
    };
    let used = |run: &MeasuredRun| {
        let facts = facts(run)?;
        let used = facts.file_system.as_ref()?.used_bytes.get()? as f64;
        let [drive] = facts.drives.as_slice() else { return None };
        let share = used / drive.identity.capacity_bytes.get()? as f64;
        Some(format!("?state=new&fill={}", (share.clamp(0.0, 1.0) * 100.0).round() / 100.0))
    };
    let query = runs.iter().find_map(simulated).or_else(|| runs.iter().find_map(used));
    query.unwrap_or_else(|| "?state=new&fill=1".into()).trim_end_matches('?').to_owned()
}

/// Most rows of the table below its heading, so that everything fits a screen.
const ROWS_MAX: usize = 13;

/// The answer, the table, and what to do next.
fn text(calibration: &Calibration, path: &Path) -> String {
    let mut lines = vec![wording::answer(calibration), String::new()];
    let is_known = |estimate: &&Estimate| matches!(estimate.standing, Standing::Determined | Standing::Rough);
    let mut known: Vec<&Estimate> = calibration.estimates.iter().filter(is_known).collect();
    known.sort_by(|a, b| (a.high / a.low).total_cmp(&(b.high / b.low)));
    let combined: Vec<&Estimate> =
        calibration.estimates.iter().filter(|estimate| estimate.standing == Standing::Combined).collect();
    let mut rows = vec![wording::HEAD.map(str::to_owned)];
    rows.extend(known.iter().map(|estimate| wording::row(estimate)));
    // A combination gets a row if any of its parts is not known.
    let says_more = |keys: &[&str]| combined.iter().any(|estimate| keys.contains(&estimate.key));
    rows.extend(
        calibration
            .combinations
            .iter()
            .filter(|combination| says_more(&combination.keys))
            .map(wording::combination_row),
    );
    rows.truncate(ROWS_MAX + 1);
    let table = output::table(&rows, [false, true, false, false]);
    lines.extend(table.into_iter().map(|line| format!("  {line}")));
    lines.push(String::new());
    lines.extend(wording::combined(&combined));
    let unknown: Vec<&Estimate> =
        calibration.estimates.iter().filter(|estimate| estimate.standing == Standing::Undetermined).collect();
    lines.extend(wording::undetermined(&unknown));
    lines.push(wording::file(path, &calibration.base));
    lines.push(wording::try_it(path, &calibration.state));
    lines.into_iter().map(|line| format!("{}\n", line.trim_end())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_there_is_replaced_on_request_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("found.toml");
        let put = |text, replace| write(&path, text, replace).map_err(|failure| failure.message());
        assert_eq!(put("one", false), Ok(()));
        assert!(put("two", false).unwrap_err().contains("exists"));
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "one");
        assert_eq!(put("two", true), Ok(()));
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "two");
    }
}
