//! A real ext4 in an image file on a loop device: the free space is filled and freed, the device itself is
//! only read.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use crate::serve::server::until;
use crate::support::{Program, Sandbox, names};

/// An ext4 of 256 MiB, mounted for as long as this lives.
pub(crate) struct Ext4 {
    pub(crate) device: String,
    point: PathBuf,
}

impl Ext4 {
    /// `None` if file systems cannot be mounted, with a message.
    pub(crate) fn mount(sandbox: &Sandbox) -> Option<Self> {
        if !rustix::process::geteuid().is_root() {
            eprintln!("not root: no file system can be mounted, so this test shows nothing");
            return None;
        }
        let (image, point) = (sandbox.work().join("image"), sandbox.work().join("mnt"));
        std::fs::create_dir(&point).unwrap();
        std::fs::File::create(&image).unwrap().set_len(256 << 20).unwrap();
        // Lazy initialization would be counted in the middle of a test.
        let eager = "lazy_itable_init=0,lazy_journal_init=0";
        system("mkfs.ext4", &["-q", "-F", "-E", eager, image.to_str().unwrap()]);
        let device = system("losetup", &["--find", "--show", image.to_str().unwrap()]);
        let ext4 = Self { device, point };
        system("mount", &[&ext4.device, ext4.path()]);
        Some(ext4)
    }

    /// The block device below it.
    pub(crate) fn device(&self) -> &str {
        &self.device
    }

    pub(crate) fn path(&self) -> &str {
        self.point.to_str().unwrap()
    }

    /// Unmounts and mounts it again, so that nothing of it is in memory.
    pub(crate) fn mount_again(&mut self) {
        system("umount", &[self.path()]);
        system("mount", &[&self.device, self.path()]);
    }

    fn free_bytes(&self) -> u64 {
        let of = rustix::fs::statvfs(&self.point).unwrap();
        of.f_bavail * of.f_frsize
    }
}

impl Drop for Ext4 {
    fn drop(&mut self) {
        for (program, argument) in
            [("umount", self.path()), ("losetup", &format!("--detach={}", self.device))]
        {
            let _ = Command::new(program).arg(argument).status();
        }
    }
}

