//! A block device that can be changed as a whole between measurements: trimmed, formatted, or rewritten in
//! place.
//!
//! Such a step needs exclusive access, so the measured device is closed before and opened again after it. All
//! conditions are checked again each time, and consent must have the same words.

use std::path::PathBuf;

use likenew_core::access::Access;
use likenew_core::counters::Counters;
use likenew_core::drive::{Drive, Identity, Lane, LaneRequirements};
use likenew_core::feasibility::ActionKind;
use likenew_core::fix::{AddressRange, Fix, FixEnd, FixReport, RewriteSettings, SkippedRange, WriteSpeeds};
use likenew_core::flash_counters::FlashCounters;
use likenew_core::lab_error::LabError;
use likenew_core::probe::{Probe, ProbeResult};
use likenew_core::target::Geometry;
use likenew_core::units::Nanos;
use likenew_real::clock::Monotonic;
use likenew_real::consent::{Agreement, Consent};
use likenew_real::engine::Engine;
use likenew_real::erase::discard::{Samples, discard};
use likenew_real::erase::format::{Erase, FormatPlan};
use likenew_real::erase::precondition::{preconditions, require};
use likenew_real::open::{Options, open};

use crate::interrupt;
use crate::refreshing::DeviceRefresh;
use crate::wording;

/// Addresses that are compared before and after a discard of everything.
const SAMPLES: u64 = 1024;

/// The owner's consent.
pub(crate) enum Permission {
    /// Everything on it may be lost.
    Lose(Agreement),
    /// It may be rewritten with its own data; it is measured by reads.
    Rewrite(DeviceRefresh),
}

/// An open device, and how to open it again.
pub(crate) struct WholeDevice {
    path: PathBuf,
    permission: Permission,
    engine: Engine,
    clock: Monotonic,
    /// `None` while a step has exclusive access, and after the device could not be opened again.
    drive: Option<Box<dyn Drive>>,
}

impl WholeDevice {
    /// Opens a device with consent.
    ///
    /// # Errors
    /// A refusal of [`Consent::to_overwrite`], or the errors of [`open`].
    pub(crate) fn open(path: PathBuf, permission: Permission, engine: Engine) -> Result<Self, LabError> {
        let mut whole = Self { path, permission, engine, clock: Monotonic::start(), drive: None };
        whole.open_again()?;
        Ok(whole)
    }

