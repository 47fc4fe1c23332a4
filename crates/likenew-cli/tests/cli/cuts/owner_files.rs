//! The owner's files: everything that must be unchanged afterwards.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File, FileTimes};
use std::io::Read as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{FileExt as _, MetadataExt as _, PermissionsExt as _, chown, symlink};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use rustix::fs::{
    Dir, FallocateFlags, Mode, OFlags, SeekFrom, XattrFlags, fallocate, lgetxattr, llistxattr, lsetxattr,
    seek,
};
use rustix::io::Errno;

use crate::serve::noise;

const NOTE: &str = "user.note";
/// Attributes of all kinds that a file can have, one of them empty.
const ATTRIBUTES: [(&str, &[u8]); 4] = [
    (NOTE, b"holidays"),
    ("user.empty", b""),
    ("trusted.note", b"for root"),
    ("security.note", b"of a module"),
];
/// In March 2024, with a part of a second that all file systems here keep.
const LONG_AGO: Duration = Duration::new(1_709_300_000, 123_456_789);
/// A hole in the first of the old files.
const HOLE: std::ops::Range<u64> = 3 << 20..(3 << 20) + (256 << 10);

/// Everything of the owner in a folder, by relative path; the folder itself has an empty one.
#[derive(PartialEq)]
pub(crate) struct FolderState(BTreeMap<PathBuf, PathState>);

#[derive(PartialEq)]
struct PathState {
    inode: u64,
    links: u64,
    /// Everything that must never change.
    description: String,
    modified: (i64, i64),
    /// The content of a file.
    bytes: Vec<u8>,
}

/// Creates photos, small files, a link, hard links of a photo and of a film, a file with a hole, and one with
/// an attribute, beside old films, one of which gets a hole.
pub(crate) fn make(folder: &Path) {
    make_hole(&folder.join(OLD[0]));
    // A file system that imports files may only keep whole seconds.
    make_old_again(folder);
    let bytes = noise(9 << 20);
    let photos = folder.join("photos");
    fs::create_dir(&photos).unwrap();
    for (index, part) in bytes[..5 << 20].chunks(1_111_111).enumerate() {
        fs::write(photos.join(format!("{index}.jpg")), part).unwrap();
    }
    let letters = folder.join("letters");
    fs::create_dir(&letters).unwrap();
    for index in 0..60 {
        fs::write(letters.join(index.to_string()), &bytes[index * 777..][..index * 97]).unwrap();
    }
    fs::hard_link(photos.join("0.jpg"), folder.join("best.jpg")).unwrap();
    symlink("photos/1.jpg", folder.join("link")).unwrap();
    let sparse = File::create(folder.join("sparse")).unwrap();
    sparse.set_len(4 << 20).unwrap();
    sparse.write_all_at(&bytes[..100_000], 2 << 20).unwrap();
    fs::hard_link(folder.join(OLD[0]), photos.join("a film")).unwrap();
    lsetxattr(photos.join("2.jpg"), NOTE, b"grandmother", XattrFlags::empty()).unwrap();
}

/// Names of the old files.
pub(crate) const OLD: [&str; 2] = ["film", "short"];

/// Creates films that were not touched for long: one of which pieces are measured, and one too short for
/// that. With their own owner, mode and attribute.
pub(crate) fn make_old(folder: &Path) {
    let bytes = noise(9 << 20);
    for (name, part) in OLD.into_iter().zip([&bytes[..], &bytes[5 << 20..7 << 20]]) {
        let path = folder.join(name);
        fs::write(&path, part).unwrap();
        for (name, value) in ATTRIBUTES {
            match lsetxattr(&path, name, value, XattrFlags::empty()) {
                // Not every file system supports all of them, and not every user may set them.
                Err(Errno::NOTSUP | Errno::PERM) => eprintln!("no attribute {name} is compared"),
                set => set.unwrap(),
            }
        }
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        chown(&path, Some(1234), Some(4321)).unwrap();
        make_older(&path);
    }
}

