//! `likenew report`, `compare`, `judge` and `export`: the commands on kept runs.

use std::fs::{self, FileType};
use std::io;
use std::os::unix::fs::FileTypeExt as _;
use std::path::{Path, PathBuf};

use clap::Args;
use likenew_archive::{Archive, ExportKey, Machine, Record};
use likenew_core::drive::TargetKind;
use likenew_history::DriveRow;
use likenew_procedures::all;
use likenew_procedures::check::BaselineFile;
use likenew_sim::Spec;

use super::history::HistoryPlace;
use super::import::fio;
use super::{Command, history, watch};
use crate::arguments::{ARCHIVE, ArchiveFolder, Output};
use crate::exit::{Exit, Failure, Result};
use crate::output::{self, Member, RunReport, SideBySide};
use crate::wording::{self, history as history_wording};

/// Show earlier runs
#[derive(Debug, Args)]
pub(crate) struct Report {
    /// Folders or names of kept runs [default: the newest run]
    runs: Vec<PathBuf>,
    /// List all kept runs
    #[arg(long, conflicts_with_all = ["runs", "last"], help_heading = ARCHIVE)]
    list: bool,
    /// The newest N runs
    #[arg(long, value_name = "N", conflicts_with = "runs", help_heading = ARCHIVE)]
    last: Option<usize>,
    #[command(flatten)]
    folder: ArchiveFolder,
    #[command(flatten)]
    output: Output,
}

impl Command for Report {
    fn run(self) -> Result<Exit> {
        let archive = self.folder.archive()?;
        if self.list {
            return list(&archive);
        }
        let folders = match self.last {
            Some(count) => newest(&archive, count)?,
            None if self.runs.is_empty() => newest(&archive, 1)?,
            None => self.runs.iter().map(|named| folder(&archive, named)).collect(),
        };
        Failure::reject_if(folders.is_empty(), wording::no_runs(archive.root()))?;
        if let [path] = &folders[..] {
            let record = open(path)?;
            if watch::is_log(&record) {
                return show_log(&record, &self.output);
            }
            kept_report(record)?.show_alone(&self.output)?;
            return Ok(Exit::Fine);
        }
        let members = folders.iter().map(|path| member(path)).collect::<Result<Vec<_>, _>>()?;
        output::put(&SideBySide::new(members), &self.output)?;
        Ok(Exit::Fine)
    }
}

/// Shows what a watch kept.
fn show_log(record: &Record, output: &Output) -> Result<Exit> {
    let alone = Member::alone(watch::judge(record)?);
    output::put(&SideBySide::new(vec![alone]), output)?;
    Ok(Exit::Fine)
}

fn member(path: &Path) -> Result<Member> {
    let record = open(path)?;
    if watch::is_log(&record) {
        return Ok(Member::alone(watch::judge(&record)?));
    }
    Ok(kept_report(record)?.into_member())
}

/// Prints the folder of each kept run, and why one cannot be read.
fn list(archive: &Archive) -> Result<Exit> {
    let entries = archive.list().map_err(anyhow::Error::new)?;
    if entries.is_empty() {
        crate::console::note(wording::error(wording::no_runs(archive.root())));
    }
    for entry in entries {
        let unread = entry.header.err().map_or(String::new(), |error| format!("  ({error})"));
        output::print(&format!("{}{unread}\n", entry.path.display()))?;
    }
    Ok(Exit::Fine)
}

/// How much runs differ, and whether that is more than chance
#[derive(Debug, Args)]
pub(crate) struct Compare {
    /// Two or more runs of one command, the earlier first: folders, names of kept runs, drives, whose last check is taken, or
    /// what fio, CrystalDiskMark, KDiskMark, DISKSPD, dd, hdparm, f3, ioping or sysbench printed, as a file or - for standard input
    #[arg(value_name = "RUN|DRIVE|FILE")]
    runs: Vec<String>,
    /// The newest N runs
    #[arg(long, value_name = "N", conflicts_with = "runs", help_heading = ARCHIVE)]
    last: Option<usize>,
    #[command(flatten)]
    place: HistoryPlace,
    #[command(flatten)]
    folder: ArchiveFolder,
    #[command(flatten)]
    output: Output,
}

/// Fewest runs that can be compared.
const RUNS_MIN: usize = 2;

