//! `likenew record`: records the I/O of all programs on drives as traces.

mod findings;
mod trace_file;
mod wording;

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::Args;
use findings::findings;
use indicatif::ProgressBar;
use likenew_core::findings::{Standing, standing};
use likenew_core::procedure::Plan;
use likenew_core::target_error::TargetError;
use likenew_core::units::{Nanos, exact_duration, exact_size, parse_duration, parse_size};
use likenew_real::clock::wall_date;
use likenew_real::tracefs::{RecordedDrive, Recording, RecordingCounts};
use likenew_report::document::Document;
use likenew_trace::TraceHead;
use trace_file::{TraceFile, TraceResult};

use super::{Command, uncalibrated};
use crate::arguments::{Output, RUN, typed_target};
use crate::console::note;
use crate::exit::{Exit, Failure, Result};
use crate::output::{Member, SideBySide};
use crate::progress::spinner;
use crate::wording::not_a_path;
use crate::{interrupt, output, output_file};

/// Record the I/O of all programs as a trace
#[derive(Debug, Args)]
pub(crate) struct Record {
    /// Block devices or partitions; a folder stands for the drives below it
    #[arg(required = true, value_parser = typed_target, value_name = "TARGET")]
    targets: Vec<String>,
    /// The trace to write; .zst compresses it; several drives: one file each, with the drive's name added
    #[arg(long, value_name = "FILE", help_heading = RUN)]
    out: PathBuf,
    /// Stop after this time, such as 8h [default: Ctrl-C]
    #[arg(long, visible_alias = "runtime", value_parser = parse_duration, value_name = "TIME", help_heading = RUN)]
    time: Option<Nanos>,
    /// Stop after this many bytes were read and written
    #[arg(long, value_parser = parse_size, value_name = "SIZE", help_heading = RUN)]
    bytes: Option<u64>,
    /// The kernel's trace buffer [default: 16MiB per processor, less where memory is scarce]
    #[arg(long, value_parser = parse_size, value_name = "SIZE", help_heading = RUN)]
    buffer: Option<u64>,
    #[command(flatten)]
    output: Output,
}

impl Command for Record {
    fn run(self) -> Result<Exit> {
        output::check_files(&self.output)?;
        let drives = drives(&self.targets)?;
        let paths = paths(&self.out, &drives);
        if let Some(path) = paths.iter().find(|path| path.exists()) {
            return Err(Failure::Refused(wording::exists(path)));
        }
        interrupt::listen()?;
        let mut recording = Recording::start(drives.clone(), self.buffer)?;
        for name in recording.leftovers() {
            note(wording::leftover_removed(name));
        }
        let mut files = create(&paths, &drives)?;
        for file in &files {
            recording.exclude(file.thread_id);
        }
        for (drive, path) in drives.iter().zip(&paths) {
            note(wording::started(&drive.name, path, self.time, self.bytes));
        }
        note(wording::buffers(recording.buffer_bytes()));
        let stopped = follow(&mut recording, &mut files, &self);
        let elapsed = recording.elapsed();
        // The files are finished even after a failure, so that the records up to it are kept.
        let ended = stopped.and_then(|stopped| Ok((stopped, recording.finish(&mut files)?)));
        let counts = ended.as_ref().map_or_else(|_| RecordingCounts::default(), |(_, counts)| *counts);
        let written = finish(files, &paths, &counts)?;
        let (stopped, counts) = ended?;
        let drives_written = drives.iter().zip(&written);
        let documents: Vec<Document> = drives_written
            .map(|(drive, written)| document(&self, drive, written, &counts, elapsed))
            .collect();
        let has_problem = documents.iter().any(|document| standing(&document.answers) == Standing::Problem);
        for path in &paths {
            note(wording::trace_written(path));
        }
        output::put(&SideBySide::new(documents.into_iter().map(Member::alone).collect()), &self.output)?;
        Ok(match stopped {
            StopReason::Early => Exit::Interrupted,
            StopReason::Requested if has_problem => Exit::Problem,
            StopReason::Requested => Exit::Fine,
        })
    }
}

