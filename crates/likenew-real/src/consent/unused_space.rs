//! Consent to discard the space that no partition of a disk covers, while its partitions may be in use.
//!
//! The disk cannot be held exclusively then, so this is a separate kind of consent with other checks. The
//! table on the disk and the kernel's list name the same partitions, and both are checked again before every
//! step. Only partitions use the disk, and it is locked as partitioning tools lock it (flock on the disk).
//! The space before the first partition is never touched, as boot loaders are there, nor are the tables
//! themselves, nor gaps shorter than 1 MiB.

use std::collections::HashSet;
use std::fs::File;
use std::ops::Range;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

use likenew_core::target_error::TargetError;
use rustix::fs::{Mode, OFlags, ioctl_blksszget};
use sha2::{Digest as _, Sha256};

use super::contents::{EXTENDED, GRAIN, Table, dos_entries, read, read_table, signatures};
use super::{Agreement, Identity, open_for_reading, refusal, reread_kernel_state};
use crate::block::{BlockDevice, capacity};
use crate::hold::lock_patiently;
use crate::identify::{StableId, resolve};
use crate::in_use::{Claims, Target, add_with_lower_devices, use_of};
use crate::mounts::Mount;
use crate::target_error::ErrorContext as _;
use crate::wording::{action, consent as wording};

/// Space of a disk outside of its partitions, and the state of the disk around it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnusedSpace {
    /// The disk's path, without symbolic links.
    pub path: PathBuf,
    /// The disk's stable name, which the user has to type.
    pub id: StableId,
    /// Maker and model, where known.
    pub model: Option<String>,
    /// The kind of the partition table: `gpt` or `dos`.
    pub table: &'static str,
    /// The unused ranges, in bytes from the disk's start; may be empty.
    pub ranges: Vec<Range<u64>>,
    identity: Identity,
    /// A hash of the blocks that hold the tables.
    digest: [u8; 32],
}

/// The right to discard unused space, and the lock on its disk.
#[derive(Debug)]
pub struct UnusedConsent {
    space: UnusedSpace,
    fd: OwnedFd,
    /// Claims on other devices over these bytes. The disk itself cannot be claimed while its partitions are in use.
    _claims: Claims,
}

impl UnusedSpace {
    /// The unused space of the one disk with partitions below a folder, whatever layers lie between.
    ///
    /// # Errors
    /// There is no such disk, or there are several; or as [`UnusedSpace::at`].
    pub fn in_folder(folder: &Path) -> Result<Self, TargetError> {
        let fd = File::open(folder).context(action::open_path(folder.display()))?;
        let mount = Mount::containing(fd);
        let mount = mount.ok_or_else(|| refusal(folder, wording::DRIVE_NOT_REPORTED))?;
        Self::in_mount(&mount)
    }

    /// As [`UnusedSpace::in_folder`], for a mount.
    pub(crate) fn in_mount(mount: &Mount) -> Result<Self, TargetError> {
        let refuse = |reason: &str| refusal(Path::new(&mount.point), reason);
        let mut stands_on = HashSet::new();
        if let Some(device) = mount.block_device()
            && !add_with_lower_devices(&device, &mut stands_on)
        {
            return Err(refuse(wording::LOOP_BACKING_UNKNOWN));
        }
        let devices = stands_on.into_iter().map(BlockDevice::at);
        let mut disks: Vec<String> =
            devices.filter(BlockDevice::is_partition).map(|device| device.disk().name()).collect();
        disks.sort();
        disks.dedup();
        match &disks[..] {
            [disk] => Self::at(&Path::new("/dev").join(disk)),
            [] => Err(refuse(wording::NO_PARTITIONED_DISK)),
            [..] => Err(refuse(&wording::several_disks(&disks))),
        }
    }

