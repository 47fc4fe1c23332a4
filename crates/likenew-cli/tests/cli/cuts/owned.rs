//! The owner's files: all that must be there afterwards as it was before.

use std::collections::BTreeMap;
use std::fs::{self, File, FileTimes};
use std::os::unix::fs::{FileExt as _, MetadataExt as _, PermissionsExt as _, chown, symlink};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use rustix::fs::{XattrFlags, lgetxattr, lsetxattr};

use crate::served::noise;

const NOTE: &str = "user.note";
/// In March 2024, with a part of a second that all file systems here keep.
const LONG_AGO: Duration = Duration::new(1_709_300_000, 123_456_789);

/// Everything in a folder that is the owner's, by its path in it.
#[derive(PartialEq)]
pub(crate) struct Owned(BTreeMap<PathBuf, Thing>);

#[derive(PartialEq)]
struct Thing {
    told: String,
    /// Of a file.
    bytes: Vec<u8>,
}

/// Makes photos, small files, a link, a second name of a photo and of a film, a file with a hole, and one with an attribute, beside old films.
pub(crate) fn make(folder: &Path) {
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

/// Makes films that nobody has touched for long: one of which pieces are measured, and one that is too short for that. With an owner, a mode and an
/// attribute of their own.
pub(crate) fn make_old(folder: &Path) {
    let bytes = noise(9 << 20);
    for (name, part) in OLD.into_iter().zip([&bytes[..], &bytes[5 << 20..7 << 20]]) {
        let path = folder.join(name);
        fs::write(&path, part).unwrap();
        lsetxattr(&path, NOTE, b"holidays", XattrFlags::empty()).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        chown(&path, Some(1234), Some(4321)).unwrap();
        let long_ago = SystemTime::UNIX_EPOCH + LONG_AGO;
        let times = FileTimes::new().set_accessed(long_ago).set_modified(long_ago);
        File::options().write(true).open(&path).unwrap().set_times(times).unwrap();
    }
}

impl Owned {
    /// Looks at it, without what is ours and what `apart` names.
    pub(crate) fn of(folder: &Path, apart: &[&str]) -> Self {
        let mut all = BTreeMap::new();
        look(folder, folder, apart, &mut all);
        Self(all)
    }

    /// What a file held.
    pub(crate) fn bytes(&self, name: &str) -> &[u8] {
        &self.0[Path::new(name)].bytes
    }

    /// The first thing that is not as it was.
    pub(crate) fn difference(&self, now: &Self) -> Option<String> {
        if self == now {
            return None;
        }
        let of_one = |path: &PathBuf, thing: &Thing| match now.0.get(path) {
            None => Some(format!("{} is gone", path.display())),
            Some(now) if now.told != thing.told => {
                Some(format!("{}: {} instead of {}", path.display(), now.told, thing.told))
            }
            Some(now) if now.bytes != thing.bytes => Some(format!("{} holds other bytes", path.display())),
            Some(_) => None,
        };
        let changed = self.0.iter().find_map(|(path, thing)| of_one(path, thing));
        changed.or_else(|| {
            let new = now.0.keys().find(|path| !self.0.contains_key(*path));
            Some(format!("{} is new", new.expect("something differs").display()))
        })
    }
}

fn look(root: &Path, folder: &Path, apart: &[&str], all: &mut BTreeMap<PathBuf, Thing>) {
    for name in crate::support::names(folder) {
        let path = folder.join(&name);
        if folder == root && (name == "lost+found" || apart.contains(&&*name)) {
            continue;
        }
        let meta = fs::symlink_metadata(&path).unwrap();
        let mut note = [0; 64];
        let note = lgetxattr(&path, NOTE, &mut note[..]).map(|length| note[..length].to_vec());
        let (size, mtime) = if meta.is_dir() { (0, 0) } else { (meta.size(), meta.mtime_nsec()) };
        let mut told = format!(
            "mode {:o}, of {}:{}, {} links, {size} bytes in {} blocks, changed {} {mtime}, note {note:?}",
            meta.mode(),
            meta.uid(),
            meta.gid(),
            meta.nlink(),
            meta.blocks(),
            meta.mtime(),
        );
        let mut bytes = Vec::new();
        if meta.is_symlink() {
            told += &format!(", to {}", fs::read_link(&path).unwrap().display());
        } else if meta.is_file() {
            bytes = fs::read(&path).unwrap();
        } else {
            look(root, &path, apart, all);
        }
        all.insert(path.strip_prefix(root).unwrap().to_owned(), Thing { told, bytes });
    }
}