/// The drives below all targets, each once.
fn drives(targets: &[String]) -> Result<Vec<RecordedDrive>> {
    let mut drives: Vec<RecordedDrive> = Vec::new();
    for target in targets {
        Failure::reject_if(target.starts_with("sim:") || target == "nop:", wording::simulated(target))?;
        let path = std::path::absolute(target).map_err(|error| Failure::Usage(not_a_path(target, error)))?;
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
    let (stem, suffix) = name
        .split_once('.')
        .map_or((name.as_str(), String::new()), |(stem, suffix)| (stem, format!(".{suffix}")));
    drives.iter().map(|drive| out.with_file_name(format!("{stem}.{}{suffix}", drive.name))).collect()
}

fn create(paths: &[PathBuf], drives: &[RecordedDrive]) -> Result<Vec<TraceFile>> {
    let mut files = Vec::new();
    for (path, drive) in paths.iter().zip(drives) {
        // A folder without a drive, such as one in memory, is on no recorded drive.
        let below = RecordedDrive::drives_of(output_file::folder_of(path)).unwrap_or_default();
        let on_recorded = below.iter().any(|below| drives.iter().any(|drive| drive.shares_disk_with(below)));
        if on_recorded {
            note(wording::TRACE_ON_RECORDED_DRIVE);
        }
        let file = TraceFile::create(path, &head(drive), on_recorded);
        files.push(file.with_context(|| wording::could_not_begin(path))?);
    }
    Ok(files)
}

fn head(drive: &RecordedDrive) -> TraceHead {
    TraceHead {
        name: Some(drive.name.clone()),
        model: drive.identity.model.clone(),
        capacity: Some(drive.identity.capacity_bytes).filter(|bytes| *bytes > 0),
        block: Some(drive.identity.block_bytes),
        clock: Some("mono".into()),
        recorded: Some(wall_date()),
        kernel: likenew_real::host::kernel(),
        ..TraceHead::default()
    }
}

/// Why a recording ended.
#[derive(Clone, Copy, PartialEq, Eq)]
enum StopReason {
    /// At its limit, or by Ctrl-C if there was no limit.
    Requested,
    /// By Ctrl-C before its limit.
    Early,
}

fn follow(recording: &mut Recording, files: &mut [TraceFile], command: &Record) -> Result<StopReason> {
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

fn finish(files: Vec<TraceFile>, paths: &[PathBuf], counts: &RecordingCounts) -> Result<Vec<TraceResult>> {
    let notes = || {
        let own_ios = (counts.ios.own_ios > 0).then(|| ("own_ios_left_out", counts.ios.own_ios.to_string()));
        [("lost_events", counts.events_lost.to_string())].into_iter().chain(own_ios).collect()
    };
    let written = files
        .into_iter()
        .zip(paths)
        .map(|(file, path)| Ok(file.finish(notes()).with_context(|| wording::could_not_finish(path))?));
    // All files are finished, even if one fails.
    written.collect::<Vec<Result<TraceResult>>>().into_iter().collect()
}

/// A buffer that loses less, in bytes: four times the default of one processor.
const LARGER_BUFFER: u64 = 64 << 20;

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
    let instrument = uncalibrated(drive.identity.engine.clone(), likenew_real::host::system());
    let buffer = command.buffer.map_or(LARGER_BUFFER, |bytes| bytes.saturating_mul(4));
    let again = wording::record_with_buffer(&command.targets, buffer, command.time);
    let findings = findings(&drive.name, written, counts, elapsed, again);
    Document::new(plan, drive.identity.clone(), findings, instrument, counts.ios.own_bytes, elapsed)
}

/// The progress line, drawn on standard error if that is a terminal.
struct Meter {
    line: ProgressBar,
    last_draw: Nanos,
    moved: u64,
}

/// Time between updates: asking the kernel for its losses costs a little. Chosen: a second is often enough.
const METER_REFRESH: Nanos = Nanos::from_secs(1);

impl Meter {
    fn new() -> Self {
        Self { line: spinner(), last_draw: Nanos::ZERO, moved: 0 }
    }

    /// Shows I/Os, speed since the last update, losses, and the size of the trace.
    fn show(&mut self, now: Nanos, recording: &Recording, files: &[TraceFile]) -> Result<(), TargetError> {
        let span = now.since(self.last_draw);
        if span < METER_REFRESH || self.line.is_hidden() {
            return Ok(());
        }
        let counts = recording.counts()?;
        let moved: u64 = files.iter().map(TraceFile::bytes_moved).sum();
        let speed = (moved - self.moved) as f64 / span.as_secs_f64();
        let size: u64 = files.iter().map(TraceFile::bytes).sum();
        self.line.set_message(wording::meter(counts.ios.ios, speed, counts.events_lost, size));
        self.line.tick();
        (self.last_draw, self.moved) = (now, moved);
        Ok(())
    }
}

impl Drop for Meter {
    fn drop(&mut self) {
        self.line.finish_and_clear();
    }
}
