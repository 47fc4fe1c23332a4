//! `likenew record TARGET --out FILE`.

mod account;
mod findings;
mod meter;
mod trace_file;
mod wording;

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use likenew_core::answer::Standing;
use likenew_core::findings::standing;
use likenew_core::instrument::Instrument;
use likenew_core::plan::Plan;
use likenew_core::target::Clock;
use likenew_core::units::{Nanos, exact_duration, exact_size};
use likenew_real::clock::wall_date;
use likenew_real::tracefs::{RecordedDrive, Recording, RecordingCounts, kernel};
use likenew_report::document::Document;
use likenew_trace::{TraceError, TraceHead};

use crate::arguments::Record;
use crate::exit::{Exit, Failure};
use crate::{interrupt, output};

use findings::findings;
use meter::Meter;
use trace_file::{TraceFile, TraceResult};

pub(crate) fn run(command: &Record) -> Result<Exit, Failure> {
    output::check_files(&command.output)?;
    let drives = drives(&command.targets)?;
    let paths = paths(&command.out, &drives);
    if let Some(path) = paths.iter().find(|path| path.exists()) {
        return Err(Failure::Refused(wording::exists(path)));
    }
    interrupt::listen()?;
    let mut recording = Recording::start(drives.clone(), command.buffer)?;
    print_leftovers(&recording);
    let mut files = create(&paths, &drives)?;
    for file in &files {
        recording.exclude(file.thread_id());
    }
    print_start(command, &drives, &paths, &recording);
    let stopped = follow(&mut recording, &mut files, command);
    let elapsed = recording.elapsed();
    // Records up to a failure are kept: the files are finished first.
    let ended = match stopped {
        Ok(stopped) => recording.finish(&mut files).map(|counts| (stopped, counts)).map_err(Failure::from),
        Err(failure) => Err(failure),
    };
    let counts = ended.as_ref().map_or_else(|_| RecordingCounts::default(), |(_, counts)| *counts);
    let written = finish(files, &paths, &counts)?;
    let (stopped, counts) = ended?;
    let documents: Vec<Document> = drives
        .iter()
        .zip(&written)
        .map(|(drive, written)| document(command, drive, written, &counts, elapsed))
        .collect();
    let found = documents.iter().any(|document| standing(&document.answers) == Standing::Problem);
    for path in &paths {
        crate::standard_error::note(wording::trace_written(path));
    }
    output::put(documents, &command.output)?;
    Ok(match stopped {
        StopReason::Early => Exit::Interrupted,
        StopReason::Requested if found => Exit::Problem,
        StopReason::Requested => Exit::Fine,
    })
}

/// The drives below all targets, each once.
fn drives(targets: &[String]) -> Result<Vec<RecordedDrive>, Failure> {
    let mut drives: Vec<RecordedDrive> = Vec::new();
    for target in targets {
        if target.starts_with("sim:") || target == "nop:" {
            return Err(Failure::Usage(wording::simulated(target)));
        }
        let path = std::path::absolute(target)
            .map_err(|error| Failure::Usage(wording::not_a_path(target, error)))?;
        for drive in RecordedDrive::drives_of(&path)? {
            if !drives.iter().any(|known| known.name == drive.name) {
                drives.push(drive);
            }
        }
    }
    Ok(drives)
}

/// One file for each drive: if there are several, `day.csv.zst` becomes `day.sda.csv.zst`.
fn paths(out: &Path, drives: &[RecordedDrive]) -> Vec<PathBuf> {
    if drives.len() == 1 {
        return vec![out.to_owned()];
    }
    let name = out.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let (stem, rest) = name
        .split_once('.')
        .map_or((name.as_str(), String::new()), |(stem, rest)| (stem, format!(".{rest}")));
    drives.iter().map(|drive| out.with_file_name(format!("{stem}.{}{rest}", drive.name))).collect()
}

fn create(paths: &[PathBuf], drives: &[RecordedDrive]) -> Result<Vec<TraceFile>, Failure> {
    let folder =
        |path: &Path| path.parent().filter(|parent| !parent.as_os_str().is_empty()).map(Path::to_owned);
    let mut files = Vec::new();
    for (path, drive) in paths.iter().zip(drives) {
        // A folder without a drive, such as one in memory, shares none.
        let below =
            RecordedDrive::drives_of(&folder(path).unwrap_or_else(|| PathBuf::from("."))).unwrap_or_default();
        let on_recorded = below.iter().any(|below| drives.iter().any(|drive| drive.shares_disk_with(below)));
        if on_recorded {
            crate::standard_error::note(wording::TRACE_ON_RECORDED_DRIVE);
        }
        let file = TraceFile::create(path, &head(drive), on_recorded);
        files.push(file.map_err(|error| could_not_write(path, error))?);
    }
    Ok(files)
}

