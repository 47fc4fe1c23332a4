//! A snapshot of everything that the system shows about who uses which block device.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io;
use std::ops::Range;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags};

use crate::block::{BlockDevice, DeviceNumber};
use crate::mounts::{self, Backing, KERNEL_FILE_SYSTEMS, Mount, REMOTE, Store, UnknownBacking};
use crate::openers::{self, Program, fuse_servers_have_files};
use crate::wording::consent as wording;

/// The block devices of a machine, and their users. For a machine made from files, this is only what /sys shows.
pub(super) struct Snapshot {
    pub(super) nodes: BTreeMap<DeviceNumber, Node>,
    pub(super) mounts: Vec<MountUse>,
    /// The mounts as the kernel lists them.
    mount_list: Vec<Mount>,
    pub(super) swaps: Vec<Store>,
    /// Folders in /sys of the devices that the system runs from.
    pub(super) system: HashSet<PathBuf>,
    /// The kind of file system on a device, from the folders that file systems have in /sys while they are
    /// mounted, wherever that is.
    pub(super) file_systems: BTreeMap<String, String>,
    /// Numbers of the flash devices (MTD) of which UBI has taken some part. Their block devices do not show this.
    pub(super) ubi: HashSet<u32>,
}

/// One block device.
pub(super) struct Node {
    pub(super) device: BlockDevice,
    pub(super) name: String,
    pub(super) bytes: u64,
    /// For a partition: its disk, and where it begins there.
    pub(super) part_of: Option<(DeviceNumber, u64)>,
    /// Devices built on this one.
    pub(super) holders: Vec<DeviceNumber>,
    /// Devices that this one is built on.
    pub(super) slaves: Vec<DeviceNumber>,
    /// What a loop device is attached to.
    pub(super) backing: Result<Option<Backing>, UnknownBacking>,
    /// The identifier of a mapping, which says what it belongs to.
    pub(super) mapping: Option<String>,
    /// The world wide name of a disk, equal on all paths to it.
    pub(super) wwid: Option<String>,
}

/// A mount, and the devices and files that it writes to.
pub(super) struct MountUse {
    pub(super) stores: Vec<Store>,
    pub(super) point: String,
    /// A program that sees the mount, if this process does not.
    pub(super) program: Option<Program>,
}

impl Snapshot {
    /// The present state of this machine.
    ///
    /// # Errors
    /// The list that cannot be read: nothing that it would show is known to be unused.
    pub(super) fn now() -> Result<Self, String> {
        let unread = |list: &'static str| move |error: io::Error| wording::list_unreadable(list, &error);
        let mut snapshot = Self::read(Path::new("/sys")).map_err(unread("/sys/dev/block"))?;
        let here =
            mounts::all().map_err(unread("/proc/self/mountinfo"))?.into_iter().map(|mount| (mount, None));
        let elsewhere = openers::mounts_elsewhere().map_err(unread(wording::OTHER_MOUNTINFO))?;
        let elsewhere = elsewhere.into_iter().map(|(mount, program)| (mount, Some(program)));
        snapshot.take_mounts(here.chain(elsewhere), Path::new("/sys"));
        snapshot.swaps = mounts::swaps().map_err(unread("/proc/swaps"))?;
        snapshot.system = super::system_devices();
        Ok(snapshot)
    }

    /// The devices in a /sys, with only the uses that /sys itself shows.
    ///
    /// # Errors
    /// It lists no devices.
    pub(super) fn read(sys: &Path) -> io::Result<Self> {
        let links = fs::read_dir(sys.join("dev/block"))?.flatten();
        let folders = links.filter_map(|link| fs::canonicalize(link.path()).ok());
        let nodes = folders.filter_map(|folder| {
            let device = BlockDevice::at(folder);
            Some((device.number()?, Node::read(device)?))
        });
        Ok(Self {
            nodes: nodes.collect(),
            mounts: Vec::new(),
            mount_list: Vec::new(),
            swaps: Vec::new(),
            system: HashSet::new(),
            file_systems: file_systems(sys),
            ubi: ubi_devices(sys),
        })
    }

