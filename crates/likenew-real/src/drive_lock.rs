//! A lock on the drives below a path, so that two runs that do something powerful never meet on one, whatever way they come: by a
//! folder, a partition, a mapped device or the disk itself.
//!
//! It is a lock of the kernel (flock) on a file for each drive, in `/run/lock/likenew`, or in `$XDG_RUNTIME_DIR/likenew` for whoever may
//! not write there. It ends with the program that holds it, however that ends; the files stay, and mean nothing by themselves.
//! A loop device is a drive of its own: the file behind it is a file like others on its file system.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{Read as _, Seek as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use likenew_core::fault::Fault;
use rustix::fs::{FileType, FlockOperation, Mode, OFlags, flock, fstat};
use rustix::io::Errno;

use crate::block::BlockDevice;
use crate::counter_source::CounterSource;
use crate::fault::{failed, not_possible};
use crate::mounts::{DeviceNumber, Mount};

/// Held as long as this lives.
#[derive(Debug)]
pub struct DriveLock {
    drives: Vec<String>,
    _files: Vec<File>,
}

impl DriveLock {
    /// Locks every drive below a folder, file or block device. `purpose` tells others what for: `recondition /mnt`.
    ///
    /// # Errors
    /// A refusal that says who holds it and what to do; there is no place for locks; or the path can not be looked at.
    pub fn take(path: &Path, purpose: &str) -> Result<Self, Fault> {
        let drives = drives_below(path)?;
        let directory = directory()?;
        let files = drives.iter().map(|(key, name)| lock(&directory, key, name, path, purpose));
        let _files = files.collect::<Result<_, _>>()?;
        let mut drives: Vec<String> = drives.into_values().collect();
        drives.sort();
        drives.dedup();
        Ok(Self { drives, _files })
    }

    /// The kernel's names of what is locked; nothing for what has no drive of its own, such as memory and networks.
    pub fn drives(&self) -> &[String] {
        &self.drives
    }
}

/// What is locked, each with the name by which people know it. All runs lock in the same order.
type Keys = BTreeMap<String, String>;

fn drives_below(path: &Path) -> Result<Keys, Fault> {
    let flags = OFlags::PATH | OFlags::CLOEXEC;
    let opened =
        rustix::fs::open(path, flags, Mode::empty()).map_err(|errno| not_possible("look at", path, errno))?;
    let stat = fstat(&opened).map_err(failed(format!("look at {}", path.display())))?;
    let tops: Vec<BlockDevice> = if FileType::from_raw_mode(stat.st_mode) == FileType::BlockDevice {
        BlockDevice::numbered(DeviceNumber::of(stat.st_rdev)).into_iter().collect()
    } else {
        Mount::of(&opened)
            .map(|mount| CounterSource::of_mount(&mount).devices().collect())
            .unwrap_or_default()
    };
    let mut keys = Keys::new();
    tops.iter().for_each(|top| add_keys(top, &mut keys));
    Ok(keys)
}

/// Of the devices at the bottom, below all partitions and mappings.
fn add_keys(device: &BlockDevice, keys: &mut Keys) {
    let below = device.below();
    below.iter().for_each(|device| add_keys(device, keys));
    if !below.is_empty() {
        return;
    }
    let name = device.name();
    if let Some(DeviceNumber { major, minor }) = device.number() {
        keys.insert(format!("{major}-{minor}"), name.clone());
    }
    // What is done to one namespace of an NVMe drive may reach all of them, and goes through the one controller.
    let controller =
        device.bus().is_some_and(|bus| bus.starts_with("nvme")).then(|| device.attribute("device/serial"));
    if let Some(serial) = controller.flatten() {
        let safe: String = serial.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
        keys.insert(format!("nvme-{safe}"), name);
    }
}

