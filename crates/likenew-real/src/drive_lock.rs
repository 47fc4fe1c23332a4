//! A lock on the drives below a path, so that two runs never share a drive, whatever path each uses. A path
//! may be a folder, a file, a partition, a mapped device, a loop device over a file, or the disk itself. Two
//! measurements at once would spoil each other; two runs that change a drive could do worse.
//!
//! The lock is an flock on a file in /sys that every drive has: `/sys/block/NAME/dev`, or an NVMe
//! controller's `serial`, as one namespace slows the others. This place was chosen against three others:
//! - A folder of lock files, such as /run/lock, does not exist everywhere, and the owner of a file may remove
//!   it: then two runs lock two files. Root and users would have to share it, and the first of them could
//!   keep the others out.
//! - A device's own node cannot be opened by those who may measure a folder on it, and udev gives that lock
//!   another meaning.
//! - The name of an abstract socket (unix(7)) can be taken by any program that wants to keep others out, and
//!   nothing shows which one it was.
//!
//! A file in /sys exists for every user, cannot be made or removed, and needs only the right to read.
//! /proc/locks shows the process that holds its lock, even one that only wants to block others. The lock ends
//! with its program, however that ends. Containers that share the host's network share its /sys and its
//! locks; others have their own /sys, and do not.
//!
//! A loop device stands for the drive that holds its file; over memory, the loop device itself counts as a drive. A
//! disk with several paths is locked on all of them. Layers (overlayfs) stand for the drives of their folders. In a
//! container those folders have no name, and the drives below ZFS cannot be determined. Then the root folder of the
//! file system is locked, which separates runs in this file system, but no others.

use std::collections::{BTreeMap, HashSet};
use std::ffi::OsStr;
use std::fs::{self, File};
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use likenew_core::target_error::TargetError;
use likenew_core::units::Nanos;
use rustix::fs::{FileType, FlockOperation, OFlags, flock, fstat, major, minor};
use rustix::io::Errno;

use crate::block::{BlockDevice, DeviceNumber, open_path};
use crate::clock::Monotonic;
use crate::drive_traffic::CounterSource;
use crate::hold::Tries;
use crate::in_use::{add_with_lower_devices, below_loop};
use crate::mounts::{KERNEL_FILE_SYSTEMS, Mount, REMOTE, all, btrfs_devices};
use crate::standards::clean;
use crate::target_error::ErrorContext as _;
use crate::wording::{action, consent as wording};

/// How often to try a lock before another program counts as its holder. A program that is just being started has
/// copies of all its parent's descriptors. Chosen: one second in all, in pauses that are short beside the start of a
/// program.
const TRIES: Tries = Tries { count: 40, pause: Nanos::from_millis(25) };
/// How often a run that waits for a drive checks whether it is free. Chosen: a delay of 200 ms is not felt,
/// and costs nothing.
const WAITING_PAUSE: Nanos = Nanos::from_millis(200);
/// How many times to lock a file anew that was replaced while being locked.
const RENEWALS: u32 = 10;
/// Most characters of a command that are shown.
const COMMAND_CHARS: usize = 120;

/// Where the lock files are: in /sys, or in a folder for tests.
#[derive(Clone, Debug)]
pub struct Locks {
    folder: Option<PathBuf>,
}

/// A lock on drives, held as long as this lives.
#[derive(Debug, Default)]
pub struct DriveLock {
    drives: Vec<String>,
    files: Vec<File>,
}

/// Another program holds a drive.
struct LockHolder {
    drive: String,
    holder: String,
}

impl Locks {
    /// The locks that all users of this machine share.
    pub fn system() -> Self {
        Self { folder: None }
    }

    /// Locks in a folder, for tests that run side by side on one drive: locks in another folder do not
    /// conflict.
    pub fn in_folder(folder: PathBuf) -> Self {
        Self { folder: Some(folder) }
    }

