//! What a file may be that must not be overwritten, whatever was typed.

use std::fs;
use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use rustix::fs::{AtFlags, StatxAttributes, StatxFlags, statx};

use super::own_loop::backing_file;
use crate::mounts::{Mount, unescape};
use crate::scratch::{DIRECTORY, MARKER};

/// File systems whose files are the kernel's own: writing there changes the machine, not a file.
const OF_THE_KERNEL: [&str; 18] = [
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

/// Folders of the system itself, where a file that is gone may be the last thing that went wrong.
const OF_THE_SYSTEM: [&str; 7] = ["/bin", "/boot", "/etc", "/lib", "/lib64", "/sbin", "/usr"];

/// Why this file must not be overwritten, if anything speaks against it: a reason, and what to do.
pub(super) fn objection(path: &Path, opened: impl AsFd) -> Option<String> {
    let mount = Mount::of(&opened);
    if let Some(kind) = mount.map(|mount| mount.kind).filter(|kind| OF_THE_KERNEL.contains(&&**kind)) {
        return Some(format!(
            "it is a part of the running kernel ({kind}), and no file on a drive; give one that is"
        ));
    }
    if let Some(folder) = OF_THE_SYSTEM.iter().find(|folder| path.starts_with(folder)) {
        return Some(format!(
            "it lies in {folder}, which the system needs to run; copy it elsewhere, and give the copy"
        ));
    }
    if is_in_scratch(path) {
        return Some(format!(
            "it belongs to a run of likenew, in a directory {DIRECTORY}; let that run end, or give the folder around it to have \
             what was left removed"
        ));
    }
    let found = statx(&opened, "", AtFlags::EMPTY_PATH, StatxFlags::BASIC_STATS).ok()?;
    if found.stx_nlink > 1 {
        return Some(
            "it has other names (hard links), and what they stand for would be lost, too; copy it, and give the copy".to_owned(),
        );
    }
    if found.stx_attributes.intersects(StatxAttributes::IMMUTABLE | StatxAttributes::APPEND) {
        return Some(
            "somebody has marked it as not to be changed; take the mark away first (chattr -i -a)".to_owned(),
        );
    }
    if found.stx_size == 0 {
        return Some("it is empty, so there is nothing to measure with; give one as long as the test is to be, or a folder".to_owned());
    }
    let number = (rustix::fs::makedev(found.stx_dev_major, found.stx_dev_minor), found.stx_ino);
    if is_swap_file(number) {
        return Some("it serves as swap; switch that off first (swapoff)".to_owned());
    }
    attached_to(number).map(|name| {
        format!("the loop device {name} is attached to it; detach that first (losetup -d /dev/{name})")
    })
}

fn is_in_scratch(path: &Path) -> bool {
    let folder = path.parent().filter(|folder| folder.file_name().is_some_and(|name| name == DIRECTORY));
    folder.is_some_and(|folder| folder.join(MARKER).exists())
}

fn is_swap_file(number: (u64, u64)) -> bool {
    let text = fs::read_to_string("/proc/swaps").unwrap_or_default();
    let names = text.lines().skip(1).filter_map(|line| line.split_whitespace().next()).map(unescape);
    names.filter_map(|name| fs::metadata(name).ok()).any(|file| (file.dev(), file.ino()) == number)
}

/// The loop device behind which it is, by numbers where the device can be asked, else by the name that it was attached under.
fn attached_to(number: (u64, u64)) -> Option<String> {
    let folders = fs::read_dir("/sys/block").into_iter().flatten().flatten();
    let is_it =
        |name: &str, backing: &str| match fs::File::open(Path::new("/dev").join(name)).map(backing_file) {
            Ok(Ok(found)) => found == number,
            _ => fs::metadata(backing).is_ok_and(|file| (file.dev(), file.ino()) == number),
        };
    folders
        .filter_map(|entry| {
            let backing = fs::read_to_string(entry.path().join("loop/backing_file")).ok()?;
            Some((entry.file_name().into_string().ok()?, backing))
        })
        .find(|(name, backing)| is_it(name, backing.trim_end()))
        .map(|(name, _)| name)
}