fn make_older(path: &Path) {
    let long_ago = SystemTime::UNIX_EPOCH + LONG_AGO;
    let times = FileTimes::new().set_accessed(long_ago).set_modified(long_ago);
    File::options().write(true).open(path).unwrap().set_times(times).unwrap();
}

/// Sets the times of the old files back, as their owner would.
pub(crate) fn make_old_again(folder: &Path) {
    for name in OLD {
        make_older(&folder.join(name));
    }
}

/// Reserves as much space beyond the end as the hole saves, because a file with fewer blocks than its length
/// is skipped.
fn make_hole(path: &Path) {
    let file = File::options().write(true).open(path).unwrap();
    let (length, end) = (HOLE.end - HOLE.start, file.metadata().unwrap().len());
    let punch = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
    fallocate(&file, punch, HOLE.start, length).unwrap();
    fallocate(&file, FallocateFlags::KEEP_SIZE, end, 2 * length).unwrap();
}

impl FolderState {
    /// Reads the state of a folder, without temporary files and without those in `apart`.
    pub(crate) fn of(folder: &Path, apart: &[&str]) -> Self {
        let mut all = BTreeMap::new();
        collect(folder, folder, apart, &mut all);
        Self(all)
    }

    /// What a file held.
    pub(crate) fn bytes(&self, name: &str) -> &[u8] {
        &self.0[Path::new(name)].bytes
    }

    /// The first difference, except in the time of the folder itself, where a kill or a cut leaves temporary
    /// files.
    pub(crate) fn difference(&self, now: &Self) -> Option<String> {
        self.differs(now, |path, _, _| path.as_os_str().is_empty())
    }

    /// The same with the time of the folder itself: after a run that ended by itself.
    pub(crate) fn difference_or_folder(&self, now: &Self) -> Option<String> {
        self.differs(now, |_, _, _| false)
    }

    /// Like [`FolderState::difference`], except that one of the old files may have a later modification time,
    /// up to now: that is what a kill or a cut leaves in the middle of a write.
    pub(crate) fn difference_after_cut(&self, now: &Self) -> Option<String> {
        let newer = self.newer(now);
        if newer.len() > 1 {
            return Some("the times of several files are later".to_owned());
        }
        self.differs(now, |path, thing, _| path.as_os_str().is_empty() || newer.contains(&thing.inode))
    }

    /// The old files that were modified later, by their inodes.
    pub(crate) fn newer(&self, now: &Self) -> BTreeSet<u64> {
        let present = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap();
        let present = (present.as_secs().cast_signed(), i64::from(present.subsec_nanos()));
        let old = OLD.into_iter().map(Path::new);
        old.filter_map(|name| Some((self.0.get(name)?, now.0.get(name)?)))
            .filter(|(was, is)| was.modified < is.modified && is.modified <= present)
            .map(|(was, _)| was.inode)
            .collect()
    }

    /// The first file or folder below with another time.
    pub(crate) fn moved_time(&self, now: &Self) -> Option<String> {
        let moved = |(path, thing): (&PathBuf, &PathState)| {
            let now = now.0.get(path)?;
            let has_moved = now.modified != thing.modified && !path.as_os_str().is_empty();
            has_moved.then(|| format!("{}: {:?} became {:?}", path.display(), thing.modified, now.modified))
        };
        self.0.iter().find_map(moved)
    }

    /// The first difference; `may_move` selects files whose modification time is not compared.
    fn differs(
        &self,
        now: &Self,
        may_move: impl Fn(&Path, &PathState, &PathState) -> bool,
    ) -> Option<String> {
        let of_one = |path: &PathBuf, thing: &PathState| match now.0.get(path) {
            None => Some(format!("{} is gone", path.display())),
            Some(now) if now.description != thing.description => {
                Some(format!("{}: {} instead of {}", path.display(), now.description, thing.description))
            }
            Some(now) if now.links != thing.links => {
                Some(format!("{}: {} links instead of {}", path.display(), now.links, thing.links))
            }
            Some(now) if now.bytes != thing.bytes => Some(format!("{} holds other bytes", path.display())),
            Some(now) if now.modified != thing.modified && !may_move(path, thing, now) => Some(format!(
                "{} changed at {:?} instead of {:?}",
                path.display(),
                now.modified,
                thing.modified
            )),
            Some(_) => None,
        };
        let changed = self.0.iter().find_map(|(path, thing)| of_one(path, thing));
        changed.or_else(|| {
            let new = now.0.keys().find(|path| !self.0.contains_key(*path))?;
            Some(format!("{} is new", new.display()))
        })
    }
}

