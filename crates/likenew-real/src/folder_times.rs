//! Restores the time at which an owner's folder last changed, after files of our own have come and gone in it.
//!
//! No system call restores a time on condition that the folder has not changed since. So the kernel reports
//! every change (inotify), each before it allows the next, and restoring a time is reported, too. A change by
//! another program is thus known right after the restoring, and the folder then gets the current time
//! instead. So no change is ever hidden from programs that look for changes by time.

use std::collections::HashSet;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd as _, OwnedFd};

use rustix::fs::inotify::{self, CreateFlags, ReadFlags, Reader, WatchFlags};
use rustix::fs::{AtFlags, StatxFlags, Timespec, Timestamps, UTIME_NOW, UTIME_OMIT, futimens, statx};
use rustix::io::Errno;

use crate::mounts::Mount;

/// The name of the scratch directory.
pub const DIRECTORY: &str = "likenew-scratch";
/// The prefix of our other names in a folder, besides the scratch directory.
const OWN_PREFIX: &[u8] = b".likenew-refresh-";
/// File systems that change only through this kernel, which then reports it.
const LOCAL: [&str; 17] = [
    "bcachefs", "btrfs", "exfat", "ext2", "ext3", "ext4", "f2fs", "fuseblk", "jfs", "msdos", "nilfs2",
    "ntfs3", "overlay", "tmpfs", "vfat", "xfs", "zfs",
];
const EVENT_BYTES: usize = 4096;

/// The time of a folder as it was, and everything that has happened in the folder since.
#[derive(Debug)]
pub struct FolderTimes {
    folder: OwnedFd,
    events: OwnedFd,
    modified: Timespec,
    /// Names of ours that are in the folder now.
    own_names: HashSet<Vec<u8>>,
    is_foreign: bool,
}

impl FolderTimes {
    /// Watches a folder, before anything of ours is made in it. `None` if changes are not reported, as on
    /// network file systems.
    pub fn watch(folder: impl AsFd) -> Option<Self> {
        let folder = folder.as_fd().try_clone_to_owned().ok()?;
        let kind = Mount::containing(&folder)?.kind;
        if !LOCAL.contains(&&*kind) {
            return None;
        }
        let events = inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK).ok()?;
        // Setting one time of two counts as a modification, setting both as a change of attributes.
        let times = WatchFlags::ATTRIB | WatchFlags::MODIFY;
        let changes = WatchFlags::CREATE | WatchFlags::DELETE | WatchFlags::MOVE | times;
        let path = format!("/proc/self/fd/{}", folder.as_raw_fd());
        inotify::add_watch(&events, path, changes | WatchFlags::ONLYDIR).ok()?;
        // A change before this call is included in the result, and reported as well.
        let stat = statx(&folder, "", AtFlags::EMPTY_PATH, StatxFlags::MTIME).ok()?;
        let modified = Timespec { tv_sec: stat.stx_mtime.tv_sec, tv_nsec: stat.stx_mtime.tv_nsec.into() };
        Some(Self { folder, events, modified, own_names: HashSet::new(), is_foreign: false })
    }

    /// Restores the time, if all that has changed in the folder are names of ours that are gone again. Returns whether it did.
    pub fn restore(mut self) -> bool {
        self.read_events(false);
        if self.is_foreign || !self.own_names.is_empty() {
            return false;
        }
        // Only the folder's owner may set a time.
        if set_modified(&self.folder, self.modified).is_err() {
            return false;
        }
        self.read_events(true);
        if !self.is_foreign {
            return true;
        }
        let _ = touch(&self.folder);
        false
    }

    /// Reads the events so far; `has_set` says that we have set a time ourselves.
    fn read_events(&mut self, has_set: bool) {
        let mut buffer = [MaybeUninit::uninit(); EVENT_BYTES];
        let mut reader = Reader::new(&self.events, &mut buffer);
        loop {
            let event = match reader.next() {
                Ok(event) => event,
                Err(Errno::AGAIN) => return,
                Err(Errno::INTR) => continue,
                Err(_) => {
                    self.is_foreign = true;
                    return;
                }
            };
            let (what, name) = (event.events(), event.file_name());
            let Some(name) = name.map(|name| name.to_bytes().to_vec()) else {
                // The folder itself: its time or its rights; or the queue overflowed.
                self.is_foreign |= !(has_set && (ReadFlags::MODIFY | ReadFlags::ISDIR).contains(what));
                continue;
            };
            if what.intersects(ReadFlags::ATTRIB | ReadFlags::MODIFY) {
                // A change of something in the folder, which changes nothing of the folder itself.
                continue;
            }
            if name != DIRECTORY.as_bytes() && !name.starts_with(OWN_PREFIX) {
                self.is_foreign = true;
            } else if what.intersects(ReadFlags::CREATE | ReadFlags::MOVED_TO) {
                self.own_names.insert(name);
            } else {
                self.own_names.remove(&name);
            }
        }
    }
}

