//! Facts: what the system and the drive report about everything from a folder down to its medium.
//!
//! **Everything here only reads**, but for a file that remembers types for smartctl ([`choose_smartctl_device`]).
//! Files of /sys, /proc, /etc, /run, /var and /usr are opened for reading. Devices are opened read-only and queried
//! with the commands that `machine::Question` lists, none of which changes a drive. A USB bridge gets nothing from
//! us that the kernel has not sent already; smartctl, if installed, knows what each bridge takes. Whatever is
//! missing, unreadable or nonsense becomes an unknown fact with its reason, and no error.

mod drive_answers;
mod file_system;
pub(crate) mod kernel_log;
mod link;
pub(crate) mod machine;
pub(crate) mod machine_file;
pub mod reported;
pub mod smartctl_device;
pub(crate) mod smartmontools;

use std::os::fd::AsFd;
use std::path::Path;

use likenew_core::facts::{
    Drive, DriveKind, Fact, Facts, Health, HostMemory, Layer, LayerKind, Smartctl as SmartctlFacts,
};
use likenew_core::probe::ProbeResult;
use likenew_core::stat::Stat;
use likenew_core::target_error::TargetError;

use self::machine::{MachineQuery, Question, Roots, Subject, System};
use self::smartctl_device::DeviceChoice;
use self::smartmontools::{Databases, Smartctl, disks_of_controller};
use crate::block::{BlockDevice, DeviceNumber, bottoms, open_path};
use crate::identify::{HealthSource, plausible_c};
use crate::mounts::Mount;
use crate::standards::counted;
use crate::target_error::ErrorContext as _;
use crate::wording::{action, facts as wording, target as target_wording};

/// Answers `Probe::Facts` for the folder, file or device of `fd`. `sample` is the folder or file whose files
/// are examined, if any.
pub(crate) fn collect(fd: impl AsFd, sample: Option<&Path>) -> ProbeResult {
    let (roots, queries) = (Roots::system(), System);
    let collector = Collector { roots: &roots, queries: &queries };
    if let Some(number) = DeviceNumber::of_open(&fd) {
        return match roots.by_number(number) {
            Some(device) => ProbeResult::Facts(Box::new(collector.of_devices(&[device]))),
            None => ProbeResult::Unknown(target_wording::DEVICE_NOT_LISTED.to_owned()),
        };
    }
    let Some(mount) = Mount::containing(&fd) else {
        return ProbeResult::Unknown(target_wording::FILE_SYSTEM_NOT_LISTED.to_owned());
    };
    let mut facts = collector.of_mount(&mount);
    facts.files = Some(match sample {
        Some(path) => file_system::sample(path),
        None => file_system::sample_file(&fd),
    });
    ProbeResult::Facts(Box::new(facts))
}

/// The block devices that hold a folder or file, or the one that is at a path.
fn devices_at(roots: &Roots, path: &Path) -> Result<Vec<BlockDevice>, TargetError> {
    let fd = open_path(path).context_at(action::LOOK_AT, path)?;
    if let Some(number) = DeviceNumber::of_open(&fd) {
        return Ok(roots.by_number(number).into_iter().collect());
    }
    let collector = Collector { roots, queries: &System };
    Ok(Mount::containing(&fd).map(|mount| collector.devices_of(&mount)).unwrap_or_default())
}

/// Sets how smartctl reaches the drive below a path. If smartctl answers with this choice, the choice is remembered.
///
/// # Errors
/// The path is not on one drive, smartctl gave no answer, or the type could not be remembered.
pub fn choose_smartctl_device(path: &Path, choice: &DeviceChoice) -> Result<(), TargetError> {
    let (roots, queries) = (Roots::system(), System);
    let drives = Collector { roots: &roots, queries: &queries }.drives_below(&devices_at(&roots, path)?);
    let [drive] = &drives[..] else {
        let names: Vec<String> = drives.iter().map(BlockDevice::name).collect();
        return Err(TargetError::Unsuitable(wording::not_one_drive(path, &names)));
    };
    if let DeviceChoice::Type(device_type) = choice {
        if !queries.is_root() {
            return Err(TargetError::Unsuitable(wording::DEVICE_TYPE_NEEDS_ROOT.to_owned()));
        }
        let subject = Subject::new(&roots, &queries, drive.clone());
        let answer = Smartctl::read(subject.query(Question::Smartctl(Some(device_type))));
        if let Some(reason) = answer.reason().filter(|_| !answer.is_asleep()) {
            let disks = disks_of_controller(&subject);
            return Err(TargetError::Unsuitable(wording::type_not_reaching(
                &drive.name(),
                device_type,
                reason,
                &disks,
            )));
        }
    }
    smartctl_device::remember_of(drive, choice)
}

