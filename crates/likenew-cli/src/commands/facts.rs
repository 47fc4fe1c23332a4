//! `likenew facts` and `drives`: what the system and the drives report. Nothing is opened for I/O, and nothing is created
//! in a folder.

use std::path::{Path, PathBuf};

use clap::Args;
use likenew_core::procedure::Plan;
use likenew_core::units::amount;
use likenew_real::facts::reported::bundle;
use likenew_real::listing::{DriveListing, list};
use likenew_sim::catalog;
use likenew_sim::model::KINDS;
use serde::Serialize;

use super::Command;
use crate::arguments::{
    ARCHIVE, ArchiveArguments, ArchiveFolder, ExecutionArguments, OUTPUT, Output, RUN, RunArguments,
    SmartctlArgument, typed_target,
};
use crate::exit::{Exit, Failure, Result};
use crate::measure::{Request, measure};
use crate::output;
use crate::printed::PrintedFacts;
use crate::resolved_target::Access;
use crate::wording::{self, help as help_wording};

/// What the system and the drive report, without any I/O
#[derive(Debug, Args)]
pub(crate) struct Facts {
    /// A folder, a file, a block device, or a simulated drive
    #[arg(required_unless_present_any = ["all", "from"], conflicts_with = "from", value_parser = typed_target)]
    target: Option<String>,
    /// Every drive of this machine
    #[arg(long, conflicts_with_all = ["target", "from"], help_heading = RUN)]
    all: bool,
    #[command(flatten)]
    from: FromOutputs,
    /// Write the facts to FILE for someone else, with serial numbers as hashes, or to standard output with -
    #[arg(long, value_name = "FILE|-", help_heading = OUTPUT)]
    bundle: Option<PathBuf>,
    /// Show where each fact comes from
    #[arg(long, help_heading = RUN)]
    origins: bool,
    #[command(flatten)]
    smartctl: SmartctlArgument,
    /// Print the plan as TOML and stop
    #[arg(long, help_heading = RUN)]
    plan: bool,
    #[command(flatten)]
    output: Output,
    #[command(flatten)]
    folder: ArchiveFolder,
    /// Do not keep this run
    #[arg(long, conflicts_with = "archive", help_heading = ARCHIVE)]
    no_archive: bool,
}

impl Command for Facts {
    fn run(self) -> Result<Exit> {
        let Self { target, all, from, bundle, origins, smartctl, plan, output, folder, no_archive } = self;
        let run_arguments = RunArguments {
            execution: ExecutionArguments { output, ..ExecutionArguments::default() },
            archive_arguments: ArchiveArguments { folder, no_archive },
            ..RunArguments::default()
        };
        let printed = from.read()?;
        let access = printed.as_ref().map_or(Access::Facts { of_all: all }, Access::Printed);
        // With --all, there is no target to name.
        let typed = target.clone().unwrap_or_default();
        if !plan {
            smartctl.apply(std::slice::from_ref(&typed))?;
        }
        if let Some(path) = bundle.as_ref().filter(|_| !plan) {
            write_bundle(access, &typed, &run_arguments, path)?;
            if path == Path::new("-") {
                return Ok(Exit::Fine);
            }
        }
        let request = Request {
            prints_plan: plan,
            details_command: Some(output::same_command()),
            origins,
            ..Request::new(vec![typed], access, &run_arguments)
        };
        let target = target.or_else(|| printed.as_ref().map(|printed| printed.name.clone()));
        let plan = Plan::new("facts", target, 0, toml::Table::new());
        measure(request, |_| Ok(plan.clone()))
    }
}

/// What programs printed on another machine.
#[derive(Debug, Args)]
pub(crate) struct FromOutputs {
    /// Instead of a target: what smartctl, nvme, lsblk, dmesg, fio and others printed on another machine; files, folders, or -
    #[arg(long = "from", value_name = "FILE|DIR|-", num_args = 1.., help_heading = RUN)]
    from: Vec<PathBuf>,
}

