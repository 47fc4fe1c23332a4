//! Consent that needs nobody: to a loop device over a file that this process has made in a scratch folder it holds, so that
//! there is nothing on it that could be lost.

use std::os::fd::AsFd;
use std::path::Path;

use likenew_core::fault::Fault;
use rustix::fs::{FileType, fstat, stat};
use rustix::io::Errno;
use rustix::ioctl::{Getter, Opcode, ioctl};

use super::{Consent, hold, open_for_reading, refusal};
use crate::block::BlockDevice;
use crate::fault::not_possible;
use crate::mounts::{DeviceNumber, is_swap, mounted_at};
use crate::scratch::{DIRECTORY, holds_file};

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
        Ok(Self { path: path.to_owned(), opened: device })
    }
}

/// Major number of loop devices (Documentation/admin-guide/devices.txt of the Linux sources).
const LOOP_MAJOR: u32 = 7;
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
pub(super) fn backing_file(device: impl AsFd) -> rustix::io::Result<(u64, u64)> {
    const { assert!(size_of::<LoopInfo>() == 232) };
    // SAFETY: the kernel writes one `struct loop_info64`, of 232 bytes, which any bytes are a valid value of.
    let info = unsafe { ioctl(device, Getter::<LOOP_GET_STATUS64, LoopInfo>::new()) }?;
    let LoopInfo { device, inode, rest: _ } = info;
    Ok((device, inode))
}