impl Command for Compare {
    fn run(self) -> Result<Exit> {
        let archive = self.folder.archive()?;
        let runs = match self.last {
            Some(count) => newest(&archive, count)?.into_iter().map(NamedRun::Kept).collect(),
            None => {
                let named = self.runs.iter().map(|named| find(&self, &archive, named));
                named.collect::<Result<Vec<_>, _>>()?
            }
        };
        Failure::reject_if(runs.len() < RUNS_MIN, wording::COMPARE_NEEDS_TWO)?;
        let mut reports: Vec<RunReport> =
            runs.iter().filter_map(NamedRun::kept_report).collect::<Result<_, _>>()?;
        let plan = reports.first().map(|report| report.evidence.plan.clone());
        for (index, run) in runs.into_iter().enumerate() {
            if let NamedRun::OfFio(imported, file) = run {
                // It is a run of this plan, if fio ran its jobs.
                let of_plan = plan.clone().and_then(|plan| fio::report((*imported).clone(), Some(plan)).ok());
                let mut report = of_plan.map_or_else(|| fio::report(*imported, None), Ok)?;
                report.source.file = file;
                reports.insert(index, report);
            }
        }
        let procedure = |report: &RunReport| report.evidence.plan.procedure.clone();
        if let Some(other) = reports.iter().find(|report| procedure(report) != procedure(&reports[0])) {
            return Err(Failure::Usage(wording::other_commands(&procedure(&reports[0]), &procedure(other))));
        }
        let compared = SideBySide::new(reports.into_iter().map(RunReport::into_member).collect());
        Failure::reject_if(compared.comparisons().is_empty(), wording::NOTHING_TO_COMPARE)?;
        output::put_comparison(&compared, &self.output)?;
        Ok(Exit::Fine)
    }
}

/// What a word of the command line names.
enum NamedRun {
    /// A run folder.
    Kept(PathBuf),
    /// A result of fio or of another program, and the name of its file or folder.
    OfFio(Box<likenew_fio::Import>, Option<String>),
}

impl NamedRun {
    /// The report of a run folder; `None` for a result of fio.
    fn kept_report(&self) -> Option<Result<RunReport>> {
        let Self::Kept(path) = self else { return None };
        Some(open_measured(path).and_then(kept_report))
    }
}

/// Finds a run by its folder or name, a result of fio, or the last check of a drive.
fn find(command: &Compare, archive: &Archive, named: &str) -> Result<NamedRun> {
    let path = folder(archive, Path::new(named));
    if path.join("plan.toml").exists() {
        return Ok(NamedRun::Kept(path));
    }
    let name = path.file_name().map(|name| name.display().to_string());
    let is_text = |kind: FileType| kind.is_file() || kind.is_fifo();
    if named == "-" || fs::metadata(&path).is_ok_and(|metadata| is_text(metadata.file_type())) {
        return Ok(NamedRun::OfFio(Box::new(fio::printed(&path)?), name));
    }
    if path.is_dir() {
        return Ok(NamedRun::OfFio(Box::new(fio::printed_folder(&path)?), name));
    }
    let mut index = history::open_updated(&command.place, archive)?;
    let drives = history::find(&mut index, named)?;
    let is_here = |drive: &&DriveRow| drive.archive == index.archive_name();
    match &drives.iter().filter(is_here).collect::<Vec<_>>()[..] {
        [] => Err(Failure::Usage(wording::neither_run_nor_drive(named))),
        [drive] => {
            let last = index.checks(drive)?.pop();
            let last = last.ok_or_else(|| Failure::Usage(wording::never_checked(named)))?;
            Ok(NamedRun::Kept(archive.root().join(last.run.name)))
        }
        several => {
            let several: Vec<DriveRow> = several.iter().copied().cloned().collect();
            Err(Failure::Usage(history_wording::several_drives(named, &several)))
        }
    }
}

/// Evaluate a kept run again, without the drive
#[derive(Debug, Args)]
pub(crate) struct Judge {
    /// Folder of an earlier run
    run: PathBuf,
    #[command(flatten)]
    output: Output,
}

impl Command for Judge {
    fn run(self) -> Result<Exit> {
        let mut record = open(&self.run)?;
        if watch::is_log(&record) {
            return show_log(&record, &self.output);
        }
        let evidence = record.take_evidence();
        let procedure = all::from_plan(&evidence.plan).map_err(Failure::Usage)?;
        let findings = all::judge(&*procedure, &evidence);
        let exit = if findings.found_problem() { Exit::Problem } else { Exit::Fine };
        let Machine { instrument, started_at, .. } = record.header.machine;
        let report = RunReport::new(evidence, findings, instrument, Some(started_at), Some(record.path));
        report.show_alone(&self.output)?;
        Ok(exit)
    }
}

