//! Outputs of reports: the terminal, a JSON file, a page.

use std::io::{IsTerminal as _, Write as _};
use std::path::Path;

use anyhow::Context as _;
use clap::ColorChoice;
use likenew_core::shell::shell_quote;
use likenew_metrics::Attempt;
use likenew_report::document::{Document, SCHEMA};
use likenew_report::html;
use likenew_report::labeled_document::LabeledDocument;
use likenew_report::terminal::{Terminal, View, show};
use serde::Serialize;

use crate::arguments::{ArchiveArguments, Output};
use crate::exit::{Exit, Failure};
use crate::ranking::ranking;
use crate::side_by_side::{Member, SideBySide};
use crate::{embedding, invocation, output_file, wording};

/// Shows one document, or several side by side, in all requested forms. The same command shows details.
pub(crate) fn put(documents: Vec<Document>, output: &Output) -> Result<(), Failure> {
    let members = documents.into_iter().map(Member::alone);
    put_with(&SideBySide::new(members.collect()), None, output, &same_command())
}

/// A target of several that could not be measured, as JSON lists it beside the documents.
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

/// Writes JSON of targets of which none could be measured.
pub(crate) fn write_failed(failed: &[FailedTarget], output: &Output) -> Result<(), Failure> {
    match &output.json {
        Some(path) => write_to(path, &json(&[], Some(failed))?),
        None => Ok(()),
    }
}

/// The same where another command shows the details. Of a `list` of targets JSON is a list, with those that failed.
pub(crate) fn put_with(
    documents: &SideBySide,
    list: Option<&[FailedTarget]>,
    output: &Output,
    details_command: &str,
) -> Result<(), Failure> {
    put_files(documents, &documents.runs(), list, output)?;
    show_all(documents, output, details_command)
}

/// Shows how runs differ; only that is written as JSON.
pub(crate) fn put_comparison(documents: &SideBySide, output: &Output) -> Result<(), Failure> {
    put_files(documents, &documents.comparisons(), None, output)?;
    show_all(documents, output, &same_command())
}

fn show_all(documents: &SideBySide, output: &Output, details_command: &str) -> Result<(), Failure> {
    let documents = documents.shown();
    if output.takes_standard_output() {
        return Ok(());
    }
    print(&show(documents, &terminal(output, details_command)))?;
    if output.quiet {
        return Ok(());
    }
    if let Some(ranking) = ranking(documents) {
        print(&ranking)?;
    }
    print_page(output)
}

/// The command that shows the details of this measurement: of the newest runs, if they are kept.
pub(crate) fn details_command(archive: &ArchiveArguments, runs: usize) -> String {
    if archive.no_archive {
        return same_command();
    }
    let show = wording::show_newest(runs);
    let folder = archive.archive.as_deref().map_or_else(String::new, |folder| {
        format!(" --archive {}", shell_quote(&folder.display().to_string()))
    });
    wording::with_details(&format!("{show}{folder}"))
}

/// Columns from which on a command is not repeated. Chosen: with its label it fits into 80.
const COMMAND_WIDTH_MAX: usize = 68;

/// The command line, with details.
pub(crate) fn same_command() -> String {
    let words = invocation::words().iter().map(|word| shell_quote(word)).collect::<Vec<_>>().join(" ");
    let command = wording::with_details(&format!("likenew {words}"));
    if command.chars().count() > COMMAND_WIDTH_MAX { wording::SAME_COMMAND.to_owned() } else { command }
}

/// Writes documents that were already shown in all other requested forms.
pub(crate) fn write_beside(documents: &SideBySide, output: &Output) -> Result<(), Failure> {
    put_files(documents, &documents.runs(), None, output)?;
    print_page(output)
}

/// Refuses files that cannot be written, before hours are spent on what they are for.
///
/// # Errors
/// As for [`output_file::check`].
pub(crate) fn check_files(output: &Output) -> Result<(), Failure> {
    [&output.json, &output.html].into_iter().flatten().try_for_each(|path| check_file(path))
}

/// Refuses a file that cannot be written; `-` is standard output.
///
/// # Errors
/// As for [`check_files`].
pub(crate) fn check_file(path: &Path) -> Result<(), Failure> {
    if path == Path::new("-") { Ok(()) } else { output_file::check(path) }
}

/// Writes the page of all documents, and these as JSON.
fn put_files(
    documents: &SideBySide,
    json_documents: &[&Document],
    list: Option<&[FailedTarget]>,
    output: &Output,
) -> Result<(), Failure> {
    if let Some(path) = &output.html {
        write_to(path, &page(&documents.shown_with_samples())?)?;
    }
    if let Some(path) = &output.json {
        write_to(path, &json(json_documents, list)?)?;
    }
    Ok(())
}

fn print_page(output: &Output) -> Result<(), Failure> {
    let Some(path) = output.html.as_deref().filter(|path| *path != Path::new("-")) else { return Ok(()) };
    if output.quiet {
        return Ok(());
    }
    print(&wording::page_written(path))
}

/// One document as it is, unless it is one of a list; several as a list, and then the targets that failed.
fn json(documents: &[&Document], list: Option<&[FailedTarget]>) -> Result<String, Failure> {
    let mut texts: Vec<String> = documents
        .iter()
        .map(|document| document.to_json())
        .collect::<Result<_, _>>()
        .context(wording::JSON_FAILED)?;
    let failed = list.unwrap_or_default().iter();
    texts.extend(failed.map(|failed| serde_json::to_string_pretty(failed).expect("these are plain values")));
    Ok(match texts.as_slice() {
        [one] if list.is_none() => one.clone(),
        many => format!("[\n{}]\n", many.join(",\n")),
    })
}

fn page(documents: &[LabeledDocument]) -> Result<String, Failure> {
    Ok(html::page(documents).context(wording::PAGE_FAILED)?)
}

/// To a file, or to standard output with `-`.
pub(crate) fn write_to(path: &Path, text: &str) -> Result<(), Failure> {
    if path == Path::new("-") { print(text) } else { output_file::write(path, text) }
}

/// To standard output; a closed reader, such as `head`, is no failure.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    if embedding::keep_output(text) {
        return Ok(());
    }
    let mut out = anstream::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(anyhow::Error::new(error).context(wording::PRINT_FAILED).into())
        }
        _ => Ok(()),
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

#[cfg(test)]
mod tests {
    use super::*;

    fn check(json: &Path) -> Result<(), String> {
        let output = Output {
            details: false,
            quiet: false,
            html: None,
            json: Some(json.to_owned()),
            color: ColorChoice::Never,
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
