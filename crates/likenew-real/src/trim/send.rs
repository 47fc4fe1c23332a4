//! Sends TRIM for blocks that a file of ours has freed: by asking the file system, or by waiting for one that
//! does it on its own.

use std::ops::Range;
use std::os::fd::AsFd;

use likenew_core::trim::{TrimMethod, TrimReport};
use likenew_core::units::Nanos;
use rustix::io::Errno;

use super::MountedDevice;
use super::counters::Counters;
use super::fitrim::fitrim;
use super::layers::stack;
use crate::block::BlockDevice;
use crate::clock::Monotonic;
use crate::wording::trim as wording;

/// How often the counters are read while a file system trims. Chosen: a trim takes seconds, reading the
/// counters microseconds.
const POLL_INTERVAL: Nanos = Nanos::from_millis(50);

/// Sends TRIM, and watches the counters while it does. Made before anything is freed.
pub(crate) struct Sender {
    immediate: bool,
    devices: Vec<BlockDevice>,
    before: Counters,
}

impl Sender {
    /// Notes what the counters read now.
    pub(crate) fn new(mounted: &MountedDevice) -> Self {
        let devices = mounted.device.as_ref().map(stack).unwrap_or_default();
        Self { immediate: mounted.discards_immediately(), before: Counters::read(&devices), devices }
    }

    /// Sends TRIM for `places`, which were freed just now and hold `bytes`; `unplaced` says why where they
    /// are not known.
    pub(crate) fn send(
        &self,
        folder: impl AsFd,
        places: Result<&[Range<u64>], &str>,
        bytes: u64,
        wait: Nanos,
        clock: &Monotonic,
    ) -> TrimReport {
        let started_at = clock.now();
        let mut sent = match places {
            _ if self.immediate => self.wait_for_mount(bytes, started_at + wait, clock),
            Ok(places) => ask(folder, places),
            Err(reason) => {
                TrimReport { refusal: Some(wording::location_unknown(reason)), ..TrimReport::default() }
            }
        };
        sent.bytes = bytes;
        sent.elapsed = clock.now() - started_at;
        sent.discard_counters = Counters::read(&self.devices).since(&self.before);
        sent
    }

    /// A file system that discards at once does so when its journal is written, which was done.
    fn wait_for_mount(&self, bytes: u64, until: Nanos, clock: &Monotonic) -> TrimReport {
        let is_counted = || {
            let moved = Counters::read(&self.devices).since(&self.before);
            moved.first().is_some_and(|top| top.bytes >= bytes)
        };
        while !is_counted() && clock.now() < until {
            clock.rest((clock.now() + POLL_INTERVAL).min(until));
        }
        TrimReport { means: TrimMethod::Mount, ..TrimReport::default() }
    }
}

/// Has the file system trim these places, and nothing else.
fn ask(folder: impl AsFd, places: &[Range<u64>]) -> TrimReport {
    let mut accepted = 0;
    for place in places {
        match fitrim(&folder, place) {
            Ok(bytes) => accepted += bytes,
            Err(errno) => return TrimReport { refusal: Some(refusal(errno)), ..TrimReport::default() },
        }
    }
    TrimReport { means: TrimMethod::Fitrim, accepted_bytes: Some(accepted), ..TrimReport::default() }
}

/// Why a file system sends none.
pub(super) fn refusal(errno: Errno) -> String {
    match errno {
        Errno::PERM | Errno::ACCESS => wording::TRIM_NEEDS_ROOT.to_owned(),
        Errno::OPNOTSUPP | Errno::NOTTY => wording::TRIM_UNSUPPORTED.to_owned(),
        errno => wording::trim_refused(errno),
    }
}
