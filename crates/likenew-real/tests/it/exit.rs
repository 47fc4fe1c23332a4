//! The exit on which nothing is dropped. It runs in a child process, because it ends every scratch folder of
//! its process.

use std::fs;
use std::process::Command;

use crate::support::{disk_folder, lane, one, open_folder};
use likenew_core::io::{Op, Outcome};
use likenew_real::engine::Engine;
use likenew_real::scratch::remove_all;

/// Set in the child's environment.
const IS_CHILD: &str = "LIKENEW_TEST_EXIT";

#[test]
fn exit_removes_every_scratch_folder() {
    let mut child = Command::new(std::env::current_exe().unwrap());
    child.args(["--exact", "exit::everything_is_removed_at_once_and_dropping_later_does_no_harm"]);
    let ended = child.env(IS_CHILD, "1").output().unwrap();
    let message = String::from_utf8_lossy(&ended.stdout);
    assert!(ended.status.success() && message.contains("1 passed"), "{message}");
}

/// The child's part; does nothing in the parent.
#[test]
fn everything_is_removed_at_once_and_dropping_later_does_no_harm() {
    if std::env::var_os(IS_CHILD).is_none() {
        return;
    }
    let places = [disk_folder(), disk_folder()];
    let mut drives: Vec<_> =
        places.iter().map(|place| open_folder(place.path(), Engine::Auto, 2, 64 << 10).unwrap()).collect();
    for drive in &mut drives {
        assert_eq!(one(&mut lane(&mut **drive), Op::Write, 0, 4096).unwrap(), Outcome::Done);
    }
    let files: Vec<u64> = remove_all().into_iter().map(|removed| removed.unwrap().files).collect();
    assert_eq!(files, [1, 1]);
    let empty = || places.iter().all(|place| fs::read_dir(place.path()).unwrap().count() == 0);
    assert!(empty());
    // Another run may begin there before the old drives are dropped, and keeps its own files.
    let next = open_folder(places[0].path(), Engine::Auto, 1, 4096).unwrap();
    drop(drives);
    assert!(!empty());
    drop(next);
    assert!(empty());
    assert!(remove_all().is_empty());
}