/// Facts of every drive of this machine, whatever is on the drives.
///
/// # Errors
/// The system does not list them.
pub(crate) fn all_drives() -> Result<Facts, TargetError> {
    let (roots, queries) = (Roots::system(), System);
    let collector = Collector { roots: &roots, queries: &queries };
    let listed = crate::listing::list()?;
    let names = listed.iter().filter_map(|listed| listed.path.strip_prefix("/dev/"));
    let is_drive = |device: &BlockDevice| device.slaves().is_empty() && !device.name().starts_with("loop");
    let devices: Vec<BlockDevice> = names.filter_map(|name| roots.device(name)).filter(is_drive).collect();
    Ok(collector.of_devices(&devices))
}

/// A unique name of this machine: its host name, and a hash of its machine ID, which stays secret.
pub fn machine_name() -> String {
    drive_answers::machine_name(&Roots::system())
}

// Combines what the readers find: for a mounted file system, or for a block device.

/// Collects facts of one machine.
pub(crate) struct Collector<'a> {
    pub(crate) roots: &'a Roots,
    pub(crate) queries: &'a dyn MachineQuery,
}

impl Collector<'_> {
    /// Facts of a mounted file system and everything below it.
    pub(crate) fn of_mount(&self, mount: &Mount) -> Facts {
        let devices = self.devices_of(mount);
        let mut facts = self.of_devices(&devices);
        facts.stack.insert(0, file_system::mount_layer(mount, &devices));
        facts.file_system = Some(file_system::file_system(self.roots, self.queries, mount));
        facts
    }

    /// Facts of block devices and everything that they are built on.
    pub(crate) fn of_devices(&self, devices: &[BlockDevice]) -> Facts {
        let (layers, drives) = self.down_from(devices);
        let subjects: Vec<Subject<'_>> =
            drives.into_iter().map(|device| Subject::new(self.roots, self.queries, device)).collect();
        let before: Vec<_> = subjects.iter().map(kernel_log::reading).collect();
        let seconds = if subjects.is_empty() { 0.0 } else { self.queries.pause_s() };
        let log = kernel_log::kernel_log(self.queries);
        let databases = Databases::read(self.roots);
        let drives = subjects
            .iter()
            .zip(&before)
            .map(|(subject, before)| drive(subject, before, seconds, &log, &databases));
        Facts {
            machine: machine::machine(self.roots, self.queries),
            drives: drives.collect(),
            stack: layers,
            ..Facts::default()
        }
    }

    /// The drives at the bottom of some devices.
    pub(crate) fn drives_below(&self, devices: &[BlockDevice]) -> Vec<BlockDevice> {
        self.down_from(devices).1
    }

    /// The layers below some devices and the drives at the bottom. Below a loop device, this continues with
    /// the file system of its file.
    fn down_from(&self, devices: &[BlockDevice]) -> (Vec<Layer>, Vec<BlockDevice>) {
        let mut layers = file_system::layers(self.roots, self.queries, devices);
        let mut drives = bottoms(devices);
        let mut visited = 0;
        while let Some(at) = layers[visited..].iter().position(|layer| layer.kind == LayerKind::Loop) {
            visited += at + 1;
            let layer = &mut layers[visited - 1];
            let Some(mount) = layer.label.value().and_then(|file| self.mount_of(file)) else { continue };
            let below = self.devices_of(&mount);
            let file_system = file_system::mount_layer(&mount, &below);
            layer.on = vec![file_system.name.clone()];
            let more =
                std::iter::once(file_system).chain(file_system::layers(self.roots, self.queries, &below));
            for layer in more {
                if layers.iter().all(|known| known.name != layer.name) {
                    layers.push(layer);
                }
            }
            for bottom in bottoms(&below) {
                if !drives.contains(&bottom) {
                    drives.push(bottom);
                }
            }
        }
        drives.retain(|device| !device.name().starts_with("loop"));
        (layers, drives)
    }

    /// The mount that contains a file, if both are visible from here.
    fn mount_of(&self, file: &str) -> Option<Mount> {
        let mounts = self.roots.text("/proc/self/mountinfo");
        let mounts = mounts.value().filter(|_| self.roots.exists(file))?.lines().filter_map(Mount::parse);
        // If several are mounted at one point, the last one is seen.
        mounts.filter(|mount| Path::new(file).starts_with(&mount.point)).max_by_key(|mount| mount.point.len())
    }

    /// The devices below a file system: those that btrfs lists, or the one that is mounted.
    fn devices_of(&self, mount: &Mount) -> Vec<BlockDevice> {
        let mounted = self
            .roots
            .by_number(mount.device)
            .or_else(|| self.roots.device_at(&mount.source.to_string_lossy()));
        let Some(mounted) = mounted else { return Vec::new() };
        if mount.kind != "btrfs" {
            return vec![mounted];
        }
        let pools = self.roots.names("/sys/fs/btrfs").into_iter().map(|id| {
            let folder = format!("/sys/fs/btrfs/{id}/devices");
            self.roots
                .names(&folder)
                .into_iter()
                .filter_map(|name| self.roots.device(&name))
                .collect::<Vec<_>>()
        });
        let mut lists = pools.filter(|devices| devices.contains(&mounted));
        lists.next().unwrap_or_else(|| vec![mounted])
    }
}

