//! Watched drives, with their output to JSON and to a run folder; and reading such a folder again.

use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use likenew_archive::{Archive, LiveWriter, Machine, Record, Run, read_live};
use likenew_core::drive::{Identity, Kind};
use likenew_core::instrument::Instrument;
use likenew_core::plan::Plan;
use likenew_core::reading::Role;
use likenew_core::target::{Clock, Geometry};
use likenew_core::units::{Nanos, amount};
use likenew_real::clock::wall_date;
use likenew_real::sampler::Sampler;
use likenew_report::document::Document;
use likenew_watch::drives::{Drives, Scope};
use likenew_watch::findings::Log;
use likenew_watch::line::Line;
use serde::Serialize;

use crate::arguments::Watch;
use crate::exit::Failure;
use crate::measure::{archive_root, options};
use crate::output_file::OutputFile;
use crate::wording;

/// The procedure in a watch's plan. It cannot be run.
pub(crate) const PROCEDURE: &str = "watch";
/// Bytes of the sectors that the kernel counts.
const SECTOR: u32 = 512;

/// The drives, and the outputs of each interval.
pub(crate) struct WatchSession {
    sampler: Sampler,
    drives: Drives,
    scope: Scope,
    started_at: Nanos,
    json: Option<Json>,
    log: Option<WatchLog>,
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
    pub(crate) fn begin(mut sampler: Sampler, scope: Scope, command: &Watch) -> Result<Self, Failure> {
        let json = command.json.as_deref().map(Json::open).transpose()?;
        let mut drives = Drives::default();
        drives.take(sampler.read()?);
        let log = command.log.then(|| WatchLog::begin(&drives, &scope, command)).transpose()?;
        let started_at = drives.at();
        Ok(Self { sampler, drives, scope, started_at, json, log, complaint: None })
    }

    pub(crate) fn drives(&self) -> &Drives {
        &self.drives
    }

    pub(crate) fn scope(&self) -> &Scope {
        &self.scope
    }

    pub(crate) fn started_at(&self) -> Nanos {
        self.started_at
    }

    pub(crate) fn now(&self) -> Nanos {
        self.sampler.now()
    }

    /// Waits until then, or as long as `goes_on` allows.
    pub(crate) fn wait(&self, until: Nanos, goes_on: impl Fn() -> bool) {
        self.sampler.wait(until, goes_on);
    }

    /// The first error of the log, once.
    pub(crate) fn complaint(&mut self) -> Option<String> {
        self.complaint.take()
    }

    /// Reads the counters again, and passes on the changes. Returns whether the output still has a reader.
    pub(crate) fn read(&mut self) -> Result<bool, Failure> {
        self.drives.take(self.sampler.read()?);
        if self.json.is_none() && self.log.is_none() {
            return Ok(true);
        }
        let (date, at_ns) = (wall_date(), self.drives.at().0);
        let news = self.drives.in_scope(&self.scope).filter(|history| history.is_news());
        let lines: Vec<Line> = news.map(|history| Line::from_course(history, &date, at_ns)).collect();
        // A full drive ends the log and not the watch.
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

    /// Concludes the log.
    pub(crate) fn end(self) -> Result<(), Failure> {
        self.log.map_or(Ok(()), WatchLog::end)
    }
}

impl Json {
    fn open(path: &Path) -> Result<Self, Failure> {
        if path == Path::new("-") {
            return Ok(Self::Reader);
        }
        Ok(Self::File(path.to_owned(), OutputFile::begin(path)?.finish()?))
    }

    /// Returns whether the output still has a reader.
    fn put(&mut self, lines: &[Line]) -> Result<bool, Failure> {
        let text: String = lines
            .iter()
            .map(|line| serde_json::to_string(line).expect("a line is plain values") + "\n")
            .collect();
        match self {
            Self::Reader => print_to_reader(&text),
            Self::File(path, file) => {
                let written = file.write_all(text.as_bytes());
                written.with_context(|| wording::could_not_write(path))?;
                Ok(true)
            }
        }
    }
}

/// To standard output; false if its reader has closed it, such as `head`.
pub(crate) fn print_to_reader(text: &str) -> Result<bool, Failure> {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(false),
        Err(error) => Err(anyhow::Error::new(error).context(wording::PRINT_FAILED).into()),
        Ok(()) => Ok(true),
    }
}

impl WatchLog {
    fn begin(drives: &Drives, scope: &Scope, command: &Watch) -> Result<Self, Failure> {
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
        let version = env!("CARGO_PKG_VERSION").to_owned();
        let instrument =
            Instrument { version, clock: Clock::Wall, engine: identity.engine.clone(), calibration: None };
        let machine = Machine::new(wall_date(), identity, geometry, instrument);
        let archive = Archive::new(archive_root(command.archive.as_deref())?);
        let run = archive.create(&plan, &machine).map_err(anyhow::Error::new)?;
        let live = run.live().map_err(anyhow::Error::new)?;
        Ok(Self { run, live, log: Log::default() })
    }

    fn push(&mut self, lines: &[Line]) -> Result<(), likenew_archive::ArchiveError> {
        lines.iter().for_each(|line| self.log.add(line));
        self.live.push(lines)
    }

    fn end(self) -> Result<(), Failure> {
        self.live.close().map_err(anyhow::Error::new)?;
        self.run.conclude(&self.log.findings()).map_err(anyhow::Error::new)?;
        crate::standard_error::note(wording::log_kept(self.run.path()));
        Ok(())
    }
}

/// All watched drives as one target.
fn identity(drives: &Drives, scope: &Scope) -> Identity {
    let histories: Vec<_> = drives.in_scope(scope).collect();
    let paths: Vec<&str> = histories.iter().map(|history| history.facts().path.as_str()).collect();
    let name = if scope.names.is_empty() { "every drive".to_owned() } else { paths.join(", ") };
    let fact = |history: &&likenew_watch::drive_history::DriveHistory| {
        let facts = history.facts();
        let model = facts.model.as_deref().unwrap_or("model unknown");
        (history.name().to_owned(), format!("{model}, {}", amount(facts.capacity_bytes)))
    };
    let model = match &histories[..] {
        [one] => one.facts().model.clone(),
        _ => None,
    };
    let drives_alone =
        histories.iter().filter(|history| histories.len() == 1 || history.facts().role == Role::Drive);
    Identity {
        name,
        kind: Kind::Device,
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
pub(crate) fn is_log(record: &Record) -> bool {
    record.header.plan.procedure == PROCEDURE
}

/// The findings of a log, from its lines, so that a killed watch is as good as any.
pub(crate) fn judge(record: &Record) -> Result<Document, Failure> {
    let mut log = Log::default();
    let complaints = read_live(&record.path, |line: Line| log.add(&line)).map_err(anyhow::Error::new)?;
    complaints.iter().for_each(|complaint| crate::standard_error::note(wording::error(complaint)));
    let (header, findings) = (&record.header, log.findings());
    let (identity, instrument) = (header.machine.identity.clone(), header.machine.instrument.clone());
    Ok(Document::new(header.plan.clone(), identity, findings, instrument, 0, log.elapsed()))
}
