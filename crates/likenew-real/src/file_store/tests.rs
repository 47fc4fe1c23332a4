//! Leases that are lost, times that others set, and names that lead elsewhere.

use std::fs::{self, File};
use std::os::unix::fs::{FileExt as _, MetadataExt as _, symlink};
use std::process::Command;
use std::time::UNIX_EPOCH;

use super::*;

/// A file that was written long ago, and that time; `None` if files cannot be taken here.
fn file() -> Option<(tempfile::TempDir, PathBuf, SystemTime)> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("film");
    fs::write(&path, vec![7; 64 << 10]).unwrap();
    let long_ago = UNIX_EPOCH + Duration::new(1_000_000_007, 123_000_000);
    let times = fs::FileTimes::new().set_accessed(long_ago).set_modified(long_ago);
    File::options().write(true).open(&path).unwrap().set_times(times).unwrap();
    match FileStore::take(&path) {
        Ok(_) => Some((folder, path, long_ago)),
        Err(target_error) => {
            eprintln!("SKIPPED: {target_error}");
            None
        }
    }
}

fn modified(path: &Path) -> SystemTime {
    fs::metadata(path).unwrap().modified().unwrap()
}

/// Acts as if the system had taken the lease away: others may open the file, and the lease was last held `ago`.
fn lose(store: &mut FileStore, ago: Duration) {
    let raw = store.raw.as_fd().as_raw_fd();
    // SAFETY: the descriptor is open, and the command takes a plain number.
    assert_eq!(unsafe { libc::fcntl(raw, libc::F_SETLEASE, libc::F_UNLCK) }, 0);
    store.clock = Monotonic::reading(store.clock.now() + Nanos::from_secs(1000));
    store.held_at = Nanos(store.clock.now().0 - u64::try_from(ago.as_nanos()).unwrap());
}

#[test]
fn times_of_a_file_that_somebody_else_has_written_stay_theirs() {
    let Some((_folder, path, long_ago)) = file() else { return };
    let patience = patience().unwrap_or(Duration::from_secs(45));
    let mut store = FileStore::take(&path).unwrap();
    store.write_at(0, &[7; 4096]).unwrap();
    assert_eq!(modified(&path), long_ago, "after each write of ours it is put back");
    lose(&mut store, patience);
    assert_eq!(store.lease_state(), LeaseState::Lost);
    fs::write(&path, "saved by another program").unwrap();
    let theirs = modified(&path);
    assert!(theirs > long_ago);
    let refused = store.write_at(0, &[7; 4096]).unwrap_err();
    assert_eq!(refused.kind(), io::ErrorKind::ResourceBusy);
    store.restore_times().unwrap();
    store.give_back().unwrap();
    assert_eq!((modified(&path), &*fs::read(&path).unwrap()), (theirs, &b"saved by another program"[..]));
}

#[test]
fn a_time_is_put_back_while_others_still_wait() {
    let Some((_folder, path, long_ago)) = file() else { return };
    let mut store = FileStore::take(&path).unwrap();
    lose(&mut store, Duration::from_millis(10));
    assert_eq!(store.lease_state(), LeaseState::BreakRequested);
    store.raw.write_at(0, &[7; 4096]).unwrap();
    store.restore_times().unwrap();
    assert_eq!(modified(&path), long_ago);
}

#[test]
fn a_time_that_somebody_sets_meanwhile_is_kept() {
    let Some((_folder, path, long_ago)) = file() else { return };
    let mut store = FileStore::take(&path).unwrap();
    store.write_at(0, &[7; 4096]).unwrap();
    // Setting times does not open the file, so no program has to wait for the lease.
    let other = long_ago + Duration::from_secs(1000);
    let date = format!("--date=@{}", other.duration_since(UNIX_EPOCH).unwrap().as_secs());
    assert!(Command::new("touch").args(["--no-create", &date]).arg(&path).status().unwrap().success());
    let set = modified(&path);
    assert_ne!(set, long_ago);
    store.write_at(4096, &[7; 4096]).unwrap();
    store.give_back().unwrap();
    assert_eq!(modified(&path), set);
}

