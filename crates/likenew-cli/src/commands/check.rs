//! `likenew check`.

mod changes;

use std::path::Path;

use likenew_archive::Archive;
use likenew_core::plan::Plan;
use likenew_core::region::Region;
use likenew_core::units::Nanos;
use likenew_metrics::Attempt;
use likenew_procedures::check::CheckOptions;
use likenew_procedures::data::files::FileScan;
use likenew_real::listing::list;
use likenew_real::old_files::largest_file;
use likenew_real::open::{PathKind, examine};
use likenew_real::scan::Request as ScanRequest;

use super::history::openmetrics;
use crate::access::Access;
use crate::arguments::Check;
use crate::exit::{Exit, Failure};
use crate::measure::{OnFailure, Request, Target, archive_root, measure_each, options};
use crate::reference_sources::add_references;
use crate::resolved_target::ResolvedTarget;
use crate::scanning::scan_folders;
use crate::{run_history, upgrade, wording};

/// Most bytes to read of the user's files.
const SAMPLE: u64 = 64 << 20;
/// Time limit of scanning them. Chosen: shorter than the check itself.
const SCAN_TIME: Nanos = Nanos::from_secs(20);

/// Read-only targets are only read, so nothing is refused here except a target that cannot be queried.
pub(crate) fn run(command: Check) -> Result<Exit, Failure> {
    command.openmetrics.as_deref().map_or(Ok(()), openmetrics::check_file)?;
    let reserve = command.run_arguments.execution.reserve;
    let targets = if command.all {
        drives()?
    } else {
        command.targets.iter().map(|of| readable(of, reserve)).collect()
    };
    if targets.len() > 1 && !command.upgrade.is_empty() {
        return Err(Failure::Usage(wording::UPGRADE_TAKES_ONE_TARGET.into()));
    }
    let request = Request {
        prints_plan: command.plan,
        // How many drives a machine has does not decide what the JSON of all is.
        is_list: command.all,
        on_failure: OnFailure::LeaveOut,
        is_silent: command.changes,
        ..Request::new(targets, Access::Read, &command.run_arguments)
    };
    let since = likenew_real::clock::wall_date();
    let only = request.targets.first().cloned().unwrap_or_default();
    let measured = measure_each(request, |target| plan(&command, target));
    if !command.changes && command.openmetrics.is_none() || command.plan {
        return measured.map(|(exit, _)| exit);
    }
    let attempts = match &measured {
        Ok((_, attempts)) => attempts.clone(),
        Err(failure) => vec![Attempt { target: only, reason: Some(failure.reason()) }],
    };
    let root = archive_root(command.run_arguments.archive_arguments.archive.as_deref())?;
    let mut history = run_history::open(&command.place, &Archive::new(root))?;
    run_history::update(&mut history)?;
    if let Some(path) = &command.openmetrics {
        openmetrics::write(&mut history, &attempts, path)?;
    }
    let (exit, _) = measured?;
    if command.changes { changes::report(&mut history, &since, exit) } else { Ok(exit) }
}

/// A folder in which nothing can be written is read, in its largest file; everything else is checked as it is.
fn readable(typed: &str, reserve: Option<u64>) -> String {
    let folder = Path::new(typed);
    let Ok(PathKind::Folder { space, .. }) = examine(folder, reserve) else { return typed.to_owned() };
    let Err(reason) = space.check(CheckOptions::AREA_LEAST, folder) else { return typed.to_owned() };
    let Some(file) = largest_file(folder, CheckOptions::READABLE_LEAST) else { return typed.to_owned() };
    crate::standard_error::note(wording::reads_of_largest_file(&reason, &file));
    file.to_string_lossy().into_owned()
}

/// The drives at the bottom, by their device names.
fn drives() -> Result<Vec<String>, Failure> {
    let all = list()?;
    let drives: Vec<String> = all.into_iter().filter(|of| of.is_drive).map(|of| of.path).collect();
    if drives.is_empty() {
        return Err(Failure::Usage(wording::NO_DRIVES.into()));
    }
    Ok(drives)
}

/// The plan with its references; `None` if the user stopped it.
fn plan(command: &Check, target: &Target) -> Result<Option<Plan>, Failure> {
    let Target { typed, resolved: resolved_target, .. } = target;
    if !resolved_target.is_folder() && resolved_target.usable_bytes()? < CheckOptions::READABLE_LEAST {
        let (bytes, least) = (resolved_target.usable_bytes()?, CheckOptions::READABLE_LEAST);
        return Err(Failure::Usage(wording::too_small_to_check(typed, bytes, least)));
    }
    let mut asked =
        CheckOptions { bytes: command.bytes, thorough: command.thorough, ..CheckOptions::default() };
    if !command.upgrade.is_empty() && command.recording.is_none() {
        // Applications write one part more, as large as the others.
        asked.bytes = Some(asked.budget() / (CheckOptions::PARTS + 1) * CheckOptions::PARTS);
    }
    if let ResolvedTarget::Simulated(spec) = resolved_target {
        let free = spec.free(resolved_target.usable_bytes()?);
        asked.free = (!free.is_empty()).then(|| Region::bytes(free));
    }
    if resolved_target.is_folder() {
        // Its file has to fit.
        let area = asked.area(resolved_target.usable_bytes()?);
        asked.bytes = Some(area * CheckOptions::PARTS);
    }
    if !add_references(
        &mut asked,
        &command.references,
        &command.run_arguments.archive_arguments,
        resolved_target,
    )? {
        return Ok(None);
    }
    if !command.files.is_empty() {
        let Some(files) = files(command)? else { return Ok(None) };
        asked.files = Some(files);
    }
    if !command.upgrade.is_empty() {
        let Some(upgrade) = upgrade::collect(command, &asked, resolved_target)? else { return Ok(None) };
        asked.upgrade = Some(upgrade);
    }
    let seed = match command.seed {
        Some(seed) => seed,
        // Data of an earlier run is only told from this one's by its key, so each run has another.
        None if resolved_target.is_real() => likenew_real::clock::new_seed().map_err(anyhow::Error::new)?,
        None => 0,
    };
    let (procedure, target) = ("check".to_owned(), Some(typed.clone()));
    Ok(Some(Plan::new(procedure, target, seed, options(&asked))))
}

/// The user's files; `None` if the user stopped the scan.
fn files(command: &Check) -> Result<Option<FileScan>, Failure> {
    let request = ScanRequest {
        folders: command.files.clone(),
        sample_bytes: SAMPLE,
        time: SCAN_TIME,
        cross: false,
        seed: command.seed.unwrap_or(0),
    };
    scan_folders(&request, command.run_arguments.wait_for_drive)
}