    pub(super) fn take_mounts(&mut self, mounts: impl Iterator<Item = (Mount, Option<Program>)>, sys: &Path) {
        let pools: Vec<Vec<DeviceNumber>> = mounts::btrfs_pools(sys)
            .map(|pool| pool.iter().filter_map(BlockDevice::number).collect())
            .collect();
        for (mount, program) in mounts {
            // A file system of several devices shows none of their numbers; it names one of them, or all with
            // colons between.
            let named = mount.source.as_bytes().split(|byte| *byte == b':');
            let named =
                named.map(|name| Path::new(OsStr::from_bytes(name))).filter(|source| source.is_absolute());
            let mut stores: Vec<Store> = named.filter_map(Store::at).collect();
            stores.push(Store::Device(mount.device));
            let pool = pools.iter().filter(|pool| {
                mount.kind == "btrfs" && pool.iter().any(|number| stores.contains(&Store::Device(*number)))
            });
            let members: Vec<Store> = pool.flatten().copied().map(Store::Device).collect();
            stores.extend(members);
            self.mounts.push(MountUse { stores, point: mount.point.clone(), program });
            self.mount_list.push(mount);
        }
        // btrfs file systems that are mounted where we cannot see them.
        for number in pools.iter().flatten() {
            if let Some(node) = self.nodes.get(number) {
                self.file_systems.entry(node.name.clone()).or_insert_with(|| "btrfs".to_owned());
            }
        }
    }

    /// The partitions of a device, each with its range on the device.
    pub(super) fn partitions(
        &self,
        device_number: DeviceNumber,
    ) -> impl Iterator<Item = (DeviceNumber, Range<u64>)> {
        self.nodes.iter().filter_map(move |(number, node)| {
            let (disk, start) = node.part_of?;
            (disk == device_number).then(|| (*number, start..start.saturating_add(node.bytes)))
        })
    }

    /// The loop devices that are attached to a store, each with its range in the store.
    pub(super) fn loops(&self, on: Store) -> impl Iterator<Item = (DeviceNumber, Range<u64>)> {
        self.nodes.iter().filter_map(move |(number, node)| {
            let backing = node.backing.as_ref().ok()?.as_ref().filter(|backing| backing.store == on)?;
            Some((*number, backing.window.clone()))
        })
    }

    /// A loop device of unknown backing file, which may be on one of these stores.
    pub(super) fn unknown_loop(&self, on: &[Store]) -> Option<&Node> {
        let is_file = on.iter().any(|store| matches!(store, Store::File { .. }));
        let may_be = |node: &&Node| match node.backing {
            Err(UnknownBacking::File) => is_file,
            Err(UnknownBacking::FileOrDevice) => true,
            Ok(_) | Err(UnknownBacking::Dead) => false,
        };
        self.nodes.values().find(may_be)
    }

    /// The same disk by other paths.
    pub(super) fn aliases(&self, device_number: DeviceNumber) -> impl Iterator<Item = DeviceNumber> {
        let known = self.nodes.get(&device_number).and_then(|node| Some((node.wwid.clone()?, node.bytes)));
        self.nodes.iter().filter_map(move |(number, node)| {
            let (wwid, bytes) = known.as_ref()?;
            (*number != device_number && node.wwid.as_ref() == Some(wwid) && node.bytes == *bytes)
                .then_some(*number)
        })
    }
}

impl Node {
    fn read(device: BlockDevice) -> Option<Self> {
        let bytes = device.bytes()?;
        let is_partition = device.is_partition();
        let part_of = || Some((device.disk().number()?, device.range()?.0));
        let numbers = |devices: Vec<BlockDevice>| devices.iter().filter_map(BlockDevice::number).collect();
        let backing = Backing::read(&device);
        Some(Self {
            name: device.name(),
            bytes,
            part_of: is_partition.then(part_of).flatten(),
            holders: numbers(device.holder_devices()),
            slaves: numbers(device.slave_devices()),
            backing,
            mapping: device.attribute("dm/uuid"),
            wwid: device.world_wide_name(),
            device,
        })
    }

    /// Whether bcache has taken the device, which shows before anything is built on it.
    pub(super) fn is_bcache(&self) -> bool {
        self.holders.is_empty() && self.slaves.is_empty() && self.device.folder().join("bcache").exists()
    }
}

/// Devices and the kinds of their file systems, from `/sys/fs/KIND/DEVICE`.
fn file_systems(sys: &Path) -> BTreeMap<String, String> {
    let entries = |folder: PathBuf| {
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        entries.filter_map(|entry| entry.file_name().into_string().ok()).collect::<Vec<_>>()
    };
    let kinds = entries(sys.join("fs"));
    let devices = kinds.into_iter().flat_map(|kind| {
        entries(sys.join("fs").join(&kind)).into_iter().map(move |name| (name, kind.clone()))
    });
    devices.collect()
}