    /// Locks every drive below these folders, files or block devices.
    ///
    /// # Errors
    /// A refusal that says who holds a drive and what to do; or a path cannot be examined.
    pub fn take(&self, paths: &[&Path]) -> Result<DriveLock, TargetError> {
        let keys = keys_of(paths)?;
        let taken = TRIES.until_free(|taken| matches!(taken, Ok(Err(_))), || self.try_all(&keys))?;
        taken.map_err(|LockHolder { drive, holder }| {
            TargetError::Refused(wording::in_use(paths, &drive, &holder))
        })
    }

    /// As [`Locks::take`], but waits as long as another program holds one of the drives. `goes_on` is called
    /// repeatedly with the drive and its holder in words; once it returns false, the result is `None`.
    ///
    /// # Errors
    /// A path cannot be examined.
    pub fn wait(
        &self,
        paths: &[&Path],
        goes_on: &mut dyn FnMut(&str) -> bool,
    ) -> Result<Option<DriveLock>, TargetError> {
        let keys = keys_of(paths)?;
        let clock = Monotonic::start();
        loop {
            match self.try_all(&keys)? {
                Ok(lock) => return Ok(Some(lock)),
                Err(LockHolder { drive, holder }) if goes_on(&wording::busy_drive(&drive, &holder)) => {
                    clock.rest(clock.now() + WAITING_PAUSE);
                }
                Err(_) => return Ok(None),
            }
        }
    }

    /// Locks all or none: a run that waits must not block others.
    fn try_all(&self, keys: &Keys) -> Result<Result<DriveLock, LockHolder>, TargetError> {
        let mut lock = DriveLock::default();
        for (key, Lockable { drive, at }) in keys {
            match self.try_one(key, at, drive)? {
                Ok(file) => lock.files.push(file),
                Err(busy) => return Ok(Err(busy)),
            }
            if !lock.drives.contains(drive) {
                lock.drives.push(drive.clone());
            }
        }
        lock.drives.sort();
        Ok(Ok(lock))
    }

    fn try_one(&self, key: &Path, at: &Path, drive: &str) -> Result<Result<File, LockHolder>, TargetError> {
        let at = self.place(key, at)?;
        let doing = || action::lock(at.display());
        for _ in 0..RENEWALS {
            let mut options = File::options();
            options.read(true).write(self.folder.is_some()).create(self.folder.is_some());
            options.truncate(false).mode(0o644);
            // A link that another user has put there is never followed.
            options.custom_flags((OFlags::NOFOLLOW | OFlags::CLOEXEC).bits().cast_signed());
            let file = options.open(&at).context(doing())?;
            match flock(&file, FlockOperation::NonBlockingLockExclusive) {
                Err(Errno::WOULDBLOCK) => {
                    return Ok(Err(LockHolder { drive: drive.to_owned(), holder: holder(&file) }));
                }
                locked => locked.context(doing())?,
            }
            // The file disappears with its drive, and the next drive of that name has a new one.
            let number = |metadata: fs::Metadata| (metadata.dev(), metadata.ino());
            if file.metadata().map(number).ok() == fs::metadata(&at).map(number).ok() {
                return Ok(Ok(file));
            }
        }
        Err(TargetError::Refused(wording::unstable_drive(drive)))
    }

    fn place(&self, key: &Path, at: &Path) -> Result<PathBuf, TargetError> {
        let Some(folder) = &self.folder else { return Ok(at.to_owned()) };
        fs::create_dir_all(folder).context(action::make(folder.display()))?;
        let name: String = key.to_string_lossy().chars().map(|c| if c == '/' { '!' } else { c }).collect();
        Ok(folder.join(name))
    }
}

impl DriveLock {
    /// What is locked: the kernel's names of drives, or a file system whose drives are unknown. Empty if
    /// there is no drive, as for memory and networks.
    pub fn drives(&self) -> &[String] {
        &self.drives
    }
}