    /// Examines the disk at `path` without changing anything.
    ///
    /// # Errors
    /// A refusal that names the check which failed, and what to do.
    pub fn at(path: &Path) -> Result<Self, TargetError> {
        let path = resolve(path);
        let refuse = |reason: &str| refusal(&path, reason);
        let fd = open_for_reading(&path)?;
        let identity = Identity::from_fd(&fd)?;
        let Identity::Device { number, .. } = identity else {
            return Err(refuse(wording::NOT_A_DISK));
        };
        let Some(disk) = BlockDevice::by_number(number) else { return Err(refuse(wording::NOTHING_BEHIND)) };
        if disk.is_partition() {
            return Err(refuse(wording::IS_A_PARTITION));
        }
        if disk.attribute("ro").is_some_and(|ro| ro == "1") {
            return Err(refuse(wording::WRITE_PROTECTED));
        }
        let bytes = capacity(&fd, &path)?;
        reread_kernel_state(&fd);
        let marks = signatures(&fd, 0, bytes).context_at(action::READ, &path)?;
        let table = match &marks[..] {
            ["dos"] => "dos",
            names if names.contains(&"gpt") && names.iter().all(|name| ["gpt", "dos"].contains(name)) => {
                "gpt"
            }
            [] => {
                return Err(refuse(wording::NO_TABLE));
            }
            names => {
                let names = names.join(" and ");
                return Err(refuse(&wording::uses_unpartitioned_space(&names)));
            }
        };
        let block = u64::from(ioctl_blksszget(&fd).context_at(action::LOOK_AT, &path)?);
        let on_disk = if table == "gpt" { of_gpt(&fd, block, bytes) } else { of_dos(&fd, block, bytes) };
        let Table { mut partitions, tables, end } = on_disk.map_err(|reason| refuse(&reason))?;
        let mut known: Vec<Range<u64>> = disk
            .partitions()
            .iter()
            .filter_map(BlockDevice::range)
            .map(|(start, length)| start..start + length)
            .collect();
        known.sort_by_key(|range| range.start);
        partitions.sort_by_key(|range| range.start);
        if known != partitions {
            return Err(refuse(wording::TABLE_DIFFERS));
        }
        if partitions.is_empty() {
            return Err(refuse(wording::NO_PARTITIONS));
        }
        let ranges = holes(&partitions, end.min(bytes));
        let target = Target::parts(&disk, ranges.clone()).ok_or_else(|| refuse(wording::NOTHING_BEHIND))?;
        if let Some(reason) = use_of(&target) {
            return Err(refuse(&reason));
        }
        let digest = digest(&fd, &tables).context_at(action::READ, &path)?;
        let (id, model) = (StableId::of_device(&disk, bytes), disk.model());
        Ok(Self { id, model, table, ranges, identity, digest, path })
    }

    /// The unused bytes, to find out who else uses them.
    fn target(&self) -> Option<Target> {
        let Identity::Device { number, .. } = self.identity else { return None };
        Target::parts(&BlockDevice::by_number(number)?, self.ranges.clone())
    }

    /// Bytes of all ranges together.
    pub fn bytes(&self) -> u64 {
        self.ranges.iter().map(|range| range.end - range.start).sum()
    }
}

impl UnusedConsent {
    /// Consents, if the typed name is the stable name of the disk, and the disk has not changed since it was
    /// examined.
    ///
    /// # Errors
    /// A refusal that names the check which failed, and what to do.
    pub fn take(space: &UnusedSpace, agreement: &Agreement) -> Result<Self, TargetError> {
        let UnusedSpace { path, id, .. } = space;
        agreement.names(path, id)?;
        let fd = rustix::fs::open(path, OFlags::RDWR | OFlags::CLOEXEC, Mode::empty())
            .context_at(action::OPEN_FOR_WRITING, path)?;
        if lock_patiently(&fd).is_err() {
            let reason = wording::LOCKED_BY_PARTITIONING;
            return Err(refusal(path, reason));
        }
        let target = space.target().ok_or_else(|| refusal(path, wording::NOTHING_BEHIND))?;
        let claims = Claims::take(&target).map_err(|reason| refusal(path, &reason))?;
        let consent = Self { space: space.clone(), fd, _claims: claims };
        consent.check()?;
        Ok(consent)
    }

    /// The space that may be discarded.
    pub fn space(&self) -> &UnusedSpace {
        &self.space
    }

    pub(crate) fn descriptor(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }

