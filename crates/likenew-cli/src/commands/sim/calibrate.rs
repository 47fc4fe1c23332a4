//! `likenew sim calibrate RUN…`: a simulated drive from kept runs of a real one.

mod base;
mod screen;

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use likenew_archive::Archive;
use likenew_calibration::{Calibration, CalibrationError, MeasuredRun, Observer, Options, calibrate};
use serde::Serialize;

use crate::arguments::SimCalibrate;
use crate::exit::{Exit, Failure};
use crate::measure::archive_root;
use crate::progress::Progress;
use crate::wording::calibrate as wording;
use crate::{interrupt, kept_run, output, output_file, watch_session};

/// Runs from which on the last is held out unless the user says otherwise: two are left to fit.
const HELD_OUT_FROM: usize = 3;
/// Candidates that are simulated at once, at most: each of them is a whole drive in memory.
const THREADS_MAX: usize = 2;

pub(crate) fn run(command: &SimCalibrate) -> Result<Exit, Failure> {
    let archive = Archive::new(archive_root(command.archive.as_deref())?);
    let (mut runs, mut held_out) =
        (open_all(&archive, &command.runs)?, open_all(&archive, &command.held_out)?);
    check_same_drive(runs.iter().chain(&held_out))?;
    if command.held_out.is_empty() && runs.len() >= HELD_OUT_FROM {
        held_out.extend(runs.pop());
    }
    if let Some(path) = &command.output {
        check(path, command.replace)?;
    }
    command.json.as_deref().map_or(Ok(()), output::check_file)?;
    interrupt::listen_saying(Some(crate::wording::STOPPING_WITHOUT_RESULTS))?;
    let options = Options {
        candidates: command.candidates as usize,
        threads: std::thread::available_parallelism().map_or(1, usize::from).min(THREADS_MAX),
        ..Options::default()
    };
    let bar = Bar(Mutex::new(Progress::new()));
    let calibration = base::choose(command, &runs, &options, &bar).and_then(|base| {
        bar.begin(wording::FITTING);
        calibrate(&base, &runs, &held_out, &options, &bar).map_err(failure)
    });
    bar.finish();
    let calibration = match calibration {
        Err(_) if interrupt::is_requested() => {
            crate::standard_error::note(wording::STOPPED);
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

/// What the calibration found, and where its drive is.
#[derive(Serialize)]
struct Report<'a> {
    file: &'a Path,
    #[serde(flatten)]
    calibration: &'a Calibration,
}

fn report(command: &SimCalibrate, calibration: &Calibration, path: &Path) -> Result<(), Failure> {
    if let Some(json) = &command.json {
        let report = Report { file: path, calibration };
        let text = serde_json::to_string_pretty(&report).expect("a calibration is plain values");
        output::write_to(json, &format!("{text}\n"))?;
        if json == Path::new("-") {
            return Ok(());
        }
    }
    output::print(&screen::text(calibration, path))
}

fn open_all(archive: &Archive, named: &[PathBuf]) -> Result<Vec<MeasuredRun>, Failure> {
    named.iter().map(|named| open(archive, named)).collect()
}

fn open(archive: &Archive, named: &Path) -> Result<MeasuredRun, Failure> {
    let path = kept_run::folder(archive, named);
    let mut record = kept_run::open(&path)?;
    if watch_session::is_log(&record) {
        return Err(Failure::Usage(crate::wording::watch_log_has_no_speeds(path.display())));
    }
    let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
    Ok(MeasuredRun { name, evidence: record.take_evidence() })
}

/// Runs of different models cannot be one drive's.
fn check_same_drive<'a>(mut runs: impl Iterator<Item = &'a MeasuredRun>) -> Result<(), Failure> {
    let Some(first) = runs.next() else { return Ok(()) };
    let model = |run: &MeasuredRun| run.evidence.identity.model.clone();
    let differs = |run: &&MeasuredRun| model(first).zip(model(run)).is_some_and(|(a, b)| a != b);
    match runs.find(differs) {
        Some(other) => Err(Failure::Usage(wording::other_drive(first, other))),
        None => Ok(()),
    }
}

fn failure(error: CalibrationError) -> Failure {
    Failure::Usage(error.to_string())
}

fn check(path: &Path, replace: bool) -> Result<(), Failure> {
    output_file::check(path)?;
    if !replace && path.symlink_metadata().is_ok() {
        return Err(Failure::Refused(wording::file_exists(path)));
    }
    Ok(())
}

fn write(path: &Path, text: &str, replace: bool) -> Result<(), Failure> {
    check(path, replace)?;
    output_file::write(path, text)
}

/// The progress bar, moved by all threads.
struct Bar(Mutex<Progress>);

impl Bar {
    fn begin(&self, name: &str) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).on_begin(name);
    }

    fn finish(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).finish();
    }
}

impl Observer for Bar {
    fn on_progress(&self, done: usize, planned: usize) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).set_share(done, planned);
    }

    fn stop_requested(&self) -> bool {
        interrupt::is_requested()
    }
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
