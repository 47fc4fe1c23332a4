//! `likenew history`: drives over time, from the index of all runs. Other commands open that index here.

use std::fmt::Write as _;
use std::fs::Permissions;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::Args;
use likenew_archive::Archive;
use likenew_history::metrics::{Attempt, Fleet};
use likenew_history::{
    DamagedRun, DriveHistory, DriveRow, History as Index, HistoryError, KeptRuns, Location, MetricHistory,
    Page, Peers, drive_json, drives_json, page_json, peers, peers_json,
};
use likenew_report::html::history_page;

use super::Command;
use crate::arguments::{ARCHIVE, ArchiveFolder, OUTPUT};
use crate::console::note;
use crate::exit::{Exit, Failure, Result};
use crate::output;
use crate::output_file::OutputFile;
use crate::wording::history as wording;

/// How drives changed from check to check
#[derive(Debug, Args)]
pub(crate) struct History {
    /// A drive: the target as it was checked, or the beginning of its key [default: all drives]
    #[arg(value_name = "TARGET|DRIVE")]
    drive: Option<String>,
    /// Compare each drive with others of its model, by their last checks
    #[arg(long)]
    peers: bool,
    /// Forget the index, and read all run folders again
    #[arg(long, help_heading = ARCHIVE)]
    rebuild: bool,
    #[command(flatten)]
    place: HistoryPlace,
    #[command(flatten)]
    folder: ArchiveFolder,
    /// Show everything: all drives or checks, their keys, and runs that cannot be read
    #[arg(short = 'v', long, help_heading = OUTPUT)]
    details: bool,
    /// Write it as JSON to FILE, or to standard output with -
    #[arg(long, value_name = "FILE|-", help_heading = OUTPUT)]
    json: Option<PathBuf>,
    /// Write it as one HTML file with charts, or to standard output with -
    #[arg(long, value_name = "FILE|-", help_heading = OUTPUT, conflicts_with = "peers")]
    html: Option<PathBuf>,
    /// Write metrics of all drives for Prometheus to FILE.prom, as node_exporter reads it, or to standard output with -
    #[arg(long, value_name = "FILE|-", help_heading = OUTPUT, conflicts_with_all = ["drive", "peers", "details", "json", "html"])]
    openmetrics: Option<PathBuf>,
}

/// Where the index of all runs is.
#[derive(Debug, Args)]
pub(crate) struct HistoryPlace {
    /// The index of all runs: a file, or postgres://USER@HOST/DATABASE for several machines [default: LIKENEW_HISTORY,
    /// or history.sqlite beside the runs]
    #[arg(long, value_name = "FILE|URL", help_heading = ARCHIVE, hide_short_help = true)]
    history: Option<String>,
}

/// The page of drives for `--details`, JSON and HTML: all.
const ALL: Page = Page { offset: 0, rows: u32::MAX };
/// Drives on the first screen. With headings, changes and the lines below them, they fit 24 lines.
const DRIVES_ON_SCREEN: u32 = 9;

impl Command for History {
    fn run(self) -> Result<Exit> {
        self.openmetrics.as_deref().map_or(Ok(()), check_metrics_file)?;
        self.html.as_deref().map_or(Ok(()), output::check_file)?;
        let archive = self.folder.archive()?;
        let mut history = if self.rebuild {
            let mut history = open(&self.place, &archive)?;
            note(wording::rebuilt(history.rebuild()?.read));
            history
        } else {
            open_updated(&self.place, &archive)?
        };
        match (&self.openmetrics, &self.drive) {
            (Some(path), _) => write_metrics(&mut history, &[], path)?,
            _ if self.peers => return show_peers(&self, &mut history),
            (None, Some(typed)) => show_drive(&self, &mut history, typed)?,
            (None, None) => show_all(&self, &mut history)?,
        }
        Ok(Exit::Fine)
    }
}