/// Reads a folder and everything below it, and keeps all access times.
fn collect(root: &Path, folder: &Path, apart: &[&str], all: &mut BTreeMap<PathBuf, PathState>) {
    let name = |path: &Path| path.strip_prefix(root).unwrap().to_owned();
    let mut thing = PathState::of(folder);
    if folder == root {
        // A leftover directory may still be there.
        thing.links = 0;
    }
    all.insert(name(folder), thing);
    let opened = open(folder, OFlags::DIRECTORY);
    for entry in Dir::read_from(&opened).unwrap() {
        let entry = entry.unwrap();
        let entry = entry.file_name().to_str().unwrap();
        let is_apart = folder == root && (entry == "lost+found" || apart.contains(&entry));
        if is_apart || matches!(entry, "." | "..") {
            continue;
        }
        let path = folder.join(entry);
        if fs::symlink_metadata(&path).unwrap().is_dir() {
            collect(root, &path, apart, all);
        } else {
            all.insert(name(&path), PathState::of(&path));
        }
    }
}

impl PathState {
    fn of(path: &Path) -> Self {
        let meta = fs::symlink_metadata(path).unwrap();
        let (mut description, mut bytes) = (String::new(), Vec::new());
        if meta.is_symlink() {
            description += &format!("to {}, ", fs::read_link(path).unwrap().display());
        } else if meta.is_file() {
            let mut file = File::from(open(path, OFlags::empty()));
            // A careless read changes the access time: the mount options make every read show.
            description += &format!(
                "{} bytes in {} blocks at {:?}, read {}.{:09}, ",
                meta.size(),
                meta.blocks(),
                data(&file, meta.size()),
                meta.atime(),
                meta.atime_nsec()
            );
            file.read_to_end(&mut bytes).unwrap();
        }
        description += &format!(
            "mode {:o}, of {}:{}, inode {}, made {:?}, attributes {:?}",
            meta.mode(),
            meta.uid(),
            meta.gid(),
            meta.ino(),
            meta.created().ok(),
            attributes(path),
        );
        Self {
            inode: meta.ino(),
            links: meta.nlink(),
            description,
            modified: (meta.mtime(), meta.mtime_nsec()),
            bytes,
        }
    }
}

fn open(path: &Path, more: OFlags) -> std::os::fd::OwnedFd {
    rustix::fs::open(path, OFlags::RDONLY | OFlags::NOATIME | OFlags::CLOEXEC | more, Mode::empty()).unwrap()
}

/// The ranges of a file with data; all others are holes.
fn data(file: &File, length: u64) -> Vec<std::ops::Range<u64>> {
    let (mut found, mut at) = (Vec::new(), 0);
    while at < length {
        match seek(file, SeekFrom::Data(at)) {
            Ok(start) => {
                at = seek(file, SeekFrom::Hole(start)).unwrap();
                found.push(start..at);
            }
            Err(Errno::NXIO) => break,
            Err(errno) => panic!("{errno}"),
        }
    }
    seek(file, SeekFrom::Start(0)).unwrap();
    found
}

/// All attributes and their values.
fn attributes(path: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut names = vec![0; 64 << 10];
    let length = llistxattr(path, &mut names[..]).unwrap();
    let names = names[..length].split(|byte| *byte == 0).filter(|name| !name.is_empty());
    names
        .map(|name| {
            let name = std::ffi::OsStr::from_bytes(name).to_str().unwrap().to_owned();
            let mut value = vec![0; 64 << 10];
            let length = lgetxattr(path, &*name, &mut value[..]).unwrap();
            value.truncate(length);
            (name, value)
        })
        .collect()
}
