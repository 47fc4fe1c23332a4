//! What is on a drive, by the marks that file systems, partition tables, volume managers and encryption leave
//! on it.

use std::os::fd::AsFd;

use rustix::io::{Errno, pread};

/// One kind of mark: bytes at a place.
struct Mark {
    name: &'static str,
    /// From the start, in bytes.
    offset: u64,
    bytes: &'static [u8],
}

const fn mark(name: &'static str, offset: u64, bytes: &'static [u8]) -> Mark {
    Mark { name, offset, bytes }
}

/// Places and bytes as the formats' own documents and the Linux headers give them (linux/magic.h, the super blocks of
/// each file system, UEFI 2.10 §5.3.2, the LUKS on-disk formats, md_p.h); names as `lsblk -f` shows them.
const MARKS: &[Mark] = &[
    mark("ext", 0x438, &[0x53, 0xEF]),
    mark("xfs", 0, b"XFSB"),
    mark("btrfs", 0x1_0040, b"_BHRfS_M"),
    mark("f2fs", 0x400, &[0x10, 0x20, 0xF5, 0xF2]),
    mark("bcachefs", 0x1018, &[0xC6, 0x85, 0x73, 0xF6, 0x66, 0xCE, 0x90, 0xA9]),
    mark("vfat", 0x36, b"FAT"),
    mark("vfat", 0x52, b"FAT32"),
    mark("exfat", 3, b"EXFAT   "),
    mark("ntfs", 3, b"NTFS    "),
    mark("BitLocker", 3, b"-FVE-FS-"),
    mark("apfs", 0x20, b"NXSB"),
    mark("hfsplus", 0x400, b"H+"),
    mark("hfsplus", 0x400, b"HX"),
    mark("iso9660", 0x8001, b"CD001"),
    mark("udf", 0x8801, b"NSR0"),
    mark("squashfs", 0, b"hsqs"),
    mark("reiserfs", 0x1_0034, b"ReIsEr"),
    mark("jfs", 0x8000, b"JFS1"),
    mark("nilfs2", 0x406, &[0x34, 0x34]),
    mark("erofs", 0x400, &[0xE2, 0xE1, 0xF5, 0xE0]),
    mark("crypto_LUKS", 0, b"LUKS\xba\xbe"),
    mark("swap", 0xFF6, b"SWAPSPACE2"),
    mark("swap", 0xFF6, b"SWAP-SPACE"),
    mark("swsuspend", 0xFF6, b"S1SUSPEND"),
    mark("LVM2_member", 0x018, b"LVM2 001"),
    mark("LVM2_member", 0x218, b"LVM2 001"),
    mark("LVM2_member", 0x418, b"LVM2 001"),
    mark("LVM2_member", 0x618, b"LVM2 001"),
    mark("linux_raid_member", 0, &[0xFC, 0x4E, 0x2B, 0xA9]),
    mark("linux_raid_member", 0x1000, &[0xFC, 0x4E, 0x2B, 0xA9]),
    mark("bcache", 0x1018, &[0xC6, 0x85, 0x73, 0xF6, 0x4E, 0x1A, 0x45, 0xCA]),
    mark("ceph_bluestore", 0, b"bluestore block device"),
    mark("dm_integrity", 0, b"integrt\0"),
    mark("dm_verity", 0, b"verity\0\0"),
    mark("gpt", 512, b"EFI PART"),
    mark("gpt", 4096, b"EFI PART"),
    mark("dos", 510, &[0x55, 0xAA]),
];

/// Other names for what is found, as mkfs, mount, blkid and parted spell them. None stands for two kinds, so
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

/// Whether a user who typed this name means what is found under that one.
pub(crate) fn is_called(found: &str, typed: &str) -> bool {
    let aliases = ALIASES.iter().filter(|(name, _)| *name == found).flat_map(|(_, aliases)| *aliases);
    std::iter::once(&found).chain(aliases).any(|name| name.eq_ignore_ascii_case(typed.trim()))
}

/// The number at the start of a ZFS uberblock (OpenZFS, uberblock_impl.h), in either byte order.
const UBERBLOCK: u64 = 0x00BA_B10C;
/// Super block of Linux RAID, kept near the end in its oldest forms (md_p.h).
const RAID: [u8; 4] = [0xFC, 0x4E, 0x2B, 0xA9];

const IMSM: &[u8] = b"Intel Raid ISM Cfg Sig. ";
const DDF: &[u8] = &[0xDE, 0x11, 0xDE, 0x11];

