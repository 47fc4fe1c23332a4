//! Commands of actions, with the names of this machine, and how to undo them. They are printed to be pasted,
//! so every name is quoted for the shell.

use likenew_core::answer::Action;
use likenew_core::facts::{Drive, DriveKind, Fact, Layer, LayerKind};
pub(crate) use likenew_core::shell::shell_quote;

use crate::{Case, wording};

/// A command and its undo.
pub(super) struct Command {
    pub(super) does: String,
    pub(super) undoes: Option<String>,
}

impl Command {
    fn new(does: String, undoes: String) -> Self {
        Self { does, undoes: Some(undoes) }
    }

    fn final_one(does: String) -> Self {
        Self { does, undoes: None }
    }

    /// Adds the command to an action.
    pub(super) fn add_to(self, action: Action) -> Action {
        Action { command: Some(self.does), undo: self.undoes, ..action }
    }
}

/// The device of the drive at the bottom, or a placeholder.
pub(super) fn device(case: &Case<'_>) -> String {
    case.drive().map_or_else(|| "/dev/DRIVE".to_owned(), |drive| node(&drive.name))
}

/// A name of the kernel, whose `!` are folders in /dev.
fn node(name: &str) -> String {
    shell_quote(&format!("/dev/{}", name.replace('!', "/")))
}

/// The mount point of the file system, or a placeholder.
pub(super) fn mount_point(case: &Case<'_>) -> String {
    let system = case.facts.and_then(|facts| facts.file_system.as_ref());
    system.map_or_else(|| "MOUNT_POINT".to_owned(), |system| shell_quote(&system.point))
}

/// Sets flags on the encryption in the stack besides those that it has; the undo leaves them out again.
/// `refresh` sets all of them anew.
pub(super) fn refresh_command(case: &Case<'_>, flags: &[&str]) -> Command {
    let layer = case.facts.and_then(|facts| facts.layers_of(LayerKind::Crypt).next());
    let name = layer
        .and_then(|layer| layer.label.value())
        .map_or_else(|| "NAME".to_owned(), |name| shell_quote(name));
    let known = [
        ("allow_discards", "--allow-discards"),
        ("no_read_workqueue", "--perf-no_read_workqueue"),
        ("no_write_workqueue", "--perf-no_write_workqueue"),
        ("same_cpu_crypt", "--perf-same_cpu_crypt"),
        ("submit_from_crypt_cpus", "--perf-submit_from_crypt_cpus"),
    ];
    let options = layer.and_then(|layer| layer.options.value()).map(Vec::as_slice).unwrap_or_default();
    let had: Vec<&str> = known
        .into_iter()
        .filter(|(option, _)| options.iter().any(|of| of == option))
        .map(|(_, flag)| flag)
        .collect();
    let of = |flags: Vec<&str>| {
        let flags: String = flags.into_iter().map(|flag| format!("{flag} ")).collect();
        format!("cryptsetup refresh --persistent {flags}{name}")
    };
    let added = flags.iter().copied().filter(|flag| !had.contains(flag));
    Command::new(of(had.iter().copied().chain(added).collect()), of(had))
}

/// Lets TRIM pass a layer, and whether data is at stake; `None` if no command does.
pub(super) fn trim_through(case: &Case<'_>, layer: &Layer) -> Option<(Command, bool)> {
    match layer.kind {
        LayerKind::Crypt => Some((refresh_command(case, &["--allow-discards"]), false)),
        // Array members that do not read zeros after TRIM would make parity wrong
        // (Documentation/admin-guide/md.rst of the Linux sources).
        LayerKind::Array
            if matches!(layer.level.value().map(String::as_str), Some("raid4" | "raid5" | "raid6")) =>
        {
            let file = "/sys/module/raid456/parameters/devices_handle_discard_safely";
            Some((Command::new(format!("echo Y > {file}"), format!("echo N > {file}")), true))
        }
        // The administrator of the host runs it there, with the guest's name for the disk.
        LayerKind::VirtualDisk => {
            let edit = |discard: &str| {
                format!(
                    "virt-xml DOMAIN --edit target={} --disk driver.discard={discard}",
                    shell_quote(&layer.name)
                )
            };
            Some((Command::new(edit("unmap"), edit("ignore")), false))
        }
        // A bridge may announce no support and have it; one that does not know UNMAP could take it for something else.
        LayerKind::Disk | LayerKind::UsbDisk => {
            let (does, undoes) = layer.unmap_commands()?;
            Some((Command::new(does, undoes), true))
        }
        _ => None,
    }
}

