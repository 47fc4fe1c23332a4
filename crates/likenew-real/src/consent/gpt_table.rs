//! What a GUID partition table says (UEFI 2.10, 5.3), on a disk that anyone can have written.
//!
//! The library that reads it trusts a header whose checksum is right: it panics where entries have another
//! size than the usual one, and reads and keeps as many as the header names, up to 512 GiB. So both headers
//! are checked first. The library only gets a copy in memory of them and of the entries, so a disk that
//! answers differently the second time cannot get past a check.

use std::io::{self, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::os::fd::OwnedFd;

use gpt::GptConfig;
use gpt::disk::LogicalBlockSize;
use rustix::io::pread;

use crate::wording::consent as wording;

/// Discards begin and end on multiples of this, and are no shorter.
pub(super) const GRAIN: u64 = 1 << 20;

/// Of an entry, in bytes. The standard allows multiples; no tool writes others.
const ENTRY: u32 = 128;
/// Entries at most: eight times as many as tools create.
const ENTRIES_MAX: u32 = 1024;
/// What is used of a header, from its beginning.
const HEADER: usize = 92;

/// What a table says.
pub(super) struct Table {
    pub(super) partitions: Vec<Range<u64>>,
    /// Where the table itself stands.
    pub(super) tables: [Range<u64>; 2],
    /// Up to where partitions may reach.
    pub(super) end: u64,
}

/// What a header says, in blocks.
struct RawHeader {
    my_lba: u64,
    alternate_lba: u64,
    usable: Range<u64>,
    entries_at: u64,
    entries: u32,
    entry_bytes: u32,
}

impl RawHeader {
    fn parse(bytes: &[u8]) -> Option<Self> {
        if bytes.len() < HEADER || !bytes.starts_with(b"EFI PART") {
            return None;
        }
        let long = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes"));
        let short = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes"));
        let usable = long(40)..long(48).checked_add(1)?;
        let (own, other, entries_at) = (long(24), long(32), long(72));
        Some(Self {
            my_lba: own,
            alternate_lba: other,
            usable,
            entries_at,
            entries: short(80),
            entry_bytes: short(84),
        })
    }

    /// Where its entries are, in bytes. `at` is where it was found itself, `alternate_lba` where its copy has to be.
    fn entries(&self, at: u64, alternate_lba: u64, block: u64) -> Result<Range<u64>, String> {
        if self.entry_bytes != ENTRY {
            return Err(wording::entry_size(self.entry_bytes, ENTRY));
        }
        if self.entries > ENTRIES_MAX {
            return Err(wording::too_many_entries(self.entries, ENTRIES_MAX));
        }
        let last = at.max(alternate_lba);
        if self.my_lba != at || self.alternate_lba != alternate_lba {
            return Err(wording::COPIES_DISAGREE.to_owned());
        }
        let length = u64::from(self.entries) * u64::from(ENTRY);
        let inside = |lba: u64| (2..last).contains(&lba);
        let blocks = length.div_ceil(block);
        if !inside(self.entries_at) || self.entries_at + blocks > last {
            return Err(wording::ENTRIES_OFF_DISK.to_owned());
        }
        if self.usable.is_empty() || !inside(self.usable.start) || self.usable.end > last {
            return Err(wording::RANGE_OFF_DISK.to_owned());
        }
        let start = self.entries_at * block;
        Ok(start..start + length)
    }
}

/// Reads the table of a disk of so many bytes.
///
/// # Errors
/// Why nothing is said of it.
pub(super) fn read_table(fd: &OwnedFd, block: u64, bytes: u64) -> Result<Table, String> {
    let size = match block {
        512 => LogicalBlockSize::Lb512,
        4096 => LogicalBlockSize::Lb4096,
        other => return Err(wording::unusual_blocks(other)),
    };
    let last = (bytes / block).checked_sub(1).filter(|last| *last > 2).ok_or(wording::DISK_TOO_SMALL)?;
    let piece = |range: Range<u64>| match read(fd, &range) {
        Ok(bytes) => Ok((range.start, bytes)),
        Err(errno) => Err(errno.to_string()),
    };
    let mut pieces = Vec::new();
    for (at, other) in [(1, last), (last, 1)] {
        let header = piece(at * block..(at + 1) * block)?;
        let raw = RawHeader::parse(&header.1).ok_or(wording::COPY_DAMAGED)?;
        pieces.extend([header, piece(raw.entries(at, other, block)?)?]);
    }
    // The library finds the second header by the size.
    let copy = Copy { pieces, at: 0, bytes: (last + 1) * block };
    let disk = GptConfig::new().writable(false).logical_block_size(size).open_from_device(copy);
    let disk = disk.map_err(|error| error.to_string())?;
    let (Ok(first), Ok(_)) = (disk.primary_header(), disk.backup_header()) else {
        return Err(wording::COPY_DAMAGED.to_owned());
    };
    let usable = first.first_usable..=first.last_usable;
    let used = disk.partitions().iter().filter(|(_, partition)| partition.is_used());
    let partitions = used.map(|(number, partition)| {
        let range = partition.first_lba..=partition.last_lba;
        let is_inside = usable.contains(range.start()) && usable.contains(range.end());
        if range.is_empty() || !is_inside {
            return Err(wording::partition_off_range(*number));
        }
        Ok(range.start() * block..(range.end() + 1) * block)
    });
    let partitions = partitions.collect::<Result<Vec<Range<u64>>, String>>()?;
    let (start, end) = (usable.start() * block, (usable.end() + 1) * block);
    Ok(Table { partitions, tables: [0..start.min(GRAIN), end..(last + 1) * block], end })
}

/// Bytes of a disk; fewer where it ends before, and no more than a table needs.
pub(super) fn read(fd: &OwnedFd, range: &Range<u64>) -> rustix::io::Result<Vec<u8>> {
    let length = range.end.saturating_sub(range.start).min(4 * GRAIN);
    let mut bytes = vec![0; usize::try_from(length).unwrap_or_default()];
    let mut filled = 0;
    while filled < bytes.len() {
        match pread(fd, &mut bytes[filled..], range.start + filled as u64)? {
            0 => break,
            moved => filled += moved,
        }
    }
    Ok(bytes)
}

/// What was read of a disk: the rest of it cannot be read, and nothing be written.
#[derive(Debug)]
struct Copy {
    /// Where each begins, and its bytes.
    pieces: Vec<(u64, Vec<u8>)>,
    at: u64,
    bytes: u64,
}

impl Read for Copy {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let found = self.pieces.iter().find_map(|(start, bytes)| {
            let skipped = usize::try_from(self.at.checked_sub(*start)?).ok()?;
            bytes.get(skipped..).filter(|rest| !rest.is_empty())
        });
        let moved = found.map_or(0, |rest| rest.len().min(into.len()));
        into[..moved].copy_from_slice(&found.unwrap_or_default()[..moved]);
        self.at += moved as u64;
        Ok(moved)
    }
}

