//! A lock on the drives below a path, so that two runs never meet on one drive, whatever way each comes: by a folder, a file, a partition, a
//! mapped device, a loop device over a file, or the disk itself. Two measurements side by side would spoil each other; two that change a drive, worse.
//!
//! It is a lock of the kernel (flock) on a file in /sys that every drive has: `/sys/block/NAME/dev`, and of an NVMe drive its controller's
//! `serial`, as one namespace slows the others. This place was chosen against three others:
//! - A folder of lock files, such as /run/lock, does not exist everywhere, and who made a file may remove it: then two runs lock two files. Root and
//!   users would have to share it, and whoever came first could keep the others out.
//! - A device's own node cannot be opened by those who may measure a folder on it, and udev gives that lock another meaning.
//! - The name of a socket (abstract, unix(7)) can be taken by anybody who wants to keep others out, without being named.
//!
//! A file in /sys is there for every user, can be made and removed by none, and needs no right but to read. Whoever holds its lock stands in
//! /proc/locks, so that the process is named, also one that only wants to be in the way. It ends with the program that holds it, however
//! that ends. Containers that share the host's network share its /sys and meet; others have a /sys of their own, and do not.
//!
//! Below a loop device lies the drive that holds its file; one over memory is a drive of its own.

use std::collections::{BTreeMap, HashSet};
use std::fs::{self, File};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use likenew_core::fault::Fault;
use likenew_core::units::Nanos;
use rustix::fs::{FileType, FlockOperation, Mode, OFlags, flock, fstat, major, minor};
use rustix::io::Errno;

use crate::block::BlockDevice;
use crate::clock::Monotonic;
use crate::counter_source::CounterSource;
use crate::drive_facts::clean;
use crate::fault::{failed, not_possible};
use crate::loop_device::{Backing, Store};
use crate::mounts::{DeviceNumber, Mount};

/// So often, and so long apart, a lock is tried before somebody is said to hold it: a program that is just being started holds copies of all
/// descriptors of the one that starts it.
const TRIES: u32 = 40;
const PAUSE: Nanos = Nanos::from_millis(25);
/// How often it is looked whether a drive that is waited for has become free.
const WAITING_PAUSE: Nanos = Nanos::from_millis(200);
/// A file that was made anew while it was locked is locked again, so often.
const RENEWALS: u32 = 10;
/// A command is told up to this length.
const COMMAND_CHARS: usize = 120;

/// Where locks are.
#[derive(Clone, Debug)]
pub struct Locks {
    folder: Option<PathBuf>,
}

/// Held as long as this lives.
#[derive(Debug, Default)]
pub struct DriveLock {
    drives: Vec<String>,
    files: Vec<File>,
}

/// Somebody holds a drive.
struct Busy {
    drive: String,
    holder: String,
}

impl Locks {
    /// Those that all users of this machine share.
    pub fn system() -> Self {
        Self { folder: None }
    }

    /// Those in a folder, for tests, which run side by side on one drive: whoever has another folder is not met.
    pub fn in_folder(folder: PathBuf) -> Self {
        Self { folder: Some(folder) }
    }

    /// Locks every drive below these folders, files or block devices.
    ///
    /// # Errors
    /// A refusal that says who holds one and what to do; or a path cannot be looked at.
    pub fn take(&self, paths: &[&Path]) -> Result<DriveLock, Fault> {
        let keys = keys_of(paths)?;
        let clock = Monotonic::start();
        for _ in 1..TRIES {
            if let Ok(lock) = self.try_all(&keys)? {
                return Ok(lock);
            }
            clock.rest(clock.now() + PAUSE);
        }
        self.try_all(&keys)?.map_err(|busy| Fault::Refused(refusal(paths, &busy)))
    }

