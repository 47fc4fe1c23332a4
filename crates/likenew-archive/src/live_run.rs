//! Runs that are under way: what a measuring program tells other programs of the same user.
//!
//! Each run has a file in memory (tmpfs): a file in its run folder would write to the drive that is measured.

use std::fs::{self, DirBuilder, File, TryLockError};
use std::os::unix::fs::{DirBuilderExt as _, FileExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use likenew_core::input;

/// A run of this program, which other programs see until this is dropped.
#[derive(Debug)]
pub struct LiveRun {
    path: PathBuf,
    file: File,
}

/// The latest state that a program reported of its run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LiveNote {
    /// The number of the process.
    pub process: u32,
    /// The reported state.
    pub text: String,
}

impl LiveRun {
    /// Makes the run visible. `None` without a folder for that which is this user's alone; the run goes on unseen.
    pub fn begin() -> Option<Self> {
        Self::begin_in(&folder()?)
    }

    fn begin_in(folder: &Path) -> Option<Self> {
        let _ = DirBuilder::new().mode(0o700).create(folder);
        if !is_own(folder) {
            return None;
        }
        let path = folder.join(format!("{}.{SUFFIX}", std::process::id()));
        // A file of this name was left by a killed program.
        let _ = fs::remove_file(&path);
        let mut options = File::options();
        let file = options.write(true).create_new(true).mode(0o600).open(&path).ok()?;
        // The lock shows that this program still runs; it ends with the program, however that ends.
        file.try_lock().ok()?;
        Some(Self { path, file })
    }

    /// Replaces the reported state. A reader at that moment may see some of both.
    pub fn say(&self, text: &str) {
        let _ =
            self.file.write_all_at(text.as_bytes(), 0).and_then(|()| self.file.set_len(text.len() as u64));
    }
}

impl Drop for LiveRun {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

/// The runs of this user that are under way, by process. Removes files that killed programs left behind.
pub fn live_runs() -> Vec<LiveNote> {
    folder().map(|folder| live_runs_in(&folder)).unwrap_or_default()
}

fn live_runs_in(folder: &Path) -> Vec<LiveNote> {
    if !is_own(folder) {
        return Vec::new();
    }
    let mut notes: Vec<LiveNote> = fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| note(&entry.path()))
        .collect();
    notes.sort_by_key(|note| note.process);
    notes
}

fn note(path: &Path) -> Option<LiveNote> {
    if path.extension()? != SUFFIX {
        return None;
    }
    let process = path.file_stem()?.to_str()?.parse().ok()?;
    let file = File::options().read(true).custom_flags(NO_FOLLOW).open(path).ok()?;
    if !matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)) {
        let _ = fs::remove_file(path);
        return None;
    }
    let text = input::text(input::read_file(file, input::LIVE_NOTE).ok()?).ok()?;
    Some(LiveNote { process, text })
}

const SUFFIX: &str = "run";
const NO_FOLLOW: i32 = rustix::fs::OFlags::NOFOLLOW.bits().cast_signed();

/// A folder in memory: in the session's folder if there is one, else where Linux keeps shared memory.
fn folder() -> Option<PathBuf> {
    let session = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
    let session = session.filter(|folder| folder.is_absolute() && folder.is_dir());
    let user = fs::metadata("/proc/self").ok()?.uid();
    Some(match session {
        Some(session) => session.join("likenew"),
        None => PathBuf::from(format!("/dev/shm/likenew-{user}")),
    })
}

/// Whether this is a folder of this user that nobody else may enter.
fn is_own(folder: &Path) -> bool {
    let user = fs::metadata("/proc/self").map(|process| process.uid()).ok();
    fs::symlink_metadata(folder).is_ok_and(|metadata| {
        metadata.is_dir() && Some(metadata.uid()) == user && metadata.mode() & 0o077 == 0
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_seen_until_it_ends() {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().join("likenew");
        assert_eq!(live_runs_in(&folder), []);
        let run = LiveRun::begin_in(&folder).unwrap();
        run.say("a long line\n");
        run.say("short\n");
        let note = LiveNote { process: std::process::id(), text: "short\n".into() };
        assert_eq!(live_runs_in(&folder), [note]);
        drop(run);
        assert_eq!(live_runs_in(&folder), []);
    }

    #[test]
    fn what_a_killed_program_left_is_no_run() {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().join("likenew");
        drop(LiveRun::begin_in(&folder));
        fs::write(folder.join("7.run"), "{}").unwrap();
        fs::write(folder.join("other"), "{}").unwrap();
        assert_eq!(live_runs_in(&folder), []);
        assert!(!folder.join("7.run").exists() && folder.join("other").exists());
    }

    #[test]
    fn a_folder_that_others_may_enter_is_not_used() {
        use std::os::unix::fs::PermissionsExt as _;
        let place = tempfile::tempdir().unwrap();
        let (open, link) = (place.path().join("open"), place.path().join("link"));
        DirBuilder::new().mode(0o700).create(&open).unwrap();
        std::os::unix::fs::symlink(&open, &link).unwrap();
        assert!(LiveRun::begin_in(&link).is_none());
        fs::set_permissions(&open, fs::Permissions::from_mode(0o755)).unwrap();
        assert!(LiveRun::begin_in(&open).is_none());
    }
}
