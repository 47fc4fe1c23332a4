//! Every sentence about the types of smartctl's option `-d`.

use std::fmt::Display;
use std::path::Path;

pub(crate) const GIVEN_NOW: &str = "given now";

likenew_core::sentences! {
    pub(crate) fn remembered_since(date: &str) = "remembered since {}", date.get(..10).unwrap_or(date);
    pub(crate) fn unknown_type(single: &[&str], member: &[&str]) =
        "give auto, {} or {}", single.join(", "), member.join(", ");
    pub(crate) fn writes(device_type: &str) =
        "for it smartctl writes to a sector of the volume, so Likenew does not use it; run `smartctl -x -j \
         -d {device_type}` yourself and give what it prints with --from";
    pub(crate) fn unreadable(path: &Path, reason: impl Display) =
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

pub(crate) const NEEDS_ROOT: &str = "--smartctl-device needs root, as smartctl does: run it as root";

/// `disks` are types for the disks that the controller lists.
pub(crate) fn no_answer(name: &str, device_type: &str, reason: &str, disks: &[String]) -> String {
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

// ## What would help

/// What smartctl says when it has to be told a type (smartctl.cpp, os_linux.cpp and scsiata.cpp of 7.3), and which fit.
pub(crate) const NEEDS_TYPE: [(&str, &str); 5] = [
    ("'-d megaraid,N'", "megaraid,N"),
    ("'-d 3ware,N'", "3ware,N"),
    ("'-d usbjmicron,[01]'", "usbjmicron,0 or usbjmicron,1"),
    ("USB bridge", "sat or, for an NVMe drive, sntasmedia, sntjmicron or sntrealtek"),
    ("Unable to detect device type", "TYPE, as smartctl(8) lists them under -d"),
];

likenew_core::sentences! {
    pub(crate) fn give_type(types: &str) = "give --smartctl-device {types}";
    pub(crate) fn give_member(types: &[String]) =
        "give --smartctl-device with one of its disks: {}", types.join(", ");
    pub(crate) fn give_other_type(device_type: &str) =
        "give another --smartctl-device than {device_type}, or auto to forget it";
}
