//! The scan of a user's files, on trees with known content.

use std::fs::{self, File};
use std::ops::ControlFlow;
use std::os::unix::fs::{FileExt as _, PermissionsExt as _, symlink};
use std::path::Path;

use likenew_core::units::Nanos;
use likenew_real::scan::{Group, GroupScan, Request, Scan, ScanError, scan};
use rand::{Rng as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;
use tempfile::TempDir;

fn request(folders: &[&Path]) -> Request {
    Request {
        folders: folders.iter().map(|folder| folder.to_path_buf()).collect(),
        sample_bytes: 2 << 20,
        time: Nanos::from_secs(60),
        cross: false,
        seed: 1,
    }
}

fn found(request: &Request) -> Scan {
    scan(request, &mut |_| ControlFlow::Continue(())).unwrap()
}

fn refused(folder: &Path) -> String {
    match scan(&request(&[folder]), &mut |_| ControlFlow::Continue(())) {
        Err(ScanError::TargetError(target_error)) => target_error.to_string(),
        other => panic!("{other:?}"),
    }
}

fn of(scan: &Scan, group: Group) -> &GroupScan {
    scan.groups
        .iter()
        .find(|found| found.group == group)
        .unwrap_or_else(|| panic!("no {group:?} in {scan:?}"))
}

fn mean(group: &GroupScan) -> (f64, f64) {
    let count = group.pieces.len() as f64;
    let (units, zip_share) = group
        .pieces
        .iter()
        .fold((0.0, 0.0), |sum, piece| (sum.0 + piece.unit_share, sum.1 + piece.zip_share));
    (units / count, zip_share / count)
}

fn random(bytes: usize) -> Vec<u8> {
    let mut random = vec![0; bytes];
    Xoshiro256PlusPlus::seed_from_u64(7).fill_bytes(&mut random);
    random
}

/// Four MiB of incompressible pictures, one of zeros in a database, one of text.
fn tree() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    fs::create_dir_all(at("holiday/2012")).unwrap();
    fs::write(at("holiday/2012/a.jpg"), random(3 << 20)).unwrap();
    fs::write(at("holiday/b.JPG"), random(1 << 20)).unwrap();
    fs::write(at("zeros.db"), vec![0; 1 << 20]).unwrap();
    let text: String = (0..40_000).map(|line| format!("line {line} of a log that says little\n")).collect();
    fs::write(at("log"), &text[..1 << 20]).unwrap();
    folder
}

#[test]
fn kinds_bytes_and_shares_are_what_was_put_there() {
    let tree = tree();
    let scan = found(&Request { sample_bytes: 8 << 20, ..request(&[tree.path()]) });
    assert_eq!((scan.refusals.count, scan.other_file_systems, scan.out_of_time), (0, 0, false));
    let pictures = of(&scan, Group::Pictures);
    assert_eq!((pictures.files, pictures.bytes), (2, 4 << 20));
    assert_eq!(mean(pictures), (1.0, 1.0));
    let zeros = of(&scan, Group::Databases);
    assert!(mean(zeros).0 < 0.02 && zeros.bytes == 1 << 20);
    let text = of(&scan, Group::Text);
    let (units, zip_share) = mean(text);
    assert!(0.0 < zip_share && zip_share < 0.2 && 0.0 < units && units < 0.2, "{units} {zip_share}");
    // Four of six bytes are pictures, and so is their part of the sample beyond each kind's minimum.
    let pieces: usize = scan.groups.iter().map(|group| group.pieces.len()).sum();
    assert!((100..=128).contains(&pieces) && pictures.pieces.len() > pieces / 3, "{pieces}");
    assert!(scan.groups.iter().all(|group| group.pieces.len() >= 32));
    assert!(scan.groups.iter().map(|group| group.sampled_bytes).sum::<u64>() <= 8 << 20);
}

#[test]
fn the_same_tree_and_seed_give_the_same_sample() {
    let tree = tree();
    let pieces = |seed| -> Vec<_> {
        let request = Request { seed, ..request(&[tree.path()]) };
        found(&request).groups.into_iter().map(|group| group.pieces).collect()
    };
    assert_eq!(pieces(3), pieces(3));
}

