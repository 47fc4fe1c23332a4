//! Finds out what is on a drive: signatures of file systems, partition tables, volume managers and
//! encryption, and the partitions of a GUID partition table.

use std::io::{self, Read, Seek, SeekFrom, Write};
use std::ops::{Range, RangeInclusive};
use std::os::fd::{AsFd, OwnedFd};

use gpt::GptConfig;
use gpt::disk::LogicalBlockSize;

use crate::medium::read_fully;
use crate::wording::consent as wording;

/// The entries of the DOS partition table in a sector: the kind of each (0 if unused), its first block, and its count of
/// blocks. The table has four entries of 16 bytes at 446: kind at 4, first block at 8, count at 12, in little endian.
pub(super) fn dos_entries(sector: &[u8]) -> impl Iterator<Item = (u8, u64, u64)> {
    let number = |bytes: &[u8]| u64::from(u32::from_le_bytes(bytes.try_into().expect("four bytes")));
    let entries = sector.get(446..510).unwrap_or_default().chunks_exact(16);
    entries.map(move |entry| (entry[4], number(&entry[8..12]), number(&entry[12..16])))
}

/// Kinds of partitions that hold a chain of tables (CHS, LBA, and Linux's own; util-linux, include/pt-mbr-partnames.h).
pub(super) const EXTENDED: [u8; 3] = [0x05, 0x0F, 0x85];

// Reads GUID partition tables (UEFI 2.10, 5.3), on disks that anyone can have written.
//
// The library trusts a header whose checksum is right. It panics at entries of an unusual size, and reads and
// keeps as many as the header names, up to 512 GiB. So both headers are checked first. The library gets
// copies of headers and entries in memory, so a disk that answers differently the second time cannot get past
// a check.

/// Discards begin and end on multiples of this many bytes, and are no shorter.
pub(super) const GRAIN: u64 = 1 << 20;

/// Size of an entry in bytes. The standard allows multiples; no tool writes them.
const ENTRY: u32 = 128;
/// Most entries of a table: eight times as many as tools create.
pub(super) const ENTRIES_MAX: u32 = 1024;
/// Bytes of a header that are used, from its beginning.
const HEADER: usize = 92;

/// A partition table that was read, in bytes.
pub(super) struct Table {
    pub(super) partitions: Vec<Range<u64>>,
    /// The ranges of the table itself and of its copy.
    pub(super) tables: [Range<u64>; 2],
    /// The end of the space for partitions.
    pub(super) end: u64,
}

/// The fields of a header; addresses are in blocks.
pub(super) struct RawHeader {
    my_lba: u64,
    alternate_lba: u64,
    usable: RangeInclusive<u64>,
    pub(super) entries_at: u64,
    pub(super) entries: u32,
    pub(super) entry_bytes: u32,
}

impl RawHeader {
    pub(super) fn parse(bytes: &[u8]) -> Option<Self> {
        if bytes.len() < HEADER || !bytes.starts_with(b"EFI PART") {
            return None;
        }
        let long = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes"));
        let short = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes"));
        let usable = long(40)..=long(48);
        let (my_lba, alternate_lba, entries_at) = (long(24), long(32), long(72));
        let (entries, entry_bytes) = (short(80), short(84));
        Some(Self { my_lba, alternate_lba, usable, entries_at, entries, entry_bytes })
    }

    /// The range of the entries in bytes. `at` is where this header was found, `alternate_lba` where its copy has to be.
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
        if self.usable.is_empty() || !inside(*self.usable.start()) || *self.usable.end() >= last {
            return Err(wording::RANGE_OFF_DISK.to_owned());
        }
        let start = self.entries_at * block;
        Ok(start..start + length)
    }
}

/// Reads the GUID partition table of a disk of `bytes` bytes.
///
/// # Errors
/// Why the table cannot be used.
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
    let copy = DiskCopy { pieces, at: 0, bytes: (last + 1) * block };
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

/// Reads a range of a disk: zeros beyond the disk's end, and no more bytes than a table needs.
pub(super) fn read(fd: &OwnedFd, range: &Range<u64>) -> rustix::io::Result<Vec<u8>> {
    let length = range.end.saturating_sub(range.start).min(4 * GRAIN);
    let mut bytes = vec![0; usize::try_from(length).unwrap_or_default()];
    read_fully(fd, &mut bytes, range.start)?;
    Ok(bytes)
}

/// The parts of a disk that were read. Nothing else can be read, and nothing can be written.
#[derive(Debug)]
struct DiskCopy {
    /// The start of each piece, and its bytes.
    pieces: Vec<(u64, Vec<u8>)>,
    at: u64,
    bytes: u64,
}