#[test]
fn no_name_leads_out_of_its_folder() {
    let Some((folder, path, long_ago)) = file() else { return };
    let inner = folder.path().join("inner");
    fs::create_dir_all(inner.join("below")).unwrap();
    symlink("../film", inner.join("link")).unwrap();
    symlink("..", inner.join("up")).unwrap();
    symlink("/proc/self/cwd", inner.join("magic")).unwrap();
    assert!(Command::new("mkfifo").arg(inner.join("pipe")).status().unwrap().success());
    let opened = open_folder(&inner).unwrap();
    let before = fs::metadata(&path).unwrap();
    let refuses = |name: &Path, word: &str| {
        let reason = FileStore::take_from(&opened, &inner, name).unwrap_err().to_string();
        assert!(
            reason.contains(word) && reason.contains("Nothing was changed"),
            "{}: {reason}",
            name.display()
        );
    };
    refuses(Path::new("../film"), "leads out of the folder");
    refuses(Path::new("below/../../film"), "leads out of the folder");
    refuses(&path, "leads out of the folder");
    refuses(Path::new("link"), "symbolic link");
    refuses(Path::new("up/film"), "symbolic link");
    refuses(Path::new("magic/film"), "symbolic link");
    refuses(Path::new("pipe"), "not a regular file");
    refuses(Path::new("below"), "not a regular file");
    let after = fs::metadata(&path).unwrap();
    assert_eq!((after.ctime_nsec(), modified(&path)), (before.ctime_nsec(), long_ago));
    assert!(
        FileStore::take_from(open_folder(folder.path()).unwrap(), folder.path(), Path::new("film")).is_ok()
    );
}

#[test]
fn a_file_is_known_by_its_generation() {
    let Some((_folder, path, _)) = file() else { return };
    let store = FileStore::take(&path).unwrap();
    let kind = crate::mounts::Mount::containing(&store.raw).unwrap().kind;
    let is_counted = store.identity().contains(", generation ");
    assert_eq!(
        is_counted,
        ["ext4", "xfs", "btrfs", "f2fs"].contains(&&*kind),
        "{kind}: {}",
        store.identity()
    );
}

/// Takes as long as the system makes others wait, which is too long for every day.
#[test]
#[ignore = "waits until the system takes a lease away, 45 s"]
fn whole_cuts_of_a_lease_leave_the_other_programs_time() {
    let Some((_folder, path, long_ago)) = file() else { return };
    let mut store = FileStore::take(&path).unwrap();
    store.write_at(0, &[7; 4096]).unwrap();
    let other = std::thread::spawn({
        let path = path.clone();
        move || {
            File::options().write(true).open(&path).unwrap().write_all_at(b"theirs", 0).unwrap();
            modified(&path)
        }
    });
    // Nobody checks the lease, as while a drive hangs.
    let theirs = other.join().unwrap();
    assert!(theirs > long_ago);
    assert_eq!(store.lease_state(), LeaseState::Lost);
    store.restore_times().unwrap();
    store.give_back().unwrap();
    assert_eq!(modified(&path), theirs);
    assert!(fs::read(&path).unwrap().starts_with(b"theirs"));
    println!(
        "attack: a file is written by another program once the system has taken the lease away | 1 | that program's content and time stay"
    );
}

#[test]
fn times_are_read_back_and_nonsense_is_not() {
    for (secs, nanos) in [(0, 0), (-1, 999_999_999), (1_700_000_000, 5)] {
        let times = Times { accessed: (secs, nanos), modified: (7, 8) };
        assert_eq!(Times::parse(&times.to_string()), Some(times));
    }
    for text in ["", "accessed 1 2", "accessed 1 2, modified 3", "accessed 1 1000000000, modified 1 1"] {
        assert_eq!(Times::parse(text), None, "{text}");
    }
}
