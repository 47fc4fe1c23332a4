//! Targets in use: mounted, swap, below another device, open, locked, running.

use std::fs::{self, File};
use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use likenew_real::consent::{Agreement, Consent};
use rustix::fs::{FlockOperation, flock};

use super::disk::Disk;
use super::ledger::{Ledger, file, right, typed};
use crate::support::{Loop, Mounted, disk_folder, run, run_when_free};

/// A program that sleeps with a file or device open, and ends with this.
struct Holder(Child);

impl Holder {
    fn of(stdin: File) -> Self {
        Self(Command::new("sleep").arg("100").stdin(Stdio::from(stdin)).spawn().unwrap())
    }
}

impl Drop for Holder {
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

pub fn of_files(ledger: &mut Ledger) {
    let folder = disk_folder();
    let path = file(folder.path(), "image", 64 << 10);
    let (_, agreement) = right(&path);
    let mut refused = |case: &str, words: &[&str]| {
        ledger.refused(&format!("file: {case}"), &path, &path, &agreement, words);
    };
    {
        let _open = File::open(&path).unwrap();
        refused("open for reading by this program", &["has it open"]);
    }
    {
        let _open = File::options().write(true).open(&path).unwrap();
        refused("open for writing by this program", &["has it open"]);
    }
    {
        let _holder = Holder::of(File::open(&path).unwrap());
        refused("open for reading by another program", &["sleep (process", "has it open"]);
    }
    {
        let _holder = Holder::of(File::options().append(true).open(&path).unwrap());
        refused("open for writing by another program", &["sleep (process", "has it open"]);
    }
    for (case, how) in [
        ("locked", FlockOperation::LockExclusive),
        ("locked together with others", FlockOperation::LockShared),
    ] {
        let open = File::open(&path).unwrap();
        flock(&open, how).unwrap();
        refused(case, &["holds a lock"]);
    }
    {
        let _held = Consent::to_overwrite(&path, &agreement).unwrap();
        refused("under another consent", &["holds a lock"]);
    }
    let program = folder.path().join("program");
    fs::copy("/bin/sleep", &program).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    right(&program);
    let mut running = Command::new(&program).arg("100").spawn().unwrap();
    ledger.refused(
        "file: a running program",
        &program,
        &program,
        &typed("program", &[]),
        &["running program", "stop it first"],
    );
    running.kill().unwrap();
    running.wait().unwrap();
    if rustix::process::geteuid().is_root() {
        files_as_drives(ledger, &folder, &path, &agreement);
    }
}

fn files_as_drives(ledger: &mut Ledger, folder: &tempfile::TempDir, path: &Path, agreement: &Agreement) {
    for (case, more) in
        [("", &[][..]), (", from an offset", &["--offset", "4096"]), (", read-only", &["--read-only"])]
    {
        let _device = Loop::attach_with(more, path).unwrap();
        let words = ["loop device loop", "losetup -d"];
        ledger.refused(&format!("file: behind a loop device{case}"), path, path, agreement, &words);
    }
    let image = folder.path().join("file system");
    File::create_new(&image).unwrap().set_len(8 << 20).unwrap();
    run("mkfs.ext4", &["-q", "-F", image.to_str().unwrap()]).unwrap();
    {
        let _mounted = Mounted::mount(&["-o", "loop", image.to_str().unwrap()]).unwrap();
        let agreement = typed("file system", &["ext"]);
        ledger.refused("file: mounted", Path::new("/"), &image, &agreement, &["is mounted at", "unmount it"]);
    }
    let swap = folder.path().join("swap");
    fs::write(&swap, vec![0; 1 << 20]).unwrap();
    fs::set_permissions(&swap, fs::Permissions::from_mode(0o600)).unwrap();
    run("mkswap", &[swap.to_str().unwrap()]).unwrap();
    if run("swapon", &[swap.to_str().unwrap()]).is_some() {
        let agreement = typed("swap", &["swap"]);
        ledger.refused("file: swap", &swap, &swap, &agreement, &["used as swap", "swapoff"]);
        run("swapoff", &[swap.to_str().unwrap()]).unwrap();
    }
    right(path);
}

pub fn of_devices(ledger: &mut Ledger) {
    mounted_disk(ledger);
    mounted_partition(ledger);
    swap(ledger);
    carrying(ledger);
    open(ledger);
    protected(ledger);
    system(ledger);
}

fn mounted_disk(ledger: &mut Ledger) {
    let disk = Disk::plain();
    run_when_free("mkfs.ext4", &["-q", "-F", disk.name()]).unwrap();
    let (_, agreement) = right(disk.path());
    // A mount changes its superblock; the rest of the image is the file system's to change.
    let unread = Path::new("/");
    for (case, options) in
        [("", "rw"), (", read-only", "ro"), (", read-only without its journal", "ro,noload")]
    {
        let mounted = Mounted::mount(&["-o", options, disk.name()]).unwrap();
        let words = ["is mounted at", mounted.path().to_str().unwrap(), "unmount it"];
        ledger.refused(&format!("disk: mounted{case}"), unread, disk.path(), &agreement, &words);
    }
    {
        let first = Mounted::mount(&[disk.name()]).unwrap();
        let second = Mounted::mount(&["--bind", first.path().to_str().unwrap()]).unwrap();
        drop(first);
        let words = ["is mounted at", second.path().to_str().unwrap(), "unmount it"];
        ledger.refused("disk: mounted by way of a folder", unread, disk.path(), &agreement, &words);
    }
    {
        let folder = tempfile::tempdir().unwrap();
        let link = folder.path().join("link");
        symlink(disk.path(), &link).unwrap();
        let _mounted = Mounted::mount(&[disk.name()]).unwrap();
        ledger.refused("disk: mounted, by a link to it", unread, &link, &agreement, &["is mounted at"]);
        let open = File::open(disk.path()).unwrap();
        let number = std::os::fd::AsRawFd::as_raw_fd(&open).to_string();
        let by_number = Path::new("/proc/self/fd").join(number);
        ledger.refused("disk: mounted, by a descriptor", unread, &by_number, &agreement, &["is mounted at"]);
    }
    if let Some((_program, point)) = mounted_elsewhere(&disk) {
        let words = ["another mount namespace", point.path().to_str().unwrap(), "nsenter"];
        ledger.refused("disk: mounted where nobody else sees it", unread, disk.path(), &agreement, &words);
    }
    right(disk.path());
}

/// Mounts it in another namespace.
fn mounted_elsewhere(disk: &Disk) -> Option<(Holder, tempfile::TempDir)> {
    let folder = tempfile::tempdir().unwrap();
    let script = format!("mount {} {} && echo ready && exec sleep 100", disk.name(), folder.path().display());
    let mut unshare = Command::new("unshare");
    let unshare = unshare.args(["--mount", "--propagation", "private", "sh", "-c", &script]);
    let mut child = unshare.stdout(Stdio::piped()).spawn().ok()?;
    let mut line = String::new();
    let stdout = child.stdout.take().unwrap();
    BufReader::new(stdout).read_line(&mut line).unwrap();
    let holder = Holder(child);
    (line == "ready\n").then_some((holder, folder))
}

fn mounted_partition(ledger: &mut Ledger) {
    let disk = Disk::partitioned();
    let partition = disk.partition();
    let part = partition.to_str().unwrap();
    run_when_free("mkfs.ext4", &["-q", "-F", part]).unwrap();
    let ((_, of_disk), (_, of_part)) = (right(disk.path()), right(&partition));
    let mounted = Mounted::mount(&["-o", "ro", part]).unwrap();
    let words = ["p1 is mounted at", mounted.path().to_str().unwrap(), "unmount it"];
    ledger.refused("disk: its partition mounted", Path::new("/"), disk.path(), &of_disk, &words);
    ledger.refused("partition: mounted", Path::new("/"), &partition, &of_part, &words);
    drop(mounted);
    right(disk.path());
}

fn swap(ledger: &mut Ledger) {
    let disk = Disk::plain();
    run_when_free("mkswap", &["-f", disk.name()]).unwrap();
    let (_, agreement) = right(disk.path());
    let words = ["used as swap", "swapoff"];
    if run("swapon", &[disk.name()]).is_none() {
        return;
    }
    ledger.refused("disk: swap", &disk.image, disk.path(), &agreement, &words);
    run("swapoff", &[disk.name()]).unwrap();
    let disk = Disk::partitioned();
    let partition = disk.partition();
    run_when_free("mkswap", &["-f", partition.to_str().unwrap()]).unwrap();
    let ((_, of_disk), (_, of_part)) = (right(disk.path()), right(&partition));
    run("swapon", &[partition.to_str().unwrap()]).unwrap();
    ledger.refused("disk: its partition swap", &disk.image, disk.path(), &of_disk, &words);
    ledger.refused("partition: swap", &disk.image, &partition, &of_part, &words);
    run("swapoff", &[partition.to_str().unwrap()]).unwrap();
}

/// Loop devices upon loop devices, in all combinations.
fn carrying(ledger: &mut Ledger) {
    let disk = Disk::partitioned();
    let partition = disk.partition();
    let ((_, of_disk), (_, of_part)) = (right(disk.path()), right(&partition));
    let ways =
        [("", &[][..]), (", from an offset", &["--offset", "1048576"]), (", read-only", &["--read-only"])];
    for (below, name) in [(disk.path(), "disk"), (&*partition, "partition")] {
        for (case, more) in ways {
            let _above = Loop::attach_with(more, below).unwrap();
            let words = ["carries loop", "losetup -d"];
            for (path, agreement, asked) in
                [(disk.path(), &of_disk, "disk"), (&*partition, &of_part, "partition")]
            {
                let case = format!("{asked}: a loop device on the {name}{case}");
                ledger.refused(&case, &disk.image, path, agreement, &words);
            }
        }
    }
    right(&partition);
}

fn open(ledger: &mut Ledger) {
    let disk = Disk::partitioned();
    let partition = disk.partition();
    let ((_, of_disk), (_, of_part)) = (right(disk.path()), right(&partition));
    for (lock_holder, name) in [(disk.path(), "disk"), (&*partition, "partition")] {
        let _holder = Holder::of(File::options().read(true).write(true).open(lock_holder).unwrap());
        let words = ["sleep (process", "open for writing", "close that program first"];
        for (path, agreement, asked) in
            [(disk.path(), &of_disk, "disk"), (&*partition, &of_part, "partition")]
        {
            let case = format!("{asked}: another program writes to the {name}");
            ledger.refused(&case, &disk.image, path, agreement, &words);
        }
    }
    for (lock_holder, agreement, name) in
        [(disk.path(), &of_disk, "disk"), (&*partition, &of_part, "partition")]
    {
        let _held = Consent::to_overwrite(lock_holder, agreement).unwrap();
        for (path, agreement, asked) in
            [(disk.path(), &of_disk, "disk"), (&*partition, &of_part, "partition")]
        {
            let case = format!("{asked}: the {name} under another consent");
            ledger.refused(
                &case,
                &disk.image,
                path,
                agreement,
                &["holds it exclusively", "close that program"],
            );
        }
    }
}

fn protected(ledger: &mut Ledger) {
    let disk = Disk::partitioned();
    let partition = disk.partition();
    let ((_, of_disk), (_, of_part)) = (right(disk.path()), right(&partition));
    run_when_free("blockdev", &["--setro", disk.name()]).unwrap();
    let words = ["write-protected", "setrw"];
    ledger.refused("disk: write-protected", &disk.image, disk.path(), &of_disk, &words);
    ledger.refused("partition: its disk write-protected", &disk.image, &partition, &of_part, &words);
    run("blockdev", &["--setrw", disk.name()]).unwrap();
    run_when_free("blockdev", &["--setro", partition.to_str().unwrap()]).unwrap();
    ledger.refused("partition: write-protected", &disk.image, &partition, &of_part, &words);
    run("blockdev", &["--setrw", partition.to_str().unwrap()]).unwrap();
    right(&partition);
    let image = file(disk.folder.path(), "other.img", 1 << 20);
    let device = Loop::attach_with(&["--read-only"], &image).unwrap();
    let agreement = typed(image.to_str().unwrap(), &[]);
    ledger.refused("disk: attached read-only", &image, &device.0, &agreement, &words);
}

/// The drive of the running system, under each of its names.
fn system(ledger: &mut Ledger) {
    let source = run("findmnt", &["-n", "-o", "SOURCE", "/"]).filter(|source| source.starts_with("/dev/"));
    let Some(source) = source else { return eprintln!("SKIPPED: the root file system is on no device") };
    let path = fs::canonicalize(&source).unwrap();
    let agreement = typed("anything", &[]);
    let words = ["the system runs from", "Boot from another drive"];
    ledger.refused("system: its device", Path::new("/"), &path, &agreement, &words);
    let folder = tempfile::tempdir().unwrap();
    let (link, node) = (folder.path().join("link"), folder.path().join("node"));
    symlink(&path, &link).unwrap();
    ledger.refused("system: its device, by a link", Path::new("/"), &link, &agreement, &words);
    let sys = Path::new("/sys/class/block").join(path.file_name().unwrap());
    let number = fs::read_to_string(sys.join("dev")).unwrap();
    let (major, minor) = number.trim().split_once(':').unwrap();
    run("mknod", &[node.to_str().unwrap(), "b", major, minor]).unwrap();
    ledger.refused("system: its device, by a node of one's own", Path::new("/"), &node, &agreement, &words);
    if let Some(disk) = fs::canonicalize(&sys).unwrap().parent().filter(|folder| folder.join("dev").exists())
    {
        let path = Path::new("/dev").join(disk.file_name().unwrap());
        ledger.refused("system: the disk of its partition", Path::new("/"), &path, &agreement, &words);
    }
}
