//! Tests of who uses bytes. Devices that no test machine can make are folders that look like /sys.

use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::symlink;
use std::path::PathBuf;

use super::*;
use crate::block::DeviceNumber;
use crate::mounts::Mount;

/// A /sys of our own, and what is mounted from it.
struct Sys {
    root: tempfile::TempDir,
    mounts: Vec<Mount>,
    system: Vec<&'static str>,
}

const MIB: u64 = 1 << 20;

impl Sys {
    fn new() -> Self {
        Self { root: tempfile::tempdir().unwrap(), mounts: Vec::new(), system: Vec::new() }
    }

    fn path(&self) -> PathBuf {
        fs::canonicalize(self.root.path()).unwrap()
    }

    /// The folder of a device, by a name such as `sda/sda1`.
    fn folder(&self, name: &str) -> PathBuf {
        self.path().join("devices").join(name)
    }

    fn write(&self, name: &str, file: &str, text: &str) {
        let path = self.folder(name).join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, format!("{text}\n")).unwrap();
    }

    /// A device of so many MiB. Its number follows from how many there are.
    fn disk(&self, name: &str, mib: u64) -> DeviceNumber {
        let links = self.path().join("dev/block");
        fs::create_dir_all(&links).unwrap();
        // A major number that no device of this machine has.
        let number = DeviceNumber {
            major: 4000,
            minor: u32::try_from(fs::read_dir(&links).unwrap().count()).unwrap(),
        };
        self.by_number(name, mib, number)
    }

    fn by_number(&self, name: &str, mib: u64, number: DeviceNumber) -> DeviceNumber {
        let links = self.path().join("dev/block");
        fs::create_dir_all(&links).unwrap();
        let text = format!("{}:{}", number.major, number.minor);
        self.write(name, "dev", &text);
        self.write(name, "size", &(mib * 2048).to_string());
        symlink(self.folder(name), links.join(text)).unwrap();
        number
    }

    fn part(&self, name: &str, start_mib: u64, mib: u64) -> DeviceNumber {
        let number = self.disk(name, mib);
        self.write(name, "partition", "1");
        self.write(name, "start", &(start_mib * 2048).to_string());
        number
    }

    /// Two disks, each with two partitions: from 1 to 5 MiB, and from 5 to 9.
    fn two_disks(&self) {
        for disk in ["sda", "sdb"] {
            self.disk(disk, 16);
            self.part(&format!("{disk}/{disk}1"), 1, 4);
            self.part(&format!("{disk}/{disk}2"), 5, 4);
        }
    }

    /// A device that is built on others.
    fn built(&self, name: &str, on: &[&str]) -> DeviceNumber {
        let number = self.disk(name, 4);
        for below in on {
            let link = |from: &str, kind: &str, to: &str| {
                let links = self.folder(from).join(kind);
                fs::create_dir_all(&links).unwrap();
                symlink(self.folder(to), links.join(to.rsplit('/').next().unwrap())).unwrap();
            };
            link(name, "slaves", below);
            link(below, "holders", name);
        }
        number
    }

    fn mapping(&self, name: &str, uuid: &str, on: &[&str]) -> DeviceNumber {
        let number = self.built(name, on);
        self.write(name, "dm/uuid", uuid);
        number
    }

    fn mount(&mut self, device: DeviceNumber) {
        self.mount_at(device, "/mnt/x", "ext4");
    }

    fn mount_at(&mut self, device: DeviceNumber, point: &str, kind: &str) {
        self.mounts.push(Mount {
            id: 1,
            device,
            root: "/".into(),
            point: point.into(),
            kind: kind.into(),
            source: "none".into(),
            options: "rw".into(),
        });
    }

    fn snapshot(&self) -> Snapshot {
        let mut snapshot = Snapshot::read(&self.path()).unwrap();
        snapshot.take_mounts(self.mounts.iter().map(|mount| (mount.clone(), None)), &self.path());
        snapshot.system = self.system.iter().map(|name| self.folder(name)).collect();
        snapshot
    }

    fn user_of(&self, name: &str) -> Option<String> {
        let target = Target::device(&BlockDevice::at(self.folder(name))).unwrap();
        Overlaps::find(&self.snapshot(), &target).structural_use()
    }

    #[track_caller]
    fn refused(&self, names: &[&str], words: &[&str]) {
        for name in names {
            let text = self.user_of(name).unwrap_or_else(|| panic!("nobody uses {name}"));
            for word in words {
                assert!(text.contains(word), "{name}: \"{word}\" is missing in: {text}");
            }
        }
    }

    #[track_caller]
    fn free(&self, names: &[&str]) {
        for name in names {
            assert_eq!(self.user_of(name), None, "{name}");
        }
    }
}