    fn open_again(&mut self) -> Result<(), LabError> {
        let consent = match &self.permission {
            Permission::Lose(agreement) => Some(Consent::to_overwrite(&self.path, agreement)?),
            Permission::Rewrite(_) => None,
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

    /// Closes the device for a step and opens it again after it. A refusal of the step is a result.
    fn with_exclusive_access(
        &mut self,
        action: ActionKind,
        act: impl FnOnce(&Permission, Consent) -> Result<FixReport, LabError>,
    ) -> Result<ProbeResult, LabError> {
        self.drive = None;
        let started_at = self.clock.now();
        let came = self.renew_consent(action).and_then(|consent| act(&self.permission, consent));
        self.open_again()?;
        match came {
            Ok(fix_report) => {
                Ok(ProbeResult::FixReport(FixReport { elapsed: self.clock.now() - started_at, ..fix_report }))
            }
            Err(LabError::Refused(reason) | LabError::Unsuitable(reason)) => Ok(ProbeResult::Unknown(reason)),
            Err(lab_error) => Err(lab_error),
        }
    }

    /// Rewrites these addresses with the data that they hold.
    fn rewrite(
        &mut self,
        action: ActionKind,
        pieces: &[AddressRange],
        settings: RewriteSettings,
    ) -> Result<ProbeResult, LabError> {
        let path = self.path.clone();
        self.with_exclusive_access(action, |permission, consent| match permission {
            Permission::Rewrite(refresh) => refresh.refresh(&path, consent, pieces, settings),
            Permission::Lose(_) => unreachable!("only a device that may be rewritten gets here"),
        })
    }

    fn renew_consent(&self, action: ActionKind) -> Result<Consent, LabError> {
        for (_, found) in preconditions(&self.path, action)? {
            require(&self.path, &found, action)?;
        }
        match &self.permission {
            Permission::Lose(agreement) => Consent::to_overwrite(&self.path, agreement),
            Permission::Rewrite(refresh) => Consent::to_rewrite(&self.path, &refresh.agreement),
        }
    }
}

fn give_up(consent: &Consent) -> Result<FixReport, LabError> {
    let before = Samples::read(consent, SAMPLES)?;
    let came = discard(consent, |_, _| !interrupt::is_requested())?;
    let read_back = Some(before.compare(&Samples::read(consent, SAMPLES)?));
    let end = if came.is_stopped && interrupt::is_requested() { FixEnd::Stopped } else { FixEnd::Complete };
    let refused = came
        .refusals
        .iter()
        .map(|(range, reason)| SkippedRange { bytes: range.end - range.start, reason: reason.clone() });
    Ok(FixReport { bytes: came.bytes_done, skips: refused.collect(), read_back, end, ..FixReport::default() })
}

fn format(consent: &Consent, erase: Erase) -> Result<FixReport, LabError> {
    let plan = FormatPlan::inspect(consent, erase)?;
    crate::standard_error::note(wording::formats_itself(plan.text()));
    let before = Samples::read(consent, SAMPLES)?;
    let formatted = plan.carry_out(consent)?;
    let changed = SkippedRange { bytes: 0, reason: wording::FORMAT_CHANGED.into() };
    let skips = if formatted.is_as_before { Vec::new() } else { vec![changed] };
    // Addresses of a drive of another size do not compare.
    let read_back = match formatted.is_as_before {
        true => Some(before.compare(&Samples::read(consent, SAMPLES)?)),
        false => None,
    };
    Ok(FixReport { bytes: plan.bytes, skips, read_back, ..FixReport::default() })
}

impl Drive for WholeDevice {
    fn identity(&self) -> Identity {
        self.drive().identity()
    }

    fn geometry(&self) -> Geometry {
        self.drive().geometry()
    }

    fn lanes_max(&self) -> u32 {
        self.drive().lanes_max()
    }

    fn lanes<'a>(&'a mut self, need: &LaneRequirements) -> Result<Vec<Lane<'a>>, LabError> {
        self.drive_mut().lanes(need)
    }

    fn prepare_access(&mut self, access: Access, cold: bool) -> Result<(), LabError> {
        self.drive_mut().prepare_access(access, cold)
    }

    fn use_old_files(&mut self, turn: bool) -> Result<(), LabError> {
        self.drive_mut().use_old_files(turn)
    }

    fn counters(&mut self) -> Option<Counters> {
        self.drive_mut().counters()
    }

    fn resume_clock_at(&mut self, now: Nanos) {
        self.clock = Monotonic::reading(now.max(self.clock.now()));
        self.drive_mut().resume_clock_at(now);
    }

    fn probe(&mut self, probe: &Probe) -> Result<ProbeResult, LabError> {
        match (probe, &self.permission) {
            (Probe::Fix(Fix::Discard), Permission::Lose(_)) => {
                self.with_exclusive_access(ActionKind::Discard, |_, consent| give_up(&consent))
            }
            (Probe::Fix(Fix::Format { crypto }), Permission::Lose(_)) => {
                let erase = if *crypto { Erase::Key } else { Erase::UserData };
                self.with_exclusive_access(ActionKind::NvmeFormat, |_, consent| format(&consent, erase))
            }
            (Probe::Fix(Fix::Refresh { pieces }), Permission::Rewrite(_)) => {
                let came = self.rewrite(ActionKind::Refresh, pieces, RewriteSettings::default())?;
                Ok(match came {
                    // Chunks of slow data here and there show no speed of the drive.
                    ProbeResult::FixReport(report) => {
                        ProbeResult::FixReport(FixReport { write_speeds: WriteSpeeds::default(), ..report })
                    }
                    other => other,
                })
            }
            (Probe::Fix(Fix::Rewrite { pieces, settings }), Permission::Rewrite(_)) => {
                self.rewrite(ActionKind::Rewrite, pieces, *settings)
            }
            (probe, _) => self.drive_mut().probe(probe),
        }
    }

    fn flash_counters(&self) -> Option<FlashCounters> {
        self.drive().flash_counters()
    }
}
