//! Where the bytes of a file really lie, if its file system is made of other ones.

use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags};

use crate::block::BlockDevice;
use crate::device_number::DeviceNumber;
use crate::loop_device::Store;
use crate::mounts::{self, Mount};
use crate::openers::stores_of_fuse_servers;

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
                stores_of_fuse_servers().map_or(Self::Unknown { kind: mount.kind }, Self::Stores)
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
