//! What is mounted where, what serves as swap, and what loop devices are attached to, as the kernel lists it.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io;
use std::ops::Range;
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStringExt as _;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, OFlags, StatxFlags, statx};
use rustix::io::Errno;
use rustix::ioctl::{Getter, Opcode, ioctl};

use crate::block::{BlockDevice, DeviceNumber, entries};

/// File systems whose files are the kernel's own: writing there changes the machine, not a file.
pub(crate) const KERNEL_FILE_SYSTEMS: [&str; 18] = [
    "proc",
    "sysfs",
    "debugfs",
    "tracefs",
    "configfs",
    "securityfs",
    "selinuxfs",
    "smackfs",
    "efivarfs",
    "pstore",
    "cgroup",
    "cgroup2",
    "bpf",
    "fusectl",
    "binfmt_misc",
    "devtmpfs",
    "mqueue",
    "hugetlbfs",
];

/// File systems whose files are on other machines.
pub(crate) const REMOTE: [&str; 8] = ["nfs", "nfs4", "cifs", "smb3", "9p", "ceph", "virtiofs", "afs"];

/// One line of /proc/self/mountinfo (proc(5)).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mount {
    pub(crate) id: u64,
    pub(crate) device: DeviceNumber,
    /// The folder of the file system that is its root here: `/` unless only a part of it is mounted.
    pub(crate) root: String,
    /// The mount point as text, although a path need not be text.
    pub(crate) point: String,
    pub(crate) kind: String,
    pub(crate) source: OsString,
    /// Options of the mount and of the file system, comma-separated.
    pub(crate) options: String,
}

impl Mount {
    /// Parses a line. File names are bytes, of which the kernel escapes only blanks and backslashes.
    pub(crate) fn parse(line: impl AsRef<[u8]>) -> Option<Self> {
        let line = line.as_ref();
        let separator = line.windows(3).position(|window| window == b" - ")?;
        let before: Vec<&[u8]> = line[..separator].split(|byte| *byte == b' ').collect();
        let mut after = line[separator + 3..].split(|byte| *byte == b' ');
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let (kind, source) = (text(after.next()?), OsString::from_vec(unescape_bytes(after.next()?)));
        Some(Self {
            id: text(before.first()?).parse().ok()?,
            device: DeviceNumber::parse(&text(before.get(2)?))?,
            root: text(&unescape_bytes(before.get(3)?)),
            point: text(&unescape_bytes(before.get(4)?)),
            kind,
            source,
            options: format!("{},{}", text(before.get(5)?), text(after.next().unwrap_or_default())),
        })
    }

    /// All of a file such as /proc/self/mountinfo.
    pub(crate) fn parse_all(lines: &[u8]) -> Vec<Self> {
        lines.split(|byte| *byte == b'\n').filter_map(Self::parse).collect()
    }

    /// The folders that a layered file system (overlayfs) shows as one, the writable one first, by their
    /// names where it was mounted.
    pub(crate) fn layers(&self) -> Vec<PathBuf> {
        let mut layers = Vec::new();
        for option in self.options.split(',') {
            // Colons separate paths. A colon in a path has a backslash before it, and the kernel writes
            // backslashes in octal.
            let (name, value) = option.split_once('=').unwrap_or_default();
            let value = unescape(value);
            match name {
                "upperdir" => layers.insert(0, value.into()),
                "lowerdir" => layers
                    .extend(value.replace("\\:", "\0").split(':').map(|path| path.replace('\0', ":").into())),
                "lowerdir+" | "datadir+" => layers.push(value.into()),
                _ => {}
            }
        }
        layers.retain(|layer: &PathBuf| layer.is_absolute());
        layers
    }

    /// Where a path is in its file system, whichever part of that is mounted here.
    pub(crate) fn inside(&self, path: &Path) -> Option<PathBuf> {
        Some(Path::new(&self.root).join(path.strip_prefix(&self.point).ok()?))
    }

    /// The block device that the mount comes from. A file system of several devices has a number that no
    /// device has; its source is then one of the devices.
    pub(crate) fn block_device(&self) -> Option<BlockDevice> {
        let by_source = || BlockDevice::at_path(Path::new(&self.source));
        BlockDevice::by_number(self.device).or_else(by_source)
    }

    /// Whether an option is set, with or without a value.
    pub(crate) fn has_option(&self, name: &str) -> bool {
        let is_it = |option: &str| {
            option == name || option.strip_prefix(name).is_some_and(|rest| rest.starts_with('='))
        };
        self.options.split(',').any(is_it)
    }

    /// The mount that holds an open file or folder; `None` if the system does not say.
    pub(crate) fn containing(fd: impl AsFd) -> Option<Self> {
        Self::find(fd).ok().flatten()
    }

