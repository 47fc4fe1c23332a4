//! What a run will write: announced, confirmed if it wears flash, and logged if recondition changes a real drive.

use std::path::Path;

use likenew_archive::{AuditConsent, AuditEntry, AuditLog, AuditOutcome, AuditStep, AuditedDrive};
use likenew_core::drive::{Drive, Identity, LaneRequirements, TargetKind};
use likenew_core::dry_run::DryRun;
use likenew_core::fix::Fix;
use likenew_core::probe::Probe;
use likenew_core::procedure::Evidence;
use likenew_core::units::Nanos;
use likenew_core::workload::OLD_AGE_S;
use likenew_real::clock::wall_date;
use likenew_real::consent::{Agreement, Loss, UnusedSpace};
use likenew_real::old_files::file_bytes;
use likenew_real::open::PathKind;
use serde::Serialize;

use crate::arguments::ExecutionArguments;
use crate::exit::{Exit, Failure, Result};
use crate::output::RunReport;
use crate::progress_event::RunEstimate;
use crate::resolved_target::{Permission, ResolvedTarget};
use crate::{question, wording};

/// More bytes than this are written to a real drive only after a question.
const WRITE_CONFIRM_BYTES: u64 = 4 << 30;
/// Rate of the drive that a dry run assumes, in bytes a second.
const ASSUMED_BYTES_PER_S: f64 = 500e6;

/// What a run costs and asks, for `--estimate`: another program may show it and ask the user.
#[derive(Debug, Serialize)]
pub(super) struct Offer {
    #[serde(flatten)]
    estimate: RunEstimate,
    /// The cost in words.
    text: String,
    /// Written bytes as a share of one full write of a real drive; `None` if it is known to rotate.
    wear: Option<String>,
    /// The question that `--yes` answers.
    question: Option<String>,
}

impl Offer {
    pub(super) fn new(estimate: RunEstimate, identity: &Identity, question: Option<&str>) -> Self {
        Self {
            estimate,
            text: wording::estimate(&estimate),
            wear: wear_of(identity, estimate.bytes_max()),
            question: question.map(wording::confirm),
        }
    }

    /// All texts, a line each.
    pub(super) fn lines(&self) -> String {
        [Some(&self.text), self.wear.as_ref(), self.question.as_ref()]
            .into_iter()
            .flatten()
            .map(|line| format!("{line}\n"))
            .collect()
    }
}

/// These bytes as a share of one full write, if they wear flash.
fn wear_of(identity: &Identity, bytes: u64) -> Option<String> {
    let is_folder = identity.kind == TargetKind::Folder;
    let size = match identity.kind {
        TargetKind::Folder => likenew_real::space::total_bytes(Path::new(&identity.name)),
        TargetKind::File | TargetKind::Device => Some(identity.capacity_bytes),
        TargetKind::Simulated | TargetKind::Nop => None,
    };
    let size = size.filter(|size| *size > 0 && bytes > 0 && !identity.rotates())?;
    Some(wording::wear(bytes, size, is_folder))
}

/// What a run costs, from its dry run.
pub(super) fn estimate(dry_run: &DryRun, evidence: &Evidence) -> RunEstimate {
    let rewritten = rewritten_max(dry_run, Path::new(&evidence.identity.name));
    RunEstimate {
        elapsed_ns: dry_run.elapsed.0.saturating_add(rewriting_time(rewritten).0),
        bytes_written: dry_run.bytes_written_max.unwrap_or(dry_run.bytes_written),
        is_bounded: dry_run.bytes_written_max.is_some(),
        bytes_rewritten: rewritten,
    }
}

