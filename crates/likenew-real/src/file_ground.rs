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
use std::path::{Path, PathBuf};

use likenew_core::fault::Fault;
use likenew_core::ground::Ground;
use rustix::fs::{AtFlags, FileType, Mode, OFlags, Statx, StatxAttributes, StatxFlags, fgetxattr, statx};
use rustix::io::Errno;

use self::lease::Lease;
use self::times::Times;
use crate::direct::Direct;
use crate::fault::{failed, not_possible};
use crate::raw_ground::RawGround;

/// A file that nobody else has open, for as long as this lives.
#[derive(Debug)]
pub struct FileGround {
    path: PathBuf,
    // Given back before the file is closed.
    lease: Lease,
    raw: RawGround,
    identity: String,
    ranges: Vec<Range<u64>>,
    left_out: Vec<LeftOut>,
    times: Times,
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
        let capability = fgetxattr(&fd, "security.capability", &mut [0; 64][..]);
        if !matches!(capability, Err(Errno::NODATA | Errno::NOTSUP)) {
            return Err(refusal(path, "it is a program with capabilities, which every write takes away"));
        }
        // From here on it can not be opened or cut off without our being asked.
        let lease = Lease::take(&fd).map_err(|why| refusal(path, why))?;
        let stat = statx(&fd, "", AtFlags::EMPTY_PATH, FLAGS)
            .map_err(failed(format!("look at {}", path.display())))?;
        let number = |stat: &Statx| (stat.stx_dev_major, stat.stx_dev_minor, stat.stx_ino, stat.stx_size);
        if number(&stat) != number(&seen) {
            return Err(refusal(path, "it became another file while it was checked; start again"));
        }
        let bytes = stat.stx_size - stat.stx_size % u64::from(direct.block);
        let (ranges, left_out) = ranges::alone(&fd, path, stat.stx_size, bytes, direct.block)?;
        Ok(Self {
            path: path.to_owned(),
            lease,
            raw: RawGround::new(fd, direct, bytes),
            identity: identity(&stat),
            ranges,
            left_out,
            times: Times::of(&stat),
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

    /// Puts the times back and makes that durable.
    ///
    /// # Errors
    /// The system's.
    pub fn put_times_back(&mut self) -> io::Result<()> {
        self.times.put_back(&self.raw)?;
        self.flush()
    }

    /// Which boot of the system and which mounting of its file system this is: after a loss of power of either it is another one.
    pub fn mounting(&self) -> String {
        let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
        let mount =
            statx(&self.raw, "", AtFlags::EMPTY_PATH, MNT_ID_UNIQUE).map_or(0, |stat| stat.stx_mnt_id);
        format!("boot {}, mount {mount}", boot.trim())
    }

    /// Whether somebody is waiting to open it: stop, and give it back. They wait for up to 45 s (/proc/sys/fs/lease-break-time).
    pub fn is_wanted(&self) -> bool {
        !self.lease.is_held(&self.raw)
    }

    /// Puts its times back and lets go of it.
    ///
    /// # Errors
    /// The system's.
    pub fn give_back(mut self) -> Result<(), Fault> {
        self.flush().map_err(Fault::system(format!("flush {}", self.path.display())))?;
        let put_back = self.times.put_back(&self.raw);
        put_back.map_err(failed(format!("put back the times of {}", self.path.display())))
    }
}

impl Ground for FileGround {
    fn bytes(&self) -> u64 {
        self.raw.bytes()
    }

    fn block(&self) -> u32 {
        self.raw.block()
    }

    fn read_at(&mut self, offset: u64, into: &mut [u8]) -> io::Result<()> {
        self.raw.read_at(offset, into)
    }

    /// Refuses with [`io::ErrorKind::ResourceBusy`], and writes nothing, once somebody wants to open the file.
    fn write_at(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        if self.is_wanted() {
            let why = format!("another program wants to open {}", self.path.display());
            return Err(io::Error::new(io::ErrorKind::ResourceBusy, why));
        }
        self.raw.write_at(offset, bytes)?;
        // Put back each time, so that whoever kills us leaves them as they were.
        Ok(self.times.put_back(&self.raw)?)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.raw.flush()
    }
}

/// `STATX_MNT_ID_UNIQUE` of linux/stat.h (since Linux 6.8): a number that no other mount has until the next boot. Before that, one that none has
/// at the same time.
const MNT_ID_UNIQUE: StatxFlags = StatxFlags::from_bits_retain(0x4000 | StatxFlags::MNT_ID.bits());
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
