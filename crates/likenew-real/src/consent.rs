//! Consent to write to a block device. Nothing else in this project can make one, and without one no device is ever opened
//! for writing.
//!
//! In this version consent is given for one kind of device only: a loop device over a file that this process has made in a
//! scratch folder it holds, so that there is nothing on it that could be lost.

use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};

use likenew_core::fault::Fault;
use likenew_core::units::Nanos;
use rustix::fs::{FileType, Mode, OFlags, fstat, stat};
use rustix::io::Errno;
use rustix::ioctl::{Getter, Opcode, ioctl};

use crate::block::BlockDevice;
use crate::clock::Monotonic;
use crate::fault::not_possible;
use crate::mounts::{DeviceNumber, is_swap, mounted_at};
use crate::scratch::{DIRECTORY, holds_file};

/// The right to write to one block device, and the exclusive hold on it: nobody can mount it or claim it otherwise while
/// this lives.
#[derive(Debug)]
pub struct Consent {
    path: PathBuf,
    device: OwnedFd,
}

impl Consent {
    /// Consents to writing to the loop device at `path`, after every check has passed: its backing file is ours; it has no
    /// partitions; it is not mounted, serves as no swap and carries no other device; nobody else holds it.
    ///
    /// # Errors
    /// A refusal that names the check which failed, and what to do.
    pub fn for_own_loop_device(path: &Path) -> Result<Self, Fault> {
        let refuse = |reason: &str| Err(refusal(path, reason));
        let stat = stat(path).map_err(|errno| not_possible("look at", path, errno))?;
        if FileType::from_raw_mode(stat.st_mode) != FileType::BlockDevice {
            return refuse("it is no block device; give a folder to measure writes");
        }
        let number = DeviceNumber::of(stat.st_rdev);
        if number.major != LOOP_MAJOR {
            return refuse("it may hold something of yours; give a folder on it to measure writes");
        }
        let Some(device) = BlockDevice::numbered(number) else {
            return refuse("/sys does not list it, so nothing can be checked");
        };
        if device.is_partition() || !device.partitions().is_empty() {
            return refuse("it has partitions or is one; detach it and attach a file without any");
        }
        let look = open_for_reading(path)?;
        check_is_ours(&look, path)?;
        if let Some(point) = mounted_at(number) {
            return refuse(&format!("it is mounted at {point}; unmount it first"));
        }
        if is_swap(number) {
            return refuse("it serves as swap; switch that off first (swapoff)");
        }
        if let Some(holder) = device.holders().first() {
            return refuse(&format!("it carries {holder} (LVM, RAID or encryption); take that down first"));
        }
        drop(look);
        let device = match hold(path) {
            Err(Errno::BUSY) => return refuse("somebody holds it exclusively; end what uses it first"),
            device => device.map_err(|errno| not_possible("open for writing", path, errno))?,
        };
        // What was checked by its path is what was opened, and is still what it was: from here on nobody can change that.
        let opened = fstat(&device).map_err(|errno| not_possible("look at", path, errno))?;
        if opened.st_rdev != stat.st_rdev || FileType::from_raw_mode(opened.st_mode) != FileType::BlockDevice
        {
            return refuse("it became another device while it was checked; start again");
        }
        check_is_ours(&device, path)?;
        Ok(Self { path: path.to_owned(), device })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn into_parts(self) -> (PathBuf, OwnedFd) {
        (self.path, self.device)
    }
}

/// Major number of loop devices (Documentation/admin-guide/devices.txt of the Linux sources).
const LOOP_MAJOR: u32 = 7;
/// Exclusive means, for a block device: not mounted, and claimed by nobody else.
const HOLD: OFlags = OFlags::EXCL.union(OFlags::DIRECT).union(OFlags::CLOEXEC);

/// How often, and how long apart, a claim is tried: a drive of ours that was just closed may take the kernel a moment to
/// let go of.
const HOLD_TRIES: u32 = 100;
const HOLD_PAUSE: Nanos = Nanos::from_millis(5);

fn hold(path: &Path) -> rustix::io::Result<OwnedFd> {
    let clock = Monotonic::start();
    for _ in 1..HOLD_TRIES {
        match rustix::fs::open(path, OFlags::RDWR | HOLD, Mode::empty()) {
            Err(Errno::BUSY) => clock.rest(clock.now() + HOLD_PAUSE),
            opened => return opened,
        }
    }
    rustix::fs::open(path, OFlags::RDWR | HOLD, Mode::empty())
}

fn open_for_reading(path: &Path) -> Result<OwnedFd, Fault> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK;
    rustix::fs::open(path, flags, Mode::empty()).map_err(|errno| not_possible("open", path, errno))
}

fn refusal(path: &Path, reason: &str) -> Fault {
    Fault::Refused(format!("writing to {} is refused: {reason}", path.display()))
}

fn check_is_ours(device: impl AsFd, path: &Path) -> Result<(), Fault> {
    match backing_file(device) {
        Err(Errno::NXIO) => Err(refusal(path, "no file is attached to it (losetup)")),
        Err(errno) => Err(not_possible("ask for the backing file of", path, errno)),
        Ok((device, inode)) if holds_file(device, inode) => Ok(()),
        Ok(_) => Err(refusal(
            path,
            &format!(
                "its backing file is none that this process made in its own {DIRECTORY}; give a folder to measure writes"
            ),
        )),
    }
}

/// `LOOP_GET_STATUS64` of linux/loop.h.
const LOOP_GET_STATUS64: Opcode = 0x4C05;

/// `struct loop_info64` of linux/loop.h; what is not needed is left as bytes.
#[repr(C)]
struct LoopInfo {
    device: u64,
    inode: u64,
    rest: [u64; 27],
}

/// Numbers of the device and inode of a loop device's backing file.
#[allow(unsafe_code, reason = "a loop device tells its backing file by an ioctl only")]
fn backing_file(device: impl AsFd) -> rustix::io::Result<(u64, u64)> {
    const { assert!(size_of::<LoopInfo>() == 232) };
    // SAFETY: the kernel writes one `struct loop_info64`, of 232 bytes, which any bytes are a valid value of.
    let info = unsafe { ioctl(device, Getter::<LOOP_GET_STATUS64, LoopInfo>::new()) }?;
    let LoopInfo { device, inode, rest: _ } = info;
    Ok((device, inode))
}
