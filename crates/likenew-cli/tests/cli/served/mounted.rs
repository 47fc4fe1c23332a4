//! A served drive as a block device of the kernel, with a real file system on it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};

use super::server::{Serving, until};
use super::{are_there, system};
use crate::support::Sandbox;

/// A loop device over a file, detached whatever happens.
pub(crate) struct Attached(pub(crate) String);

impl Attached {
    /// None where none can be made; that is said.
    pub(crate) fn to(file: &Path) -> Option<Self> {
        Self::with(file, &[])
    }

    fn with(file: &Path, settings: &[&str]) -> Option<Self> {
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

/// What was made on the way to a mounted file system, and is taken away whatever happens.
#[derive(Default)]
pub(crate) struct Mounted {
    fuse: Option<(Child, PathBuf)>,
    device: Option<Attached>,
    point: Option<PathBuf>,
}

impl Mounted {
    /// An ext4 over the whole drive, by FUSE and a loop device. None where that can not be made; that is said.
    pub(crate) fn begin(sandbox: &Sandbox, serving: &Serving) -> Option<Self> {
        let mut mounted = Self::attach(sandbox, serving, &[])?;
        let device = mounted.device();
        system("mkfs.ext4", &["-q", "-F", "-E", "nodiscard,lazy_itable_init=0,lazy_journal_init=0", device]);
        let point = sandbox.work().join("mnt");
        fs::create_dir(&point).unwrap();
        system("mount", &[device, point.to_str().unwrap()]);
        mounted.point = Some(point);
        Some(mounted)
    }

    /// The drive as a block device alone; the loop device is made with these settings.
    pub(crate) fn attach(sandbox: &Sandbox, serving: &Serving, settings: &[&str]) -> Option<Self> {
        let programs = ["nbdfuse", "losetup", "mkfs.ext4", "fusermount3"];
        let is_root = rustix::process::geteuid().is_root();
        if !are_there(&programs) || !is_root || !Path::new("/dev/fuse").exists() {
            eprintln!("root, FUSE or a program is missing, so this test shows nothing");
            return None;
        }
        let mut mounted = Self::default();
        let file = sandbox.work().join("served");
        fs::write(&file, "").unwrap();
        let fuse = Command::new("nbdfuse").arg(&file).arg(&serving.uri).spawn().unwrap();
        mounted.fuse = Some((fuse, file.clone()));
        until("nbdfuse serves it", || fs::metadata(&file).is_ok_and(|metadata| metadata.len() > 0));
        mounted.device = Some(Attached::with(&file, settings)?);
        Some(mounted)
    }

    /// The loop device.
    pub(crate) fn device(&self) -> &str {
        &self.device.as_ref().expect("it is attached").0
    }

    /// Where it is mounted.
    pub(crate) fn point(&self) -> &Path {
        self.point.as_deref().expect("it is mounted")
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        if let Some(point) = &self.point {
            let _ = Command::new("umount").arg(point).status();
        }
        drop(self.device.take());
        if let Some((fuse, file)) = &mut self.fuse {
            let _ = Command::new("fusermount3").arg("-u").arg(&*file).status();
            let _ = fuse.wait();
        }
    }
}
