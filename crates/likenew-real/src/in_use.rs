//! Who else uses bytes that are about to be written. The check is the same for a block device, a partition, a
//! loop device, a file, and a part of a disk.
//!
//! Bytes have many names, so the answer is found in two steps. The first finds everything that contains the
//! target's bytes: a partition's disk, a loop device's file or device, what a mapping is built on, other
//! paths to the same disk. The second finds everything that reaches any of these bytes from there: partitions
//! and loop devices whose windows overlap them, and what is built on those. Each of these may be mounted
//! (here, in another mount namespace, or as one of several devices of a file system), serve as swap, carry
//! another device, or be open for writing. Windows that share no byte with the target do not matter.
//!
//! A file system made of others (overlay, FUSE) may show another file's bytes by another name, and nobody can
//! tell for sure which file's. So bytes count as used if the target or another loop device lies in such a
//! file, or if a program writes to one of the same size.
//!
//! What the kernel does not show in /sys, such as ZFS and file systems mounted out of sight, its claims
//! cover. So before a write all ways to these bytes are claimed ([`Claims`]), as the target itself is, and
//! the check is repeated. The file system that holds a backing file is no user of it. Two users are not
//! noticed: loop devices that are attached later, and the kernel itself, when it serves a file to others as a
//! storage target.
//!
//! What cannot be determined counts as use: a list that cannot be read, and a loop device that does not
//! report its backing file.

mod overlaps;

use std::collections::HashSet;
use std::fs;
use std::ops::Range;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

use self::overlaps::{Overlap, Overlaps, PASSING, Snapshot};
use crate::block::{BlockDevice, DeviceNumber, open_path};
use crate::drive_traffic::CounterSource;
use crate::hold::Tries;
use crate::mounts::{Backing, Mount, Store, backing_path};
use crate::wording::consent as wording;

/// The bytes that are about to be written.
#[derive(Clone, Debug)]
pub(crate) struct Target {
    store: Store,
    ranges: Vec<Range<u64>>,
    name: String,
    /// The path of a file, to find out which file system shows the file.
    path: Option<PathBuf>,
    /// Whether it is a file that a lease keeps from every program of this machine, and that gets its own bytes back.
    is_held: bool,
}

impl Target {
    /// All of a block device; `None` if the device has no numbers or no size.
    pub(crate) fn device(device: &BlockDevice) -> Option<Self> {
        Self::parts(device, std::iter::once(0..device.bytes()?).collect())
    }

    /// Parts of a disk.
    pub(crate) fn parts(disk: &BlockDevice, ranges: Vec<Range<u64>>) -> Option<Self> {
        Some(Self {
            store: Store::Device(disk.number()?),
            ranges,
            name: disk.name(),
            path: None,
            is_held: false,
        })
    }

    /// A file, by its place and by the numbers of its file system and of itself.
    pub(crate) fn file(path: &Path, device: u64, inode: u64, bytes: u64) -> Self {
        let store = Store::File { device, inode };
        let ranges = std::iter::once(0..bytes).collect();
        Self { store, ranges, name: "it".to_owned(), path: Some(path.to_owned()), is_held: false }
    }

    /// As [`Target::file`], for a file that is held by a lease and gets its own bytes back. A lease reaches
    /// neither the file beneath another file system nor other machines.
    pub(crate) fn held_file(path: &Path, device: u64, inode: u64, bytes: u64) -> Self {
        Self { is_held: true, ..Self::file(path, device, inode, bytes) }
    }
}

/// Why these bytes must not be written, if they are in use: by whom, by which way, and what to do.
pub(crate) fn use_of(target: &Target) -> Option<String> {
    once_settled(target, |overlaps| overlaps.structural_use().or_else(|| overlaps.program()))
}

/// As [`use_of`], without a look for programs: a lease or a claim keeps the target from all of them.
pub(crate) fn use_by_system(target: &Target) -> Option<String> {
    once_settled(target, |overlaps| overlaps.structural_use())
}

/// Checks again for a moment if all that is wrong is a user who cannot be determined. Somebody may be
/// attaching or detaching a loop device, whose file is unknown meanwhile.
fn once_settled(target: &Target, answer: impl Fn(&Overlaps<'_>) -> Option<String>) -> Option<String> {
    let check = || {
        let snapshot = match Snapshot::now() {
            Ok(snapshot) => snapshot,
            Err(reason) => return (false, Some(wording::unknown_use(&reason))),
        };
        let overlaps = Overlaps::find(&snapshot, target);
        (overlaps.is_unsure(), answer(&overlaps))
    };
    PASSING.until_free(|(is_unsure, _)| *is_unsure, check).1
}

// Devices below others, and those that the system runs from.

/// Mount points whose loss ends a system.
pub(super) const SYSTEM: [&str; 8] = ["/", "/boot", "/boot/efi", "/etc", "/usr", "/var", "/home", "/nix"];

/// Folders of the system itself, where the loss of a file may break the machine.
const SYSTEM_FOLDERS: [&str; 7] = ["/bin", "/boot", "/etc", "/lib", "/lib64", "/sbin", "/usr"];

/// The system folder that a file on this mount is in, even if that folder is mounted a second time under another name.
pub(crate) fn system_folder(path: &Path, mount: &Mount) -> Option<&'static str> {
    let place = mount.inside(path);
    SYSTEM_FOLDERS.into_iter().find(|folder| {
        let is_there = || {
            let folder = fs::canonicalize(folder).ok()?;
            let of_folder = Mount::containing(fs::File::open(&folder).ok()?)?;
            let is_same = of_folder.device == mount.device;
            Some(is_same && place.as_ref()?.starts_with(of_folder.inside(&folder)?))
        };
        path.starts_with(folder) || is_there() == Some(true)
    })
}

