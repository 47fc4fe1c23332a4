//! Reads the addresses of a file of ours, after half of it was freed and TRIM was sent.

use std::fs::File;
use std::ops::Range;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::FileExt as _;
use std::path::PathBuf;

use likenew_core::io::Slot;
use likenew_core::probe::{AllocationChange, Content, ProbeResult, ReadBack, ReadBackResult, UNIT, pattern};
use likenew_core::target_error::TargetError;
use likenew_core::units::Nanos;
use rustix::fs::{FallocateFlags, FileType, Mode, OFlags, fallocate, fstat, fsync, open, syncfs};
use rustix::io::Errno;

use super::extents::{Flush, extents, is_free, places};
use super::{MountedDevice, Sender, allocated_bytes, wait_for};
use crate::block::DeviceNumber;
use crate::buffers::Buffers;
use crate::clock::Monotonic;
use crate::medium::{PUNCH, read_fully};
use crate::mounts::Mount;
use crate::scratch::Scratch;
use crate::target_error::not_possible;
use crate::wording::{action, trim as wording};

/// Writes a file of ours, frees its second half, sends TRIM, and reads both halves from the device below.
/// No other file has the number `number`.
pub(crate) fn read_back(
    scratch: &Scratch,
    number: u32,
    mounted: &MountedDevice,
    request: &ReadBack,
    clock: &Monotonic,
) -> Result<ProbeResult, TargetError> {
    if let Some(reason) = mounted.unsuitable() {
        return Ok(ProbeResult::Unknown(reason));
    }
    let (whole, kept, released) =
        (0..request.bytes_written(), 0..request.bytes, request.bytes..request.bytes_written());
    let failed = |errno: Errno| not_possible(action::USE_FILE_IN, scratch.path(), errno);
    let file = OwnFile::create(scratch, number).map_err(failed)?;
    file.write(request.seed, whole.end).map_err(failed)?;
    let mut result = ReadBackResult { bytes_written: whole.end, ..ReadBackResult::default() };
    let map = extents(&file, whole.end, Flush::First).map_err(wording::place_unknown);
    let halves = map.and_then(|map| Ok((places(&map, &kept)?, places(&map, &released)?)));
    let mut reader = match &halves {
        Ok((kept, released)) if request.raw => Reader::open(mounted, request, kept, released)?,
        Ok(_) => Err(wording::RAW_OFF.to_owned()),
        Err(reason) => Err(reason.clone()),
    };
    if let Ok(reading) = &mut reader {
        let written = reading.read_both_halves();
        result.before_release = Some(written);
        if written.pattern_bytes < whole.end {
            let reason = wording::DATA_ELSEWHERE;
            reader = Err(reason.to_owned());
        }
    }
    let before = allocated_bytes(&mounted.stack());
    let sender = Sender::new(mounted);
    file.release(&released).map_err(failed)?;
    let freed = halves.as_ref().map(|(_, released)| released.as_slice()).map_err(String::as_str);
    result.sent = sender.send(scratch.directory(), freed, request.bytes, request.wait, clock);
    let after = allocated_bytes(&mounted.stack());
    result.allocated = before.zip(after).map(|((before_bytes, source), (after_bytes, _))| AllocationChange {
        before_bytes,
        after_bytes,
        source,
    });
    match &mut reader {
        Ok(reading) => result.read_error = reading.read(&mut result, &file, clock),
        Err(reason) => result.read_error = Some(reason.clone()),
    }
    Ok(ProbeResult::TrimReadBack(Box::new(result)))
}

/// Reads the halves of the file from the device.
struct Reader<'a> {
    raw: Raw,
    mounted: &'a MountedDevice,
    request: &'a ReadBack,
    kept_half: &'a [Range<u64>],
    released_half: &'a [Range<u64>],
}

impl<'a> Reader<'a> {
    fn open(
        mounted: &'a MountedDevice,
        request: &'a ReadBack,
        kept_half: &'a [Range<u64>],
        released_half: &'a [Range<u64>],
    ) -> Result<Result<Self, String>, TargetError> {
        let whole = |place: &Range<u64>| (place.end - place.start).is_multiple_of(UNIT as u64);
        if !kept_half.iter().chain(released_half).all(whole) {
            return Ok(Err(wording::EXTENTS_NOT_ALIGNED.to_owned()));
        }
        Ok(Raw::open(&mounted.mount)?.map(|raw| Self { raw, mounted, request, kept_half, released_half }))
    }

    fn units(&self) -> u64 {
        self.request.bytes / UNIT as u64
    }

    /// Reads both halves while the file still holds them.
    fn read_both_halves(&mut self) -> Content {
        let mut content = self.raw.content(self.request.seed, 0, self.kept_half, |_| true);
        content.merge(&self.raw.content(self.request.seed, self.units(), self.released_half, |_| true));
        content
    }

    /// Reads everything that is to be read after TRIM was sent. Returns why, if it cannot.
    fn read(&mut self, result: &mut ReadBackResult, file: &OwnFile<'_>, clock: &Monotonic) -> Option<String> {
        if let Err(errno) = is_free(file, self.mounted.mount.device, &self.released_half[0]) {
            return Some(wording::free_blocks_unknown(errno));
        }
        // ext4 counts blocks as used while it trims them (`ext4_trim_extent` of fs/ext4/mballoc.c), and a
        // moment longer than the device takes.
        let device = self.mounted.mount.device;
        let are_free = || self.released_half.iter().all(|place| is_free(file, device, place) == Ok(true));
        wait_for(are_free, clock.now() + self.request.wait, clock);
        let first = self.content_released(file);
        result.released_half = Some(first);
        if first.pattern_bytes > 0 && result.sent.refusal.is_none() {
            clock.rest(clock.now() + self.request.wait);
            result.released_half_later = Some(self.content_released(file));
        }
        result.kept_half = Some(self.raw.content(self.request.seed, 0, self.kept_half, |_| true));
        self.probe(result, file, clock);
        None
    }

