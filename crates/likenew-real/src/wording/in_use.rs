//! Who else uses the bytes of a target, and how to end that.

use std::fmt::Display;
use std::io;

use likenew_core::system_error;

// ## Clauses: who uses these bytes, and what to do

pub(crate) fn unknown_use(reason: &str) -> String {
    format!("whether it is in use is unknown: {reason}; mount /proc and /sys first, or run it as root")
}

pub(crate) fn held(subject: &str) -> String {
    format!("another program holds {subject} exclusively; close that program first (fuser -v shows it)")
}

pub(crate) fn list_unreadable(list: &str, error: &io::Error) -> String {
    let error = system_error::reason(error);
    format!("{list} cannot be read ({error})")
}

pub(crate) const OTHER_MOUNTINFO: &str = "the mountinfo of another program";

pub(crate) fn swap(subject: &str) -> String {
    format!("{subject} is used as swap; switch it off first (swapoff)")
}

pub(crate) fn system_runs_from(object: &str) -> String {
    format!(
        "the system runs from {object}, so it is never written to. Boot from another drive, or give a folder"
    )
}

pub(crate) fn mounted(subject: &str, point: &str) -> String {
    format!("{subject} is mounted at {point}; unmount it first")
}

pub(crate) fn mounted_elsewhere(subject: &str, point: &str, program: impl Display, process: u32) -> String {
    format!(
        "{subject} is mounted at {point} for {program}, in another mount namespace; unmount it there first \
         (nsenter -t {process} -m umount {point})"
    )
}

pub(crate) fn mounted_out_of_sight(subject: &str, kind: &str) -> String {
    format!(
        "{subject} carries a {kind} file system that is mounted in another namespace; unmount it there first"
    )
}

pub(crate) fn ubi(subject: &str) -> String {
    format!("{subject} is flash that UBI has attached; detach that first (ubidetach, ubinfo -a shows it)")
}

pub(crate) fn carries(subject: &str, holder: &str) -> String {
    format!("{subject} carries {holder} (LVM, RAID or encryption); stop that first")
}

pub(crate) fn carries_loop(name: &str, device: &str) -> String {
    format!("{name} carries {device}; detach that first (losetup -d /dev/{device})")
}

pub(crate) fn loop_attached(device: &str) -> String {
    format!("the loop device {device} is attached to it; detach that first (losetup -d /dev/{device})")
}

pub(crate) fn loop_attached_to_same_bytes(device: &str, name: &str) -> String {
    format!(
        "the loop device {device} is attached to the same bytes of {name}; detach that first (losetup -d \
         /dev/{device})"
    )
}

/// Its backing file is the target, or below it.
pub(crate) fn loop_backing_unknown(device: &str) -> String {
    format!(
        "the backing file of {device} cannot be determined; run as root outside the container, or \
         detach the loop device"
    )
}

/// Of a file below the target, on a file system of this kind.
pub(crate) fn beneath_unknown(kind: &str) -> String {
    format!(
        "who else uses these bytes cannot be found out, as they lie in a file of a {kind} file system, which may show them by \
         other names; give the device or file beneath it"
    )
}

/// A file or device that another file system shows by another name.
pub(crate) const LAYER: &str = "what lies beneath its file system";

pub(crate) fn loop_may_share(device: &str) -> String {
    format!(
        "the backing file of {device} cannot be determined and may share these bytes; run as root outside \
         the container, or detach the loop device"
    )
}

pub(crate) fn bcache(subject: &str, device: &str) -> String {
    format!("{subject} is used by bcache; remove it there first (/sys/class/block/{device}/bcache)")
}

pub(crate) fn dead_loop(device: &str) -> String {
    format!(
        "the program that served the backing file of {device} has ended; detach it (losetup -d \
         /dev/{device})"
    )
}

pub(crate) fn open_for_writing(program: impl Display, subject: &str) -> String {
    format!("{program} has {subject} open for writing; close that program first")
}

// ## Relative clauses: what a device has to do with the target

pub(crate) fn backing_of(device: &str) -> String {
    format!("the backing file of {device}")
}

pub(crate) fn target_lies_on_it(target: &str) -> String {
    format!("which {target} lies on")
}

pub(crate) fn target_is_built_on_it(target: &str) -> String {
    format!("which {target} is built on")
}

pub(crate) fn same_drive(device: &str, wwid: &str) -> String {
    format!("which is the same drive as {device} by another path ({wwid})")
}

pub(crate) fn lies_on(name: &str) -> String {
    format!("which lies on {name}")
}

pub(crate) fn covers_the_same(name: &str) -> String {
    format!("which covers the same bytes of {name}")
}

pub(crate) fn built_on(subject: &str) -> String {
    format!("which is built on {subject}")
}

/// For the subject of a sentence; `relation` is one of the clauses above.
pub(crate) fn related(name: &str, relation: &str) -> String {
    format!("{name}, {relation},")
}
