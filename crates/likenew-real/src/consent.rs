//! Consent to write where there may be data: to a block device or an existing file. Only this module can make a consent.
//! Without one, no block device is opened for writing, and no existing file but a [`crate::file_store::FileStore`].
//!
//! There are two ways to a consent. [`Consent::to_overwrite`] is for a loss that the user was shown
//! ([`Loss`]) and has named ([`Agreement`]); [`Consent::to_rewrite`] is for a device that gets its own bytes
//! back. [`UnusedConsent`] covers less: space outside of a disk's partitions.

mod contents;
mod unused_space;

use std::fmt;
use std::ops::Range;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::time::Duration;

use likenew_core::target_error::TargetError;
use rustix::fs::{
    Advice, AtFlags, CWD, FileType, Mode, OFlags, StatxAttributes, StatxFlags, StatxTimestamp, accessat,
    fadvise, fstat, makedev, stat, statx,
};
use rustix::io::Errno;

use self::contents::{ENTRIES_MAX, EXTENDED, RawHeader, dos_entries, read};
pub(crate) use self::contents::{mend_sums, signatures};
pub(crate) use self::unused_space::partition_table;
pub use self::unused_space::{UnusedConsent, UnusedSpace};
use crate::block::{BlockDevice, DeviceNumber, capacity};
use crate::facts::machine::output;
use crate::hold::{Lease, LeaseError, Tries, lock_patiently};
use crate::identify::{StableId, resolve};
use crate::in_use::{Claims, Target, system_folder, use_of};
use crate::medium::DirectIo;
use crate::mounts::{KERNEL_FILE_SYSTEMS, Mount, Store};
use crate::openers::{Access, opener_of};
use crate::scratch::{DIRECTORY, is_scratch};
use crate::standards::clean;
use crate::target_error::{ErrorContext as _, not_possible};
use crate::wording::{action, consent as wording};

/// The right to overwrite one block device or file, and the claim on it. While this lives, no program can
/// mount or claim the device, nor any other device over the same bytes.
#[derive(Debug)]
pub struct Consent {
    path: PathBuf,
    fd: OwnedFd,
    claims: Claims,
}

impl Consent {
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The target, held open for writing.
    pub(crate) fn descriptor(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }

    pub(crate) fn into_parts(self) -> (PathBuf, OwnedFd, Claims) {
        (self.path, self.fd, self.claims)
    }
}

/// On a block device, exclusive opening fails if the device is mounted or claimed.
const HOLD: OFlags = OFlags::EXCL.union(OFlags::DIRECT).union(OFlags::CLOEXEC);

/// Opens a block device for writing, exclusively.
fn hold(path: &Path) -> rustix::io::Result<OwnedFd> {
    Tries::CLAIM.while_busy(Errno::BUSY, || rustix::fs::open(path, OFlags::RDWR | HOLD, Mode::empty()))
}

fn open_for_reading(path: &Path) -> Result<OwnedFd, TargetError> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
    rustix::fs::open(path, flags, Mode::empty()).map_err(|errno| match errno {
        Errno::NXIO | Errno::NODEV | Errno::NOMEDIUM => refusal(path, wording::NOTHING_BEHIND),
        errno => not_possible(action::OPEN, path, errno),
    })
}

/// Drops cached pages, so that the next reads return what is on the drive and not what was cached earlier.
fn reread_kernel_state(fd: &OwnedFd) {
    // If this is not supported, cached data has to do.
    let _ = fadvise(fd, 0, None, Advice::DontNeed);
}

fn refusal(path: &Path, reason: &str) -> TargetError {
    TargetError::Refused(wording::not_changed(path.display(), reason))
}

// What the user has typed to agree to a loss, or to a step that loses nothing.

/// What the user typed: a target's stable name, and the names of everything on it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Agreement {
    /// The serial number, or what stands in for it (see `crate::identify::StableId`).
    pub id: String,
    /// What may be destroyed: names of file systems, partition tables and the like.
    pub destroy: Vec<String>,
}

