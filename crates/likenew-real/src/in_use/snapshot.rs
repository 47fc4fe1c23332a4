//! Everything that the system shows of who uses which block device, read once.

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

/// The block devices of a machine, and their users. Only /sys for a machine made from files.
pub(super) struct Snapshot {
    pub(super) nodes: BTreeMap<DeviceNumber, Node>,
    pub(super) mounts: Vec<MountUse>,
    /// The same as they are listed.
    mount_list: Vec<Mount>,
    pub(super) swaps: Vec<Store>,
    /// Folders in /sys of the devices that the system runs from.
    pub(super) system: HashSet<PathBuf>,
    /// The file systems' own lists: a folder of a device's name is there while its file system is mounted,
    /// wherever that is.
    pub(super) file_systems: BTreeMap<String, String>,
    /// Numbers of the flash devices (MTD) of which UBI has taken some part: it tells their block devices nothing.
    pub(super) ubi: HashSet<u32>,
}

/// One block device.
pub(super) struct Node {
    pub(super) device: BlockDevice,
    pub(super) name: String,
    pub(super) bytes: u64,
    /// Of a partition: its disk, and where it begins there.
    pub(super) part_of: Option<(DeviceNumber, u64)>,
    /// What is built on it, and what it is built on.
    pub(super) holders: Vec<DeviceNumber>,
    pub(super) slaves: Vec<DeviceNumber>,
    /// What a loop device is attached to.
    pub(super) backing: Result<Option<Backing>, UnknownBacking>,
    /// What a mapping says that it belongs to.
    pub(super) mapping: Option<String>,
    /// What a disk is known by on whatever path it is reached.
    pub(super) wwid: Option<String>,
}

/// A mount, and the devices and files that it writes to.
pub(super) struct MountUse {
    pub(super) stores: Vec<Store>,
    pub(super) point: String,
    /// A program that sees it, where this one does not.
    pub(super) program: Option<Program>,
}

impl Snapshot {
    /// Of this machine.
    ///
    /// # Errors
    /// Which list cannot be read: what it would have shown is not known to be unused.
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
        // Those that are mounted where we cannot see it.
        for number in pools.iter().flatten() {
            if let Some(node) = self.nodes.get(number) {
                self.file_systems.entry(node.name.clone()).or_insert_with(|| "btrfs".to_owned());
            }
        }
    }

    /// Its partitions, with the range of each on it.
    pub(super) fn partitions(
        &self,
        device_number: DeviceNumber,
    ) -> impl Iterator<Item = (DeviceNumber, Range<u64>)> {
        self.nodes.iter().filter_map(move |(number, node)| {
            let (disk, start) = node.part_of?;
            (disk == device_number).then(|| (*number, start..start.saturating_add(node.bytes)))
        })
    }

    /// The loop devices that are attached to a store, each with the bytes of it.
    pub(super) fn loops(&self, on: Store) -> impl Iterator<Item = (DeviceNumber, Range<u64>)> {
        self.nodes.iter().filter_map(move |(number, node)| {
            let backing = node.backing.as_ref().ok()?.as_ref().filter(|backing| backing.store == on)?;
            Some((*number, backing.window.clone()))
        })
    }

    /// A loop device that may be on one of these, as its backing file is unknown.
    pub(super) fn unknown_loop(&self, on: &[Store]) -> Option<&Node> {
        let is_file = on.iter().any(|store| matches!(store, Store::File { .. }));
        let may_be = |node: &&Node| match node.backing {
            Err(UnknownBacking::File) => is_file,
            Err(UnknownBacking::FileOrDevice) => true,
            Ok(_) | Err(UnknownBacking::Dead) => false,
        };
        self.nodes.values().find(may_be)
    }

    /// The same disk by other paths, where nothing joins these.
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

    /// Whether bcache has taken it: it shows so before anything is built on it.
    pub(super) fn is_bcache(&self) -> bool {
        self.holders.is_empty() && self.slaves.is_empty() && self.device.folder().join("bcache").exists()
    }
}

/// `/sys/fs/KIND/DEVICE` of all kinds that have such folders.
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

/// What UBI has attached, and all that shares flash with that: an MTD device is part of another where its
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

// Files that a file system shows, and whose bytes others may reach by other names.

/// File systems without a device of their own number that hold their bytes themselves: nothing else reaches these.
const OWN_BYTES: [&str; 6] = ["btrfs", "zfs", "bcachefs", "tmpfs", "ramfs", "rootfs"];

impl Snapshot {
    /// The kind of file system that shows a file at this path, if its bytes may be those of another file or device. Names and
    /// numbers of what lies beneath are not asked: a folder that was moved, one in another namespace, and a file that was copied up
    /// since it was opened all lead elsewhere. Where the path leads to another file, as in another mount namespace, only the numbers tell.
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
        // Each namespace has its own mounts of the same file system.
        let mut known = HashMap::new();
        self.mount_list.iter().filter(move |mount| {
            let is_local = !REMOTE.contains(&&*mount.kind);
            is_local && *known.entry(mount.device).or_insert_with(|| is_of_others(mount))
        })
    }

    /// A mounted image without a device, of which it cannot be found out which file it is.
    pub(super) fn unknown_image(&self) -> Option<&Mount> {
        let mut images =
            self.mount_list.iter().filter(|mount| mount.kind == "erofs" && mount.device.major == 0);
        images.find(|mount| !is_whole_erofs(Path::new(&mount.source)))
    }
}

/// Whether the bytes of its files may be those of other files or devices: of all but those that have a device, those that are
/// known to hold their own, and a FUSE file system whose server has neither a file nor a device open.
fn is_of_others(mount: &Mount) -> bool {
    if mount.device.major != 0
        || [&OWN_BYTES[..], &KERNEL_FILE_SYSTEMS].iter().any(|list| list.contains(&&*mount.kind))
    {
        return false;
    }
    let is_fuse = mount.kind == "fuse" || mount.kind.starts_with("fuse.");
    !is_fuse || fuse_servers_have_files(mount.device)
}

/// Whether there is an image of erofs at a path that needs no other file: its magic, and no further devices (`struct
/// erofs_super_block` in fs/erofs/erofs_fs.h of the Linux sources: at 1024, `extra_devices` at 86 of it).
fn is_whole_erofs(path: &Path) -> bool {
    let superblock = path.is_absolute().then(|| File::open(path)).and_then(Result::ok).and_then(|file| {
        let mut bytes = [0; 88];
        file.read_exact_at(&mut bytes, 1024).ok()?;
        Some(bytes)
    });
    superblock.is_some_and(|bytes| bytes[..4] == [0xE2, 0xE1, 0xF5, 0xE0] && bytes[86..] == [0, 0])
}

/// To ask about it, and not to read it.
pub(super) fn open(path: &Path) -> rustix::io::Result<OwnedFd> {
    rustix::fs::open(path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty())
}
