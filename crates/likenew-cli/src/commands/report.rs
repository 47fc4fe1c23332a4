//! `likenew report RUN..`: shows findings as they were stored.

use std::path::{Path, PathBuf};

use likenew_archive::{Archive, Record};
use likenew_report::document::Document;

use crate::arguments::Report;
use crate::exit::{Exit, Failure};
use crate::measure::archive_root;
use crate::run_report::RunReport;
use crate::{output, watch_session, wording};

pub(crate) fn run(command: &Report) -> Result<Exit, Failure> {
    let archive = Archive::new(archive_root(command.archive.as_deref())?);
    if command.list {
        return list(&archive);
    }
    let runs = match command.last {
        Some(count) => last(&archive, count)?,
        None if command.runs.is_empty() => last(&archive, 1)?,
        None => command.runs.clone(),
    };
    if runs.is_empty() {
        return Err(Failure::Usage(wording::no_runs(archive.root())));
    }
    if let [path] = &runs[..] {
        let record = open(path)?;
        if !watch_session::is_log(&record) {
            let report = stored_report(record, path)?;
            RunReport::show(vec![report], &command.output, &output::same_command(), false)?;
            return Ok(Exit::Fine);
        }
    }
    let documents =
        runs.iter().map(|path| stored_document(open(path)?, path)).collect::<Result<Vec<_>, _>>()?;
    output::put(documents, &command.output)?;
    Ok(Exit::Fine)
}

/// The newest runs, the oldest of them first.
fn last(archive: &Archive, count: usize) -> Result<Vec<PathBuf>, Failure> {
    let mut entries = archive.list().map_err(anyhow::Error::new)?;
    Ok(entries.split_off(entries.len().saturating_sub(count)).into_iter().map(|entry| entry.path).collect())
}

fn open(path: &Path) -> Result<Record, Failure> {
    let record = Record::open(path)?;
    record.notes.iter().for_each(|note| anstream::eprintln!("{}", wording::error(note)));
    Ok(record)
}

fn stored_document(record: Record, path: &Path) -> Result<Document, Failure> {
    if watch_session::is_log(&record) {
        return watch_session::judge(&record);
    }
    Ok(stored_report(record, path)?.document())
}

/// `likenew judge` makes the findings of a run that was killed before it was judged.
fn stored_report(mut record: Record, path: &Path) -> Result<RunReport, Failure> {
    let findings = record.findings.take();
    let findings = findings.ok_or_else(|| Failure::Usage(wording::never_judged(path.display())))?;
    let evidence = record.take_evidence();
    Ok(RunReport { evidence, findings, instrument: record.header.machine.instrument })
}

/// Lists the runs.
fn list(archive: &Archive) -> Result<Exit, Failure> {
    let entries = archive.list().map_err(anyhow::Error::new)?;
    if entries.is_empty() {
        anstream::eprintln!("{}", wording::error(wording::no_runs(archive.root())));
    }
    for entry in entries {
        let unread = entry.header.err().map_or(String::new(), |error| format!("  ({error})"));
        output::print(&format!("{}{unread}\n", entry.path.display()))?;
    }
    Ok(Exit::Fine)
}