impl FromOutputs {
    /// Reads these outputs, if any were given.
    pub(crate) fn read(&self) -> Result<Option<PrintedFacts>> {
        (!self.from.is_empty()).then(|| PrintedFacts::read(&self.from)).transpose()
    }
}

/// Writes the facts of a target to a file that `--from` can read.
fn write_bundle(access: Access<'_>, typed: &str, run_arguments: &RunArguments, path: &Path) -> Result<()> {
    let resolved = access.resolve(typed, &run_arguments.execution)?;
    let known = resolved.facts().ok_or_else(|| Failure::Usage(wording::no_facts_to_bundle(typed)))?;
    output::write_to(path, &bundle(&known.facts))?;
    if path != Path::new("-") {
        crate::console::note(wording::bundle_written(path));
    }
    Ok(())
}

/// List real and simulated drives
#[derive(Debug, Args)]
pub(crate) struct Drives {
    /// Write the list as JSON to FILE, or to standard output with -
    #[arg(long, value_name = "FILE|-")]
    json: Option<PathBuf>,
}

/// The JSON of `--json`.
#[derive(Serialize)]
struct DriveList {
    simulated: Vec<SimulatedDriveRow>,
    real: Vec<DriveListing>,
}

#[derive(Serialize)]
struct SimulatedDriveRow {
    target: String,
    kind: &'static str,
    model: String,
    technology: String,
    capacity_bytes: u64,
}

impl Command for Drives {
    fn run(self) -> Result<Exit> {
        let simulated = catalog().iter().map(|entry| SimulatedDriveRow {
            target: format!("sim:{}", entry.name),
            kind: entry.model.mechanism.kind(),
            model: entry.model.model.clone(),
            technology: entry.model.technology.clone(),
            capacity_bytes: entry.model.capacity_bytes,
        });
        let drives = DriveList { simulated: simulated.collect(), real: list()? };
        if let Some(path) = &self.json {
            output::write_json(path, &drives)?;
            return Ok(Exit::Fine);
        }
        output::print(&text(&drives))?;
        Ok(Exit::Fine)
    }
}

fn text(drives: &DriveList) -> String {
    let mut text = String::from(help_wording::SIMULATED_DRIVES);
    for kind in KINDS {
        text += &format!("  {}\n", title(kind));
        for drive in drives.simulated.iter().filter(|drive| drive.kind == kind) {
            text += &simulated_row(drive);
        }
    }
    text += help_wording::BLOCK_DEVICES;
    for drive in &drives.real {
        let model = drive.model.as_deref().unwrap_or("model unknown");
        let used = drive.used_by.as_deref().map_or(String::new(), |used| format!(", {used}"));
        text += &format!("  {:30} {:>9}  {model}{used}\n", drive.path, amount(drive.capacity_bytes));
    }
    if drives.real.is_empty() {
        text += help_wording::NO_BLOCK_DEVICES;
    }
    text
}

/// The row of a simulated drive, with its description wrapped.
fn simulated_row(drive: &SimulatedDriveRow) -> String {
    /// Longer lines are hard to read, and shorter ones leave no room for a description.
    const WIDTHS: std::ops::RangeInclusive<usize> = 80..=100;
    let head = format!("    {:30} {:>9}  ", drive.target, amount(drive.capacity_bytes));
    let below = " ".repeat(head.chars().count());
    let width = output::width().clamp(*WIDTHS.start(), *WIDTHS.end());
    let options = textwrap::Options::new(width).initial_indent(&head).subsequent_indent(&below);
    format!("{}\n", textwrap::fill(&format!("{}, {}", drive.model, drive.technology), options))
}

fn title(kind: &str) -> &str {
    match kind {
        "flash" => "Flash",
        "disk" => "Hard disks",
        "volume" => "Cloud volumes",
        other => other,
    }
}