    /// Checks that nothing has changed since the disk was examined.
    ///
    /// # Errors
    /// A refusal, if something has changed.
    pub(crate) fn check(&self) -> Result<(), TargetError> {
        if Identity::from_fd(&self.fd)? != self.space.identity
            || UnusedSpace::at(&self.space.path)? != self.space
        {
            return Err(refusal(&self.space.path, wording::PARTITIONS_CHANGED));
        }
        Ok(())
    }
}

fn of_gpt(fd: &OwnedFd, block: u64, bytes: u64) -> Result<Table, String> {
    read_table(fd, block, bytes).map_err(|reason| wording::table_unreadable(&reason))
}

/// Reads a DOS partition table.
fn of_dos(fd: &OwnedFd, block: u64, bytes: u64) -> Result<Table, String> {
    let sector = read(fd, &(0..512)).map_err(wording::first_sector_unreadable)?;
    let mut partitions = Vec::new();
    for (kind, first, count) in dos_entries(&sector).filter(|(kind, ..)| *kind != 0) {
        if EXTENDED.contains(&kind) {
            return Err(wording::EXTENDED_PARTITION.to_owned());
        }
        partitions.push(first * block..(first + count) * block);
    }
    // The last sectors hold copies of tables, and RAID metadata of mainboards.
    Ok(Table { partitions, tables: [0..512, 0..0], end: bytes.saturating_sub(GRAIN) })
}

/// The gaps behind the first partition that no other partition covers, in whole grains.
fn holes(partitions: &[Range<u64>], end: u64) -> Vec<Range<u64>> {
    let mut holes = Vec::new();
    let mut covered = partitions.first().map_or(end, |first| first.end);
    let starts = partitions.iter().skip(1).map(|partition| (partition.start, partition.end));
    for (start, next) in starts.chain([(end, end)]) {
        let hole = covered.next_multiple_of(GRAIN)..start / GRAIN * GRAIN;
        if hole.start < hole.end {
            holes.push(hole);
        }
        covered = covered.max(next);
    }
    holes
}

fn digest(fd: &OwnedFd, ranges: &[Range<u64>]) -> rustix::io::Result<[u8; 32]> {
    let mut digest = Sha256::new();
    for range in ranges {
        digest.update(read(fd, range)?);
    }
    Ok(digest.finalize().into())
}

/// Reads a partition table of this kind and finds its gaps, for fuzzers.
///
/// # Errors
/// A sentence that says why the table cannot be read.
pub(crate) fn partition_table(fd: &OwnedFd, kind: &str, bytes: u64) -> Result<(), String> {
    let read = if kind == "gpt" { of_gpt(fd, 512, bytes) } else { of_dos(fd, 512, bytes) };
    let Table { mut partitions, tables, end } = read?;
    partitions.sort_by_key(|range| range.start);
    let _ = holes(&partitions, end);
    digest(fd, &tables).map(drop).map_err(|errno| errno.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    #[test]
    fn holes_lie_behind_the_first_partition_and_between_others() {
        type Mib = (u64, u64);
        let cases: [(&[Mib], u64, &[Mib]); 6] = [
            (&[], 100, &[]),
            (&[(1, 4)], 8, &[(4, 8)]),
            (&[(3, 4), (6, 8)], 8, &[(4, 6)]),
            (&[(1, 4), (4, 8)], 8, &[]),
            (&[(2, 3), (4, 6), (5, 7)], 9, &[(3, 4), (7, 9)]),
            // A partition inside another one makes no gap.
            (&[(1, 9), (3, 4)], 12, &[(9, 12)]),
        ];
        for (partitions, end, expected) in cases {
            let in_mib = |ranges: &[Mib]| -> Vec<Range<u64>> {
                ranges.iter().map(|(start, end)| start * MIB..end * MIB).collect()
            };
            assert_eq!(holes(&in_mib(partitions), end * MIB), in_mib(expected));
        }
        let end = 10 * MIB + 5;
        assert_eq!(holes(&[512..2 * MIB + 512, 3 * MIB + 512..9 * MIB + 1], end), [], "no whole grain");
        let first = [512..2 * MIB + 512, 3 * MIB..3 * MIB + 1];
        let ranges = holes(&first, end);
        assert_eq!((ranges.len(), ranges[0].start, ranges[0].end), (1, 4 * MIB, 10 * MIB));
    }
}