    /// As [`Mount::containing`], but an unreadable list is an error. `None` if this process does not see the
    /// mount, as in a changed root.
    ///
    /// # Errors
    /// The list cannot be read.
    pub(crate) fn find(fd: impl AsFd) -> io::Result<Option<Self>> {
        let status = statx(fd, "", AtFlags::EMPTY_PATH, StatxFlags::MNT_ID)?;
        let known = StatxFlags::from_bits_retain(status.stx_mask).contains(StatxFlags::MNT_ID);
        Ok(all()?.into_iter().find(|mount| known && mount.id == status.stx_mnt_id))
    }
}

/// Everything that is mounted, as far as this process can see.
///
/// # Errors
/// The list cannot be read, which does not mean that nothing is mounted.
pub(crate) fn all() -> io::Result<Vec<Mount>> {
    Ok(Mount::parse_all(&fs::read("/proc/self/mountinfo")?))
}

/// The devices of each btrfs that is mounted, as a /sys lists them: as links, in `fs/btrfs/FSID/devices`.
pub(crate) fn btrfs_pools(sys: &Path) -> impl Iterator<Item = Vec<BlockDevice>> {
    entries(&sys.join("fs/btrfs")).map(|pool| {
        let links = entries(&pool.path().join("devices"));
        let mut folders: Vec<PathBuf> = links.filter_map(|link| fs::canonicalize(link.path()).ok()).collect();
        // The order of a folder's entries means nothing, and reports should not differ by it.
        folders.sort();
        folders.into_iter().map(BlockDevice::at).collect()
    })
}

/// All devices of the btrfs that a device belongs to; without a btrfs, the device alone.
pub(crate) fn btrfs_devices(sys: &Path, block_device: BlockDevice) -> Vec<BlockDevice> {
    btrfs_pools(sys).find(|pool| pool.contains(&block_device)).unwrap_or_else(|| vec![block_device])
}

/// Where a device is mounted, as far as that is known, for a report.
pub(crate) fn mounted_at(device: DeviceNumber) -> Option<String> {
    // A file system of several devices shows none of their numbers, so its source is compared, too.
    let is_on =
        |mount: &Mount| mount.device == device || DeviceNumber::at(Path::new(&mount.source)) == Some(device);
    all().ok()?.into_iter().find(is_on).map(|mount| mount.point)
}

/// Undoes the kernel's octal spelling of blanks and backslashes in names, `\040`.
pub(crate) fn unescape(text: &str) -> String {
    String::from_utf8_lossy(&unescape_bytes(text.as_bytes())).into_owned()
}

/// As [`unescape`], for a name that need not be text.
pub(crate) fn unescape_bytes(name: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(name.len());
    let mut rest = name;
    while let [first, tail @ ..] = rest {
        let code = tail.get(..3).filter(|_| *first == b'\\').and_then(|code| std::str::from_utf8(code).ok());
        if let Some(byte) = code.and_then(|code| u8::from_str_radix(code, 8).ok()) {
            bytes.push(byte);
            rest = &tail[3..];
        } else {
            bytes.push(*first);
            rest = tail;
        }
    }
    bytes
}

// What serves as swap, as the kernel lists it.

/// Whether a device is known to serve as swap, for a report.
pub(crate) fn is_swap(device: DeviceNumber) -> bool {
    swaps().is_ok_and(|swaps| swaps.contains(&Store::Device(device)))
}

/// Devices and files that serve as swap.
///
/// # Errors
/// The list cannot be read. A kernel without swap has none, which is not an error.
pub(crate) fn swaps() -> io::Result<Vec<Store>> {
    match fs::read("/proc/swaps") {
        // Without /proc, what is mounted cannot be read either.
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        text => Ok(swap_names(&text?).filter_map(|name| Store::at(Path::new(&name))).collect()),
    }
}

/// The first column of /proc/swaps, below its head (proc(5)).
pub(crate) fn swap_names(text: &[u8]) -> impl Iterator<Item = OsString> {
    let lines = text.split(|byte| *byte == b'\n').skip(1);
    let names = lines.filter_map(|line| line.split(|byte| byte.is_ascii_whitespace()).next());
    names.filter(|name| !name.is_empty()).map(|name| OsString::from_vec(unescape_bytes(name)))
}

// What a loop device is attached to: which bytes of which file or block device.

/// What holds bytes: a block device, or a file of a file system.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Store {
    /// A block device.
    Device(DeviceNumber),
    /// A file, by the numbers of its file system and of itself.
    File { device: u64, inode: u64 },
}

