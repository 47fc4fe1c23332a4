//! Sentences about facts of a drive: why one is unknown, where a known fact comes from, and what would help.

use std::fmt::Display;
use std::io;
use std::path::Path;

use likenew_core::target_error::system_reason;
use rustix::io::Errno;

// ## Clauses: why a fact is unknown

pub(crate) const EMPTY_FILE: &str = "it is empty";
pub(crate) const NOT_A_NUMBER: &str = "it is not such a number";
pub(crate) const NO_SPEED_CLASS: &str = "the card has none";
pub(crate) const NOT_THERE: &str = "the system does not have it";
pub(crate) const NO_PERMISSION: &str = "this user may not read it";

likenew_core::sentences! {
    pub(crate) fn unreadable(error: &io::Error) = "it cannot be read: {}", system_reason(error);
    pub(crate) fn no_answer(errno: Errno) = "there was no answer: {errno}";
    pub(crate) fn not_a_target(path: impl Display) =
        "{path} is neither a folder, a file nor a block device: give one of these";
    pub(crate) fn places_unknown(reason: &str) = "this file system does not report where files are: {reason}";
    pub(crate) fn not_installed(name: &str) = "{name} is not installed";
    pub(crate) fn not_started(name: &str, error: &io::Error) =
        "{name} could not be started: {}", system_reason(error);
    pub(crate) fn timed_out(name: &str, limit_s: u64) = "{name} took longer than {limit_s} s";
    pub(crate) fn output_unreadable(name: &str, error: &io::Error) =
        "the output of {name} could not be read: {}", system_reason(error);
    pub(crate) fn not_reported_by(name: &str) = "{name} does not report it";
    pub(crate) fn smartctl_failed(reason: &str) = "smartctl could not read it: {reason}";
    /// A reason with what the owner could do.
    pub(crate) fn with_help(reason: &str, help: &str) = "{reason}; {help}";
    pub(crate) fn exit_status(status: u64) = "it ended with exit status {status}";
    pub(crate) fn sends_trim_unknown(kind: &str) = "it is not known whether {kind} sends TRIM";
    pub(crate) fn may_not_be_read(file: &str) = "{file} may not be read";
}

pub(crate) const NEEDS_ROOT: &str = "the query needs root";
pub(crate) const UNSUPPORTED_QUERY: &str = "this kind of device does not support the query";

pub(crate) const NO_ANSWER: &str = "there was no answer";
pub(crate) const UNEXPECTED_PAGE: &str = "the page has an unexpected format";
pub(crate) const SHORT_ANSWER: &str = "the answer is too short";
pub(crate) const NOT_IN_UDEV: &str = "udev does not report it";
pub(crate) const NO_ATTRIBUTE: &str = "the drive has no such attribute";
pub(crate) const NO_STATISTIC: &str = "the drive keeps no such statistic";
pub(crate) const NO_ATTRIBUTES: &str = "it lists no attributes";
pub(crate) const TOO_LARGE: &str = "its value is implausibly large";
pub(crate) const HOST_NOT_LISTED: &str = "its host controller is not listed";
pub(crate) const NO_TIMING: &str = "it reports no timing";
pub(crate) const NOT_REPORTED_BY_CARD: &str = "the card does not report it";
pub(crate) const NOT_A_VOLUME_PAGE: &str = "the page does not describe a volume";
pub(crate) const SHORT_PAGE: &str = "the page is too short";
pub(crate) const VIRTUAL_MEDIUM: &str = "a virtual disk does not report the medium behind it";
pub(crate) const NO_TEMPERATURE: &str = "it reports no plausible temperature";

pub(crate) fn usb_needs_smartctl(answer: Option<&str>) -> String {
    let answer = answer.map_or(String::new(), |answer| format!(": {answer}"));
    format!(
        "only smartctl knows which commands a USB bridge can handle, so Likenew sends none itself{answer}"
    )
}