/// Bytes of the owner's files in a folder that may be rewritten in place. All candidates count, because nobody knows
/// yet which are slow. If the folder has too many files to look at, all used bytes of its file system count.
fn rewritten_max(dry_run: &DryRun, folder: &Path) -> u64 {
    let used = || likenew_real::space::used_bytes(folder).unwrap_or(u64::MAX);
    let rewritten = |probe: &Probe| {
        let age_s_least = match probe {
            Probe::Fix(Fix::RefreshFiles { .. }) => OLD_AGE_S,
            Probe::Fix(Fix::RewriteFiles { .. }) => 0,
            _ => return None,
        };
        Some(file_bytes(folder, age_s_least).unwrap_or_else(used))
    };
    dry_run.probes.iter().filter_map(rewritten).fold(0, u64::saturating_add)
}

/// The time to rewrite files: each byte is read, saved to the journal, and written.
fn rewriting_time(rewritten: u64) -> Nanos {
    Nanos::from_secs_f64(3.0 * rewritten as f64 / ASSUMED_BYTES_PER_S)
}

/// Announces the bytes and time of a run on a real drive, from its dry run. Writes to a simulated drive cost nothing.
pub(super) fn announce_text(dry_run: &DryRun, evidence: &Evidence) -> Option<String> {
    let is_folder = match evidence.identity.kind {
        TargetKind::Folder => true,
        TargetKind::File | TargetKind::Device => false,
        TargetKind::Simulated | TargetKind::Nop => return None,
    };
    let RunEstimate { bytes_written, is_bounded, bytes_rewritten, .. } = estimate(dry_run, evidence);
    let written = wording::will_write(bytes_written, is_bounded, is_folder, dry_run.elapsed);
    if bytes_rewritten == 0 {
        return Some(written);
    }
    Some(format!("{written}\n{}", wording::will_rewrite(bytes_rewritten, rewriting_time(bytes_rewritten))))
}

/// The wear that the user must agree to, because flash wears out: many bytes on a real drive, or
/// any amount that is meant to wear it.
pub(super) fn wear(
    drive: &mut dyn Drive,
    always: bool,
    estimate: &RunEstimate,
    target: &ResolvedTarget,
) -> Result<Option<String>> {
    let most = estimate.bytes_max();
    let asks = most > 0 && (always || most > WRITE_CONFIRM_BYTES);
    let wears = target.is_real() && target.is_writable() && !matches!(target, ResolvedTarget::Nop);
    if !asks || !wears {
        return Ok(None);
    }
    Ok(Some(match *estimate {
        _ if always => cost(drive, most)?,
        RunEstimate { bytes_rewritten: 0, is_bounded, .. } => wording::writes_wear_flash(most, is_bounded),
        RunEstimate { bytes_written, bytes_rewritten, .. } => {
            wording::writes_and_rewrites_wear_flash(bytes_written, bytes_rewritten)
        }
    }))
}

/// Asks the user about wear.
pub(super) fn ask_about(what: Option<String>, always: bool, execution: &ExecutionArguments) -> Result<()> {
    let Some(what) = what else { return Ok(()) };
    if execution.yes {
        if always {
            crate::console::note(what);
        }
        return Ok(());
    }
    if question::is_interactive() && question::confirm(&wording::confirm(&what))? {
        return Ok(());
    }
    Err(Failure::Refused(wording::not_confirmed(&what)))
}

/// The cost of writes that are meant to wear the drive.
fn cost(drive: &mut dyn Drive, bytes: u64) -> Result<String> {
    let identity = drive.identity();
    let need = LaneRequirements { lanes: 1, depth: 1, length_max: identity.block_bytes };
    let wear = drive.lanes(&need)?.first_mut().and_then(|lane| lane.health().wear_percent);
    let times = bytes as f64 / identity.capacity_bytes.max(1) as f64;
    Ok(wording::aging_wears_flash(bytes, &identity.name, times, identity.capacity_bytes, wear))
}

/// A step in the audit log.
pub(super) struct AuditedStep {
    log: AuditLog,
    step: AuditStep,
}