impl History {
    /// Writes the page of `--html` and the JSON of `--json`, or else prints a screen, which takes whether it shows
    /// everything.
    fn put(
        &self,
        drives: &[DriveHistory],
        damaged: &[DamagedRun],
        json: impl FnOnce() -> Result<String>,
        screen: impl Fn(bool) -> String,
    ) -> Result<()> {
        if let Some(path) = &self.html {
            output::write_to(path, &history_page(&page_json(drives, damaged), &screen(true)))?;
            if self.json.is_none() && path != Path::new("-") {
                output::print(&crate::wording::page_written(path))?;
            }
        }
        match &self.json {
            Some(path) => output::write_to(path, &json()?),
            None if self.html.is_some() => Ok(()),
            None => output::print(&screen(self.details)),
        }
    }
}

fn show_all(command: &History, history: &mut Index) -> Result<()> {
    let page = if command.details || command.json.is_some() || command.html.is_some() {
        ALL
    } else {
        Page { rows: DRIVES_ON_SCREEN, ..ALL }
    };
    let rows = history.drives(page)?;
    let total = history.count_drives()?;
    let drives =
        rows.into_iter().map(|row| DriveHistory::read(history, row)).collect::<Result<Vec<_>, _>>()?;
    let damaged = history.damaged()?;
    if drives.is_empty() && command.html.is_none() && command.json.is_none() {
        note(crate::wording::error(wording::NO_DRIVES));
    }
    let json = || -> Result<String> { Ok(drives_json(&drives, total, &history.unknown_drives()?, &damaged)) };
    command.put(&drives, &damaged, json, |details| drives_screen(&drives, total, &damaged, details))
}

/// Compares all drives, or one, with others of their models.
fn show_peers(command: &History, history: &mut Index) -> Result<Exit> {
    let typed = command.drive.as_deref();
    let chosen = typed.map(|typed| find(history, typed)).transpose()?;
    if let (Some(typed), Some([])) = (typed, chosen.as_deref()) {
        return Err(Failure::Usage(wording::unknown_drive(typed)));
    }
    let rows = history.drives(ALL)?;
    let drives =
        rows.into_iter().map(|row| DriveHistory::read(history, row)).collect::<Result<Vec<_>, _>>()?;
    let mut compared = peers(&drives);
    compared.retain(|peers| chosen.as_ref().is_none_or(|chosen| chosen.contains(&peers.drive.drive)));
    if let Some(path) = &command.json {
        output::write_to(path, &peers_json(&compared))?;
    } else {
        output::print(&peers_screen(&compared, command.details || typed.is_some()))?;
    }
    Ok(if compared.iter().any(|peers| peers.slowest().is_some()) { Exit::Problem } else { Exit::Fine })
}

