//! Erases that a person types: what to know first, and the commands, which begin with four blanks.

use std::fmt::Display;

// ## ATA secure erase

pub(crate) fn no_secure_erase(path: impl Display) -> String {
    format!("{path} has no secure erase; discard it, or overwrite it instead.")
}

pub(crate) fn secure_erase(path: impl Display) -> String {
    format!(
        "A secure erase makes {path} erase everything on it, including its spare area. It cannot be \
         interrupted or undone."
    )
}

pub(crate) const ON_SATA_ONLY: &str = "Connect the drive to SATA inside the machine, never behind USB or a \
    RAID controller. Some adapters take the password and refuse the erase, or reset a drive that does not \
    answer; owners have lost drives to that.";

pub(crate) fn erase_time(minutes: Option<u32>) -> String {
    match minutes {
        Some(minutes) => format!(
            "The drive says that it takes about {minutes} minutes. It does not respond until then: do not \
             disconnect its power."
        ),
        None => "The drive does not report how long it takes: minutes for flash, hours for a disk. Do not \
                 disconnect its power."
            .to_owned(),
    }
}

pub(crate) fn unlock_first(path: impl Display) -> [String; 2] {
    [
        "It is locked by a password. Unlock it first:".to_owned(),
        format!("    hdparm --user-master u --security-unlock PASSWORD {path}"),
    ]
}

pub(crate) fn thaw_first() -> [String; 2] {
    [
        "The machine's firmware has frozen it. Suspend the machine, wake it, and check again:".to_owned(),
        "    systemctl suspend".to_owned(),
    ]
}

pub(crate) fn remove_password_first(path: impl Display) -> [String; 2] {
    [
        "A password is set on it. Remove it first:".to_owned(),
        format!("    hdparm --user-master u --security-disable PASSWORD {path}"),
    ]
}

pub(crate) const PASSWORD_TRIES_USED_UP: &str =
    "Too many passwords were tried: disconnect its power once before anything else.";

pub(crate) fn secure_erase_commands(path: impl Display, option: &str, password: &str) -> [String; 8] {
    [
        "First check that it says \"not enabled\", \"not locked\" and \"not frozen\":".to_owned(),
        format!("    hdparm -I {path}"),
        format!("Then set the password \"{password}\", which the erase removes again, and erase:"),
        format!("    hdparm --user-master u --security-set-pass {password} {path}"),
        format!("    hdparm --user-master u {option} {password} {path}"),
        "Then check that it says \"not enabled\" again. If power was lost meanwhile, this password locks \
         the drive:"
            .to_owned(),
        format!("    hdparm --user-master u --security-unlock {password} {path}"),
        format!("    hdparm --user-master u --security-disable {password} {path}"),
    ]
}

// ## Sanitize

pub(crate) fn no_ata_sanitize(path: impl Display) -> String {
    format!("{path} has no Sanitize; discard it, or overwrite it instead.")
}

pub(crate) fn ata_sanitize(path: impl Display) -> [String; 2] {
    [
        format!(
            "Sanitize makes {path} erase everything on it, including its spare area. It cannot be \
             interrupted: it continues after a power cut."
        ),
        "Use it before giving the drive away; for speed, a discard is as good. Until it ends, nothing can \
         be read or written."
            .to_owned(),
    ]
}

pub(crate) fn thaw_security_first() -> [String; 2] {
    [
        "The machine's firmware has frozen its security. Suspend the machine, wake it, and check again:"
            .to_owned(),
        "    systemctl suspend".to_owned(),
    ]
}

pub(crate) const BY_NEW_KEY: &str = "By a new key, at once:";
pub(crate) const BY_ERASING_FLASH: &str = "By erasing its flash, in minutes:";
pub(crate) const BY_WRITING: &str = "By writing all of it, in hours:";
pub(crate) const BY_WRITING_ONCE: &str =
    "By writing all of it once, in hours (without --owpass=1 it would be written sixteen times):";

pub(crate) fn ata_sanitize_command(path: impl Display, option: &str) -> String {
    format!("    hdparm --yes-i-know-what-i-am-doing {option} {path}")
}

pub(crate) fn ata_sanitize_progress(path: impl Display) -> [String; 2] {
    ["To see its progress:".to_owned(), format!("    hdparm --sanitize-status {path}")]
}

pub(crate) fn no_nvme_sanitize(path: impl Display) -> String {
    format!("{path} has no Sanitize; discard it, or format it with an erase instead.")
}

pub(crate) fn nvme_sanitize(path: impl Display) -> [String; 2] {
    [
        format!(
            "Sanitize makes {path} erase everything on it, all namespaces at once, including its spare \
             area. It runs on after the command has returned, continues after a power cut, and cannot be \
             stopped."
        ),
        "Use it before giving the drive away; for speed, a discard or a format is as good. If it fails, the \
         drive takes no I/O until a sanitize succeeds; \"--ause\" below lets it be used again after that."
            .to_owned(),
    ]
}

pub(crate) fn nvme_sanitize_command(path: impl Display, action: &str) -> String {
    format!("    nvme sanitize {path} {action} --ause")
}

pub(crate) fn nvme_sanitize_progress(path: impl Display) -> [String; 2] {
    [
        "To see its progress (SPROG counts to 65535; SSTAT ends with 1 on success, with 3 on failure):"
            .to_owned(),
        format!("    nvme sanitize-log {path}"),
    ]
}