impl Drop for DriveLock {
    fn drop(&mut self) {
        // A program that is just being started has copies of these descriptors, and would hold the locks until it runs.
        for file in &self.files {
            let _ = flock(file, FlockOperation::Unlock);
        }
    }
}

/// How often /proc/locks is read: the kernel gives it in pieces, and may leave out a line if a lock ends in between.
const LOCKS_READ: u32 = 3;

/// Who holds the lock of an open file, as /proc/locks shows to all users.
fn holder(file: &File) -> String {
    let read = || String::from_utf8_lossy(&fs::read("/proc/locks").unwrap_or_default()).into_owned();
    let Some(process) = (0..LOCKS_READ).find_map(|_| process_of(file, &read())) else {
        return wording::INVISIBLE_HOLDER.to_owned();
    };
    let command = fs::read(format!("/proc/{process}/cmdline")).unwrap_or_default();
    let words: Vec<_> = command.split(|byte| *byte == 0).map(String::from_utf8_lossy).collect();
    let command: String = clean(words.join(" ").trim()).chars().take(COMMAND_CHARS).collect();
    if command.is_empty() { format!("process {process}") } else { format!("process {process}: {command}") }
}

/// The process that holds the lock, from lines such as `7: FLOCK  ADVISORY  WRITE 811 fe:00:5636489 0 EOF`
/// (proc(5)). The line of a waiting process has an arrow.
pub(crate) fn process_of(file: &File, text: &str) -> Option<u32> {
    let stat = fstat(file).ok()?;
    let number = format!("{:02x}:{:02x}:{}", major(stat.st_dev), minor(stat.st_dev), stat.st_ino);
    text.lines().find_map(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words[..] {
            [_, "FLOCK", _, _, process, locked, ..] if locked == number => process.parse().ok(),
            _ => None,
        }
    })
}

/// What is locked, sorted, so that all runs lock in the same order.
type Keys = BTreeMap<PathBuf, Lockable>;

/// The file that carries a lock, and what it locks: the kernel's name of a drive, or a file system.
struct Lockable {
    at: PathBuf,
    drive: String,
}

/// File systems with no drive of their own, besides the kernel's, [`MEMORY`] and [`REMOTE`].
const NO_DRIVE: [&str; 7] =
    ["devpts", "fuse.glusterfs", "fuse.sshfs", "glusterfs", "lustre", "nsfs", "vboxsf"];

/// Most levels of layers over layers; the kernel allows two.
const LAYERS_MOST: u32 = 4;

fn keys_of(paths: &[&Path]) -> Result<Keys, TargetError> {
    let mut keys = Keys::new();
    let (disks, mut visited) = (BlockDevice::disks(Path::new("/sys")), HashSet::new());
    for path in paths {
        let opened = open_path(path).context_at(action::LOOK_AT, path)?;
        let stat = fstat(&opened).context(action::look_at(path.display()))?;
        if FileType::from_raw_mode(stat.st_mode) == FileType::BlockDevice {
            let device = BlockDevice::by_number(DeviceNumber::from_raw(stat.st_rdev));
            device.iter().for_each(|device| add_keys(device, &disks, &mut keys, &mut visited));
            continue;
        }
        let mut add = |device: &BlockDevice| add_keys(device, &disks, &mut keys, &mut visited);
        // A list that cannot be read must not be taken for a folder without a drive.
        let unknown = || action::find_drive(path.display());
        let unlocatable = add_carriers(&opened, LAYERS_MOST, &mut add).context(unknown())?;
        if let Some(file_system) = unlocatable {
            let (key, lockable) = file_system.lockable(path).context(unknown())?;
            keys.insert(key, lockable);
        }
    }
    Ok(keys)
}

/// A file system whose drives are unknown, or known only to some of its users.
struct FileSystem {
    number: DeviceNumber,
    kind: String,
    /// Folders where the file system is mounted, its own root first.
    points: Vec<PathBuf>,
}

