//! Writes reports to the terminal and to files. Documents of one procedure are shown side by side,
//! below their comparison; replays are ranked.

use std::io::{ErrorKind, IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::ColorChoice;
use indexmap::IndexMap;
use likenew_archive::{ArchiveError, DriveSignature, SampleReader, sample_files};
use likenew_compare::{ComparedRun, compare};
use likenew_core::drive::Identity;
use likenew_core::findings::{Findings, Row};
use likenew_core::instrument::Instrument;
use likenew_core::io::Sample;
use likenew_core::probe::ProbeResult;
use likenew_core::procedure::{Evidence, Plan};
use likenew_core::shell::{shell_quote, without_sudo};
use likenew_core::target::Clock;
use likenew_core::units::Nanos;
use likenew_history::metrics::Attempt;
use likenew_report::csv::csv;
use likenew_report::document::{COMPARISON, Document, SCHEMA};
use likenew_report::embedded_samples::{EmbeddedSamples, ShownIo};
use likenew_report::html;
use likenew_report::labeled_document::{LabeledDocument, RunSource, label_runs, short_names};
use likenew_report::markdown::markdown;
use likenew_report::run_document::of_run;
use likenew_report::terminal::{Terminal, View, escape_steering, show};
use rustix::io::Errno;
use serde::Serialize;

use crate::arguments::{ArchiveArguments, Output};
use crate::exit::{Exit, Failure, Result};
use crate::factsheet::Factsheet;
use crate::{console, embedding, interrupt, output_file, wording};

/// Evidence, what a procedure concluded from it, and what measured it.
pub(crate) struct RunReport {
    pub(crate) evidence: Evidence,
    pub(crate) findings: Findings,
    pub(crate) instrument: Instrument,
    /// A simulated run has no date.
    pub(crate) source: RunSource,
    /// The folder of the run, if it is kept.
    folder: Option<PathBuf>,
}

impl RunReport {
    /// The report of a run. Commands for root lose their sudo.
    pub(crate) fn new(
        evidence: Evidence,
        mut findings: Findings,
        instrument: Instrument,
        started_at: Option<String>,
        folder: Option<PathBuf>,
    ) -> Self {
        if rustix::process::geteuid().is_root() {
            let actions = findings.answers.iter_mut().flat_map(|answer| &mut answer.actions);
            for command in actions.flat_map(|action| [&mut action.command, &mut action.undo]).flatten() {
                *command = without_sudo(command);
            }
        }
        let started_at = started_at.filter(|_| instrument.clock == Clock::Wall);
        let source = RunSource { started_at, file: None };
        Self { evidence, findings, instrument, source, folder }
    }

    /// Shows a report in all requested forms. The hint for details names the same command.
    pub(crate) fn show_alone(self, output: &Output) -> Result<()> {
        Self::show(vec![self], None, output, same_command(), false)
    }

    /// Shows reports in all requested forms: one alone, or several side by side. Facts with details are a
    /// sheet, with `origins` if asked for. With `list`, JSON is a list that ends with the failed targets.
    pub(crate) fn show(
        reports: Vec<Self>,
        list: Option<&[FailedTarget]>,
        output: &Output,
        details_command: String,
        origins: bool,
    ) -> Result<()> {
        let sheet = match &reports[..] {
            [] => {
                let json = list.zip(output.json.as_deref());
                return json.map_or(Ok(()), |(failed, path)| write_to(path, &json_of(&[], Some(failed))?));
            }
            [report] => report.factsheet(output, origins),
            _ => None,
        };
        let shown = SideBySide::new(reports.into_iter().map(Self::into_member).collect());
        let text = || sheet.unwrap_or_else(|| text(&shown, output, details_command));
        put_all(&shown, &shown.runs(), list, output, text)
    }

    /// The document of this report, with what is needed to show it beside others.
    pub(crate) fn into_member(self) -> Member {
        let Evidence { identity, observations, .. } = &self.evidence;
        let drive = DriveSignature::observed(identity, observations);
        let samples = self.folder.as_deref().map_or_else(Vec::new, sample_files);
        let is_virtual = drive.is_some_and(|drive| drive.is_virtual);
        let Self { evidence, findings, instrument, source, .. } = self;
        Member { document: of_run(evidence, findings, instrument), source, is_virtual, samples }
    }

    /// The sheet of facts, if details of them were asked for. Without details or facts, a run of
    /// `facts` is shown as any other.
    fn factsheet(&self, output: &Output, origins: bool) -> Option<String> {
        let is_of_facts = self.evidence.plan.procedure == "facts";
        if !is_of_facts || !output.details || output.takes_standard_output() {
            return None;
        }
        let facts = self.evidence.observations.iter().rev().find_map(|past| match &past.result {
            ProbeResult::Facts(facts) => Some(facts),
            _ => None,
        })?;
        let width = width().min(Factsheet::WIDTH_MAX);
        Some(Factsheet { facts, findings: &self.findings, width, origins }.to_string())
    }
}

/// A target that could not be measured, as JSON lists it after the documents.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct FailedTarget {
    schema: u32,
    target: FailedName,
    error: String,
    exit_code: u8,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
struct FailedName {
    name: String,
}

impl From<&FailedTarget> for Attempt {
    fn from(failed: &FailedTarget) -> Self {
        Self { target: failed.target.name.clone(), reason: Some(failed.error.clone()) }
    }
}

impl FailedTarget {
    pub(crate) fn new(name: String, error: String, exit: Exit) -> Self {
        Self { schema: SCHEMA, target: FailedName { name }, error, exit_code: exit as u8 }
    }
}

/// Shows documents in all requested forms. The hint for details names the same command.
pub(crate) fn put(documents: &SideBySide, output: &Output) -> Result<()> {
    put_all(documents, &documents.runs(), None, output, || text(documents, output, same_command()))
}

/// Shows how runs differ; only that is written as JSON.
pub(crate) fn put_comparison(documents: &SideBySide, output: &Output) -> Result<()> {
    put_all(documents, &documents.comparisons(), None, output, || text(documents, output, same_command()))
}

/// Writes the files, and shows the text even if that fails: it may have taken hours. With `list`, JSON is a list that
/// ends with these failed targets.
fn put_all(
    documents: &SideBySide,
    json_documents: &[&Document],
    list: Option<&[FailedTarget]>,
    output: &Output,
    text: impl FnOnce() -> String,
) -> Result<()> {
    let written = put_files(documents, json_documents, list, output);
    if !output.takes_standard_output() {
        print(&text())?;
    }
    written?;
    match output.html.as_deref().filter(|path| *path != Path::new("-")) {
        Some(path) if !output.markdown && !output.quiet && !output.takes_standard_output() => {
            print(&wording::page_written(path))
        }
        _ => Ok(()),
    }
}

/// The documents as text, and the ranking of replays.
fn text(documents: &SideBySide, output: &Output, details_command: String) -> String {
    let shown = documents.shown();
    if output.markdown {
        return markdown(shown);
    }
    // anstream drops color if it is not wanted, such as by NO_COLOR.
    let color = match output.color {
        ColorChoice::Always => true,
        ColorChoice::Never => false,
        ColorChoice::Auto => std::io::stdout().is_terminal(),
    };
    let details_command = (output.view() == View::Screen).then_some(details_command);
    let terminal = Terminal { width: width(), color, view: output.view(), details_command };
    let ranking = ranking(shown).filter(|_| !output.quiet);
    show(shown, &terminal) + &ranking.unwrap_or_default()
}

/// The command that shows the details of these runs: of the newest, if they are kept.
pub(crate) fn details_command(archive: &ArchiveArguments, runs: usize) -> String {
    if archive.no_archive {
        return same_command();
    }
    let show = wording::show_newest(runs);
    let folder = archive.folder.archive.as_deref().map_or_else(String::new, |folder| {
        format!(" --archive {}", shell_quote(&folder.display().to_string()))
    });
    wording::with_details(&format!("{show}{folder}"))
}

/// Longest command that is repeated, in columns. Chosen: with its label it fits into 80.
const COMMAND_WIDTH_MAX: usize = 68;

/// The typed command, with --details.
pub(crate) fn same_command() -> String {
    let words = console::typed_words().iter().map(|word| shell_quote(word)).collect::<Vec<_>>().join(" ");
    let command = wording::with_details(&format!("likenew {words}"));
    if command.chars().count() > COMMAND_WIDTH_MAX { wording::SAME_COMMAND.to_owned() } else { command }
}

/// Refuses files that cannot be written, before hours are spent on their content.
///
/// # Errors
/// As for [`output_file::check`].
pub(crate) fn check_files(output: &Output) -> Result<()> {
    [&output.json, &output.html].into_iter().flatten().try_for_each(|path| check_file(path))?;
    output.card.as_ref().map_or(Ok(()), |card| output_file::check(card.path()))?;
    output.csv.as_deref().map_or(Ok(()), output_file::create_folder)
}

/// Refuses a file that cannot be written; `-` is standard output.
///
/// # Errors
/// As for [`check_files`].
pub(crate) fn check_file(path: &Path) -> Result<()> {
    if path == Path::new("-") { Ok(()) } else { output_file::check(path) }
}

/// Writes all files that were asked for.
fn put_files(
    documents: &SideBySide,
    json_documents: &[&Document],
    list: Option<&[FailedTarget]>,
    output: &Output,
) -> Result<()> {
    let mut written = Vec::new();
    if let Some(path) = &output.html {
        let page = html::page(&documents.shown_with_samples()).context(wording::PAGE_FAILED);
        written.push(page.map_err(Failure::from).and_then(|page| write_to(path, &page)));
    }
    if let Some(path) = &output.json {
        written.push(json_of(json_documents, list).and_then(|text| write_to(path, &text)));
    }
    if let Some((card, document)) = output.card.as_ref().zip(documents.shown().first()) {
        written.push(card.write(document));
    }
    if let Some(folder) = &output.csv {
        written.push(output_file::create_folder(folder));
        let tables = csv(documents.shown()).into_iter();
        written.extend(
            tables.map(|(name, text)| output_file::write(&folder.join(format!("{name}.csv")), &text)),
        );
    }
    // One that fails does not stop the others.
    written.into_iter().collect()
}

/// JSON of one document as it is, or of several as a list. With `list`, always a list that ends with the failed targets.
fn json_of(documents: &[&Document], list: Option<&[FailedTarget]>) -> Result<String> {
    let mut texts: Vec<String> = documents
        .iter()
        .map(|document| document.to_json())
        .collect::<Result<_, _>>()
        .context(wording::JSON_FAILED)?;
    let failed = list.unwrap_or_default().iter();
    texts.extend(failed.map(|failed| serde_json::to_string_pretty(failed).expect("these are plain values")));
    Ok(match texts.as_slice() {
        [text] if list.is_none() => text.clone(),
        many => format!("[\n{}]\n", many.join(",\n")),
    })
}

/// Writes to a file, or to standard output for `-`.
pub(crate) fn write_to(path: &Path, text: &str) -> Result<()> {
    if path == Path::new("-") { print(text) } else { output_file::write(path, text) }
}

/// Writes plain values as JSON, to a file or to standard output for `-`.
pub(crate) fn write_json(path: &Path, values: &impl Serialize) -> Result<()> {
    let text = serde_json::to_string_pretty(values).expect("these are plain values");
    write_to(path, &format!("{text}\n"))
}

/// Prints to standard output. A closed reader, such as `head`, is no failure.
pub(crate) fn print(text: &str) -> Result<()> {
    print_to_reader(text).map(drop)
}

/// Prints to standard output; false if its reader has closed it. Names in JSON and TOML cannot steer the terminal.
pub(crate) fn print_to_reader(text: &str) -> Result<bool> {
    let text = escape_steering(text);
    if embedding::keep_output(&text) {
        return Ok(true);
    }
    let mut out = anstream::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(false),
        // A closed terminal asks to stop, and takes nothing more.
        Err(error) if error.raw_os_error() == Some(Errno::IO.raw_os_error()) && interrupt::is_requested() => {
            Ok(false)
        }
        Err(error) => Err(anyhow::Error::new(error).context(wording::PRINT_FAILED).into()),
        Ok(()) => Ok(true),
    }
}

