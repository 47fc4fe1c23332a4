//! Requests to the kernel about a whole block device (linux/fs.h).

use std::os::fd::AsFd;

use rustix::io::Errno;
use rustix::ioctl::{NoArg, Opcode, Setter, ioctl};

const BLKDISCARD: Opcode = 0x1277;
const BLKRRPART: Opcode = 0x125F;

/// Tells the device that a range holds nothing of use. Both numbers are multiples of its logical block.
///
/// # Errors
/// The system's: `EOPNOTSUPP` where the device takes no discards.
pub(super) fn discard(device: impl AsFd, start: u64, length: u64) -> Result<(), Errno> {
    // SAFETY: the kernel reads two 64-bit numbers.
    unsafe { ioctl(device, Setter::<BLKDISCARD, [u64; 2]>::new([start, length])) }
}

/// Has the kernel read the partition table again.
///
/// # Errors
/// The system's: `EBUSY` while a partition is in use, `EINVAL` for what has no partitions.
pub(super) fn read_partitions_again(device: impl AsFd) -> Result<(), Errno> {
    // SAFETY: the call takes no argument and touches no memory.
    unsafe { ioctl(device, NoArg::<BLKRRPART>::new()) }
}
