//! Claims every way to the target's bytes, so that none of them can be mounted while they are written, and
//! existing claims are noticed.

use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

use super::overlaps::{Overlap, Overlaps};
use super::snapshot::Snapshot;
use super::{Target, unknown_use};
use crate::clock::Monotonic;
use crate::device_number::DeviceNumber;
use crate::hold::{HOLD_PAUSE, HOLD_TRIES};
use crate::wording::in_use as wording;

/// Claims on everything else that shares bytes with a target, while this lives. The target itself is claimed
/// by the code that opens it.
#[derive(Debug)]
pub(crate) struct Claims {
    _descriptors: Vec<OwnedFd>,
}

impl Claims {
    /// Claims it, but for devices that this user may not open.
    ///
    /// # Errors
    /// Another program has claimed one of them: which, and what to do.
    pub(crate) fn take(target: &Target) -> Result<Self, String> {
        Ok(Self { _descriptors: claim(target)? })
    }
}

fn claim(target: &Target) -> Result<Vec<OwnedFd>, String> {
    let snapshot = Snapshot::now().map_err(|reason| unknown_use(&reason))?;
    let overlaps = Overlaps::find(&snapshot, target);
    let devices: Vec<(DeviceNumber, &Overlap)> = overlaps.to_claim();
    let disk = |number: &DeviceNumber| {
        snapshot.nodes.get(number).and_then(|node| node.part_of).map_or(*number, |(disk, _)| disk)
    };
    let mut disks: Vec<DeviceNumber> = devices.iter().map(|(number, _)| disk(number)).collect();
    disks.sort();
    disks.dedup();
    let mut claims = Vec::new();
    for whole in disks {
        let on_it = devices.iter().filter(|(number, _)| disk(number) == whole);
        let parts: Vec<_> = on_it.clone().filter(|(number, _)| *number != whole).collect();
        let busy = |one: &Overlap| Err(wording::held(&one.subject()));
        let has_partitions = snapshot.partitions(whole).next().is_some();
        // A disk of which another partition is claimed cannot be claimed as a whole.
        match open(&snapshot, whole, if has_partitions { 1 } else { HOLD_TRIES }) {
            ClaimResult::Taken(claim) => claims.push(claim),
            ClaimResult::Unknown => {}
            ClaimResult::Busy if parts.is_empty() => {
                let free = |(number, _)| matches!(open(&snapshot, number, 1), ClaimResult::Taken(_));
                if !snapshot.partitions(whole).any(free)
                    && let Some((_, one)) = on_it.clone().next()
                {
                    return busy(one);
                }
            }
            ClaimResult::Busy => {
                for (number, one) in parts {
                    match open(&snapshot, *number, HOLD_TRIES) {
                        ClaimResult::Taken(claim) => claims.push(claim),
                        ClaimResult::Unknown => {}
                        ClaimResult::Busy => return busy(one),
                    }
                }
            }
        }
    }
    Ok(claims)
}

/// The result of claiming one device.
enum ClaimResult {
    Taken(OwnedFd),
    Busy,
    Unknown,
}

fn open(snapshot: &Snapshot, number: DeviceNumber, tries: u32) -> ClaimResult {
    let Some(node) = snapshot.nodes.get(&number) else { return ClaimResult::Unknown };
    let path = Path::new("/dev").join(node.name.replace('!', "/"));
    if DeviceNumber::at(&path) != Some(number) {
        return ClaimResult::Unknown;
    }
    let flags = OFlags::RDONLY | OFlags::EXCL | OFlags::CLOEXEC | OFlags::NONBLOCK;
    let clock = Monotonic::start();
    for attempt in 1..=tries {
        match rustix::fs::open(&path, flags, Mode::empty()) {
            Ok(claim) => return ClaimResult::Taken(claim),
            Err(Errno::BUSY) if attempt < tries => clock.rest(clock.now() + HOLD_PAUSE),
            Err(Errno::BUSY) => return ClaimResult::Busy,
            Err(_) => return ClaimResult::Unknown,
        }
    }
    ClaimResult::Busy
}
