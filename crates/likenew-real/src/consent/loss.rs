//! What an overwrite would destroy, found out without changing anything.

use std::fmt;
use std::ops::Range;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::time::Duration;

use likenew_core::target_error::TargetError;
use rustix::fs::{Access, AtFlags, CWD, FileType, StatxAttributes, StatxFlags, accessat, fstat, stat, statx};
use rustix::io::Errno;

use super::contents::{read, signatures};
use super::{Identity, open_for_reading, refusal, reread_kernel_state};
use crate::block::{BlockDevice, DeviceNumber, capacity};
use crate::facts::system::output;
use crate::identify::{StableId, resolve};
use crate::in_use::{Target, system_folder, use_of};
use crate::mounts::{KERNEL_FILE_SYSTEMS, Mount};
use crate::scratch::{DIRECTORY, is_scratch};
use crate::standards::clean;
use crate::target_error::not_possible;
use crate::wording::{action, consent as wording};

/// A block device or file that is not in use: what it is, and what is on it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loss {
    /// The target's path, without symbolic links.
    pub path: PathBuf,
    /// The target's stable name, which the user has to type.
    pub id: StableId,
    /// Maker and model, where known.
    pub model: Option<String>,
    /// The target's size.
    pub bytes: u64,
    /// Names of the file systems, partition tables and the like on the target.
    pub carries: Vec<String>,
    /// Tells the target from any other that may later have its path.
    pub(super) identity: Identity,
}

impl Loss {
    /// Finds out what is at `path`, after every check that needs no agreement.
    ///
    /// # Errors
    /// The path is neither a block device nor a file, the target is in use, or the system runs from it. The
    /// refusal names the check that failed and what to do.
    pub fn at(path: &Path) -> Result<Self, TargetError> {
        let resolved = resolve(path);
        let stat = stat(&resolved).map_err(|errno| not_possible(action::LOOK_AT, path, errno))?;
        let kind = FileType::from_raw_mode(stat.st_mode);
        if !matches!(kind, FileType::BlockDevice | FileType::RegularFile) {
            return Err(refusal(path, &wording::wrong_kind(text(kind))));
        }
        // Report who uses a device before opening it: opening may need rights.
        let number = DeviceNumber::from_raw(stat.st_rdev);
        let device = (kind == FileType::BlockDevice).then(|| unused_device(&resolved, number)).transpose()?;
        let fd = open_for_reading(&resolved)?;
        match (device, Identity::from_fd(&fd)?) {
            (Some(device), Identity::Device { number: opened, .. }) if opened == number => {
                Self::of_device(resolved, &device, fd)
            }
            (None, Identity::File { .. }) => Self::of_file(resolved, fd),
            _ => Err(refusal(path, wording::CHANGED_DURING_CHECK)),
        }
    }

    /// Whether the target is a block device; otherwise it is a file.
    pub fn is_device(&self) -> bool {
        matches!(self.identity, Identity::Device { .. })
    }

    /// All bytes of the target, to find out who else uses them.
    pub(super) fn target(&self) -> Option<Target> {
        match self.identity {
            Identity::Device { number, .. } => Target::device(&BlockDevice::by_number(number)?),
            Identity::File { device, inode, .. } => Some(Target::file(&self.path, device, inode, self.bytes)),
            Identity::Other => None,
        }
    }

    fn of_device(path: PathBuf, device: &BlockDevice, fd: OwnedFd) -> Result<Self, TargetError> {
        let disk = device.disk();
        if [device, &disk].iter().any(|device| device.attribute("ro").is_some_and(|ro| ro == "1")) {
            return Err(refusal(&path, wording::WRITE_PROTECTED));
        }
        let bytes = capacity(&fd, &path)?;
        if bytes == 0 {
            return Err(refusal(&path, wording::NOTHING_BEHIND));
        }
        reread_kernel_state(&fd);
        let mut parts = Vec::new();
        for partition in device.partitions() {
            let Some((start, length)) = partition.range() else {
                let reason = wording::partition_place_unknown(&partition.name());
                return Err(refusal(&path, &reason));
            };
            parts.push(start..bytes.min(start.saturating_add(length)));
        }
        let mut carries = carries(&fd, bytes, parts, &path)?;
        if carries.is_empty() && begins(&fd, &path)? {
            carries.push(wording::UNKNOWN_CONTENTS.to_owned());
        }
        let (id, model) = (StableId::of_device(device, bytes), disk.model());
        Ok(Self { id, model, bytes, carries, identity: Identity::from_fd(&fd)?, path })
    }

