//! Files that must not be overwritten, whatever was typed.

use std::os::fd::AsFd;
use std::path::Path;

use rustix::fs::{AtFlags, StatxAttributes, StatxFlags, statx};

use crate::in_use::{Target, use_of};
use crate::mounts::Mount;
use crate::scratch::{DIRECTORY, MARKER};

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
    let unknown = |reason: std::io::Error| {
        format!("its kind cannot be determined ({reason}); mount /proc first, or give a folder")
    };
    let mount = match Mount::find(&fd) {
        Ok(mount) => mount,
        Err(reason) => return Some(unknown(reason)),
    };
    if let Some(kind) = mount.map(|mount| mount.kind).filter(|kind| KERNEL_FILE_SYSTEMS.contains(&&**kind)) {
        return Some(format!("it is part of the running kernel ({kind}); give a file on a drive"));
    }
    if let Some(folder) = SYSTEM_FOLDERS.iter().find(|folder| path.starts_with(folder)) {
        return Some(format!(
            "it is in {folder}, which the system needs; copy it elsewhere, and give the copy"
        ));
    }
    if is_in_scratch(path) {
        return Some(format!(
            "it belongs to a run of likenew, in a directory {DIRECTORY}; let that run end, or give the folder around it to have \
             what was left removed"
        ));
    }
    let found = match statx(&fd, "", AtFlags::EMPTY_PATH, StatxFlags::BASIC_STATS) {
        Ok(found) => found,
        Err(reason) => return Some(unknown(reason.into())),
    };
    if found.stx_nlink > 1 {
        return Some(
            "it has other names (hard links), whose contents would be lost, too; copy it, and give the copy"
                .to_owned(),
        );
    }
    if found.stx_attributes.intersects(StatxAttributes::IMMUTABLE | StatxAttributes::APPEND) {
        return Some("it is marked as immutable or append-only; remove that first (chattr -i -a)".to_owned());
    }
    if found.stx_size == 0 {
        return Some("it is empty; give a file as long as the test, or a folder".to_owned());
    }
    let device = rustix::fs::makedev(found.stx_dev_major, found.stx_dev_minor);
    use_of(&Target::file(device, found.stx_ino, found.stx_size))
}

fn is_in_scratch(path: &Path) -> bool {
    let folder = path.parent().filter(|folder| folder.file_name().is_some_and(|name| name == DIRECTORY));
    folder.is_some_and(|folder| folder.join(MARKER).exists())
}
