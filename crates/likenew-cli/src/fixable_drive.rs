//! A folder or block device that recondition can change between measurements: it rewrites files,
//! sends TRIM, formats, or rewrites in place.
//!
//! A step on a whole device needs exclusive access, so the device is closed before the step and opened again
//! after it. All conditions are checked again each time, and the agreement must still name the same drive.

use std::path::{Path, PathBuf};

use likenew_core::counters::{Counters, FlashCounters};
use likenew_core::drive::{Drive, Identity, Lane, LaneRequirements};
use likenew_core::fix::{
    ActionKind, AddressRange, Fix, FixEnd, FixReport, RewriteSettings, SkippedRange, WriteSpeeds,
};
use likenew_core::probe::{Probe, ProbeResult};
use likenew_core::target::Geometry;
use likenew_core::target_error::TargetError;
use likenew_core::units::Nanos;
use likenew_core::workload::Access;
use likenew_real::clock::Monotonic;
use likenew_real::consent::{Agreement, Consent, UnusedConsent, UnusedSpace};
use likenew_real::engine::Engine;
use likenew_real::erase::discard::{DiscardReport, Samples, discard, discard_unused};
use likenew_real::erase::format::{Erase, FormatPlan};
use likenew_real::erase::precondition::{preconditions, require};
use likenew_real::open::{Options, open};

use crate::refreshing::{DeviceRefresh, refresh_files, rewrite_files};
use crate::{interrupt, wording};

/// Addresses whose data is compared before and after a discard or format of a whole device.
const SAMPLES: u64 = 1024;

/// What may be done to a drive between measurements.
pub(crate) enum Fixes {
    /// In a folder: files are rewritten. If the owner agreed under the disk's name, space that no
    /// partition covers is discarded.
    Folder(Option<Agreement>),
    /// On a device whose data may all be lost.
    Erasing(Agreement),
    /// On a device that may be rewritten with its own data; it is measured by reads.
    Rewriting(DeviceRefresh),
}

/// An open folder or device, and how to open the device again.
pub(crate) struct FixableDrive {
    path: PathBuf,
    fixes: Fixes,
    engine: Engine,
    clock: Monotonic,
    /// `None` while a step has exclusive access, and after the device could not be opened again.
    drive: Option<Box<dyn Drive>>,
}

impl FixableDrive {
    /// Wraps an open folder.
    pub(crate) fn folder(drive: Box<dyn Drive>, path: PathBuf, agreement: Option<Agreement>) -> Self {
        let (fixes, engine, clock) = (Fixes::Folder(agreement), Engine::Auto, Monotonic::start());
        Self { path, fixes, engine, clock, drive: Some(drive) }
    }

    /// Opens a device with consent.
    ///
    /// # Errors
    /// A refusal of [`Consent::to_overwrite`], or the errors of [`open`].
    pub(crate) fn device(path: PathBuf, fixes: Fixes, engine: Engine) -> Result<Self, TargetError> {
        let mut device = Self { path, fixes, engine, clock: Monotonic::start(), drive: None };
        device.open_again()?;
        Ok(device)
    }

    fn open_again(&mut self) -> Result<(), TargetError> {
        let consent = match &self.fixes {
            Fixes::Erasing(agreement) => Some(Consent::to_overwrite(&self.path, agreement)?),
            Fixes::Rewriting(_) | Fixes::Folder(_) => None,
        };
        let options = Options { engine: self.engine, layout: None, consent, reserve: None };
        let mut drive = open(&self.path, options)?;
        drive.resume_clock_at(self.clock.now());
        self.drive = Some(drive);
        Ok(())
    }

    fn drive(&self) -> &dyn Drive {
        &**self.drive.as_ref().expect("what could not be opened again has ended the run")
    }

    fn drive_mut(&mut self) -> &mut dyn Drive {
        &mut **self.drive.as_mut().expect("what could not be opened again has ended the run")
    }

