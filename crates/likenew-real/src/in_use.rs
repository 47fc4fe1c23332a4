//! Who else uses bytes that are about to be written: one check, the same for a block device, a partition, a
//! loop device, a file, and a part of a disk.
//!
//! Bytes have many names. The answer is found in two steps. First everything that contains the target's
//! bytes: the disk of a partition, the file or device below a loop device, what a mapping is built on, the
//! same disk by another path. Then everything that reaches any of these bytes from there: partitions and loop
//! devices whose windows overlap them, and what is built on those. Each of these may be mounted (here, in
//! another mount namespace, or as one of several devices of a file system), serve as swap, carry another
//! device, or be open for writing. Windows that share no byte with the target do not matter.
//!
//! A file of a file system that is made of other ones (overlay, FUSE) is taken for all the files beneath it.
//! Where these cannot be found out, nor who uses them, the bytes count as used.
//!
//! What the kernel does not show in /sys is covered by its claims: ZFS, file systems mounted out of sight. So
//! before a write all ways to these bytes are claimed ([`Claims`]), as the target itself is, and the check is
//! repeated afterwards. The file system that holds a backing file is no user of it. A loop device that is
//! attached later is not noticed, nor what the kernel holds open itself, as targets that serve a file to
//! others do.
//!
//! What cannot be found out counts as use: a list that cannot be read, and a loop device that does not report
//! its backing file.

mod beneath;
mod claims;
mod overlaps;
mod snapshot;
mod system_devices;

use std::ops::Range;
use std::path::{Path, PathBuf};

use self::beneath::Beneath;
pub(crate) use self::claims::Claims;
use self::overlaps::Overlaps;
use self::snapshot::Snapshot;
pub(crate) use self::system_devices::{add_with_lower_devices, below_loop, lower_device};
use crate::block::BlockDevice;
use crate::loop_device::Store;
use crate::wording::in_use as wording;

/// The bytes that are about to be written.
#[derive(Clone, Debug)]
pub(crate) struct Target {
    store: Store,
    ranges: Vec<Range<u64>>,
    name: String,
    /// Where a file is, to find out what lies beneath it.
    path: Option<PathBuf>,
}

impl Target {
    /// All of a block device; none of one that says neither its numbers nor its size.
    pub(crate) fn device(device: &BlockDevice) -> Option<Self> {
        let sectors = device.attribute("size")?.parse::<u64>().ok()?;
        Self::parts(device, std::iter::once(0..sectors.saturating_mul(512)).collect())
    }

    /// Parts of a disk.
    pub(crate) fn parts(disk: &BlockDevice, ranges: Vec<Range<u64>>) -> Option<Self> {
        Some(Self { store: Store::Device(disk.number()?), ranges, name: disk.name(), path: None })
    }

    /// A file, by its place and by the numbers of its file system and of itself.
    pub(crate) fn file(path: &Path, device: u64, inode: u64, bytes: u64) -> Self {
        let store = Store::File { device, inode };
        let ranges = std::iter::once(0..bytes).collect();
        Self { store, ranges, name: "it".to_owned(), path: Some(path.to_owned()) }
    }
}

/// Whether a file at this path, with these numbers of its file system and of itself, is all that leads to its bytes: a lease on a
/// file that another file system shows does not keep anybody from the file beneath.
pub(crate) fn is_only_way(path: &Path, device: u64, inode: u64) -> bool {
    Beneath::find(Store::File { device, inode }, Some(path)) == Beneath::Stores(Vec::new())
}

/// Why these bytes must not be written, if they are in use: by whom, by which way, and what to do.
pub(crate) fn use_of(target: &Target) -> Option<String> {
    let snapshot = match Snapshot::now() {
        Ok(snapshot) => snapshot,
        Err(reason) => return Some(unknown_use(&reason)),
    };
    let overlaps = Overlaps::find(&snapshot, target);
    overlaps.structural_use().or_else(|| overlaps.program())
}

/// The same for what no program can have open, as it is held against all of them.
pub(crate) fn use_by_system(target: &Target) -> Option<String> {
    match Snapshot::now() {
        Ok(snapshot) => Overlaps::find(&snapshot, target).structural_use(),
        Err(reason) => Some(unknown_use(&reason)),
    }
}

fn unknown_use(reason: &str) -> String {
    wording::unknown_use(reason)
}

#[cfg(test)]
mod tests;
