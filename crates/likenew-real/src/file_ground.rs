//! One of the owner's files as a ground: the bytes that lie alone on the medium can be written again where they are.
//!
//! Nothing about the file changes: its inode, owner, rights, links, attributes and length are not touched, holes stay holes, and what
//! it shares with other files (reflinks, snapshots) stays shared, since such ranges are not offered. Its times are put back; only the time of
//! change of the inode (ctime) can not be. Nobody else has it open: it is held by a lease, which ends when somebody wants it.

mod lease;
mod ranges;
mod times;

use std::io;
use std::ops::Range;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use likenew_core::fault::Fault;
use likenew_core::ground::Ground;
use likenew_core::io::Slot;
use rustix::fs::{
    Advice, AtFlags, FileType, Mode, OFlags, Statx, StatxAttributes, StatxFlags, fadvise, fdatasync,
    fgetxattr, statx,
};
use rustix::io::{Errno, pread, pwrite};

use self::lease::Lease;
use self::times::Times;
use crate::buffers::Buffers;
use crate::direct::Direct;
use crate::fault::{failed, not_possible};

/// A file that nobody else has open, for as long as this lives.
pub struct FileGround {
    path: PathBuf,
    // Given back before the file is closed.
    lease: Lease,
    fd: OwnedFd,
    direct: Direct,
    bytes: u64,
    identity: String,
    ranges: Vec<Range<u64>>,
    left_out: Vec<LeftOut>,
    times: Times,
    /// For callers whose memory is not aligned as direct I/O wants it.
    bounce: Option<Buffers>,
}

/// A part of a file that is better left as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftOut {
    /// Which bytes of the file.
    pub place: Range<u64>,
    /// Why, in words.
    pub why: &'static str,
}

impl FileGround {
    /// Takes the regular file at `path`, once every check has passed: it is no link, its attributes allow it, nobody else has it open,
    /// runs it or has it mapped, and its file system tells what of it lies alone on the medium.
    ///
    /// # Errors
    /// A refusal that names the check which failed, and what to do.
    pub fn take(path: &Path) -> Result<Self, Fault> {
        let seen = look(path)?;
        check_kind(path, &seen)?;
        let flags = OFlags::RDWR | OFlags::NOATIME | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NOCTTY;
        let (fd, direct) = Direct::open(|more| rustix::fs::open(path, flags | more, Mode::empty()))
            .map_err(|errno| not_opened(path, errno))?;
        let stat = statx(&fd, "", AtFlags::EMPTY_PATH, FLAGS)
            .map_err(failed(format!("look at {}", path.display())))?;
        let number = |stat: &Statx| (stat.stx_dev_major, stat.stx_dev_minor, stat.stx_ino, stat.stx_size);
        if number(&stat) != number(&seen) {
            return Err(refusal(path, "it became another file while it was checked; start again"));
        }
        let capability = fgetxattr(&fd, "security.capability", &mut [0; 64][..]);
        if !matches!(capability, Err(Errno::NODATA | Errno::NOTSUP)) {
            return Err(refusal(path, "it is a program with capabilities, which every write takes away"));
        }
        // From here on it can not be opened, cut off or replaced without our being asked.
        let lease = Lease::take(&fd).map_err(|why| refusal(path, why))?;
        let bytes = stat.stx_size - stat.stx_size % u64::from(direct.block);
        let (ranges, left_out) = ranges::alone(&fd, path, stat.stx_size, bytes, direct.block)?;
        Ok(Self {
            path: path.to_owned(),
            lease,
            direct,
            bytes,
            identity: identity(&stat),
            ranges,
            left_out,
            times: Times::of(&stat),
            fd,
            bounce: None,
        })
    }

    /// What it is known by, whatever its name: its inode, when that was made, and its length.
    pub fn identity(&self) -> &str {
        &self.identity
    }

    /// What can be written again: data that has blocks of its own, in whole blocks.
    pub fn ranges(&self) -> &[Range<u64>] {
        &self.ranges
    }

    /// What of its data can not.
    pub fn left_out(&self) -> &[LeftOut] {
        &self.left_out
    }

    /// Its times as a text, for whoever goes on after a cut.
    pub fn times(&self) -> String {
        self.times.to_string()
    }

    /// Takes these times for its own, as noted before a cut. Whether they were still in place: if not, somebody has written to it since, or
    /// the cut came in the middle of a write of ours.
    ///
    /// # Errors
    /// The text is none of [`FileGround::times`].
    pub fn with_times(mut self, text: &str) -> Result<(Self, bool), Fault> {
        let times = Times::parse(text).ok_or_else(|| {
            refusal(&self.path, "the times that were noted for it can not be read: its journal is damaged")
        })?;
        let was_in_place = times.modified == self.times.modified;
        self.times = times;
        Ok((self, was_in_place))
    }

    /// Whether somebody is waiting to open it: stop, and give it back. They wait for up to 45 s (/proc/sys/fs/lease-break-time).
    pub fn is_wanted(&self) -> bool {
        !self.lease.is_held(&self.fd)
    }

    /// Puts its times back and lets go of it.
    ///
    /// # Errors
    /// The system's.
    pub fn give_back(mut self) -> Result<(), Fault> {
        self.flush().map_err(Fault::system(format!("flush {}", self.path.display())))?;
        let put_back = self.times.put_back(&self.fd);
        put_back.map_err(failed(format!("put back the times of {}", self.path.display())))
    }

    /// Takes the buffer for memory that is not aligned, to be put back after use.
    fn bounce(&mut self, length: usize) -> io::Result<Buffers> {
        match self.bounce.take().filter(|bounce| bounce.bytes() >= length) {
            Some(bounce) => Ok(bounce),
            None => {
                let length = length.next_multiple_of(ALIGNMENT);
                let length = u32::try_from(length).map_err(|_| io::ErrorKind::InvalidInput)?;
                Buffers::map(1, length).map_err(io::Error::other)
            }
        }
    }