/// Columns of the terminal, or of the variable COLUMNS, or 80.
pub(crate) fn width() -> usize {
    const WITHOUT_TERMINAL: usize = 80;
    let of_environment = || std::env::var("COLUMNS").ok()?.parse().ok().filter(|columns| *columns > 0);
    terminal_size::terminal_size()
        .map(|(width, _)| usize::from(width.0))
        .or_else(of_environment)
        .unwrap_or(WITHOUT_TERMINAL)
}

/// Lines of a table. Columns stand at their left side, or at their right one.
pub(crate) fn table<const N: usize>(rows: &[[String; N]], is_right: [bool; N]) -> Vec<String> {
    let count = |text: &String| text.chars().count();
    let widths: [usize; N] =
        std::array::from_fn(|column| rows.iter().map(|row| count(&row[column])).max().unwrap_or(0));
    let line = |row: &[String; N]| {
        let cells = row.iter().zip(widths).zip(is_right).map(|((cell, width), is_right)| {
            if is_right { format!("{cell:>width$}") } else { format!("{cell:<width$}") }
        });
        cells.collect::<Vec<_>>().join("  ")
    };
    rows.iter().map(line).collect()
}

/// A document to show.
pub(crate) struct Member {
    pub(crate) document: Document,
    pub(crate) source: RunSource,
    /// Whether a hypervisor provides the drive, because runs on it vary more.
    pub(crate) is_virtual: bool,
    /// The files with every I/O of the run.
    pub(crate) samples: Vec<PathBuf>,
}