/// Switches the write cache of the drive on; `None` where no command does.
pub(super) fn write_cache_on(case: &Case<'_>) -> Option<Command> {
    let device = device(case);
    let kind = case.drive().map(|drive| drive.kind);
    Some(match kind {
        // Feature 06h, Volatile Write Cache (NVMe base specification).
        Some(DriveKind::Nvme) => {
            let set = |value: u8| format!("nvme set-feature {device} --feature-id=6 --value={value}");
            Command::new(set(1), set(0))
        }
        Some(DriveKind::Scsi) => Command::new(
            format!("sdparm --set=WCE=1 --save {device}"),
            format!("sdparm --set=WCE=0 --save {device}"),
        ),
        Some(DriveKind::Virtual | DriveKind::Memory | DriveKind::Network | DriveKind::Card) => return None,
        _ => Command::new(format!("hdparm -W1 {device}"), format!("hdparm -W0 {device}")),
    })
}

/// Keeps the drive, its link and the kernel from power saving, as far as each supports it.
pub(super) fn keep_awake_commands(case: &Case<'_>) -> Vec<(Action, Command)> {
    let Some(drive) = case.drive() else { return Vec::new() };
    let (power, mut all) = (&drive.power, Vec::new());
    if let Some(wake) = power.wake_us_max.get().filter(|wake| *wake > 0)
        && let Some(controller) = controller(drive)
    {
        // The latency tolerance of one controller; the module parameter is for controllers found later.
        let file = format!("/sys/class/nvme/{controller}/power/pm_qos_latency_tolerance_us");
        let command = Command::new(format!("echo 0 > {file}"), format!("echo {wake} > {file}"));
        all.push((wording::power_saving::no_deep_sleep(), command));
    }
    let set = |fact: &Fact<String>, best: &str, is_slow: fn(&str) -> bool| {
        let (value, file) = (fact.value()?, fact.origin()?);
        let is_file = file.starts_with("/sys/");
        (is_file && is_slow(value)).then(|| {
            Command::new(
                format!("echo {best} > {}", shell_quote(file)),
                format!("echo {} > {}", shell_quote(value), shell_quote(file)),
            )
        })
    };
    let link = set(&power.link_policy, "max_performance", |policy| policy != "max_performance");
    all.extend(link.map(|command| (wording::power_saving::link_awake(), command)));
    let lanes = set(&power.aspm_policy, "performance", |policy| policy.contains("powersave"));
    all.extend(lanes.map(|command| (wording::power_saving::pcie_awake(), command)));
    let runtime = set(&power.runtime, "on", |control| control == "auto");
    all.extend(runtime.map(|command| (wording::power_saving::no_suspend(), command)));
    all
}

/// `nvme0` of `nvme0n1`. With several paths to one drive this is the name of its subsystem, and the
/// controller is unknown.
fn controller(drive: &Drive) -> Option<String> {
    let rest = drive.name.strip_prefix("nvme")?;
    let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
    (!digits.is_empty()).then(|| format!("nvme{digits}"))
}

/// Defragments files with the program of their file system.
pub(super) fn defragment(case: &Case<'_>) -> Option<Command> {
    let kind = case.facts?.file_system.as_ref()?.kind.value()?;
    let point = mount_point(case);
    let does = match kind.as_str() {
        "ext4" => format!("e4defrag {point}"),
        "xfs" => format!("xfs_fsr -v {point}"),
        "btrfs" => format!("btrfs filesystem defragment -r {point}"),
        _ => return None,
    };
    Some(Command::final_one(does))
}

/// Records the I/O of every program for a minute.
pub(super) fn record_io(target: &str) -> String {
    format!("sudo likenew record {} --out /dev/shm/io.csv.zst --time 60s", shell_quote(target))
}

/// Measures with the data of the files in a folder.
pub(super) fn measure_files(folder: &str) -> String {
    let folder = shell_quote(folder);
    format!("likenew data --files {folder} {folder}")
}

/// Stops the check of an array; a rebuild is left alone.
pub(super) fn pause_check(case: &Case<'_>) -> Option<Command> {
    let layer = case
        .facts?
        .layers_of(LayerKind::Array)
        .find(|layer| matches!(layer.busy_with.value().map(String::as_str), Some("check" | "repair")))?;
    let (name, doing) = (shell_quote(&layer.name), layer.busy_with.value()?);
    let file = format!("/sys/block/{name}/md/sync_action");
    Some(Command::new(format!("echo idle > {file}"), format!("echo {doing} > {file}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_of_the_kernel_is_a_path_in_dev() {
        assert_eq!(node("cciss!c0d0"), "/dev/cciss/c0d0");
    }
}
