//! Writes reports to the terminal and to files. Documents of one procedure are shown side by side,
//! below their comparison; replays are ranked.

use std::io::{ErrorKind, IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::ColorChoice;
use indexmap::IndexMap;
use likenew_archive::{ArchiveError, SampleReader};
use likenew_compare::{ComparedRun, compare};
use likenew_core::drive::Identity;
use likenew_core::findings::Row;
use likenew_core::io::Sample;
use likenew_core::procedure::Plan;
use likenew_core::shell::shell_quote;
use likenew_core::units::Nanos;
use likenew_history::metrics::Attempt;
use likenew_report::csv::csv;
use likenew_report::document::{COMPARISON, Document, SCHEMA};
use likenew_report::embedded_samples::{EmbeddedSamples, ShownIo};
use likenew_report::html;
use likenew_report::labeled_document::{LabeledDocument, RunSource, label_runs, short_names};
use likenew_report::markdown::markdown;
use likenew_report::terminal::{Terminal, View, escape_steering, show};
use rustix::io::Errno;
use serde::Serialize;

use crate::arguments::{ArchiveArguments, Output};
use crate::exit::{Exit, Result};
use crate::{console, embedding, interrupt, output_file, wording};

/// Shows one or several documents in all requested forms. The hint for details names the same command.
pub(crate) fn put(documents: Vec<Document>, output: &Output) -> Result<()> {
    let members = documents.into_iter().map(Member::alone);
    put_with(&SideBySide::new(members.collect()), None, output, &same_command())
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

/// Writes the JSON if no target could be measured.
pub(crate) fn write_failed(failed: &[FailedTarget], output: &Output) -> Result<()> {
    match &output.json {
        Some(path) => write_to(path, &json(&[], Some(failed))?),
        None => Ok(()),
    }
}

/// Like [`put`], with another command for details. With `list`, JSON is a list that ends with these failed targets.
pub(crate) fn put_with(
    documents: &SideBySide,
    list: Option<&[FailedTarget]>,
    output: &Output,
    details_command: &str,
) -> Result<()> {
    put_all(documents, &documents.runs(), list, output, details_command)
}

/// Shows how runs differ; only that is written as JSON.
pub(crate) fn put_comparison(documents: &SideBySide, output: &Output) -> Result<()> {
    put_all(documents, &documents.comparisons(), None, output, &same_command())
}

/// Writes the files, and shows the documents even if that fails: they may have taken hours.
fn put_all(
    documents: &SideBySide,
    json_documents: &[&Document],
    list: Option<&[FailedTarget]>,
    output: &Output,
    details_command: &str,
) -> Result<()> {
    let written = put_files(documents, json_documents, list, output);
    if !output.takes_standard_output() {
        show_all(documents.shown(), output, details_command)?;
    }
    written?;
    if output.markdown || output.takes_standard_output() { Ok(()) } else { print_page(output) }
}

fn show_all(documents: &[LabeledDocument], output: &Output, details_command: &str) -> Result<()> {
    let text = if output.markdown {
        markdown(documents)
    } else {
        show(documents, &terminal(output, details_command))
    };
    print(&text)?;
    let ranking = ranking(documents).filter(|_| !output.quiet && !output.markdown);
    ranking.map_or(Ok(()), |ranking| print(&ranking))
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

/// Writes the files of documents that were already shown.
pub(crate) fn write_beside(documents: &SideBySide, output: &Output) -> Result<()> {
    put_files(documents, &documents.runs(), None, output)?;
    print_page(output)
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
        written.push(page(&documents.shown_with_samples()).and_then(|page| write_to(path, &page)));
    }
    if let Some(path) = &output.json {
        written.push(json(json_documents, list).and_then(|text| write_to(path, &text)));
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

fn print_page(output: &Output) -> Result<()> {
    let Some(path) = output.html.as_deref().filter(|path| *path != Path::new("-")) else { return Ok(()) };
    if output.quiet {
        return Ok(());
    }
    print(&wording::page_written(path))
}

/// JSON of one document as it is, or of several as a list. With `list`, always a list that ends with the failed targets.
fn json(documents: &[&Document], list: Option<&[FailedTarget]>) -> Result<String> {
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

fn page(documents: &[LabeledDocument]) -> Result<String> {
    Ok(html::page(documents).context(wording::PAGE_FAILED)?)
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

fn terminal(output: &Output, details_command: &str) -> Terminal {
    // anstream drops color if it is not wanted, such as by NO_COLOR.
    let color = match output.color {
        ColorChoice::Always => true,
        ColorChoice::Never => false,
        ColorChoice::Auto => std::io::stdout().is_terminal(),
    };
    let details_command = (output.view() == View::Screen).then(|| details_command.to_owned());
    Terminal { width: width(), color, view: output.view(), details_command }
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
        let (mut runs, mut others) = (Vec::new(), Vec::new());
        for Member { document, source, is_virtual, samples } in members {
            runs.push((document, source));
            others.push((is_virtual, samples));
        }
        let mut groups: IndexMap<String, Vec<(LabeledDocument, bool, Vec<PathBuf>)>> = IndexMap::new();
        for (labeled, (is_virtual, samples)) in label_runs(runs).into_iter().zip(others) {
            let group = groups.entry(labeled.document.procedure.clone()).or_default();
            group.push((labeled, is_virtual, samples));
        }
        let shown = groups.into_values().flat_map(|group| {
            let members: Vec<(&LabeledDocument, bool)> =
                group.iter().map(|(labeled, is_virtual, _)| (labeled, *is_virtual)).collect();
            let comparison = comparison(&members).map(|comparison| (comparison, Vec::new()));
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
    pub(crate) fn runs(&self) -> Vec<&Document> {
        self.documents().filter(|document| !is_comparison(document)).collect()
    }

    /// The documents that compare runs.
    pub(crate) fn comparisons(&self) -> Vec<&Document> {
        self.documents().filter(|document| is_comparison(document)).collect()
    }

    fn documents(&self) -> impl Iterator<Item = &Document> {
        self.documents.iter().map(|labeled| &labeled.document)
    }
}

fn is_comparison(document: &Document) -> bool {
    document.procedure == COMPARISON
}

/// How documents of one procedure differ, if there are several and they have a speed in common.
fn comparison(group: &[(&LabeledDocument, bool)]) -> Option<LabeledDocument> {
    let members: Vec<&LabeledDocument> = group.iter().map(|(labeled, _)| *labeled).collect();
    let labels: Vec<&str> = members.iter().map(|labeled| labeled.label.as_str()).collect();
    let names = short_names(&members, true);
    let runs = group.iter().zip(&names).map(|((labeled, is_virtual), name)| {
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
        let label = format!("{:width$}", replay.label);
        text += &wording::ranking_line(place + 1, &label, is_busy, span(*value), column_mean(replay, by.1));
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

fn span(ns: f64) -> Nanos {
    Nanos(ns.round() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(json: &Path) -> Result<(), String> {
        let output = Output {
            details: false,
            quiet: false,
            markdown: false,
            csv: None,
            card: None,
            html: None,
            json: Some(json.to_owned()),
            color: ColorChoice::Never,
            log_has_standard_output: false,
        };
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
