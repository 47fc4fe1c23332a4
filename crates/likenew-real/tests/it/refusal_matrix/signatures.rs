//! Signatures of data on a drive, which has to be named before it is destroyed, wherever it is.

use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::path::Path;

use likenew_real::consent::Loss;

use super::disk::{Disk, PARTITION, table};
use super::ledger::{Ledger, right, typed};
use crate::support::disk_folder;

/// Name, offset from the start (negative: from the end), and bytes. Repeated here, and not taken from the
/// code under test: from the magic numbers of file(1) and libblkid's manual.
const MARKS: [(&str, i64, &[u8]); 44] = [
    ("ext", 1080, b"\x53\xEF"),
    ("xfs", 0, b"XFSB"),
    ("btrfs", 65600, b"_BHRfS_M"),
    ("f2fs", 1024, b"\x10\x20\xF5\xF2"),
    ("bcachefs", 4120, b"\xC6\x85\x73\xF6\x66\xCE\x90\xA9"),
    ("vfat", 54, b"FAT16   "),
    ("vfat", 82, b"FAT32   "),
    ("exfat", 3, b"EXFAT   "),
    ("ntfs", 3, b"NTFS    "),
    ("BitLocker", 3, b"-FVE-FS-"),
    ("apfs", 32, b"NXSB"),
    ("hfsplus", 1024, b"H+"),
    ("hfsplus", 1024, b"HX"),
    ("iso9660", 32769, b"CD001"),
    ("udf", 34817, b"NSR02"),
    ("udf", 34817, b"NSR03"),
    ("squashfs", 0, b"hsqs"),
    ("reiserfs", 65588, b"ReIsEr2Fs"),
    ("jfs", 32768, b"JFS1"),
    ("nilfs2", 1030, b"\x34\x34"),
    ("erofs", 1024, b"\xE2\xE1\xF5\xE0"),
    ("crypto_LUKS", 0, b"LUKS\xba\xbe"),
    ("swap", 4086, b"SWAPSPACE2"),
    ("swap", 4086, b"SWAP-SPACE"),
    ("swsuspend", 4086, b"S1SUSPEND"),
    ("LVM2_member", 24, b"LVM2 001"),
    ("LVM2_member", 536, b"LVM2 001"),
    ("LVM2_member", 1048, b"LVM2 001"),
    ("LVM2_member", 1560, b"LVM2 001"),
    ("linux_raid_member", 0, b"\xFC\x4E\x2B\xA9"),
    ("linux_raid_member", 4096, b"\xFC\x4E\x2B\xA9"),
    ("linux_raid_member", -65536, b"\xFC\x4E\x2B\xA9"),
    ("linux_raid_member", -8192, b"\xFC\x4E\x2B\xA9"),
    ("bcache", 4120, b"\xC6\x85\x73\xF6\x4E\x1A\x45\xCA"),
    ("ceph_bluestore", 0, b"bluestore block device\n"),
    ("dm_integrity", 0, b"integrt\0"),
    ("dm_verity", 0, b"verity\0\0"),
    ("gpt", 512, b"EFI PART"),
    ("gpt", 4096, b"EFI PART"),
    ("gpt", -512, b"EFI PART"),
    ("isw_raid_member", -1024, b"Intel Raid ISM Cfg Sig. 1.3.00"),
    ("ddf_raid_member", -512, b"\xDE\x11\xDE\x11"),
    ("zfs_member", 131_072, b"\x0C\xB1\xBA\0\0\0\0\0"),
    ("zfs_member", -131_072, b"\0\0\0\0\0\xBA\xB1\x0C"),
];

/// Puts a signature into this range of an image, asks, and removes it.
fn each(
    ledger: &mut Ledger,
    what: &str,
    image: &Path,
    (start, bytes): (u64, u64),
    path: &Path,
    named: &[&str],
) {
    let id = Loss::at(path).unwrap().id.text;
    let file = File::options().read(true).write(true).open(image).unwrap();
    for (name, at, mark) in MARKS {
        let offset = if at < 0 { start + bytes - at.unsigned_abs() } else { start + at.unsigned_abs() };
        let mut before = vec![0; mark.len()];
        file.read_exact_at(&mut before, offset).unwrap();
        file.write_all_at(mark, offset).unwrap();
        let asked = typed(&id, named);
        let case = format!("{what}: {name} at {at} ({}) not named", mark.escape_ascii());
        ledger.refused(&case, image, path, &asked, &["it carries", name, "--destroy", "to destroy that"]);
        file.write_all_at(&before, offset).unwrap();
    }
    drop(file);
    // With its name it would be accepted, and without the signature no name is needed.
    right(path);
}

pub fn on_files(ledger: &mut Ledger) {
    let folder = disk_folder();
    let path = folder.path().join("image");
    File::create_new(&path).unwrap().set_len(1 << 20).unwrap();
    each(ledger, "file", &path, (0, 1 << 20), &path, &["no such thing"]);
    let file = File::options().write(true).open(&path).unwrap();
    file.write_all_at(&table(PARTITION), 0).unwrap();
    file.write_all_at(b"_BHRfS_M", 65600).unwrap();
    for (name, named, missing) in [
        ("file: one of two marks named", &["dos"][..], "btrfs"),
        ("file: the other of two marks named", &["btrfs"], "dos"),
        ("file: a part of a mark's name", &["btr", "dos"], "btrfs"),
        ("file: marks in one word", &["btrfs,dos"], "btrfs and dos"),
        ("file: all", &["all"], "btrfs and dos"),
    ] {
        ledger.refused(name, &path, &path, &typed("image", named), &[missing, "--destroy btrfs,dos"]);
    }
}

pub fn on_devices(ledger: &mut Ledger) {
    let disk = Disk::plain();
    each(ledger, "disk", &disk.image, (0, 8 << 20), disk.path(), &["dos"]);
    let disk = Disk::partitioned();
    each(ledger, "partition", &disk.image, PARTITION, &disk.partition(), &["dos"]);
    each(ledger, "disk of a partition", &disk.image, PARTITION, disk.path(), &["dos"]);
    let id = Loss::at(disk.path()).unwrap().id.text;
    let unnamed = typed(&id, &[]);
    ledger.refused("disk: its table not named", &disk.image, disk.path(), &unnamed, &["it carries dos"]);
}