    fn of_file(path: PathBuf, fd: OwnedFd) -> Result<Self, TargetError> {
        // Report a missing right to write first, before reasons that only root could find out.
        if accessat(CWD, &path, Access::WRITE_OK, AtFlags::EACCESS) == Err(Errno::ACCESS) {
            return Err(not_possible(action::OPEN_FOR_WRITING, &path, Errno::ACCESS));
        }
        if let Some(reason) = objection(&path, &fd) {
            return Err(refusal(&path, &reason));
        }
        let stat = fstat(&fd).map_err(|errno| not_possible(action::LOOK_AT, &path, errno))?;
        let bytes = stat.st_size.cast_unsigned();
        let carries = carries(&fd, bytes, Vec::new(), &path)?;
        let identity = Identity::from_fd(&fd)?;
        Ok(Self { id: StableId::of_file(&path), model: None, bytes, carries, identity, path })
    }
}

/// The device with this number, if it is not in use.
fn unused_device(path: &Path, number: DeviceNumber) -> Result<BlockDevice, TargetError> {
    let Some(device) = BlockDevice::by_number(number) else {
        return Err(refusal(path, wording::NOTHING_BEHIND));
    };
    let target = Target::device(&device).ok_or_else(|| refusal(path, wording::NOTHING_BEHIND))?;
    match use_of(&target) {
        Some(reason) => Err(refusal(path, &reason)),
        None => Ok(device),
    }
}

/// The name of a file type other than block device and regular file.
fn text(kind: FileType) -> &'static str {
    match kind {
        FileType::Directory => wording::FOLDER,
        FileType::Fifo => wording::PIPE,
        FileType::Socket => wording::SOCKET,
        FileType::CharacterDevice => wording::CHARACTER_DEVICE,
        _ => wording::NEITHER_DEVICE_NOR_FILE,
    }
}

/// Names of everything on the drive, on these parts of it, and on the partitions of its table, even if the
/// kernel has not read the table. Where no signature is known, blkid's name counts, if blkid is installed.
fn carries(
    fd: &OwnedFd,
    bytes: u64,
    mut parts: Vec<Range<u64>>,
    path: &Path,
) -> Result<Vec<String>, TargetError> {
    parts.insert(0, 0..bytes);
    parts.extend(partitions(fd, bytes));
    let mut carried: Vec<String> = Vec::new();
    for range in parts.into_iter().filter(|range| !range.is_empty()) {
        let marks = signatures(fd, range.start, range.end - range.start);
        let marks = marks.map_err(|errno| refusal(path, &wording::contents_unknown(errno)))?;
        let mut names: Vec<String> = marks.into_iter().map(str::to_owned).collect();
        if names.is_empty() {
            names.extend(name_by_blkid(path, &range));
        }
        for name in names {
            if !carried.contains(&name) {
                carried.push(name);
            }
        }
    }
    Ok(carried)
}

/// The partitions of the drive's table, as far as it can be read. Either copy of a GUID table will do: on a
/// clone of a drive of another size, the second copy is not where it should be.
fn partitions(fd: &OwnedFd, bytes: u64) -> Vec<Range<u64>> {
    let tables =
        [512, 4096].map(|block| [block, (bytes / block).saturating_sub(1) * block].map(|at| (block, at)));
    let mut tables = tables.iter().flatten().map(|(block, at)| gpt_entries(fd, *at, *block, bytes));
    if let Some(table) = tables.find(|table| !table.is_empty()) {
        return table;
    }
    let mut partitions: Vec<Range<u64>> = Vec::new();
    // Logical partitions lie in an extended one, each in a table of its own. A table gives its partition
    // relative to itself, and the next table relative to the first of these tables.
    let (mut table, mut extended) = (Some(0), None);
    for _ in 0..TABLES_MAX {
        let Some(base) = table.take() else { break };
        for (kind, start, length) in dos_entries(fd, base) {
            if EXTENDED.contains(&kind) {
                let next = extended.map_or(base + start, |first: u64| first + start);
                extended.get_or_insert(next);
                table = Some(next);
            } else if start > 0 && length > 0 {
                partitions.push((base + start).min(bytes)..bytes.min(base + start + length));
            }
        }
    }
    partitions
}

/// The partitions of the GUID table whose header is at byte `at` (UEFI 2.10, 5.3). The header, in little
/// endian: signature, block of the entries at 72, their count at 80, the size of each at 84. An entry: kind
/// (zeros if unused), first block at 32, last block at 40.
fn gpt_entries(fd: &OwnedFd, at: u64, block: u64, bytes: u64) -> Vec<Range<u64>> {
    let header = read(fd, &(at..at.saturating_add(512))).unwrap_or_default();
    let number =
        |bytes: &[u8], at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes"));
    if !header.starts_with(b"EFI PART") {
        return Vec::new();
    }
    let (start, counts) = (number(&header, 72).saturating_mul(block), number(&header, 80));
    let (count, size) = ((counts & 0xFFFF_FFFF).min(ENTRIES_MAX), (counts >> 32) as usize);
    if !(128..=4096).contains(&size) {
        return Vec::new();
    }
    let entries = read(fd, &(start..start.saturating_add(count * size as u64))).unwrap_or_default();
    let used = entries.chunks_exact(size).filter(|entry| entry[..16].iter().any(|byte| *byte != 0));
    let range = |entry: &[u8]| {
        let [first, last] = [32, 40].map(|at| number(entry, at));
        first.saturating_mul(block).min(bytes)..last.saturating_add(1).saturating_mul(block).min(bytes)
    };
    used.map(range).filter(|range| !range.is_empty()).collect()
}

