//! One of the owner's files as a block store: blocks that belong to it alone can be rewritten in place.
//!
//! Nothing about the file changes: its inode, owner, rights, links, attributes and length are not touched,
//! and holes stay holes. What it shares with other files (reflinks, snapshots) stays shared, since such
//! ranges are not offered. Its times are restored after each write; only the inode's change time (ctime)
//! cannot be. A lease keeps other programs from opening the file, and ends when one of them wants to.

use std::ops::Range;
use std::os::fd::{AsFd, AsRawFd as _, OwnedFd};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use std::{fmt, io};

use likenew_core::drive::{BlockStore, LeaseState};
use likenew_core::target_error::TargetError;
use likenew_core::units::Nanos;
use rustix::fs::{
    AtFlags, FileType, Mode, OFlags, ResolveFlags, Statx, StatxAttributes, StatxFlags, Timespec, Timestamps,
    fgetxattr, fsync, futimens, makedev, openat2, statx,
};
use rustix::io::Errno;

use crate::clock::Monotonic;
use crate::device_store::DeviceStore;
use crate::folder_times::touch;
use crate::hold::{Lease, LeaseError, Tries, patience};
use crate::in_use::{Target, use_by_system};
use crate::medium::DirectIo;
use crate::mounts::Mount;
use crate::scratch::open_folder;
use crate::target_error::{ErrorContext as _, not_possible};
use crate::trim::{Extent, Flush, extents};
use crate::wording::{action, target as wording};

/// A file that no other program has open, for as long as this lives.
#[derive(Debug)]
pub struct FileStore {
    path: PathBuf,
    // Dropped first: the lease is given back before the file is closed.
    lease: Lease,
    clock: Monotonic,
    /// When the lease was last known to be held with no program waiting, or a moment before.
    held_at: Nanos,
    raw: DeviceStore,
    identity: String,
    ranges: Vec<Range<u64>>,
    skips: Vec<SkippedRange>,
    times: Times,
}

/// A part of a file that is not rewritten.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkippedRange {
    /// The bytes of the file.
    pub place: Range<u64>,
    /// Why, in words.
    pub reason: &'static str,
}

impl FileStore {
    /// Takes the regular file at `path`, once every check has passed. The file is no link, its attributes
    /// allow it, and no other program has it open, runs it or has it mapped. Its file system reports which of
    /// its blocks belong to it alone.
    ///
    /// # Errors
    /// A refusal that names the check which failed, and what to do.
    pub fn take(path: &Path) -> Result<Self, TargetError> {
        let Some(name) = path.file_name() else { return Err(refusal(path, wording::NOT_REGULAR)) };
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        Self::take_from(open_folder(folder)?, folder, Path::new(name))
    }

    /// As [`FileStore::take`], for the file `name` below an open folder, whose path `shown` is only for
    /// messages. No part of the name may be a link, lead up, or be on another file system. So a user who may
    /// write to the folder cannot redirect us to another file.
    ///
    /// # Errors
    /// As [`FileStore::take`].
    pub fn take_from(folder: impl AsFd, shown: &Path, name: &Path) -> Result<Self, TargetError> {
        let path = &shown.join(name);
        // Opening a device or a pipe may have effects: so first find out what is there, then open exactly
        // that.
        let handle =
            openat2(folder, name, OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty(), STAY)
                .map_err(|errno| not_found(path, errno))?;
        let statx = probe(&handle, path)?;
        check_kind(path, &statx)?;
        let flags = OFlags::RDWR | OFlags::NOATIME | OFlags::CLOEXEC | OFlags::NOCTTY;
        let same = format!("/proc/self/fd/{}", handle.as_raw_fd());
        let (fd, direct) = DirectIo::open(|more| rustix::fs::open(&*same, flags | more, Mode::empty()))
            .map_err(|errno| not_opened(path, errno))?;
        drop(handle);
        let capability = fgetxattr(&fd, "security.capability", &mut [0; 64][..]);
        if !matches!(capability, Err(Errno::NODATA | Errno::NOTSUP)) {
            return Err(refusal(path, wording::CAPABILITIES));
        }
        let device = makedev(statx.stx_dev_major, statx.stx_dev_minor);
        if let Some(refusal_text) =
            use_by_system(&Target::held_file(path, device, statx.stx_ino, statx.stx_size))
        {
            return Err(refusal(path, &refusal_text));
        }
        let clock = Monotonic::start();
        // From here on, every program that wants to open or truncate the file has to wait for us.
        let lease = lease(&fd).map_err(|reason| refusal(path, reason))?;
        let stat = probe(&fd, path)?;
        let number = |stat: &Statx| (stat.stx_dev_major, stat.stx_dev_minor, stat.stx_ino, stat.stx_size);
        if number(&stat) != number(&statx) {
            return Err(refusal(path, wording::REPLACED));
        }
        let bytes = stat.stx_size - stat.stx_size % u64::from(direct.block);
        let (ranges, skips) = unshared_ranges(&fd, path, stat.stx_size, bytes, direct.block)?;
        Ok(Self {
            path: path.clone(),
            lease,
            clock,
            held_at: Nanos::ZERO,
            identity: identity(&fd, &stat),
            raw: DeviceStore::of_open(fd, direct, bytes),
            ranges,
            skips,
            times: Times::from_stat(&stat),
        })
    }

