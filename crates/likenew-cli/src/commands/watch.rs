//! `likenew watch`: the activity of every drive, on a screen, as plain tables, or as lines of JSON.
//! `--log` keeps it in a run folder, from which `report` and `judge` show it.

use std::fs::File;
use std::io::{IsTerminal as _, Write as _, stdin, stdout};
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::Args;
use likenew_archive::{LiveWriter, Machine, Record, Run, read_live};
use likenew_core::drive::{Identity, TargetKind};
use likenew_core::findings::Role;
use likenew_core::procedure::Plan;
use likenew_core::target::{Clock, Geometry};
use likenew_core::units::{Nanos, amount, parse_duration};
use likenew_real::clock::wall_date;
use likenew_real::sampler::Sampler;
use likenew_report::document::Document;
use likenew_watch::column;
use likenew_watch::drives::{DriveHistory, Drives, Scope};
use likenew_watch::findings::Log;
use likenew_watch::line::Line;
use likenew_watch::theme::Theme;
use likenew_watch::view::{Flow, View};
use serde::Serialize;

use super::{Command, uncalibrated};
use crate::arguments::{ARCHIVE, ArchiveFolder, OUTPUT};
use crate::console::note;
use crate::exit::{Exit, Failure, Result};
use crate::measure::options;
use crate::output_file::OutputFile;
use crate::screen::{InputEvent, Screen};
use crate::{interrupt, output, wording};

/// Live throughput, latency and queue depth of every drive
#[derive(Debug, Args)]
pub(crate) struct Watch {
    /// Drives or partitions (sda, /dev/sda1), or files and folders on them [default: every drive]
    #[arg(value_name = "DRIVE")]
    drives: Vec<String>,
    /// Time between two readings of the counters, at least 10ms
    #[arg(long, default_value = "1s", value_parser = parse_duration, value_name = "TIME")]
    interval: Nanos,
    /// Stop after this time [default: q or Ctrl-C]
    #[arg(long, visible_alias = "runtime", value_parser = parse_duration, value_name = "TIME")]
    time: Option<Nanos>,
    /// Watch one interval, print it as a table and stop
    #[arg(long, conflicts_with = "time")]
    once: bool,
    /// Also show idle loop devices, RAM disks and empty slots
    #[arg(long)]
    all: bool,
    /// Also show partitions
    #[arg(long)]
    partitions: bool,
    /// Do not ask drives for their temperature: that command, every 10 s, keeps some disks from spinning down
    #[arg(long)]
    no_temperature: bool,
    /// Draw with ASCII characters only [default: where the locale is not UTF-8]
    #[arg(long, help_heading = OUTPUT)]
    ascii: bool,
    /// Write a line of JSON per interval and drive to FILE, or to standard output with -
    #[arg(long, value_name = "FILE|-", help_heading = OUTPUT)]
    json: Option<PathBuf>,
    /// Keep every interval in a run folder, for likenew report
    #[arg(long, help_heading = ARCHIVE)]
    log: bool,
    /// Folder of all runs [default: ~/.local/share/likenew/runs]
    #[arg(long, value_name = "DIR", requires = "log", help_heading = ARCHIVE)]
    archive: Option<PathBuf>,
}

/// Shortest interval. Chosen: counters in milliseconds say nothing about less.
const INTERVAL_MIN: Nanos = Nanos::from_millis(10);
/// Time between checks for signals. Chosen: Ctrl-C feels immediate.
const SLICE: Nanos = Nanos::from_millis(200);
/// Columns of a table without a terminal.
const WIDTH_OF_FILES: usize = 160;