/// Sets the time of modification to now, and leaves the time of access.
pub(crate) fn touch(file: impl AsFd) -> rustix::io::Result<()> {
    set_modified(file, Timespec { tv_sec: 0, tv_nsec: UTIME_NOW })
}

fn set_modified(file: impl AsFd, modified: Timespec) -> rustix::io::Result<()> {
    let leave = Timespec { tv_sec: 0, tv_nsec: UTIME_OMIT };
    futimens(file, &Timestamps { last_access: leave, last_modification: modified })
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};
    use std::os::unix::fs::PermissionsExt as _;
    use std::path::Path;
    use std::time::{Duration, SystemTime};

    use super::*;
    use crate::scratch::{Scratch, open_folder};

    fn modified_at(path: &Path) -> SystemTime {
        fs::metadata(path).unwrap().modified().unwrap()
    }

    /// A folder that last changed long ago; `None` where changes are not reported.
    fn folder() -> Option<(tempfile::TempDir, SystemTime)> {
        let folder = tempfile::tempdir().unwrap();
        let long_ago = SystemTime::UNIX_EPOCH + Duration::new(1_000_000_007, 123_000_000);
        File::open(folder.path()).unwrap().set_modified(long_ago).unwrap();
        if FolderTimes::watch(open_folder(folder.path()).unwrap()).is_none() {
            eprintln!("SKIPPED: nobody tells of changes here");
            return None;
        }
        Some((folder, long_ago))
    }

    #[test]
    fn a_folder_is_as_old_as_before_once_our_own_files_are_gone() {
        let Some((folder, long_ago)) = folder() else { return };
        let scratch = Scratch::create(folder.path()).unwrap();
        drop(scratch.create_file(0).unwrap());
        fs::write(folder.path().join(".likenew-refresh-journal"), "").unwrap();
        fs::remove_file(folder.path().join(".likenew-refresh-journal")).unwrap();
        assert_ne!(modified_at(folder.path()), long_ago);
        scratch.remove().unwrap();
        assert_eq!(modified_at(folder.path()), long_ago);
        drop(Scratch::create(folder.path()).unwrap());
        assert_eq!(modified_at(folder.path()), long_ago);
    }

    #[test]
    fn what_somebody_else_has_changed_is_never_hidden() {
        let changes: [fn(&Path); 5] = [
            |folder| fs::write(folder.join("new"), "").unwrap(),
            |folder| fs::remove_file(folder.join("old")).unwrap(),
            |folder| fs::rename(folder.join("old"), folder.join("other")).unwrap(),
            |folder| File::open(folder).unwrap().set_modified(SystemTime::now()).unwrap(),
            |folder| fs::write(folder.join(".likenew-refresh-salvage"), "kept").unwrap(),
        ];
        for change in changes {
            let Some((folder, long_ago)) = folder() else { return };
            fs::write(folder.path().join("old"), "").unwrap();
            File::open(folder.path()).unwrap().set_modified(long_ago).unwrap();
            let scratch = Scratch::create(folder.path()).unwrap();
            change(folder.path());
            scratch.remove().unwrap();
            assert!(modified_at(folder.path()) > long_ago);
        }
    }

    #[test]
    fn what_happens_inside_of_files_is_no_change_of_the_folder() {
        let Some((folder, long_ago)) = folder() else { return };
        let old = folder.path().join("old");
        fs::write(&old, "").unwrap();
        File::open(folder.path()).unwrap().set_modified(long_ago).unwrap();
        let scratch = Scratch::create(folder.path()).unwrap();
        fs::write(&old, "newer").unwrap();
        fs::set_permissions(&old, fs::Permissions::from_mode(0o600)).unwrap();
        scratch.remove().unwrap();
        assert_eq!(modified_at(folder.path()), long_ago);
    }
}
