//! What is read at the addresses of a file of ours after half of it was given up and the drive was told.

use std::ops::Range;
use std::os::fd::AsFd as _;

use likenew_core::fault::Fault;
use likenew_core::look::Seen;
use likenew_core::trim::{Allocated, Content, ReadBack, ReadBackSeen, UNIT, pattern};
use rustix::io::Errno;

use super::Ground;
use super::claims::allocated;
use super::extents::{Flush, extents, places};
use super::free_space::is_free;
use super::layers::stack;
use super::own_file::OwnFile;
use super::raw::Raw;
use super::send::Sender;
use crate::clock::Monotonic;
use crate::fault::not_possible;
use crate::scratch::Scratch;

/// Writes a file of ours, gives up its second half, tells the drive, and reads both halves from the device below. `number` is that of a
/// file that nobody else makes.
pub(crate) fn read_back(
    scratch: &Scratch,
    number: u32,
    ground: &Ground,
    asked: &ReadBack,
    clock: &Monotonic,
) -> Result<Seen, Fault> {
    if let Some(why) = ground.unsuitable() {
        return Ok(Seen::Unknown(why));
    }
    let (all, kept, released) =
        (0..asked.bytes_written(), 0..asked.bytes, asked.bytes..asked.bytes_written());
    let failed = |errno: Errno| not_possible("use a file in", scratch.path(), errno);
    let file = OwnFile::create(scratch, number).map_err(failed)?;
    file.write(asked.seed, all.end).map_err(failed)?;
    let mut seen = ReadBackSeen { bytes_written: all.end, ..ReadBackSeen::default() };
    let map = extents(&file, all.end, Flush::First)
        .map_err(|errno| format!("the file system does not say where a file lies: {errno}"));
    let halves = map.and_then(|map| Ok((places(&map, &kept)?, places(&map, &released)?)));
    let mut reader = match &halves {
        Ok((kept, released)) if asked.raw => Reader::open(ground, asked, kept, released)?,
        Ok(_) => Err("reading from the device was left out, as asked".to_owned()),
        Err(why) => Err(why.clone()),
    };
    if let Ok(reading) = &mut reader {
        let written = reading.written();
        seen.written = Some(written);
        if written.pattern_bytes < all.end {
            let why = "what was written does not stand at the addresses that the file system gives, so nothing more is read there";
            reader = Err(why.to_owned());
        }
    }
    let before = allocated(&stack_of(ground));
    let sender = Sender::new(ground);
    file.give_up(&released).map_err(failed)?;
    let freed = halves.as_ref().map(|(_, released)| released.as_slice()).map_err(String::as_str);
    seen.sent = sender.send(scratch.directory(), freed, asked.bytes, asked.wait, clock);
    let after = allocated(&stack_of(ground));
    seen.allocated = before.zip(after).map(|((before_bytes, source), (after_bytes, _))| Allocated {
        before_bytes,
        after_bytes,
        source,
    });
    match &mut reader {
        Ok(reading) => seen.not_read = reading.read(&mut seen, &file, clock),
        Err(why) => seen.not_read = Some(why.clone()),
    }
    Ok(Seen::TrimReadBack(Box::new(seen)))
}

fn stack_of(ground: &Ground) -> Vec<crate::block::BlockDevice> {
    ground.device.as_ref().map(stack).unwrap_or_default()
}

/// Reads the halves of the file from the device.
struct Reader<'a> {
    raw: Raw,
    ground: &'a Ground,
    asked: &'a ReadBack,
    kept: &'a [Range<u64>],
    released: &'a [Range<u64>],
}

impl<'a> Reader<'a> {
    fn open(
        ground: &'a Ground,
        asked: &'a ReadBack,
        kept: &'a [Range<u64>],
        released: &'a [Range<u64>],
    ) -> Result<Result<Self, String>, Fault> {
        let whole = |place: &Range<u64>| (place.end - place.start).is_multiple_of(UNIT as u64);
        if !kept.iter().chain(released).all(whole) {
            return Ok(Err("the file lies in pieces that are no multiples of 4 KiB".to_owned()));
        }
        Ok(Raw::open(&ground.mount)?.map(|raw| Self { raw, ground, asked, kept, released }))
    }

    fn units(&self) -> u64 {
        self.asked.bytes / UNIT as u64
    }

    /// Both halves while the file holds them.
    fn written(&mut self) -> Content {
        let mut content = self.raw.content(self.asked.seed, 0, self.kept, |_| true);
        content.merge(&self.raw.content(self.asked.seed, self.units(), self.released, |_| true));
        content
    }

    /// Everything that is read after TRIM was sent; why not, if it was not.
    fn read(&mut self, seen: &mut ReadBackSeen, file: &OwnFile<'_>, clock: &Monotonic) -> Option<String> {
        if let Err(errno) = is_free(file, self.ground.mount.device, &self.released[0]) {
            return Some(format!(
                "the file system does not say which blocks are free ({errno}), and what may be somebody else's by now is not read"
            ));
        }
        let first = self.content_released(file);
        seen.released = Some(first);
        if first.pattern_bytes > 0 && seen.sent.refused.is_none() {
            clock.rest(clock.now() + self.asked.wait);
            seen.later = Some(self.content_released(file));
        }
        seen.kept = Some(self.raw.content(self.asked.seed, 0, self.kept, |_| true));
        self.probe(seen, file, clock);
        None
    }

    fn content_released(&mut self, file: &OwnFile<'_>) -> Content {
        let (device, first) = (self.ground.mount.device, self.units());
        let may_read = |range: &Range<u64>| is_free(file.as_fd(), device, range) == Ok(true);
        self.raw.content(self.asked.seed, first, self.released, may_read)
    }

    /// Times single reads, in turn in either half, at random units of them. Those that were taken by somebody meanwhile are left out.
    fn probe(&mut self, seen: &mut ReadBackSeen, file: &OwnFile<'_>, clock: &Monotonic) {
        let device = self.ground.mount.device;
        let mut draw = [0; UNIT];
        for probe in 0..u64::from(self.asked.probes) {
            pattern(!self.asked.seed, probe, &mut draw);
            let word = |at: usize| u64::from_le_bytes(draw[at..at + 8].try_into().expect("eight bytes"));
            let kept = unit_at(self.kept, word(0) % self.units());
            let released = unit_at(self.released, word(8) % self.units());
            if is_free(file, device, &(released..released + UNIT as u64)) != Ok(true) {
                continue;
            }
            // Either half has the first turn as often as the other.
            let mut took = [None; 2];
            for turn in if probe % 2 == 0 { [0, 1] } else { [1, 0] } {
                took[turn] = self.raw.probe([kept, released][turn], clock);
            }
            if let [Some(kept), Some(released)] = took {
                seen.probes_kept_ns.push(kept.0);
                seen.probes_released_ns.push(released.0);
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
