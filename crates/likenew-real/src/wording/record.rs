//! Sentences about recording and counting block I/O.

use likenew_core::target_error::system_reason;
use std::fmt::Display;
use std::io;

// ## Recording block I/O: refusals

likenew_core::sentences! {
    pub(crate) fn not_writable() =
        "the kernel's tracing file system cannot be written here, so nothing can be recorded: {RUN_AS_ROOT}";
    pub(crate) fn needs_root() =
        "recording the I/O of all programs needs root (CAP_SYS_ADMIN): {RUN_AS_ROOT}";
    pub(crate) fn no_drive(target: impl Display, reason: &str) =
        "{target} cannot be recorded: {reason}; give a block device such as /dev/sda, or a folder of a file \
         system on one";
    pub(crate) fn attribute_unknown(attribute: &str, device: &str) =
        "the system does not report the {attribute} of {device}";
    pub(crate) fn no_device_number(name: &str) = "{name} has no device number";
    pub(crate) fn format_unsupported(error: &str) =
        "the format of this kernel's tracing is not supported: {error}";
}

pub(crate) const RUN_AS_ROOT: &str =
    "run it as root on the machine itself (sudo likenew record …); in a container, record on the host";
pub(crate) const NO_TRACING: &str =
    "this kernel was built without tracing (CONFIG_FTRACE), so block I/O cannot be recorded here";
pub(crate) const NOT_MOUNTED: &str = "the kernel's tracing file system is not mounted; mount it with: mount \
    -t tracefs tracefs /sys/kernel/tracing";
pub(crate) const LOCKED_DOWN: &str = "the kernel is in lockdown mode \"confidentiality\", which hides \
    traces even from root; Secure Boot or the boot option lockdown= has set that (see \
    /sys/kernel/security/lockdown)";

// ## Recording block I/O: clauses of these refusals

pub(crate) const DEVICES_INVISIBLE: &str = "the devices below it are not visible here";
pub(crate) const NOT_LISTED: &str = "/sys does not list it";
pub(crate) const NEITHER_DEVICE_NOR_FOLDER: &str = "it is neither a block device nor a folder";
pub(crate) const MOUNT_UNKNOWN: &str = "the system does not report which device it is on";

likenew_core::sentences! {
    pub(crate) fn invisible_to_tracing(disk: &str) = "kernel tracing does not see the requests of {disk}";
    pub(crate) fn no_visible_device(kind: &str) = "its file system ({kind}) is on no visible block device";
    pub(crate) fn in_event(name: &str, error: &str) = "in the format of {name}, {error}";
    pub(crate) fn no_field(name: &str) = "there is no field \"{name}\"";
}

pub(crate) const NO_EVENTS: &str = "there are no events";

pub(crate) const NO_ID: &str = "there is no line \"ID: number\"";

// ## Recording block I/O: caveats

likenew_core::sentences! {
    pub(crate) fn layers_between(target: impl Display, disk: &str) =
        "there are layers between {target} and {disk}, such as LVM, RAID or encryption: addresses are the \
         drive's own, and I/Os of the layers are included";
    pub(crate) fn partition_only(partition: &str, disk: &str) =
        "only {partition} was recorded: I/O of other parts of {disk} slows it down unseen. Flushes are \
         those of the whole drive";
}

// ## Counters of the kernel

pub(crate) fn no_such_drive(name: &str, error: &io::Error, known: &[String]) -> String {
    let error = system_reason(error);
    let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
    format!("there is no drive \"{name}\" ({error}); known are {known}, or give a folder on one")
}

likenew_core::sentences! {
    pub(crate) fn not_counted(target: &str) =
        "{target} is on no visible block device, so the kernel does not count its I/O";
    pub(crate) fn counting_off(device: &str) =
        "the kernel does not count its I/O (queue/iostats is 0), so it looks idle; to count: echo 1 > \
         /sys/block/{device}/queue/iostats";
    pub(crate) fn tracefs_refused(action: &str, error: &io::Error) =
        "could not {action}: {}; {RUN_AS_ROOT}", system_reason(error);
}

pub(crate) const COUNTED_BELOW: &str = "its I/Os are counted again on the drives below it";
