//! Sends TRIM for all free space of a file system, as fstrim does.

use std::os::fd::AsFd;

use likenew_core::fix::FixReport;
use likenew_core::probe::ProbeResult;
use rustix::fs::syncfs;

use super::MountedDevice;
use super::counters::Counters;
use super::fitrim::fitrim;
use super::layers::stack;
use super::send::refusal;
use crate::clock::Monotonic;
use crate::wording::trim as wording;

/// Asks the file system of a folder to send TRIM for all its free space. Deleted files count as free once
/// that was written out.
pub(crate) fn trim_free_space(folder: impl AsFd, mounted: &MountedDevice, clock: &Monotonic) -> ProbeResult {
    let devices = mounted.device.as_ref().map(stack).unwrap_or_default();
    if let Err(errno) = syncfs(&folder) {
        return ProbeResult::Unknown(wording::not_synced(errno));
    }
    let (before, started_at) = (Counters::read(&devices), clock.now());
    match fitrim(&folder, &(0..u64::MAX)) {
        Ok(bytes) => ProbeResult::FixReport(FixReport {
            bytes,
            elapsed: clock.now() - started_at,
            discard_counters: Counters::read(&devices).since(&before),
            ..FixReport::default()
        }),
        Err(errno) => ProbeResult::Unknown(refusal(errno)),
    }
}