#[test]
fn partitions_and_their_disk_share_bytes_and_partitions_do_not() {
    let mut sys = Sys::new();
    sys.two_disks();
    sys.free(&["sda", "sda/sda1", "sda/sda2"]);
    let gap = sys.part("sda/sda3", 9, 4);
    sys.mount(gap);
    sys.refused(&["sda", "sda/sda3"], &["sda3 is mounted at /mnt/x; unmount it first"]);
    sys.free(&["sda/sda1", "sda/sda2", "sdb"]);
    // A partition with another one inside, as an extended one may be shown.
    sys.part("sda/sda4", 8, 2);
    sys.refused(&["sda/sda4"], &["sda3 is mounted at"]);
}

#[test]
fn what_a_mapping_is_built_on_is_used() {
    let mut sys = Sys::new();
    sys.two_disks();
    let home = sys.mapping("dm-0", "LVM-a1", &["sda/sda2"]);
    sys.mapping("dm-1", "LVM-a2", &["sda/sda2"]);
    sys.mapping("dm-2", "CRYPT-LUKS2-x", &["dm-1"]);
    sys.refused(&["sda", "sda/sda2"], &["sda2 carries dm-", "stop that first"]);
    sys.refused(&["dm-1"], &["dm-1 carries dm-2"]);
    sys.free(&["sda/sda1", "sdb", "dm-0", "dm-2"]);
    sys.mount(home);
    sys.refused(
        &["sda", "sda/sda2"],
        &["dm-0, which is built on sda2, is mounted at /mnt/x; unmount it first"],
    );
    // The manager keeps its volumes apart.
    sys.free(&["dm-2", "sda/sda1"]);
    sys.refused(&["dm-0"], &["dm-0 is mounted at"]);
}

#[test]
fn mappings_that_nobody_keeps_apart_may_share_bytes() {
    let sys = Sys::new();
    sys.two_disks();
    for (number, uuid) in ["", "LVM-a1", "part1-mpath-x", "part2-mpath-x", "part2-mpath-y"].iter().enumerate()
    {
        sys.mapping(&format!("dm-{number}"), uuid, &["sdb"]);
    }
    sys.refused(&["dm-0", "dm-1", "dm-2", "dm-3", "dm-4"], &["sdb, which dm-", "carries dm-"]);
    let sys = Sys::new();
    sys.disk("dm-9", 8);
    for number in [1, 2] {
        sys.mapping(&format!("dm-{number}"), &format!("part{number}-mpath-x"), &["dm-9"]);
    }
    sys.free(&["dm-1", "dm-2"]);
    // A snapshot fills up when its origin is written.
    let sys = Sys::new();
    sys.two_disks();
    sys.mapping("dm-1", "LVM-x-real", &["sda/sda1"]);
    sys.mapping("dm-2", "LVM-x", &["dm-1"]);
    sys.mapping("dm-3", "LVM-snapshot", &["dm-1"]);
    sys.refused(&["dm-2"], &["dm-1, which dm-2 is built on, carries dm-3"]);
}

#[test]
fn a_member_of_an_array_is_used_and_its_partitions_tell_for_themselves() {
    let mut sys = Sys::new();
    sys.two_disks();
    sys.built("md0", &["sda/sda1", "sdb/sdb1"]);
    let first = sys.part("md0/md0p1", 0, 2);
    sys.part("md0/md0p2", 2, 2);
    sys.refused(&["sda", "sda/sda1", "sdb", "sdb/sdb1"], &["1 carries md0"]);
    sys.mount(first);
    sys.refused(&["sdb/sdb1"], &["md0p1, which is built on sdb1, is mounted at"]);
    sys.refused(&["md0", "md0/md0p1"], &["md0p1 is mounted at"]);
    sys.free(&["md0/md0p2", "sda/sda2"]);
}

