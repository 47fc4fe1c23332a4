//! Asks a file system to send TRIM for a range, as fstrim does.

use std::ops::Range;
use std::os::fd::AsFd;

use rustix::io::Errno;
use rustix::ioctl::{Opcode, Updater, ioctl};

/// `FITRIM` of linux/fs.h.
const FITRIM: Opcode = 0xC018_5879;

/// `struct fstrim_range` of linux/fs.h.
#[repr(C)]
struct Range64 {
    start: u64,
    length: u64,
    shortest: u64,
}

/// Asks the file system to trim the free space in a range of its device, and returns how many bytes it says
/// that was.
///
/// # Errors
/// The system's: `EPERM` without root, `EOPNOTSUPP` where the device takes none.
pub(crate) fn fitrim(file: impl AsFd, range: &Range<u64>) -> Result<u64, Errno> {
    let mut asked = Range64 { start: range.start, length: range.end - range.start, shortest: 0 };
    // SAFETY: the kernel reads and writes one `struct fstrim_range`.
    unsafe { ioctl(file, Updater::<FITRIM, Range64>::new(&mut asked)) }?;
    Ok(asked.length)
}
