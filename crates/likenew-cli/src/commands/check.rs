//! `likenew check`, and its reports for `--changes` and monitoring plugins.

mod upgrade;

use std::path::{Path, PathBuf};

use clap::Args;
use likenew_archive::DriveSignature;
use likenew_core::procedure::Plan;
use likenew_core::region::Region;
use likenew_core::units::{Nanos, parse_size};
use likenew_history::metrics::Attempt;
use likenew_history::{Change, Check as KeptCheck, DriveHistory, DriveRow, History, MetricHistory, Page};
use likenew_procedures::check::{CheckOptions, Metric, PeersOption};
use likenew_procedures::data::files::FileScan;
use likenew_real::listing::list;
use likenew_real::old_files::largest_file;
use likenew_real::open::{PathKind, examine};
use likenew_real::scan::Request as ScanRequest;
use likenew_real::space::Space;

use super::data::scan_folders;
use super::facts::FromOutputs;
use super::history::HistoryPlace;
use super::{Command, history, seed_of_one_run};
use crate::arguments::{OUTPUT, RUN, RunArguments, SmartctlArgument, typed_target};
use crate::console::note;
use crate::exit::{Exit, Failure, Result};
use crate::measure::{Request, Target, measure_each, options};
use crate::output;
use crate::references::ReferenceArguments;
use crate::resolved_target::{Access, ResolvedTarget};
use crate::wording::{self, history as history_wording};

/// Is the drive slow, why, and what fixes it?
#[derive(Debug, Args)]
#[command(next_help_heading = "Test")]
pub(crate) struct Check {
    /// Folders, files, block devices or simulated drives; each is checked separately
    #[arg(required_unless_present_any = ["all", "from"], conflicts_with = "from", value_parser = typed_target, value_name = "TARGET", help_heading = Option::<&'static str>::None)]
    targets: Vec<String>,
    /// Check every drive of this machine, with reads only
    #[arg(long, conflicts_with_all = ["targets", "from"])]
    all: bool,
    #[command(flatten)]
    from: FromOutputs,
    /// Write at most this much; 0 writes nothing [default: 2GiB, with --thorough 64GiB]
    #[arg(long, value_parser = parse_size, value_name = "SIZE")]
    bytes: Option<u64>,
    /// Test for minutes and write up to 64 GiB: finds what a short test cannot
    #[arg(long)]
    thorough: bool,
    /// Also read the files in this folder: what share of the rated speed do they get?
    #[arg(long, value_name = "DIR")]
    files: Vec<PathBuf>,
    /// Would a new drive be faster? Compares with these drives of `likenew drives`
    #[arg(long, value_delimiter = ',', value_name = "DRIVE", conflicts_with = "all")]
    upgrade: Vec<String>,
    /// With --upgrade: a recorded day of this drive, from `likenew record` or any trace format
    #[arg(long = "trace", value_name = "FILE", requires = "upgrade")]
    recording: Option<String>,
    /// With --upgrade and no trace: applications to replay instead, as `likenew apps` names them [default: pcmark8]
    #[arg(long, value_name = "NAME|FILE.toml", requires = "upgrade", conflicts_with = "recording")]
    app: Vec<String>,
    #[command(flatten)]
    references: ReferenceArguments,
    #[command(flatten)]
    smartctl: SmartctlArgument,
    /// Random seed [default: 0 for simulated drives, a new one each time for real ones]
    #[arg(long, value_name = "N", help_heading = RUN, hide_short_help = true)]
    seed: Option<u64>,
    /// Print the plan as TOML and stop
    #[arg(long, help_heading = RUN)]
    plan: bool,
    #[command(flatten)]
    run_arguments: RunArguments,
    /// Only say what changed since the last check: a line for each drive that got slower or faster, or has or lost a problem
    #[arg(long, help_heading = OUTPUT, conflicts_with_all = ["details", "quiet", "html", "json", "no_archive", "plan", "export"])]
    changes: bool,
    /// As a plugin of Nagios or Icinga: one line with its numbers, and its exit codes 0 (OK), 2 (critical: a problem) and 3
    /// (unknown: not checked)
    #[arg(long, help_heading = OUTPUT, conflicts_with_all = ["changes", "details", "quiet", "markdown", "html", "json", "no_archive", "plan", "export"])]
    nagios: bool,
    /// After the checks, write metrics of all drives of the history to FILE.prom, as node_exporter reads it
    #[arg(long, value_name = "FILE", help_heading = OUTPUT, conflicts_with_all = ["no_archive", "plan", "export"])]
    openmetrics: Option<PathBuf>,
    #[command(flatten)]
    place: HistoryPlace,
}