/// Logs what will be done to a drive that the caller has locked: `action` as data, `request` in
/// words. For a simulated drive nothing is logged.
///
/// # Errors
/// The log cannot be written.
pub(super) fn begin_audited(
    target: &ResolvedTarget,
    action: &str,
    request: &str,
) -> Result<Option<AuditedStep>> {
    let Some(path) = target.path() else { return Ok(None) };
    let place = AuditLog::default_path(|name| std::env::var_os(name)).map_err(anyhow::Error::new)?;
    let mut log = AuditLog::open(place).map_err(anyhow::Error::new)?;
    let step = log.begin(entry(target, path, action, request)?).map_err(anyhow::Error::new)?;
    Ok(Some(AuditedStep { log, step }))
}

impl AuditedStep {
    /// Logs how the step ended.
    ///
    /// # Errors
    /// The log cannot be written.
    pub(super) fn end(self, exit: Exit, report: Option<&RunReport>) -> Result<()> {
        let Self { mut log, step } = self;
        let rows = report.and_then(|report| report.findings.tables.get("steps"));
        let sum = |key| rows.into_iter().flatten().filter_map(|row| row.get(key)?.as_u64()).sum::<u64>();
        let outcome = AuditOutcome {
            complete: matches!(exit, Exit::Fine | Exit::Problem),
            message: format!("exit code {}", exit as i32),
            bytes_asked: sum("bytes") + sum("skipped_bytes"),
            bytes_done: sum("bytes"),
        };
        Ok(log.end(step, wall_date(), outcome).map_err(anyhow::Error::new)?)
    }
}

fn entry(target: &ResolvedTarget, path: &Path, action: &str, request: &str) -> Result<AuditEntry> {
    let of_device = |agreement: &Agreement, destroy| -> Result<_> {
        let Loss { id, model, bytes, .. } = Loss::at(path)?;
        Ok((Some(id), model, bytes, AuditConsent { id: agreement.id.clone(), destroy }))
    };
    let (id, model, bytes, consent) = match target {
        ResolvedTarget::Path(_, PathKind::Folder { .. }, Permission::Preserve(agreement, _)) => {
            let UnusedSpace { id, model, .. } = UnusedSpace::in_folder(path)?;
            (Some(id), model, 0, AuditConsent { id: agreement.id.clone(), destroy: Vec::new() })
        }
        ResolvedTarget::Path(.., Permission::Preserve(agreement, _)) => of_device(agreement, Vec::new())?,
        ResolvedTarget::Path(.., Permission::Overwrite(agreement)) => {
            of_device(agreement, agreement.destroy.clone())?
        }
        _ => (None, None, 0, AuditConsent::default()),
    };
    let (id, id_kind) = id.map_or_else(Default::default, |id| (id.text, id.kind.to_owned()));
    let drive = AuditedDrive { id, id_kind, model, firmware: None, path: path.to_owned(), bytes };
    Ok(AuditEntry {
        schema: 0,
        at: wall_date(),
        likenew: env!("CARGO_PKG_VERSION").to_owned(),
        kernel: likenew_real::host::kernel(),
        process: 0,
        step: 0,
        action: action.to_owned(),
        request: request.to_owned(),
        drive,
        consent,
        outcome: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flash_wears_by_what_is_written_and_nothing_else_does() {
        let wear = |kind, facts: Vec<(String, String)>, bytes| {
            let identity = Identity {
                name: "/dev/sda".into(),
                kind,
                model: None,
                engine: String::new(),
                capacity_bytes: 1 << 40,
                block_bytes: 512,
                facts,
                caveats: Vec::new(),
                accounting: None,
            };
            wear_of(&identity, bytes)
        };
        let device = wear(TargetKind::Device, Vec::new(), 1 << 34);
        assert_eq!(device.as_deref(), Some("Wear: 1.6% of one full write of the drive."));
        let (name, value) = Identity::ROTATES;
        assert_eq!(wear(TargetKind::Device, vec![(name.to_owned(), value.to_owned())], 1 << 34), None);
        assert_eq!(wear(TargetKind::Device, Vec::new(), 0), None);
        assert_eq!(wear(TargetKind::Simulated, Vec::new(), 1 << 34), None);
    }
}