impl Member {
    /// A document that is not a run of a procedure.
    pub(crate) fn alone(document: Document) -> Self {
        Self { document, source: RunSource::default(), is_virtual: false, samples: Vec::new() }
    }
}

/// Documents in the order in which they are shown, each with the files of its I/Os.
pub(crate) struct SideBySide {
    documents: Vec<LabeledDocument>,
    samples: Vec<Vec<PathBuf>>,
}

impl SideBySide {
    pub(crate) fn new(members: Vec<Member>) -> Self {
        let to_parts =
            |Member { document, source, is_virtual, samples }| ((document, source), (is_virtual, samples));
        let (runs, others): (Vec<_>, Vec<_>) = members.into_iter().map(to_parts).unzip();
        let mut groups: IndexMap<String, Vec<(LabeledDocument, bool, Vec<PathBuf>)>> = IndexMap::new();
        for (labeled, (is_virtual, samples)) in label_runs(runs).into_iter().zip(others) {
            let group = groups.entry(labeled.document.procedure.clone()).or_default();
            group.push((labeled, is_virtual, samples));
        }
        let shown = groups.into_values().flat_map(|group| {
            let comparison = comparison(&group).map(|comparison| (comparison, Vec::new()));
            comparison.into_iter().chain(group.into_iter().map(|(labeled, _, samples)| (labeled, samples)))
        });
        let (documents, samples) = shown.unzip();
        Self { documents, samples }
    }

