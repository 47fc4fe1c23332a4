//! `likenew import trace FILE`: shows the content of a trace, and converts it.

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, anyhow};
use indicatif::{ProgressBar, ProgressStyle};
use likenew_core::trace::{TraceIo, TraceSink, TraceSource as _};
use likenew_trace::{
    IologVersion, IologWriter, OpenOptions, Survey, Surveyor, Trace, TraceError, TraceHead, TraceWriter,
    open_stream,
};

use super::display_name;
use super::survey_text::{self, ImportReport};
use super::wording as trace_wording;
use crate::arguments::ImportTrace;
use crate::exit::{Exit, Failure};
use crate::{interrupt, output, wording};

/// Checks for Ctrl-C every so many records.
const INTERRUPT_CHECK_RECORDS: u64 = 1 << 16;

pub(super) fn run(command: &ImportTrace) -> Result<Exit, Failure> {
    interrupt::listen_saying(Some(wording::STOPPING_WITHOUT_RESULTS))?;
    let bar = ProgressBar::hidden();
    let mut trace = open(command, &bar)?;
    let out = command.to.as_deref().map(|path| TraceOutput::create(path, &trace)).transpose()?;
    let survey = match read_to_end(&mut trace, &display_name(&command.file), out) {
        Ok(Some(survey)) => survey,
        stopped => {
            bar.finish_and_clear();
            if let Some(path) = &command.to {
                // An incomplete file of this process; an error in removing it would only hide the first one.
                let _ = std::fs::remove_file(path);
            }
            return stopped.map(|_| Exit::Interrupted);
        }
    };
    bar.finish_and_clear();
    let head = trace.head().map(TraceHead::pairs).unwrap_or_default();
    let report = ImportReport {
        file: display_name(&command.file),
        format: trace.format().name(),
        compression: trace.compression(),
        volume: trace.volume(),
        head: head.into_iter().map(|(key, value)| (key.to_owned(), value.into())).collect(),
        survey,
        notes: trace.notes(),
        output: command.to.clone(),
    };
    show(&report, command.json.as_deref())?;
    Ok(Exit::Fine)
}

/// Opens the trace, with a bar that shows how much of the file is read.
fn open(command: &ImportTrace, bar: &ProgressBar) -> Result<Trace, Failure> {
    let options = OpenOptions { format: command.format, volume: command.volume.clone() };
    let name = display_name(&command.file);
    let stream: Box<dyn io::Read + Send> = if command.file == Path::new("-") {
        Box::new(io::stdin())
    } else {
        let file = likenew_trace::file(&command.file).map_err(|error| Failure::unreadable(&name, error))?;
        bar.set_style(ProgressStyle::with_template(trace_wording::PROGRESS).expect("the template is valid"));
        bar.set_length(file.metadata().map_or(0, |metadata| metadata.len()));
        bar.set_draw_target(indicatif::ProgressDrawTarget::stderr());
        Box::new(bar.wrap_read(file))
    };
    open_stream(&name, stream, &options).map_err(|error| {
        bar.finish_and_clear();
        failure(error)
    })
}

/// Reads the trace to its end; `None` if the user stopped it.
fn read_to_end(
    trace: &mut Trace,
    file: &str,
    mut out: Option<TraceOutput>,
) -> Result<Option<Survey>, Failure> {
    let mut surveyor = Surveyor::default();
    let mut records = 0u64;
    while let Some(io) = trace.next_io().map_err(Failure::Usage)? {
        surveyor.put(&io, trace.applications());
        if let Some(out) = &mut out {
            out.put(&io, &trace.applications()[usize::from(io.application)])?;
        }
        records += 1;
        if records.is_multiple_of(INTERRUPT_CHECK_RECORDS) && interrupt::is_requested() {
            return Ok(None);
        }
    }
    if records == 0 {
        return Err(anyhow!(wording::no_io_in_trace(file, trace.other_events())).into());
    }
    if let Some(out) = out {
        out.finish(trace.head())?;
    }
    Ok(Some(surveyor.finish(trace.applications())))
}

fn show(report: &ImportReport, json: Option<&Path>) -> Result<(), Failure> {
    if let Some(path) = json {
        let text = serde_json::to_string_pretty(report).expect("a survey is plain values");
        output::write_to(path, &format!("{text}\n"))?;
        if path == Path::new("-") {
            return Ok(());
        }
    }
    output::print(&survey_text::text(report))
}

/// Writes the converted trace.
struct TraceOutput {
    path: PathBuf,
    writer: Writer,
}

enum Writer {
    Own(TraceWriter),
    Iolog(IologWriter),
}

impl TraceOutput {
    /// Creates the file of `--to`, whose name gives the format.
    fn create(path: &Path, trace: &Trace) -> Result<Self, Failure> {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let ends = |ending: &str| name.ends_with(ending);
        let writer = if ends(".csv") || ends(".csv.zst") {
            TraceWriter::create(path, &head(trace)).map(Writer::Own)
        } else if ends(".v2.iolog") {
            IologWriter::create(path, IologVersion::Two).map(Writer::Iolog)
        } else if ends(".iolog") {
            IologWriter::create(path, IologVersion::Three).map(Writer::Iolog)
        } else {
            return Err(Failure::Usage(wording::unknown_trace_ending(path)));
        };
        let writer = writer.map_err(|error| match error {
            TraceError::File { file, error, .. } if error.kind() == ErrorKind::AlreadyExists => {
                Failure::Refused(wording::file_exists(file))
            }
            error => Failure::Other(error.into()),
        });
        Ok(Self { path: path.to_owned(), writer: writer? })
    }

    fn put(&mut self, io: &TraceIo, application: &str) -> Result<(), Failure> {
        let put = match &mut self.writer {
            Writer::Own(writer) => writer.put(io, application),
            Writer::Iolog(writer) => writer.put(io, application),
        };
        put.with_context(|| wording::could_not_write(&self.path)).map_err(Failure::Other)
    }

    /// Closes the file; the header of the trace is complete by now.
    fn finish(self, head: Option<&TraceHead>) -> Result<(), Failure> {
        let finished = match self.writer {
            Writer::Own(mut writer) => {
                if let Some(lost) = head.and_then(|head| head.lost_events) {
                    writer.note("lost_events", &lost.to_string());
                }
                writer.finish()
            }
            Writer::Iolog(writer) => writer.finish(),
        };
        finished.with_context(|| wording::could_not_write(&self.path))?;
        Ok(())
    }
}

/// The header of a trace, or its source if it has none.
fn head(trace: &Trace) -> TraceHead {
    trace.head().cloned().unwrap_or_else(|| TraceHead {
        name: trace.volume(),
        extra: vec![("imported_from".to_owned(), trace.format().name().to_owned())],
        ..TraceHead::default()
    })
}

fn failure(error: TraceError) -> Failure {
    match error {
        TraceError::File { .. } => Failure::Other(error.into()),
        _ => Failure::Usage(error.to_string()),
    }
}
