//! A served drive as a block device of the kernel, with a real file system on it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use super::server::{Serving, until};
use super::{are_there, system};
use crate::support::{Program, Sandbox};

/// A loop device over a file, detached whatever happens.
pub(crate) struct Attached(pub(crate) String);

impl Attached {
    /// `None` if it cannot be made, with a message.
    pub(crate) fn to(file: &Path) -> Option<Self> {
        Self::with(file, &[])
    }

    pub(crate) fn with(file: &Path, settings: &[&str]) -> Option<Self> {
        let output = Command::new("losetup").args(settings).args(["--find", "--show"]).arg(file).output();
        match output {
            Ok(output) if output.status.success() => {
                Some(Self(String::from_utf8(output.stdout).unwrap().trim().to_owned()))
            }
            refused => {
                eprintln!("no loop device, so this test shows nothing: {refused:?}");
                None
            }
        }
    }
}

impl Drop for Attached {
    fn drop(&mut self) {
        let _ = Command::new("losetup").args(["--detach", &self.0]).status();
    }
}

/// A mounted file system, unmounted whatever happens.
pub(crate) struct Mount(pub(crate) PathBuf);

impl Drop for Mount {
    fn drop(&mut self) {
        let succeeds = |options: &[&str]| {
            let output = Command::new("umount").args(options).arg(&self.0).output();
            output.is_ok_and(|output| output.status.success())
        };
        // A thread that is about to exec another program still holds open files of this one. Whoever keeps one for longer keeps
        // nobody waiting: it is gone as soon as they have closed it.
        let is_gone = (0..200).any(|_| {
            let is_gone = succeeds(&[]);
            if !is_gone {
                std::thread::sleep(Duration::from_millis(5));
            }
            is_gone
        });
        let _ = is_gone || succeeds(&["--lazy"]);
    }
}

/// A file or folder that a program serves by FUSE, and the program.
pub(crate) struct Fuse {
    _place: Mount,
    _program: Program,
}

impl Fuse {
    pub(crate) fn start(command: &mut Command, place: &Path) -> Self {
        Self { _place: Mount(place.to_owned()), _program: Program::of(command) }
    }
}

/// Makes an ext4 without lazy initialization.
pub(crate) const MAKE_EXT4: [&str; 5] =
    ["mkfs.ext4", "-q", "-F", "-E", "nodiscard,lazy_itable_init=0,lazy_journal_init=0"];

/// Everything below a mounted file system, removed whatever happens.
#[derive(Default)]
pub(crate) struct Mounted {
    // Dropped in this order.
    point: Option<Mount>,
    device: Option<Attached>,
    fuse: Option<Fuse>,
}

impl Mounted {
    /// An ext4 over the whole drive, by FUSE and a loop device. `None` if that cannot be made, with a
    /// message.
    pub(crate) fn begin(sandbox: &Sandbox, serving: &Serving) -> Option<Self> {
        Self::over(sandbox, &serving.uri, &MAKE_EXT4, &[])
    }

    /// The file system that this program makes over the whole export, by a loop device with these settings.
    pub(crate) fn over(sandbox: &Sandbox, uri: &str, make: &[&str], settings: &[&str]) -> Option<Self> {
        if !are_there(&make[..1]) {
            eprintln!("{} is missing, so this test shows nothing", make[0]);
            return None;
        }
        let mut mounted = Self::attach(sandbox, uri, settings)?;
        let device = mounted.device();
        system(make[0], &[&make[1..], &[device]].concat());
        let point = sandbox.work().join("mnt");
        fs::create_dir(&point).unwrap();
        system("mount", &[device, point.to_str().unwrap()]);
        mounted.point = Some(Mount(point));
        Some(mounted)
    }

    /// The export as a block device only, by a loop device with these settings.
    pub(crate) fn attach(sandbox: &Sandbox, uri: &str, settings: &[&str]) -> Option<Self> {
        let programs = ["nbdfuse", "losetup", "fusermount3"];
        let is_root = rustix::process::geteuid().is_root();
        if !are_there(&programs) || !is_root || !Path::new("/dev/fuse").exists() {
            eprintln!("root, FUSE or a program is missing, so this test shows nothing");
            return None;
        }
        let mut mounted = Self::default();
        let file = sandbox.work().join("drive");
        fs::write(&file, "").unwrap();
        mounted.fuse = Some(Fuse::start(Command::new("nbdfuse").arg(&file).arg(uri), &file));
        until("nbdfuse serves it", || fs::metadata(&file).is_ok_and(|metadata| metadata.len() > 0));
        mounted.device = Some(Attached::with(&file, settings)?);
        Some(mounted)
    }

    /// The loop device.
    pub(crate) fn device(&self) -> &str {
        &self.device.as_ref().expect("it is attached").0
    }

    /// Its mount point.
    pub(crate) fn point(&self) -> &Path {
        &self.point.as_ref().expect("it is mounted").0
    }
}
