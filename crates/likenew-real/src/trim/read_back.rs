//! What is read at the addresses of a file of ours after half of it was freed and TRIM was sent.

use std::ops::Range;
use std::os::fd::AsFd as _;

use likenew_core::lab_error::LabError;
use likenew_core::probe::ProbeResult;
use likenew_core::trim::{AllocationChange, Content, ReadBack, ReadBackResult, UNIT, pattern};
use rustix::io::Errno;

use super::MountedDevice;
use super::claims::allocated_bytes;
use super::extents::{Flush, extents, places};
use super::free_space::is_free;
use super::layers::stack;
use super::own_file::OwnFile;
use super::raw::Raw;
use super::send::Sender;
use crate::clock::Monotonic;
use crate::lab_error::not_possible;
use crate::scratch::Scratch;
use crate::wording::action;
use crate::wording::trim as wording;

/// Writes a file of ours, frees its second half, sends TRIM, and reads both halves from the device below.
/// `number` is that of a file that nothing else makes.
pub(crate) fn read_back(
    scratch: &Scratch,
    number: u32,
    mounted: &MountedDevice,
    request: &ReadBack,
    clock: &Monotonic,
) -> Result<ProbeResult, LabError> {
    if let Some(reason) = mounted.unsuitable() {
        return Ok(ProbeResult::Unknown(reason));
    }
    let (all, kept, released) =
        (0..request.bytes_written(), 0..request.bytes, request.bytes..request.bytes_written());
    let failed = |errno: Errno| not_possible(action::USE_FILE_IN, scratch.path(), errno);
    let file = OwnFile::create(scratch, number).map_err(failed)?;
    file.write(request.seed, all.end).map_err(failed)?;
    let mut result = ReadBackResult { bytes_written: all.end, ..ReadBackResult::default() };
    let map = extents(&file, all.end, Flush::First).map_err(wording::place_unknown);
    let halves = map.and_then(|map| Ok((places(&map, &kept)?, places(&map, &released)?)));
    let mut reader = match &halves {
        Ok((kept, released)) if request.raw => Reader::open(mounted, request, kept, released)?,
        Ok(_) => Err(wording::RAW_OFF.to_owned()),
        Err(reason) => Err(reason.clone()),
    };
    if let Ok(reading) = &mut reader {
        let written = reading.read_both_halves();
        result.before_release = Some(written);
        if written.pattern_bytes < all.end {
            let reason = wording::DATA_ELSEWHERE;
            reader = Err(reason.to_owned());
        }
    }
    let before = allocated_bytes(&stack_of(mounted));
    let sender = Sender::new(mounted);
    file.release(&released).map_err(failed)?;
    let freed = halves.as_ref().map(|(_, released)| released.as_slice()).map_err(String::as_str);
    result.sent = sender.send(scratch.directory(), freed, request.bytes, request.wait, clock);
    let after = allocated_bytes(&stack_of(mounted));
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

fn stack_of(mounted: &MountedDevice) -> Vec<crate::block::BlockDevice> {
    mounted.device.as_ref().map(stack).unwrap_or_default()
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
    ) -> Result<Result<Self, String>, LabError> {
        let whole = |place: &Range<u64>| (place.end - place.start).is_multiple_of(UNIT as u64);
        if !kept_half.iter().chain(released_half).all(whole) {
            return Ok(Err(wording::EXTENTS_NOT_ALIGNED.to_owned()));
        }
        Ok(Raw::open(&mounted.mount)?.map(|raw| Self { raw, mounted, request, kept_half, released_half }))
    }

    fn units(&self) -> u64 {
        self.request.bytes / UNIT as u64
    }

    /// Both halves while the file holds them.
    fn read_both_halves(&mut self) -> Content {
        let mut content = self.raw.content(self.request.seed, 0, self.kept_half, |_| true);
        content.merge(&self.raw.content(self.request.seed, self.units(), self.released_half, |_| true));
        content
    }

    /// Everything that is read after TRIM was sent; why not, if it was not.
    fn read(&mut self, result: &mut ReadBackResult, file: &OwnFile<'_>, clock: &Monotonic) -> Option<String> {
        if let Err(errno) = is_free(file, self.mounted.mount.device, &self.released_half[0]) {
            return Some(wording::free_blocks_unknown(errno));
        }
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

    /// Times single reads, alternating between the halves, at random units of them. Units that were reused in
    /// the meantime are left out.
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
            // Either half has the first turn as often as the other.
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

/// The address of a unit of a half.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_found_across_pieces() {
        let places = [8192..16384, 4096..8192];
        assert_eq!([0, 1, 2].map(|unit| unit_at(&places, unit)), [8192, 12288, 4096]);
    }
}
