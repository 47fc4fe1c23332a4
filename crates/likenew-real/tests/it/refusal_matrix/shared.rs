//! Bytes that another program uses by another path: loop devices over one file, windows, partitions.
//!
//! Every case creates the same image again, so that none depends on another.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{BufRead as _, BufReader};
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use likenew_real::consent::{Agreement, Consent, Loss};
use likenew_real::drive_lock::Locks;
use rustix::fs::{Mode, OFlags, mkdirat, openat, renameat};

use super::disk::Disk;
use super::ledger::{Ledger, typed};
use crate::support::{Loop, Mounted, disk_folder, run, run_when_free};

const MIB: u64 = 1 << 20;
/// Start and length of the two partitions of the image, in MiB.
const FIRST: (u64, u64) = (1, 3);
const SECOND: (u64, u64) = (5, 2);

/// An image of a disk with two partitions, behind a loop device that knows them.
struct Scene {
    disk: Disk,
}

/// Everything that uses it, until this is dropped.
type Held = Vec<Box<dyn std::any::Any>>;

impl Scene {
    fn new() -> Self {
        let line = |(start, length): (u64, u64)| format!("start={}, size={}\n", start * 2048, length * 2048);
        Self { disk: Disk::with_table(&format!("label: dos\n{}{}", line(FIRST), line(SECOND))) }
    }

    fn part(&self, number: u32) -> PathBuf {
        format!("{}p{number}", self.disk.name()).into()
    }

    /// A loop device over this part of a file or device.
    fn window(over: &Path, offset: u64, bytes: Option<u64>) -> Loop {
        let (offset, bytes) = (offset.to_string(), bytes.map(|bytes| bytes.to_string()));
        let mut options = vec!["--offset", &offset];
        if let Some(bytes) = &bytes {
            options.extend(["--sizelimit", bytes]);
        }
        Loop::attach_with(&options, over).expect("root can attach a loop device")
    }

    fn over_image(&self, offset: u64, bytes: Option<u64>) -> Loop {
        Self::window(&self.disk.image, offset, bytes)
    }

    /// A loop device over the bytes of one partition.
    fn over(&self, (start, length): (u64, u64)) -> Loop {
        self.over_image(start * MIB, Some(length * MIB))
    }

    fn mount_first(&self) -> Mounted {
        mounted(&self.part(1))
    }
}

fn mounted(device: &Path) -> Mounted {
    let device = device.to_str().unwrap();
    run_when_free("mkfs.ext4", &["-q", "-F", device]).unwrap();
    Mounted::mount(&[device]).unwrap()
}

/// A program that ends with this.
struct Program(Child);