/// Most entries of a GUID table that are read. Chosen: eight times as many as usual.
const ENTRIES_MAX: u64 = 1024;

/// Kinds of partitions that hold a chain of tables (CHS, LBA, and Linux's own; util-linux, include/pt-mbr-partnames.h).
const EXTENDED: [u8; 3] = [0x05, 0x0F, 0x85];
/// Most tables of a chain, as a chain that leads back to itself has no end. Chosen: more than any system gives numbers to.
const TABLES_MAX: u32 = 256;

/// The entries of the DOS table at byte `base`: kind, start and length in bytes. The table has four entries
/// of 16 bytes at 446: kind at 4, first block at 8, count of blocks at 12, in little endian.
fn dos_entries(fd: &OwnedFd, base: u64) -> Vec<(u8, u64, u64)> {
    let table = read(fd, &(base..base.saturating_add(512))).unwrap_or_default();
    if table.get(510..) != Some(&[0x55, 0xAA]) {
        return Vec::new();
    }
    let entry = |entry: &[u8]| {
        let number = |at: usize| u32::from_le_bytes(entry[at..at + 4].try_into().expect("four bytes"));
        (entry[4], u64::from(number(8)) * 512, u64::from(number(12)) * 512)
    };
    table[446..510].chunks_exact(16).map(entry).collect()
}

/// blkid's name for the contents of a part of a device or file, if blkid is installed and knows them.
fn name_by_blkid(path: &Path, part: &Range<u64>) -> Option<String> {
    let (offset, size) = (part.start.to_string(), (part.end - part.start).to_string());
    let shown = path.to_string_lossy();
    let arguments = ["--probe", "--offset", &offset, "--size", &size, "--output", "export", &*shown];
    ["/usr/sbin/blkid", "/sbin/blkid", "/usr/bin/blkid"].into_iter().find_map(|program| {
        let output = output(Path::new(program), &arguments, BLKID_TIME).ok()?;
        let text = String::from_utf8(output).ok()?;
        let value = |key: &str| text.lines().find_map(|line| line.strip_prefix(key)).map(clean);
        value("TYPE=").or_else(|| value("PTTYPE="))
    })
}

/// Whether a device begins with data of any kind, known or not.
fn begins(fd: &OwnedFd, path: &Path) -> Result<bool, TargetError> {
    let head =
        read(fd, &(0..UNKNOWN_BYTES)).map_err(|errno| refusal(path, &wording::contents_unknown(errno)))?;
    Ok(head.iter().any(|byte| *byte != 0))
}

/// Bytes that are searched for contents without a known signature: every format writes something before this.
const UNKNOWN_BYTES: u64 = 1 << 20;
/// How long blkid may take. Chosen: it reads some kilobytes.
const BLKID_TIME: Duration = Duration::from_secs(5);

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { path, id, model, bytes, carries, .. } = self;
        let id = (id.kind, &*id.text);
        f.write_str(&wording::overwrites(path.display(), model.as_deref(), *bytes, id, carries))
    }
}

// Files that must not be overwritten, whatever was typed.

/// Why this file must not be overwritten, if there is a reason; and what to do.
pub(super) fn objection(path: &Path, fd: impl AsFd) -> Option<String> {
    let unknown = |reason: std::io::Error| wording::kind_unknown(&reason);
    let mount = match Mount::find(&fd) {
        Ok(mount) => mount,
        Err(reason) => return Some(unknown(reason)),
    };
    if let Some(mount) = mount {
        if KERNEL_FILE_SYSTEMS.contains(&&*mount.kind) {
            return Some(wording::kernel_file(&mount.kind));
        }
        if let Some(folder) = system_folder(path, &mount) {
            return Some(wording::system_file(folder));
        }
    }
    if path.parent().is_some_and(is_scratch) {
        return Some(wording::scratch_file(DIRECTORY));
    }
    let stat = match statx(&fd, "", AtFlags::EMPTY_PATH, StatxFlags::BASIC_STATS) {
        Ok(stat) => stat,
        Err(reason) => return Some(unknown(reason.into())),
    };
    if stat.stx_nlink > 1 {
        return Some(wording::HARD_LINKS.to_owned());
    }
    if stat.stx_attributes.intersects(StatxAttributes::IMMUTABLE | StatxAttributes::APPEND) {
        return Some(wording::IMMUTABLE.to_owned());
    }
    if stat.stx_size == 0 {
        return Some(wording::EMPTY.to_owned());
    }
    let device = rustix::fs::makedev(stat.stx_dev_major, stat.stx_dev_minor);
    use_of(&Target::file(path, device, stat.stx_ino, stat.stx_size))
}
