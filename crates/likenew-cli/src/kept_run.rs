//! Runs in the archive, by what a user calls them.

use std::path::{Path, PathBuf};

use likenew_archive::{Archive, Record};

use crate::exit::Failure;
use crate::run_report::RunReport;
use crate::wording;

/// The newest runs, the oldest of them first.
pub(crate) fn newest(archive: &Archive, count: usize) -> Result<Vec<PathBuf>, Failure> {
    let mut entries = archive.list().map_err(anyhow::Error::new)?;
    Ok(entries.split_off(entries.len().saturating_sub(count)).into_iter().map(|entry| entry.path).collect())
}

/// The folder with this path, or the run with this name in the archive.
pub(crate) fn folder(archive: &Archive, named: &Path) -> PathBuf {
    let kept = archive.root().join(named);
    if !named.exists() && kept.exists() { kept } else { named.to_owned() }
}

/// Reads a run, and says what of it is missing.
pub(crate) fn open(path: &Path) -> Result<Record, Failure> {
    let record = Record::open(path)?;
    record.notes.iter().for_each(|note| crate::standard_error::note(wording::error(note)));
    Ok(record)
}

/// What a run found. `likenew judge` makes the findings of a run that was killed before it was judged.
pub(crate) fn report(mut record: Record) -> Result<RunReport, Failure> {
    let findings = record.findings.take();
    let findings = findings.ok_or_else(|| Failure::Usage(wording::never_judged(record.path.display())))?;
    let evidence = record.take_evidence();
    let (instrument, folder) = (record.header.machine.instrument, Some(record.path));
    Ok(RunReport::new(evidence, findings, instrument, folder))
}