impl Read for DiskCopy {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let unread = self.pieces.iter().find_map(|(start, bytes)| {
            let skipped = usize::try_from(self.at.checked_sub(*start)?).ok()?;
            bytes.get(skipped..).filter(|rest| !rest.is_empty())
        });
        let moved = unread.map_or(0, |rest| rest.len().min(into.len()));
        into[..moved].copy_from_slice(&unread.unwrap_or_default()[..moved]);
        self.at += moved as u64;
        Ok(moved)
    }
}

impl Seek for DiskCopy {
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

impl Write for DiskCopy {
    fn write(&mut self, _bytes: &[u8]) -> io::Result<usize> {
        Err(io::ErrorKind::PermissionDenied.into())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Corrects both checksums of both headers of an image, whatever else is wrong with it, for fuzzers.
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

// Signatures on a drive: those of file systems, partition tables, volume managers and encryption.

/// Signatures: the name that `lsblk -f` shows, the offset in bytes, and the bytes. Sources: the formats' own
/// documents and Linux (linux/magic.h, the super blocks of each file system, UEFI 2.10 §5.3.2, the LUKS
/// on-disk formats, md_p.h).
const MARKS: &[(&str, u64, &[u8])] = &[
    ("ext", 0x438, &[0x53, 0xEF]),
    ("xfs", 0, b"XFSB"),
    ("btrfs", 0x1_0040, b"_BHRfS_M"),
    ("f2fs", 0x400, &[0x10, 0x20, 0xF5, 0xF2]),
    ("bcachefs", 0x1018, &[0xC6, 0x85, 0x73, 0xF6, 0x66, 0xCE, 0x90, 0xA9]),
    ("vfat", 0x36, b"FAT"),
    ("vfat", 0x52, b"FAT32"),
    ("exfat", 3, b"EXFAT   "),
    ("ntfs", 3, b"NTFS    "),
    ("BitLocker", 3, b"-FVE-FS-"),
    ("apfs", 0x20, b"NXSB"),
    ("hfsplus", 0x400, b"H+"),
    ("hfsplus", 0x400, b"HX"),
    ("iso9660", 0x8001, b"CD001"),
    ("udf", 0x8801, b"NSR0"),
    ("squashfs", 0, b"hsqs"),
    ("reiserfs", 0x1_0034, b"ReIsEr"),
    ("jfs", 0x8000, b"JFS1"),
    ("nilfs2", 0x406, &[0x34, 0x34]),
    ("erofs", 0x400, &[0xE2, 0xE1, 0xF5, 0xE0]),
    ("crypto_LUKS", 0, b"LUKS\xba\xbe"),
    ("swap", 0xFF6, b"SWAPSPACE2"),
    ("swap", 0xFF6, b"SWAP-SPACE"),
    ("swsuspend", 0xFF6, b"S1SUSPEND"),
    ("LVM2_member", 0x018, b"LVM2 001"),
    ("LVM2_member", 0x218, b"LVM2 001"),
    ("LVM2_member", 0x418, b"LVM2 001"),
    ("LVM2_member", 0x618, b"LVM2 001"),
    ("linux_raid_member", 0, &[0xFC, 0x4E, 0x2B, 0xA9]),
    ("linux_raid_member", 0x1000, &[0xFC, 0x4E, 0x2B, 0xA9]),
    ("bcache", 0x1018, &[0xC6, 0x85, 0x73, 0xF6, 0x4E, 0x1A, 0x45, 0xCA]),
    ("ceph_bluestore", 0, b"bluestore block device"),
    ("dm_integrity", 0, b"integrt\0"),
    ("dm_verity", 0, b"verity\0\0"),
    ("gpt", 512, b"EFI PART"),
    ("gpt", 4096, b"EFI PART"),
    ("dos", 510, &[0x55, 0xAA]),
];

/// Other names of signatures, as mkfs, mount, blkid and parted spell them. No name stands for two kinds, so
/// that no user agrees to lose more than is meant.
const ALIASES: &[(&str, &[&str])] = &[
    ("ext", &["ext2", "ext3", "ext4"]),
    ("vfat", &["fat", "fat12", "fat16", "fat32"]),
    ("hfsplus", &["hfs+"]),
    ("ntfs", &["ntfs3"]),
    ("crypto_LUKS", &["luks", "luks1", "luks2"]),
    ("LVM2_member", &["lvm", "lvm2"]),
    ("linux_raid_member", &["mdraid"]),
    ("isw_raid_member", &["imsm"]),
    ("ddf_raid_member", &["ddf"]),
    ("zfs_member", &["zfs"]),
    ("swap", &["linux-swap"]),
    ("dos", &["mbr"]),
    ("ceph_bluestore", &["bluestore"]),
];

/// Whether `typed` is a name that users have for this signature.
pub(crate) fn is_called(signature: &str, typed: &str) -> bool {
    let aliases = ALIASES.iter().filter(|(name, _)| *name == signature).flat_map(|(_, aliases)| *aliases);
    std::iter::once(&signature).chain(aliases).any(|name| name.eq_ignore_ascii_case(typed.trim()))
}

/// The number at the start of a ZFS uberblock (OpenZFS, uberblock_impl.h), in either byte order.
const UBERBLOCK: u64 = 0x00BA_B10C;
/// Magic number of Linux RAID, whose oldest versions keep their super block near the end (md_p.h).
const RAID: [u8; 4] = [0xFC, 0x4E, 0x2B, 0xA9];

const IMSM: &[u8] = b"Intel Raid ISM Cfg Sig. ";
const DDF: &[u8] = &[0xDE, 0x11, 0xDE, 0x11];

/// Names of the signatures in the `bytes` bytes from `start` of a drive or image, each once, in a fixed
/// order.
///
/// Nothing is found beyond the end of the drive; a failed read is an error.
///
/// # Errors
/// The system's answer to a read.
pub(crate) fn signatures(drive: impl AsFd, start: u64, bytes: u64) -> rustix::io::Result<Vec<&'static str>> {
    const HEAD: usize = 256 << 10;
    const TAIL: usize = 256 << 10;
    let head = read_at(&drive, start, HEAD.min(usize::try_from(bytes).unwrap_or(HEAD)))?;
    let mut marks: Vec<&'static str> = MARKS
        .iter()
        .filter(|(_, offset, bytes)| {
            let at = usize::try_from(*offset).expect("marks lie in the first 256 KiB");
            head.get(at..at + bytes.len()) == Some(*bytes)
        })
        .map(|(name, ..)| *name)
        .collect();
    let tail_at = bytes.saturating_sub(TAIL as u64) & !0xFFFF;
    let tail = read_at(&drive, start + tail_at, usize::try_from(bytes - tail_at).unwrap_or(TAIL))?;
    let ends_with = |before_end: u64, mark: &[u8]| {
        let at = bytes.checked_sub(before_end).and_then(|at| at.checked_sub(tail_at));
        let at = at.and_then(|at| usize::try_from(at).ok());
        at.is_some_and(|at| tail.get(at..at + mark.len()) == Some(mark))
    };
    if ends_with(512, b"EFI PART") || ends_with(4096, b"EFI PART") {
        marks.push("gpt");
    }
    // RAID of mainboards and of controllers: the last sector but one, and the last (Intel's IMSM; SNIA DDF 2.0, §4.1).
    if [1024, 8192].into_iter().any(|before_end| ends_with(before_end, IMSM)) {
        marks.push("isw_raid_member");
    }
    if ends_with(512, DDF) {
        marks.push("ddf_raid_member");
    }
    // Version 0.90 is 64 KiB before the last multiple of 64 KiB, version 1.0 about 8 KiB before the end.
    let oldest = (bytes & !0xFFFF).saturating_sub(0x1_0000);
    let version_1_0 = (bytes / 512).saturating_sub(16) / 8 * 8 * 512;
    if bytes > 0x2_0000 && [oldest, version_1_0].iter().any(|at| ends_with(bytes - at, &RAID)) {
        marks.push("linux_raid_member");
    }
    if [&head, &tail].iter().any(|part| has_uberblock(part)) {
        marks.push("zfs_member");
    }
    let mut names = Vec::with_capacity(marks.len());
    for name in marks {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    // The boot sector of these file systems ends as a DOS partition table does.
    if names.iter().any(|name| ["vfat", "exfat", "ntfs", "BitLocker"].contains(name)) {
        names.retain(|name| *name != "dos");
    }
    Ok(names)
}

/// Whether this contains a ZFS label's ring of uberblocks, one per KiB.
fn has_uberblock(part: &[u8]) -> bool {
    part.chunks_exact(1024).any(|block| {
        let word = u64::from_le_bytes(block[..8].try_into().expect("eight bytes"));
        word == UBERBLOCK || word.swap_bytes() == UBERBLOCK
    })
}

/// Reads bytes of a drive; fewer if the drive ends first.
fn read_at(drive: impl AsFd, offset: u64, length: usize) -> rustix::io::Result<Vec<u8>> {
    let mut bytes = vec![0; length];
    let filled = read_fully(drive, &mut bytes, offset)?;
    bytes.truncate(filled);
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::FileExt as _;
    use std::process::Command;

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

    /// The partitions after these headers got `value` at `offset`, with correct checksums.
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
        // The second header alone is enough for a refusal.
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
        // The first entry lies one block behind the header, from which offsets count.
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

    fn empty_image(bytes: u64) -> std::fs::File {
        let file = tempfile::tempfile().unwrap();
        file.set_len(bytes).unwrap();
        file
    }

    #[test]
    fn what_is_found_answers_to_the_names_that_people_type() {
        for (signature, typed) in [
            ("ext", "ext ext2 ext3 ext4 EXT4"),
            ("vfat", "vfat fat FAT32 fat16"),
            ("crypto_LUKS", "crypto_luks luks LUKS2"),
            ("LVM2_member", "lvm2_member lvm LVM2"),
            ("linux_raid_member", "linux_raid_member mdraid"),
            ("zfs_member", "zfs_member zfs"),
            ("swap", "swap linux-swap"),
            ("dos", "dos mbr"),
            ("xfs", "xfs XFS"),
        ] {
            for typed in typed.split(' ') {
                assert!(is_called(signature, typed), "{typed} for {signature}");
            }
        }
        for (signature, typed) in
            [("ext", "exfat"), ("vfat", "exfat"), ("xfs", "ext4"), ("dos", "vfat"), ("gpt", "")]
        {
            assert!(!is_called(signature, typed), "{typed} for {signature}");
        }
    }

    #[test]
    fn no_name_stands_for_two_kinds() {
        let names: Vec<&str> = MARKS.iter().map(|(name, ..)| *name).collect();
        for (name, aliases) in ALIASES {
            for alias in *aliases {
                let others = names.iter().filter(|other| *other != name && is_called(other, alias));
                assert_eq!(others.count(), 0, "{alias}");
            }
        }
    }

    #[test]
    fn nothing_is_found_where_nothing_is() {
        for bytes in [0, 1, 511, 4096, 70_000, 1 << 20] {
            assert_eq!(signatures(empty_image(bytes), 0, bytes).unwrap(), Vec::<&str>::new(), "{bytes}");
        }
    }

    #[test]
    fn every_mark_is_found_where_it_lies() {
        for (name, offset, bytes) in MARKS {
            let file = empty_image(1 << 20);
            file.write_all_at(bytes, *offset).unwrap();
            assert!(signatures(&file, 0, 1 << 20).unwrap().contains(name), "{name}");
        }
        for (at, bytes, name) in [
            ((1 << 20) - 512, &b"EFI PART"[..], "gpt"),
            ((1 << 20) - 0x1_0000, &RAID, "linux_raid_member"),
            ((1 << 20) - 8192, &RAID, "linux_raid_member"),
            ((1 << 20) - 1024, IMSM, "isw_raid_member"),
            ((1 << 20) - 8192, IMSM, "isw_raid_member"),
            ((1 << 20) - 512, DDF, "ddf_raid_member"),
            ((1 << 20) - (128 << 10), &UBERBLOCK.to_le_bytes(), "zfs_member"),
            (160 << 10, &UBERBLOCK.to_be_bytes(), "zfs_member"),
        ] {
            let file = empty_image(1 << 20);
            file.write_all_at(bytes, at).unwrap();
            assert_eq!(signatures(&file, 0, 1 << 20).unwrap(), [name], "{name} at {at}");
        }
    }

    #[test]
    fn what_the_makers_of_file_systems_write_is_found() {
        let folder = tempfile::tempdir().unwrap();
        for (program, arguments, name) in [
            ("mkfs.ext4", &["-q", "-F"][..], "ext"),
            ("mkfs.xfs", &["-q", "-f"], "xfs"),
            ("mkfs.btrfs", &["-q", "-f"], "btrfs"),
            ("mkfs.vfat", &[], "vfat"),
            ("mkswap", &[], "swap"),
        ] {
            let path = folder.path().join(name);
            let file = std::fs::File::create_new(&path).unwrap();
            file.set_len(400 << 20).unwrap();
            let made = Command::new(program).args(arguments).arg(&path).output();
            if !made.is_ok_and(|made| made.status.success()) {
                eprintln!("SKIPPED: {program} cannot be run here");
                continue;
            }
            let file = std::fs::File::open(&path).unwrap();
            assert_eq!(signatures(&file, 0, 400 << 20).unwrap(), [name]);
        }
    }
}
