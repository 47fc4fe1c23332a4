//! Discard of the space outside of partitions, while these are in use; and everything that prevents it.

use std::fs::{self, File};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::process::{Command, Stdio};

use likenew_real::consent::{Agreement, UnusedConsent, UnusedSpace};
use likenew_real::erase::discard::discard_unused;
use rustix::fs::{FlockOperation, flock};

use crate::refusal_matrix::disk::Disk;
use crate::refusal_matrix::ledger::typed;
use crate::support::{Loop, Mounted, disk_folder, refusal, run, run_when_free, says};

const MIB: usize = 1 << 20;
/// Empty between 2 and 3 MiB, 5 and 6, and from 7 on.
const TABLE: &str = "start=2048, size=2048\nstart=6144, size=4096\nstart=12288, size=2048\n";

fn skip() -> bool {
    let skip = !rustix::process::geteuid().is_root();
    if skip {
        eprintln!("SKIPPED: not root, so there is no device of our own");
    }
    skip
}

/// Bytes that are nowhere zero, outside of the partition table.
fn space_usage(label: &str) -> Disk {
    let disk = Disk::plain();
    let block: Vec<u8> = (0..MIB).map(|index| (index % 251) as u8 + 1).collect();
    (0..8).for_each(|mib| disk.write(&block, (mib * MIB) as u64));
    disk.write(&[0; 512], 0);
    disk.make_table(&format!("label: {label}\n{TABLE}"));
    let mut disk = disk;
    disk.add_partition();
    disk
}

fn agreed(space: &UnusedSpace) -> Agreement {
    typed(&space.id.text, &[])
}

#[test]
fn what_lies_beside_partitions_in_use_is_discarded_and_nothing_else() {
    if skip() {
        return;
    }
    for (label, ranges) in [("gpt", vec![2..3, 5..6]), ("dos", vec![2..3, 5..6])] {
        let disk = space_usage(label);
        let second = format!("{}p2", disk.name());
        run_when_free("mkfs.ext4", &["-q", "-F", &second]).unwrap();
        let mounted = Mounted::mount(&[&second]).unwrap();
        fs::write(mounted.path().join("file"), vec![7; 256 << 10]).unwrap();
        File::open(mounted.path()).unwrap().sync_all().unwrap();
        run("sync", &["-f", mounted.path().to_str().unwrap()]).unwrap();
        let space = UnusedSpace::at(disk.path()).unwrap();
        let in_mib = |range: &std::ops::Range<u64>| range.start as usize / MIB..range.end as usize / MIB;
        assert_eq!(space.ranges.iter().map(in_mib).collect::<Vec<_>>(), ranges, "{label}");
        assert_eq!((space.table, space.bytes()), (label, 2 << 20));
        let before = fs::read(&disk.image).unwrap();
        let consent = UnusedConsent::take(&space, &agreed(&space)).unwrap();
        let mut result = Vec::new();
        let came = discard_unused(&consent, |behind, all| {
            result.push((behind, all));
            true
        });
        let came = came.unwrap();
        assert!(came.is_complete() && came.bytes_asked == 2 << 20 && !came.is_stopped, "{came:?}");
        assert_eq!(came.bytes_counted, Some(2 << 20));
        assert_eq!(result.last(), Some(&(2 << 20, 2 << 20)));
        drop(consent);
        assert_eq!(fs::read(mounted.path().join("file")).unwrap(), vec![7; 256 << 10]);
        drop(mounted);
        let after = fs::read(&disk.image).unwrap();
        for mib in 0..8 {
            let at = mib * MIB..(mib + 1) * MIB;
            let is_gone = ranges.iter().any(|range| range.contains(&mib));
            // The file system on the second partition keeps writing to itself.
            if is_gone {
                assert!(after[at].iter().all(|byte| *byte == 0), "{label}: MiB {mib}");
            } else if !(3..5).contains(&mib) {
                assert!(after[at.clone()] == before[at], "{label}: MiB {mib} was changed");
            }
        }
    }
}

#[test]
fn what_the_disk_stands_on_is_claimed_meanwhile() {
    if skip() {
        return;
    }
    let mut disk = space_usage("gpt");
    disk.remove_partition();
    let above = Loop::attach(disk.path()).unwrap();
    let name = above.0.to_str().unwrap();
    run("partx", &["--add", name]).unwrap();
    let exclusive = || {
        let opened = File::options().read(true).custom_flags(libc::O_EXCL).open(disk.path());
        opened.map(drop).is_ok()
    };
    let space = UnusedSpace::at(&above.0).unwrap();
    assert!((0..100).any(|_| exclusive()), "nobody has claimed it yet");
    let consent = UnusedConsent::take(&space, &agreed(&space)).unwrap();
    assert!(!exclusive(), "somebody could mount what the disk stands on");
    drop(consent);
    run_when_free("partx", &["--delete", name]).unwrap();
}

