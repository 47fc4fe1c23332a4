//! Sentences about erases of a whole drive: what prevents one, and what a drive's refusal means.

use std::fmt::Display;

use likenew_core::units::amount;

// ## Whole refusals

pub(crate) const FORMAT_WITHOUT_ERASE: &str = "erase 0 may leave data readable; use 1 (user data) or 2 (key)";

likenew_core::sentences! {
    pub(crate) fn not_an_erase(number: u8) = "{number} is not a kind of erase; use 1 (user data) or 2 (key)";
    pub(crate) fn not_formatted(path: &str, reason: &str) = "{path} was not formatted: {reason}";
    pub(crate) fn not_a_block_device(path: impl Display) =
        "{path} is not a block device; give a drive or partition";
    pub(crate) fn no_discards(path: &str) =
        "{path} was not changed: it does not support discards, or a layer blocks them; likenew facts {path} \
         shows which layer, and a full overwrite needs none";
    pub(crate) fn nothing_known(path: impl Display, reason: &str) =
        "{path} was not changed: nothing is known about the drive below it ({reason}); see likenew facts \
         {path}";
}

// ## Clauses: why a namespace is not formatted, and what to do (`consent::not_changed` puts the path before them)

pub(crate) const NOT_A_NAMESPACE: &str = "only an NVMe namespace can be formatted; discard it instead";
pub(crate) const SHORT_ANSWER: &str = "its answer is too short; discard it instead";
pub(crate) const NO_FORMAT: &str = "the drive reports that it cannot be formatted; discard it instead";
pub(crate) const NO_KEY_ERASE: &str = "the drive cannot erase by its key; erase the user data instead (1)";
pub(crate) const INVALID_FORMAT: &str = "its answer about its format is invalid; discard it instead";

pub(crate) fn other_namespaces(numbers: &[u32]) -> String {
    let numbers: Vec<String> = numbers.iter().map(u32::to_string).collect();
    format!(
        "the drive formats all of its namespaces at once, and there are others (number {}), which you have \
         not agreed to lose; detach or delete them first (nvme detach-ns), or discard this one",
        numbers.join(", ")
    )
}

// ## Clauses: what an NVMe drive's refusal means, and what to do (`format_status` puts the code before them)

pub(crate) const INVALID_OPCODE: &str = "it does not accept the command (invalid opcode): many laptops \
    freeze their drives at power-on. Suspend the machine, wake it, and try again; if that changes nothing, \
    the drive lacks this command";
pub(crate) const INVALID_FIELD: &str =
    "it does not support a field of the command; discard the whole device instead";
pub(crate) const INTERNAL_ERROR: &str = "internal error of the drive; disconnect its power for a minute, \
    and check its health before trying again";
pub(crate) const COMMAND_SEQUENCE: &str = "it expects another command first (command sequence); power it \
    off and on, and try again; otherwise discard the whole device";
pub(crate) const LOCKED_BY_SECURITY: &str = "it is locked, or its security is in use: remove the drive's \
    password in the firmware settings first";
pub(crate) const SANITIZING: &str =
    "a sanitize is running or has failed; let it finish first (nvme sanitize-log shows it)";
pub(crate) const NAMESPACE_WRITE_PROTECTED: &str =
    "the namespace is write-protected; remove that first (nvme set-feature, 84h)";
pub(crate) const FORMATTING: &str = "a format is already running; wait until it has finished";
pub(crate) const FORMAT_REFUSED: &str = "it refuses to format with its current LBA format: its firmware may \
    not support this kind of erase; try the other kind, or discard the whole device";
pub(crate) const FLASH_READ_ONLY: &str = "part of its flash is marked as read-only; check its health";
pub(crate) const ACCESS_DENIED: &str = "access denied: a password or a lock is set; remove that first";
pub(crate) const VENDOR_STATUS: &str = "the code is vendor-specific; look it up in the drive's manual, and \
    discard the whole device instead";

pub(crate) fn format_status(code: u16, meaning: &str) -> String {
    format!("the drive answered with status {code:03X}h: {meaning}")
}

// ## Clauses: what has to hold before an erase

pub(crate) const FILES: &str = "the files in the folder";
pub(crate) const TOO_MANY_FILES: &str = "it holds more files than are looked at for this";
pub(crate) const PARTITION_TABLE: &str = "the partition table";

likenew_core::sentences! {
    pub(crate) fn not_known_enough(reason: &str, help: &str) =
        "{reason}, and this step cannot be interrupted; {help}";
    pub(crate) fn not_fulfilled(reason: &str, remedy: &str) = "{reason}; {remedy}";
    pub(crate) fn on_battery(percent: u8) = "the machine runs on a battery at {percent}%";
    pub(crate) fn pending_sectors(count: u64) = "it has {count} pending sectors";
    pub(crate) fn spare_left(spare_percent: f64, threshold_percent: f64) =
        "{spare_percent:.0}% of its spare is left; its limit is {threshold_percent:.0}%";
    pub(crate) fn no_known_problem(model: &str) = "no problem is known for {model}";
    pub(crate) fn known_problem(reason: &str, source: &str) = "{reason} ({source})";
    /// For a drive that names its own limit.
    pub(crate) fn temperature_and_warning(now_c: f64, warning_c: f64) =
        "it is at {now_c:.0} °C; it warns from {warning_c:.0} °C";
    pub(crate) fn temperature_and_rating(now_c: f64, rated_c: f64) =
        "it is at {now_c:.0} °C; such drives are rated up to {rated_c:.0} °C";
}