fn drive(
    subject: &Subject<'_>,
    before: &Fact<Stat>,
    seconds: f64,
    records: &Fact<Vec<kernel_log::Record>>,
    databases: &Databases,
) -> Drive {
    let mut drive = Drive { name: subject.name(), kind: subject.kind, ..Drive::default() };
    let reading = kernel_log::reading(subject);
    kernel_log::io_counts(&reading, &mut drive.counts);
    let moved = |bytes_of: fn(&Stat) -> u64| {
        kernel_log::rate(
            &before.clone().map(|stat| bytes_of(&stat)),
            &reading.clone().map(|stat| bytes_of(&stat)),
            seconds,
        )
    };
    drive.others_read_bytes_per_s = moved(|stat| stat.read.bytes());
    drive.others_write_bytes_per_s = moved(|stat| stat.write.bytes());
    drive.in_flight = reading.map(|stat| stat.in_flight);
    drive.identity = drive_answers::identity(subject);
    drive.link = link::link(subject);
    drive.power = link::power(subject);
    kernel_log::link_errors(subject, &mut drive.counts);
    drive.log = kernel_log::lines_of(&kernel_log::names(subject), records, &mut drive.counts);
    state(subject, &mut drive);
    drive.health.temperature_c = temperature(subject).or_else(|| drive.health.temperature_c.clone());
    remove_placeholders(&mut drive);
    drive.cloud = drive_answers::cloud(subject, &drive.identity.model, &mut drive.counts);
    let (model, firmware) = (drive.identity.model.value(), drive.identity.firmware.value());
    if matches!(subject.kind, DriveKind::Nvme | DriveKind::Sata | DriveKind::Scsi) && drive.cloud.is_none() {
        let strings = (model.map(String::as_str), firmware.map(String::as_str));
        drive.database = databases.of(strings.0, strings.1);
    }
    drive.space.zones.model = subject.line("queue/zoned");
    if drive.space.zones.model.value().is_some_and(|zoned| zoned != "none") {
        let sectors = subject.roots.count::<u64>(&subject.device, "queue/chunk_sectors");
        drive.space.zones.zone_bytes =
            sectors.and_then(wording::TOO_LARGE, |sectors| sectors.checked_mul(512));
    }
    drive
}

/// Adds the health of a drive, as its kind reports it.
fn state(subject: &Subject<'_>, drive: &mut Drive) {
    if let unknown @ Fact::Unknown { .. } = &subject.smartctl_device {
        drive.smartctl = Some(SmartctlFacts { device_type: unknown.clone(), ..SmartctlFacts::default() });
    }
    let mut smartctl = None;
    match subject.kind {
        DriveKind::Nvme => {
            drive.health = drive_answers::nvme_health(subject);
            drive_answers::nvme_counts(subject, &mut drive.counts);
            drive.space = drive_answers::nvme_space(subject);
            let host_memory: HostMemory =
                drive_answers::nvme_host_memory(subject, kernel_log::host_memory_bytes(&drive.log));
            drive.host_memory = Some(host_memory);
        }
        DriveKind::Sata => {
            let attributes = drive_answers::ata_attributes(subject);
            drive.health = drive_answers::ata_health(subject, &attributes);
            drive_answers::ata_counts(subject, &attributes, &mut drive.counts);
        }
        DriveKind::Scsi => match drive_answers::ufs_health(subject) {
            Some(health) => drive.health = health,
            None => {
                let message = Smartctl::query(subject);
                drive.health.failing = message.health().failing;
                message.complete(drive, message.serial(subject));
                smartctl = Some(message);
            }
        },
        DriveKind::Card => {
            drive.health = drive_answers::card_health(subject);
            drive.card = Some(drive_answers::card(subject));
        }
        DriveKind::Usb => {
            let message = Smartctl::query(subject);
            let reason = wording::usb_needs_smartctl(message.reason());
            drive.health.failing = Fact::unknown(reason, "SMART");
            let serial = message.serial(subject);
            message.complete(drive, serial.clone());
            message.identify(drive, serial);
            smartctl = Some(message);
        }
        DriveKind::Virtual => {
            let reason = wording::VIRTUAL_MEDIUM;
            drive.health =
                Health { failing: Fact::unknown(reason, wording::KIND_OF_DRIVE), ..Health::default() };
        }
        _ => {}
    }
    // A RAID controller or a driver may refuse our own queries but pass on those of smartctl, which knows many
    // controllers. smartctl also knows which attribute of a SATA SSD counts wear, and which counts bytes written.
    let is_refused =
        matches!(subject.kind, DriveKind::Nvme | DriveKind::Sata) && drive.health.failing.value().is_none();
    let lacks_wear = subject.kind == DriveKind::Sata
        && drive.identity.rotation_rpm.get() == Some(0)
        && (drive.health.used_percent.value().is_none()
            || drive.counts.lifetime_bytes_written.value().is_none());
    let is_told = subject.smartctl_device.value().is_some();
    if smartctl.is_none() && (is_told || (is_refused || lacks_wear) && subject.queries.is_root()) {
        let message = Smartctl::query(subject);
        message.complete(drive, message.serial(subject));
        smartctl = Some(message);
    }
    if let Some(message) = smartctl {
        tell_types(subject, &message, drive);
    }
}