#[test]
fn one_drive_by_two_paths_is_one_drive() {
    let mut sys = Sys::new();
    sys.two_disks();
    for disk in ["sda", "sdb"] {
        sys.write(disk, "device/wwid", "naa.5000c500a1b2c3d4");
    }
    sys.free(&["sda", "sdb/sdb2"]);
    let first = sys.part("sdb/sdb3", 12, 1);
    sys.mount(first);
    let words =
        ["sdb3, which is the same drive as sda by another path (naa.5000c500a1b2c3d4), is mounted at"];
    sys.refused(&["sda"], &words);
    sys.free(&["sda/sda1", "sda/sda2"]);
    // Once a mapping joins them, it is used, and each path carries it.
    let sys = Sys::new();
    sys.two_disks();
    sys.mapping("dm-0", "mpath-naa", &["sda", "sdb"]);
    sys.refused(&["sda", "sdb", "sda/sda1"], &["carries dm-0"]);
    sys.free(&["dm-0"]);
}

#[test]
fn what_bcache_has_taken_is_used() {
    let mut sys = Sys::new();
    sys.two_disks();
    sys.disk("nvme0n1", 16);
    sys.write("sdb/sdb2", "bcache/state", "dirty");
    sys.refused(&["sdb", "sdb/sdb2"], &["sdb2 is used by bcache"]);
    sys.free(&["sdb/sdb1", "nvme0n1"]);
    sys.built("bcache0", &["sda", "nvme0n1"]);
    let second = sys.built("bcache1", &["sdb/sdb2", "nvme0n1"]);
    sys.write("bcache1", "bcache/state", "dirty");
    sys.mount(second);
    sys.refused(&["sda", "sda/sda1"], &["carries bcache0"]);
    sys.refused(&["nvme0n1"], &["bcache1, which is built on nvme0n1, is mounted at"]);
    sys.free(&["bcache0"]);
}

#[test]
fn file_systems_are_found_where_no_mount_shows_them() {
    let mut sys = Sys::new();
    sys.two_disks();
    fs::create_dir_all(sys.path().join("fs/ext4/sda2")).unwrap();
    sys.refused(
        &["sda", "sda/sda2"],
        &["sda2 carries a ext4 file system that is mounted in another namespace", "unmount it there"],
    );
    sys.free(&["sda/sda1"]);
    let devices = sys.path().join("fs/btrfs/0-1-2/devices");
    fs::create_dir_all(&devices).unwrap();
    for name in ["sda1", "sdb1"] {
        symlink(sys.folder(&format!("{}/{name}", &name[..3])), devices.join(name)).unwrap();
    }
    sys.refused(&["sda/sda1", "sdb", "sdb/sdb1"], &["1 carries a btrfs file system"]);
    sys.free(&["sdb/sdb2"]);
    // The mount has a number of its own, and names one of the devices.
    let shown =
        DeviceNumber::parse(&fs::read_to_string(sys.folder("sda/sda1").join("dev")).unwrap()).unwrap();
    sys.mount_at(shown, "/mnt/pool", "btrfs");
    sys.refused(&["sdb", "sdb/sdb1"], &["sdb1 is mounted at /mnt/pool"]);
}

#[test]
fn the_system_is_reported_first_and_by_its_name() {
    let mut sys = Sys::new();
    sys.two_disks();
    let root = sys.mapping("dm-0", "LVM-root", &["sda/sda2"]);
    sys.system = vec!["dm-0", "sda/sda2", "sda"];
    sys.mount_at(root, "/", "ext4");
    sys.refused(&["sda", "sda/sda2", "dm-0"], &["the system runs from", "Boot from another drive"]);
    sys.free(&["sda/sda1", "sdb"]);
}

