//! Files that must not be overwritten, whatever was typed.

use std::os::fd::AsFd;
use std::path::Path;

use rustix::fs::{AtFlags, StatxAttributes, StatxFlags, statx};

use crate::in_use::{Target, use_of};
use crate::mounts::Mount;
use crate::scratch::{DIRECTORY, is_scratch};
use crate::wording::consent as wording;

/// File systems whose files are the kernel's own: writing there changes the machine, not a file.
const KERNEL_FILE_SYSTEMS: [&str; 18] = [
    "proc",
    "sysfs",
    "debugfs",
    "tracefs",
    "configfs",
    "securityfs",
    "selinuxfs",
    "smackfs",
    "efivarfs",
    "pstore",
    "cgroup",
    "cgroup2",
    "bpf",
    "fusectl",
    "binfmt_misc",
    "devtmpfs",
    "mqueue",
    "hugetlbfs",
];

/// Folders of the system itself, where the loss of a file may break the machine.
const SYSTEM_FOLDERS: [&str; 7] = ["/bin", "/boot", "/etc", "/lib", "/lib64", "/sbin", "/usr"];

/// Why this file must not be overwritten, if there is a reason; and what to do.
pub(super) fn objection(path: &Path, fd: impl AsFd) -> Option<String> {
    let unknown = |reason: std::io::Error| wording::kind_unknown(&reason);
    let mount = match Mount::find(&fd) {
        Ok(mount) => mount,
        Err(reason) => return Some(unknown(reason)),
    };
    if let Some(kind) = mount.map(|mount| mount.kind).filter(|kind| KERNEL_FILE_SYSTEMS.contains(&&**kind)) {
        return Some(wording::kernel_file(&kind));
    }
    if let Some(folder) = SYSTEM_FOLDERS.iter().find(|folder| path.starts_with(folder)) {
        return Some(wording::system_file(folder));
    }
    if path.parent().is_some_and(is_scratch) {
        return Some(wording::scratch_file(DIRECTORY));
    }
    let found = match statx(&fd, "", AtFlags::EMPTY_PATH, StatxFlags::BASIC_STATS) {
        Ok(found) => found,
        Err(reason) => return Some(unknown(reason.into())),
    };
    if found.stx_nlink > 1 {
        return Some(wording::HARD_LINKS.to_owned());
    }
    if found.stx_attributes.intersects(StatxAttributes::IMMUTABLE | StatxAttributes::APPEND) {
        return Some(wording::IMMUTABLE.to_owned());
    }
    if found.stx_size == 0 {
        return Some(wording::EMPTY.to_owned());
    }
    let device = rustix::fs::makedev(found.stx_dev_major, found.stx_dev_minor);
    use_of(&Target::file(path, device, found.stx_ino, found.stx_size))
}