impl Agreement {
    /// Checks that this names the device or file at `path`.
    ///
    /// # Errors
    /// A refusal that gives the target's stable name.
    pub fn names(&self, path: &Path, id: &StableId) -> Result<(), TargetError> {
        if self.id == id.text {
            return Ok(());
        }
        Err(refusal(path, &wording::not_its_id(&self.id, id.kind, &id.text)))
    }
}

// The identity of a device or file, which tells it from any other that may later have its path.

/// The identity of an open block device or file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Identity {
    /// A block device.
    Device {
        number: DeviceNumber,
        /// The kernel's sequence number of disks (since Linux 5.15): a new disk with an old device number has
        /// another one.
        sequence: Option<u64>,
        /// The range of a partition: a partition created anew can have the number of the old one.
        range: Option<(u64, u64)>,
    },
    /// A file. Inode numbers are reused at once, so the birth time belongs to the identity. If the file
    /// system keeps none, the time of the last change does.
    File { device: u64, inode: u64, birth_time: (i64, u32) },
    /// Neither a block device nor a file.
    Other,
}

impl Identity {
    /// # Errors
    /// The system does not say.
    pub(super) fn from_fd(fd: impl AsFd) -> Result<Self, TargetError> {
        let wanted = StatxFlags::BASIC_STATS | StatxFlags::BTIME;
        let stat = statx(fd, "", AtFlags::EMPTY_PATH, wanted).context(action::LOOK_AT_OPENED)?;
        let born = StatxFlags::from_bits_retain(stat.stx_mask).contains(StatxFlags::BTIME);
        let StatxTimestamp { tv_sec, tv_nsec, .. } = if born { stat.stx_btime } else { stat.stx_ctime };
        Ok(match FileType::from_raw_mode(stat.stx_mode.into()) {
            FileType::BlockDevice => {
                let number = DeviceNumber { major: stat.stx_rdev_major, minor: stat.stx_rdev_minor };
                let device = BlockDevice::by_number(number);
                let sequence =
                    device.as_ref().and_then(|device| device.disk().attribute("diskseq")?.parse().ok());
                let range = device.and_then(|device| device.range());
                Self::Device { number, sequence, range }
            }
            FileType::RegularFile => Self::File {
                device: makedev(stat.stx_dev_major, stat.stx_dev_minor),
                inode: stat.stx_ino,
                birth_time: (tv_sec, tv_nsec),
            },
            _ => Self::Other,
        })
    }
}

// Consent by the user: to overwrite a block device or an existing file by its stable name.

impl Consent {
    /// Consents to overwriting the block device or file at `path`, after every check has passed. The target
    /// is not in use, neither directly nor through anything built on it. The system does not run from it. Its
    /// stable name was given, everything on it was named, and no other program holds it.
    ///
    /// # Errors
    /// A refusal that names the check which failed, and what to do.
    pub fn to_overwrite(path: &Path, agreement: &Agreement) -> Result<Self, TargetError> {
        let loss = Loss::at(path)?;
        loss.check(agreement)?;
        Self::hold(path, &loss)
    }

    /// As [`Consent::to_overwrite`], for a loss that was determined earlier and shown to the user.
    ///
    /// # Errors
    /// As [`Consent::to_overwrite`], and a refusal if the path no longer leads to the device or file of `loss`.
    pub fn to_lose(loss: &Loss, agreement: &Agreement) -> Result<Self, TargetError> {
        loss.check(agreement)?;
        Self::hold(&loss.path, loss)
    }

    /// Consents to rewriting the block device at `path` with the data already on it. Nothing is lost, so the
    /// contents need not be named. Every other check is the same.
    ///
    /// # Errors
    /// As [`Consent::to_overwrite`], and a refusal of anything but a block device.
    pub fn to_rewrite(path: &Path, agreement: &Agreement) -> Result<Self, TargetError> {
        let loss = Loss::at(path)?;
        if !loss.is_device() {
            return Err(refusal(path, wording::NOT_A_DEVICE_TO_REWRITE));
        }
        agreement.names(path, &loss.id)?;
        Self::hold(path, &loss)
    }