/// Lists slow drives first, each with its slowest metric. With `details`, lists every drive with all its metrics.
fn peers_screen(compared: &[Peers<'_>], details: bool) -> String {
    let mut sorted: Vec<&Peers<'_>> = compared.iter().collect();
    sorted.sort_by(|one, other| {
        let ratio = |peers: &Peers<'_>| peers.slowest().map_or(f64::INFINITY, |place| place.among.ratio);
        ratio(one).total_cmp(&ratio(other))
    });
    let mut text = String::new();
    for peers in sorted {
        let name = wording::drive(&peers.drive.drive);
        if let Some(slowest) = peers.slowest() {
            let _ = writeln!(text, "✗ {name}");
            let _ = writeln!(text, "    {}", wording::place(slowest));
        } else if details {
            let _ = writeln!(text, "{} {name}", wording::peers_sign(peers));
        }
        let others = peers.places.iter().filter(|place| details && Some(*place) != peers.slowest());
        for place in others {
            let _ = writeln!(text, "    {}", wording::place(place));
        }
    }
    text + &wording::peers_total(compared) + "\n"
}

fn show_drive(command: &History, history: &mut Index, typed: &str) -> Result<()> {
    let mut rows = find(history, typed)?;
    let drive = match rows.len() {
        0 => return Err(Failure::Usage(wording::unknown_drive(typed))),
        1 => rows.remove(0),
        _ => return Err(Failure::Usage(wording::several_drives(typed, &rows))),
    };
    let drive = DriveHistory::read(history, drive)?;
    let drives = std::slice::from_ref(&drive);
    command.put(drives, &[], || Ok(drive_json(&drive)), |details| drive_screen(&drive, typed, details))
}

/// Lines and columns of a screen.
const LINES: usize = 24;
const WIDTH: usize = 80;
/// Characters of the column of drives; longer names are cut.
const DRIVE_WIDTH: usize = 30;
/// Characters of a metric's column: its longest heading and a space.
const METRIC_WIDTH: usize = 11;
/// Characters of a date.
const DATE_WIDTH: usize = 10;

/// A line for each drive, and another for what changed.
fn drives_screen(drives: &[DriveHistory], total: usize, damaged: &[DamagedRun], details: bool) -> String {
    let mut text = String::new();
    if !drives.is_empty() {
        let [drive, checked, first, second] = wording::DRIVE_HEADINGS;
        let _ = writeln!(text, "  {drive:DRIVE_WIDTH$} {checked:DATE_WIDTH$}  {first:>16}  {second:>16}");
    }
    for drive in drives {
        let name = cut(&wording::drive(&drive.drive), DRIVE_WIDTH);
        let day = drive.checks.last().map_or("", |check| wording::day(&check.run.started_at));
        let [first, second] = wording::DRIVE_METRICS.map(|name| wording::now_cell(drive.metric(name)));
        let sign = wording::sign(drive.checks.last());
        let line = format!("{sign} {name:DRIVE_WIDTH$} {day:DATE_WIDTH$}  {first:>16}  {second:>16}");
        let _ = writeln!(text, "{}", line.trim_end());
        if drive.main_change().is_some() {
            let _ = writeln!(text, "    {}", wording::signed(&drive.news()[0]));
        }
        if details {
            let _ = writeln!(text, "{}", wording::key(&drive.drive.key));
        }
    }
    if details {
        for run in damaged {
            let _ = writeln!(text, "{}", wording::damaged(run));
        }
    } else if !damaged.is_empty() {
        let _ = writeln!(text, "{}", wording::damaged_count(damaged.len()));
    }
    if !drives.is_empty() {
        let _ = writeln!(text, "{}", wording::more_drives(drives.len(), total));
    }
    text
}

/// One drive: what changed, and a line for each check.
fn drive_screen(drive: &DriveHistory, typed: &str, details: bool) -> String {
    let mut head = format!("{}\n", wording::title(&drive.drive));
    for news in drive.news() {
        let _ = writeln!(head, "{}", wording::signed(&news));
    }
    if let Some(check) = drive.checks.last() {
        let _ = writeln!(head, "{}", cut(&wording::last_standing(check), WIDTH));
    }
    if details {
        let _ = writeln!(head, "{}", wording::key(&drive.drive.key));
    }
    let [upper, lower] = [0, 1].map(|line| {
        let cells = drive.metrics.iter().map(|metric| wording::headings(&metric.name)[line].to_owned() + " ");
        row(if line == 1 { wording::DATE_HEADING } else { "" }, cells)
    });
    let baseline = row("100% is", drive.metrics.iter().map(|metric| wording::baseline_cell(metric) + " "));
    // Five lines are taken: two headings, the baseline, an empty line and the last line.
    let room = if details { usize::MAX } else { LINES.saturating_sub(head.lines().count() + 5) };
    let first = drive.checks.len().saturating_sub(room);
    let rows = (first..drive.checks.len()).map(|at| {
        let check = &drive.checks[at];
        let cell = |metric: &MetricHistory| {
            let mark = metric.changes.iter().find(|change| change.at == at);
            wording::share_cell(metric.values[at].map(|value| value / metric.baseline), mark)
        };
        row(wording::day(&check.run.started_at), drive.metrics.iter().map(cell))
    });
    let rows: String = rows.collect();
    let more = wording::more_checks(drive.checks.len() - first, drive, typed);
    if drive.metrics.is_empty() {
        return head;
    }
    format!("{head}\n{upper}{lower}{rows}{baseline}{more}\n")
}

fn row(first: &str, cells: impl Iterator<Item = String>) -> String {
    let cells: String = cells.map(|cell| format!("{cell:>METRIC_WIDTH$}")).collect();
    format!("{}\n", format!("  {first:DATE_WIDTH$}{cells}").trim_end())
}

/// The text, or its beginning with an ellipsis.
fn cut(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        return text.to_owned();
    }
    text.chars().take(width - 1).chain(['…']).collect()
}

