//! Shared by several tests: loop devices and mounts that go away with the test.

#![allow(unreachable_pub, reason = "a module of a test has nobody to be public to")]

pub mod file_system;

use std::ffi::OsStr;
use std::fmt::Debug;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use likenew_core::drive::{Drive, Lane, LaneRequirements};
use likenew_core::io::{DataClass, Io, Op, Outcome, Slot};
use likenew_core::procedure::Layout;
use likenew_core::target_error::TargetError;
use likenew_core::units::Nanos;
use likenew_real::consent::{Agreement, Consent, Loss};
use likenew_real::engine::Engine;
use likenew_real::open::{Options, open};

/// Runs a program; prints why a test is skipped if that fails.
pub fn run<A: AsRef<OsStr> + Debug>(program: &str, arguments: &[A]) -> Option<String> {
    match Command::new(program).args(arguments).output() {
        Ok(output) if output.status.success() => {
            Some(String::from_utf8_lossy(&output.stdout).trim().to_owned())
        }
        Ok(output) => {
            eprintln!("SKIPPED: {program} {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
            None
        }
        Err(error) => {
            eprintln!("SKIPPED: {program}: {error}");
            None
        }
    }
}

/// The same for a program whose device a process of another test may hold for a moment: until that runs its
/// program, it holds copies of all descriptors.
pub fn run_when_free(program: &str, arguments: &[&str]) -> Option<String> {
    for _ in 0..200 {
        match Command::new(program).args(arguments).output() {
            Ok(output) if output.status.success() => {
                return Some(String::from_utf8_lossy(&output.stdout).trim().to_owned());
            }
            Ok(_) => std::thread::sleep(Duration::from_millis(10)),
            Err(_) => break,
        }
    }
    run(program, arguments)
}

/// A loop device over a file; detached when dropped.
pub struct Loop(pub PathBuf);

/// While this lives no other test gets a loop device that is detached in between. Locked to take a free one, or to detach one in
/// order to attach it again; tests are threads or processes.
pub fn keep_free_loops() -> File {
    let lock = File::create(Path::new(env!("CARGO_TARGET_TMPDIR")).join("free-loops")).unwrap();
    lock.lock().unwrap();
    lock
}

impl Loop {
    pub fn attach(file: &Path) -> Option<Self> {
        Self::attach_with(&[], file)
    }

    /// With these options of losetup.
    pub fn attach_with(options: &[&str], file: &Path) -> Option<Self> {
        let _free = keep_free_loops();
        let find = [OsStr::new("--find"), OsStr::new("--show"), file.as_os_str()];
        let arguments: Vec<&OsStr> = find.into_iter().chain(options.iter().map(OsStr::new)).collect();
        run("losetup", &arguments).map(|path| Self(path.into()))
    }

    /// Detaches it once: a second time, its number may belong to another test.
    pub fn detach(&mut self) {
        let path = std::mem::take(&mut self.0);
        if path != Path::new("") {
            detach(path.to_str().unwrap());
        }
    }
}

impl Drop for Loop {
    fn drop(&mut self) {
        self.detach();
    }
}

/// Detaches a loop device, and waits until the kernel has released the file: a process of another test may
/// hold copies of all descriptors.
pub fn detach(device: &str) -> Option<String> {
    let detached = run("losetup", &["--detach", device])?;
    let attached = device.replace("/dev/", "/sys/block/") + "/loop";
    soon(|| !Path::new(&attached).exists()).then_some(detached)
}

/// Whether the condition becomes true within ten seconds: a process of another test may hold a file a moment
/// longer.
pub fn soon(is_so: impl Fn() -> bool) -> bool {
    let begun = Instant::now();
    while !is_so() {
        if begun.elapsed() > Duration::from_secs(10) {
            return false;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    true
}

/// A file system mounted on its own folder; unmounted when dropped.
pub struct Mounted {
    pub folder: tempfile::TempDir,
}

impl Mounted {
    /// `mount ARGUMENTS FOLDER`.
    pub fn mount(arguments: &[&str]) -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let mut arguments = arguments.to_vec();
        arguments.push(folder.path().to_str().unwrap());
        // It may take a loop device.
        let _free = keep_free_loops();
        run("mount", &arguments).map(|_| Self { folder })
    }

    pub fn tmpfs(options: &str) -> Option<Self> {
        Self::mount(&["-t", "tmpfs", "-o", options, "likenew-test"])
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        // A program that another test starts at this moment holds copies of all descriptors until it runs.
        for _ in 0..100 {
            let umount =
                Command::new("umount").arg(self.path()).output().expect("mount was there, so umount is");
            if umount.status.success() {
                return;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        eprintln!("{} could not be unmounted", self.path().display());
    }
}

/// A file of `bytes` bytes that are not all equal.
pub fn filled_file(folder: &Path, bytes: usize) -> PathBuf {
    let path = folder.join("filled");
    let content: Vec<u8> = (0..bytes).map(|index| (index / 512) as u8).collect();
    std::fs::write(&path, content).unwrap();
    path
}

/// Runs a lane's I/O at depth 1 and returns its outcome.
pub fn one(lane: &mut Lane<'_>, op: Op, offset: u64, length: u32) -> Result<Outcome, TargetError> {
    let mut done = Vec::new();
    lane.submit(&[Io { slot: Slot(0), op, offset, length, data: DataClass::Random, sync: None }])?;
    lane.wait(Nanos::NEVER, &mut done)?;
    assert_eq!(done.len(), 1);
    Ok(done[0].outcome)
}

/// One lane for I/Os of up to 64 KiB.
pub fn lane(drive: &mut dyn Drive) -> Lane<'_> {
    drive.lanes(&LaneRequirements { lanes: 1, depth: 2, length_max: 64 << 10 }).unwrap().pop().unwrap()
}

/// A folder's drive with no reserve.
pub fn open_folder(
    folder: &Path,
    engine: Engine,
    files: u32,
    file_bytes: u64,
) -> Result<Box<dyn Drive>, TargetError> {
    let layout = Some(Layout { files, file_bytes });
    open(folder, Options { engine, layout, reserve: Some(0), ..Options::default() })
}

/// A folder for files that is on the disk rather than in memory.
pub fn disk_folder() -> tempfile::TempDir {
    tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap()
}

/// The message of an opening that must fail, after a check of its kind.
pub fn refusal<T>(result: Result<T, TargetError>) -> String {
    match result {
        Ok(_) => panic!("this should have been refused"),
        Err(target_error @ (TargetError::Refused(_) | TargetError::Unsuitable(_))) => {
            target_error.to_string()
        }
        Err(target_error) => panic!("no refusal in words of our own: {target_error}"),
    }
}

/// Consent to a device, with everything on it named.
pub fn agreed(device: &Path) -> Result<Consent, TargetError> {
    let loss = Loss::at(device)?;
    Consent::to_overwrite(device, &Agreement { id: loss.id.text, destroy: loss.carries })
}

/// Asserts that a text contains all of these words.
#[track_caller]
pub fn says(text: &str, words: &[&str]) {
    for word in words {
        assert!(text.contains(word), "\"{word}\" is missing in: {text}");
    }
}