    pub(crate) fn shown(&self) -> &[LabeledDocument] {
        &self.documents
    }

    /// The documents for a page, with the samples of runs that recorded them. A killed run may have left them unreadable.
    pub(crate) fn shown_with_samples(&self) -> Vec<LabeledDocument> {
        let mut documents = self.documents.clone();
        for (labeled, files) in documents.iter_mut().zip(&self.samples).filter(|(_, files)| !files.is_empty())
        {
            let to_shown = |read: Result<(u32, Sample), ArchiveError>| {
                let (_, sample) = read?;
                Ok(ShownIo { op: sample.op, at: sample.due, latency: sample.latency() })
            };
            let read = || {
                let readers = files.iter().map(|path| SampleReader::open(path));
                Ok::<_, ArchiveError>(
                    readers.collect::<Result<Vec<_>, _>>()?.into_iter().flatten().map(to_shown),
                )
            };
            match EmbeddedSamples::new(read) {
                Ok(samples) => labeled.samples = samples,
                Err(error) => crate::console::note(wording::error(wording::samples_left_out(error))),
            }
        }
        documents
    }

    /// The documents of runs.
    fn runs(&self) -> Vec<&Document> {
        self.documents(|document| document.procedure != COMPARISON)
    }

    /// The documents that compare runs.
    pub(crate) fn comparisons(&self) -> Vec<&Document> {
        self.documents(|document| document.procedure == COMPARISON)
    }

    fn documents(&self, is_meant: fn(&Document) -> bool) -> Vec<&Document> {
        self.documents.iter().map(|labeled| &labeled.document).filter(|document| is_meant(document)).collect()
    }
}