/// Names of everything that is found in the `bytes` from `start` on of a drive or an image, each once, in the
/// order of a fixed list.
///
/// What cannot be read there counts as carrying nothing that could be named; an error of the drive is an error here.
///
/// # Errors
/// The system's answer to a read.
pub(crate) fn signatures(drive: impl AsFd, start: u64, bytes: u64) -> rustix::io::Result<Vec<&'static str>> {
    const HEAD: usize = 256 << 10;
    const TAIL: usize = 256 << 10;
    let head = read(&drive, start, HEAD.min(usize::try_from(bytes).unwrap_or(HEAD)))?;
    let mut found: Vec<&'static str> = MARKS
        .iter()
        .filter(|mark| {
            let at = usize::try_from(mark.offset).expect("marks lie in the first 256 KiB");
            head.get(at..at + mark.bytes.len()) == Some(mark.bytes)
        })
        .map(|mark| mark.name)
        .collect();
    let tail_at = bytes.saturating_sub(TAIL as u64) & !0xFFFF;
    let tail = read(&drive, start + tail_at, usize::try_from(bytes - tail_at).unwrap_or(TAIL))?;
    let ends_with = |before_end: u64, mark: &[u8]| {
        let at = bytes.checked_sub(before_end).and_then(|at| at.checked_sub(tail_at));
        let at = at.and_then(|at| usize::try_from(at).ok());
        at.is_some_and(|at| tail.get(at..at + mark.len()) == Some(mark))
    };
    if ends_with(512, b"EFI PART") || ends_with(4096, b"EFI PART") {
        found.push("gpt");
    }
    // RAID of mainboards and of controllers: the last sector but one, and the last (Intel's IMSM; SNIA DDF 2.0, §4.1).
    if [1024, 8192].into_iter().any(|before_end| ends_with(before_end, IMSM)) {
        found.push("isw_raid_member");
    }
    if ends_with(512, DDF) {
        found.push("ddf_raid_member");
    }
    // Version 0.90 is 64 KiB before the last multiple of 64 KiB, version 1.0 about 8 KiB before the end.
    let oldest = (bytes & !0xFFFF).saturating_sub(0x1_0000);
    let version_1_0 = (bytes / 512).saturating_sub(16) / 8 * 8 * 512;
    if bytes > 0x2_0000 && [oldest, version_1_0].iter().any(|at| ends_with(bytes - at, &RAID)) {
        found.push("linux_raid_member");
    }
    if [&head, &tail].iter().any(|part| has_uberblock(part)) {
        found.push("zfs_member");
    }
    let mut visited = Vec::with_capacity(found.len());
    for name in found {
        if !visited.contains(&name) {
            visited.push(name);
        }
    }
    // A file system for floppies ends its first block as a partition table does.
    if visited.iter().any(|name| ["vfat", "exfat", "ntfs", "BitLocker"].contains(name)) {
        visited.retain(|name| *name != "dos");
    }
    Ok(visited)
}

/// Whether this contains a ZFS label's ring of uberblocks, one per KiB.
fn has_uberblock(part: &[u8]) -> bool {
    part.chunks_exact(1024).any(|block| {
        let word = u64::from_le_bytes(block[..8].try_into().expect("eight bytes"));
        word == UBERBLOCK || word.swap_bytes() == UBERBLOCK
    })
}

fn read(drive: impl AsFd, offset: u64, length: usize) -> rustix::io::Result<Vec<u8>> {
    let mut bytes = vec![0; length];
    let mut filled = 0;
    while filled < length {
        match pread(&drive, &mut bytes[filled..], offset + filled as u64) {
            Ok(0) => break,
            Ok(moved) => filled += moved,
            Err(Errno::INTR) => {}
            Err(errno) => return Err(errno),
        }
    }
    bytes.truncate(filled);
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::FileExt as _;
    use std::process::Command;

    fn image(bytes: u64) -> std::fs::File {
        let file = tempfile::tempfile().unwrap();
        file.set_len(bytes).unwrap();
        file
    }

    #[test]
    fn what_is_found_answers_to_the_names_that_people_type() {
        for (found, typed) in [
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
                assert!(is_called(found, typed), "{typed} for {found}");
            }
        }
        for (found, typed) in
            [("ext", "exfat"), ("vfat", "exfat"), ("xfs", "ext4"), ("dos", "vfat"), ("gpt", "")]
        {
            assert!(!is_called(found, typed), "{typed} for {found}");
        }
    }

    #[test]
    fn no_name_stands_for_two_kinds() {
        let found: Vec<&str> = MARKS.iter().map(|mark| mark.name).collect();
        for (name, aliases) in ALIASES {
            for alias in *aliases {
                let others = found.iter().filter(|other| *other != name && is_called(other, alias));
                assert_eq!(others.count(), 0, "{alias}");
            }
        }
    }

    #[test]
    fn nothing_is_found_where_nothing_is() {
        for bytes in [0, 1, 511, 4096, 70_000, 1 << 20] {
            assert_eq!(signatures(image(bytes), 0, bytes).unwrap(), Vec::<&str>::new(), "{bytes}");
        }
    }

    #[test]
    fn every_mark_is_found_where_it_lies() {
        for mark in MARKS {
            let file = image(1 << 20);
            file.write_all_at(mark.bytes, mark.offset).unwrap();
            assert!(signatures(&file, 0, 1 << 20).unwrap().contains(&mark.name), "{}", mark.name);
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
            let file = image(1 << 20);
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