/// Adds the devices below an open file or folder. Returns its file system if these devices are unknown, or
/// not known to everybody who uses it.
fn add_carriers(
    opened: impl AsFd,
    layers_most: u32,
    add: &mut impl FnMut(&BlockDevice),
) -> std::io::Result<Option<FileSystem>> {
    let number = DeviceNumber::from_raw(fstat(&opened)?.st_dev);
    let Some(mount) = Mount::find(&opened)? else {
        // The process has a changed root (chroot), whose own mount is not listed.
        return Ok(match BlockDevice::by_number(number) {
            Some(device) => {
                add(&device);
                None
            }
            None => Some(FileSystem { number, kind: "unlisted".to_owned(), points: Vec::new() }),
        });
    };
    let lists = [&KERNEL_FILE_SYSTEMS[..], &MEMORY, &REMOTE, &NO_DRIVE];
    if lists.iter().any(|list| list.contains(&&*mount.kind)) {
        return Ok(None);
    }
    let mut devices = CounterSource::of_mount(&mount).devices().to_vec();
    if devices.is_empty() {
        // A file system without a device of its number names its devices, with colons between (bcachefs).
        let names = mount
            .source
            .as_bytes()
            .split(|byte| *byte == b':')
            .map(|name| Path::new(OsStr::from_bytes(name)));
        let numbers = names.filter(|name| name.is_absolute()).filter_map(DeviceNumber::at);
        devices = numbers.filter_map(BlockDevice::by_number).collect();
    }
    devices.iter().for_each(&mut *add);
    if !devices.is_empty() {
        return Ok(None);
    }
    for layer in mount.layers().iter().filter(|_| layers_most > 0) {
        // The path is that of the process that mounted the layers, and may lead elsewhere or nowhere here. A
        // lock too many only makes a run wait, and the file system itself is locked as well.
        if let Ok(layer) = open_path(layer) {
            add_carriers(layer, layers_most - 1, add)?;
        }
    }
    let mut visited: Vec<Mount> = all()?.into_iter().filter(|other| other.device == mount.device).collect();
    visited.sort_by_key(|other| (other.root.len(), other.point.len()));
    let points = visited.into_iter().map(|other| other.point.into()).collect();
    Ok(Some(FileSystem { number: mount.device, kind: mount.kind, points }))
}

impl FileSystem {
    /// What to lock for the file system: its root folder, if this user may read it.
    fn lockable(self, path: &Path) -> std::io::Result<(PathBuf, Lockable)> {
        let Self { number: DeviceNumber { major, minor }, kind, points } = self;
        let is_it = |point: &PathBuf| {
            let opened = File::open(point).and_then(|opened| opened.metadata());
            opened.is_ok_and(|metadata| {
                metadata.is_dir() && DeviceNumber::from_raw(metadata.dev()) == self.number
            })
        };
        let at = points.into_iter().find(is_it).map_or_else(|| fs::canonicalize(path), Ok)?;
        let drive = wording::file_system_drive(major, minor, &clean(&kind));
        Ok((PathBuf::from(format!("file-system-{major}:{minor}")), Lockable { at, drive }))
    }
}

/// Adds the devices at the bottom, below all partitions, mappings and loop devices, and the same disks by other paths.
fn add_keys(device: &BlockDevice, disks: &[BlockDevice], keys: &mut Keys, visited: &mut HashSet<PathBuf>) {
    if !visited.insert(device.folder().to_owned()) {
        return;
    }
    let below = [device.devices_below(), below_loop(device).unwrap_or_default()].concat();
    below.iter().for_each(|device| add_keys(device, disks, keys, visited));
    if !below.is_empty() {
        return;
    }
    add_key(device, keys);
    let known_by = |device: &BlockDevice| device.world_wide_name().zip(device.attribute("size"));
    if let Some(known) = known_by(device) {
        let twins = disks.iter().filter(|other| known_by(other).as_ref() == Some(&known));
        twins.for_each(|alias| add_key(alias, keys));
    }
}