#[track_caller]
pub(crate) fn system(program: &str, arguments: &[&str]) -> String {
    let output =
        Command::new(program).args(arguments).output().unwrap_or_else(|error| panic!("{program}: {error}"));
    assert!(output.status.success(), "{program} {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

#[test]
fn free_space_is_filled_down_to_the_reserve_and_given_back() {
    let sandbox = Sandbox::new();
    let Some(ext4) = Ext4::mount(&sandbox) else { return };
    let before = ext4.free_bytes();
    let document = sandbox.run(&["fill", ext4.path(), "--json", "-"]).json();
    let written = document["bytes_written"].as_u64().unwrap();
    let files = document["tables"]["files"].as_array().unwrap().len();
    assert!(written + (64 << 20) <= before && written > before / 2, "{written} of {before} in {files} files");
    assert_eq!(names(&ext4.point), ["lost+found"]);
    assert!(ext4.free_bytes() + (1 << 20) > before);
    let facts = document["target"]["facts"].to_string();
    assert!(facts.contains("ext4"), "{facts}");
}

#[test]
fn a_file_system_that_may_only_be_read_is_named() {
    let sandbox = Sandbox::new();
    let Some(ext4) = Ext4::mount(&sandbox) else { return };
    system("mount", &["-o", "remount,ro", ext4.path()]);
    let ran = sandbox.run(&["fill", ext4.path()]);
    ran.says("read-only");
    assert!(ran.stdout().is_empty() && !ran.stderr().contains("panicked"));
    assert!(sandbox.runs().is_empty());
}

/// Every command announces how much it writes, and stays within that.
#[test]
fn what_a_command_writes_is_reported_before_and_kept_to() {
    let sandbox = Sandbox::new();
    let Some(ext4) = Ext4::mount(&sandbox) else { return };
    let small = ["--reserve", "1MiB", "--no-archive", "--json", "-"];
    for (command, most) in [
        (&["trim", ext4.path(), "--bytes", "4MiB", "--wait", "100ms"][..], 96 << 20),
        (&["bench", ext4.path(), "--span", "8MiB", "--passes", "1", "--time", "100ms"], 80 << 20),
        (&["fill", ext4.path(), "--files", "3", "--file-size", "1MiB"], 3 << 20),
    ] {
        let ran = sandbox.run(&[command, &small].concat());
        let written = ran.json()["bytes_written"].as_u64().unwrap();
        assert!(written > 0 && written <= most, "{command:?} wrote {written}");
        let message = ran.stderr();
        let (_, amount) =
            message.split_once("Will write up to ").unwrap_or_else(|| panic!("{command:?}: {message}"));
        let mut words = amount.split(' ');
        let announced: f64 = words.next().unwrap().parse().unwrap();
        let unit = match words.next().unwrap() {
            "KiB" => 1024.0,
            "MiB" => 1024.0 * 1024.0,
            other => panic!("{other} in {message}"),
        };
        assert!(written as f64 <= announced * unit * 1.01, "{command:?} wrote {written}: {message}");
    }
}

/// Commands that write into a folder by default.
const WRITERS: [&str; 14] = [
    "bench", "check", "fill", "verify", "trim", "endure", "xray", "sweep", "surface", "age", "data", "cache",
    "model", "apps",
];

#[test]
fn a_folder_without_room_beside_the_reserve_is_refused_with_both() {
    let sandbox = Sandbox::new();
    let Some(tmpfs) = Tmpfs::mount(&sandbox, 40 << 10) else { return };
    let folder = tmpfs.0.to_str().unwrap();
    for command in WRITERS {
        let ran = sandbox.run(&[command, folder, "--yes"]);
        ran.code(3).says("40 MiB are free, and 64 MiB are reserved").says("smaller --reserve");
    }
    sandbox.run(&["recondition", folder, "--dry-run"]).code(0).says("Writes nothing");
    assert_eq!(std::fs::read_dir(folder).unwrap().count(), 0);
}

#[test]
fn a_tmpfs_that_may_only_be_read_is_named_by_every_command_that_writes() {
    let sandbox = Sandbox::new();
    let Some(tmpfs) = Tmpfs::mount(&sandbox, 8 << 10) else { return };
    let folder = tmpfs.0.to_str().unwrap();
    system("mount", &["-o", "remount,ro", folder]);
    for command in WRITERS {
        let ran = sandbox.run(&[command, folder, "--yes"]);
        ran.code(3).says("mounted read-only");
        assert!(!ran.stderr().contains("too little"), "{command}: {}", ran.stderr());
    }
    sandbox.run(&["facts", folder]).code(0);
}

#[test]
fn the_device_below_is_read_and_never_written() {
    let sandbox = Sandbox::new();
    let Some(ext4) = Ext4::mount(&sandbox) else { return };
    let quick = ["--span", "16MiB", "--passes", "1", "--time", "100ms", "--json", "-"];
    let document = sandbox.run(&[&["bench", &ext4.device], &quick[..]].concat()).code(0).json();
    assert_eq!(document["bytes_written"], 0);
    assert_eq!(document["target"]["kind"], "device");
    sandbox.run(&["bench", &ext4.device, "--op", "write"]).code(3).says("block device");
    sandbox.run(&["fill", &ext4.device]).code(3).says("nothing was changed");
}

#[test]
fn own_files_on_a_file_system_that_turns_read_only_are_reported_at_the_end() {
    let sandbox = Sandbox::new();
    let Some(ext4) = Ext4::mount(&sandbox) else { return };
    system("mount", &["-o", "remount,errors=remount-ro", ext4.path()]);
    let name = std::path::Path::new(&ext4.device).file_name().unwrap();
    let fails = std::path::Path::new("/sys/fs/ext4").join(name).join("trigger_fs_error");
    if !fails.exists() {
        return eprintln!("{} is missing, so this test shows nothing", fails.display());
    }
    let scratch = ext4.point.join("likenew-scratch");
    let slow = ["--op", "write", "--span", "16MiB", "--passes", "1", "--time", "3s"];
    let mut command = sandbox.command(&[&["bench", ext4.path()], &slow[..]].concat());
    let child = Program::of(command.stdout(Stdio::null()).stderr(Stdio::piped()));
    until("it writes", || scratch.join("00000.likenew").exists());
    std::fs::write(fails, "a test").unwrap();
    let output = child.wait_with_output().unwrap();
    let message = String::from_utf8(output.stderr).unwrap();
    assert!(
        message.contains("likenew-scratch could not be removed") && message.contains("read-only"),
        "{message}"
    );
    assert!(scratch.exists());
    // The next run cannot remove it either, and knows nothing of a kill.
    let next = sandbox.run(&["fill", ext4.path()]);
    next.says("read-only");
    assert!(!next.stderr().contains("killed"), "{}", next.stderr());
}

/// A tmpfs of this many KiB, mounted for as long as this lives.
pub(crate) struct Tmpfs(pub(crate) PathBuf);

impl Tmpfs {
    pub(crate) fn mount(sandbox: &Sandbox, kib: u32) -> Option<Self> {
        if !rustix::process::geteuid().is_root() {
            eprintln!("not root: no file system can be mounted, so this test shows nothing");
            return None;
        }
        let point = sandbox.work().join("tmpfs");
        std::fs::create_dir(&point).unwrap();
        system(
            "mount",
            &["-t", "tmpfs", "-o", &format!("size={kib}k"), "likenew-test", point.to_str().unwrap()],
        );
        Some(Self(point))
    }
}

impl Drop for Tmpfs {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.0).status();
    }
}

#[test]
fn a_drive_that_has_no_room_for_the_run_folder_is_measured_all_the_same() {
    let sandbox = Sandbox::new();
    let Some(full) = Tmpfs::mount(&sandbox, 32) else { return };
    let archive = full.0.to_str().unwrap();
    let ran = sandbox.run(&["fill", "sim:tiny-flash", "--files", "200", "--archive", archive]);
    ran.code(1).says("files");
    assert!(ran.stdout().contains("Speed of each file"), "{}", ran.stdout());
    assert_eq!(ran.stderr().matches("No space left").count(), 1, "{}", ran.stderr());
}