fn could_not_write(path: &Path, error: TraceError) -> Failure {
    anyhow::Error::new(error).context(wording::could_not_begin(path)).into()
}

fn head(drive: &RecordedDrive) -> TraceHead {
    TraceHead {
        name: Some(drive.name.clone()),
        model: drive.identity.model.clone(),
        capacity: Some(drive.identity.capacity_bytes).filter(|bytes| *bytes > 0),
        block: Some(drive.identity.block_bytes),
        clock: Some("mono".into()),
        recorded: Some(wall_date()),
        kernel: kernel(),
        ..TraceHead::default()
    }
}

fn print_leftovers(recording: &Recording) {
    for name in recording.leftovers() {
        crate::standard_error::note(wording::leftover_removed(name));
    }
}

fn print_start(command: &Record, drives: &[RecordedDrive], paths: &[PathBuf], recording: &Recording) {
    for (drive, path) in drives.iter().zip(paths) {
        crate::standard_error::note(wording::started(&drive.name, path, command.time, command.bytes));
    }
    crate::standard_error::note(wording::buffers(recording.buffer_bytes()));
}

/// Why a recording ended.
#[derive(Clone, Copy, PartialEq, Eq)]
enum StopReason {
    /// At its limit, or by Ctrl-C if there was no limit.
    Requested,
    /// By Ctrl-C before its limit.
    Early,
}

fn follow(
    recording: &mut Recording,
    files: &mut [TraceFile],
    command: &Record,
) -> Result<StopReason, Failure> {
    let mut meter = Meter::new();
    let is_bound = command.time.is_some() || command.bytes.is_some();
    loop {
        recording.rest();
        recording.turn(files)?;
        for file in &mut *files {
            file.hand_over().context(wording::COULD_NOT_WRITE)?;
        }
        let elapsed = recording.elapsed();
        let moved = files.iter().map(TraceFile::bytes_moved).sum();
        meter.show(elapsed, recording, files)?;
        let is_over = |bound: Option<u64>, value: u64| bound.is_some_and(|bound| value >= bound);
        if is_over(command.time.map(|time| time.0), elapsed.0) || is_over(command.bytes, moved) {
            return Ok(StopReason::Requested);
        }
        if interrupt::is_requested() {
            return Ok(if is_bound { StopReason::Early } else { StopReason::Requested });
        }
    }
}

fn finish(
    files: Vec<TraceFile>,
    paths: &[PathBuf],
    counts: &RecordingCounts,
) -> Result<Vec<TraceResult>, Failure> {
    let notes = || {
        let own_ios = (counts.ios.own_ios > 0).then(|| ("own_ios_left_out", counts.ios.own_ios.to_string()));
        [("lost_events", counts.events_lost.to_string())].into_iter().chain(own_ios).collect()
    };
    let written = files
        .into_iter()
        .zip(paths)
        .map(|(file, path)| Ok(file.finish(notes()).with_context(|| wording::could_not_finish(path))?));
    // All files are finished, even if one fails.
    written.collect::<Vec<Result<TraceResult, Failure>>>().into_iter().collect()
}

/// The same command with a buffer that loses less.
fn with_larger_buffer(command: &Record) -> String {
    /// Four times the default of one processor.
    const BUFFER_BYTES: u64 = 64 << 20;
    let buffer = command.buffer.map_or(BUFFER_BYTES, |bytes| bytes.saturating_mul(4));
    wording::record_with_buffer(&command.targets, buffer, command.time)
}

fn document(
    command: &Record,
    drive: &RecordedDrive,
    written: &TraceResult,
    counts: &RecordingCounts,
    elapsed: Nanos,
) -> Document {
    let settings = [
        ("out", Some(command.out.display().to_string())),
        ("time", command.time.map(exact_duration)),
        ("bytes", command.bytes.map(exact_size)),
        ("buffer", command.buffer.map(exact_size)),
    ];
    let settings =
        settings.into_iter().filter_map(|(key, value)| Some((key.to_owned(), toml::Value::from(value?))));
    let plan = Plan::new("record", Some(drive.identity.name.clone()), 0, settings.collect());
    let version = env!("CARGO_PKG_VERSION").to_owned();
    let instrument =
        Instrument { version, clock: Clock::Wall, engine: drive.identity.engine.clone(), calibration: None };
    let findings = findings(&drive.name, written, counts, elapsed, with_larger_buffer(command));
    Document::new(plan, drive.identity.clone(), findings, instrument, counts.ios.own_bytes, elapsed)
}