    /// Opens and claims the device or file that `loss` describes.
    fn hold(path: &Path, loss: &Loss) -> Result<Self, TargetError> {
        let fd = if loss.is_device() { open_device(&loss.path) } else { open_file(&loss.path) }?;
        let changed = || refusal(path, wording::CHANGED_SINCE_CHECK);
        if Identity::from_fd(&fd)? != loss.identity {
            return Err(changed());
        }
        let target = loss.target().ok_or_else(changed)?;
        let claims = Claims::take(&target).map_err(|reason| refusal(path, &reason))?;
        // Checks that what was opened is what was examined, unchanged and still not in use. From here on no
        // program can mount or claim it, nor any other device over the same bytes.
        if Loss::at(&loss.path)? != *loss {
            return Err(changed());
        }
        Ok(Self { path: path.to_owned(), fd, claims })
    }
}

impl Loss {
    /// Checks that the user agreed to this loss.
    ///
    /// # Errors
    /// A refusal that says what has to be typed.
    pub fn check(&self, agreement: &Agreement) -> Result<(), TargetError> {
        let Self { path, id, carries, .. } = self;
        agreement.names(path, id)?;
        let unnamed: Vec<&str> = carries
            .iter()
            .map(String::as_str)
            .filter(|name| !agreement.destroy.iter().any(|typed| contents::is_called(name, typed)))
            .collect();
        if unnamed.is_empty() {
            return Ok(());
        }
        Err(refusal(path, &wording::unnamed_contents(&unnamed, carries)))
    }
}

fn open_device(path: &Path) -> Result<OwnedFd, TargetError> {
    match hold(path) {
        Err(Errno::BUSY) => Err(refusal(path, &holder_of(path))),
        Err(Errno::ROFS) => Err(refusal(path, wording::WRITE_PROTECTED)),
        fd => fd.context_at(action::OPEN_FOR_WRITING, path),
    }
}

/// Who holds a device, as far as it can be determined, and what to do.
fn holder_of(path: &Path) -> String {
    let Some(device) = BlockDevice::at_path(path) else {
        return wording::HELD.to_owned();
    };
    // The use may have begun after the first check.
    let holder = Target::device(&device).and_then(|target| use_of(&target));
    holder.unwrap_or_else(|| wording::HOLDER_UNKNOWN.to_owned())
}

fn open_file(path: &Path) -> Result<OwnedFd, TargetError> {
    let write = OFlags::RDWR | OFlags::CLOEXEC | OFlags::NOCTTY | OFlags::NOFOLLOW;
    let (fd, _) = match DirectIo::open(|flags| rustix::fs::open(path, write | flags, Mode::empty())) {
        Err(Errno::TXTBSY) => {
            return Err(refusal(path, wording::RUNNING_PROGRAM));
        }
        Err(Errno::LOOP) => {
            return Err(refusal(path, wording::BECAME_A_LINK));
        }
        fd => fd.context_at(action::OPEN_FOR_WRITING, path)?,
    };
    if lock_patiently(&fd) == Err(Errno::WOULDBLOCK) {
        return Err(refusal(path, wording::LOCKED));
    }
    let stat = fstat(&fd).context_at(action::LOOK_AT, path)?;
    let candidates = [Store::File { device: stat.st_dev, inode: stat.st_ino }];
    // The lease is given back at once: it only shows whether another program has the file open.
    let check = || match (Lease::take(&fd).map(drop), opener_of(&candidates, Access::Any)) {
        (_, Some((program, _))) => Some(wording::open_in(&program)),
        (Err(LeaseError::Taken), None) => Some(wording::OPEN_IN_UNKNOWN.to_owned()),
        (Ok(()) | Err(LeaseError::NotOwner | LeaseError::Unknown), None) => None,
    };
    match OPEN_TRIES.until_free(Option::is_some, check) {
        Some(reason) => Err(refusal(path, &reason)),
        None => Ok(fd),
    }
}

/// How often to check whether a file is still open elsewhere: a program that is just being started has copies of all
/// its parent's descriptors, including those closed since.
const OPEN_TRIES: Tries = Tries { count: 40, ..Tries::CLAIM };

// What an overwrite would destroy, found out without changing anything.

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
    identity: Identity,
}