/// How documents of one procedure differ, if there are several and they have a speed in common.
fn comparison(group: &[(LabeledDocument, bool, Vec<PathBuf>)]) -> Option<LabeledDocument> {
    let members: Vec<&LabeledDocument> = group.iter().map(|(labeled, ..)| labeled).collect();
    let labels: Vec<&str> = members.iter().map(|labeled| labeled.label.as_str()).collect();
    let names = short_names(&members, true);
    let runs = group.iter().zip(&names).map(|((labeled, is_virtual, _), name)| {
        let Document { plan, target, tables, .. } = &labeled.document;
        ComparedRun { name, plan, kind: target.kind, is_virtual: *is_virtual, tables }
    });
    let findings = compare(&runs.collect::<Vec<_>>())?;
    let first = &group.first()?.0.document;
    let target = Identity {
        name: labels.join(", "),
        facts: Vec::new(),
        caveats: Vec::new(),
        accounting: None,
        ..first.target.clone()
    };
    let options =
        [("procedure".to_owned(), first.procedure.clone().into()), ("runs".to_owned(), labels.into())];
    let plan = Plan {
        procedure: COMPARISON.to_owned(),
        target: None,
        options: options.into_iter().collect(),
        ..first.plan.clone()
    };
    let document = Document::new(plan, target, findings, first.instrument.clone(), 0, Nanos::ZERO);
    Some(LabeledDocument { label: COMPARISON.to_owned(), document, started_at: None, samples: None })
}

/// The column that decides the rank, and the one beside it.
const WAITING: (&str, &str) = ("waiting_ns", "saved_percent");
const BUSY: (&str, &str) = ("busy_ns", "busy_saved_percent");

/// The ranking, as text; `None` if fewer than two replays can be compared, because they differ in trace or
/// settings.
fn ranking(documents: &[LabeledDocument]) -> Option<String> {
    let replays: Vec<&LabeledDocument> =
        documents.iter().filter(|labeled| labeled.document.procedure == "replay").collect();
    let first = alike(replays.first()?)?;
    if replays.len() < 2 || replays.iter().any(|replay| alike(replay).as_ref() != Some(&first)) {
        return None;
    }
    // At full speed, waiting only shows how deep the queue was.
    let by = if first.mode == "fast" { BUSY } else { WAITING };
    let mut ranked: Vec<(f64, &LabeledDocument)> = replays
        .into_iter()
        .map(|replay| Some((column_mean(replay, by.0)?, replay)))
        .collect::<Option<_>>()?;
    ranked.sort_by(|a, b| a.0.total_cmp(&b.0));
    let width = ranked.iter().map(|(_, replay)| replay.label.chars().count()).max().unwrap_or(0);
    let is_busy = by == BUSY;
    let mut text = wording::ranking_title(is_busy);
    for (place, (value, replay)) in ranked.iter().enumerate() {
        let (label, span) = (format!("{:width$}", replay.label), Nanos(value.round() as u64));
        text += &wording::ranking_line(place + 1, &label, is_busy, span, column_mean(replay, by.1));
    }
    Some(text)
}

/// What must be equal in replays that are ranked.
#[derive(PartialEq)]
struct ComparisonKey {
    digest: String,
    mode: String,
    ios: f64,
}

fn alike(replay: &LabeledDocument) -> Option<ComparisonKey> {
    let options = &replay.document.plan.options;
    let digest = options.get("summary")?.get("digest")?.as_str()?.to_owned();
    let mode = options.get("mode").and_then(|mode| mode.as_str()).unwrap_or("dependent").to_owned();
    Some(ComparisonKey { digest, mode, ios: column_mean(replay, "ios")? })
}

/// The mean of a column over the passes.
fn column_mean(replay: &LabeledDocument, key: &str) -> Option<f64> {
    let rows: &[Row] = replay.document.tables.get("summary")?;
    let values: Vec<f64> = rows.iter().map(|row| row.get(key)?.as_f64()).collect::<Option<_>>()?;
    likenew_stats::summary::mean(&values)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(json: &Path) -> Result<(), String> {
        let output = Output { json: Some(json.to_owned()), ..Output::default() };
        check_files(&output).map_err(|failure| failure.message())
    }

    #[test]
    fn a_report_is_refused_before_the_run_where_it_cannot_be_written() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(check(&folder.path().join("report.json")), Ok(()));
        assert_eq!(check(Path::new("-")), Ok(()));
        assert_eq!(check(Path::new("report.json")), Ok(()), "in the current folder");
        let missing = check(Path::new("no/such/folder.json")).unwrap_err();
        assert_eq!(missing, "likenew: cannot write no/such/folder.json: the folder no/such does not exist");
        assert!(check(folder.path()).unwrap_err().ends_with("it is a folder; give the name of a file"));
    }
}