impl Program {
    fn with_input(input: File) -> Self {
        Self(Command::new("sleep").arg("100").stdin(Stdio::from(input)).spawn().unwrap())
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

/// Everything that may be on the images of these cases.
fn agreement(image: &Path) -> Agreement {
    typed(image.to_str().unwrap(), &["dos", "ext", "gpt", "swap", "btrfs"])
}

type Words = &'static [&'static str];
/// Uses bytes of the scene's image, and returns the device or file to ask for.
type Setup = fn(&Scene) -> (PathBuf, Held);

fn lock_holder(target: Loop, others: Held) -> (PathBuf, Held) {
    let path = target.0.clone();
    // The target is dropped first: the others may hold what it consists of.
    let mut all: Held = vec![Box::new(target)];
    all.extend(others);
    (path, all)
}

const MOUNTED: Words = &["is mounted at", "unmount it"];

const REFUSED: &[(&str, Setup, Words)] = &[
    (
        "the whole image, a partition mounted",
        |s| lock_holder(s.over_image(0, None), vec![Box::new(s.mount_first())]),
        MOUNTED,
    ),
    (
        "a window that begins inside",
        |s| lock_holder(s.over_image(2 * MIB, None), vec![Box::new(s.mount_first())]),
        MOUNTED,
    ),
    (
        "a window that overlaps by one sector",
        |s| {
            let end = (FIRST.0 + FIRST.1) * MIB;
            lock_holder(s.over_image(end - 512, Some(4 * MIB)), vec![Box::new(s.mount_first())])
        },
        MOUNTED,
    ),
    (
        "a window that reaches in by its last sector",
        |s| lock_holder(s.over_image(0, Some(FIRST.0 * MIB + 512)), vec![Box::new(s.mount_first())]),
        MOUNTED,
    ),
    ("the partition's window", |s| lock_holder(s.over(FIRST), vec![Box::new(s.mount_first())]), MOUNTED),
    (
        "a loop device over the mounted partition",
        |s| {
            let first = s.mount_first();
            lock_holder(Scene::window(&s.part(1), 0, None), vec![Box::new(first)])
        },
        MOUNTED,
    ),
    (
        "a loop device over the disk, the partition mounted",
        |s| {
            let first = s.mount_first();
            lock_holder(Scene::window(s.disk.path(), 2 * MIB, None), vec![Box::new(first)])
        },
        MOUNTED,
    ),
    (
        "a loop device over a loop device over the same",
        |s| {
            let first = s.mount_first();
            let below = s.over_image(0, None);
            lock_holder(
                Scene::window(&below.0, FIRST.0 * MIB, Some(4096)),
                vec![Box::new(below), Box::new(first)],
            )
        },
        MOUNTED,
    ),
    (
        "a sibling is mounted",
        |s| {
            let sibling = s.over(SECOND);
            let second = mounted(&sibling.0);
            lock_holder(s.over_image(SECOND.0 * MIB, None), vec![Box::new(second), Box::new(sibling)])
        },
        MOUNTED,
    ),
    (
        "the partition, and a sibling of it is mounted",
        |s| {
            let sibling = s.over(SECOND);
            let second = mounted(&sibling.0);
            (s.part(2), vec![Box::new(second), Box::new(sibling)])
        },
        MOUNTED,
    ),
    (
        "the disk, and a window of its image is mounted",
        |s| {
            let sibling = s.over(SECOND);
            let second = mounted(&sibling.0);
            (s.disk.path().to_owned(), vec![Box::new(second), Box::new(sibling)])
        },
        MOUNTED,
    ),
    (
        "the image itself, a partition of it mounted",
        |s| (s.disk.image.clone(), vec![Box::new(s.mount_first())]),
        MOUNTED,
    ),
    (
        "a sibling is swap",
        |s| {
            let sibling = s.over(SECOND);
            let name = sibling.0.to_str().unwrap().to_owned();
            run_when_free("mkswap", &[&name]).unwrap();
            run("swapon", &[&name]).unwrap();
            lock_holder(s.over(SECOND), vec![Box::new(Swap(name)), Box::new(sibling)])
        },
        &["used as swap", "swapoff"],
    ),
    (
        "a sibling is attached",
        |s| {
            let sibling = s.over_image(SECOND.0 * MIB, None);
            lock_holder(s.over(SECOND), vec![Box::new(sibling)])
        },
        &["is attached to the same bytes", "losetup -d"],
    ),
    (
        "a program writes to the image",
        |s| {
            let program = Program::with_input(File::options().write(true).open(&s.disk.image).unwrap());
            lock_holder(s.over(SECOND), vec![Box::new(program)])
        },
        &["sleep (process", "open for writing", "close that program"],
    ),
    (
        "a program writes to the partition of the same bytes",
        |s| {
            let program = Program::with_input(File::options().write(true).open(s.part(2)).unwrap());
            lock_holder(s.over(SECOND), vec![Box::new(program)])
        },
        &["sleep (process", "open for writing", "close that program"],
    ),
    (
        "a program writes to the disk",
        |s| {
            let program = Program::with_input(File::options().write(true).open(s.disk.path()).unwrap());
            lock_holder(s.over(SECOND), vec![Box::new(program)])
        },
        &["sleep (process", "open for writing", "close that program"],
    ),
    // Like volume managers that /sys does not show.
    (
        "somebody holds the partition of the same bytes",
        |s| {
            let exclusive = File::options().read(true).custom_flags(libc::O_EXCL).open(s.part(2)).unwrap();
            lock_holder(s.over(SECOND), vec![Box::new(exclusive)])
        },
        &["holds", "exclusively", "close that program"],
    ),
    (
        "mounted where nobody else sees it",
        |s| {
            drop(s.mount_first());
            let folder = tempfile::tempdir().unwrap();
            let program = mounted_elsewhere(folder.path(), &s.part(1));
            lock_holder(s.over(FIRST), vec![Box::new(program), Box::new(folder)])
        },
        &["another mount namespace", "nsenter"],
    ),
];

/// Allowed requests while the first partition is mounted; and whether each shares bytes with the second.
const ALLOWED: &[(&str, Setup, bool)] = &[
    (
        "the window of the other partition",
        |s| lock_holder(s.over(SECOND), vec![Box::new(s.mount_first())]),
        true,
    ),
    (
        "a window that begins where it ends",
        |s| {
            let end = (FIRST.0 + FIRST.1) * MIB;
            lock_holder(s.over_image(end, None), vec![Box::new(s.mount_first())])
        },
        true,
    ),
    (
        "a window that ends where it begins",
        |s| lock_holder(s.over_image(4096, Some(FIRST.0 * MIB - 4096)), vec![Box::new(s.mount_first())]),
        false,
    ),
    ("the other partition", |s| (s.part(2), vec![Box::new(s.mount_first())]), true),
    (
        "a loop device over the other partition",
        |s| lock_holder(Scene::window(&s.part(2), 0, None), vec![Box::new(s.mount_first())]),
        true,
    ),
    (
        "a loop device over the disk, where the other partition is",
        |s| {
            let window = Scene::window(s.disk.path(), SECOND.0 * MIB, Some(SECOND.1 * MIB));
            lock_holder(window, vec![Box::new(s.mount_first())])
        },
        true,
    ),
];

struct Swap(String);

impl Drop for Swap {
    fn drop(&mut self) {
        run("swapoff", &[&self.0]);
    }
}

/// Mounts it in another namespace.
fn mounted_elsewhere(folder: &Path, device: &Path) -> Program {
    let script = format!("mount {} {} && echo ready && exec sleep 100", device.display(), folder.display());
    let mut unshare = Command::new("unshare");
    let unshare = unshare.args(["--mount", "--propagation", "private", "sh", "-c", &script]);
    let mut child = unshare.stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert_eq!(line, "ready\n");
    Program(child)
}

pub fn all(ledger: &mut Ledger) {
    for (name, setup, words) in REFUSED {
        let scene = Scene::new();
        let (path, _held) = setup(&scene);
        // File systems write to their own image at any time.
        let unread = Path::new("/");
        let agreement = agreement(&scene.disk.image);
        ledger.refused(&format!("shared: {name}"), unread, &path, &agreement, words);
        if path != scene.disk.image {
            let way = || Consent::to_rewrite(&path, &agreement);
            ledger.attempt(&format!("shared, to rewrite: {name}"), unread, &path, way, words);
        }
    }
    several_devices(ledger);
    names_that_are_no_text(ledger);
    a_path_too_long_for_sysfs(ledger);
    mounted_at_a_name_that_is_no_text(ledger);
}

fn attach(image: &Path) -> Loop {
    Loop::attach(image).expect("root can attach a loop device")
}

fn image(path: PathBuf) -> PathBuf {
    File::create_new(&path).unwrap().set_len(8 * MIB).unwrap();
    path
}

/// Two loop devices over one file, the second of which is mounted: no path to its bytes is free.
fn sibling_is_mounted(ledger: &mut Ledger, name: &str, image: &Path, loops: [Loop; 2]) {
    let mounted = mounted(&loops[1].0);
    let found = |path: &Path| Loss::at(path).map_or_else(|_| "x".to_owned(), |loss| loss.id.text);
    for path in [&loops[0].0, &loops[1].0] {
        let agreement = typed(&found(path), &["ext"]);
        ledger.refused(
            &format!("shared: {name}: {}", path == &loops[0].0),
            Path::new("/"),
            path,
            &agreement,
            MOUNTED,
        );
    }
    let text = Consent::to_overwrite(image, &typed(&found(image), &["ext"])).unwrap_err().to_string();
    assert!(text.contains("is mounted at"), "{name}: {text}");
    drop((mounted, loops));
}

/// File names are bytes: any except a slash and zero.
fn names_that_are_no_text(ledger: &mut Ledger) {
    for name in [&b"disk-\xe9.img"[..], b"\ndisk.img", b"disk.img\n\n", b" disk .img "] {
        let folder = disk_folder();
        let image = image(folder.path().join(OsStr::from_bytes(name)));
        let loops = [attach(&image), attach(&image)];
        sibling_is_mounted(ledger, &format!("{:?}", name.escape_ascii().to_string()), &image, loops);
    }
}

/// The kernel shows no path longer than a page.
fn a_path_too_long_for_sysfs(ledger: &mut Ledger) {
    let folder = disk_folder();
    let image = image(folder.path().join("disk.img"));
    let loops = [attach(&image), attach(&image)];
    let top: OwnedFd = File::open(folder.path()).unwrap().into();
    let (mut deep, name) = (top.try_clone().unwrap(), "d".repeat(200));
    for _ in 0..25 {
        mkdirat(&deep, &*name, Mode::RWXU).unwrap();
        deep = openat(&deep, &*name, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())
            .unwrap();
    }
    renameat(&top, "disk.img", &deep, "disk.img").unwrap();
    let shown = Path::new("/sys/block").join(loops[0].0.file_name().unwrap()).join("loop/backing_file");
    assert!(std::fs::read(shown).is_err(), "the kernel shows it, so this shows nothing");
    let image = PathBuf::from(format!("/proc/self/fd/{}/disk.img", deep.as_raw_fd()));
    sibling_is_mounted(ledger, "a long path", &image, loops);
    // So that the folder can be removed by its path.
    renameat(&deep, "disk.img", &top, "disk.img").unwrap();
}

/// One such mount must not hide itself or any other.
fn mounted_at_a_name_that_is_no_text(ledger: &mut Ledger) {
    let scene = Scene::new();
    let folder = tempfile::tempdir().unwrap();
    let point = folder.path().join(OsStr::from_bytes(b"caf\xe9"));
    std::fs::create_dir(&point).unwrap();
    let first = scene.part(1);
    run_when_free("mkfs.ext4", &["-q", "-F", first.to_str().unwrap()]).unwrap();
    assert!(Command::new("mount").arg(&first).arg(&point).status().unwrap().success());
    let words = ["is mounted at", "caf\u{fffd}", "unmount it"];
    let (name, agreement) = ("shared: mounted at a name that is no text", agreement(&scene.disk.image));
    ledger.refused(name, Path::new("/"), &first, &agreement, &words);
    // Other mounts are seen beside it, and so is the drive below a folder.
    let second = mounted(&scene.part(2));
    let name = "shared: mounted beside a name that is no text";
    ledger.refused(name, Path::new("/"), &scene.part(2), &agreement, MOUNTED);
    let lock = Locks::in_folder(folder.path().join("locks")).take(&[second.path()]).unwrap();
    assert!(!lock.drives().is_empty(), "a folder on a drive has no lock");
    drop(second);
    while !Command::new("umount").arg(&point).output().unwrap().status.success() {
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
}

/// A mount names one device of such a file system, and writes to all of them.
fn several_devices(ledger: &mut Ledger) {
    let folder = disk_folder();
    let attach = |name: &str| {
        let image = folder.path().join(name);
        File::create_new(&image).unwrap().set_len(128 * MIB).unwrap();
        (Loop::attach(&image).unwrap(), image)
    };
    let ((one, _), (two, image)) = (attach("one.img"), attach("two.img"));
    let names = [one.0.to_str().unwrap(), two.0.to_str().unwrap()];
    if run_when_free("mkfs.btrfs", &["-q", "-f", "-d", "single", "-m", "raid1", names[0], names[1]]).is_none()
    {
        return;
    }
    let mounted = Mounted::mount(&["-o", &format!("device={}", names[1]), names[0]]).unwrap();
    let words = ["is mounted at", mounted.path().to_str().unwrap(), "unmount it"];
    let sibling = Scene::window(&image, 4096, None);
    let agreement = agreement(&image);
    for (case, path) in [("its second device", &two.0), ("a sibling of its second device", &sibling.0)] {
        ledger.refused(&format!("shared: btrfs, {case}"), Path::new("/"), path, &agreement, &words);
    }
    ledger.refused(
        "shared: btrfs, the image of its second device",
        Path::new("/"),
        &image,
        &typed("two.img", &["btrfs"]),
        &words,
    );
}

/// Bytes beside those in use are free, and locked against later runs.
pub fn beside() {
    for (name, setup, shares) in ALLOWED {
        let scene = Scene::new();
        let (path, _held) = setup(&scene);
        let id = Loss::at(&path).unwrap_or_else(|target_error| panic!("{name}: {target_error}")).id.text;
        let agreement = Agreement { id, ..agreement(&scene.disk.image) };
        let consent = Consent::to_overwrite(&path, &agreement)
            .unwrap_or_else(|target_error| panic!("{name}: {target_error}"));
        let second = || File::options().read(true).custom_flags(libc::O_EXCL).open(scene.part(2));
        assert_eq!(second().is_err(), *shares, "{name}: whether the second partition is claimed");
        drop(consent);
        // A program that another test starts at this moment holds copies of all descriptors until it runs.
        let freed = (0..100).any(|_| {
            std::thread::sleep(std::time::Duration::from_millis(10));
            second().is_ok()
        });
        assert!(freed, "{name}: the second partition is still claimed");
    }
}