impl Command for Watch {
    fn run(self) -> Result<Exit> {
        Failure::reject_if(self.interval < INTERVAL_MIN, wording::WATCH_INTERVAL)?;
        Failure::reject_if(self.time == Some(Nanos::ZERO), wording::WATCH_TIME)?;
        let sampler = Sampler::new(!self.no_temperature);
        let scope = scope(&self, &sampler)?;
        interrupt::listen_saying(None)?;
        let env = Theme::from_env(|name| std::env::var(name).ok());
        let theme = Theme { ascii: env.ascii || self.ascii, ..env };
        let mut watched = WatchSession::begin(sampler, scope.clone(), &self)?;
        let shown = match output_kind(&self) {
            OutputKind::Screen => show(&self, &mut watched, View::new(theme, scope, self.interval)),
            OutputKind::Tables => print(&self, &mut watched, theme),
            // The only output is lines of JSON.
            OutputKind::Nothing => each_interval(&self, &mut watched, |_| Ok(true)),
        };
        // The log is concluded even if showing it failed.
        let ended = watched.log.map_or(Ok(()), WatchLog::end);
        let exit = shown?;
        ended?;
        Ok(exit)
    }
}

/// The drives on the command line, by the kernel's names.
fn scope(command: &Watch, sampler: &Sampler) -> Result<Scope> {
    let mut scope = Scope { all: command.all, partitions: command.partitions, ..Scope::default() };
    for drive in &command.drives {
        if drive.starts_with("sim:") || drive.starts_with("nop:") {
            return Err(Failure::Usage(wording::cannot_be_watched(drive)));
        }
        let name = sampler.find(drive)?;
        if !scope.names.contains(&name) {
            scope.names.push(name);
        }
    }
    Ok(scope)
}

/// The kind of output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OutputKind {
    Screen,
    Tables,
    Nothing,
}

fn output_kind(command: &Watch) -> OutputKind {
    if command.json.as_deref() == Some(Path::new("-")) {
        return OutputKind::Nothing;
    }
    if command.once {
        return OutputKind::Tables;
    }
    let dumb = std::env::var_os("TERM").is_none_or(|term| term == "dumb" || term.is_empty());
    let reason = match (stdout().is_terminal(), stdin().is_terminal()) {
        (true, true) if dumb => wording::WATCH_DUMB,
        (true, true) => return OutputKind::Screen,
        (false, _) => wording::WATCH_STDOUT,
        (true, false) => wording::WATCH_STDIN,
    };
    note(wording::error(wording::watch_as_tables(reason)));
    OutputKind::Tables
}

/// Shows the activity on a screen until the user ends it.
fn show(command: &Watch, watched: &mut WatchSession, mut view: View) -> Result<Exit> {
    let mut screen = Screen::open()?;
    let (mut last, mut changed) = (watched.sampler.now(), true);
    loop {
        if changed {
            screen.draw(&view, &watched.drives)?;
        }
        let end = command.time.map_or(Nanos::NEVER, |time| watched.started_at + time);
        let due = (last + view.interval()).min(end);
        let happened = screen.wait(due.since(watched.sampler.now()).min(SLICE))?;
        if happened == InputEvent::Interrupted || interrupt::is_requested() {
            return Ok(Exit::Interrupted);
        }
        if let InputEvent::Pressed(key) = happened
            && view.press(key, &watched.drives) == Flow::Leave
        {
            return Ok(Exit::Fine);
        }
        let now = watched.sampler.now();
        changed = happened != InputEvent::Nothing || now >= due;
        if now >= due {
            // A late reading does not delay the next ones, unless it is late by more than an interval.
            last = if now.since(due) < view.interval() { due } else { now };
            if !watched.read()? {
                return Ok(Exit::Fine);
            }
            watched.complaint.take().into_iter().for_each(|complaint| view.note(complaint));
            if now >= end {
                return Ok(Exit::Fine);
            }
        }
    }
}

/// Prints a table for each interval.
fn print(command: &Watch, watched: &mut WatchSession, theme: Theme) -> Result<Exit> {
    let width = if stdout().is_terminal() { output::width() } else { WIDTH_OF_FILES };
    each_interval(command, watched, |watched| {
        let drives: Vec<&DriveHistory> = watched.drives.in_scope(&watched.scope).collect();
        let table = column::table(&drives, width, theme);
        let head =
            if command.once { String::new() } else { format!("{}\n", likenew_real::clock::wall_date()) };
        let tail = if command.once { "" } else { "\n" };
        output::print_to_reader(&format!("{head}{table}{tail}"))
    })
}