pub(crate) const NO_DATABASE: &str = "the drive database of smartmontools is not installed";
pub(crate) const NOT_IN_DATABASE: &str = "the model is not in the database";
pub(crate) const INSTALL_SMARTMONTOOLS: &str = "install smartmontools";
pub(crate) const FACTS_ONLY: &str = "it was opened for facts only";
pub(crate) const ALL_DRIVES: &str = "all drives of this machine";

pub(crate) const NO_SIZE: &str = "it has no size";
pub(crate) const ZFS_PER_DATASET: &str = "ZFS sets this for each dataset";
pub(crate) const NO_LARGE_FILE: &str = "there is no file of 1 MiB or more";
pub(crate) const FILE_NOT_VISIBLE: &str = "its file is not visible from here";
pub(crate) const TOO_MANY_HOLES: &str = "it has too many of them";
pub(crate) const NO_FILES: &str = "there are no files";

pub(crate) const NOT_REPORTED: &str = "the drive does not report it";
pub(crate) const NO_MODEL: &str = "it reports no model";
pub(crate) const NO_FIRMWARE: &str = "it reports no firmware";
pub(crate) const NO_SERIAL: &str = "it reports no serial number";
pub(crate) const NO_READABLE_SERIAL: &str = "it has no serial number that this user can read";
pub(crate) const BRIDGE_SERIAL: &str = "its USB bridge shows none of the drive's own";
pub(crate) const NO_MACHINE_ID: &str = "this machine has no /etc/machine-id to hash it with";
pub(crate) const NO_LINK_SPEED: &str = "no part of the link reports its speed";
pub(crate) const LINK_MAXIMUM_UNKNOWN: &str = "not every part of the link reports its maximum";
pub(crate) const CONNECTION_NOT_LISTED: &str = "its bus is not listed";
pub(crate) const CONTROLLER_NOT_LISTED: &str = "its controller is not listed";
pub(crate) const NO_DRIVER: &str = "no driver on its path has a name";
pub(crate) const NO_SPEED: &str = "it reports no speed";
pub(crate) const NO_WIDTH: &str = "it reports no lane width";
pub(crate) const NO_SPEED_LIMIT: &str = "it is unlimited or unknown";
pub(crate) const NOT_A_USB_SPEED: &str = "it is not a USB speed";
pub(crate) const USB_VERSION_2_1: &str = "it reports version 2.1, as USB 3 drives do when connected as USB 2";
pub(crate) const NOT_REPORTED_BY_KERNEL: &str = "the kernel does not report it";
pub(crate) const NO_TEMPERATURE_SENSOR: &str = "it reports no temperature";
pub(crate) const NO_LIMIT: &str = "it reports no limit";
pub(crate) const HOST_MEMORY_NEEDS_ROOT: &str = "it has some; only root can read how much";
pub(crate) const INVALID_ANSWER: &str = "the answer is invalid";
pub(crate) const NO_THIN_PROVISIONING: &str = "the drive reports its full size as used, or nothing";
pub(crate) const NO_BETTER_FORMAT: &str = "no format is better";
pub(crate) const NO_POLICY: &str = "no policy is selected";

pub(crate) const NOT_REPORTED_BY_SMARTCTL: &str = "smartctl does not report it";
pub(crate) const NOT_JSON: &str = "smartctl did not print JSON";
pub(crate) const ASLEEP: &str = "the disk is asleep and was not woken";

pub(crate) const ROTATION_ASSUMED: &str =
    "the drive does not report it, so the kernel assumes a rotating disk";
pub(crate) const NOT_DM_CRYPT: &str = "it is not a dm-crypt table";

pub(crate) const IO_NOT_COUNTED: &str = "the kernel does not count its I/O (queue/iostats is 0)";
pub(crate) const NOT_COUNTERS: &str = "it is not a line of counters";
pub(crate) const NOT_COUNTED: &str = "this kernel does not count them";
pub(crate) const READ_ONCE: &str = "it was read only once";
pub(crate) const NO_TOTAL: &str = "it has no TOTAL line";
pub(crate) const NO_TRIM_JOB: &str = "neither systemd nor a cron job runs fstrim here";
pub(crate) const NO_TIME_STAMP: &str = "it has left no time stamp: it has never run, or keeps none";
pub(crate) const SERVICE_MISSING: &str =
    "the service that the timer starts is missing, so it is not known what it would trim";
