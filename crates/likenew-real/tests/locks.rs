//! Two runs never meet on one drive, whatever way each comes, and a run that is killed leaves nothing locked.

mod refused;
mod support;

use std::io::{BufRead as _, BufReader, Read as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use likenew_real::drive_lock::DriveLock;
use refused::disk::Disk;
use support::{Mounted, disk_folder, refusal, run_when_free, says};

const PATH: &str = "LIKENEW_TEST_LOCK";

/// What the other process does: holds a lock until it is killed, or until nobody listens to it any more.
#[test]
fn the_other_process() {
    let Some(path) = std::env::var_os(PATH) else { return };
    let _lock = DriveLock::take(Path::new(&path), "the other").unwrap();
    println!("\nheld");
    let _ = std::io::stdin().read(&mut [0]);
}

fn other(path: &Path) -> Child {
    let mut child = Command::new(std::env::current_exe().unwrap());
    let child = child.args(["--exact", "the_other_process", "--nocapture"]).env(PATH, path);
    let mut child = child.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let lines = BufReader::new(child.stdout.as_mut().unwrap()).lines();
    assert!(lines.map_while(Result::ok).any(|line| line == "held"), "the other process holds no lock");
    child
}

#[test]
fn two_processes_do_not_meet() {
    if !rustix::process::geteuid().is_root() {
        return eprintln!("SKIPPED: not root, so there is no device to lock");
    }
    let disk = Disk::partitioned();
    let partition = disk.partition();
    let name = disk.path().file_name().unwrap().to_str().unwrap().to_owned();
    run_when_free("mkfs.ext4", &["-q", "-F", partition.to_str().unwrap()]).unwrap();
    let mounted = Mounted::mount(&[partition.to_str().unwrap()]).unwrap();
    let file = mounted.path().join("file");
    std::fs::write(&file, "x").unwrap();
    let link = disk.folder.path().join("link");
    std::os::unix::fs::symlink(disk.path(), &link).unwrap();
    let ways = [disk.path(), &partition, mounted.path(), &file, &link];
    for held in ways {
        let mut child = other(held);
        for asked in ways {
            let text = refusal(DriveLock::take(asked, "this"));
            says(
                &text,
                &[asked.to_str().unwrap(), &name, &child.id().to_string(), "the other", "wait for that"],
            );
        }
        // What lies on another drive, and the file system that the image lies on, is somebody else's business.
        let elsewhere = Disk::plain();
        drop(DriveLock::take(elsewhere.path(), "this").unwrap());
        child.kill().unwrap();
        child.wait().unwrap();
        for asked in ways {
            assert_eq!(DriveLock::take(asked, "this").unwrap().drives(), [&*name]);
        }
    }
}

#[test]
fn a_loop_device_is_not_the_drive_that_its_file_lies_on() {
    if !rustix::process::geteuid().is_root() {
        return eprintln!("SKIPPED: not root, so there is no device to lock");
    }
    let disk = Disk::plain();
    let of_device = DriveLock::take(disk.path(), "this").unwrap();
    let of_folder = DriveLock::take(disk.folder.path(), "this").unwrap();
    assert!(of_device.drives().iter().all(|name| !of_folder.drives().contains(name)));
    // In one process, too, and even for the same way.
    says(&refusal(DriveLock::take(disk.path(), "this")), &["another run of likenew"]);
    drop(of_device);
    drop(DriveLock::take(disk.path(), "this").unwrap());
}

#[test]
fn what_has_no_drive_needs_no_lock() {
    let lock = DriveLock::take(Path::new("/proc"), "this").unwrap();
    assert!(lock.drives().is_empty());
    let folder = disk_folder();
    says(&refusal(DriveLock::take(&folder.path().join("missing"), "this")), &["does not exist"]);
}