/// Most bytes to read of the user's files.
const SAMPLE: u64 = 64 << 20;
/// Time limit for scanning these files. Chosen: shorter than the check itself.
const SCAN_TIME: Nanos = Nanos::from_secs(20);

impl Command for Check {
    fn run(self) -> Result<Exit> {
        let is_plugin = self.nagios;
        match self.check() {
            Err(failure) if is_plugin => {
                output::print(&history_wording::nagios_unknown(&failure.reason()))?;
                Ok(NAGIOS_UNKNOWN)
            }
            other => other,
        }
    }
}

impl Check {
    fn limits(&self) -> CheckOptions {
        CheckOptions { bytes: self.bytes, thorough: self.thorough, ..CheckOptions::default() }
    }

    /// Runs the check. A target that may not be written is only read, so only one that cannot be queried is refused.
    fn check(self) -> Result<Exit> {
        self.openmetrics.as_deref().map_or(Ok(()), history::check_metrics_file)?;
        let reserve = self.run_arguments.execution.reserve;
        let printed = self.from.read()?;
        let targets = match &printed {
            Some(printed) => vec![printed.name.clone()],
            None if self.all => drives()?,
            None => self.targets.iter().map(|target| readable(target, &self.limits(), reserve)).collect(),
        };
        Failure::reject_if(targets.len() > 1 && !self.upgrade.is_empty(), wording::UPGRADE_TAKES_ONE_TARGET)?;
        if !self.plan {
            self.smartctl.apply(&targets)?;
        }
        let request = Request {
            prints_plan: self.plan,
            // With --all, JSON is a list even if the machine has only one drive.
            is_list: self.all,
            leaves_out_failed: true,
            is_silent: self.changes || self.nagios,
            ..Request::new(
                targets,
                printed.as_ref().map_or(Access::Read, Access::Printed),
                &self.run_arguments,
            )
        };
        let since = likenew_real::clock::wall_date();
        let only = request.targets.first().cloned().unwrap_or_default();
        let measured = measure_each(request, |target| plan(&self, target));
        if !self.changes && !self.nagios && self.openmetrics.is_none() || self.plan {
            return measured.map(|(exit, _)| exit);
        }
        let attempts = match &measured {
            Ok((_, attempts)) => attempts.clone(),
            Err(failure) => vec![Attempt { target: only, reason: Some(failure.reason()) }],
        };
        let archive = self.run_arguments.archive_arguments.folder.archive()?;
        let mut index = history::open_updated(&self.place, &archive)?;
        if let Some(path) = &self.openmetrics {
            history::write_metrics(&mut index, &attempts, path)?;
        }
        let (exit, attempts) = measured?;
        if self.nagios {
            return report_to_nagios(&mut index, &since, &attempts, exit);
        }
        if self.changes { report_changes(&mut index, &since, exit) } else { Ok(exit) }
    }
}

/// Replaces a folder that cannot be written by its largest file, which is only read. Other targets stay as they are.
fn readable(typed: &str, limits: &CheckOptions, reserve: Option<u64>) -> String {
    let folder = Path::new(typed);
    let Ok(PathKind::Folder { space, .. }) = examine(folder, reserve) else { return typed.to_owned() };
    let Err(reason) = can_write(typed, &space, limits) else { return typed.to_owned() };
    let Some(file) = largest_file(folder, CheckOptions::READABLE_LEAST) else { return typed.to_owned() };
    note(wording::reads_of_largest_file(reason.reason(), &file));
    file.to_string_lossy().into_owned()
}

/// Refuses a folder that may not be written, or that the files of a check do not fit into.
fn can_write(folder: &str, space: &Space, limits: &CheckOptions) -> Result<()> {
    enough_bytes(folder, limits)?;
    // A check writes half of the space that it may fill.
    Ok(space.check(CheckOptions::AREA_LEAST * 2, Path::new(folder))?)
}

/// Refuses a write limit that is too small for the check of a folder to show anything.
pub(super) fn enough_bytes(folder: &str, limits: &CheckOptions) -> Result<()> {
    const LEAST: u64 = CheckOptions::BYTES_LEAST;
    match limits.budget() {
        LEAST.. => Ok(()),
        bytes => Err(Failure::Usage(wording::too_few_bytes_to_check(folder, bytes, LEAST))),
    }
}