/// Environment variable that says where the index is.
const VARIABLE: &str = "LIKENEW_HISTORY";

impl HistoryPlace {
    /// The place that the user or the environment names.
    fn named(&self) -> Option<String> {
        let variable = || std::env::var(VARIABLE).ok().filter(|text| !text.is_empty());
        self.history.clone().or_else(variable)
    }

    /// Whether a place is named, so that the index need not be the one beside the runs.
    pub(crate) fn is_named(&self) -> bool {
        self.named().is_some()
    }
}

/// Opens the history of an archive: the one on the command line, in the environment, or beside the archive.
pub(crate) fn open(place: &HistoryPlace, archive: &Archive) -> Result<Index> {
    Ok(kept_runs(place, archive.root().to_owned())?.open()?)
}

/// Opens a history and adds new runs to it, or says that this user may only read it.
pub(crate) fn open_updated(place: &HistoryPlace, archive: &Archive) -> Result<Index> {
    let mut history = open(place, archive)?;
    if history.update()?.is_refused {
        note(wording::RUNS_NOT_ADDED);
    }
    Ok(history)
}

/// The runs in this folder, and where their history is.
pub(crate) fn kept_runs(place: &HistoryPlace, archive: PathBuf) -> Result<KeptRuns> {
    let location = match place.named() {
        Some(text) => Location::parse(&text)?,
        None => Location::beside(&archive),
    };
    Ok(KeptRuns { archive, location, machine: likenew_real::facts::machine_name() })
}

/// Drives that the user may mean: by key, by target as it was typed, or by the target's canonical path.
pub(crate) fn find(history: &mut Index, typed: &str) -> Result<Vec<DriveRow>> {
    let rows = history.find(typed)?;
    if let (true, Ok(path)) = (rows.is_empty(), std::fs::canonicalize(typed)) {
        return Ok(history.find(&path.display().to_string())?);
    }
    Ok(rows)
}

impl From<HistoryError> for Failure {
    fn from(error: HistoryError) -> Self {
        match error {
            HistoryError::NotALocation(_) | HistoryError::NotAFile(_) | HistoryError::NotText(_) => {
                Self::Usage(error.to_string())
            }
            HistoryError::Archive(error) => error.into(),
            error => Self::Other(error.into()),
        }
    }
}

/// Ending of the files that node_exporter reads. An unfinished file has another one.
const ENDING: &str = "prom";
/// The user of node_exporter may read the file, and only its owner may replace it.
const MODE: u32 = 0o644;

/// Refuses a file that node_exporter would not read, before anything is measured.
///
/// # Errors
/// Wrong usage: another ending, a folder, or a folder that does not exist.
pub(super) fn check_metrics_file(path: &Path) -> Result<()> {
    if path != Path::new("-") && path.extension().is_none_or(|ending| ending != ENDING) {
        return Err(Failure::Usage(wording::not_a_textfile(path)));
    }
    output::check_file(path)
}

/// Writes the metrics of all drives and the results of these attempts, to a file that is always
/// whole, or to standard output for `-`.
///
/// # Errors
/// The history cannot be read, or the file cannot be written.
pub(super) fn write_metrics(history: &mut Index, attempts: &[Attempt], path: &Path) -> Result<()> {
    let text = likenew_history::metrics::text(&Fleet::read(history)?.with_attempts(attempts));
    if path == Path::new("-") {
        return output::print(&text);
    }
    let unfinished = OutputFile::begin(path)?;
    let written = unfinished
        .file()
        .write_all(text.as_bytes())
        .and_then(|()| unfinished.file().set_permissions(Permissions::from_mode(MODE)));
    written.with_context(|| crate::wording::could_not_write(path))?;
    unfinished.finish().map(drop)
}