impl Store {
    /// The block device or regular file at a path, if it is one.
    pub(crate) fn at(path: &Path) -> Option<Self> {
        let metadata = fs::metadata(path).ok()?;
        let kind = metadata.file_type();
        if kind.is_block_device() {
            return Some(Self::Device(DeviceNumber::from_raw(metadata.rdev())));
        }
        kind.is_file().then(|| Self::File { device: metadata.dev(), inode: metadata.ino() })
    }
}

/// The bytes that a loop device is attached to. Without a limit they reach as far as the store does, now and
/// when it grows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Backing {
    pub(crate) store: Store,
    pub(crate) window: Range<u64>,
}

/// What is known of a backing file that cannot be determined, as by users without rights if its path is
/// longer than /sys shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum UnknownBacking {
    File,
    FileOrDevice,
    /// A file of a FUSE file system whose server has ended: no byte is read or written through the loop
    /// device any more.
    Dead,
}

/// Major number of loop devices (Documentation/admin-guide/devices.txt of the Linux sources).
pub(crate) const LOOP_MAJOR: u32 = 7;

impl Backing {
    /// The backing of a device in /sys; `None` if it is no loop device, or has nothing attached. The device
    /// itself is asked first: names mean other files in other mount namespaces, and /sys does not show long
    /// ones. If the device may not be opened, /sys has to do.
    ///
    /// # Errors
    /// Neither the device nor /sys says.
    pub(crate) fn read(device: &BlockDevice) -> Result<Option<Self>, UnknownBacking> {
        let folder = device.folder().join("loop");
        let number = device.number();
        let is_loop = folder.is_dir() || number.is_some_and(|number| number.major == LOOP_MAJOR);
        if !is_loop || device.is_partition() {
            return Ok(None);
        }
        let path = backing_path(device);
        let node = device.node();
        if number.is_some() && DeviceNumber::at(&node) == number {
            let flags = (OFlags::NONBLOCK | OFlags::CLOEXEC).bits().cast_signed();
            let opened = File::options().read(true).custom_flags(flags).open(node);
            match opened.map_err(|_| None).and_then(|opened| Self::of_open(opened).map_err(Some)) {
                Ok(backing) => return Ok(Some(backing)),
                Err(Some(Errno::NXIO)) => return Ok(None),
                // FUSE answers this once its connection is cut, which is for good (fuse_get_req() of
                // fs/fuse/dev.c of the Linux sources).
                Err(Some(Errno::NOTCONN)) if path.as_deref().is_some_and(is_in_fuse) => {
                    return Err(UnknownBacking::Dead);
                }
                Err(_) => {}
            }
        }
        let number = |name: &str| device.attribute(name)?.parse::<u64>().ok();
        let by_name = || {
            let (offset, limit) = (number("loop/offset")?, number("loop/sizelimit")?);
            Some(Self { store: Store::at(path.as_deref()?)?, window: window(offset, limit) })
        };
        match by_name() {
            Some(backing) => Ok(Some(backing)),
            // The file may have been detached meanwhile.
            None if !folder.is_dir() => Ok(None),
            None => {
                // Device nodes are taken to be in /dev, as nothing creates them elsewhere.
                let may_be_device = path.is_none_or(|path| path.starts_with("/dev"));
                Err(if may_be_device { UnknownBacking::FileOrDevice } else { UnknownBacking::File })
            }
        }
    }

    /// The backing of an open loop device.
    ///
    /// # Errors
    /// The loop device is attached to nothing (ENXIO), or the device is no loop device.
    pub(crate) fn of_open(device: impl AsFd) -> rustix::io::Result<Self> {
        let LoopInfo { device, inode, number, offset, limit, rest: _ } = status(device)?;
        let store = match number {
            0 => Store::File { device, inode },
            number => Store::Device(DeviceNumber::from_raw(number)),
        };
        Ok(Self { store, window: window(offset, limit) })
    }
}

/// The path of a loop device's backing file, as it was at the time of attaching; `None` if it is too long for
/// /sys.
pub(crate) fn backing_path(device: &BlockDevice) -> Option<PathBuf> {
    let mut path = device.binary_attribute("loop/backing_file")?;
    // The kernel ends the path with a line feed, and does not escape line feeds in it.
    path.pop_if(|last| *last == b'\n');
    (!path.is_empty()).then(|| OsString::from_vec(path).into())
}

/// Whether the innermost mount above a path is of FUSE.
fn is_in_fuse(path: &Path) -> bool {
    let above = all().unwrap_or_default().into_iter().filter(|mount| path.starts_with(&mount.point));
    // If several are mounted at one place, the last one hides the others.
    let innermost = above.max_by_key(|mount| Path::new(&mount.point).components().count());
    innermost.is_some_and(|mount| mount.kind == "fuse" || mount.kind.starts_with("fuse."))
}

fn window(offset: u64, limit: u64) -> Range<u64> {
    let end = if limit == 0 { u64::MAX } else { offset.saturating_add(limit) };
    offset..end
}

