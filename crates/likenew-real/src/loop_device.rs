//! What a loop device is attached to: which bytes of which file or block device.

use std::ffi::OsString;
use std::fs::{self, File};
use std::ops::Range;
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStringExt as _;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;
use rustix::io::Errno;
use rustix::ioctl::{Getter, Opcode, ioctl};

use crate::block::BlockDevice;
use crate::device_number::DeviceNumber;
use crate::mounts;

/// What holds bytes: a block device, or a file of a file system.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Store {
    /// A block device.
    Device(DeviceNumber),
    /// A file, by the numbers of its file system and of itself.
    File { device: u64, inode: u64 },
}

impl Store {
    /// The block device or regular file at a path, if it is one.
    pub(crate) fn at(path: &Path) -> Option<Self> {
        let found = fs::metadata(path).ok()?;
        let kind = found.file_type();
        if kind.is_block_device() {
            return Some(Self::Device(DeviceNumber::from_raw(found.rdev())));
        }
        kind.is_file().then(|| Self::File { device: found.dev(), inode: found.ino() })
    }
}

/// The bytes that a loop device is attached to. Without a limit they reach as far as the store does, now and
/// when it grows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Backing {
    pub(crate) store: Store,
    pub(crate) window: Range<u64>,
}

/// The backing file of a loop device cannot be found out, as by users without rights if its path is longer
/// than /sys shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum UnknownBacking {
    File,
    FileOrDevice,
    /// A file of a FUSE file system whose server has ended: no byte is read or written through the loop
    /// device any more.
    Dead,
}

/// Major number of loop devices (Documentation/admin-guide/devices.txt of the Linux sources).
pub(crate) const LOOP_MAJOR: u32 = 7;

impl Backing {
    /// Of a device in /sys; none of what is no loop device, or has nothing attached. The device itself is
    /// asked: names mean other files in other mount namespaces, and /sys shows only those that are not too
    /// long for it. Where the device may not be opened, /sys has to do.
    ///
    /// # Errors
    /// Neither says.
    pub(crate) fn read(device: &BlockDevice) -> Result<Option<Self>, UnknownBacking> {
        let folder = device.folder().join("loop");
        let number = device.number();
        let is_loop = folder.is_dir() || number.is_some_and(|number| number.major == LOOP_MAJOR);
        if !is_loop || device.is_partition() {
            return Ok(None);
        }
        let path = backing_path(device);
        let node = Path::new("/dev").join(device.name().replace('!', "/"));
        if number.is_some() && DeviceNumber::at(&node) == number {
            let flags = (OFlags::NONBLOCK | OFlags::CLOEXEC).bits().cast_signed();
            let opened = File::options().read(true).custom_flags(flags).open(node);
            match opened.map_err(|_| None).and_then(|opened| Self::of_open(opened).map_err(Some)) {
                Ok(backing) => return Ok(Some(backing)),
                Err(Some(Errno::NXIO)) => return Ok(None),
                // A FUSE connection says so once it is cut, and is never joined again (fuse_get_req() of
                // fs/fuse/dev.c of the Linux sources).
                Err(Some(Errno::NOTCONN)) if path.as_deref().is_some_and(is_in_fuse) => {
                    return Err(UnknownBacking::Dead);
                }
                Err(_) => {}
            }
        }
        let number = |name: &str| device.attribute(name)?.parse::<u64>().ok();
        let by_name = || {
            let (offset, limit) = (number("loop/offset")?, number("loop/sizelimit")?);
            Some(Self { store: Store::at(path.as_deref()?)?, window: window(offset, limit) })
        };
        match by_name() {
            Some(backing) => Ok(Some(backing)),
            // It may have been detached while it was asked.
            None if !folder.is_dir() => Ok(None),
            None => {
                // All we know about device nodes outside of /dev is that nothing creates them there.
                let may_be_device = path.is_none_or(|path| path.starts_with("/dev"));
                Err(if may_be_device { UnknownBacking::FileOrDevice } else { UnknownBacking::File })
            }
        }
    }

    /// Of an open loop device.
    ///
    /// # Errors
    /// It is attached to nothing (ENXIO), or is not a loop device.
    pub(crate) fn of_open(device: impl AsFd) -> rustix::io::Result<Self> {
        let LoopInfo { device, inode, number, offset, limit, rest: _ } = status(device)?;
        let store = match number {
            0 => Store::File { device, inode },
            number => Store::Device(DeviceNumber::from_raw(number)),
        };
        Ok(Self { store, window: window(offset, limit) })
    }
}

/// The path of a loop device's backing file, as it was called when it was attached; `None` where it is too
/// long for /sys.
pub(crate) fn backing_path(device: &BlockDevice) -> Option<PathBuf> {
    let mut path = device.binary_attribute("loop/backing_file")?;
    // The kernel ends it with a line feed, and does nothing to those that belong to the name.
    path.pop_if(|last| *last == b'\n');
    (!path.is_empty()).then(|| OsString::from_vec(path).into())
}

/// Whether the innermost mount above a path is of FUSE.
fn is_in_fuse(path: &Path) -> bool {
    let above = mounts::all().unwrap_or_default().into_iter().filter(|mount| path.starts_with(&mount.point));
    // Of several at one place, the last one hides the others.
    let innermost = above.max_by_key(|mount| Path::new(&mount.point).components().count());
    innermost.is_some_and(|mount| mount.kind == "fuse" || mount.kind.starts_with("fuse."))
}

fn window(offset: u64, limit: u64) -> Range<u64> {
    let end = if limit == 0 { u64::MAX } else { offset.saturating_add(limit) };
    offset..end
}

/// `LOOP_GET_STATUS64` of linux/loop.h.
const LOOP_GET_STATUS64: Opcode = 0x4C05;

/// `struct loop_info64` of linux/loop.h; what is not needed is left as bytes.
#[repr(C)]
struct LoopInfo {
    device: u64,
    inode: u64,
    /// Of a block device that it is attached to; 0 for a file.
    number: u64,
    offset: u64,
    limit: u64,
    rest: [u64; 24],
}

#[allow(unsafe_code, reason = "a loop device tells what it stands on by an ioctl only")]
fn status(device: impl AsFd) -> rustix::io::Result<LoopInfo> {
    const { assert!(size_of::<LoopInfo>() == 232) };
    // SAFETY: the kernel writes one `struct loop_info64`, of 232 bytes, which any bytes are a valid value of.
    unsafe { ioctl(device, Getter::<LOOP_GET_STATUS64, LoopInfo>::new()) }
}
