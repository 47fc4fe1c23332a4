//! The extents of a file on its device (FIEMAP, Documentation/filesystems/fiemap.rst of the Linux sources).

use std::ops::Range;
use std::os::fd::AsFd;

use likenew_core::probe::ExtentMap;
use rustix::io::Errno;
use rustix::ioctl::{Opcode, Updater, ioctl};

use crate::block::DeviceNumber;
use crate::wording::trim as wording;

/// One piece of a file, in bytes: `struct fiemap_extent` of linux/fiemap.h.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Extent {
    /// Where it starts in the file.
    pub(crate) logical: u64,
    /// Where it starts on the device of the file system.
    pub(crate) physical: u64,
    pub(crate) length: u64,
    reserved64: [u64; 2],
    flags: u32,
    reserved: [u32; 3],
}

impl Extent {
    /// The extent's range on the device, if it has its own blocks there.
    pub(crate) fn place(&self) -> Option<Range<u64>> {
        let has_none = UNUSABLE.iter().any(|(flag, _)| self.flags & flag != 0);
        (!has_none).then(|| self.physical..self.physical + self.length)
    }

    /// Why the extent's bytes cannot be written again where they are, if they cannot.
    pub(crate) fn unfit(&self) -> Option<&'static str> {
        let unwritten = (UNWRITTEN, wording::UNWRITTEN);
        let reasons = UNUSABLE.iter().copied().chain([unwritten]);
        reasons.into_iter().find(|(flag, _)| self.flags & flag != 0).map(|(_, reason)| reason)
    }
}

/// `FS_IOC_FIEMAP` of linux/fs.h.
const FS_IOC_FIEMAP: Opcode = 0xC020_660B;
/// `FIEMAP_FLAG_SYNC` of linux/fiemap.h: data still in memory is given its place first.
const FLAG_SYNC: u32 = 1;
const EXTENT_LAST: u32 = 0x1;
/// Flags of linux/fiemap.h for extents whose bytes are not at that address as the file has them, or not for
/// this file alone.
const UNUSABLE: [(u32, &str); 8] = [
    (0x2, wording::UNKNOWN),
    (0x4, wording::DELAYED_ALLOCATION),
    (0x8, wording::ENCODED),
    (0x80, wording::ENCRYPTED),
    (0x100, wording::NOT_ALIGNED),
    (0x200, wording::INLINE),
    (0x400, wording::TAIL),
    (0x2000, wording::SHARED),
];
/// The flag of an extent that was reserved and never written.
const UNWRITTEN: u32 = 0x800;

const EXTENTS_AT_ONCE: usize = 64;

/// `struct fiemap` of linux/fiemap.h with space for extents.
#[repr(C)]
struct Fiemap {
    start: u64,
    length: u64,
    flags: u32,
    mapped: u32,
    room: u32,
    reserved: u32,
    extents: [Extent; EXTENTS_AT_ONCE],
}

impl Fiemap {
    /// A request for a range of a file, with space for extents.
    fn of_range(range: Range<u64>, flags: u32) -> Self {
        Self {
            start: range.start,
            length: range.end - range.start,
            flags,
            mapped: 0,
            room: EXTENTS_AT_ONCE as u32,
            reserved: 0,
            extents: [Extent::default(); EXTENTS_AT_ONCE],
        }
    }
}

/// What happens to a file's data that is still in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flush {
    /// It is written out, so that all of it has a place.
    First,
    /// It stays in memory, so that nothing is written for the answer.
    Never,
}

/// The extents of the first `bytes` of a file, by offset.
///
/// # Errors
/// The system's error: `EOPNOTSUPP` if the file system does not tell.
pub(crate) fn extents(file: impl AsFd, bytes: u64, flush: Flush) -> Result<Vec<Extent>, Errno> {
    let mut extents = Vec::new();
    let mut start = 0;
    while start < bytes {
        let flags = if flush == Flush::First { FLAG_SYNC } else { 0 };
        let mut map = Fiemap::of_range(start..bytes, flags);
        // SAFETY: the kernel reads the header and writes it and at most `room` extents behind it, all of
        // which are in `map`.
        unsafe { ioctl(&file, Updater::<FS_IOC_FIEMAP, Fiemap>::new(&mut map)) }?;
        let (part, is_last) = parse(&map);
        let Some(last) = part.last() else { break };
        start = last.logical + last.length;
        extents.extend(part);
        if is_last {
            break;
        }
    }
    Ok(extents)
}

