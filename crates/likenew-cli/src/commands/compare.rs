//! `likenew compare A B…`: how much runs differ.

use std::path::{Path, PathBuf};

use likenew_archive::Archive;
use likenew_history::DriveRow;

use crate::arguments::Compare;
use crate::exit::{Exit, Failure};
use crate::measure::archive_root;
use crate::run_report::RunReport;
use crate::side_by_side::SideBySide;
use crate::wording::history as history_wording;
use crate::{kept_run, output, run_history, watch_session, wording};

/// Fewest runs that can be compared.
const RUNS_MIN: usize = 2;

pub(crate) fn run(command: &Compare) -> Result<Exit, Failure> {
    let archive = Archive::new(archive_root(command.archive.as_deref())?);
    let folders = match command.last {
        Some(count) => kept_run::newest(&archive, count)?,
        None => command
            .runs
            .iter()
            .map(|named| folder(command, &archive, named))
            .collect::<Result<Vec<_>, _>>()?,
    };
    if folders.len() < RUNS_MIN {
        return Err(Failure::Usage(wording::COMPARE_NEEDS_TWO.into()));
    }
    let mut reports = Vec::new();
    for path in &folders {
        let record = kept_run::open(path)?;
        if watch_session::is_log(&record) {
            return Err(Failure::Usage(wording::watch_log_has_no_speeds(path.display())));
        }
        reports.push(kept_run::report(record)?);
    }
    let procedure = |report: &RunReport| report.evidence.plan.procedure.clone();
    if let Some(other) = reports.iter().find(|report| procedure(report) != procedure(&reports[0])) {
        return Err(Failure::Usage(wording::other_commands(&procedure(&reports[0]), &procedure(other))));
    }
    let compared = SideBySide::new(reports.into_iter().map(RunReport::into_member).collect());
    if compared.comparisons().is_empty() {
        return Err(Failure::Usage(wording::NOTHING_TO_COMPARE.into()));
    }
    output::put_comparison(&compared, &command.output)?;
    Ok(Exit::Fine)
}

/// A run folder, a name in the archive, or the last check of a drive.
fn folder(command: &Compare, archive: &Archive, named: &str) -> Result<PathBuf, Failure> {
    let path = kept_run::folder(archive, Path::new(named));
    if path.join("plan.toml").exists() {
        return Ok(path);
    }
    let mut history = run_history::open(&command.place, archive)?;
    history.update()?;
    let found = run_history::find(&mut history, named)?;
    let is_here = |drive: &&DriveRow| drive.archive == history.archive_name();
    match &found.iter().filter(is_here).collect::<Vec<_>>()[..] {
        [] => Err(Failure::Usage(wording::neither_run_nor_drive(named))),
        [drive] => {
            let last = history.checks(drive)?.pop();
            let last = last.ok_or_else(|| Failure::Usage(wording::never_checked(named)))?;
            Ok(archive.root().join(last.run.name))
        }
        several => {
            let several: Vec<DriveRow> = several.iter().copied().cloned().collect();
            Err(Failure::Usage(history_wording::several_drives(named, &several)))
        }
    }
}