/// Windows of two loop devices over one file, in bytes: of the mounted one, then of the one that is asked
/// for. A limit of 0 is none.
#[test]
fn windows_over_one_file_meet_by_a_byte() {
    let file = tempfile::NamedTempFile::new().unwrap();
    file.as_file().set_len(16 * MIB).unwrap();
    let cases = [
        ((0, 0), (0, 0), true),
        ((0, 4096), (4096, 0), false),
        ((0, 4097), (4096, 0), true),
        ((4096, 4096), (0, 4096), false),
        ((4096, 4096), (0, 4608), true),
        ((8 * MIB, 0), (0, 8 * MIB), false),
        // Without a limit it reaches as far as the file will.
        ((64 * MIB, 0), (64 * MIB, 4096), true),
        ((MIB, 4096), (MIB, 4096), true),
    ];
    for (mounted, queried, shares) in cases {
        let mut sys = Sys::new();
        let attach = |sys: &Sys, name: &str, (offset, limit): (u64, u64)| {
            let bytes = if limit == 0 { 4 * MIB } else { limit };
            let number = sys.disk(name, 1);
            sys.write(name, "size", &(bytes / 512).max(1).to_string());
            sys.write(name, "loop/backing_file", file.path().to_str().unwrap());
            sys.write(name, "loop/offset", &offset.to_string());
            sys.write(name, "loop/sizelimit", &limit.to_string());
            number
        };
        let number = attach(&sys, "loop900", mounted);
        attach(&sys, "loop901", queried);
        sys.mount(number);
        let user = sys.user_of("loop901");
        assert_eq!(user.is_some(), shares, "{mounted:?} {queried:?}: {user:?}");
        if let Some(text) = user {
            let path = file.path().display();
            let expected = format!("loop900, which covers the same bytes of {path}, is mounted at /mnt/x");
            assert!(text.starts_with(&expected), "{text}");
        }
        // The file itself is in use in the same way.
        let Some(Store::File { device, inode }) = Store::at(file.path()) else { panic!("a file") };
        let target = Target::file(file.path(), device, inode, 16 * MIB);
        let user = Overlaps::find(&sys.snapshot(), &target).structural_use();
        assert_eq!(user.is_some(), mounted.0 < 16 * MIB || queried.0 < 16 * MIB, "{user:?}");
    }
}

#[test]
fn holes_of_a_disk_are_asked_for_alone() {
    let mut sys = Sys::new();
    sys.two_disks();
    let number = sys.disk("loop900", 2);
    sys.write("loop900", "loop/backing_file", "/dev/null");
    sys.mount(number);
    let disk = BlockDevice::at(sys.folder("sda"));
    let mut snapshot = sys.snapshot();
    let store = Store::Device(disk.number().unwrap());
    let node = snapshot.nodes.get_mut(&number).unwrap();
    node.backing = Ok(Some(crate::mounts::Backing { store, window: 10 * MIB..11 * MIB }));
    let user_of = |ranges| Overlaps::find(&snapshot, &Target::parts(&disk, ranges).unwrap()).structural_use();
    let whole = |range: Range<u64>| vec![range];
    assert_eq!(user_of(vec![0..MIB, 9 * MIB..10 * MIB, 11 * MIB..16 * MIB]), None);
    let text = user_of(vec![0..MIB, 9 * MIB..16 * MIB]).unwrap();
    assert!(text.contains("loop900, which lies on sda, is mounted"), "{text}");
    assert_eq!(user_of(whole(0..MIB)), None);
}

#[test]
fn a_loop_device_over_what_nobody_can_find_is_held_against_what_it_may_be() {
    let sys = Sys::new();
    sys.two_disks();
    let attach = |name: &str, path: Option<&str>| {
        sys.disk(name, 4);
        fs::create_dir_all(sys.folder(name).join("loop")).unwrap();
        // /sys does not show a path that is longer than a page.
        if let Some(path) = path {
            sys.write(name, "loop/backing_file", path);
            sys.write(name, "loop/offset", "0");
            sys.write(name, "loop/sizelimit", "0");
        }
    };
    let file = tempfile::NamedTempFile::new().unwrap();
    let Some(Store::File { device, inode }) = Store::at(file.path()) else { panic!("a file") };
    let target = Target::file(file.path(), device, inode, MIB);
    let of_file = || Overlaps::find(&sys.snapshot(), &target).structural_use();
    attach("loop900", Some("/nowhere/disk.img"));
    sys.refused(&["loop900"], &["the backing file of loop900 cannot be determined", "as root"]);
    assert!(of_file().unwrap().contains("the backing file of loop900 cannot be determined"));
    sys.free(&["sda", "sdb/sdb1"]);
    attach("loop901", None);
    sys.refused(&["loop901"], &["the backing file of loop901 cannot be determined"]);
    sys.refused(&["sda", "sdb/sdb1"], &["the backing file of loop901 cannot be determined"]);
    sys.mapping("dm-0", "x", &["loop901"]);
    sys.refused(&["dm-0"], &["the backing file of loop901 cannot be determined"]);
    // Nothing is attached to it any more.
    for name in ["loop900", "loop901"] {
        fs::remove_dir_all(sys.folder(name).join("loop")).unwrap();
    }
    sys.free(&["sda", "loop900"]);
    assert_eq!(of_file(), None);
}

