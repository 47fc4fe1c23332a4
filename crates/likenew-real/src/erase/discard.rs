//! Discard of a whole block device or partition, or of space that no partition covers: the gentlest
//! destructive way to free every block.
//!
//! A discard tells a drive that a range holds no data in use. The drive need not erase anything, at once or
//! ever, and may answer reads with anything, so data can stay readable. Some drives are busy with a discard
//! for minutes afterward.

use std::ops::Range;
use std::os::fd::AsFd;

use likenew_core::fix::ReadBackCounts;
use likenew_core::io::Slot;
use likenew_core::target_error::TargetError;
use rustix::fs::{SeekFrom, fstat, ioctl_blksszget, seek};
use rustix::io::Errno;
use rustix::ioctl::{NoArg, Opcode, Setter, ioctl};
use sha2::{Digest as _, Sha256};

use crate::block::{BlockDevice, DeviceNumber};
use crate::buffers::Buffers;
use crate::consent::{Consent, UnusedConsent};
use crate::medium::read_fully;
use crate::target_error::ErrorContext as _;
use crate::wording::{action, erase as wording};

/// Bytes of one request: between requests, progress is shown and the user can stop. The kernel splits a
/// request to the drive's limit (`discard_max_bytes`).
pub const STEP: u64 = 1 << 30;
/// Refused requests after which the rest is not tried.
const REFUSALS_MAX: usize = 8;

/// The result of a discard. What the drive does with it cannot be seen from outside.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DiscardReport {
    /// Bytes to be discarded.
    pub bytes_asked: u64,
    /// Bytes that the kernel and the drive have accepted.
    pub bytes_done: u64,
    /// Bytes that the kernel counted as discarded on this device meanwhile; `None` if it does not count. If
    /// fewer than were accepted, parts at the edges were too short for the drive.
    pub bytes_counted: Option<u64>,
    /// The ranges that were refused, each with the system's error.
    pub refusals: Vec<(Range<u64>, String)>,
    /// Whether the discard was stopped early, by `watch` or after too many refusals.
    pub is_stopped: bool,
}

impl DiscardReport {
    /// Whether all bytes were accepted.
    pub fn is_complete(&self) -> bool {
        self.bytes_done == self.bytes_asked
    }
}

/// Discards everything that a consent covers. `watch` is called after each step with the bytes done and the
/// bytes in all, and returns whether to continue.
///
/// # Errors
/// A refusal where the device takes no discards, before anything is changed; or the system cannot tell what it is.
pub fn discard(consent: &Consent, watch: impl FnMut(u64, u64) -> bool) -> Result<DiscardReport, TargetError> {
    let device = consent.descriptor();
    let path = consent.path().display();
    let bytes = seek(device, SeekFrom::End(0)).context(action::look_at(&path))?;
    let block = u64::from(
        ioctl_blksszget(device).map_err(|_| TargetError::Unsuitable(wording::not_a_block_device(&path)))?,
    );
    let whole = 0..bytes - bytes % block;
    in_steps(device, &path.to_string(), std::slice::from_ref(&whole), || Ok(()), watch)
}

/// Discards the space outside of all partitions that a consent covers. Each step first checks again
/// everything that the consent rests on. `watch` is as for [`discard`].
///
/// # Errors
/// As [`discard`]; or the partitions have changed since, after which nothing more is discarded.
pub fn discard_unused(
    consent: &UnusedConsent,
    watch: impl FnMut(u64, u64) -> bool,
) -> Result<DiscardReport, TargetError> {
    let space = consent.space();
    let path = space.path.display().to_string();
    in_steps(consent.descriptor(), &path, &space.ranges, || consent.check(), watch)
}

/// Discards ranges, in steps that end on multiples of [`STEP`], each after its own `check`.
fn in_steps(
    device: impl AsFd,
    path: &str,
    ranges: &[Range<u64>],
    check: impl Fn() -> Result<(), TargetError>,
    mut watch: impl FnMut(u64, u64) -> bool,
) -> Result<DiscardReport, TargetError> {
    let total = ranges.iter().map(|range| range.end - range.start).sum();
    let number = DeviceNumber::from_raw(fstat(&device).context(action::look_at(path))?.st_rdev);
    let counter = BlockDevice::by_number(number);
    let no_discards = || TargetError::Refused(wording::no_discards(path));
    let limit = counter.as_ref().and_then(|device| device.disk().attribute("queue/discard_max_bytes"));
    if limit.as_deref() == Some("0") && total > 0 {
        return Err(no_discards());
    }
    let before = counter.as_ref().and_then(discarded_bytes);
    let mut came = DiscardReport { bytes_asked: total, ..DiscardReport::default() };
    let mut behind = 0;
    for range in ranges {
        let mut at = range.start;
        while at < range.end && !came.is_stopped {
            check()?;
            let end = range.end.min((at / STEP + 1) * STEP);
            match discard_range(&device, at, end - at) {
                Ok(()) => came.bytes_done += end - at,
                // Nothing has reached the drive, so nothing is half done.
                Err(Errno::OPNOTSUPP) if behind == 0 => return Err(no_discards()),
                Err(Errno::INTR) => continue,
                Err(errno) => came.refusals.push((at..end, errno.to_string())),
            }
            (behind, at) = (behind + (end - at), end);
            came.is_stopped = came.refusals.len() >= REFUSALS_MAX || !watch(behind, total);
        }
    }
    came.is_stopped &= behind < total;
    let after = counter.as_ref().and_then(discarded_bytes);
    came.bytes_counted = before.zip(after).and_then(|(before, after)| after.checked_sub(before));
    Ok(came)
}

