//! The kernel's tracing file system: where it is mounted, or a private mount that no other process sees.

use std::os::fd::{AsRawFd as _, OwnedFd};
use std::path::{Path, PathBuf};

use likenew_core::lab_error::LabError;
use rustix::fs::{Access, AtFlags, CWD, accessat};
use rustix::io::Errno;
use rustix::mount::{FsMountFlags, FsOpenFlags, MountAttrFlags, fsconfig_create, fsmount, fsopen};

use crate::mounts;
use crate::wording::action;
use crate::wording::record as wording;

/// A way to tracefs.
#[derive(Debug)]
pub(crate) struct TracefsRoot {
    path: PathBuf,
    /// A mount that is attached nowhere: it goes with its last descriptor, however this process ends.
    _mount: Option<OwnedFd>,
}

impl TracefsRoot {
    /// Takes the one that is mounted, or mounts one.
    ///
    /// # Errors
    /// A refusal that says what is missing and what to do.
    pub(crate) fn find() -> Result<Self, LabError> {
        let usable =
            |path: &Path| accessat(CWD, path.join(INSTANCES), Access::WRITE_OK, AtFlags::empty()).is_ok();
        let mounted = mounts::all().unwrap_or_default().into_iter().filter(|mount| mount.kind == "tracefs");
        let mut paths = mounted.map(|mount| PathBuf::from(mount.point));
        if let Some(path) = paths.find(|path| usable(path)) {
            return Ok(Self { path, _mount: None });
        }
        let mount = mount().map_err(access_error)?;
        let path = PathBuf::from(format!("/proc/self/fd/{}", mount.as_raw_fd()));
        if !usable(&path) {
            return Err(LabError::Refused(wording::not_writable()));
        }
        Ok(Self { path, _mount: Some(mount) })
    }

    /// Where instances are made.
    pub(crate) fn instances(&self) -> PathBuf {
        self.path.join(INSTANCES)
    }
}

const INSTANCES: &str = "instances";

fn mount() -> Result<OwnedFd, Errno> {
    let context = fsopen("tracefs", FsOpenFlags::FSOPEN_CLOEXEC)?;
    fsconfig_create(&context)?;
    fsmount(&context, FsMountFlags::FSMOUNT_CLOEXEC, MountAttrFlags::empty())
}

/// Why tracefs is not available, in words.
fn access_error(errno: Errno) -> LabError {
    match errno {
        Errno::NODEV => LabError::Unsuitable(wording::NO_TRACING.into()),
        Errno::NOSYS => LabError::Unsuitable(wording::NOT_MOUNTED.into()),
        _ if is_locked_down() => LabError::Refused(wording::LOCKED_DOWN.into()),
        Errno::PERM | Errno::ACCESS => LabError::Refused(wording::needs_root()),
        errno => LabError::system(action::MOUNT_TRACEFS)(errno.into()),
    }
}

/// Whether the kernel refuses tracing as a matter of policy.
fn is_locked_down() -> bool {
    let text = std::fs::read_to_string("/sys/kernel/security/lockdown").unwrap_or_default();
    text.contains("[confidentiality]")
}

/// What a failure to open, read or write in tracefs means.
pub(crate) fn in_tracefs(doing: &str, error: std::io::Error) -> LabError {
    match Errno::from_io_error(&error) {
        Some(Errno::PERM | Errno::ACCESS) if is_locked_down() => {
            LabError::Refused(wording::LOCKED_DOWN.into())
        }
        Some(Errno::PERM | Errno::ACCESS) => LabError::Refused(wording::tracefs_refused(doing, &error)),
        _ => LabError::system(doing)(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusals_say_what_to_do() {
        for (errno, words) in
            [(Errno::PERM, "sudo"), (Errno::NODEV, "CONFIG_FTRACE"), (Errno::NOSYS, "mount -t tracefs")]
        {
            let message = access_error(errno).to_string();
            assert!(message.contains(words), "{message}");
        }
        assert!(access_error(Errno::NOMEM).to_string().starts_with("could not mount"));
    }

    #[test]
    fn a_mount_of_our_own_is_attached_nowhere() {
        let before = mounts::all().unwrap().len();
        match mount() {
            Ok(fd) => {
                assert!(Path::new(&format!("/proc/self/fd/{}/events/block", fd.as_raw_fd())).exists());
                assert_eq!(mounts::all().unwrap().len(), before);
            }
            Err(errno) => eprintln!("SKIPPED: no tracefs here: {errno}"),
        }
    }
}
