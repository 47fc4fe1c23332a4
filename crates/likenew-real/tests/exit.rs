//! The way out on which nothing is dropped. In a process of its own, because it ends every scratch folder of the process.

mod support;

use std::fs;

use likenew_core::io::{Op, Outcome};
use likenew_real::engine::Engine;
use likenew_real::scratch::remove_all;
use support::{disk_folder, lane, one, open_folder};

#[test]
fn everything_is_removed_at_once_and_dropping_later_does_no_harm() {
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
    // Another run may begin there before the old drives are dropped, and keeps what is its own.
    let next = open_folder(places[0].path(), Engine::Auto, 1, 4096).unwrap();
    drop(drives);
    assert!(!empty());
    drop(next);
    assert!(empty());
    assert!(remove_all().is_empty());
}
