//! `likenew import`: keeps runs of other machines and results of fio, and shows or converts traces.

pub(super) mod fio;

use std::fs::File;
use std::io::{self, ErrorKind};
use std::os::fd::AsFd as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, anyhow};
use clap::{Args, Subcommand};
use indicatif::{ProgressBar, ProgressStyle};
use likenew_archive::ArchiveError;
use likenew_core::input::InputError;
use likenew_core::quantity::Size;
use likenew_core::trace::{TraceIo, TraceSink, TraceSource as _};
use likenew_core::units::{Nanos, Number};
use likenew_trace::{
    Amount, Format, IologVersion, IologWriter, OpenOptions, Survey, Surveyor, Trace, TraceError, TraceHead,
    TraceWriter, open_stream,
};
use serde::Serialize;

use super::Command;
use crate::arguments::{ArchiveFolder, Output};
use crate::exit::{Exit, Failure, Result};
use crate::interrupt::Stoppable;
use crate::printed::display_name;
use crate::{interrupt, output, wording};

/// Import runs, fio results and traces
#[derive(Debug, Args)]
pub(crate) struct Import {
    #[command(subcommand)]
    from: ImportSource,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ImportSource {
    /// Keep a run that likenew export wrote on another machine
    Run(ImportRun),
    /// Import what fio measured, written with --output-format=json or json+
    Fio(ImportFio),
    /// Show what a trace holds, and convert it to another format
    Trace(ImportTrace),
}

#[derive(Debug, Args)]
pub(crate) struct ImportRun {
    /// The file that likenew export wrote
    file: PathBuf,
    #[command(flatten)]
    folder: ArchiveFolder,
}

#[derive(Debug, Args)]
pub(crate) struct ImportFio {
    /// fio's JSON, or - for standard input
    file: PathBuf,
    /// What was measured, if it is not the file that fio names
    target: Option<String>,
    /// Evaluate it by this plan, if fio ran what --export fio made of the plan
    #[arg(long, value_name = "PLAN.toml")]
    plan: Option<PathBuf>,
    #[command(flatten)]
    folder: ArchiveFolder,
    #[command(flatten)]
    output: Output,
}

#[derive(Debug, Args)]
pub(crate) struct ImportTrace {
    /// The trace, plain or packed with gzip or Zstandard, or - for standard input
    file: PathBuf,
    /// Its format, if it is not recognized
    #[arg(long, value_name = "NAME", help = wording::trace_format_help())]
    format: Option<&'static Format>,
    /// Which volume, if the trace holds several
    #[arg(long, value_name = "ID")]
    volume: Option<String>,
    /// Convert it to a new file: .csv or .csv.zst for likenew, .iolog for fio, .v2.iolog for fio before 3.31
    #[arg(long, value_name = "OUT")]
    to: Option<PathBuf>,
    /// Write what it holds as JSON to FILE, or to standard output with -
    #[arg(long, value_name = "FILE|-")]
    json: Option<PathBuf>,
}

impl Command for Import {
    fn run(self) -> Result<Exit> {
        match &self.from {
            ImportSource::Run(run) => import_run(run),
            ImportSource::Fio(fio) => fio::run(fio),
            ImportSource::Trace(trace) => import_trace(trace),
        }
    }
}

fn import_run(command: &ImportRun) -> Result<Exit> {
    let archive = command.folder.archive()?;
    let folder = likenew_archive::import(&command.file, &archive).map_err(|error| match error {
        ArchiveError::BadBundle { .. } | ArchiveError::KeptAlready(_) => Failure::Usage(error.to_string()),
        error => error.into(),
    })?;
    output::print(&wording::run_imported(&folder))?;
    Ok(Exit::Fine)
}

fn import_trace(command: &ImportTrace) -> Result<Exit> {
    interrupt::listen_saying(Some(wording::STOPPING_WITHOUT_RESULTS))?;
    let bar = ProgressBar::hidden();
    let imported = survey_and_convert(command, &bar);
    bar.finish_and_clear();
    match imported {
        Err(_) if interrupt::is_requested() => Ok(Exit::Interrupted),
        Err(failure) => Err(failure),
        Ok(report) => show(&report, command.json.as_deref()).map(|()| Exit::Fine),
    }
}

fn survey_and_convert(command: &ImportTrace, bar: &ProgressBar) -> Result<ImportReport> {
    let mut trace = open(command, bar)?;
    let out = command.to.as_deref().map(|path| TraceOutput::create(path, &trace)).transpose()?;
    let survey = read_to_end(&mut trace, &display_name(&command.file), out).inspect_err(|_| {
        if let Some(path) = &command.to {
            // The file is incomplete and our own; an error in removing it would only hide the first one.
            let _ = std::fs::remove_file(path);
        }
    })?;
    let head = trace.head().map(TraceHead::pairs).unwrap_or_default();
    Ok(ImportReport {
        file: display_name(&command.file),
        format: trace.format().name,
        compression: trace.compression(),
        volume: trace.volume(),
        head: head.into_iter().map(|(key, value)| (key.to_owned(), value.into())).collect(),
        survey,
        notes: trace.notes(),
        output: command.to.clone(),
    })
}

/// Opens the trace, with a bar that shows how much of the file is read.
fn open(command: &ImportTrace, bar: &ProgressBar) -> Result<Trace> {
    let options = OpenOptions { format: command.format, volume: command.volume.clone() };
    let name = display_name(&command.file);
    let is_stdin = command.file == Path::new("-");
    let file = if is_stdin {
        // Bypasses the buffer of standard input, because waiting for data does not work through it.
        io::stdin().as_fd().try_clone_to_owned().map(File::from).map_err(InputError::from)
    } else {
        likenew_trace::file(&command.file)
    };
    let file = file.map_err(|error| Failure::unreadable(&name, error))?;
    if !is_stdin {
        bar.set_style(ProgressStyle::with_template(wording::SURVEY_PROGRESS).expect("the template is valid"));
        bar.set_length(file.metadata().map_or(0, |metadata| metadata.len()));
        bar.set_draw_target(indicatif::ProgressDrawTarget::stderr());
    }
    open_stream(&name, Box::new(bar.wrap_read(Stoppable(file))), &options).map_err(failure)
}

/// Reads the trace to its end.
fn read_to_end(trace: &mut Trace, file: &str, mut out: Option<TraceOutput>) -> Result<Survey> {
    let mut surveyor = Surveyor::default();
    let mut records = 0u64;
    while let Some(io) = trace.next_io().map_err(Failure::Usage)? {
        surveyor.put(&io, trace.applications());
        if let Some(out) = &mut out {
            out.put(&io, &trace.applications()[usize::from(io.application)])?;
        }
        records += 1;
    }
    if records == 0 {
        return Err(anyhow!(wording::no_io_in_trace(file, trace.other_events())).into());
    }
    if let Some(out) = out {
        out.finish(trace.head())?;
    }
    Ok(surveyor.finish(trace.applications()))
}

fn show(report: &ImportReport, json: Option<&Path>) -> Result<()> {
    if let Some(path) = json {
        output::write_json(path, report)?;
        if path == Path::new("-") {
            return Ok(());
        }
    }
    output::print(&text(report))
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
    /// Creates the file of `--to`; its name gives the format.
    fn create(path: &Path, trace: &Trace) -> Result<Self> {
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

    fn put(&mut self, io: &TraceIo, application: &str) -> Result<()> {
        let put = match &mut self.writer {
            Writer::Own(writer) => writer.put(io, application),
            Writer::Iolog(writer) => writer.put(io, application),
        };
        put.with_context(|| wording::could_not_write(&self.path)).map_err(Failure::Other)
    }

    /// Closes the file. Only now does the trace's header say how many events were lost.
    fn finish(self, head: Option<&TraceHead>) -> Result<()> {
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
        extra: vec![("imported_from".to_owned(), trace.format().name.to_owned())],
        ..TraceHead::default()
    })
}

fn failure(error: TraceError) -> Failure {
    match error {
        TraceError::File { .. } => Failure::Other(error.into()),
        _ => Failure::Usage(error.to_string()),
    }
}

/// Most applications shown; the JSON has more.
const APPLICATIONS: usize = 8;

/// The result of reading and converting a trace, as `--json` prints it.
#[derive(Serialize)]
struct ImportReport {
    file: String,
    format: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    compression: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    volume: Option<String>,
    /// The header of the trace, in the project's own format.
    #[serde(skip_serializing_if = "serde_json::Map::is_empty")]
    head: serde_json::Map<String, serde_json::Value>,
    survey: Survey,
    /// What was skipped or is unknown.
    notes: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    output: Option<PathBuf>,
}

/// The survey as lines.
fn text(report: &ImportReport) -> String {
    let ImportReport { file, format, compression, volume, survey, notes, output, .. } = report;
    let mut lines =
        vec![wording::survey_title(file, survey, format, *compression, volume.as_deref()), String::new()];
    lines.extend(operations(survey));
    lines.push(String::new());
    lines.push(wording::survey_addresses(survey));
    lines.push(wording::survey_latencies(survey));
    lines.push(wording::survey_digest(&survey.digest));
    if survey.applications.iter().any(|share| !share.application.is_empty()) {
        lines.push(String::new());
        lines.extend(applications(survey));
        let more = survey.applications.len().saturating_sub(APPLICATIONS);
        if more > 0 {
            lines.push(wording::survey_more_applications(more));
        }
    }
    lines.extend(notes.iter().map(|note| wording::survey_note(note)));
    lines.extend(output.iter().map(|path| wording::survey_written_to(path)));
    lines.into_iter().map(|line| format!("{}\n", line.trim_end())).collect()
}

fn operations(survey: &Survey) -> Vec<String> {
    let rows =
        [("read", survey.read), ("write", survey.write), ("trim", survey.trim), ("flush", survey.flush)];
    let met = rows.into_iter().filter(|(_, amount)| amount.ios > 0);
    let met = met.map(|(op, Amount { ios, bytes })| {
        [op.to_owned(), Number(ios as f64).to_string(), Size(bytes).to_string()]
    });
    let head = ["op", "I/Os", "amount"].map(str::to_owned);
    output::table(&std::iter::once(head).chain(met).collect::<Vec<_>>(), [false, true, true])
}

fn applications(survey: &Survey) -> Vec<String> {
    let time = |ns: Nanos| if ns == Nanos::ZERO { String::new() } else { ns.to_string() };
    let rows = survey.applications.iter().take(APPLICATIONS).map(|share| {
        let name = if share.application.is_empty() { "(unknown)" } else { &share.application };
        let (ios, amount) = (Number(share.ios as f64).to_string(), Size(share.bytes).to_string());
        [name.to_owned(), ios, amount, time(share.waiting_ns)]
    });
    let head = ["application", "I/Os", "amount", "waited"].map(str::to_owned);
    output::table(&std::iter::once(head).chain(rows).collect::<Vec<_>>(), [false, true, true, true])
}