/// Reads the counters after every interval and calls `show`, until the user ends the watch.
fn each_interval(
    command: &Watch,
    watched: &mut WatchSession,
    mut show: impl FnMut(&WatchSession) -> Result<bool>,
) -> Result<Exit> {
    let end = command.time.map_or(Nanos::NEVER, |time| watched.started_at + time);
    let mut due = watched.started_at;
    loop {
        due = (due + command.interval).max(watched.sampler.now()).min(end);
        watched.sampler.wait(due, || !interrupt::is_requested());
        if interrupt::is_requested() {
            return Ok(Exit::Interrupted);
        }
        let goes_on = watched.read()? && show(watched)?;
        if let Some(complaint) = watched.complaint.take() {
            note(wording::error(complaint));
        }
        if !goes_on || command.once || watched.sampler.now() >= end {
            return Ok(Exit::Fine);
        }
    }
}

/// The procedure in a watch's plan. It cannot be run.
const PROCEDURE: &str = "watch";
/// Bytes of the sectors that the kernel counts.
const SECTOR: u32 = 512;

/// A watch that runs: the drives, and where each interval is written.
struct WatchSession {
    sampler: Sampler,
    drives: Drives,
    scope: Scope,
    started_at: Nanos,
    json: Option<Json>,
    log: Option<WatchLog>,
    /// The error that ended the log, until it is shown.
    complaint: Option<String>,
}

/// Where lines of JSON go.
enum Json {
    Reader,
    File(PathBuf, File),
}

/// A run folder that is being written.
struct WatchLog {
    run: Run,
    live: LiveWriter,
    log: Log,
}

/// The settings of a watch, as its plan keeps them.
#[derive(Serialize)]
struct Settings<'a> {
    interval: String,
    drives: &'a [String],
    all: bool,
    partitions: bool,
}

impl WatchSession {
    /// Reads the counters for the first time.
    fn begin(mut sampler: Sampler, scope: Scope, command: &Watch) -> Result<Self> {
        let json = command.json.as_deref().map(Json::open).transpose()?;
        let mut drives = Drives::default();
        drives.take(sampler.read()?);
        let log = command.log.then(|| WatchLog::begin(&drives, &scope, command)).transpose()?;
        let started_at = drives.at();
        Ok(Self { sampler, drives, scope, started_at, json, log, complaint: None })
    }

    /// Reads the counters again, and passes on the changes. Returns whether the output still has a reader.
    fn read(&mut self) -> Result<bool> {
        self.drives.take(self.sampler.read()?);
        if self.json.is_none() && self.log.is_none() {
            return Ok(true);
        }
        let (date, at_ns) = (wall_date(), self.drives.at().0);
        let news = self.drives.in_scope(&self.scope).filter(|history| history.is_news());
        let lines: Vec<Line> = news.map(|history| Line::from_course(history, &date, at_ns)).collect();
        // A full drive ends the log, but not the watch.
        if let Some(noted) = &mut self.log
            && let Err(error) = noted.push(&lines)
        {
            self.complaint = Some(wording::log_ended(error));
            self.log = None;
        }
        match &mut self.json {
            Some(json) => json.put(&lines),
            None => Ok(true),
        }
    }
}

impl Json {
    fn open(path: &Path) -> Result<Self> {
        if path == Path::new("-") {
            return Ok(Self::Reader);
        }
        Ok(Self::File(path.to_owned(), OutputFile::begin(path)?.finish()?))
    }

