//! A folder with more fixes than its measurements need: rewriting old files, and TRIM for space outside of
//! partitions.

use std::path::{Path, PathBuf};

use likenew_core::access::Access;
use likenew_core::counters::Counters;
use likenew_core::drive::{Drive, Identity, Lane, LaneRequirements};
use likenew_core::feasibility::ActionKind;
use likenew_core::fix::{Fix, FixEnd, FixReport, SkippedRange};
use likenew_core::flash_counters::FlashCounters;
use likenew_core::lab_error::LabError;
use likenew_core::probe::{Probe, ProbeResult};
use likenew_core::target::Geometry;
use likenew_core::units::Nanos;
use likenew_real::clock::Monotonic;
use likenew_real::consent::{Agreement, UnusedConsent, UnusedSpace};
use likenew_real::erase::discard::discard_unused;
use likenew_real::erase::precondition::{preconditions, require};

use crate::interrupt;
use crate::refreshing::{refresh_files, rewrite_files};

/// A folder target that can also run these fixes.
pub(crate) struct FolderFixes {
    pub(crate) drive: Box<dyn Drive>,
    pub(crate) folder: PathBuf,
    /// The name under which the owner agreed to the disk below, if so.
    pub(crate) agreement: Option<Agreement>,
}

impl Drive for FolderFixes {
    fn identity(&self) -> Identity {
        self.drive.identity()
    }

    fn geometry(&self) -> Geometry {
        self.drive.geometry()
    }

    fn lanes_max(&self) -> u32 {
        self.drive.lanes_max()
    }

    fn lanes<'a>(&'a mut self, need: &LaneRequirements) -> Result<Vec<Lane<'a>>, LabError> {
        self.drive.lanes(need)
    }

    fn prepare_access(&mut self, access: Access, cold: bool) -> Result<(), LabError> {
        self.drive.prepare_access(access, cold)
    }

    fn use_old_files(&mut self, turn: bool) -> Result<(), LabError> {
        self.drive.use_old_files(turn)
    }

    fn counters(&mut self) -> Option<Counters> {
        self.drive.counters()
    }

    fn resume_clock_at(&mut self, now: Nanos) {
        self.drive.resume_clock_at(now);
    }

    fn probe(&mut self, probe: &Probe) -> Result<ProbeResult, LabError> {
        match (probe, &self.agreement) {
            (Probe::Fix(Fix::RefreshFiles { slower_than_bytes_per_s }), _) => {
                // An open file cannot be rewritten, even if this process has it open.
                self.drive.use_old_files(false)?;
                Ok(refresh_files(&self.folder, *slower_than_bytes_per_s))
            }
            (Probe::Fix(Fix::RewriteFiles { settings, from }), _) => {
                self.drive.use_old_files(false)?;
                Ok(rewrite_files(&self.folder, *settings, *from))
            }
            (Probe::Fix(Fix::DiscardUnused), Some(agreement)) => match give_up(&self.folder, agreement) {
                Ok(fix_report) => Ok(ProbeResult::FixReport(fix_report)),
                Err(LabError::Refused(reason) | LabError::Unsuitable(reason)) => {
                    Ok(ProbeResult::Unknown(reason))
                }
                Err(lab_error) => Err(lab_error),
            },
            (probe, _) => self.drive.probe(probe),
        }
    }

    fn flash_counters(&self) -> Option<FlashCounters> {
        self.drive.flash_counters()
    }
}

/// Sends TRIM for the parts of the disk below a folder that no partition covers.
fn give_up(folder: &Path, agreement: &Agreement) -> Result<FixReport, LabError> {
    let clock = Monotonic::start();
    let space = UnusedSpace::in_folder(folder)?;
    for (_, found) in preconditions(&space.path, ActionKind::DiscardFree)? {
        require(&space.path, &found, ActionKind::DiscardFree)?;
    }
    let consent = UnusedConsent::take(&space, agreement)?;
    let came = discard_unused(&consent, |_, _| !interrupt::is_requested())?;
    let refused = came
        .refusals
        .iter()
        .map(|(range, reason)| SkippedRange { bytes: range.end - range.start, reason: reason.clone() });
    let end = if came.is_stopped && interrupt::is_requested() { FixEnd::Stopped } else { FixEnd::Complete };
    Ok(FixReport {
        bytes: came.bytes_done,
        skips: refused.collect(),
        elapsed: clock.now(),
        end,
        ..FixReport::default()
    })
}