/// `LOOP_GET_STATUS64` of linux/loop.h.
const LOOP_GET_STATUS64: Opcode = 0x4C05;

/// `struct loop_info64` of linux/loop.h; what is not needed is left as bytes.
#[repr(C)]
struct LoopInfo {
    device: u64,
    inode: u64,
    /// The number of the block device that it is attached to; 0 for a file.
    number: u64,
    offset: u64,
    limit: u64,
    rest: [u64; 24],
}

#[allow(unsafe_code, reason = "a loop device tells what it stands on by an ioctl only")]
fn status(device: impl AsFd) -> rustix::io::Result<LoopInfo> {
    const { assert!(size_of::<LoopInfo>() == 232) };
    // SAFETY: the kernel writes one `struct loop_info64`, of 232 bytes, which any bytes are a valid value of.
    unsafe { ioctl(device, Getter::<LOOP_GET_STATUS64, LoopInfo>::new()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_with_blanks_and_optional_fields_is_read() {
        let line = r"36 35 98:0 /mnt1 /mnt\040two rw,noatime master:1 shared:2 - ext3 /dev/my\134root rw,errors=continue";
        let mount = Mount::parse(line).unwrap();
        assert_eq!((mount.id, mount.device), (36, DeviceNumber { major: 98, minor: 0 }));
        assert_eq!((&*mount.root, &*mount.point, &*mount.kind), ("/mnt1", "/mnt two", "ext3"));
        assert_eq!(mount.source, r"/dev/my\root");
        assert_eq!(mount.options, "rw,noatime,rw,errors=continue");
        for line in ["", "36 35", "a b c - d", "36 35 98:0 /mnt1 - ext3 /dev/x rw"] {
            assert_eq!(Mount::parse(line), None, "{line}");
        }
    }

    #[test]
    fn a_name_that_is_no_text_hides_no_other_mount() {
        let text =
            b"36 35 98:0 / /mnt rw - ext4 /dev/sda rw\n37 35 98:1 / /mnt/caf\xe9 rw - ext4 /dev/caf\xe9 rw\n\
                     38 35 98:2 / /mnt/two rw - ext4 /dev/sdb rw\n";
        let mounts = Mount::parse_all(text);
        let points: Vec<&str> = mounts.iter().map(|mount| &*mount.point).collect();
        assert_eq!(points, ["/mnt", "/mnt/caf\u{fffd}", "/mnt/two"]);
        assert_eq!(mounts[1].source, OsString::from_vec(b"/dev/caf\xe9".to_vec()));
    }

    #[test]
    fn layers_are_named_in_the_options() {
        let layers = |options: &str| {
            let line = format!("36 35 0:45 / /merged rw - overlay overlay {options}");
            Mount::parse(&line)
                .unwrap()
                .layers()
                .iter()
                .map(|path| path.display().to_string())
                .collect::<Vec<_>>()
        };
        assert_eq!(layers(r"rw,lowerdir=/l1:/l2,upperdir=/a\040b\054c,workdir=/w"), ["/a b,c", "/l1", "/l2"]);
        assert_eq!(layers(r"ro,lowerdir+=/l1,lowerdir+=/l2,datadir+=/d"), ["/l1", "/l2", "/d"]);
        assert_eq!(layers(r"rw,lowerdir=/l\134:1:relative"), ["/l:1"]);
        assert_eq!(layers("rw"), [""; 0]);
    }

    #[test]
    fn octal_is_undone_and_nothing_else() {
        for (text, plain) in
            [(r"a\040b", "a b"), (r"\", r"\"), (r"\04", r"\04"), (r"\999", r"\999"), ("", "")]
        {
            assert_eq!(unescape(text), plain);
        }
    }

    #[test]
    fn this_machine_has_a_root() {
        let root = fs::File::open("/").unwrap();
        assert_eq!(Mount::containing(&root).map(|mount| mount.point).as_deref(), Some("/"));
    }

    #[test]
    fn a_file_that_serves_as_swap_is_found_by_whatever_name() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(OsString::from_vec(b"sw ap-\xe9".to_vec()));
        fs::write(&path, "x").unwrap();
        let mut text = b"Filename\tType\tSize\tUsed\tPriority\n/nowhere-\xe9 file\t1\t0\t-2\n".to_vec();
        text.extend(
            [folder.path().to_str().unwrap().as_bytes(), b"/sw\\040ap-\xe9 file\t1\t0\t-3\n"].concat(),
        );
        let swaps: Vec<Store> = swap_names(&text).filter_map(|name| Store::at(Path::new(&name))).collect();
        assert_eq!(swaps, [Store::at(&path).unwrap()]);
    }
}
