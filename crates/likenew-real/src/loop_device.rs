//! What a loop device stands on: which bytes of which file or block device.

use std::fs::{self, File};
use std::ops::Range;
use std::os::fd::AsFd;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::path::Path;

use rustix::ioctl::{Getter, Opcode, ioctl};

use crate::block::BlockDevice;
use crate::mounts::DeviceNumber;

/// What holds bytes: a block device, or a file of a file system.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Store {
    /// A block device.
    Device(DeviceNumber),
    /// A file, by the numbers of its file system and of itself.
    File { device: u64, inode: u64 },
}

impl Store {
    /// What lies at a path, if it is a block device or a regular file.
    pub(crate) fn at(path: &Path) -> Option<Self> {
        let found = fs::metadata(path).ok()?;
        let kind = found.file_type();
        if kind.is_block_device() {
            return Some(Self::Device(DeviceNumber::of(found.rdev())));
        }
        kind.is_file().then(|| Self::File { device: found.dev(), inode: found.ino() })
    }
}

/// The bytes that a loop device stands on. Without a limit they reach as far as the store does, now and when it grows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Backing {
    pub(crate) store: Store,
    pub(crate) window: Range<u64>,
}

impl Backing {
    /// Of a device in /sys; none of what is no loop device, or has nothing attached. The device itself is asked, since names mean other files
    /// in other mount namespaces; where it may not be opened, /sys has to do.
    pub(crate) fn of(device: &BlockDevice) -> Option<Self> {
        let path = device.attribute("loop/backing_file")?;
        let node = Path::new("/dev").join(device.name().replace('!', "/"));
        let is_it = DeviceNumber::at(&node).is_some_and(|number| device.number() == Some(number));
        let asked = is_it.then(|| File::open(node).ok().and_then(|node| Self::of_open(node).ok())).flatten();
        asked.or_else(|| {
            let number = |name: &str| device.attribute(name)?.parse::<u64>().ok();
            let (offset, limit) = (number("loop/offset")?, number("loop/sizelimit")?);
            Some(Self { store: Store::at(Path::new(&path))?, window: window(offset, limit) })
        })
    }

    /// Of an open loop device.
    ///
    /// # Errors
    /// Nothing is attached to it (ENXIO), or it is no loop device.
    pub(crate) fn of_open(device: impl AsFd) -> rustix::io::Result<Self> {
        let LoopInfo { device, inode, number, offset, limit, rest: _ } = status(device)?;
        let store = match number {
            0 => Store::File { device, inode },
            number => Store::Device(DeviceNumber::of(number)),
        };
        Ok(Self { store, window: window(offset, limit) })
    }
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
    /// Of a block device that it stands on; 0 for a file.
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