/// MTD devices that UBI has attached, and all that share flash with these: a device is part of another if its
/// folder is inside the other's.
fn ubi_devices(sys: &Path) -> HashSet<u32> {
    let links = |folder: &str| fs::read_dir(sys.join(folder)).into_iter().flatten().flatten();
    let attached =
        links("class/ubi").filter_map(|link| BlockDevice::at(link.path()).attribute("mtd_num")?.parse().ok());
    let attached: Vec<u32> = attached.collect();
    let by_number = links("class/mtd").filter_map(|link| {
        let number: u32 = link.file_name().to_str()?.strip_prefix("mtd")?.parse().ok()?;
        Some((number, fs::canonicalize(link.path()).ok()?))
    });
    let folders: Vec<(u32, PathBuf)> = by_number.collect();
    let taken: Vec<&PathBuf> =
        folders.iter().filter(|(number, _)| attached.contains(number)).map(|(_, folder)| folder).collect();
    let shares =
        |folder: &Path| taken.iter().any(|other| folder.starts_with(other) || other.starts_with(folder));
    let sharing = folders.iter().filter(|(_, folder)| shares(folder)).map(|(number, _)| *number);
    attached.iter().copied().chain(sharing).collect()
}

// Files of a file system whose bytes others may reach by other names.

/// File systems without a device of their own number that hold their own bytes: nothing else reaches these.
const OWN_BYTES: [&str; 6] = ["btrfs", "zfs", "bcachefs", "tmpfs", "ramfs", "rootfs"];

impl Snapshot {
    /// The kind of file system that shows a file, if the file's bytes may be those of another file or device. Names and numbers
    /// of what lies beneath are not asked. A moved folder, another namespace, and a file that was copied up since it was opened
    /// all mislead. If the path leads to another file, as in another mount namespace, only the numbers tell.
    pub(super) fn shown_by(&self, store: Store, path: Option<&Path>) -> Option<String> {
        let Store::File { device, .. } = store else { return None };
        let number = DeviceNumber::from_raw(device);
        if BlockDevice::by_number(number).is_some() {
            return None;
        }
        let path = path.filter(|path| Store::at(path) == Some(store));
        let opened = path.and_then(|path| open(path).ok());
        let mount = opened.and_then(Mount::containing);
        let mount = mount.as_ref().or_else(|| self.mount_list.iter().find(|mount| mount.device == number));
        match mount {
            Some(mount) => is_of_others(mount).then(|| mount.kind.clone()),
            None => Some("hidden".to_owned()),
        }
    }

    /// The mounts of this machine whose files may be those of other ones.
    pub(super) fn showing_others(&self) -> impl Iterator<Item = &Mount> {
        // Each namespace has its own mount of the same file system.
        let mut known = HashMap::new();
        self.mount_list.iter().filter(move |mount| {
            let is_local = !REMOTE.contains(&&*mount.kind);
            is_local && *known.entry(mount.device).or_insert_with(|| is_of_others(mount))
        })
    }

    /// A mounted image without a device, whose file cannot be determined.
    pub(super) fn unknown_image(&self) -> Option<&Mount> {
        let mut images =
            self.mount_list.iter().filter(|mount| mount.kind == "erofs" && mount.device.major == 0);
        images.find(|mount| !is_whole_erofs(Path::new(&mount.source)))
    }
}

/// Whether files of a mount may be the bytes of other files or devices. They are not if the mount has a device, or a kind
/// that is known to hold its own bytes. Nor are they if it is a FUSE file system whose server has no file or device open.
fn is_of_others(mount: &Mount) -> bool {
    if mount.device.major != 0
        || [&OWN_BYTES[..], &KERNEL_FILE_SYSTEMS].iter().any(|list| list.contains(&&*mount.kind))
    {
        return false;
    }
    let is_fuse = mount.kind == "fuse" || mount.kind.starts_with("fuse.");
    !is_fuse || fuse_servers_have_files(mount.device)
}

/// Whether a path leads to an image of erofs that needs no other file: its magic, and no further devices (`struct
/// erofs_super_block` in fs/erofs/erofs_fs.h of the Linux sources: at 1024, `extra_devices` at 86 of it).
fn is_whole_erofs(path: &Path) -> bool {
    let superblock = path.is_absolute().then(|| File::open(path)).and_then(Result::ok).and_then(|file| {
        let mut bytes = [0; 88];
        file.read_exact_at(&mut bytes, 1024).ok()?;
        Some(bytes)
    });
    superblock.is_some_and(|bytes| bytes[..4] == [0xE2, 0xE1, 0xF5, 0xE0] && bytes[86..] == [0, 0])
}

/// Opens a path to ask about it, not to read it.
pub(super) fn open(path: &Path) -> rustix::io::Result<OwnedFd> {
    rustix::fs::open(path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty())
}
