//! Whether blocks are free, as their file system has it now (GETFSMAP, ioctl_getfsmap(2)).

use std::ops::Range;
use std::os::fd::AsFd;

use rustix::io::Errno;
use rustix::ioctl::{Opcode, Updater, ioctl};

use crate::device_number::DeviceNumber;

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
/// The system's: `ENOTTY` or `EOPNOTSUPP` where the file system does not tell.
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

/// Whether free records cover the range, and no other touches it.
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

/// What is made of an answer with these records, 40 bytes each, for fuzzers; whether a range is free.
pub(crate) fn fuzzed_free_space(bytes: &[u8]) -> bool {
    let number = |at: usize, bytes: &[u8]| crate::standards::bytes::little(bytes, at, 8).unwrap_or_default();
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

    fn record(physical: u64, length: u64, owner: u64) -> Record {
        Record { physical, length, owner, flags: SPECIAL_OWNER, ..Record::default() }
    }

    #[test]
    fn the_kernels_structures_have_their_sizes() {
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
