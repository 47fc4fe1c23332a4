//! Traces: surveyed before anything is measured, and opened for every workload that replays one.

use likenew_core::input::one_line;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use indicatif::ProgressBar;
use likenew_core::procedure::Plan;
use likenew_core::trace::{ReplaySpec, TraceIo, TraceSource};
use likenew_procedures::replay::{ReplayOptions, TraceSummary};
use likenew_trace::{OpenOptions, Surveyor, Trace, TraceError, open_stream};

use crate::console::note;
use crate::exit::{Failure, Result};
use crate::interrupt::Stoppable;
use crate::progress::spinner;
use crate::{interrupt, wording};

/// I/Os between two updates of the progress line.
const IOS_PER_REDRAW: u64 = 1 << 16;

/// Opens traces for replays, and refuses one that is not the one in the plan any more.
#[derive(Default)]
pub(crate) struct Recordings {
    /// Files that were read to their end, and have the right content.
    checked_files: Vec<(PathBuf, FileStamp, String)>,
}

/// Length and modification time, by which a changed file is noticed.
type FileStamp = (u64, Option<SystemTime>);

impl Recordings {
    /// Opens a trace at its start.
    pub(crate) fn open(&mut self, replay_spec: &ReplaySpec) -> Result<Box<dyn TraceSource>, String> {
        let path = Path::new(&replay_spec.trace);
        let about = std::fs::metadata(path).map_err(|error| wording::trace_unreadable(path, error))?;
        let stamp = (about.len(), about.modified().ok());
        let checked_file = (path.to_owned(), stamp, replay_spec.digest.clone());
        if !self.checked_files.contains(&checked_file) {
            let mut trace_scan = TraceScan::at(open(replay_spec)?);
            while trace_scan.next_io()?.is_some() {}
            let digest = trace_scan.digest();
            if digest != replay_spec.digest {
                return Err(wording::trace_changed(&replay_spec.trace, &digest, &replay_spec.digest));
            }
            self.checked_files.push(checked_file);
        }
        Ok(Box::new(open(replay_spec)?))
    }
}

fn open(replay_spec: &ReplaySpec) -> Result<Trace, String> {
    open_trace(&replay_spec.trace, replay_spec.format.as_deref(), replay_spec.volume.as_deref())
}

fn open_trace(trace: &str, format: Option<&str>, volume: Option<&str>) -> Result<Trace, String> {
    let format = format.map(str::parse).transpose()?;
    let options = OpenOptions { format, volume: volume.map(str::to_owned) };
    let file = likenew_trace::file(Path::new(trace));
    let file = file.map_err(|error| TraceError::File {
        action: "read",
        file: trace.to_owned(),
        error: error.into(),
    });
    let opened = file.and_then(|file| open_stream(trace, Box::new(Stoppable(file)), &options));
    opened.map_err(|error| error.to_string())
}

/// Adds the survey of its trace to a plan of a replay, unless it is there.
pub(crate) fn complete(plan: &mut Plan) -> Result<()> {
    let bad = |error: toml::de::Error| Failure::Usage(wording::replay_options(&one_line(error.message())));
    let mut options: ReplayOptions = plan.options.clone().try_into().map_err(bad)?;
    if options.summary.is_none() {
        options.summary = Some(scan(&options)?);
        plan.options = toml::Table::try_from(&options).expect("options are plain values");
    }
    Ok(())
}

/// Reads a trace to its end, with a progress line.
///
/// # Errors
/// The trace cannot be read, or the user stopped that.
pub(crate) fn scan(options: &ReplayOptions) -> Result<TraceSummary> {
    interrupt::listen()?;
    Failure::reject_if(options.trace == "-", wording::TRACE_FROM_STDIN)?;
    match read(options) {
        Err(_) if interrupt::is_requested() => {
            note(wording::STOPPED_BEFORE_MEASURING);
            Err(Failure::Interrupted)
        }
        Err(reason) => Err(Failure::Usage(reason)),
        Ok(summary) => {
            summary.notes.iter().for_each(|remark| note(wording::trace_note(&options.trace, remark)));
            Ok(summary)
        }
    }
}

fn read(options: &ReplayOptions) -> Result<TraceSummary, String> {
    let trace = open_trace(&options.trace, options.format.as_deref(), options.volume.as_deref());
    let mut trace_scan = TraceScan::at(trace?);
    let mut summary = TraceSummary::read(&mut trace_scan, options.idle_max)?;
    summary.notes = trace_scan.trace.notes();
    summary.digest = trace_scan.digest();
    Ok(summary)
}

/// A survey of a trace.
struct TraceScan {
    trace: Trace,
    surveyor: Surveyor,
    count: u64,
    bar: ProgressBar,
}

impl TraceScan {
    fn at(trace: Trace) -> Self {
        Self { trace, surveyor: Surveyor::default(), count: 0, bar: spinner() }
    }

    fn digest(mut self) -> String {
        let surveyor = std::mem::take(&mut self.surveyor);
        surveyor.finish(self.trace.applications()).digest
    }
}

impl Drop for TraceScan {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

impl TraceSource for TraceScan {
    fn next_io(&mut self) -> Result<Option<TraceIo>, String> {
        let Some(io) = self.trace.next_io()? else { return Ok(None) };
        self.surveyor.put(&io, self.trace.applications());
        self.count += 1;
        if self.count.is_multiple_of(IOS_PER_REDRAW) {
            self.bar.set_message(wording::trace_progress(self.count));
            self.bar.tick();
        }
        Ok(Some(io))
    }

    fn applications(&self) -> &[String] {
        self.trace.applications()
    }

    fn capacity(&self) -> Option<u64> {
        self.trace.capacity()
    }
}
