//! Targets that were examined and then changed before they were opened.

use std::fs::{self, File};
use std::os::unix::fs::{FileExt as _, symlink};
use std::path::Path;

use super::disk::{Disk, PARTITION, table};
use super::ledger::{Ledger, file, right, typed};
use crate::support::{Loop, Mounted, detach, disk_folder, keep_free_loops, run, run_when_free};

/// A change to a file, with another one beside it, and a word of the refusal.
type Change = (&'static str, fn(&Path, &Path), &'static str);

const OF_FILES: [Change; 12] = [
    ("replaced by another", |path, other| fs::rename(other, path).unwrap(), "has changed since the check"),
    (
        "removed, and made anew with the same bytes",
        |path, _| {
            let bytes = fs::read(path).unwrap();
            fs::remove_file(path).unwrap();
            fs::write(path, bytes).unwrap();
        },
        "has changed since the check",
    ),
    (
        "cut shorter",
        |path, _| File::options().write(true).open(path).unwrap().set_len(4096).unwrap(),
        "has changed since the check",
    ),
    (
        "made longer",
        |path, _| File::options().write(true).open(path).unwrap().set_len(1 << 20).unwrap(),
        "has changed since the check",
    ),
    ("emptied", |path, _| File::options().write(true).open(path).unwrap().set_len(0).unwrap(), "it is empty"),
    (
        "a link to another now",
        |path, other| {
            fs::remove_file(path).unwrap();
            symlink(other, path).unwrap();
        },
        "symbolic link",
    ),
    (
        "a link to itself under another name now",
        |path, _| {
            let moved = path.with_file_name("moved");
            fs::rename(path, &moved).unwrap();
            symlink(moved, path).unwrap();
        },
        "symbolic link",
    ),
    (
        "given a second name",
        |path, _| fs::hard_link(path, path.with_file_name("second")).unwrap(),
        "hard links",
    ),
    (
        "in a folder that is a link to another one now",
        |path, other| {
            let folder = path.parent().unwrap();
            fs::rename(other, other.with_file_name("image")).unwrap();
            fs::rename(folder, folder.with_file_name("moved")).unwrap();
            symlink(other.parent().unwrap(), folder).unwrap();
        },
        "has changed since the check",
    ),
    (
        "a partition table now",
        |path, _| {
            File::options().write(true).open(path).unwrap().write_all_at(&table(PARTITION), 0).unwrap();
        },
        "has changed since the check",
    ),
    (
        "moved over itself by way of a copy",
        |path, other| {
            fs::copy(path, other).unwrap();
            fs::rename(other, path).unwrap();
        },
        "has changed since the check",
    ),
    (
        "exchanged with another",
        |path, other| {
            let third = path.with_file_name("third");
            fs::rename(path, &third).unwrap();
            fs::rename(other, path).unwrap();
            fs::rename(&third, other).unwrap();
        },
        "has changed since the check",
    ),
];

pub fn of_files(ledger: &mut Ledger) {
    for (name, change, word) in OF_FILES {
        let folder = disk_folder();
        for sub in ["one", "two"] {
            fs::create_dir(folder.path().join(sub)).unwrap();
        }
        let path = file(&folder.path().join("one"), "image", 64 << 10);
        let other = file(&folder.path().join("two"), "other", 64 << 10);
        let (loss, agreement) = right(&path);
        change(&path, &other);
        ledger.changed(&format!("file, since: {name}"), &path, &loss, &agreement, &[word]);
    }
    links(ledger);
}

/// A path that led to one file, and leads to another.
fn links(ledger: &mut Ledger) {
    let folder = disk_folder();
    let (one, two) = (file(folder.path(), "one", 8192), file(folder.path(), "two", 8192));
    let (link, chain) = (folder.path().join("link"), folder.path().join("chain"));
    symlink(&one, &link).unwrap();
    symlink(&link, &chain).unwrap();
    let (_, agreement) = right(&chain);
    fs::remove_file(&link).unwrap();
    symlink(&two, &link).unwrap();
    for (name, path) in [("a link", &link), ("a chain of links", &chain)] {
        ledger.refused(&format!("{name} that leads elsewhere since"), &two, path, &agreement, &["\"two\""]);
    }
    let open = File::open(&two).unwrap();
    let number = std::os::fd::AsRawFd::as_raw_fd(&open);
    let by_number = Path::new("/proc/self/fd").join(number.to_string());
    ledger.refused("a link to an open file", &two, &by_number, &typed("two", &[]), &["open"]);
}

pub fn of_devices(ledger: &mut Ledger) {
    other_file_behind(ledger);
    other_device_at_the_node(ledger);
    taken_into_use(ledger);
    other_partition(ledger);
}

/// A change to the image, with another one beside it, which of them is attached then, and a word of the
/// refusal.
type Attached = (&'static str, fn(&Path, &Path), bool, &'static str);