/// Device paths of all drives of this machine, without layers such as RAID above them.
fn drives() -> Result<Vec<String>> {
    let devices = list()?;
    let drives: Vec<String> =
        devices.into_iter().filter(|drive| drive.is_drive).map(|drive| drive.path).collect();
    Failure::reject_if(drives.is_empty(), wording::NO_DRIVES)?;
    Ok(drives)
}

/// Makes the plan with its references.
fn plan(command: &Check, target: &Target) -> Result<Plan> {
    let Target { typed, resolved: target, .. } = target;
    let printed = target.printed();
    if printed.is_none() && !target.is_folder() {
        let (bytes, least) = (target.usable_bytes()?, CheckOptions::READABLE_LEAST);
        Failure::reject_if(bytes < least, wording::too_small_to_check(typed, bytes, least))?;
    }
    let mut check = command.limits();
    if let Some(space) = target.space() {
        can_write(typed, space, &check)?;
    }
    if let Some(printed) = printed {
        (check.from_outputs, check.measured) = (true, printed.measured.clone());
    }
    if !command.upgrade.is_empty() && command.recording.is_none() {
        // Applications write one more part of the same size.
        check.bytes = Some(check.budget() / (CheckOptions::PARTS + 1) * CheckOptions::PARTS);
    }
    if let ResolvedTarget::Simulated(spec) = target {
        let free = spec.free(target.usable_bytes()?);
        check.free = (!free.is_empty()).then(|| Region::bytes(free));
    }
    if target.is_folder() {
        // The test file has to fit into the folder.
        let area = check.area(target.usable_bytes()?);
        check.bytes = Some(area * CheckOptions::PARTS);
    }
    command.references.add_to(&mut check, &command.run_arguments.archive_arguments, target)?;
    check.peers = peers(command, target, &check)?;
    if !command.files.is_empty() {
        check.files = Some(files(command)?);
    }
    if !command.upgrade.is_empty() {
        check.upgrade = Some(upgrade::collect(command, &check, target)?);
    }
    let seed = seed_of_one_run(command.seed, target)?;
    Ok(Plan::new("check", Some(typed.clone()), seed, options(&check)))
}

/// Most other drives of a model to compare one with; more would not change the result.
const PEERS_MOST: usize = 500;

/// Speeds of other drives of this model, from a history that the user named. A history that cannot
/// be read does not stop the check.
fn peers(command: &Check, target: &ResolvedTarget, check: &CheckOptions) -> Result<Vec<PeersOption>> {
    // Reading facts takes a while.
    let known = if command.place.is_named() { target.facts() } else { None };
    let Some(known) = known else { return Ok(Vec::new()) };
    let Some(signature) = DriveSignature::new(&known.identity, Some(&known.facts)) else {
        return Ok(Vec::new());
    };
    let archive = command.run_arguments.archive_arguments.folder.archive()?;
    let peer_metrics = history::open(&command.place, &archive)
        .and_then(|mut index| Ok(index.peers_of(&signature, PEERS_MOST)?));
    let metrics = match peer_metrics {
        Ok(metrics) => metrics,
        Err(failure) => {
            note(wording::error(history_wording::peers_not_known(&failure.reason())));
            return Ok(Vec::new());
        }
    };
    let mut peers: Vec<PeersOption> = Vec::new();
    for peer in metrics {
        let Ok(metric) = serde_json::from_value::<Metric>(peer.name.into()) else { continue };
        if peer.bytes != check.bytes_of(metric) {
            continue;
        }
        match peers.iter_mut().find(|peers| peers.metric == metric) {
            Some(peers) => peers.per_s.push(peer.value),
            None => peers.push(PeersOption { metric, per_s: vec![peer.value] }),
        }
    }
    Ok(peers)
}

/// A scan of the user's files.
fn files(command: &Check) -> Result<FileScan> {
    let request = ScanRequest {
        folders: command.files.clone(),
        sample_bytes: SAMPLE,
        time: SCAN_TIME,
        cross: false,
        seed: command.seed.unwrap_or(0),
    };
    scan_folders(&request, command.run_arguments.execution.wait_for_drive)
}

/// Exit codes 2 and 3 of a plugin (Monitoring Plugins Development Guidelines). Elsewhere, these
/// codes mean what their names say.
const NAGIOS_CRITICAL: Exit = Exit::Usage;
const NAGIOS_UNKNOWN: Exit = Exit::Refused;

