//! What a run will write: announced before it, and confirmed where that wears flash.

use std::path::Path;

use likenew_core::drive::{Drive, Kind, LaneRequirements};
use likenew_core::dry_run::DryRun;
use likenew_core::fix::Fix;
use likenew_core::probe::Probe;
use likenew_core::procedure::Evidence;
use likenew_core::units::Nanos;
use serde::Serialize;

use crate::arguments::ExecutionArguments;
use crate::exit::Failure;
use crate::progress_event::RunEstimate;
use crate::resolved_target::ResolvedTarget;
use crate::{prompt, wording};

/// More bytes than this are written to a real drive only after a question.
const WRITE_CONFIRM_BYTES: u64 = 4 << 30;
/// Rate of the drive that a dry run assumes, in bytes a second.
const ASSUMED_BYTES_PER_S: f64 = 500e6;

/// What a run costs, and what it asks before it begins: for whoever agrees elsewhere.
#[derive(Debug, Serialize)]
pub(super) struct Offer {
    #[serde(flatten)]
    estimate: RunEstimate,
    /// The cost in words.
    text: String,
    /// Answered by `--yes`.
    question: Option<String>,
}

impl Offer {
    pub(super) fn new(dry_run: &DryRun, evidence: &Evidence, question: Option<&str>) -> Self {
        let estimate = estimate(dry_run, evidence);
        Self { estimate, text: wording::estimate(&estimate), question: question.map(wording::confirm) }
    }

    /// All of it, a line each.
    pub(super) fn lines(&self) -> String {
        [Some(&self.text), self.question.as_ref()]
            .into_iter()
            .flatten()
            .map(|line| format!("{line}\n"))
            .collect()
    }
}

/// What a run costs, from its dry run.
pub(super) fn estimate(dry_run: &DryRun, evidence: &Evidence) -> RunEstimate {
    let WriteEstimate { bytes, is_bounded, rewritten } =
        WriteEstimate::from_dry_run(dry_run, &evidence.identity.name);
    RunEstimate {
        elapsed_ns: dry_run.elapsed.0.saturating_add(rewriting_time(rewritten).0),
        bytes_written: bytes,
        is_bounded,
        bytes_rewritten: rewritten,
    }
}

/// Each byte is read, saved to the journal, and written.
fn rewriting_time(rewritten: u64) -> Nanos {
    Nanos::from_secs_f64(3.0 * rewritten as f64 / ASSUMED_BYTES_PER_S)
}

/// The bytes and time of a run on a real drive, from its dry run. Writes to a simulated drive cost nothing.
pub(super) fn announce_text(dry_run: &DryRun, evidence: &Evidence) -> Option<String> {
    let is_folder = match evidence.identity.kind {
        Kind::Folder => true,
        Kind::File | Kind::Device => false,
        Kind::Simulated | Kind::Nop => return None,
    };
    let WriteEstimate { bytes, is_bounded, rewritten } =
        WriteEstimate::from_dry_run(dry_run, &evidence.identity.name);
    let written = wording::will_write(bytes, is_bounded, is_folder, dry_run.elapsed);
    if rewritten == 0 {
        return Some(written);
    }
    Some(format!("{written}\n{}", wording::will_rewrite(rewritten, rewriting_time(rewritten))))
}

/// The writes of a run.
struct WriteEstimate {
    bytes: u64,
    /// Whether a faster drive than the assumed one cannot write more: a run that only time ends has no bound.
    is_bounded: bool,
    /// Bytes of the owner's files that may be rewritten in place: all that are in use, because it is unknown
    /// beforehand what is slow.
    rewritten: u64,
}

impl WriteEstimate {
    /// From a dry run on this path.
    fn from_dry_run(dry_run: &DryRun, path: &str) -> Self {
        let rewrites_files =
            |probe: &&Probe| matches!(probe, Probe::Fix(Fix::RefreshFiles { .. } | Fix::RewriteFiles { .. }));
        let times = dry_run.probes.iter().filter(rewrites_files).count() as u64;
        let used = || likenew_real::space::used_bytes(Path::new(path)).unwrap_or(u64::MAX);
        Self {
            bytes: dry_run.bytes_written_max.unwrap_or(dry_run.bytes_written),
            is_bounded: dry_run.bytes_written_max.is_some(),
            rewritten: if times > 0 { used().saturating_mul(times) } else { 0 },
        }
    }

    fn bytes_max(&self) -> u64 {
        self.bytes.saturating_add(self.rewritten)
    }
}

/// Flash wears out: what the user agrees to before many bytes are written to a real drive, and before any amount that
/// is meant to wear it.
pub(super) fn wear(
    drive: &mut dyn Drive,
    always: bool,
    dry_run: &DryRun,
    resolved_target: &ResolvedTarget,
) -> Result<Option<String>, Failure> {
    let written = WriteEstimate::from_dry_run(dry_run, &drive.identity().name);
    let most = written.bytes_max();
    let asks = always || most > WRITE_CONFIRM_BYTES;
    if !asks
        || !resolved_target.is_real()
        || !resolved_target.is_writable()
        || most == 0
        || matches!(resolved_target, ResolvedTarget::Nop)
    {
        return Ok(None);
    }
    Ok(Some(match written {
        _ if always => cost(drive, most)?,
        WriteEstimate { rewritten: 0, is_bounded, .. } => wording::writes_wear_flash(most, is_bounded),
        WriteEstimate { bytes, rewritten, .. } => wording::writes_and_rewrites_wear_flash(bytes, rewritten),
    }))
}

/// Asks the user about wear.
pub(super) fn ask_about(
    what: Option<String>,
    always: bool,
    run_arguments: &ExecutionArguments,
) -> Result<(), Failure> {
    let Some(what) = what else { return Ok(()) };
    if run_arguments.yes {
        if always {
            crate::standard_error::note(what);
        }
        return Ok(());
    }
    if prompt::is_interactive() && prompt::confirm(&wording::confirm(&what))? {
        return Ok(());
    }
    Err(Failure::Refused(wording::not_confirmed(&what)))
}

/// What intended writes cost the drive.
fn cost(drive: &mut dyn Drive, bytes: u64) -> Result<String, Failure> {
    let identity = drive.identity();
    let need = LaneRequirements { lanes: 1, depth: 1, length_max: identity.block_bytes };
    let wear = drive.lanes(&need)?.first_mut().and_then(|lane| lane.health().wear_percent);
    let times = bytes as f64 / identity.capacity_bytes.max(1) as f64;
    Ok(wording::aging_wears_flash(bytes, &identity.name, times, identity.capacity_bytes, wear))
}