/// Where the files are.
fn directory() -> Result<PathBuf, Fault> {
    let shared = PathBuf::from("/run/lock/likenew");
    let made = fs::create_dir_all(&shared);
    let is_ours = || rustix::fs::access(&shared, rustix::fs::Access::WRITE_OK).is_ok();
    if made.is_ok() && is_ours() {
        return Ok(shared);
    }
    let own = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from).filter(|path| path.is_absolute());
    let own = own.map(|path| path.join("likenew"));
    match own.filter(|path| fs::create_dir_all(path).is_ok()) {
        Some(path) => Ok(path),
        None => Err(Fault::Refused(
            "there is no place for a lock that keeps two runs from one drive: /run/lock/likenew can not be written, and \
             XDG_RUNTIME_DIR names no folder that can; run this as root, or set XDG_RUNTIME_DIR to a folder of your own"
                .to_owned(),
        )),
    }
}

fn lock(directory: &Path, key: &str, name: &str, path: &Path, purpose: &str) -> Result<File, Fault> {
    let at = directory.join(format!("{key}.lock"));
    let mut options = File::options();
    // A link that somebody has put there is followed nowhere.
    let options = options.read(true).write(true).create(true).truncate(false).mode(0o644);
    let opened = options.custom_flags((OFlags::NOFOLLOW | OFlags::CLOEXEC).bits().cast_signed()).open(&at);
    let doing = format!("make the lock {}", at.display());
    let mut file = opened.map_err(Fault::system(doing.clone()))?;
    match flock(&file, FlockOperation::NonBlockingLockExclusive) {
        Err(Errno::WOULDBLOCK) => {
            let mut holder = String::new();
            let _ = file.read_to_string(&mut holder);
            let holder =
                holder.lines().next().map_or_else(|| "somebody".to_owned(), crate::drive_facts::clean);
            return Err(Fault::Refused(format!(
                "{} stays as it is: another run of likenew works on the drive {name} below it ({holder}); wait for that to end, or end it",
                path.display()
            )));
        }
        locked => locked.map_err(failed(doing.clone()))?,
    }
    let written = file.set_len(0).and_then(|()| file.rewind()).and_then(|()| {
        writeln!(file, "process {}: {}", std::process::id(), crate::drive_facts::clean(purpose))
    });
    written.map_err(Fault::system(doing))?;
    Ok(file)
}

#[cfg(test)]
mod tests {
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

    #[test]
    fn all_ways_lead_to_the_same_keys() {
        let root = tempfile::tempdir().unwrap();
        let of = |device: &BlockDevice| {
            let mut keys = Keys::new();
            add_keys(device, &mut keys);
            keys.into_keys().collect::<Vec<_>>()
        };
        let sda = disk(root.path(), "sda", &[("dev", "8:0\n")]);
        let part = disk(root.path(), "sda/sda1", &[("dev", "8:1\n"), ("partition", "1\n")]);
        let sdb = disk(root.path(), "sdb", &[("dev", "8:16\n")]);
        let mapped = disk(root.path(), "dm-0", &[("dev", "252:0\n"), ("slaves/x", "")]);
        for (name, target) in [("sda1", &part), ("sdb", &sdb)] {
            std::os::unix::fs::symlink(target.folder(), mapped.folder().join("slaves").join(name)).unwrap();
        }
        fs::remove_file(mapped.folder().join("slaves/x")).unwrap();
        assert_eq!(
            (of(&sda), of(&part), of(&sdb)),
            (vec!["8-0".into()], vec!["8-0".into()], vec!["8-16".into()])
        );
        assert_eq!(of(&mapped), ["8-0", "8-16"]);
    }

    #[test]
    fn namespaces_of_one_controller_share_a_key() {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir(root.path().join("nvme")).unwrap();
        let mut keys = Keys::new();
        for (name, number) in [("nvme0n1", "259:0"), ("nvme0n2", "259:1")] {
            let device = disk(root.path(), name, &[("dev", number), ("device/serial", "A/../B 1\n")]);
            std::os::unix::fs::symlink(root.path().join("nvme"), device.folder().join("device/subsystem"))
                .unwrap();
            add_keys(&device, &mut keys);
        }
        assert_eq!(keys.into_keys().collect::<Vec<_>>(), ["259-0", "259-1", "nvme-A____B_1"]);
    }
}