fn discarded_bytes(device: &BlockDevice) -> Option<u64> {
    Some(device.stat()?.discard?.bytes())
}

// Requests to the kernel about a whole block device (linux/fs.h).

const BLKDISCARD: Opcode = 0x1277;
const BLKRRPART: Opcode = 0x125F;

/// Discards a range of the device. Both numbers are multiples of its logical block.
///
/// # Errors
/// The system's error: `EOPNOTSUPP` if the device takes no discards.
pub(super) fn discard_range(device: impl AsFd, start: u64, length: u64) -> Result<(), Errno> {
    // SAFETY: the kernel reads two 64-bit numbers.
    unsafe { ioctl(device, Setter::<BLKDISCARD, [u64; 2]>::new([start, length])) }
}

/// Has the kernel read the partition table again.
///
/// # Errors
/// The system's error: `EBUSY` while a partition is in use, `EINVAL` if the device has no partitions.
pub(super) fn read_partitions_again(device: impl AsFd) -> Result<(), Errno> {
    // SAFETY: the call takes no argument and touches no memory.
    unsafe { ioctl(device, NoArg::<BLKRRPART>::new()) }
}

// Samples of a drive's blocks, to see what an erase did to its contents.

/// Bytes of one sample: the largest block of drives that are in use.
const BYTES: u64 = 4096;

/// Fingerprints of blocks at evenly spaced places, without their contents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Samples(Vec<Sample>);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sample {
    Zeros,
    Ones,
    Data([u8; 32]),
    Unreadable,
}

impl Samples {
    /// Reads `count` blocks, evenly spaced, past the page cache.
    ///
    /// # Errors
    /// The device cannot be examined. A block that cannot be read is no error.
    pub fn read(consent: &Consent, count: u64) -> Result<Self, TargetError> {
        let device = consent.descriptor();
        let bytes = seek(device, SeekFrom::End(0)).context(action::ASK_DEVICE_SIZE)?;
        let blocks = bytes / BYTES;
        let mut buffers = Buffers::map(1, BYTES as u32)?;
        let count = count.min(blocks);
        let samples = (0..count).map(|index| {
            // The first and the last block are among them.
            let block = if count > 1 { index * (blocks - 1) / (count - 1) } else { 0 };
            let buffer = &mut buffers.slot_mut(Slot(0))[..BYTES as usize];
            match read_fully(device, buffer, block * BYTES) {
                Ok(moved) if moved == buffer.len() => sample(buffer),
                _ => Sample::Unreadable,
            }
        });
        Ok(Self(samples.collect()))
    }

    /// Compares these samples with later ones of the same places.
    ///
    /// # Panics
    /// When `later` has another number of samples.
    pub fn compare(&self, later: &Self) -> ReadBackCounts {
        assert_eq!(self.0.len(), later.0.len(), "samples of the same places");
        let mut counts = ReadBackCounts::default();
        for (before, after) in self.0.iter().zip(&later.0) {
            let discard_counters = match (before, after) {
                (_, Sample::Unreadable) => &mut counts.unreadable,
                (Sample::Data(before), Sample::Data(after)) if before == after => &mut counts.same,
                (Sample::Data(_), Sample::Data(_)) => &mut counts.changed,
                (Sample::Data(_), Sample::Zeros | Sample::Ones) => &mut counts.blank,
                (Sample::Zeros | Sample::Ones | Sample::Unreadable, _) => &mut counts.empty,
            };
            *discard_counters += 1;
        }
        counts
    }
}

fn sample(bytes: &[u8]) -> Sample {
    if bytes.iter().all(|byte| *byte == 0) {
        Sample::Zeros
    } else if bytes.iter().all(|byte| *byte == 0xFF) {
        Sample::Ones
    } else {
        Sample::Data(Sha256::digest(bytes).into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_change_is_distinguished_from_every_other() {
        let data = |byte: u8| sample(&[byte, 1]);
        let (zeros, ones) = (sample(&[0, 0]), sample(&[0xFF; 4]));
        let before = Samples(vec![data(1), data(2), data(3), data(4), data(5), zeros, ones]);
        let after = Samples(vec![data(1), data(9), zeros, ones, Sample::Unreadable, data(1), ones]);
        let counts = before.compare(&after);
        assert_eq!(counts, ReadBackCounts { same: 1, changed: 1, blank: 2, unreadable: 1, empty: 2 });
    }
}
