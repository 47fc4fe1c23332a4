//! Reads at addresses of a block device, past the page cache.

use std::ops::Range;
use std::os::fd::OwnedFd;
use std::path::PathBuf;

use likenew_core::io::Slot;
use likenew_core::lab_error::LabError;
use likenew_core::trim::{Content, UNIT};
use likenew_core::units::Nanos;
use rustix::fs::{FileType, Mode, OFlags, fstat, open};
use rustix::io::{Errno, pread};

use crate::buffers::Buffers;
use crate::clock::Monotonic;
use crate::device_number::DeviceNumber;
use crate::mounts::Mount;
use crate::wording::trim as wording;

/// Bytes that are read at once.
pub(crate) const CHUNK: u64 = 1 << 20;

/// A block device that is open for reading.
pub(crate) struct Raw {
    device: OwnedFd,
    buffers: Buffers,
}

impl Raw {
    /// Opens the device that a file system is on; a sentence without a full stop, where that may not be.
    pub(crate) fn open(mount: &Mount) -> Result<Result<Self, String>, LabError> {
        let DeviceNumber { major, minor } = mount.device;
        let paths = [PathBuf::from(format!("/dev/block/{major}:{minor}")), PathBuf::from(&mount.source)];
        let flags = OFlags::RDONLY | OFlags::DIRECT | OFlags::CLOEXEC;
        let mut reason = wording::no_device_file(major, minor);
        for path in paths {
            match open(&path, flags, Mode::empty()) {
                Ok(device) => {
                    let is_it = fstat(&device).is_ok_and(|stat| {
                        FileType::from_raw_mode(stat.st_mode) == FileType::BlockDevice
                            && DeviceNumber::from_raw(stat.st_rdev) == mount.device
                    });
                    if is_it {
                        let buffers = Buffers::map(1, CHUNK as u32)?;
                        return Ok(Ok(Self { device, buffers }));
                    }
                }
                Err(Errno::ACCESS | Errno::PERM) => {
                    reason = wording::needs_root(path.display());
                }
                Err(Errno::NOENT) => {}
                Err(errno) => reason = wording::not_opened(path.display(), errno),
            }
        }
        Ok(Err(reason))
    }

    /// Reads a range that is made of whole units and not longer than [`CHUNK`]; nothing where the drive refuses.
    pub(crate) fn read(&mut self, range: &Range<u64>) -> Option<&[u8]> {
        let length = (range.end - range.start) as usize;
        let buffer = &mut self.buffers.slot_mut(Slot(0))[..length];
        let read = loop {
            match pread(&self.device, &mut *buffer, range.start) {
                Err(Errno::INTR) => {}
                read => break read,
            }
        };
        (read == Ok(length)).then_some(&*buffer)
    }

    /// How long it takes to read the unit at `offset`.
    pub(crate) fn probe(&mut self, offset: u64, clock: &Monotonic) -> Option<Nanos> {
        let started_at = clock.now();
        self.read(&(offset..offset + UNIT as u64))?;
        Some(clock.now() - started_at)
    }

    /// Classifies the contents of `places`, which are those of the units of a file from `first` on.
    /// `may_read` is asked before each range is read and after, and what was read counts only if it returns
    /// true both times.
    pub(crate) fn content(
        &mut self,
        seed: u64,
        first: u64,
        places: &[Range<u64>],
        mut may_read: impl FnMut(&Range<u64>) -> bool,
    ) -> Content {
        let (mut content, mut unit) = (Content::default(), first);
        for place in places {
            for start in (place.start..place.end).step_by(CHUNK as usize) {
                let range = start..place.end.min(start + CHUNK);
                let mut here = Content::default();
                let length = range.end - range.start;
                if !may_read(&range) {
                    here.taken_bytes = length;
                } else if let Some(bytes) = self.read(&range) {
                    here.add(seed, unit, bytes);
                } else {
                    here.refused_bytes = length;
                }
                if here.taken_bytes == 0 && !may_read(&range) {
                    here = Content { taken_bytes: length, ..Content::default() };
                }
                content.merge(&here);
                unit += length / UNIT as u64;
            }
        }
        content
    }
}