    /// Closes the device for a step, and opens it again after it. A refused step is a result, not an error.
    fn with_exclusive_access(
        &mut self,
        action: ActionKind,
        act: impl FnOnce(&Fixes, Consent) -> Result<FixReport, TargetError>,
    ) -> Result<ProbeResult, TargetError> {
        self.drive = None;
        let started_at = self.clock.now();
        let came = self.renew_consent(action).and_then(|consent| act(&self.fixes, consent));
        self.open_again()?;
        let elapsed = self.clock.now() - started_at;
        unless_refused(came.map(|fix_report| FixReport { elapsed, ..fix_report }))
    }

    /// Rewrites these addresses with the data that they hold.
    fn rewrite(
        &mut self,
        action: ActionKind,
        pieces: &[AddressRange],
        settings: RewriteSettings,
    ) -> Result<ProbeResult, TargetError> {
        let path = self.path.clone();
        self.with_exclusive_access(action, |fixes, consent| match fixes {
            Fixes::Rewriting(refresh) => refresh.refresh(&path, consent, pieces, settings),
            _ => unreachable!("only a device that may be rewritten gets here"),
        })
    }

    fn renew_consent(&self, action: ActionKind) -> Result<Consent, TargetError> {
        for (_, conditions) in preconditions(&self.path, action)? {
            require(&self.path, &conditions, action)?;
        }
        match &self.fixes {
            Fixes::Erasing(agreement) => Consent::to_overwrite(&self.path, agreement),
            Fixes::Rewriting(refresh) => Consent::to_rewrite(&self.path, &refresh.agreement),
            Fixes::Folder(_) => unreachable!("a folder takes no exclusive access"),
        }
    }
}

/// Makes a refusal a result, because a refused step does not end the run.
fn unless_refused(came: Result<FixReport, TargetError>) -> Result<ProbeResult, TargetError> {
    match came {
        Ok(fix_report) => Ok(ProbeResult::FixReport(fix_report)),
        Err(TargetError::Refused(reason) | TargetError::Unsuitable(reason)) => {
            Ok(ProbeResult::Unknown(reason))
        }
        Err(target_error) => Err(target_error),
    }
}

/// Sends TRIM for a whole device, and reads back whether its data is gone.
fn discard_all(consent: &Consent) -> Result<FixReport, TargetError> {
    let before = Samples::read(consent, SAMPLES)?;
    let came = discard(consent, |_, _| !interrupt::is_requested())?;
    let read_back = Some(before.compare(&Samples::read(consent, SAMPLES)?));
    Ok(FixReport { read_back, ..discard_report(came) })
}

/// Sends TRIM for the parts of the disk below a folder that no partition covers.
fn discard_unused_below(folder: &Path, agreement: &Agreement) -> Result<FixReport, TargetError> {
    let clock = Monotonic::start();
    let space = UnusedSpace::in_folder(folder)?;
    for (_, conditions) in preconditions(&space.path, ActionKind::DiscardFree)? {
        require(&space.path, &conditions, ActionKind::DiscardFree)?;
    }
    let consent = UnusedConsent::take(&space, agreement)?;
    let came = discard_unused(&consent, |_, _| !interrupt::is_requested())?;
    Ok(FixReport { elapsed: clock.now(), ..discard_report(came) })
}

fn discard_report(came: DiscardReport) -> FixReport {
    let refused = came.refusals.into_iter();
    let refused = refused.map(|(range, reason)| SkippedRange { bytes: range.end - range.start, reason });
    let end = if came.is_stopped && interrupt::is_requested() { FixEnd::Stopped } else { FixEnd::Complete };
    FixReport { bytes: came.bytes_done, skips: refused.collect(), end, ..FixReport::default() }
}