/// Folders in /sys of all devices that the system runs from: the mounted ones, and everything below them.
pub(super) fn system_devices() -> HashSet<PathBuf> {
    let mut folders = HashSet::new();
    for place in SYSTEM {
        if let Some(device) =
            fs::File::open(place).ok().and_then(Mount::containing).and_then(|mount| mount.block_device())
        {
            // Gaps are acceptable: the devices below a mount are also found from other lists.
            let _ = add_with_lower_devices(&device, &mut folders);
        }
    }
    folders
}

/// Adds the folders in /sys of a device, of its disk, and of everything that these are built on. Returns
/// whether these are known to be all.
#[must_use]
pub(crate) fn add_with_lower_devices(device: &BlockDevice, visited: &mut HashSet<PathBuf>) -> bool {
    if !visited.insert(device.folder().to_owned()) {
        return true;
    }
    let mut below = device.slave_devices();
    below.push(device.disk());
    let backing = below_loop(device);
    let is_known = backing.is_some();
    below.extend(backing.into_iter().flatten());
    below.iter().fold(is_known, |is_all, device| add_with_lower_devices(device, visited) && is_all)
}

/// The devices right below a loop device: those that hold its file, or the one it is attached to. `None` if
/// they cannot be seen from here; empty above memory, and for anything but a loop device.
pub(crate) fn below_loop(device: &BlockDevice) -> Option<Vec<BlockDevice>> {
    let Some(Backing { store, .. }) = Backing::read(device).ok()? else { return Some(Vec::new()) };
    let system = match store {
        Store::Device(number) => return Some(vec![BlockDevice::by_number(number)?]),
        Store::File { device, .. } => DeviceNumber::from_raw(device),
    };
    // Whoever attached the loop device may have had another file of that name.
    let path = backing_path(device).filter(|path| Store::at(path) == Some(store));
    let opened = path.and_then(|path| open_path(path).ok());
    match opened.and_then(Mount::containing) {
        Some(mount) => Some(CounterSource::of_mount(&mount).devices().to_vec()),
        // File systems of several devices, and memory, have numbers that belong to no device.
        None => BlockDevice::by_number(system).map(|device| vec![device]),
    }
}

// Claims every device over the target's bytes, so that none can be mounted while the bytes are written, and
// existing claims are noticed.

/// Claims on everything else that shares bytes with a target, while this lives. The target itself is claimed
/// by the code that opens it.
#[derive(Debug)]
pub(crate) struct Claims {
    _descriptors: Vec<OwnedFd>,
}

impl Claims {
    /// Takes all claims, except on devices that this user may not open.
    ///
    /// # Errors
    /// Another program has claimed one of these devices: which, and what to do.
    pub(crate) fn take(target: &Target) -> Result<Self, String> {
        Ok(Self { _descriptors: claim(target)? })
    }
}

fn claim(target: &Target) -> Result<Vec<OwnedFd>, String> {
    let snapshot = Snapshot::now().map_err(|reason| wording::unknown_use(&reason))?;
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
        let busy = |overlap: &Overlap| Err(wording::held(&overlap.subject()));
        let has_partitions = snapshot.partitions(whole).next().is_some();
        // A disk of which another partition is claimed cannot be claimed as a whole.
        match claim_device(&snapshot, whole, if has_partitions { Tries::ONCE } else { Tries::CLAIM }) {
            ClaimResult::Taken(claim) => claims.push(claim),
            ClaimResult::Unknown => {}
            ClaimResult::Busy if parts.is_empty() => {
                let free = |(number, _)| {
                    matches!(claim_device(&snapshot, number, Tries::ONCE), ClaimResult::Taken(_))
                };
                if !snapshot.partitions(whole).any(free)
                    && let Some((_, overlap)) = on_it.clone().next()
                {
                    return busy(overlap);
                }
            }
            ClaimResult::Busy => {
                for (number, overlap) in parts {
                    match claim_device(&snapshot, *number, Tries::CLAIM) {
                        ClaimResult::Taken(claim) => claims.push(claim),
                        ClaimResult::Unknown => {}
                        ClaimResult::Busy => return busy(overlap),
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

fn claim_device(snapshot: &Snapshot, number: DeviceNumber, tries: Tries) -> ClaimResult {
    let Some(node) = snapshot.nodes.get(&number) else { return ClaimResult::Unknown };
    let path = node.device.node();
    if DeviceNumber::at(&path) != Some(number) {
        return ClaimResult::Unknown;
    }
    let flags = OFlags::RDONLY | OFlags::EXCL | OFlags::CLOEXEC | OFlags::NONBLOCK;
    match tries.while_busy(Errno::BUSY, || rustix::fs::open(&path, flags, Mode::empty())) {
        Ok(claim) => ClaimResult::Taken(claim),
        Err(Errno::BUSY) => ClaimResult::Busy,
        Err(_) => ClaimResult::Unknown,
    }
}

#[cfg(test)]
mod tests;
