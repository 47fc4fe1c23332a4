//! Tells the drive of everything that a file system has free, as fstrim does.

use std::os::fd::AsFd;

use likenew_core::cure::Cured;
use likenew_core::look::Seen;
use rustix::fs::syncfs;

use super::Ground;
use super::counters::Counters;
use super::fitrim::fitrim;
use super::layers::stack;
use super::send::refusal;
use crate::clock::Monotonic;

/// Has the file system of a folder send TRIM for all that is free in it. What was just deleted is free once it was written out.
pub(crate) fn tell_free(folder: impl AsFd, ground: &Ground, clock: &Monotonic) -> Seen {
    let devices = ground.device.as_ref().map(stack).unwrap_or_default();
    if let Err(errno) = syncfs(&folder) {
        return Seen::Unknown(format!("the file system could not be written out: {errno}"));
    }
    let (before, began) = (Counters::read(&devices), clock.now());
    match fitrim(&folder, &(0..u64::MAX)) {
        Ok(bytes) => Seen::Cured(Cured {
            bytes,
            took: clock.now() - began,
            counted: Counters::read(&devices).since(&before),
            ..Cured::default()
        }),
        Err(errno) => Seen::Unknown(refusal(errno)),
    }
}
