//! The program is killed while it overwrites free space.

use std::fs::{self, File};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use super::medium::Mount;
use super::overwrite::{EXT4, OVERWRITE};
use super::owner_files::{self, FolderState};
use super::run::{APART, SCRATCH, chance, copy, data, in_memory};
use crate::serve::server::until;
use crate::serve::{are_there, system};
use crate::support::Sandbox;

/// An ext4 in memory with the owner's files on it; `None` if that cannot be mounted, with a message.
fn mounted(folder: &Path) -> Option<Mount> {
    let image = folder.join("image");
    File::create(&image).unwrap().set_len(EXT4.bytes).unwrap();
    system(EXT4.make[0], &[&EXT4.make[1..], &[image.to_str().unwrap()]].concat());
    let point = folder.join("mnt");
    match Mount::of(&image, &point) {
        Ok(mount) => {
            owner_files::make_old(&point);
            owner_files::make(&point);
            system("sync", &["-f", point.to_str().unwrap()]);
            Some(mount)
        }
        Err(reason) => {
            eprintln!("nothing can be mounted, so this test shows nothing: {reason}");
            None
        }
    }
}

/// Bytes of temporary files up to now.
fn written(point: &Path) -> u64 {
    let entries = fs::read_dir(point.join(SCRATCH)).into_iter().flatten();
    entries.filter_map(|entry| entry.ok()?.metadata().ok()).map(|metadata| metadata.len()).sum()
}

#[test]
fn a_few_kills_cost_no_byte_and_the_run_goes_on_to_its_end() {
    kill_often(8);
}

#[test]
#[ignore = "one of the matrices of cuts and kills"]
fn whole_cuts_sixty_kills_cost_no_byte_and_the_run_goes_on_to_its_end() {
    kill_often(60);
}

fn kill_often(kills: u64) {
    let memory = in_memory();
    if !are_there(&[EXT4.make[0]]) {
        return;
    }
    let Some(mount) = mounted(memory.path()) else { return };
    let point = memory.path().join("mnt");
    let before = FolderState::of(&point, &APART);
    let sandbox = Sandbox::new();
    let folder = point.to_str().unwrap();
    let mut child = sandbox.start(&[&["recondition", folder][..], &OVERWRITE].concat());
    until("it writes", || written(&point) >= 4 << 20);
    child.kill().unwrap();
    child.wait().unwrap();
    let run = sandbox.runs().pop().unwrap();
    let run = run.to_str().unwrap();
    // Its first check is over; from there it writes at once.
    let begun = memory.path().join("begun");
    copy(&data(&sandbox), &begun);
    let (mut next, mut left) = (chance(1), 0);
    let resume = ["resume", run, "--yes", "--reserve", "8MiB", "--json", "-"];
    for kill in 0..kills {
        let mut child = sandbox.start(&resume);
        // Most while it writes, however long it takes to start, and some before.
        if kill % 3 > 0 {
            until("it writes", || written(&point) > 0 || child.try_wait().unwrap().is_some());
        }
        std::thread::sleep(Duration::from_millis(next(300)));
        child.kill().unwrap();
        child.wait().unwrap();
        if let Some(reason) = before.difference(&FolderState::of(&point, &APART)) {
            panic!("kill {kill}: {reason}");
        }
        if point.join(SCRATCH).exists() {
            left += 1;
            if kill % 6 == 0 {
                // Leftovers are removed before the plan is checked.
                let next = sandbox.run(&["recondition", folder, "--passes", "0", "--yes"]);
                next.code(2).says("An earlier run has left");
                assert!(!point.join(SCRATCH).exists());
            }
        }
        // Some runs are resumed.
        if kill % 5 != 4 {
            fs::remove_dir_all(data(&sandbox)).unwrap();
            copy(&begun, &data(&sandbox));
        }
    }
    assert!(left > kills / 4, "{left} of {kills} have left anything");
    let had_left = point.join(SCRATCH).exists();
    let resumed = sandbox.run(&resume);
    if had_left {
        resumed.says("An earlier run has left");
    }
    assert_eq!(resumed.json()["tables"]["passes"].as_array().map(Vec::len), Some(2), "{}", resumed.stderr());
    assert!(!point.join(SCRATCH).exists());
    assert!(before.difference(&FolderState::of(&point, &APART)).is_none());
    drop(mount);
    let check = Command::new("e2fsck").args(["-f", "-n"]).arg(memory.path().join("image")).output();
    assert!(check.is_ok_and(|output| output.status.success()), "the file system is sound");
    println!(
        "attack: killed while free space is overwritten, {} | {kills} | no byte lost; {left} had left files",
        EXT4.name()
    );
}