/// Write a run as one file, without serial numbers
#[derive(Debug, Args)]
pub(crate) struct Export {
    /// The folder of a run
    run: PathBuf,
    /// The file to make, such as check.likenew
    file: PathBuf,
    /// Of a check: write only its figures and the drive's model, with which other drives of this model are compared
    #[arg(long, conflicts_with = "archive")]
    baseline: bool,
    /// Folder of all runs, beside which the secret for serial numbers is [default: ~/.local/share/likenew/runs]
    #[arg(long, value_name = "DIR", help_heading = ARCHIVE)]
    archive: Option<PathBuf>,
}

impl Command for Export {
    fn run(self) -> Result<Exit> {
        Failure::reject_if(self.file.exists(), wording::file_exists(self.file.display()))?;
        if self.baseline {
            return self.export_baseline();
        }
        if let Some(archive) = &self.archive {
            // A missing archive is not created: the secret beside it would not be that of the runs.
            let missing =
                |error: io::Error| Failure::unreadable(&archive.display().to_string(), error.into());
            archive.read_dir().map_err(missing)?;
        }
        let root = ArchiveFolder { archive: self.archive.clone() }.root()?;
        let key = root.parent().unwrap_or(Path::new(".")).join("export.key");
        let key = ExportKey::open(&key, likenew_real::clock::new_secret)?;
        likenew_archive::export(&self.run, &self.file, &key)?;
        output::print(&wording::run_exported(&self.file))?;
        Ok(Exit::Fine)
    }
}

impl Export {
    fn export_baseline(&self) -> Result<Exit> {
        let mut record = open(&self.run)?;
        let findings = record.findings.take();
        let findings = findings.ok_or_else(|| Failure::Usage(wording::never_judged(self.run.display())))?;
        let evidence = record.evidence();
        let reads_met_data = match evidence.identity.kind {
            TargetKind::Simulated => Spec::parse(&evidence.identity.name)?.filled_share() > 0.0,
            // Whether a whole device holds data is unknown, and a new one is blank.
            kind => kind != TargetKind::Device,
        };
        let started_at = &record.header.machine.started_at;
        let baseline = BaselineFile::new(&evidence, &findings, started_at, reads_met_data);
        let baseline = baseline.map_err(|reason| Failure::Usage(wording::no_baseline(&self.run, &reason)))?;
        crate::output_file::write(&self.file, baseline.text())?;
        output::print(&wording::baseline_exported(&self.file))?;
        Ok(Exit::Fine)
    }
}

/// The newest runs, the oldest of them first.
fn newest(archive: &Archive, count: usize) -> Result<Vec<PathBuf>> {
    let mut entries = archive.list().map_err(anyhow::Error::new)?;
    Ok(entries.split_off(entries.len().saturating_sub(count)).into_iter().map(|entry| entry.path).collect())
}

/// The folder with this path, or the run with this name in the archive.
pub(crate) fn folder(archive: &Archive, named: &Path) -> PathBuf {
    let kept = archive.root().join(named);
    if !named.exists() && kept.exists() { kept } else { named.to_owned() }
}

/// Opens a run, and prints what of it is missing.
pub(crate) fn open(path: &Path) -> Result<Record> {
    let record = Record::open(path)?;
    record.notes.iter().for_each(|note| crate::console::note(wording::error(note)));
    Ok(record)
}

/// [`open`] for a run that has speeds.
pub(crate) fn open_measured(path: &Path) -> Result<Record> {
    let record = open(path)?;
    Failure::reject_if(watch::is_log(&record), wording::watch_log_has_no_speeds(path.display()))?;
    Ok(record)
}

/// The report of a kept run. A run that was killed before it was judged needs `likenew judge` first.
fn kept_report(mut record: Record) -> Result<RunReport> {
    let findings = record.findings.take();
    let findings = findings.ok_or_else(|| Failure::Usage(wording::never_judged(record.path.display())))?;
    let evidence = record.take_evidence();
    let Machine { instrument, started_at, .. } = record.header.machine;
    Ok(RunReport::new(evidence, findings, instrument, Some(started_at), Some(record.path)))
}