/// Prints a line for each drive that was checked since this date, problems first, and a line for
/// each failed check. The history has no targets on several drives, so `exit` covers those.
fn report_to_nagios(history: &mut History, since: &str, attempts: &[Attempt], exit: Exit) -> Result<Exit> {
    let (mut lines, mut end) = (Vec::new(), Exit::Fine);
    for (drive, mut checks) in checked_since(history, since)? {
        let check = checks.pop().expect("it was checked since");
        let is_problem = check.run.standing == "problem";
        if is_problem {
            end = NAGIOS_CRITICAL;
        }
        lines.push((!is_problem, history_wording::nagios_line(&drive, &check, is_problem)));
    }
    for reason in attempts.iter().filter_map(|attempt| attempt.reason.as_ref()) {
        lines.push((true, history_wording::nagios_unknown(reason)));
        end = if end == Exit::Fine { NAGIOS_UNKNOWN } else { end };
    }
    match exit {
        Exit::Problem if end != NAGIOS_CRITICAL => {
            lines.push((false, history_wording::NAGIOS_PROBLEM.to_owned()));
            end = NAGIOS_CRITICAL;
        }
        Exit::Fine if lines.is_empty() => lines.push((true, history_wording::NAGIOS_FINE.to_owned())),
        Exit::Fine | Exit::Problem => {}
        _ if end == Exit::Fine => {
            lines.push((false, history_wording::nagios_unknown(history_wording::NOT_FINISHED)));
            end = NAGIOS_UNKNOWN;
        }
        _ => {}
    }
    lines.sort_by_key(|(is_fine, _)| *is_fine);
    output::print(&lines.into_iter().map(|(_, line)| line).collect::<String>())?;
    Ok(end)
}

/// Drives of this archive that were checked since a date, each with its checks. A shared history
/// also has drives of other machines.
fn checked_since(history: &mut History, since: &str) -> Result<Vec<(DriveRow, Vec<KeptCheck>)>> {
    let mut checked = Vec::new();
    for row in history.drives(Page { offset: 0, rows: u32::MAX })? {
        if row.last_at.as_str() < since || row.archive != history.archive_name() {
            continue;
        }
        let checks = history.checks(&row)?;
        if checks.last().is_some_and(|check| check.run.started_at.as_str() >= since) {
            checked.push((row, checks));
        }
    }
    Ok(checked)
}

/// Prints a line for each drive that was checked since this date and has changed. The exit code is
/// a problem only if a drive got worse; an old problem does not count.
fn report_changes(history: &mut History, since: &str, exit: Exit) -> Result<Exit> {
    let mut end = if exit == Exit::Problem { Exit::Fine } else { exit };
    for (row, checks) in checked_since(history, since)? {
        let drive = DriveHistory::new(row, checks);
        let news = news(&drive);
        if !news.sentences.is_empty() {
            output::print(&(history_wording::news(&drive.drive, &news.sentences, news.is_worse) + "\n"))?;
        }
        if news.is_worse {
            end = end.worse(Exit::Problem);
        }
    }
    Ok(end)
}

/// What is new about a drive since its last check.
#[derive(Debug, Default, PartialEq)]
struct News {
    sentences: Vec<String>,
    is_worse: bool,
}

/// Compares a drive's history with the same history before its latest check.
fn news(drive: &DriveHistory) -> News {
    let mut news = News::default();
    let Some((latest, earlier)) = drive.checks.split_last() else { return news };
    let is_problem = |check: &KeptCheck| check.run.standing == "problem";
    match (earlier.last().filter(|check| is_problem(check)), is_problem(latest)) {
        (None, true) => {
            news.is_worse = true;
            news.sentences.push(history_wording::new_problem(&latest.run.summary));
        }
        (Some(before), false) => news.sentences.push(history_wording::solved(&before.run.summary)),
        (Some(before), true) => {
            let is_known = |name: &str| before.run.problems.iter().any(|problem| problem.name == name);
            let more = latest.run.problems.iter().filter(|problem| !is_known(&problem.name));
            news.sentences.extend(more.map(|problem| problem.sentence.clone()));
            news.is_worse |= !news.sentences.is_empty();
        }
        (None, false) => {}
    }
    let before = drive.before();
    for metric in &drive.metrics {
        if let Some(change) = new_change(metric, before.metric(&metric.name)) {
            news.is_worse |= change.ratio < 1.0;
            news.sentences.push(history_wording::change(metric, change));
        }
    }
    news
}

/// The last change of a metric, if the latest check added one.
fn new_change<'a>(now: &'a MetricHistory, before: Option<&MetricHistory>) -> Option<&'a Change> {
    let known = before.map_or(0, |before| before.changes.len());
    now.changes.last().filter(|_| now.changes.len() > known)
}
