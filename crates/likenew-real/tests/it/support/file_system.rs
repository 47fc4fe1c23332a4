//! File systems on loop devices, files with every kind of metadata, and their complete state.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::os::unix::fs::{FileExt as _, MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use likenew_real::file_store::FileStore;
use likenew_refresh::{Folder, JournalFile, JournalPaths, RefreshError, Settings, Task};

use super::{Loop, Mounted, disk_folder, run};

pub const MIB: usize = 1 << 20;

/// A separate file system on a loop device.
pub struct FileSystem {
    // Unmounted before it is detached.
    mounted: Mounted,
    _device: Loop,
    _place: tempfile::TempDir,
}

impl FileSystem {
    /// `None` if it cannot be made or mounted, with a message.
    pub fn make(mkfs: &[&str], mib: u64) -> Option<Self> {
        let place = disk_folder();
        let image = place.path().join("image");
        File::create_new(&image).unwrap().set_len(mib << 20).unwrap();
        run(mkfs[0], &[&mkfs[1..], &[image.to_str().unwrap()]].concat())?;
        let device = Loop::attach(&image)?;
        let mounted = Mounted::mount(&[device.0.to_str().unwrap()])?;
        Some(Self { mounted, _device: device, _place: place })
    }

    pub fn path(&self) -> &Path {
        self.mounted.path()
    }
}

pub const EXT4: (&[&str], u64) = (&["mkfs.ext4", "-q", "-F"], 64);
pub const XFS: (&[&str], u64) = (&["mkfs.xfs", "-q", "-f", "-m", "reflink=1"], 320);
pub const BTRFS: (&[&str], u64) = (&["mkfs.btrfs", "-q", "-f"], 256);

pub fn all() -> impl Iterator<Item = (&'static str, FileSystem)> {
    [EXT4, XFS, BTRFS].into_iter().filter_map(|(mkfs, mib)| Some((mkfs[0], FileSystem::make(mkfs, mib)?)))
}

pub fn bytes(length: usize, seed: u64) -> Vec<u8> {
    let mut state = seed | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state as u8
    };
    (0..length).map(|_| next()).collect()
}

/// Everything that can be known of a file, except its inode's change time.
#[derive(Debug, PartialEq)]
pub struct FileSystemState {
    pub content: Vec<u8>,
    numbers: (u64, u32, u32, u32, u64, u64, u64),
    times: (i64, i64, i64, i64),
    attributes: BTreeMap<String, Vec<u8>>,
}

impl FileSystemState {
    pub fn of(path: &Path) -> Self {
        let stat = fs::symlink_metadata(path).unwrap();
        let times = (stat.atime(), stat.atime_nsec(), stat.mtime(), stat.mtime_nsec());
        let attributes = ["user.colour", "user.empty"].into_iter().filter_map(|name| {
            let mut value = vec![0; 100];
            let length = rustix::fs::getxattr(path, name, &mut value[..]).ok()?;
            value.truncate(length);
            Some((name.to_owned(), value))
        });
        let numbers =
            (stat.ino(), stat.mode(), stat.uid(), stat.gid(), stat.nlink(), stat.size(), stat.blocks());
        let attributes = attributes.collect();
        // Reading may change the access time, which is set back.
        let content = fs::read(path).unwrap();
        let [accessed, modified] = [stat.accessed().unwrap(), stat.modified().unwrap()];
        let times_back = fs::FileTimes::new().set_accessed(accessed).set_modified(modified);
        OpenOptions::new().write(true).open(path).unwrap().set_times(times_back).unwrap();
        Self { content, numbers, times, attributes }
    }
}

/// A file with every kind of metadata, made durable.
pub fn file(folder: &Path) -> PathBuf {
    let path = folder.join("holiday.mov");
    let file = File::create_new(&path).unwrap();
    file.write_all_at(&bytes(5 * MIB + 777, 3), 0).unwrap();
    file.sync_all().unwrap();
    // A hole, reserved blocks, and written zeros.
    run("fallocate", &["--punch-hole", "--offset", "1MiB", "--length", "1MiB", path.to_str().unwrap()]);
    run("fallocate", &["--offset", "6MiB", "--length", "1MiB", path.to_str().unwrap()]);
    file.write_all_at(&vec![0; 256 << 10], 3 << 20).unwrap();
    file.set_permissions(fs::Permissions::from_mode(0o640)).unwrap();
    std::os::unix::fs::chown(&path, Some(1234), Some(4321)).unwrap();
    for (name, value) in [("user.colour", &b"blue"[..]), ("user.empty", b"")] {
        if let Err(errno) = rustix::fs::setxattr(&path, name, value, rustix::fs::XattrFlags::empty()) {
            eprintln!("SKIPPED: attributes: {errno}");
        }
    }
    fs::hard_link(&path, folder.join("the same")).unwrap();
    let past = std::time::UNIX_EPOCH + std::time::Duration::new(1_000_000_007, 123_456_000);
    file.set_times(fs::FileTimes::new().set_accessed(past).set_modified(past)).unwrap();
    file.sync_all().unwrap();
    path
}

/// Takes a file that another test's program may have open for a moment: until that runs, it holds copies of
/// all descriptors.
pub fn take(path: &Path) -> FileStore {
    for _ in 0..200 {
        match FileStore::take(path) {
            Err(target_error) if target_error.to_string().contains("another program has it open") => {
                std::thread::sleep(std::time::Duration::from_millis(5));
            }
            taken => return taken.unwrap(),
        }
    }
    FileStore::take(path).unwrap()
}

pub fn task(store: &FileStore, chunk_bytes: u32) -> Task {
    Task {
        identity: store.identity().to_owned(),
        note: store.times(),
        ranges: store.ranges().to_vec(),
        settings: Settings { chunk_bytes, ..Settings::default() },
        ..Task::default()
    }
}

/// The path of a journal.
pub fn place(path: &Path) -> JournalPaths {
    let folder = Folder::open(path.parent().unwrap()).unwrap();
    JournalPaths::new(folder, path.file_name().unwrap(), "salvage")
}

pub fn create_file(path: &Path) -> JournalFile {
    JournalFile::create(&place(path)).unwrap()
}

/// Opens a journal, whose lock a process of another test may hold for a moment.
pub fn open_file(path: &Path) -> JournalFile {
    for _ in 0..200 {
        match JournalFile::open(&place(path)) {
            Err(RefreshError::InUse(_)) => std::thread::sleep(std::time::Duration::from_millis(5)),
            opened => return opened.unwrap().unwrap(),
        }
    }
    panic!("{} is in use", path.display())
}