pub(crate) const PLUGGED_IN: &str = "the machine is plugged in";
pub(crate) const CHARGE_IT: &str = "plug it in, or charge it above 50%";
pub(crate) const BATTERY_CHARGE_UNKNOWN: &str =
    "the machine runs on a battery that does not report its charge";
pub(crate) const PLUG_IT_IN: &str = "plug it in";
pub(crate) const NO_BATTERY: &str = "the machine has no battery";
pub(crate) const THROTTLING: &str = "the drive is throttling";
pub(crate) const COOL_DOWN: &str = "let it cool down";
pub(crate) const INSTALL_SMARTMONTOOLS: &str = "install smartmontools, or run it as root";
pub(crate) const REPLACE: &str = "back up its data first, and plan to replace it";
pub(crate) const READ_ONLY: &str = "it is read-only";
pub(crate) const FAILING: &str = "it reports that it is failing";
pub(crate) const REMAP: &str = "back up its data first; overwriting the whole drive remaps them";
pub(crate) const HEALTHY: &str = "it reports good health";
pub(crate) const SEE_FACTS: &str = "see likenew facts";
pub(crate) const ANOTHER_STEP: &str = "choose another step";
pub(crate) const NO_BRIDGE: &str = "commands reach it without a bridge";
pub(crate) const USB_BRIDGE: &str =
    "it is connected by USB, and bridges that mishandle such commands have destroyed drives";
pub(crate) const CONNECT_DIRECTLY: &str = "connect it to SATA or an M.2 slot";
pub(crate) const NO_SUCH_COMMANDS: &str = "it does not support such commands";
pub(crate) const DISCARD_OR_OVERWRITE: &str = "discard it, or overwrite it instead";
pub(crate) const LOCK_UNKNOWN: &str = "whether it is locked is unknown";
pub(crate) const ROOT_ON_SATA: &str = "run it as root, with the drive on SATA";
pub(crate) const LOCKED: &str = "it is locked by a password";
pub(crate) const UNLOCK: &str = "unlock it with that password (hdparm --security-unlock)";
pub(crate) const FROZEN: &str = "the machine's firmware has frozen it";
pub(crate) const SUSPEND: &str = "suspend the machine and wake it, which thaws most drives";
pub(crate) const PASSWORD_SET: &str = "a password is set on it already";
pub(crate) const REMOVE_PASSWORD: &str = "remove it with that password first (hdparm --security-disable)";
pub(crate) const UNLOCKED: &str = "it is neither locked nor frozen";

pub(crate) const TEMPERATURE_UNKNOWN: &str = "its temperature is unknown";
pub(crate) const HEALTH_UNKNOWN: &str = "its health is unknown";
pub(crate) const MODEL_UNKNOWN: &str = "its model is unknown";

/// `sentence` is one of the three above.
pub(crate) fn unknown(sentence: &str, reason: Option<&str>) -> String {
    reason.map_or_else(|| sentence.to_owned(), |reason| format!("{sentence}: {reason}"))
}

// ## What a format does

pub(crate) const ERASE_OF_USER_DATA: &str = "erase of user data";
pub(crate) const ERASE_OF_KEY: &str = "erase of the key";

/// For the audit log and for a person; `erase` is one of the two above.
pub(crate) fn format_plan(
    namespace: u32,
    erase: &str,
    format_index: u8,
    block_bytes: u64,
    metadata_bytes: u16,
) -> String {
    let metadata =
        if metadata_bytes > 0 { format!(" and {metadata_bytes} B of metadata") } else { String::new() };
    format!(
        "namespace {namespace}, {erase}, LBA format {format_index} ({}{metadata}), unchanged",
        amount(block_bytes)
    )
}

pub(crate) const FORMAT_CHANGED: &str = "its format has changed since the check; start again";

// Erases that a person types: what to know first, and the commands, which begin with four blanks.

// ## ATA secure erase

likenew_core::sentences! {
    pub(crate) fn no_secure_erase(path: impl Display) =
        "{path} has no secure erase; discard it, or overwrite it instead.";
    pub(crate) fn secure_erase(path: impl Display) =
        "A secure erase makes {path} erase everything on it, including its spare area. It cannot be \
         interrupted or undone.";
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

likenew_core::sentences! {
    pub(crate) fn no_ata_sanitize(path: impl Display) =
        "{path} has no Sanitize; discard it, or overwrite it instead.";
    pub(crate) fn ata_sanitize_command(path: impl Display, option: &str) =
        "    hdparm --yes-i-know-what-i-am-doing {option} {path}";
    pub(crate) fn nvme_sanitize_command(path: impl Display, action: &str) =
        "    nvme sanitize {path} {action} --ause";
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

pub(crate) fn ata_sanitize_progress(path: impl Display) -> [String; 2] {
    ["To see its progress:".to_owned(), format!("    hdparm --sanitize-status {path}")]
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

pub(crate) fn nvme_sanitize_progress(path: impl Display) -> [String; 2] {
    [
        "To see its progress (SPROG counts to 65535; SSTAT ends with 1 on success, with 3 on failure):"
            .to_owned(),
        format!("    nvme sanitize-log {path}"),
    ]
}