pub(crate) const SERVICE_UNREADABLE: &str = "the service that the timer starts cannot be read";
pub(crate) const SERVICE_WITHOUT_COMMAND: &str = "the service has no command";

pub(crate) const NO_SMART: &str = "the drive does not announce SMART";
pub(crate) const SMART_OFF: &str = "its SMART is switched off";
pub(crate) const NO_SUCH_LOGS: &str = "the drive does not announce such logs";

// ## Clauses: whether the fstrim timer trims a mount, and why

pub(crate) const NOT_IN_CONTAINERS: &str = "it does not run in a container";

likenew_core::sentences! {
    pub(crate) fn runs_command(command: &str) = "it runs {command}";
    pub(crate) fn kind_not_trimmed(kind: &str) = "fstrim does not trim {kind}";
    pub(crate) fn excluded(file: &str) = "{file} excludes it with X-fstrim.notrim";
    pub(crate) fn listed(file: &str) = "it is listed in {file}";
    pub(crate) fn not_listed(file: &str, mount_point: &str) =
        "the timer trims what {file} lists, and {mount_point} is not in it";
    pub(crate) fn nothing_listed(files: &str) = "none of {files} lists anything";
}

pub(crate) const TRIMS_ALL: &str = "it trims every mounted file system";
pub(crate) const MOUNTED_READ_ONLY: &str = "it is mounted read-only";

// ## What would help

pub(crate) const RUN_AS_ROOT: &str = "run it as root";
pub(crate) const ZFS_COMPRESSION: &str = "zfs get compression";
pub(crate) const WAKE_IT: &str = "read something from it and ask again";

likenew_core::sentences! {
    pub(crate) fn count_io(device: &str) = "echo 1 > /sys/block/{device}/queue/iostats";
    pub(crate) fn give_type(types: &str) = "give --smartctl-device {types}";
    pub(crate) fn give_member(types: &[String]) =
        "give --smartctl-device with one of its disks: {}", types.join(", ");
    pub(crate) fn give_other_type(device_type: &str) =
        "give another --smartctl-device than {device_type}, or auto to forget it";
}

// ## Where a fact is from

pub(crate) const KIND_OF_DRIVE: &str = "the kind of drive";
pub(crate) const HASHED_SERIAL: &str = "the drive's serial number, hashed with /etc/machine-id";
pub(crate) const ALWAYS_FLASH: &str = "such drives are flash";
pub(crate) const KERNEL_LOG: &str = "the kernel's log";
pub(crate) const KERNEL_PATH: &str = "the kernel's path to it";
pub(crate) const NO_CONTAINER: &str = "no mark of a container";
pub(crate) const NO_HOST_MEMORY: &str = "it requests none";

// ## What a drive warns of

likenew_core::sentences! {
    pub(crate) fn attribute_warning(id: u8, value: u8, threshold: u8) =
        "attribute {id} is at {value}, its threshold is {threshold}";
}

pub(crate) const SPARE_80_USED: &str = "80% of its spare blocks are used";
pub(crate) const SPARE_90_USED: &str = "90% of its spare blocks are used";
pub(crate) const SPARE_LOW: &str = "its spare is below the threshold";
pub(crate) const TEMPERATURE_BEYOND: &str = "its temperature is beyond a threshold";
pub(crate) const RELIABILITY_DEGRADED: &str = "its reliability is degraded";
pub(crate) const READ_ONLY: &str = "it is read-only";
pub(crate) const BACKUP_FAILED: &str = "its backup of volatile memory has failed";
pub(crate) const PERSISTENT_REGION_UNRELIABLE: &str =
    "its persistent memory region is unreliable or read-only";
pub(crate) const SMART_FAILS: &str = "its SMART status says that it is failing";

// ## Parts of a link

pub(crate) const THE_DRIVE: &str = "the drive";
pub(crate) const THE_CONTROLLER: &str = "the controller";
pub(crate) const THE_PORT_ABOVE: &str = "the port above";
pub(crate) const A_BRIDGE_ABOVE: &str = "a bridge above";