fn format(consent: &Consent, erase: Erase) -> Result<FixReport, TargetError> {
    let plan = FormatPlan::inspect(consent, erase)?;
    crate::console::note(wording::formats_itself(plan.text()));
    let before = Samples::read(consent, SAMPLES)?;
    let formatted = plan.carry_out(consent)?;
    let changed = SkippedRange { bytes: 0, reason: wording::FORMAT_CHANGED.into() };
    let skips = if formatted.is_as_before { Vec::new() } else { vec![changed] };
    // If size or format changed, addresses cannot be compared.
    let read_back =
        if formatted.is_as_before { Some(before.compare(&Samples::read(consent, SAMPLES)?)) } else { None };
    Ok(FixReport { bytes: plan.bytes, skips, read_back, ..FixReport::default() })
}

impl Drive for FixableDrive {
    fn identity(&self) -> Identity {
        self.drive().identity()
    }

    fn geometry(&self) -> Geometry {
        self.drive().geometry()
    }

    fn lanes_max(&self) -> u32 {
        self.drive().lanes_max()
    }

    fn lanes<'a>(&'a mut self, need: &LaneRequirements) -> Result<Vec<Lane<'a>>, TargetError> {
        self.drive_mut().lanes(need)
    }

    fn prepare_access(&mut self, access: Access, cold: bool) -> Result<(), TargetError> {
        self.drive_mut().prepare_access(access, cold)
    }

    fn use_old_files(&mut self, turn: bool) -> Result<(), TargetError> {
        self.drive_mut().use_old_files(turn)
    }

    fn counters(&mut self) -> Option<Counters> {
        self.drive_mut().counters()
    }

    fn resume_clock_at(&mut self, now: Nanos) {
        self.clock = Monotonic::reading(now.max(self.clock.now()));
        self.drive_mut().resume_clock_at(now);
    }

    fn probe(&mut self, probe: &Probe) -> Result<ProbeResult, TargetError> {
        match (probe, &self.fixes) {
            (Probe::Fix(Fix::RefreshFiles { slower_than_bytes_per_s }), Fixes::Folder(_)) => {
                // An open file cannot be rewritten, even if this process has it open.
                self.drive_mut().use_old_files(false)?;
                Ok(refresh_files(&self.path, *slower_than_bytes_per_s))
            }
            (Probe::Fix(Fix::RewriteFiles { settings, from }), Fixes::Folder(_)) => {
                self.drive_mut().use_old_files(false)?;
                Ok(rewrite_files(&self.path, *settings, *from))
            }
            (Probe::Fix(Fix::DiscardUnused), Fixes::Folder(Some(agreement))) => {
                unless_refused(discard_unused_below(&self.path, agreement))
            }
            (Probe::Fix(Fix::Discard), Fixes::Erasing(_)) => {
                self.with_exclusive_access(ActionKind::Discard, |_, consent| discard_all(&consent))
            }
            (Probe::Fix(Fix::Format { crypto }), Fixes::Erasing(_)) => {
                let erase = if *crypto { Erase::Key } else { Erase::UserData };
                self.with_exclusive_access(ActionKind::NvmeFormat, |_, consent| format(&consent, erase))
            }
            (Probe::Fix(Fix::Refresh { pieces }), Fixes::Rewriting(_)) => {
                let came = self.rewrite(ActionKind::Refresh, pieces, RewriteSettings::default())?;
                Ok(match came {
                    // Scattered chunks of slow data say nothing about the drive's write speed.
                    ProbeResult::FixReport(report) => {
                        ProbeResult::FixReport(FixReport { write_speeds: WriteSpeeds::default(), ..report })
                    }
                    other => other,
                })
            }
            (Probe::Fix(Fix::Rewrite { pieces, settings }), Fixes::Rewriting(_)) => {
                self.rewrite(ActionKind::Rewrite, pieces, *settings)
            }
            (probe, _) => self.drive_mut().probe(probe),
        }
    }

    fn flash_counters(&self) -> Option<FlashCounters> {
        self.drive().flash_counters()
    }
}
