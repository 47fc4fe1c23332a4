//! Logs what is done to real drives, before and after it.

use std::path::Path;

use likenew_archive::{AuditConsent, AuditEntry, AuditLog, AuditOutcome, AuditStep, AuditedDrive};
use likenew_core::findings::Findings;
use likenew_real::clock::wall_date;
use likenew_real::consent::{Loss, UnusedSpace};
use likenew_real::open::PathKind;

use crate::exit::{Exit, Failure};
use crate::resolved_target::ResolvedTarget;

/// A step in the log.
pub(crate) struct AnnouncedStep {
    log: AuditLog,
    step: AuditStep,
}

/// Logs what will be done to a drive that the caller has locked, `action` as data and `request` in words. For a
/// simulated drive nothing is logged.
///
/// # Errors
/// The log cannot be written.
pub(crate) fn begin(
    resolved_target: &ResolvedTarget,
    action: &str,
    request: &str,
) -> Result<Option<AnnouncedStep>, Failure> {
    let Some(path) = resolved_target.path() else { return Ok(None) };
    let place = AuditLog::default_path(|name| std::env::var_os(name)).map_err(anyhow::Error::new)?;
    let mut log = AuditLog::open(place).map_err(anyhow::Error::new)?;
    let step = log.begin(entry(resolved_target, path, action, request)?).map_err(anyhow::Error::new)?;
    Ok(Some(AnnouncedStep { log, step }))
}

impl AnnouncedStep {
    /// Logs how it ended.
    ///
    /// # Errors
    /// The log cannot be written.
    pub(crate) fn end(self, exit: Exit, findings: Option<&Findings>) -> Result<(), Failure> {
        let Self { mut log, step } = self;
        let done = findings.map_or_else(StepProgress::default, StepProgress::from_findings);
        let outcome = AuditOutcome {
            complete: matches!(exit, Exit::Fine | Exit::Problem),
            message: format!("exit code {}", exit as i32),
            bytes_asked: done.bytes_asked,
            bytes_done: done.bytes,
        };
        Ok(log.end(step, wall_date(), outcome).map_err(anyhow::Error::new)?)
    }
}

/// The work done, and the work announced.
#[derive(Clone, Copy, Default)]
struct StepProgress {
    bytes_asked: u64,
    bytes: u64,
}

impl StepProgress {
    /// The sum of all steps.
    fn from_findings(findings: &Findings) -> Self {
        let rows = findings.tables.get("steps");
        let sum = |key| rows.into_iter().flatten().filter_map(|row| row.get(key)?.as_u64()).sum::<u64>();
        Self { bytes_asked: sum("bytes") + sum("skipped_bytes"), bytes: sum("bytes") }
    }
}

fn entry(
    resolved_target: &ResolvedTarget,
    path: &Path,
    action: &str,
    request: &str,
) -> Result<AuditEntry, Failure> {
    let (drive, consent) = match resolved_target {
        ResolvedTarget::Overwrite(path, _, agreement) => {
            let Loss { id, model, bytes, .. } = Loss::at(path)?;
            let drive = AuditedDrive {
                id: id.text,
                id_kind: id.kind.to_owned(),
                model,
                firmware: None,
                path: path.clone(),
                bytes,
            };
            (drive, AuditConsent { id: agreement.id.clone(), destroy: agreement.destroy.clone() })
        }
        ResolvedTarget::Preserve(path, place, agreement, _) => {
            let (id, model, bytes) = match place {
                PathKind::Folder { .. } => {
                    let UnusedSpace { id, model, .. } = UnusedSpace::in_folder(path)?;
                    (id, model, 0)
                }
                PathKind::File { .. } | PathKind::Device { .. } => {
                    let Loss { id, model, bytes, .. } = Loss::at(path)?;
                    (id, model, bytes)
                }
            };
            let (id, id_kind) = (id.text, id.kind.to_owned());
            let drive = AuditedDrive { id, id_kind, model, firmware: None, path: path.clone(), bytes };
            (drive, AuditConsent { id: agreement.id.clone(), destroy: Vec::new() })
        }
        _ => (AuditedDrive { path: path.to_owned(), ..AuditedDrive::default() }, AuditConsent::default()),
    };
    Ok(AuditEntry {
        schema: 0,
        at: wall_date(),
        likenew: env!("CARGO_PKG_VERSION").to_owned(),
        kernel: std::fs::read_to_string("/proc/sys/kernel/osrelease").ok().map(|text| text.trim().to_owned()),
        process: 0,
        step: 0,
        action: action.to_owned(),
        request: request.to_owned(),
        drive,
        consent,
        outcome: None,
    })
}
