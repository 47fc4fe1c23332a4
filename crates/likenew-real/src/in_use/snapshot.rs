//! Everything that the system shows of who uses which block device, read once.

use std::collections::{BTreeMap, HashSet};
use std::ffi::OsStr;
use std::ops::Range;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::{fs, io};

use rustix::fs::{Mode, OFlags};

use crate::block::{BlockDevice, DeviceNumber};
use crate::mounts::{self, Backing, Mount, Store, UnknownBacking, backing_path};
use crate::openers::{self, Program, stores_of_fuse_servers};
use crate::wording::consent as wording;

/// The block devices of a machine, and their users. Only /sys for a machine made from files.
pub(super) struct Snapshot {
    pub(super) nodes: BTreeMap<DeviceNumber, Node>,
    pub(super) mounts: Vec<MountUse>,
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
    /// What lies beneath the file that a loop device is attached to.
    pub(super) beneath: Beneath,
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
                mount.kind == "btrfs" && pool.iter().any(|one| stores.contains(&Store::Device(*one)))
            });
            let all: Vec<Store> = pool.flatten().copied().map(Store::Device).collect();
            stores.extend(all);
            self.mounts.push(MountUse { stores, point: mount.point, program });
        }
        // Those that are mounted where we cannot see it.
        for one in pools.iter().flatten() {
            if let Some(node) = self.nodes.get(one) {
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
            let is_beneath = || matches!(&node.beneath, Beneath::Stores(stores) if stores.contains(&on));
            let backing = node.backing.as_ref().ok()?.as_ref();
            let backing = backing.filter(|backing| backing.store == on || is_beneath())?;
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
        let numbers = |all: Vec<BlockDevice>| all.iter().filter_map(BlockDevice::number).collect();
        let backing = Backing::read(&device);
        let beneath = match &backing {
            Ok(Some(backing)) => Beneath::find(backing.store, backing_path(&device).as_deref()),
            _ => Beneath::Stores(Vec::new()),
        };
        Some(Self {
            name: device.name(),
            bytes,
            part_of: is_partition.then(part_of).flatten(),
            holders: numbers(device.holder_devices()),
            slaves: numbers(device.slave_devices()),
            backing,
            beneath,
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
    let all = kinds.into_iter().flat_map(|kind| {
        entries(sys.join("fs").join(&kind)).into_iter().map(move |name| (name, kind.clone()))
    });
    all.collect()
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

// Where the bytes of a file really lie, if its file system is made of other ones.

/// File systems without a device of their own number that hold their bytes themselves: nothing else reaches these.
const OWN_BYTES: [&str; 6] = ["btrfs", "zfs", "bcachefs", "tmpfs", "ramfs", "hugetlbfs"];
/// Layered file systems that may lie over each other. Chosen: more than anybody stacks.
const LAYERS_MAX: u32 = 8;

/// What holds the bytes of a file besides itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Beneath {
    /// All of these may; none for a file of a file system with a device.
    Stores(Vec<Store>),
    /// It cannot be found out; the kind of file system says why.
    Unknown { kind: String },
}

impl Beneath {
    /// Of a file at this path. Where that leads to another file, as in another mount namespace, only the numbers tell.
    pub(super) fn find(store: Store, path: Option<&Path>) -> Self {
        Self::find_within(store, path, LAYERS_MAX)
    }

    fn find_within(store: Store, path: Option<&Path>, layers_most: u32) -> Self {
        let Store::File { device, .. } = store else { return Self::Stores(Vec::new()) };
        if BlockDevice::by_number(DeviceNumber::from_raw(device)).is_some() {
            return Self::Stores(Vec::new());
        }
        let path = path.filter(|path| Store::at(path) == Some(store));
        let opened = path.and_then(|path| open(path).ok());
        let by_number = || {
            let mounts = mounts::all().unwrap_or_default();
            mounts.into_iter().find(|mount| mount.device == DeviceNumber::from_raw(device))
        };
        match opened.and_then(Mount::containing).or_else(by_number) {
            Some(mount) if mount.device.major != 0 || OWN_BYTES.contains(&&*mount.kind) => {
                Self::Stores(Vec::new())
            }
            Some(mount) if mount.kind == "overlay" => match path {
                Some(path) if layers_most > 0 => Self::in_layers(&mount, path, layers_most - 1),
                _ => Self::Unknown { kind: mount.kind },
            },
            Some(mount) if mount.kind == "fuse" || mount.kind.starts_with("fuse.") => {
                stores_of_fuse_servers(mount.device).map_or(Self::Unknown { kind: mount.kind }, Self::Stores)
            }
            Some(mount) => Self::Unknown { kind: mount.kind },
            None => Self::Unknown { kind: "hidden".to_owned() },
        }
    }

    /// The file of the same name in each layer that has one: which of them an open file is depends on when it was opened.
    fn in_layers(mount: &Mount, path: &Path, layers_most: u32) -> Self {
        let Ok(inside) = path.strip_prefix(&mount.point) else {
            return Self::Unknown { kind: mount.kind.clone() };
        };
        let root = Path::new(&mount.root);
        let inside = root.strip_prefix("/").unwrap_or(root).join(inside);
        let names = mount.layers().into_iter().map(|layer| layer.join(&inside));
        let files: Vec<(PathBuf, Store)> =
            names.filter_map(|name| Some((name.clone(), Store::at(&name)?))).collect();
        if files.is_empty() {
            return Self::Unknown { kind: mount.kind.clone() };
        }
        let mut stores = Vec::new();
        for (name, store) in files {
            stores.push(store);
            match Self::find_within(store, Some(&name), layers_most) {
                Self::Stores(more) => stores.extend(more),
                unknown @ Self::Unknown { .. } => return unknown,
            }
        }
        Self::Stores(stores)
    }
}

fn open(path: &Path) -> rustix::io::Result<OwnedFd> {
    rustix::fs::open(path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty())
}