#[test]
fn links_pipes_and_second_names_are_not_counted() {
    let tree = tree();
    let at = |name: &str| tree.path().join(name);
    symlink(tree.path(), at("loop")).unwrap();
    symlink("/usr", at("away")).unwrap();
    symlink("/etc/passwd", at("passwd.txt")).unwrap();
    fs::hard_link(at("holiday/b.JPG"), at("again.jpg")).unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(at("socket")).unwrap();
    let fifo = std::process::Command::new("mkfifo").arg(at("pipe.txt")).status().unwrap();
    assert!(fifo.success());
    let scan = found(&request(&[tree.path(), &at("holiday")]));
    let files: u64 = scan.groups.iter().map(|group| group.files).sum();
    let bytes: u64 = scan.groups.iter().map(|group| group.bytes).sum();
    assert_eq!((files, bytes), (4, 6 << 20));
    assert_eq!(scan.refusals.count, 0);
}

#[test]
fn holes_do_not_count_and_data_between_them_does() {
    let folder = tempfile::tempdir().unwrap();
    let file = File::create(folder.path().join("machine.qcow2")).unwrap();
    file.set_len(1 << 30).unwrap();
    file.write_all_at(&random(1 << 20), 512 << 20).unwrap();
    file.sync_all().unwrap();
    let scan = found(&request(&[folder.path()]));
    let images = of(&scan, Group::Databases);
    if images.bytes == 1 << 30 {
        eprintln!("this file system does not say where holes are, so this test shows nothing");
        return;
    }
    assert!((1 << 20..(1 << 20) + (256 << 10)).contains(&images.bytes), "{}", images.bytes);
    assert!(mean(images).0 > 0.9, "{:?}", mean(images));
}

#[test]
fn what_may_not_be_read_is_counted_and_named() {
    let tree = tree();
    let closed = tree.path().join("holiday");
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o000)).unwrap();
    let scan = found(&request(&[tree.path()]));
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o700)).unwrap();
    if rustix::process::geteuid().is_root() {
        eprintln!("root may read everything, so this test shows nothing");
        return;
    }
    assert_eq!(scan.refusals.count, 1);
    assert_eq!(scan.refusals.examples[0].0.file_name().unwrap(), "holiday");
    assert_eq!(scan.groups.iter().map(|group| group.files).sum::<u64>(), 2);
}

#[test]
fn nothing_of_the_users_is_changed() {
    let tree = tree();
    let times = || {
        let of = |name: &str| {
            let metadata = fs::metadata(tree.path().join(name)).unwrap();
            (metadata.accessed().unwrap(), metadata.modified().unwrap(), metadata.len())
        };
        ["", "holiday", "holiday/2012/a.jpg", "zeros.db", "log"].map(of)
    };
    let before = times();
    found(&request(&[tree.path()]));
    assert_eq!(times(), before);
}

#[test]
fn an_empty_tree_has_nothing_and_empty_files_have_no_pieces() {
    let folder = tempfile::tempdir().unwrap();
    assert!(found(&request(&[folder.path()])).groups.is_empty());
    File::create(folder.path().join("empty.txt")).unwrap();
    let scan = found(&request(&[folder.path()]));
    let text = of(&scan, Group::Text);
    assert_eq!((text.files, text.bytes, text.pieces.len()), (1, 0, 0));
}

#[test]
fn what_is_no_folder_of_files_is_refused() {
    let tree = tree();
    assert!(refused(&tree.path().join("missing")).contains("does not exist"));
    assert!(refused(&tree.path().join("log")).contains("is not a folder"));
    assert!(refused(Path::new("/proc")).contains("virtual file system without files"));
}

#[test]
fn time_and_an_interruption_end_it() {
    let tree = tree();
    let request = Request { time: Nanos(0), ..request(&[tree.path()]) };
    assert!(found(&request).out_of_time);
    let stopped = scan(&request, &mut |_| ControlFlow::Break(()));
    assert!(matches!(stopped, Err(ScanError::Interrupted)));
    let mut asked = 0;
    let request = Request { time: Nanos::from_secs(60), ..request };
    let stopped = scan(&request, &mut |progress| {
        asked += 1;
        if progress.sampled_bytes > 1 << 20 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    assert!(matches!(stopped, Err(ScanError::Interrupted)) && asked > 16, "{asked}");
}

#[test]
fn other_file_systems_are_entered_only_when_asked() {
    // /dev/shm is mounted below /dev if it exists.
    let devices = Path::new("/dev");
    if !Path::new("/dev/shm").is_dir() {
        eprintln!("there is no /dev/shm, so this test shows nothing");
        return;
    }
    assert!(found(&request(&[devices])).other_file_systems > 0);
}