    /// The same, and waits for as long as somebody holds one of them. `goes_on` is asked again and again, with who that is; nothing comes of it
    /// once it says no.
    ///
    /// # Errors
    /// A path cannot be looked at.
    pub fn wait(
        &self,
        paths: &[&Path],
        goes_on: &mut dyn FnMut(&str) -> bool,
    ) -> Result<Option<DriveLock>, Fault> {
        let keys = keys_of(paths)?;
        let clock = Monotonic::start();
        loop {
            // All or none: who waits keeps nobody waiting.
            match self.try_all(&keys)? {
                Ok(lock) => return Ok(Some(lock)),
                Err(Busy { drive, holder }) => {
                    if !goes_on(&format!("the drive {drive} ({holder})")) {
                        return Ok(None);
                    }
                }
            }
            clock.rest(clock.now() + WAITING_PAUSE);
        }
    }

    fn try_all(&self, keys: &Keys) -> Result<Result<DriveLock, Busy>, Fault> {
        let mut lock = DriveLock::default();
        for (key, drive) in keys {
            match self.try_one(key, drive)? {
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

    fn try_one(&self, key: &Path, drive: &str) -> Result<Result<File, Busy>, Fault> {
        let at = self.place(key)?;
        let doing = || format!("lock {}", at.display());
        for _ in 0..RENEWALS {
            let mut options = File::options();
            options.read(true).write(self.folder.is_some()).create(self.folder.is_some());
            options.truncate(false).mode(0o644);
            // A link that somebody has put there is followed nowhere.
            options.custom_flags((OFlags::NOFOLLOW | OFlags::CLOEXEC).bits().cast_signed());
            let file = options.open(&at).map_err(Fault::system(doing()))?;
            match flock(&file, FlockOperation::NonBlockingLockExclusive) {
                Err(Errno::WOULDBLOCK) => {
                    return Ok(Err(Busy { drive: drive.to_owned(), holder: holder(&file) }));
                }
                locked => locked.map_err(failed(doing()))?,
            }
            // A drive that was unplugged takes its file along, and the next one of that name has another.
            let number = |found: fs::Metadata| (found.dev(), found.ino());
            if file.metadata().map(number).ok() == fs::metadata(&at).map(number).ok() {
                return Ok(Ok(file));
            }
        }
        Err(Fault::Refused(format!(
            "the drive {drive} comes and goes, so nobody can keep others from it; start again when it stays"
        )))
    }

    fn place(&self, key: &Path) -> Result<PathBuf, Fault> {
        let Some(folder) = &self.folder else { return Ok(key.to_owned()) };
        fs::create_dir_all(folder).map_err(Fault::system(format!("make {}", folder.display())))?;
        let name: String = key.to_string_lossy().chars().map(|c| if c == '/' { '!' } else { c }).collect();
        Ok(folder.join(name))
    }
}

impl DriveLock {
    /// The kernel's names of what is locked; nothing for what has no drive of its own, such as memory and networks.
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

fn refusal(paths: &[&Path], Busy { drive, holder }: &Busy) -> String {
    let paths: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
    format!(
        "{} can not be used now: another run of likenew works on the drive {drive} below it ({holder}); wait for that to end \
         (--wait-for-drive waits), or end it",
        paths.join(", ")
    )
}

/// Who holds the lock of an open file, as /proc/locks tells everybody.
fn holder(file: &File) -> String {
    let Some(process) = fs::read_to_string("/proc/locks").ok().and_then(|text| process_of(file, &text))
    else {
        return "a process that is not seen from here".to_owned();
    };
    let command = fs::read(format!("/proc/{process}/cmdline")).unwrap_or_default();
    let words: Vec<_> = command.split(|byte| *byte == 0).map(String::from_utf8_lossy).collect();
    let command: String = clean(words.join(" ").trim()).chars().take(COMMAND_CHARS).collect();
    if command.is_empty() { format!("process {process}") } else { format!("process {process}: {command}") }
}

/// Lines such as `7: FLOCK  ADVISORY  WRITE 811 fe:00:5636489 0 EOF` (proc(5)); who waits for one has an arrow in it.
pub(crate) fn process_of(file: &File, text: &str) -> Option<u32> {
    let stat = fstat(file).ok()?;
    let number = format!("{:02x}:{:02x}:{}", major(stat.st_dev), minor(stat.st_dev), stat.st_ino);
    text.lines().find_map(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words[..] {
            [_, "FLOCK", _, _, process, of, ..] if of == number => process.parse().ok(),
            _ => None,
        }
    })
}

/// What is locked, each with the kernel's name of the drive. All runs lock in the same order.
type Keys = BTreeMap<PathBuf, String>;

fn keys_of(paths: &[&Path]) -> Result<Keys, Fault> {
    let mut keys = Keys::new();
    for path in paths {
        let flags = OFlags::PATH | OFlags::CLOEXEC;
        let opened = rustix::fs::open(*path, flags, Mode::empty())
            .map_err(|errno| not_possible("look at", path, errno))?;
        let stat = fstat(&opened).map_err(failed(format!("look at {}", path.display())))?;
        let tops: Vec<BlockDevice> = if FileType::from_raw_mode(stat.st_mode) == FileType::BlockDevice {
            BlockDevice::numbered(DeviceNumber::of(stat.st_rdev)).into_iter().collect()
        } else {
            Mount::of(&opened)
                .map(|mount| CounterSource::of_mount(&mount).devices().collect())
                .unwrap_or_default()
        };
        let mut seen = HashSet::new();
        tops.iter().for_each(|top| add_keys(top, &mut keys, &mut seen));
    }
    Ok(keys)
}

/// Of the devices at the bottom, below all partitions, mappings and loop devices.
fn add_keys(device: &BlockDevice, keys: &mut Keys, seen: &mut HashSet<PathBuf>) {
    if !seen.insert(device.folder().to_owned()) {
        return;
    }
    let below = [device.below(), below_loop(device)].concat();
    below.iter().for_each(|device| add_keys(device, keys, seen));
    if !below.is_empty() {
        return;
    }
    // What is done to one namespace of an NVMe drive goes through the one controller, and is felt in all of them.
    let is_nvme = device.bus().is_some_and(|bus| bus.starts_with("nvme"));
    let controller = is_nvme.then(|| fs::canonicalize(device.folder().join("device/serial")).ok()).flatten();
    keys.insert(controller.unwrap_or_else(|| device.folder().join("dev")), device.name());
}

/// The devices that hold the file behind a loop device, or the one that it stands on; none where that is memory, or cannot be seen from here.
fn below_loop(device: &BlockDevice) -> Vec<BlockDevice> {
    let Some(Backing { store, .. }) = Backing::of(device) else { return Vec::new() };
    let system = match store {
        Store::Device(number) => return BlockDevice::numbered(number).into_iter().collect(),
        Store::File { device, .. } => BlockDevice::numbered(DeviceNumber::of(device)),
    };
    let path = device.attribute("loop/backing_file").map(PathBuf::from);
    let path = path.filter(|path| Store::at(path) == Some(store));
    let opened =
        path.and_then(|path| rustix::fs::open(path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty()).ok());
    match opened.and_then(Mount::of) {
        Some(mount) => CounterSource::of_mount(&mount).devices().collect(),
        None => system.into_iter().collect(),
    }
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
        devices.iter().for_each(|device| add_keys(device, &mut keys, &mut HashSet::new()));
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
        let of = |name: &str, number: &str| {
            let device = disk(root.path(), name, &[("dev", number)]);
            symlink(&controller, device.folder().join("device")).unwrap();
            device
        };
        let (first, second) = (of("nvme0n1", "259:0"), of("nvme0n2", "259:1"));
        assert_eq!(keys(&[&first, &second]), [fs::canonicalize(controller.join("serial")).unwrap()]);
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
}