#[test]
fn what_shares_bytes_with_a_layer_below_a_mapping_is_claimed() {
    let file = tempfile::NamedTempFile::new().unwrap();
    file.as_file().set_len(8 * MIB).unwrap();
    let sys = Sys::new();
    sys.two_disks();
    for name in ["loop900", "loop901"] {
        sys.disk(name, 8);
        sys.write(name, "loop/backing_file", file.path().to_str().unwrap());
        sys.write(name, "loop/offset", "0");
        sys.write(name, "loop/sizelimit", "0");
    }
    // A loop device that was attached for its partitions is no use of its own.
    sys.part("loop901/loop901p1", 1, 4);
    sys.mapping("dm-0", "CRYPT-x", &["loop900"]);
    let claimed = |sys: &Sys, snapshot: &Snapshot, name: &str| {
        let target = Target::device(&BlockDevice::at(sys.folder(name))).unwrap();
        let overlaps = Overlaps::find(snapshot, &target);
        let names = overlaps.to_claim().into_iter().map(|(number, _)| snapshot.nodes[&number].name.clone());
        let mut names: Vec<String> = names.collect();
        names.sort();
        names
    };
    assert_eq!(sys.user_of("dm-0"), None);
    assert_eq!(claimed(&sys, &sys.snapshot(), "dm-0"), ["loop901", "loop901p1"]);
    // The disk below a loop device below a mapping.
    let mut snapshot = sys.snapshot();
    let number = |name: &str| BlockDevice::at(sys.folder(name)).number().unwrap();
    let (below, store) = (number("loop900"), Store::Device(number("sda/sda2")));
    snapshot.nodes.get_mut(&below).unwrap().backing =
        Ok(Some(crate::mounts::Backing { store, window: 0..u64::MAX }));
    assert_eq!(claimed(&sys, &snapshot, "dm-0"), ["sda", "sda2"]);
    // A mapping that joins two paths has claimed both.
    sys.mapping("dm-1", "mpath-naa", &["sda", "sdb"]);
    for disk in ["sda", "sdb"] {
        sys.write(disk, "device/wwid", "naa.5000c500a1b2c3d4");
    }
    assert_eq!(claimed(&sys, &sys.snapshot(), "dm-1"), [""; 0]);
}

#[test]
fn a_disk_by_another_path_is_claimed() {
    let sys = Sys::new();
    sys.two_disks();
    for disk in ["sda", "sdb"] {
        sys.write(disk, "device/wwid", "naa.5000c500a1b2c3d4");
    }
    let snapshot = sys.snapshot();
    let target = Target::device(&BlockDevice::at(sys.folder("sda/sda1"))).unwrap();
    let overlaps = Overlaps::find(&snapshot, &target);
    let names = overlaps.to_claim().into_iter().map(|(number, _)| &*snapshot.nodes[&number].name);
    assert_eq!(names.collect::<Vec<_>>(), ["sdb", "sdb1"]);
}