#[test]
fn it_can_be_ended_between_holes() {
    if skip() {
        return;
    }
    let disk = space_usage("gpt");
    let space = UnusedSpace::at(disk.path()).unwrap();
    let consent = UnusedConsent::take(&space, &agreed(&space)).unwrap();
    let came = discard_unused(&consent, |_, _| false).unwrap();
    assert!(came.is_stopped && !came.is_complete(), "{came:?}");
    assert_eq!((came.bytes_asked, came.bytes_done), (2 << 20, 1 << 20));
    let after = fs::read(&disk.image).unwrap();
    assert!(after[5 * MIB..6 * MIB].iter().all(|byte| *byte != 0));
}

#[test]
fn everything_that_stands_against_it_is_refused_and_changes_nothing() {
    if skip() {
        return;
    }
    let refused = |disk: &Disk, path: &Path, words: &[&str]| {
        let before = fs::read(&disk.image).unwrap();
        let text = refusal(UnusedSpace::at(path));
        says(&text, words);
        says(&text, &[" was not changed: ", "; "]);
        assert!(fs::read(&disk.image).unwrap() == before, "{text}");
    };
    let disk = space_usage("gpt");
    refused(&disk, &disk.partition(), &["it is a partition", "give the whole disk"]);
    refused(&disk, &disk.image, &["it is not a disk"]);
    {
        let _above = Loop::attach(disk.path()).unwrap();
        refused(&disk, disk.path(), &["carries loop"]);
    }
    {
        let writer = File::options().write(true).open(disk.path()).unwrap();
        let mut sleep = Command::new("sleep").arg("100").stdin(Stdio::from(writer)).spawn().unwrap();
        refused(&disk, disk.path(), &["sleep (process", "close that program first"]);
        sleep.kill().unwrap();
        sleep.wait().unwrap();
    }
    run_when_free("blockdev", &["--setro", disk.name()]).unwrap();
    refused(&disk, disk.path(), &["write-protected"]);
    run("blockdev", &["--setrw", disk.name()]).unwrap();
    let space = UnusedSpace::at(disk.path()).unwrap();
    for wrong in ["", "disk.img", &format!("{} ", space.id.text)] {
        let why = if wrong.is_empty() { "nothing was typed" } else { "does not match" };
        says(&refusal(UnusedConsent::take(&space, &typed(wrong, &[]))), &[why, "; its backing file is"]);
    }
    {
        let other = File::open(disk.path()).unwrap();
        flock(&other, FlockOperation::LockExclusive).unwrap();
        says(
            &refusal(UnusedConsent::take(&space, &agreed(&space))),
            &["holds a lock", "close that program first"],
        );
    }
    // A signature of another program's data.
    disk.write(&[0xDE, 0x11, 0xDE, 0x11], 8 * MIB as u64 - 512);
    says(&refusal(UnusedSpace::at(disk.path())), &["was not changed"]);

    for (script, words) in [
        ("label: dos\nstart=2048, size=4096, type=5\n", ["extended partition", "fstrim"]),
        ("label: dos\n", ["no partitions", "whole disk"]),
    ] {
        let disk = Disk::plain();
        disk.make_table(script);
        refused(&disk, disk.path(), &words);
    }
    let disk = Disk::plain();
    refused(&disk, disk.path(), &["no partition table", "whole disk"]);
    run_when_free("mkfs.ext4", &["-q", "-F", disk.name()]).unwrap();
    refused(&disk, disk.path(), &["it carries ext"]);
    let folder = disk_folder();
    assert!(UnusedSpace::at(&folder.path().join("missing")).is_err());
}

#[test]
fn a_table_that_changes_ends_the_consent() {
    if skip() {
        return;
    }
    let disk = space_usage("gpt");
    let space = UnusedSpace::at(disk.path()).unwrap();
    let consent = UnusedConsent::take(&space, &agreed(&space)).unwrap();
    let before = fs::read(&disk.image).unwrap();
    // Another program creates a partition in a hole, unknown to the kernel yet.
    disk.make_table(&format!("label: gpt\n{TABLE}start=4096, size=2048\n"));
    let text = discard_unused(&consent, |_, _| true).unwrap_err().to_string();
    says(&text, &["list different partitions", "partprobe"]);
    drop(consent);
    says(&refusal(UnusedConsent::take(&space, &agreed(&space))), &["list different partitions"]);
    // The same partitions in a new table are not the ones that were examined.
    disk.make_table(&format!("label: gpt\n{TABLE}"));
    says(&refusal(UnusedConsent::take(&space, &agreed(&space))), &["have changed since"]);
    let after = fs::read(&disk.image).unwrap();
    assert!(after[MIB..7 * MIB] == before[MIB..7 * MIB]);
}
