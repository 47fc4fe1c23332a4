//! `likenew compare A B…`: how much runs differ.

use std::path::{Path, PathBuf};

use likenew_archive::Archive;
use likenew_core::plan::Plan;
use likenew_history::DriveRow;

use super::import::fio;
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
    let runs = match command.last {
        Some(count) => kept_run::newest(&archive, count)?.into_iter().map(Run::Kept).collect(),
        None => {
            let named = command.runs.iter().map(|named| find(command, &archive, named));
            named.collect::<Result<Vec<_>, _>>()?
        }
    };
    if runs.len() < RUNS_MIN {
        return Err(Failure::Usage(wording::COMPARE_NEEDS_TWO.into()));
    }
    let mut reports: Vec<RunReport> = runs.iter().filter_map(Run::kept_report).collect::<Result<_, _>>()?;
    let plan = reports.first().map(|report| report.evidence.plan.clone());
    for (index, run) in runs.into_iter().enumerate() {
        if let Run::OfFio(imported) = run {
            reports.insert(index, fio_report(*imported, plan.as_ref())?);
        }
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

/// What a word of the command line names.
enum Run {
    /// A run folder.
    Kept(PathBuf),
    /// A file with a result of fio.
    OfFio(Box<likenew_fio::Import>),
}

impl Run {
    /// Nothing of what fio measured.
    fn kept_report(&self) -> Option<Result<RunReport, Failure>> {
        let Self::Kept(path) = self else { return None };
        let report = || {
            let record = kept_run::open(path)?;
            if watch_session::is_log(&record) {
                return Err(Failure::Usage(wording::watch_log_has_no_speeds(path.display())));
            }
            kept_run::report(record)
        };
        Some(report())
    }
}

/// As a run of this plan, if fio ran its jobs.
fn fio_report(imported: likenew_fio::Import, plan: Option<&Plan>) -> Result<RunReport, Failure> {
    match plan.map(|plan| fio::report(imported.clone(), Some(plan.clone()))) {
        Some(Ok(report)) => Ok(report),
        Some(Err(_)) | None => fio::report(imported, None),
    }
}

/// A run folder, a name in the archive, a result of fio, or the last check of a drive.
fn find(command: &Compare, archive: &Archive, named: &str) -> Result<Run, Failure> {
    let path = kept_run::folder(archive, Path::new(named));
    if path.join("plan.toml").exists() {
        return Ok(Run::Kept(path));
    }
    if path.is_file() {
        return Ok(Run::OfFio(Box::new(fio::imported(&path, None)?)));
    }
    let mut history = run_history::open(&command.place, archive)?;
    run_history::update(&mut history)?;
    let found = run_history::find(&mut history, named)?;
    let is_here = |drive: &&DriveRow| drive.archive == history.archive_name();
    match &found.iter().filter(is_here).collect::<Vec<_>>()[..] {
        [] => Err(Failure::Usage(wording::neither_run_nor_drive(named))),
        [drive] => {
            let last = history.checks(drive)?.pop();
            let last = last.ok_or_else(|| Failure::Usage(wording::never_checked(named)))?;
            Ok(Run::Kept(archive.root().join(last.run.name)))
        }
        several => {
            let several: Vec<DriveRow> = several.iter().copied().cloned().collect();
            Err(Failure::Usage(history_wording::several_drives(named, &several)))
        }
    }
}