/// The pieces of the first `bytes` of a file that lie on the device as the file has them. The target's
/// addresses of this file begin at `offset`. Nothing is written for the answer.
///
/// # Errors
/// A sentence without a full stop: the file system does not report it, or the file has too many extents.
pub(crate) fn device_extents(
    file: impl AsFd,
    offset: u64,
    bytes: u64,
) -> Result<Vec<likenew_core::probe::Extent>, String> {
    let extents = extents(file, bytes, Flush::Never).map_err(wording::place_unknown)?;
    if extents.len() > ExtentMap::EXTENTS_MAX {
        return Err(wording::too_many_extents(extents.len()));
    }
    let in_place = extents.iter().filter(|extent| extent.unfit().is_none());
    let piece = |extent: &Extent| likenew_core::probe::Extent {
        offset: offset + extent.logical,
        device_offset: extent.physical,
        bytes: extent.length.min(bytes.saturating_sub(extent.logical)),
    };
    Ok(in_place.map(piece).collect())
}

/// Whether a file and a device can have this extent: a file system in user space may answer anything.
fn is_possible(extent: &Extent) -> bool {
    let ends = |start: u64| start.checked_add(extent.length).is_some_and(|end| end <= i64::MAX as u64);
    extent.length > 0 && ends(extent.logical) && ends(extent.physical)
}

/// The extents of one answer, and whether it reaches the end of the file.
fn parse(map: &Fiemap) -> (Vec<Extent>, bool) {
    let count = (map.mapped as usize).min(EXTENTS_AT_ONCE);
    let extents = &map.extents[..count];
    let is_last = extents.iter().any(|extent| extent.flags & EXTENT_LAST != 0);
    (extents.iter().copied().filter(is_possible).collect(), is_last)
}

/// Reads an answer of FIEMAP with these extents (logical, physical, length, flags), for fuzzers. Returns
/// whether it has any.
pub(crate) fn fuzzed_extents(bytes: &[u8]) -> bool {
    let mut map = Fiemap { mapped: (bytes.len() / 28) as u32, ..Fiemap::of_range(0..0, 0) };
    for (raw, bytes) in map.extents.iter_mut().zip(bytes.chunks_exact(28)) {
        let number = |at: usize| crate::standards::little(bytes, at, 8).unwrap_or_default();
        (raw.logical, raw.physical, raw.length) = (number(0), number(8), number(16));
        raw.flags = crate::standards::little(bytes, 24, 4).unwrap_or_default() as u32;
    }
    let (extents, _) = parse(&map);
    places(&extents, &(0..256 << 10)).is_ok()
}

/// The ranges on the device of the bytes `range` of a file, in the order of the file.
///
/// # Errors
/// A sentence without a full stop: the bytes do not lie on the device as the file has them, or not all do.
pub(crate) fn places(extents: &[Extent], range: &Range<u64>) -> Result<Vec<Range<u64>>, String> {
    let (mut places, mut at) = (Vec::<Range<u64>>::new(), range.start);
    for extent in extents {
        let (start, end) = (extent.logical.max(range.start), (extent.logical + extent.length).min(range.end));
        if start >= end {
            continue;
        }
        if let Some((_, word)) = UNUSABLE.iter().find(|(flag, _)| extent.flags & flag != 0) {
            return Err(wording::extent_unusable(word));
        }
        if extent.flags & UNWRITTEN != 0 {
            return Err(wording::EXTENT_UNWRITTEN.to_owned());
        }
        if start != at {
            break;
        }
        let physical = extent.physical + (start - extent.logical);
        match places.last_mut() {
            Some(last) if last.end == physical => last.end += end - start,
            _ => places.push(physical..physical + (end - start)),
        }
        at = end;
    }
    if at == range.end { Ok(places) } else { Err(wording::HAS_HOLES.to_owned()) }
}

// Whether blocks are free, as their file system has them now (GETFSMAP, ioctl_getfsmap(2)).

/// `FS_IOC_GETFSMAP` of linux/fsmap.h.
const FS_IOC_GETFSMAP: Opcode = 0xC0C0_583B;
/// `FMR_OF_SPECIAL_OWNER` and `FMR_OWN_FREE` of linux/fsmap.h.
const SPECIAL_OWNER: u32 = 0x10;
const OWNER_FREE: u64 = 1;
const RECORDS_AT_ONCE: usize = 64;