// ## Facts that were read from the outputs of programs

likenew_core::sentences! {
    /// The name of a drive whose name and model are unknown.
    pub(crate) fn drive_number(number: usize) = "drive {number}";
}

pub(crate) const NO_HEALTH: &str = "no output of smartctl or nvme about it is there";

// ## What an output that is missing would show

pub(crate) const SHOWS_HEALTH: &str = "health, wear and errors";
pub(crate) const SHOWS_TRIM: &str = "whether TRIM reaches the drive";
pub(crate) const SHOWS_LINK: &str = "the speed of its link";
pub(crate) const SHOWS_FILE_SYSTEM: &str = "the file system, how full it is, and its options";
pub(crate) const SHOWS_LOG: &str = "resets, timeouts and errors of the link";

// ## The types of smartctl's option `-d`

pub(crate) const GIVEN_NOW: &str = "given now";

likenew_core::sentences! {
    pub(crate) fn remembered_since(date: &str) = "remembered since {}", date.get(..10).unwrap_or(date);
    pub(crate) fn unknown_type(single: &[&str], member: &[&str]) =
        "give auto, {} or {}", single.join(", "), member.join(", ");
    pub(crate) fn writes(device_type: &str) =
        "for it smartctl writes to a sector of the volume, so Likenew does not use it; run `smartctl -x -j \
         -d {device_type}` yourself and give what it prints with --from";
    pub(crate) fn types_unreadable(path: &Path, reason: impl Display) =
        "{} cannot be read: {reason}; correct or remove it", path.display();
}

/// For a `form` such as `areca,N/E`, with the bounds of each of its numbers.
pub(crate) fn out_of_bounds(form: &str, bounds: &[(u32, u32)]) -> String {
    let letters = form.split([',', '/']).filter(|part| part.bytes().all(|byte| byte.is_ascii_uppercase()));
    let each = letters.zip(bounds).map(|(letter, (least, most))| format!("{letter} is {least} to {most}"));
    format!("in {form}, {}", each.collect::<Vec<_>>().join(" and "))
}

pub(crate) const NO_STATE_FOLDER: &str = "neither XDG_STATE_HOME nor HOME is set to an absolute path, so --smartctl-device cannot be remembered; set one";

pub(crate) fn not_one_drive(path: &Path, names: &[String]) -> String {
    let path = path.display();
    match names {
        [] => format!(
            "--smartctl-device: there is no drive below {path} that smartctl could read; leave it out"
        ),
        [first, ..] => format!(
            "--smartctl-device is for one drive, and {path} is on {}; run it for each, such as likenew facts /dev/{first}",
            names.join(", ")
        ),
    }
}

pub(crate) const DEVICE_TYPE_NEEDS_ROOT: &str =
    "--smartctl-device needs root, as smartctl does: run it as root";

/// `disks` are types for the disks that the controller lists.
pub(crate) fn type_not_reaching(name: &str, device_type: &str, reason: &str, disks: &[String]) -> String {
    let listed = if disks.is_empty() {
        "correct it or leave it out".to_owned()
    } else {
        format!("its controller lists {}", disks.join(", "))
    };
    format!(
        "--smartctl-device {device_type} does not reach {name}: {reason}; nothing is remembered; {listed}"
    )
}

pub(crate) const UNKNOWN_MODEL: &str = "of unknown model";

/// What smartctl says when it has to be told a type (smartctl.cpp, os_linux.cpp and scsiata.cpp of 7.3), and which fit.
pub(crate) const NEEDS_TYPE: [(&str, &str); 5] = [
    ("'-d megaraid,N'", "megaraid,N"),
    ("'-d 3ware,N'", "3ware,N"),
    ("'-d usbjmicron,[01]'", "usbjmicron,0 or usbjmicron,1"),
    ("USB bridge", "sat or, for an NVMe drive, sntasmedia, sntjmicron or sntrealtek"),
    ("Unable to detect device type", "TYPE, as smartctl(8) lists them under -d"),
];
