//! `likenew report RUN..`: shows findings as they were stored.

use std::path::{Path, PathBuf};

use likenew_archive::{Archive, Record};
use likenew_core::findings::Findings;
use likenew_report::document::Document;

use crate::arguments::Report;
use crate::exit::{Exit, Failure};
use crate::measure::{archive_root, document};
use crate::{factsheet, output, watch_session, wording};

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
        let mut record = open(path)?;
        if factsheet::is_facts(&record.header.plan) {
            let findings = findings(&mut record, path)?;
            let instrument = record.header.machine.instrument.clone();
            factsheet::put(&record.take_evidence(), findings, instrument, false, &command.output)?;
        } else {
            output::put(vec![stored_document(record, path)?], &command.output)?;
        }
        return Ok(Exit::Fine);
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

fn stored_document(mut record: Record, path: &Path) -> Result<Document, Failure> {
    if watch_session::is_log(&record) {
        return watch_session::judge(&record);
    }
    let findings = findings(&mut record, path)?;
    Ok(document(&record.take_evidence(), findings, record.header.machine.instrument))
}

/// `likenew judge` makes the findings of a run that was killed before it was judged.
fn findings(record: &mut Record, path: &Path) -> Result<Findings, Failure> {
    let path = path.display();
    record.findings.take().ok_or_else(|| Failure::Usage(wording::never_judged(path)))
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