impl Loss {
    /// Finds out what is at `path`, after every check that needs no agreement.
    ///
    /// # Errors
    /// The path is neither a block device nor a file, the target is in use, or the system runs from it. The
    /// refusal names the check that failed and what to do.
    pub fn at(path: &Path) -> Result<Self, TargetError> {
        let resolved = resolve(path);
        let stat = stat(&resolved).context_at(action::LOOK_AT, path)?;
        let kind = FileType::from_raw_mode(stat.st_mode);
        if !matches!(kind, FileType::BlockDevice | FileType::RegularFile) {
            return Err(refusal(path, &wording::wrong_kind(kind_text(kind))));
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
    fn target(&self) -> Option<Target> {
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
        if accessat(CWD, &path, rustix::fs::Access::WRITE_OK, AtFlags::EACCESS) == Err(Errno::ACCESS) {
            return Err(not_possible(action::OPEN_FOR_WRITING, &path, Errno::ACCESS));
        }
        if let Some(reason) = objection(&path, &fd) {
            return Err(refusal(&path, &reason));
        }
        let stat = fstat(&fd).context_at(action::LOOK_AT, &path)?;
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
fn kind_text(kind: FileType) -> &'static str {
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
        let table_sector = read(fd, &(base..base.saturating_add(512))).unwrap_or_default();
        if table_sector.get(510..) != Some(&[0x55, 0xAA]) {
            break;
        }
        for (kind, first, count) in dos_entries(&table_sector) {
            let (start, length) = (first * 512, count * 512);
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

/// The partitions of the GUID table whose header is at byte `at`, damaged or not (UEFI 2.10, 5.3). An entry: kind
/// (zeros if unused), first block at 32, last block at 40, in little endian.
fn gpt_entries(fd: &OwnedFd, at: u64, block: u64, bytes: u64) -> Vec<Range<u64>> {
    let header = read(fd, &(at..at.saturating_add(512))).unwrap_or_default();
    let Some(RawHeader { entries_at, entries: count, entry_bytes, .. }) = RawHeader::parse(&header) else {
        return Vec::new();
    };
    let (start, size) = (entries_at.saturating_mul(block), entry_bytes as usize);
    if !(128..=4096).contains(&size) {
        return Vec::new();
    }
    let length = u64::from(count.min(ENTRIES_MAX)) * u64::from(entry_bytes);
    let entries = read(fd, &(start..start.saturating_add(length))).unwrap_or_default();
    let number =
        |bytes: &[u8], at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes"));
    let used = entries.chunks_exact(size).filter(|entry| entry[..16].iter().any(|byte| *byte != 0));
    let range = |entry: &[u8]| {
        let [first, last] = [32, 40].map(|at| number(entry, at));
        first.saturating_mul(block).min(bytes)..last.saturating_add(1).saturating_mul(block).min(bytes)
    };
    used.map(range).filter(|range| !range.is_empty()).collect()
}

/// Most tables of a chain, as a chain that leads back to itself has no end. Chosen: more than any system gives numbers to.
const TABLES_MAX: u32 = 256;

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
fn objection(path: &Path, fd: impl AsFd) -> Option<String> {
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

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::fs::{FlockOperation, flock};
    use std::fs::File;
    use std::time::Duration;

    /// Holds the file as a child process does between fork and exec; /proc shows such copies of descriptors
    /// as our own.
    fn held_for_a_moment(file: File) -> std::thread::JoinHandle<()> {
        std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(60));
            drop(file);
        })
    }

    #[test]
    fn a_program_that_is_being_started_stands_in_nobodys_way() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        std::fs::write(&path, "mine").unwrap();
        // A copy of a descriptor that was used to examine the file.
        let lock_holder = held_for_a_moment(File::open(&path).unwrap());
        open_file(&path).unwrap();
        lock_holder.join().unwrap();
        let locked = File::options().read(true).write(true).open(&path).unwrap();
        flock(&locked, FlockOperation::NonBlockingLockExclusive).unwrap();
        let lock_holder = held_for_a_moment(locked);
        open_file(&path).unwrap();
        lock_holder.join().unwrap();
        // A program that keeps the file open prevents that.
        let kept = File::open(&path).unwrap();
        if Lease::take(File::options().read(true).write(true).open(&path).unwrap()).err()
            == Some(LeaseError::Taken)
        {
            assert!(open_file(&path).is_err(), "{kept:?}");
        }
    }
}