    /// What identifies the file, whatever its name: the inode, its birth time and generation, and the length
    /// of the file.
    pub fn identity(&self) -> &str {
        &self.identity
    }

    /// The ranges that can be rewritten: whole blocks of data that belong to this file alone.
    pub fn ranges(&self) -> &[Range<u64>] {
        &self.ranges
    }

    /// The ranges of data that cannot be rewritten.
    pub fn skips(&self) -> &[SkippedRange] {
        &self.skips
    }

    /// The file's times as text, for resuming after an interruption.
    pub fn times(&self) -> String {
        self.times.to_string()
    }

    /// When the file was last written.
    pub fn modified(&self) -> SystemTime {
        self.times.modified()
    }

    /// Whether the file was last written at the time in `noted`, a text from [`FileStore::times`].
    ///
    /// # Errors
    /// `noted` is no such text.
    pub fn is_as_old_as(&self, noted: &str) -> Result<bool, TargetError> {
        let times = Times::parse(noted).ok_or_else(|| refusal(&self.path, wording::TIMES_DAMAGED))?;
        Ok(times.modified == self.times.modified)
    }

    /// Whether another program is waiting to open the file: if so, stop and give it back. The program waits
    /// for up to 45 s (/proc/sys/fs/lease-break-time).
    pub fn is_wanted(&mut self) -> bool {
        self.lease_state() != LeaseState::Active
    }

    /// Releases the file, after making all writes durable. Its times were restored after each write.
    ///
    /// # Errors
    /// The system's error.
    pub fn give_back(mut self) -> Result<(), TargetError> {
        self.finish().context(action::flush(self.path.display()))
    }

    /// Whether no other program can have opened the file yet. The system makes others wait before it breaks
    /// the lease, and that wait began after the lease was last known to be held.
    fn is_ours(&self) -> bool {
        let Some(patience) = patience() else { return true };
        let safe = patience.saturating_sub(MARGIN.min(patience / 4));
        Duration::from_nanos((self.clock.now() - self.held_at).0) < safe
    }

    /// Restores the times after our own write. If another program may have written to the file, the time
    /// stays or becomes the current one: programs that look for changes by time (rsync, make) must notice.
    fn restore_times(&mut self) -> io::Result<()> {
        self.lease_state();
        if !self.is_ours() {
            return Ok(());
        }
        self.times.put_back(&self.raw)?;
        // Another program may have opened the file in the meantime.
        if !self.is_ours() {
            touch(&self.raw)?;
        }
        Ok(())
    }

    /// Adopts times that another program has set since, which is possible without opening the file.
    fn follow_times(&mut self) -> io::Result<()> {
        let stat = statx(&self.raw, "", AtFlags::EMPTY_PATH, FLAGS)?;
        self.times = Times::from_stat(&stat);
        Ok(())
    }
}

impl BlockStore for FileStore {
    fn bytes(&self) -> u64 {
        self.raw.bytes()
    }

    fn block(&self) -> u32 {
        self.raw.block()
    }

    fn read_at(&mut self, offset: u64, into: &mut [u8]) -> io::Result<()> {
        self.raw.read_at(offset, into)
    }

    /// Refuses with [`io::ErrorKind::ResourceBusy`], and writes nothing, once another program wants to open
    /// the file.
    fn write_at(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        if self.lease_state() != LeaseState::Active {
            let reason = wording::wanted_elsewhere(self.path.display());
            return Err(io::Error::new(io::ErrorKind::ResourceBusy, reason));
        }
        self.follow_times()?;
        let written = self.raw.write_at(offset, bytes);
        // The times are restored after each write, even one that failed in the middle, so that a kill leaves
        // them as they were.
        let restored = self.restore_times();
        written.and(restored)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.raw.flush()
    }

    fn lease_state(&mut self) -> LeaseState {
        // Read the clock first: a program that comes after the answer then also comes after this time.
        let now = self.clock.now();
        if self.lease.is_held() {
            self.held_at = now;
            LeaseState::Active
        } else if self.is_ours() {
            LeaseState::BreakRequested
        } else {
            LeaseState::Lost
        }
    }

    /// Makes the file's times durable, too.
    fn finish(&mut self) -> io::Result<()> {
        Ok(fsync(&self.raw)?)
    }
}