    /// Returns whether the output still has a reader.
    fn put(&mut self, lines: &[Line]) -> Result<bool> {
        let text: String = lines
            .iter()
            .map(|line| serde_json::to_string(line).expect("a line is plain values") + "\n")
            .collect();
        match self {
            Self::Reader => output::print_to_reader(&text),
            Self::File(path, file) => {
                let written = file.write_all(text.as_bytes());
                written.with_context(|| wording::could_not_write(path))?;
                Ok(true)
            }
        }
    }
}

impl WatchLog {
    fn begin(drives: &Drives, scope: &Scope, command: &Watch) -> Result<Self> {
        let identity = identity(drives, scope);
        let settings = Settings {
            interval: likenew_core::units::exact_duration(command.interval),
            drives: &scope.names,
            all: scope.all,
            partitions: scope.partitions,
        };
        let plan = Plan::new(PROCEDURE, Some(identity.name.clone()), 0, options(&settings));
        let geometry = Geometry {
            capacity: identity.capacity_bytes,
            block: SECTOR,
            boundary: None,
            writable: false,
            trims: false,
            carries_data: false,
            clock: Clock::Wall,
        };
        let instrument = uncalibrated(identity.engine.clone(), likenew_real::host::system());
        let machine = Machine::new(wall_date(), identity, geometry, instrument);
        let archive = ArchiveFolder { archive: command.archive.clone() }.archive()?;
        let run = archive.create(&plan, &machine).map_err(anyhow::Error::new)?;
        let live = run.live().map_err(anyhow::Error::new)?;
        Ok(Self { run, live, log: Log::default() })
    }

    fn push(&mut self, lines: &[Line]) -> Result<(), likenew_archive::ArchiveError> {
        lines.iter().for_each(|line| self.log.add(line));
        self.live.push(lines)
    }

    fn end(self) -> Result<()> {
        self.live.close().map_err(anyhow::Error::new)?;
        self.run.conclude(&self.log.findings()).map_err(anyhow::Error::new)?;
        note(wording::log_kept(self.run.path()));
        Ok(())
    }
}

/// All watched drives as one target.
fn identity(drives: &Drives, scope: &Scope) -> Identity {
    let histories: Vec<_> = drives.in_scope(scope).collect();
    let paths: Vec<&str> = histories.iter().map(|history| history.facts().path.as_str()).collect();
    let name = if scope.names.is_empty() { "every drive".to_owned() } else { paths.join(", ") };
    let fact = |history: &&likenew_watch::drives::DriveHistory| {
        let facts = history.facts();
        let model = facts.model.as_deref().unwrap_or("model unknown");
        (history.name().to_owned(), format!("{model}, {}", amount(facts.capacity_bytes)))
    };
    let model = match &histories[..] {
        [history] => history.facts().model.clone(),
        _ => None,
    };
    let drives_alone =
        histories.iter().filter(|history| histories.len() == 1 || history.facts().role == Role::Drive);
    Identity {
        name,
        kind: TargetKind::Device,
        model,
        engine: "kernel counters".to_owned(),
        capacity_bytes: drives_alone.map(|history| history.facts().capacity_bytes).sum(),
        block_bytes: SECTOR,
        facts: histories.iter().map(fact).collect(),
        caveats: histories.iter().flat_map(|history| history.facts().caveats.clone()).collect(),
        accounting: None,
    }
}

/// Whether a run is the log of a watch.
pub(super) fn is_log(record: &Record) -> bool {
    record.header.plan.procedure == PROCEDURE
}

/// Makes the findings of a log from its lines, so that the log of a killed watch can be shown, too.
pub(super) fn judge(record: &Record) -> Result<Document> {
    let mut log = Log::default();
    let complaints = read_live(&record.path, |line: Line| log.add(&line)).map_err(anyhow::Error::new)?;
    complaints.iter().for_each(|complaint| note(wording::error(complaint)));
    let (header, findings) = (&record.header, log.findings());
    let (identity, instrument) = (header.machine.identity.clone(), header.machine.instrument.clone());
    Ok(Document::new(header.plan.clone(), identity, findings, instrument, 0, log.elapsed()))
}