/// Attached again at the same node.
fn other_file_behind(ledger: &mut Ledger) {
    let cases: [Attached; 4] = [
        ("another file behind it", |_, _| {}, true, "has changed since the check"),
        ("the same file behind it, attached anew", |_, _| {}, false, "has changed since the check"),
        (
            "another file of the same name behind it",
            |image, other| fs::rename(other, image).unwrap(),
            false,
            "has changed since the check",
        ),
        (
            "a longer file behind it",
            |image, _| File::options().write(true).open(image).unwrap().set_len(16 << 20).unwrap(),
            false,
            "has changed since the check",
        ),
    ];
    for (name, change, takes_other, word) in cases {
        let disk = Disk::plain();
        let other = disk.folder.path().join("other.img");
        File::create_new(&other).unwrap().set_len(8 << 20).unwrap();
        let (loss, agreement) = right(disk.path());
        let free = keep_free_loops();
        detach(disk.name()).unwrap();
        change(&disk.image, &other);
        let behind = if takes_other { &other } else { &disk.image };
        if run("losetup", &[disk.name(), behind.to_str().unwrap()]).is_none() {
            continue;
        }
        drop(free);
        ledger.changed(&format!("disk, since: {name}"), behind, &loss, &agreement, &[word]);
    }
    let disk = Disk::plain();
    let (loss, agreement) = right(disk.path());
    let _free = keep_free_loops();
    detach(disk.name()).unwrap();
    ledger.changed("disk, since: detached", &disk.image, &loss, &agreement, &["has changed since the check"]);
    ledger.refused(
        "disk: nothing attached",
        &disk.image,
        disk.path(),
        &agreement,
        &["no drive with this name"],
    );
    run("losetup", &[disk.name(), disk.image.to_str().unwrap()]);
}

/// A new device node beside the system's.
fn other_device_at_the_node(ledger: &mut Ledger) {
    let (disk, other) = (Disk::plain(), Disk::plain());
    let node = disk.folder.path().join("node");
    let name = node.to_str().unwrap();
    let make = |disk: &Disk| {
        let number = fs::read_to_string(format!(
            "/sys/block/{}/dev",
            disk.path().file_name().unwrap().to_str().unwrap()
        ));
        let number = number.unwrap();
        let (major, minor) = number.trim().split_once(':').unwrap();
        run("mknod", &[name, "b", major, minor]).unwrap();
    };
    let cases: [(&str, &dyn Fn(), &str); 3] = [
        ("another device at the node", &|| make(&other), "has changed since the check"),
        ("a link at the node", &|| symlink(other.path(), &node).unwrap(), "has changed since the check"),
        ("a file at the node", &|| drop(file(disk.folder.path(), "node", 8192)), "start again"),
    ];
    for (case, change, word) in cases {
        make(&disk);
        let (loss, agreement) = right(&node);
        fs::remove_file(&node).unwrap();
        change();
        ledger.changed(&format!("disk, since: {case}"), &other.image, &loss, &agreement, &[word]);
        fs::remove_file(&node).unwrap();
    }
    run("mknod", &[name, "b", "7", "1048575"]).unwrap();
    let nothing = typed("loop1048575", &[]);
    ledger.refused("node without a device", &disk.image, &node, &nothing, &["no drive with this name"]);
}

fn taken_into_use(ledger: &mut Ledger) {
    let disk = Disk::plain();
    let name = disk.name();
    let (loss, agreement) = right(disk.path());
    run_when_free("mkfs.ext4", &["-q", "-F", name]).unwrap();
    ledger.changed(
        "disk, since: a file system made",
        &disk.image,
        &loss,
        &agreement,
        &["has changed since the check"],
    );
    let (loss, agreement) = right(disk.path());
    {
        let _mounted = Mounted::mount(&[name]).unwrap();
        ledger.changed("disk, since: mounted", Path::new("/"), &loss, &agreement, &["mounted"]);
    }
    {
        let _above = Loop::attach(disk.path()).unwrap();
        ledger.changed("disk, since: a loop device on it", &disk.image, &loss, &agreement, &["carries loop"]);
    }
    run_when_free("blockdev", &["--setro", name]).unwrap();
    ledger.changed("disk, since: write-protected", &disk.image, &loss, &agreement, &["write-protected"]);
    run("blockdev", &["--setrw", name]).unwrap();
    right(disk.path());
}

/// Created again somewhere else, with the same number.
fn other_partition(ledger: &mut Ledger) {
    let mut disk = Disk::partitioned();
    let (loss, agreement) = right(&disk.partition());
    disk.remove_partition();
    disk.write(&table((PARTITION.0 * 2, PARTITION.1)), 0);
    disk.add_partition();
    let path = disk.partition();
    ledger.changed(
        "partition, since: moved",
        &disk.image,
        &loss,
        &agreement,
        &["has changed since the check"],
    );
    let (loss, agreement) = right(&path);
    disk.remove_partition();
    match likenew_real::consent::Consent::to_lose(&loss, &agreement) {
        Ok(_) => panic!("there was consent to a partition that is gone"),
        Err(target_error) => assert!(target_error.to_string().contains("does not exist"), "{target_error}"),
    }
}
