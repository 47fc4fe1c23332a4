//! Tells the drive of blocks that a file of ours has freed: by asking the file system, or by waiting for one that does it unasked.

use std::ops::Range;
use std::os::fd::AsFd;

use likenew_core::trim::{Means, Sent};
use likenew_core::units::Nanos;
use rustix::io::Errno;

use super::Ground;
use super::counters::Counters;
use super::fitrim::fitrim;
use super::layers::stack;
use crate::block::BlockDevice;
use crate::clock::Monotonic;

/// How often the counters are looked at while a file system is waited for.
const LOOK_EVERY: Nanos = Nanos::from_millis(50);

/// Tells the drive, and watches the counters meanwhile. Made before anything is given up.
pub(crate) struct Sender {
    at_once: bool,
    devices: Vec<BlockDevice>,
    before: Counters,
}

impl Sender {
    /// Notes what the counters read now.
    pub(crate) fn new(ground: &Ground) -> Self {
        let devices = ground.device.as_ref().map(stack).unwrap_or_default();
        Self { at_once: ground.at_once(), before: Counters::read(&devices), devices }
    }

    /// Tells the drive of `places`, which were freed just now and hold `bytes`; `unplaced` says why where they are not known.
    pub(crate) fn send(
        &self,
        folder: impl AsFd,
        places: Result<&[Range<u64>], &str>,
        bytes: u64,
        wait: Nanos,
        clock: &Monotonic,
    ) -> Sent {
        let began = clock.now();
        let mut sent = match places {
            _ if self.at_once => self.wait_for_mount(bytes, began + wait, clock),
            Ok(places) => ask(folder, places),
            Err(why) => Sent {
                refused: Some(format!(
                    "the file's place is not known, and nobody else's free space is touched ({why})"
                )),
                ..Sent::default()
            },
        };
        sent.bytes = bytes;
        sent.took = clock.now() - began;
        sent.counted = Counters::read(&self.devices).since(&self.before);
        sent
    }

    /// A file system that discards at once does so when its journal is written, which was done.
    fn wait_for_mount(&self, bytes: u64, until: Nanos, clock: &Monotonic) -> Sent {
        let is_counted = || {
            let moved = Counters::read(&self.devices).since(&self.before);
            moved.first().is_some_and(|top| top.bytes >= bytes)
        };
        while !is_counted() && clock.now() < until {
            clock.rest((clock.now() + LOOK_EVERY).min(until));
        }
        Sent { means: Means::Mount, ..Sent::default() }
    }
}

/// Has the file system trim these places, and nothing else.
fn ask(folder: impl AsFd, places: &[Range<u64>]) -> Sent {
    let mut accepted = 0;
    for place in places {
        match fitrim(&folder, place) {
            Ok(bytes) => accepted += bytes,
            Err(errno) => return Sent { refused: Some(refusal(errno)), ..Sent::default() },
        }
    }
    Sent { means: Means::Fitrim, accepted_bytes: Some(accepted), ..Sent::default() }
}

/// Why a file system sends none.
pub(super) fn refusal(errno: Errno) -> String {
    match errno {
        Errno::PERM | Errno::ACCESS => {
            "asking a file system for TRIM takes root: run it with sudo".to_owned()
        }
        Errno::OPNOTSUPP | Errno::NOTTY => "the file system answers that there is no TRIM here".to_owned(),
        errno => format!("the file system refused to send TRIM: {errno}"),
    }
}