/// `struct fsmap` of linux/fsmap.h.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Record {
    device: u32,
    flags: u32,
    physical: u64,
    owner: u64,
    offset: u64,
    length: u64,
    reserved: [u64; 3],
}

/// `struct fsmap_head` of linux/fsmap.h with space for records.
#[repr(C)]
struct Map {
    flags_in: u32,
    flags_out: u32,
    room: u32,
    entries: u32,
    reserved: [u64; 6],
    low: Record,
    high: Record,
    records: [Record; RECORDS_AT_ONCE],
}

/// Whether a whole range of the file system on `device` is free. A range of more pieces than fit one answer
/// counts as taken.
///
/// # Errors
/// The system's error: `ENOTTY` or `EOPNOTSUPP` if the file system does not tell.
pub(crate) fn is_free(file: impl AsFd, device: DeviceNumber, range: &Range<u64>) -> Result<bool, Errno> {
    let number = encode_device(device);
    let mut map = Map {
        flags_in: 0,
        flags_out: 0,
        room: RECORDS_AT_ONCE as u32,
        entries: 0,
        reserved: [0; 6],
        low: Record { device: number, physical: range.start, ..Record::default() },
        high: Record {
            device: number,
            flags: u32::MAX,
            physical: range.end - 1,
            owner: u64::MAX,
            offset: u64::MAX,
            ..Record::default()
        },
        records: [Record::default(); RECORDS_AT_ONCE],
    };
    // SAFETY: the kernel reads the header and writes it and at most `room` records behind it, all of which
    // are in `map`.
    unsafe { ioctl(file, Updater::<FS_IOC_GETFSMAP, Map>::new(&mut map)) }?;
    let count = (map.entries as usize).min(RECORDS_AT_ONCE);
    Ok(covers(&map.records[..count], range))
}

/// Whether records of free space cover the range, and no other record touches it.
fn covers(records: &[Record], range: &Range<u64>) -> bool {
    let mut at = range.start;
    for record in records {
        let end = record.physical.saturating_add(record.length);
        if end <= range.start || record.physical >= range.end {
            continue;
        }
        let free = record.flags & SPECIAL_OWNER != 0 && record.owner == OWNER_FREE;
        if !free || record.physical > at {
            return false;
        }
        at = at.max(end);
    }
    at >= range.end
}

/// Reads an answer with these records, 40 bytes each, for fuzzers. Returns whether a range is free.
pub(crate) fn fuzzed_free_space(bytes: &[u8]) -> bool {
    let number = |at: usize, bytes: &[u8]| crate::standards::little(bytes, at, 8).unwrap_or_default();
    let record = |bytes: &[u8]| Record {
        flags: number(0, bytes) as u32,
        physical: number(8, bytes),
        owner: number(16, bytes),
        offset: number(24, bytes),
        length: number(32, bytes),
        ..Record::default()
    };
    let records: Vec<Record> = bytes.chunks_exact(40).take(RECORDS_AT_ONCE).map(record).collect();
    let (low, high) = (covers(&records, &(4096..1 << 20)), covers(&records, &(u64::MAX - 4096..u64::MAX)));
    low || high
}

/// `new_encode_dev` of linux/kdev_t.h.
fn encode_device(device: DeviceNumber) -> u32 {
    let DeviceNumber { major, minor } = device;
    (minor & 0xFF) | major << 8 | (minor & !0xFF) << 12
}

#[cfg(test)]
mod tests {
    use super::*;

    fn extent(logical: u64, physical: u64, length: u64, flags: u32) -> Extent {
        Extent { logical, physical, length, flags, ..Extent::default() }
    }

    #[test]
    fn the_kernels_structures_have_their_sizes() {
        assert_eq!(size_of::<Extent>(), 56);
        assert_eq!(size_of::<Fiemap>(), 32 + 56 * EXTENTS_AT_ONCE);
    }

    #[test]
    fn an_answer_is_read_as_far_as_it_goes() {
        let mut map = Fiemap { mapped: 2, ..Fiemap::of_range(0..0, 0) };
        map.extents[0] = extent(0, 8192, 4096, 0);
        map.extents[1] = extent(4096, 40960, 4096, 0x1001);
        map.extents[2] = extent(0, 0, 1, 0);
        let (extents, is_last) = parse(&map);
        assert_eq!(extents, [extent(0, 8192, 4096, 0), extent(4096, 40960, 4096, 0x1001)]);
        assert!(is_last);
        map.mapped = u32::MAX;
        assert_eq!(parse(&map).0.len(), 3, "a wrong count reads nothing beyond");
        map.mapped = 1;
        assert!(!parse(&map).1);
    }