/// Adds the type that smartctl was given; if the health is unknown, also a type to try.
fn tell_types(subject: &Subject<'_>, message: &Smartctl, drive: &mut Drive) {
    drive.smartctl = message.facts(subject).or(drive.smartctl.take());
    if drive.health.failing.value().is_some() {
        return;
    }
    if subject.smartctl_device.value().is_some() {
        drive.health.failing = message.health().failing;
    }
    let driver = drive.link.driver.value().map(String::as_str);
    if let (Some(help), Fact::Unknown { reason, .. }) =
        (message.type_to_give(subject, driver), &mut drive.health.failing)
    {
        *reason = wording::with_help(reason, &help);
    }
}

/// The temperature from the driver, which needs no root.
fn temperature(subject: &Subject<'_>) -> Fact<f64> {
    let source = HealthSource::of_disk(subject.device.folder());
    if !source.has_temperature() {
        return Fact::NotQueried;
    }
    let origin = Roots::place(&subject.device, "device/hwmon*/temp1_input");
    Fact::from_option(source.read().temperature_c, wording::NO_TEMPERATURE, origin)
}

/// The fastest SATA and the fastest link of all, in bytes a second: 6 Gb/s after 8b/10b, and PCIe 6.0 ×4.
const SATA_BYTES_PER_S: u64 = 600_000_000;
const LINK_BYTES_PER_S: u64 = 31_000_000_000;

/// Makes a number unknown if it is too large to be true.
fn keep_below(fact: &mut Fact<u64>, most: u64) {
    *fact = std::mem::take(fact).and_then(wording::TOO_LARGE, |value| (value <= most).then_some(value));
}

/// Makes placeholders unknown: RAID volumes, bridges and simple drives fill in zeros or ones.
fn remove_placeholders(drive: &mut Drive) {
    fn keep<T: Copy>(fact: &mut Fact<T>, is_value: impl Fn(T) -> bool) {
        let kept = std::mem::take(fact);
        *fact = kept.and_then(wording::NOT_REPORTED, |value| is_value(value).then_some(value));
    }
    let (health, counts) = (&mut drive.health, &mut drive.counts);
    for degrees in
        [&mut health.temperature_c, &mut health.temperature_warning_c, &mut health.temperature_critical_c]
    {
        keep(degrees, |degrees| plausible_c(degrees).is_some());
    }
    keep(&mut health.used_percent, |percent| percent < 255.0);
    keep(&mut health.spare_percent, |percent| percent <= 100.0);
    keep(&mut health.spare_threshold_percent, |percent| percent <= 100.0);
    counts.each_mut().chain([&mut health.pending_sectors]).for_each(|count| {
        keep(count, |number| [32, 48, 64].iter().all(|bits| counted(number, *bits).is_some()));
    });
    // No drive writes more than its link carries in all its time on.
    if let Some(hours) = counts.power_on_hours.get() {
        let link = if drive.kind == DriveKind::Sata { SATA_BYTES_PER_S } else { LINK_BYTES_PER_S };
        let most = (hours.saturating_add(1)).saturating_mul(3600).saturating_mul(link);
        keep_below(&mut counts.lifetime_bytes_written, most);
        keep_below(&mut counts.lifetime_bytes_read, most);
    }
    // The wear indicator is for flash only.
    if drive.identity.rotation_rpm.get().is_some_and(|rpm| rpm > 0) {
        health.used_percent = Fact::NotQueried;
    }
    // A drive that answers was switched on, so two zeros are no counts.
    if counts.power_on_hours.get() == Some(0) && counts.power_cycles.get() == Some(0) {
        keep(&mut counts.power_on_hours, |_| false);
        keep(&mut counts.power_cycles, |_| false);
    }
}

#[cfg(test)]
mod tests;