fn add_key(device: &BlockDevice, keys: &mut Keys) {
    // All namespaces of an NVMe drive share one controller, and slow each other down.
    let is_nvme = device.bus().is_some_and(|bus| bus.starts_with("nvme"));
    let controller = is_nvme.then(|| fs::canonicalize(device.folder().join("device/serial")).ok()).flatten();
    let at = controller.unwrap_or_else(|| device.folder().join("dev"));
    keys.insert(at.clone(), Lockable { at, drive: device.name() });
}

// Checks that a journal is on other blocks than those that are rewritten.

/// File systems that may span several devices, which /sys does not list.
const ON_SEVERAL_DEVICES: [&str; 2] = ["bcachefs", "zfs"];
/// Memory: it shares nothing with a drive, but a journal there is lost with the power.
const MEMORY: [&str; 4] = ["tmpfs", "ramfs", "devtmpfs", "rootfs"];

/// Checks that the folder or file `kept` is durable and on other blocks than the block device `device`,
/// through any number of layers.
///
/// # Errors
/// A refusal, if this is not so or cannot be determined.
pub fn check_disjoint(kept: &Path, device: &Path) -> Result<(), TargetError> {
    let refuse = |reason: String| {
        Err(TargetError::Refused(wording::no_place_for_journal(kept.display(), device.display(), &reason)))
    };
    let mount = File::open(kept).context(action::open_path(kept.display())).map(Mount::containing)?;
    let Some(mount) = mount else { return refuse(wording::DRIVE_NOT_REPORTED.to_owned()) };
    let kind = &*mount.kind;
    if MEMORY.contains(&kind) {
        return refuse(wording::in_memory(kind));
    }
    if REMOTE.contains(&kind) {
        return Ok(());
    }
    let Some(ground) = BlockDevice::at_path(device) else {
        return refuse(wording::DEVICE_NOT_IN_SYS.to_owned());
    };
    let Some(mounted) = mount.block_device().filter(|_| !ON_SEVERAL_DEVICES.contains(&kind)) else {
        return refuse(wording::drives_unknown(kind));
    };
    let mut stands_on = HashSet::new();
    for member in btrfs_devices(Path::new("/sys"), mounted) {
        if !add_with_lower_devices(&member, &mut stands_on) {
            return refuse(wording::LOOP_BACKING_UNKNOWN.to_owned());
        }
    }
    if stands_on.contains(ground.folder()) {
        return refuse(wording::on_the_device(&ground.name()));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn disk(root: &Path, name: &str, files: &[(&str, &str)]) -> BlockDevice {
        let folder = root.join(name);
        for (name, text) in files {
            let path = folder.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        BlockDevice::at(fs::canonicalize(folder).unwrap())
    }

    fn keys(devices: &[&BlockDevice]) -> Vec<PathBuf> {
        let mut keys = Keys::new();
        let disks: Vec<BlockDevice> = devices.iter().copied().cloned().collect();
        let first = devices.iter().take(1);
        first.for_each(|device| add_keys(device, &disks, &mut keys, &mut HashSet::new()));
        keys.into_keys().collect()
    }

    #[test]
    fn all_ways_lead_to_the_same_keys() {
        let root = tempfile::tempdir().unwrap();
        let sda = disk(root.path(), "sda", &[("dev", "8:0\n")]);
        let part = disk(root.path(), "sda/sda1", &[("dev", "8:1\n"), ("partition", "1\n")]);
        let sdb = disk(root.path(), "sdb", &[("dev", "8:16\n")]);
        let mapped = disk(root.path(), "dm-0", &[("dev", "252:0\n"), ("slaves/x", "")]);
        for (name, target) in [("sda1", &part), ("sdb", &sdb)] {
            symlink(target.folder(), mapped.folder().join("slaves").join(name)).unwrap();
        }
        fs::remove_file(mapped.folder().join("slaves/x")).unwrap();
        let key = |disk: &BlockDevice| disk.folder().join("dev");
        for device in [&sda, &part] {
            assert_eq!(keys(&[device]), [key(&sda)]);
        }
        assert_eq!(keys(&[&sdb]), [key(&sdb)]);
        assert_eq!(keys(&[&mapped]), [key(&sda), key(&sdb)]);
    }

    #[test]
    fn namespaces_of_one_controller_share_a_key() {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir(root.path().join("nvme")).unwrap();
        let controller = root.path().join("nvme0");
        fs::create_dir(&controller).unwrap();
        fs::write(controller.join("serial"), "A 1\n").unwrap();
        symlink(root.path().join("nvme"), controller.join("subsystem")).unwrap();
        let make_namespace = |name: &str, number: &str| {
            let device = disk(root.path(), name, &[("dev", number)]);
            symlink(&controller, device.folder().join("device")).unwrap();
            device
        };
        let (first, second) = (make_namespace("nvme0n1", "259:0"), make_namespace("nvme0n2", "259:1"));
        for device in [&first, &second] {
            assert_eq!(keys(&[device]), [fs::canonicalize(controller.join("serial")).unwrap()]);
        }
    }

    #[test]
    fn a_disk_by_two_paths_has_one_lock() {
        let root = tempfile::tempdir().unwrap();
        let make_disk = |name: &str, wwid: &str, size: &str| {
            disk(root.path(), name, &[("dev", "8:0\n"), ("size", size), ("device/wwid", wwid)])
        };
        let (sda, sdb) =
            (make_disk("sda", "naa.5000c500a1b2c3d4", "8"), make_disk("sdb", "naa.5000c500a1b2c3d4", "8"));
        let (other, size) =
            (make_disk("sdc", "naa.5000c500a1b2c3d5", "8"), make_disk("sdd", "naa.5000c500a1b2c3d4", "16"));
        let both = [&sda, &sdb].map(|disk| disk.folder().join("dev"));
        assert_eq!(keys(&[&sda, &sdb, &other, &size]), both);
        assert_eq!(keys(&[&sdb, &sda, &other, &size]), both);
        assert_eq!(keys(&[&other, &sda, &sdb]), [other.folder().join("dev")]);
    }

    #[test]
    fn who_waits_for_a_lock_does_not_hold_it() {
        let file = tempfile::tempfile().unwrap();
        let stat = fstat(&file).unwrap();
        let number = format!("{:02x}:{:02x}:{}", major(stat.st_dev), minor(stat.st_dev), stat.st_ino);
        let text = format!(
            "1: POSIX  ADVISORY  READ 5 {number} 0 EOF\n2: FLOCK  ADVISORY  WRITE 6 00:16:1 0 EOF\n\
             3: FLOCK  ADVISORY  WRITE 7 {number} 0 EOF\n3: -> FLOCK  ADVISORY  WRITE 8 {number} 0 EOF\n"
        );
        assert_eq!(process_of(&file, &text), Some(7));
        assert_eq!(process_of(&file, ""), None);
    }

    #[test]
    fn a_btrfs_stands_on_all_of_its_devices() {
        let root = tempfile::tempdir().unwrap();
        let sys = fs::canonicalize(root.path()).unwrap();
        for folder in ["sda", "sdb", "sdc", "fs/btrfs/features", "fs/btrfs/1-2-3/devices"] {
            fs::create_dir_all(sys.join(folder)).unwrap();
        }
        for name in ["sda", "sdb"] {
            symlink(sys.join(name), sys.join("fs/btrfs/1-2-3/devices").join(name)).unwrap();
        }
        let members_of = |name: &str| {
            let devices = btrfs_devices(&sys, BlockDevice::at(sys.join(name)));
            devices.iter().map(BlockDevice::name).collect::<Vec<_>>()
        };
        assert_eq!(members_of("sdb"), ["sda", "sdb"]);
        assert_eq!(members_of("sdc"), ["sdc"]);
    }
}