impl Seek for Copy {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let to = match to {
            SeekFrom::Start(to) => Some(to),
            SeekFrom::End(by) => self.bytes.checked_add_signed(by),
            SeekFrom::Current(by) => self.at.checked_add_signed(by),
        };
        self.at = to.ok_or(io::ErrorKind::InvalidInput)?;
        Ok(self.at)
    }
}

impl Write for Copy {
    fn write(&mut self, _bytes: &[u8]) -> io::Result<usize> {
        Err(io::ErrorKind::PermissionDenied.into())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Makes both sums of both headers of an image right, whatever else is wrong with it, for fuzzers.
pub(crate) fn mend_sums(disk: &mut [u8], block: usize) {
    let sum = |bytes: &[u8]| {
        let mut sum = flate2::Crc::new();
        sum.update(bytes);
        sum.sum().to_le_bytes()
    };
    for at in [block, disk.len() - block] {
        let Some(raw) = RawHeader::parse(&disk[at..]) else { continue };
        let start = usize::try_from(raw.entries_at).unwrap_or(usize::MAX).saturating_mul(block);
        let length = u64::from(raw.entries) * u64::from(raw.entry_bytes);
        let end = start.saturating_add(usize::try_from(length).unwrap_or(usize::MAX));
        if let Some(entries) = disk.get(start..end) {
            let entries = sum(entries);
            disk[at + 88..at + 92].copy_from_slice(&entries);
        }
        disk[at + 16..at + 20].fill(0);
        let header = sum(&disk[at..at + HEADER]);
        disk[at + 16..at + 20].copy_from_slice(&header);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BLOCK: usize = 512;
    const BYTES: usize = 1 << 20;

    /// A disk of 1 MiB with a partition, from the seeds of the fuzzer.
    fn image() -> Vec<u8> {
        let corpus = concat!(env!("CARGO_MANIFEST_DIR"), "/../likenew-fuzz/corpus/real/");
        let part = |name: &str| std::fs::read(format!("{corpus}{name}")).unwrap();
        let disk = crate::fuzzing::image(&part("disk-gpt-head"), &part("disk-gpt-tail"), BYTES);
        assert!(table(&disk).is_ok(), "{:?}", table(&disk));
        disk
    }

    fn table(disk: &[u8]) -> Result<Vec<Range<u64>>, String> {
        let file = crate::fuzzing::memory_file(disk).unwrap();
        let table = read_table(&file, BLOCK as u64, disk.len() as u64)?;
        assert!(table.end <= disk.len() as u64);
        Ok(table.partitions)
    }

    /// The table with other bytes at a place of the first header, or of both, and sums that are right.
    fn with(offset: usize, value: &[u8], headers: &[usize]) -> Result<Vec<Range<u64>>, String> {
        let mut disk = image();
        for header in headers {
            disk[header + offset..][..value.len()].copy_from_slice(value);
        }
        mend_sums(&mut disk, BLOCK);
        table(&disk)
    }

    const BOTH: [usize; 2] = [BLOCK, BYTES - BLOCK];

    #[test]
    fn entries_of_another_size_or_number_are_refused_before_the_library_reads_them() {
        for size in [0u32, 127, 256, 4096, u32::MAX] {
            let reason = with(84, &size.to_le_bytes(), &BOTH).unwrap_err();
            assert_eq!(reason, format!("its entries have {size} bytes instead of 128"));
        }
        for number in [1025, u32::MAX] {
            let reason = with(80, &number.to_le_bytes(), &BOTH).unwrap_err();
            assert_eq!(reason, format!("it has room for {number} entries; at most 1024 are supported"));
        }
        // The second one alone is enough.
        assert!(with(84, &256u32.to_le_bytes(), &BOTH[1..]).is_err());
    }

    #[test]
    fn numbers_that_lead_out_of_the_disk_are_refused() {
        let ends = [0, 1, 2048, 1 << 55, u64::MAX / 512, u64::MAX - 1, u64::MAX];
        for offset in [24, 32, 40, 48, 72] {
            for value in ends.iter().filter(|value| !(offset == 24 && **value == 1)) {
                assert!(with(offset, &value.to_le_bytes(), &BOTH).is_err(), "{value} at {offset}");
                assert!(with(offset, &value.to_le_bytes(), &BOTH[..1]).is_err(), "{value} at {offset}");
            }
        }
    }

    #[test]
    fn partitions_that_reach_beyond_what_is_usable_are_refused() {
        // Behind the header, from which offsets count.
        let entry = BLOCK;
        let ends = [0, 33, 2015, 2047, 1 << 55, u64::MAX];
        for (offset, value) in ends.iter().flat_map(|value| [(32, value), (40, value)]) {
            let reason = with(entry + offset, &value.to_le_bytes(), &BOTH[..1]).unwrap_err();
            assert_eq!(reason, "partition 1 is outside of the usable range", "{value} at {offset}");
        }
    }

    #[test]
    fn sums_are_still_asked() {
        for at in [BLOCK + 56, 2 * BLOCK, BYTES - BLOCK + 56] {
            let mut disk = image();
            disk[at] ^= 1;
            assert!(table(&disk).is_err(), "{at}");
        }
    }
}