const FLAGS: StatxFlags = StatxFlags::BASIC_STATS.union(StatxFlags::BTIME);

/// How a name is opened: no part of it may be a link of any kind, lead up, or lie on another file system.
const STAY: ResolveFlags = ResolveFlags::BENEATH
    .union(ResolveFlags::NO_SYMLINKS)
    .union(ResolveFlags::NO_MAGICLINKS)
    .union(ResolveFlags::NO_XDEV);
/// A file counts as another program's this long before the system breaks the lease. Chosen: longer than any
/// system call for times should take.
const MARGIN: Duration = Duration::from_secs(2);
/// A program that is just being started has copies of our descriptors for a moment. Chosen: ten milliseconds in
/// all, in pauses of about what fork and exec take.
const LEASE_TRIES: Tries = Tries { count: 5, pause: Nanos::from_millis(2) };

fn probe(file: &OwnedFd, path: &Path) -> Result<Statx, TargetError> {
    statx(file, "", AtFlags::EMPTY_PATH, FLAGS).context_at(action::LOOK_AT, path)
}

/// Takes a lease; the error is a sentence without a full stop.
fn lease(file: &OwnedFd) -> Result<Lease, &'static str> {
    let taken = LEASE_TRIES.until_free(|taken| matches!(taken, Err(LeaseError::Taken)), || Lease::take(file));
    taken.map_err(|reason| match reason {
        LeaseError::Taken => wording::OPEN_ELSEWHERE,
        LeaseError::NotOwner => wording::LOCK_NEEDS_OWNER,
        LeaseError::Unknown => wording::NO_LEASES,
    })
}

fn check_kind(path: &Path, statx: &Statx) -> Result<(), TargetError> {
    let refuse = |reason: &str| Err(refusal(path, reason));
    match FileType::from_raw_mode(statx.stx_mode.into()) {
        FileType::RegularFile => {}
        FileType::Symlink => return refuse(wording::IS_A_LINK),
        _ => return refuse(wording::NOT_REGULAR),
    }
    if statx.stx_size == 0 {
        return refuse(wording::EMPTY);
    }
    // Set-user-ID and set-group-ID.
    if statx.stx_mode & 0o6000 != 0 {
        return refuse(wording::SET_ID);
    }
    let text = [
        (StatxAttributes::IMMUTABLE, wording::IMMUTABLE),
        (StatxAttributes::APPEND, wording::APPEND_ONLY),
        (StatxAttributes::VERITY, wording::VERITY),
        (StatxAttributes::COMPRESSED, wording::COMPRESSED),
    ];
    match text.into_iter().find(|(attribute, _)| statx.stx_attributes.contains(*attribute)) {
        Some((_, reason)) => refuse(reason),
        None => Ok(()),
    }
}

fn not_opened(path: &Path, errno: Errno) -> TargetError {
    match errno {
        Errno::TXTBSY => refusal(path, wording::RUNNING_OR_SWAP),
        Errno::PERM => refusal(path, wording::ACCESS_TIME_NEEDS_OWNER),
        errno => not_possible(action::OPEN_FOR_WRITING, path, errno),
    }
}

fn not_found(path: &Path, errno: Errno) -> TargetError {
    match errno {
        Errno::LOOP => refusal(path, wording::PATH_HAS_A_LINK),
        Errno::XDEV => refusal(path, wording::PATH_LEAVES_FOLDER),
        Errno::NOSYS => refusal(path, wording::NO_OPENAT2),
        errno => not_possible(action::LOOK_AT, path, errno),
    }
}

fn identity(file: &OwnedFd, stat: &Statx) -> String {
    let born = stat.stx_btime;
    let known = StatxFlags::from_bits_retain(stat.stx_mask).contains(StatxFlags::BTIME);
    let born = known.then_some((born.tv_sec, born.tv_nsec));
    wording::file_identity(stat.stx_ino, born, generation(file), stat.stx_size)
}

/// The generation of an inode, if the file system counts them: it tells apart the files that had the inode.
fn generation(file: &OwnedFd) -> Option<u32> {
    // `FS_IOC_GETVERSION` of linux/fs.h: declared with a long, and answered with an int.
    const GETVERSION: rustix::ioctl::Opcode = rustix::ioctl::opcode::read::<libc::c_long>(b'v', 1);
    // SAFETY: the kernel writes at most a long, and every value is one.
    let getter = unsafe { rustix::ioctl::Getter::<GETVERSION, u64>::new() };
    // SAFETY: it only reads.
    unsafe { rustix::ioctl::ioctl(file, getter) }.ok().map(|number| number as u32)
}

fn refusal(path: &Path, reason: &str) -> TargetError {
    TargetError::Refused(wording::not_rewritten(path.display(), reason))
}