    fn content_released(&mut self, file: &OwnFile<'_>) -> Content {
        let (device, first) = (self.mounted.mount.device, self.units());
        let may_read = |range: &Range<u64>| is_free(file.as_fd(), device, range) == Ok(true);
        self.raw.content(self.request.seed, first, self.released_half, may_read)
    }

    /// Times single reads at random units, one in each half at a time. Units that were reused in the meantime
    /// are left out.
    fn probe(&mut self, result: &mut ReadBackResult, file: &OwnFile<'_>, clock: &Monotonic) {
        let device = self.mounted.mount.device;
        let mut draw = [0; UNIT];
        for probe in 0..u64::from(self.request.probes) {
            pattern(!self.request.seed, probe, &mut draw);
            let word = |at: usize| u64::from_le_bytes(draw[at..at + 8].try_into().expect("eight bytes"));
            let kept = unit_at(self.kept_half, word(0) % self.units());
            let released = unit_at(self.released_half, word(8) % self.units());
            if is_free(file, device, &(released..released + UNIT as u64)) != Ok(true) {
                continue;
            }
            // Either half is read first as often as the other.
            let mut elapsed = [None; 2];
            for turn in if probe % 2 == 0 { [0, 1] } else { [1, 0] } {
                elapsed[turn] = self.raw.probe([kept, released][turn], clock);
            }
            if let [Some(kept), Some(released)] = elapsed {
                result.probes_kept_ns.push(kept.0);
                result.probes_released_ns.push(released.0);
            }
        }
    }
}

/// The address of a unit in a half.
fn unit_at(places: &[Range<u64>], unit: u64) -> u64 {
    let mut left = unit * UNIT as u64;
    for place in places {
        let length = place.end - place.start;
        if left < length {
            return place.start + left;
        }
        left -= length;
    }
    unreachable!("the unit lies in the half")
}

// Reads at addresses of a block device, past the page cache.

/// Bytes that are read or written at once.
const CHUNK: u64 = 1 << 20;

/// A block device that is open for reading.
pub(crate) struct Raw {
    device: OwnedFd,
    buffers: Buffers,
}

impl Raw {
    /// Opens the device that a file system is on, or says why that may not be, in a sentence without a full stop.
    pub(crate) fn open(mount: &Mount) -> Result<Result<Self, String>, TargetError> {
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

    /// Reads a range of whole units, not longer than [`CHUNK`]; `None` if the drive refuses.
    pub(crate) fn read(&mut self, range: &Range<u64>) -> Option<&[u8]> {
        let length = (range.end - range.start) as usize;
        let buffer = &mut self.buffers.slot_mut(Slot(0))[..length];
        (read_fully(&self.device, buffer, range.start) == Ok(length)).then_some(&*buffer)
    }

    /// How long it takes to read the unit at `offset`.
    pub(crate) fn probe(&mut self, offset: u64, clock: &Monotonic) -> Option<Nanos> {
        let started_at = clock.now();
        self.read(&(offset..offset + UNIT as u64))?;
        Some(clock.now() - started_at)
    }

    /// Classifies the contents of `places`, which belong to the units of a file from `first` on. `may_read`
    /// is asked before each range is read and again afterward. What was read counts only if the answer is
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

// Another file in a scratch directory, for the time of a probe.

/// A file of ours. Dropping it deletes it.
pub(crate) struct OwnFile<'a> {
    scratch: &'a Scratch,
    number: u32,
    file: File,
}

impl<'a> OwnFile<'a> {
    /// Makes the file with this number, which nothing else uses.
    pub(crate) fn create(scratch: &'a Scratch, number: u32) -> Result<Self, Errno> {
        let file = scratch.create_fd(number, OFlags::empty())?.into();
        Ok(Self { scratch, number, file })
    }

    /// Writes the pattern of `seed`, and waits until it is on the drive.
    pub(crate) fn write(&self, seed: u64, bytes: u64) -> Result<(), Errno> {
        // Reserves space first, so that the file is in few pieces. A file system that cannot reserve space may make more.
        match fallocate(&self.file, FallocateFlags::empty(), 0, bytes) {
            Ok(()) | Err(Errno::OPNOTSUPP) => {}
            Err(errno) => return Err(errno),
        }
        let mut buffer = vec![0; CHUNK as usize];
        for offset in (0..bytes).step_by(CHUNK as usize) {
            let length = CHUNK.min(bytes - offset) as usize;
            pattern(seed, offset / UNIT as u64, &mut buffer[..length]);
            let written = self.file.write_all_at(&buffer[..length], offset);
            written.map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))?;
        }
        fsync(&self.file)
    }

    /// Frees the blocks of a range durably: after this call, a crash does not bring them back.
    pub(crate) fn release(&self, range: &Range<u64>) -> Result<(), Errno> {
        fallocate(&self.file, PUNCH, range.start, range.end - range.start)?;
        fsync(&self.file)?;
        syncfs(&self.file)
    }
}

impl AsFd for OwnFile<'_> {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

impl Drop for OwnFile<'_> {
    fn drop(&mut self) {
        // A file that could not be deleted goes with the scratch directory.
        let _ = self.scratch.delete(self.number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_found_across_pieces() {
        let places = [8192..16384, 4096..8192];
        assert_eq!([0, 1, 2].map(|unit| unit_at(&places, unit)), [8192, 12288, 4096]);
    }
}