    #[test]
    fn places_follow_the_file_across_its_extents() {
        let map = [extent(0, 1000, 100, 0), extent(100, 1100, 50, 0), extent(150, 5000, 100, 1)];
        assert_eq!(places(&map, &(0..250)), Ok(vec![1000..1150, 5000..5100]));
        assert_eq!(places(&map, &(120..200)), Ok(vec![1120..1150, 5000..5050]));
        assert!(places(&map, &(0..251)).unwrap_err().contains("holes"));
        assert!(places(&map[1..], &(0..150)).unwrap_err().contains("holes"));
        assert!(places(&[map[0], map[2]], &(0..250)).unwrap_err().contains("holes"));
    }

    #[test]
    fn what_does_not_stand_there_as_it_is_cannot_be_read_there() {
        for (flags, word) in [
            (0x2, "UNKNOWN"),
            (0x4, "DELALLOC"),
            (0x8, "ENCODED"),
            (0x88, "ENCODED"),
            (0x100, "NOT_ALIGNED"),
            (0x200, "DATA_INLINE"),
            (0x400, "DATA_TAIL"),
            (0x800, "UNWRITTEN"),
            (0x2001, "SHARED"),
        ] {
            let reason = places(&[extent(0, 0, 100, flags)], &(0..100)).unwrap_err();
            assert!(reason.contains(word), "{flags:#x}: {reason}");
        }
        assert_eq!(extent(0, 0, 100, 0x4).place(), None);
        assert_eq!(
            extent(0, 500, 100, 0x801).place(),
            Some(500..600),
            "what was never written has blocks all the same"
        );
        assert!(places(&[extent(0, 0, 100, 0x2), extent(100, 500, 100, 0)], &(100..200)).is_ok());
    }

    #[test]
    fn a_file_of_this_machine_has_extents_or_says_why_not() {
        use std::io::Write as _;
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(&[1; 1 << 20]).unwrap();
        file.as_file().sync_all().unwrap();
        match extents(file.as_file(), 1 << 20, Flush::First) {
            Ok(extents) => {
                assert!(extents.iter().map(|extent| extent.length).sum::<u64>() >= 1 << 20, "{extents:?}");
                assert_eq!(extents[0].logical, 0);
            }
            Err(errno) => assert!(matches!(errno, Errno::OPNOTSUPP | Errno::NOTTY), "{errno}"),
        }
    }

    fn record(physical: u64, length: u64, owner: u64) -> Record {
        Record { physical, length, owner, flags: SPECIAL_OWNER, ..Record::default() }
    }

    #[test]
    fn records_of_free_space_have_the_kernels_sizes() {
        assert_eq!(size_of::<Record>(), 64);
        assert_eq!(size_of::<Map>(), 192 + 64 * RECORDS_AT_ONCE);
        assert_eq!(encode_device(DeviceNumber { major: 7, minor: 0x345 }), 0x0030_0745);
    }

    #[test]
    fn free_is_what_free_records_cover_without_a_gap() {
        let range = 100..300;
        assert!(covers(&[record(0, 1000, OWNER_FREE)], &range));
        assert!(covers(&[record(50, 100, OWNER_FREE), record(150, 150, OWNER_FREE)], &range));
        assert!(!covers(&[], &range), "what is not told of is not free");
        assert!(!covers(&[record(100, 199, OWNER_FREE)], &range));
        assert!(!covers(&[record(101, 300, OWNER_FREE)], &range));
        assert!(!covers(&[record(0, 150, OWNER_FREE), record(160, 140, OWNER_FREE)], &range));
        assert!(!covers(
            &[record(0, 150, OWNER_FREE), record(150, 10, 2), record(160, 140, OWNER_FREE)],
            &range
        ));
        let inode = Record { flags: 0, ..record(0, 1000, OWNER_FREE) };
        assert!(!covers(&[inode], &range), "1 is the number of an inode, too");
        assert!(covers(&[record(0, 100, 2), record(100, 200, OWNER_FREE), record(300, 9, 3)], &range));
    }
}