// Which ranges of a file have their own blocks that hold the file's data.

/// File systems without extent reports that know neither holes nor sharing: every block belongs to one file.
const PLAIN: [&str; 3] = ["vfat", "msdos", "exfat"];

/// The ranges of a file of `bytes` bytes that can be written in place, in whole blocks below `whole`, and the
/// ranges of data that cannot.
pub(super) fn unshared_ranges(
    file: &OwnedFd,
    path: &Path,
    bytes: u64,
    whole: u64,
    block: u32,
) -> Result<(Vec<Range<u64>>, Vec<SkippedRange>), TargetError> {
    fsync(file).context(action::flush(path.display()))?;
    match extents(file, bytes, Flush::First) {
        Ok(extents) => Ok(split_ranges(&extents, bytes, whole, block)),
        Err(Errno::OPNOTSUPP | Errno::NOTTY | Errno::INVAL) => {
            let kind = Mount::containing(file).map_or(String::new(), |mount| mount.kind);
            if PLAIN.contains(&&*kind) {
                return Ok((
                    std::iter::once(0..whole).filter(|range| !range.is_empty()).collect(),
                    Vec::new(),
                ));
            }
            Err(refusal(path, &wording::shared_blocks_unknown(&kind)))
        }
        Err(errno) => Err(errno).context(action::ask_place(path.display())),
    }
}

fn split_ranges(
    extents: &[Extent],
    bytes: u64,
    whole: u64,
    block: u32,
) -> (Vec<Range<u64>>, Vec<SkippedRange>) {
    let (mut ranges, mut skips) = (Vec::<Range<u64>>::new(), Vec::new());
    let block = u64::from(block);
    for extent in extents {
        let end = extent.logical.saturating_add(extent.length);
        let data = extent.logical..end.min(bytes);
        if data.is_empty() {
            continue;
        }
        if let Some(reason) = extent.unfit() {
            skips.push(SkippedRange { place: data, reason });
            continue;
        }
        let fit = data.start.next_multiple_of(block)..(data.end - data.end % block).min(whole);
        match ranges.last_mut() {
            // The system's answers are sorted; ignore any that is not.
            Some(last) if fit.start < last.end => continue,
            Some(last) if fit.start == last.end && !fit.is_empty() => last.end = fit.end,
            _ if !fit.is_empty() => ranges.push(fit.clone()),
            _ => {}
        }
        if fit.end < data.end {
            let place = fit.end.max(data.start)..data.end;
            skips.push(SkippedRange { place, reason: wording::SHORTER_THAN_A_BLOCK });
        }
    }
    (ranges, skips)
}

// When a file was last read and changed, to be restored.

/// Seconds and nanoseconds since 1970.
type Time = (i64, u32);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Times {
    pub(super) accessed: Time,
    pub(super) modified: Time,
}

impl Times {
    pub(super) fn from_stat(stat: &Statx) -> Self {
        let (accessed, modified) = (stat.stx_atime, stat.stx_mtime);
        Self { accessed: (accessed.tv_sec, accessed.tv_nsec), modified: (modified.tv_sec, modified.tv_nsec) }
    }

    /// Parses the text that [`Times`] is shown as.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (accessed, modified) = text.strip_prefix("accessed ")?.split_once(", modified ")?;
        let time = |text: &str| {
            let (secs, nanos) = text.split_once(' ')?;
            Some((secs.parse().ok()?, nanos.parse().ok().filter(|nanos| *nanos < 1_000_000_000)?))
        };
        Some(Self { accessed: time(accessed)?, modified: time(modified)? })
    }

    pub(super) fn modified(&self) -> SystemTime {
        let (seconds, nanos) = self.modified;
        let whole = Duration::from_secs(seconds.unsigned_abs());
        let at = if seconds < 0 { UNIX_EPOCH - whole } else { UNIX_EPOCH + whole };
        at + Duration::from_nanos(nanos.into())
    }

    pub(super) fn put_back(&self, file: impl AsFd) -> rustix::io::Result<()> {
        let spec = |(secs, nanos): Time| Timespec { tv_sec: secs, tv_nsec: nanos.into() };
        let times = Timestamps { last_access: spec(self.accessed), last_modification: spec(self.modified) };
        futimens(file, &times)
    }
}

/// Reads noted times and shows them again, for fuzzers.
pub(crate) fn fuzzed_times(text: &str) -> bool {
    let Some(times) = Times::parse(text) else { return false };
    assert_eq!(Times::parse(&times.to_string()), Some(times), "{times} reads back");
    let _ = times.modified();
    true
}

impl fmt::Display for Times {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { accessed, modified } = self;
        write!(f, "accessed {} {}, modified {} {}", accessed.0, accessed.1, modified.0, modified.1)
    }
}

#[cfg(test)]
mod tests;