    fn read(&self, offset: u64, mut into: &mut [u8]) -> io::Result<()> {
        let mut at = offset;
        while !into.is_empty() {
            match pread(&self.fd, &mut *into, at) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(read) => {
                    into = &mut into[read..];
                    at += read as u64;
                }
                Err(Errno::INTR) => {}
                Err(errno) => return Err(errno.into()),
            }
        }
        Ok(())
    }

    fn write(&self, offset: u64, mut bytes: &[u8]) -> io::Result<()> {
        let mut at = offset;
        // As late as can be.
        if self.is_wanted() {
            let why = format!("another program wants to open {}", self.path.display());
            return Err(io::Error::new(io::ErrorKind::ResourceBusy, why));
        }
        while !bytes.is_empty() {
            match pwrite(&self.fd, bytes, at) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(written) => {
                    bytes = &bytes[written..];
                    at += written as u64;
                }
                Err(Errno::INTR) => {}
                Err(errno) => return Err(errno.into()),
            }
        }
        Ok(())
    }

    fn is_direct(&self) -> bool {
        self.direct.flags.contains(OFlags::DIRECT)
    }
}

/// Direct I/O wants memory at multiples of this at most.
const ALIGNMENT: usize = 4096;

impl Ground for FileGround {
    fn bytes(&self) -> u64 {
        self.bytes
    }

    fn block(&self) -> u32 {
        self.direct.block
    }

    fn read_at(&mut self, offset: u64, into: &mut [u8]) -> io::Result<()> {
        if !self.is_direct() || into.as_ptr().addr().is_multiple_of(ALIGNMENT) {
            return self.read(offset, into);
        }
        let mut bounce = self.bounce(into.len())?;
        let aligned = &mut bounce.of(Slot(0))[..into.len()];
        let read = self.read(offset, aligned);
        into.copy_from_slice(aligned);
        self.bounce = Some(bounce);
        read
    }

    /// Refuses with [`io::ErrorKind::ResourceBusy`], and writes nothing, once somebody wants to open the file.
    fn write_at(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        assert!(offset + bytes.len() as u64 <= self.bytes, "a file keeps its length");
        if !self.is_direct() || bytes.as_ptr().addr().is_multiple_of(ALIGNMENT) {
            self.write(offset, bytes)?;
        } else {
            let mut bounce = self.bounce(bytes.len())?;
            let aligned = &mut bounce.of(Slot(0))[..bytes.len()];
            aligned.copy_from_slice(bytes);
            let written = self.write(offset, aligned);
            self.bounce = Some(bounce);
            written?;
        }
        // Put back each time, so that whoever kills us leaves them as they were.
        Ok(self.times.put_back(&self.fd)?)
    }

    fn flush(&mut self) -> io::Result<()> {
        fdatasync(&self.fd)?;
        if !self.is_direct() {
            // So that what is read back comes from the drive.
            let _ = fadvise(&self.fd, 0, None, Advice::DontNeed);
        }
        Ok(())
    }
}

const FLAGS: StatxFlags = StatxFlags::BASIC_STATS.union(StatxFlags::BTIME);

/// What stands at `path`, without opening it: to open a device may do something.
fn look(path: &Path) -> Result<Statx, Fault> {
    statx(rustix::fs::CWD, path, AtFlags::SYMLINK_NOFOLLOW, FLAGS)
        .map_err(|errno| not_possible("look at", path, errno))
}

fn check_kind(path: &Path, seen: &Statx) -> Result<(), Fault> {
    let refuse = |why: &str| Err(refusal(path, why));
    match FileType::from_raw_mode(seen.stx_mode.into()) {
        FileType::RegularFile => {}
        FileType::Symlink => return refuse("it is a symbolic link; give the file that it leads to"),
        _ => return refuse("it is no regular file"),
    }
    if seen.stx_size == 0 {
        return refuse("it is empty");
    }
    // Set-user-ID and set-group-ID.
    if seen.stx_mode & 0o6000 != 0 {
        return refuse("it runs with the rights of its owner, which a write may take away");
    }
    let told = [
        (StatxAttributes::IMMUTABLE, "it is immutable; allow changes first (chattr -i)"),
        (StatxAttributes::APPEND, "it may only be appended to; allow changes first (chattr -a)"),
        (StatxAttributes::VERITY, "fs-verity protects it from any change"),
        (
            StatxAttributes::COMPRESSED,
            "its file system compresses it, so what is written lies elsewhere and may be shorter or longer; copy it instead",
        ),
    ];
    match told.into_iter().find(|(attribute, _)| seen.stx_attributes.contains(*attribute)) {
        Some((_, why)) => refuse(why),
        None => Ok(()),
    }
}

fn not_opened(path: &Path, errno: Errno) -> Fault {
    match errno {
        Errno::TXTBSY => refusal(path, "it is a program that runs, or serves as swap; end that first"),
        Errno::PERM => refusal(path, "only its owner and root may do this without leaving a time of access"),
        errno => not_possible("open for writing", path, errno),
    }
}

fn identity(stat: &Statx) -> String {
    let born = stat.stx_btime;
    let known = StatxFlags::from_bits_retain(stat.stx_mask).contains(StatxFlags::BTIME);
    let born = if known { format!(", made at {}.{:09}", born.tv_sec, born.tv_nsec) } else { String::new() };
    format!("file with inode {}{born}, {} bytes", stat.stx_ino, stat.stx_size)
}

fn refusal(path: &Path, why: &str) -> Fault {
    Fault::Refused(format!("{} is not rewritten: {why}. Nothing was changed", path.display()))
}