#[test]
fn flash_that_ubi_has_attached_is_used() {
    let sys = Sys::new();
    for (minor, mtd) in ["mtd0", "mtd0/mtd1", "mtd0/mtd2", "mtd3"].into_iter().enumerate() {
        let minor = u32::try_from(minor).unwrap();
        sys.by_number(&format!("{mtd}/mtdblock{minor}"), 4, DeviceNumber { major: 31, minor });
        let class = sys.path().join("class/mtd");
        fs::create_dir_all(&class).unwrap();
        symlink(sys.folder(mtd), class.join(format!("mtd{minor}"))).unwrap();
    }
    sys.free(&["mtd0/mtdblock0", "mtd0/mtd1/mtdblock1", "mtd0/mtd2/mtdblock2", "mtd3/mtdblock3"]);
    let ubi = sys.path().join("class/ubi");
    for (folder, number) in [("ubi0", Some("1\n")), ("ubi0_0", None)] {
        fs::create_dir_all(ubi.join(folder)).unwrap();
        number.into_iter().for_each(|number| fs::write(ubi.join(folder).join("mtd_num"), number).unwrap());
    }
    sys.refused(&["mtd0/mtd1/mtdblock1"], &["mtdblock1 is flash that UBI has attached", "ubidetach"]);
    // The whole chip, which contains that part.
    sys.refused(&["mtd0/mtdblock0"], &["mtdblock0 is flash that UBI has attached"]);
    sys.free(&["mtd0/mtd2/mtdblock2", "mtd3/mtdblock3"]);
}

#[test]
fn names_of_backing_files_are_bytes() {
    let folder = tempfile::tempdir().unwrap();
    for name in [&b"disk-\xe9.img"[..], b"\ndisk.img", b"disk.img\n"] {
        let path = folder.path().join(std::ffi::OsStr::from_bytes(name));
        fs::write(&path, "x").unwrap();
        let mut sys = Sys::new();
        for loops in ["loop900", "loop901"] {
            sys.disk(loops, 4);
            sys.write(loops, "loop/offset", "0");
            sys.write(loops, "loop/sizelimit", "0");
            fs::write(
                sys.folder(loops).join("loop/backing_file"),
                [path.as_os_str().as_bytes(), b"\n"].concat(),
            )
            .unwrap();
        }
        let number = BlockDevice::at(sys.folder("loop900")).number().unwrap();
        sys.mount(number);
        sys.refused(&["loop901"], &["loop900, which covers the same bytes of", "is mounted at"]);
    }
}

#[test]
fn this_machine_is_seen_as_it_is() {
    let root = Mount::containing(fs::File::open("/").unwrap()).unwrap();
    let Some(device) = root.block_device() else { return eprintln!("SKIPPED: / is on no device") };
    let reason = use_of(&Target::device(&device).unwrap()).unwrap();
    assert!(reason.contains("the system runs from"), "{reason}");
}

#[test]
fn what_is_below_is_found_through_partitions_and_slaves() {
    let root = tempfile::tempdir().unwrap();
    let sys = fs::canonicalize(root.path()).unwrap();
    for folder in ["sda/sda1", "sda/sda2", "dm-0/slaves"] {
        fs::create_dir_all(sys.join(folder)).unwrap();
    }
    for partition in ["sda1", "sda2"] {
        fs::write(sys.join("sda").join(partition).join("partition"), "1").unwrap();
    }
    std::os::unix::fs::symlink(sys.join("sda/sda1"), sys.join("dm-0/slaves/sda1")).unwrap();
    let mut folders = HashSet::new();
    assert!(add_with_lower_devices(&BlockDevice::at(sys.join("dm-0")), &mut folders));
    let expected = ["dm-0", "sda/sda1", "sda"].map(|name| sys.join(name));
    assert_eq!(folders, expected.into_iter().collect(), "not the other partition");
}

#[test]
fn a_file_of_the_system_may_get_its_own_bytes_back() {
    use std::os::unix::fs::MetadataExt as _;
    let Ok(path) = std::fs::canonicalize("/usr/bin/env") else {
        return eprintln!("SKIPPED: no /usr/bin/env");
    };
    let metadata = path.metadata().unwrap();
    let target_of = |target: fn(&Path, u64, u64, u64) -> Target| {
        target(&path, metadata.dev(), metadata.ino(), metadata.len())
    };
    let mount = Mount::containing(std::fs::File::open(&path).unwrap()).unwrap();
    assert!(system_folder(&path, &mount).is_some());
    assert_eq!(use_by_system(&target_of(Target::held_file)), None);
}
