//! One drive at the bottom of a stack: everything known about it, and what changed between two collections of facts.

use serde::{Deserialize, Serialize};
use serde_with::{apply, skip_serializing_none};

use super::{Fact, Facts};
use crate::quantity::Rate;
use crate::wording;

/// The interface of a drive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DriveKind {
    /// NVMe.
    Nvme,
    /// SATA, or ATA behind another interface.
    Sata,
    /// SCSI or SAS.
    Scsi,
    /// A disk behind a USB bridge.
    Usb,
    /// An SD card or an eMMC.
    Card,
    /// A hypervisor's disk with its own driver (virtio, xen, vmbus).
    Virtual,
    /// Memory.
    Memory,
    /// A drive of another machine.
    Network,
    /// A simulated drive.
    Simulated,
    /// Unknown to this version.
    #[default]
    #[serde(other)]
    Other,
}

/// Everything known about a drive.
#[apply(Fact => #[serde(skip_serializing_if = "Fact::is_not_queried")])]
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Drive {
    /// The kernel's name.
    pub name: String,
    /// Its interface.
    pub kind: DriveKind,
    /// Its identity.
    pub identity: Identity,
    /// The link to it.
    pub link: Link,
    /// How it saves power.
    pub power: Power,
    /// Host memory that it uses; absent unless it is NVMe.
    pub host_memory: Option<HostMemory>,
    /// What it reports of its state.
    pub health: Health,
    /// Its counters.
    pub counts: Counts,
    /// How smartctl reaches it; absent unless smartctl was told how.
    pub smartctl: Option<Smartctl>,
    /// Its space in use, block size and zones, as it reports them.
    pub space: Space,
    /// What a card reports; absent for other drives.
    pub card: Option<Card>,
    /// What is known of a cloud volume; absent for other drives.
    pub cloud: Option<Cloud>,
    /// What smartmontools' database knows of its model.
    pub database: Database,
    /// What the kernel's log says about it.
    pub log: Log,
    /// I/Os of all programs that were in flight when the facts were collected.
    pub in_flight: Fact<u64>,
    /// Reads by all programs while the facts were collected and nothing was measured.
    pub others_read_bytes_per_s: Fact<u64>,
    /// Writes by all programs over the same time.
    pub others_write_bytes_per_s: Fact<u64>,
}

impl Drive {
    /// Whether this is a drive as it was sold. The name of a hypervisor's disk says nothing about its medium.
    /// A USB bridge passes on the drive's name but limits its speed, which the link shows.
    pub fn is_real(&self) -> bool {
        let is_virtual = self.identity.virtual_by.value().is_some_and(Option::is_some);
        let kind = matches!(
            self.kind,
            DriveKind::Nvme | DriveKind::Sata | DriveKind::Scsi | DriveKind::Usb | DriveKind::Card
        );
        kind && !is_virtual && self.cloud.is_none()
    }

    /// Whether this is a volume of several disks, one of which reported its health and counters.
    pub fn is_volume(&self) -> bool {
        self.smartctl.as_ref().is_some_and(|told| told.member.value().is_some())
    }

    /// What the health and counters belong to: the drive, or one disk of the volume.
    pub fn health_subject(&self) -> String {
        match self.smartctl.as_ref().and_then(|told| told.device_type.value()).filter(|_| self.is_volume()) {
            Some(device_type) => wording::disk_of_volume(&self.name, device_type),
            None => self.name.clone(),
        }
    }
}

/// How smartctl was told to reach a drive behind a controller or bridge.
#[apply(Fact => #[serde(skip_serializing_if = "Fact::is_not_queried")])]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Smartctl {
    /// The type for its option `-d`; the origin says who gave it, and when.
    pub device_type: Fact<String>,
    /// Model and size of the disk that answered, if it is one of several in a volume.
    pub member: Fact<String>,
}

/// What a card reports.
#[apply(Fact => #[serde(skip_serializing_if = "Fact::is_not_queried")])]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Card {
    /// `SD` or `MMC`.
    pub kind: Fact<String>,
    /// Product name.
    pub name: Fact<String>,
    /// Number of the maker.
    pub maker: Fact<u32>,
    /// Number of the brand that sells it.
    pub maker_for: Fact<u32>,
    /// Month and year in which it was made.
    pub manufacture_date: Fact<String>,
    /// Its preferred unit to erase and write: the allocation unit of an SD card.
    pub allocation_unit_bytes: Fact<u64>,
    /// Its speed classes as printed on it: `C10 U3 V30 A1`.
    pub speed_classes: Fact<String>,
    /// Bytes a second of sequential writes that these classes promise at least.
    pub promised_bytes_per_s: Fact<u64>,
    /// Whether it accepts several commands at once.
    pub queues_commands: Fact<bool>,
    /// Its bus timing: `sd high speed`, `mmc HS200` …
    pub timing: Fact<String>,
}

/// A cloud volume.
#[apply(Fact => #[serde(skip_serializing_if = "Fact::is_not_queried")])]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Cloud {
    /// Its provider and kind: `AWS EBS`, `AWS instance store`, `Google persistent disk` …
    pub volume: Fact<String>,
    /// I/Os waiting in the volume now.
    pub queue_length: Fact<u64>,
}

macro_rules! counts {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        /// Counters that only grow.
        #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
        #[serde(default)]
        pub struct Counts {
            $($(#[$doc])* #[serde(skip_serializing_if = "Fact::is_not_queried")] pub $name: Fact<u64>,)*
        }

        impl Counts {
            /// What was counted since an earlier reading. A count that either reading lacks is unknown. A
            /// counter that went backward counts from zero: it was reset, as when a device is attached again.
            #[must_use]
            pub fn since(&self, earlier: &Self) -> Self {
                Self { $($name: difference(&self.$name, &earlier.$name),)* }
            }

            /// Every counter with its name.
            pub fn each(&self) -> impl Iterator<Item = (&'static str, &Fact<u64>)> {
                [$((stringify!($name), &self.$name),)*].into_iter()
            }

            /// Every counter, for changes.
            pub fn each_mut(&mut self) -> impl Iterator<Item = &mut Fact<u64>> {
                [$(&mut self.$name,)*].into_iter()
            }
        }
    };
}

counts! {
    /// Time of light throttling (Thermal Management Temperature 1 of NVMe).
    throttled_light_s,
    /// Time of heavy throttling (Thermal Management Temperature 2 of NVMe).
    throttled_heavy_s,
    /// Times that light throttling began.
    throttled_light_times,
    /// Times that heavy throttling began.
    throttled_heavy_times,
    /// Time above the warning temperature, in steps of a minute.
    warm_s,
    /// Time above the critical temperature, in steps of a minute.
    hot_s,
    /// Data that it could not read back intact (NVMe: Media and Data Integrity Errors; SMART 187).
    media_errors,
    /// Sectors that were replaced by spare ones (SMART 5).
    reallocated_sectors,
    /// Sectors that the drive's own scan could not read (SMART 198).
    uncorrectable_sectors,
    /// Transfers over the link that came with a wrong checksum (SMART 199).
    crc_errors,
    /// Errors of a SCSI drive's transport or controller rather than of its medium (SPC, log page 06h).
    non_medium_errors,
    /// Times that the link became slower (SMART 183 of some makers).
    link_downshifts,
    /// Accesses that did not begin at a multiple of 4 KiB (SMART 181 of Micron and Crucial).
    unaligned_accesses,
    /// Errors of the PCI Express link that were corrected (AER).
    pcie_corrected_errors,
    /// Errors of the PCI Express link that were not corrected (AER).
    pcie_uncorrected_errors,
    /// Entries in its error log. NVMe also logs commands that are merely unsupported.
    error_log_entries,
    /// Self-tests in its log that found a failure.
    self_tests_failed,
    /// Unexpected losses of power.
    unsafe_shutdowns,
    /// Times that it was switched on.
    power_cycles,
    /// Hours that it was on.
    power_on_hours,
    /// Bytes that its hosts have written since it was made, as it counts them.
    lifetime_bytes_written,
    /// Bytes that its hosts have read since it was made, as it counts them.
    lifetime_bytes_read,
    /// Time in which it was busy with commands, as it counts it, in steps of a minute.
    controller_busy_s,
    /// Bytes read through the kernel since it was attached, by all programs.
    bytes_read,
    /// Bytes written through the kernel.
    bytes_written,
    /// Bytes discarded through the kernel.
    bytes_discarded,
    /// Discards that ended.
    discards,
    /// Reads that ended.
    reads,
    /// Writes that ended.
    writes,
    /// Flushes that ended.
    flushes,
    /// Time in which anything was in flight.
    busy_ms,
    /// Time in which a cloud volume was throttled by its own IOPS limit.
    volume_iops_exceeded_us,
    /// Time in which a cloud volume was throttled by its own throughput limit.
    volume_throughput_exceeded_us,
    /// Time in which a cloud volume was throttled by the virtual machine's IOPS limit.
    instance_iops_exceeded_us,
    /// Time in which a cloud volume was throttled by the virtual machine's throughput limit.
    instance_throughput_exceeded_us,
    /// Resets of the drive or its link in the kernel's log, as far back as the log goes.
    log_resets,
    /// Commands that took too long, in the kernel's log.
    log_timeouts,
    /// Errors of reading or writing in the kernel's log.
    log_io_errors,
    /// Errors of the link in the kernel's log.
    log_link_errors,
}

fn difference(now: &Fact<u64>, then: &Fact<u64>) -> Fact<u64> {
    match (now, then.get()) {
        (Fact::Value { value, origin }, Some(earlier)) => {
            Fact::new(if *value >= earlier { value - earlier } else { *value }, origin.clone())
        }
        (Fact::Value { origin, .. }, None) => Fact::unknown(wording::NOT_KNOWN_BEFORE, origin.clone()),
        (other, _) => other.clone(),
    }
}

/// A drive's entry in smartmontools' database.
#[apply(Fact => #[serde(skip_serializing_if = "Fact::is_not_queried")])]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Database {
    /// The family of models it belongs to; none if the database does not know it.
    pub family: Fact<Option<String>>,
    /// The warning about this model and firmware; none if there is none.
    pub warning: Fact<Option<String>>,
    /// Whether the database calls the family shingled (SMR). "No" proves nothing.
    pub shingled: Fact<bool>,
}

/// What a drive reports of its state.
#[apply(Fact => #[serde(skip_serializing_if = "Fact::is_not_queried")])]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Health {
    /// Whether it reports that it is failing: a SMART threshold was crossed, or NVMe reports a critical
    /// warning other than heat.
    pub failing: Fact<bool>,
    /// Its warnings in words; empty if it has none.
    pub warnings: Fact<Vec<String>>,
    /// Whether it refuses writes.
    pub read_only: Fact<bool>,
    /// Composite temperature.
    pub temperature_c: Fact<f64>,
    /// Temperature from which it warns of heat (WCTEMP of NVMe).
    pub temperature_warning_c: Fact<f64>,
    /// Temperature from which heat is critical (CCTEMP of NVMe).
    pub temperature_critical_c: Fact<f64>,
    /// Whether it is throttling because of heat now.
    pub throttling: Fact<bool>,
    /// Percentage of the rated endurance that is used; may exceed 100. For eMMC, the upper end of the
    /// reported step.
    pub used_percent: Fact<f64>,
    /// Spare blocks that are left, in percent of the original ones.
    pub spare_percent: Fact<f64>,
    /// Percentage of spare blocks at which the drive warns.
    pub spare_threshold_percent: Fact<f64>,
    /// Sectors waiting to be read or reallocated (SMART 197).
    pub pending_sectors: Fact<u64>,
    /// SMART attributes as reported.
    pub attributes: Fact<Vec<Attribute>>,
}

/// A SMART attribute. Each maker decides what it counts and in which unit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Attribute {
    /// Its number.
    pub id: u8,
    /// Its normalized value.
    pub value: u8,
    /// The lowest value so far.
    pub worst: u8,
    /// The threshold that predicts failure; 0 if there is none.
    pub threshold: u8,
    /// Six bytes whose meaning the maker decides.
    pub raw: u64,
    /// Whether it predicts failure, rather than counting use.
    pub prefail: bool,
}

impl Attribute {
    /// Whether its value has fallen to its threshold (ATA8-ACS, SMART; 0, 254 and 255 are not values).
    pub fn has_failed(&self) -> bool {
        self.threshold > 0 && (1..=253).contains(&self.value) && self.value <= self.threshold
    }
}

/// Host memory that a drive requested and was granted.
#[apply(Fact => #[serde(skip_serializing_if = "Fact::is_not_queried")])]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct HostMemory {
    /// Bytes that the drive prefers (HMPRE of Identify Controller); 0 if it wants none.
    pub wanted_bytes: Fact<u64>,
    /// Fewest bytes that it can use (HMMIN).
    pub least_bytes: Fact<u64>,
    /// Bytes that it was granted; 0 for none.
    pub given_bytes: Fact<u64>,
    /// Most bytes that the kernel grants a drive (`nvme.max_host_mem_size_mb`).
    pub limit_bytes: Fact<u64>,
}

impl HostMemory {
    /// Whether the drive wants memory and has none, as far as known.
    pub fn is_refused(&self) -> Option<bool> {
        match self.wanted_bytes.get()? {
            0 => Some(false),
            _ => Some(self.given_bytes.get()? == 0),
        }
    }
}

/// What identifies a drive.
#[apply(Fact => #[serde(skip_serializing_if = "Fact::is_not_queried")])]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Identity {
    /// Maker and model.
    pub model: Fact<String>,
    /// Version of its firmware.
    pub firmware: Fact<String>,
    /// Its serial number, stored only as a hash.
    pub serial: Fact<Serial>,
    /// Number of an NVMe namespace other than the first. Each namespace is a drive of its own, but all share one serial number.
    pub namespace: Fact<String>,
    /// USB port, and number there, of a drive that may show no serial number of its own.
    pub port: Fact<String>,
    /// Its capacity in bytes, as it reports it.
    pub capacity_bytes: Fact<u64>,
    /// Rotation in rpm; 0 for a drive that does not rotate.
    pub rotation_rpm: Fact<u32>,
    /// What presents the drive and hides its real medium: a hypervisor, a cloud or a controller; otherwise
    /// none.
    pub virtual_by: Fact<Option<String>>,
    /// Whether it reports TRIM support.
    pub knows_trim: Fact<bool>,
}

/// A serial number. Only a keyed hash is stored, which distinguishes the drives of one machine and reveals no
/// number. The number itself is shown only on the terminal and never written.
#[derive(Clone, Debug, Default, Eq, Serialize, Deserialize)]
pub struct Serial {
    /// HMAC-SHA-256 of the number, keyed with this machine's identity, in hexadecimal.
    pub hash: String,
    /// The number itself, if it has just been read.
    #[serde(skip)]
    pub plain: Option<String>,
}

impl PartialEq for Serial {
    /// Compares only hashes, so that facts just collected equal the same facts read back.
    fn eq(&self, other: &Self) -> bool {
        self.hash == other.hash
    }
}

/// The path from the host to the drive.
#[apply(Fact => #[serde(skip_serializing_if = "Fact::is_not_queried")])]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Link {
    /// `PCIe`, `SATA`, `SAS`, `USB`, `MMC`, `virtio` …
    pub bus: Fact<String>,
    /// The kernel's driver for it: `nvme`, `uas`, `usb-storage`, `ahci`.
    pub driver: Fact<String>,
    /// Its parts from the drive up: the drive, the port above it, and every hub up to the host.
    pub hops: Vec<Hop>,
    /// Bytes a second that its slowest part can carry now, after encoding and before the protocol's own
    /// overhead.
    pub ceiling_bytes_per_s: Fact<u64>,
    /// Bytes a second if every part ran at its best: what this drive could have in this place.
    pub possible_bytes_per_s: Fact<u64>,
    /// Commands that one queue of the drive holds.
    pub queue_depth: Fact<u64>,
    /// Command queues, each of `queue_depth`.
    pub queues: Fact<u64>,
}

impl Link {
    /// Bus and ceiling, as far as known: `PCIe, 3,940 MB/s`.
    pub fn words(&self) -> Option<String> {
        let ceiling = self.ceiling_bytes_per_s.get().map(|rate| Rate(rate as f64).to_string());
        let parts: Vec<String> = self.bus.value().cloned().into_iter().chain(ceiling).collect();
        (!parts.is_empty()).then(|| parts.join(", "))
    }
}

/// One part of a link.
#[apply(Fact => #[serde(skip_serializing_if = "Fact::is_not_queried")])]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Hop {
    /// The kernel's name: a PCI address, `ata3`, `2-1.4`.
    pub name: String,
    /// What it is, in words: `the drive`, `the port above`, `hub` …
    pub kind: String,
    /// Bits a second on one lane before encoding: 8e9 for PCIe at 8 GT/s, 6e9 for SATA at 6 Gb/s.
    pub line_bits_per_s: Fact<u64>,
    /// The highest rate that it supports, in the same unit.
    pub line_bits_per_s_max: Fact<u64>,
    /// Lanes in use.
    pub lanes: Fact<u32>,
    /// Lanes that it has at most.
    pub lanes_max: Fact<u32>,
    /// Bytes a second that it can carry now.
    pub bytes_per_s: Fact<u64>,
    /// Bytes a second that it can carry at its best.
    pub bytes_per_s_max: Fact<u64>,
}

/// Bytes a second of PCI Express after encoding: 8b/10b up to 5 GT/s (PCI Express Base Specification 2.0,
/// §4.2.1), 128b/130b from 8 GT/s on (3.0, §4.2.2), and flits of 256 bytes, 236 of them for packets, at 64
/// GT/s (6.0, §4.2.3).
pub fn pcie_bytes_per_s(line_bits_per_s: u64, lanes: u32) -> u64 {
    let raw = u128::from(line_bits_per_s) * u128::from(lanes);
    let bits = match line_bits_per_s {
        ..8_000_000_000 => raw * 8 / 10,
        8_000_000_000..64_000_000_000 => raw * 128 / 130,
        _ => raw * 236 / 256,
    };
    u64::try_from(bits / 8).unwrap_or(u64::MAX)
}

/// Bytes a second of SATA and of SAS up to 12 Gb/s after encoding with 8b/10b (Serial ATA 3.x, §7.2; SAS-3,
/// §5.3): 6 Gb/s are 600 MB/s.
pub fn sata_bytes_per_s(line_bits_per_s: u64) -> u64 {
    line_bits_per_s / 10
}

/// Most bytes a second that USB carries. Up to 480 Mb/s, data and bit stuffing share one wire. 13 bulk
/// transfers of 512 bytes fit into a microframe of 125 µs (USB 2.0, §5.8.4), which is 53 MB/s. At 12 Mb/s, 19
/// packets of 64 bytes fit into a millisecond. 5 Gb/s are encoded with 8b/10b (USB 3.2, §6.3.2), faster lanes
/// with 128b/132b (§6.3.3). The kernel's `speed` counts all lanes.
pub fn usb_bytes_per_s(line_bits_per_s: u64) -> u64 {
    match line_bits_per_s {
        ..12_000_000 => line_bits_per_s / 8,
        12_000_000..480_000_000 => 19 * 64 * 1000,
        480_000_000..5_000_000_000 => 13 * 512 * 8000,
        5_000_000_000..10_000_000_000 => line_bits_per_s / 10,
        _ => line_bits_per_s / 132 * 16,
    }
}

/// The newest lines of the kernel's log about one drive or its link, up to [`Log::LINES_MAX`].
/// [`super::Counts`] says how many lines of each kind there were.
#[apply(Fact => #[serde(skip_serializing_if = "Fact::is_not_queried")])]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Log {
    /// The lines, in the order of the log.
    pub lines: Fact<Vec<LogLine>>,
}

impl Log {
    /// Most lines that are kept; older ones are only counted.
    pub const LINES_MAX: usize = 40;
}

/// What a line is about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LogKind {
    /// The drive or its link was reset.
    Reset,
    /// A command took too long.
    Timeout,
    /// A read or a write failed.
    IoError,
    /// The link had errors.
    LinkError,
    /// The link runs below its best rate.
    LinkSpeed,
    /// Heat.
    Heat,
    /// Host memory granted to the drive, or refused.
    HostMemory,
    /// The kernel applies a quirk to this model.
    Quirk,
    /// Unknown to this version.
    #[default]
    #[serde(other)]
    Other,
}

/// One line.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct LogLine {
    /// When it was logged, in seconds since the system started.
    pub at_s: f64,
    /// What the line is about.
    pub kind: LogKind,
    /// Its text.
    pub text: String,
}

/// Power-saving policies.
#[apply(Fact => #[serde(skip_serializing_if = "Fact::is_not_queried")])]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Power {
    /// The kernel's policy for PCI Express links (ASPM).
    pub aspm_policy: Fact<String>,
    /// The longest wake-up time that an NVMe drive may choose by itself (APST); 0 switches that off.
    pub wake_us_max: Fact<u64>,
    /// Policy for a SATA link: `max_performance`, `med_power_with_dipm` …
    pub link_policy: Fact<String>,
    /// Whether the device may be suspended while it is idle: `on` (never) or `auto`.
    pub runtime: Fact<String>,
}

/// A drive's space in use, block size and zones, as it reports them.
#[apply(Fact => #[serde(skip_serializing_if = "Fact::is_not_queried")])]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Space {
    /// Bytes that the drive counts as in use (NVMe's NUSE); unknown where it reports its size instead.
    pub allocated_bytes: Fact<u64>,
    /// The block size that the drive reports as faster than the one in use.
    pub better_block_bytes: Fact<u64>,
    /// Zones that must be written sequentially.
    pub zones: Zones,
}

/// Zones of a zoned drive.
#[apply(Fact => #[serde(skip_serializing_if = "Fact::is_not_queried")])]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Zones {
    /// `none`, `host-aware`, `host-managed`. A drive-managed shingled disk reports `none`.
    pub model: Fact<String>,
    /// Size of a zone in bytes.
    pub zone_bytes: Fact<u64>,
}

/// What changed between two collections of facts, drive by drive.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct FactsDelta {
    /// The drives in both collections, in the order of the later one.
    pub drives: Vec<DriveDelta>,
}

/// What changed at one drive.
#[apply(Fact => #[serde(skip_serializing_if = "Fact::is_not_queried")])]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct DriveDelta {
    /// The kernel's name.
    pub name: String,
    /// What was counted in between, including I/O of all programs.
    pub counts: Counts,
    /// Temperature before.
    pub temperature_before_c: Fact<f64>,
    /// Temperature after.
    pub temperature_after_c: Fact<f64>,
    /// Bytes a second that the link could carry before.
    pub ceiling_before_bytes_per_s: Fact<u64>,
    /// Bytes a second that it can carry after; a link that saves power may have been slower before.
    pub ceiling_after_bytes_per_s: Fact<u64>,
    /// New lines of the kernel's log.
    pub log: Vec<LogLine>,
}

impl Facts {
    /// What changed since earlier facts of the same target. A drive in only one of them is left out.
    pub fn since(&self, before: &Self) -> FactsDelta {
        let drives = self.drives.iter().filter_map(|after| {
            let earlier = before.drives.iter().find(|drive| drive.name == after.name)?;
            Some(DriveDelta::from_drives(earlier, after))
        });
        FactsDelta { drives: drives.collect() }
    }
}

impl DriveDelta {
    fn from_drives(before: &Drive, after: &Drive) -> Self {
        let lines = |drive: &Drive| drive.log.lines.value().cloned().unwrap_or_default();
        let old = lines(before);
        let log = match before.log.lines {
            // Without an earlier log, it is unknown which of the lines are new.
            Fact::Value { .. } => lines(after).into_iter().filter(|line| !old.contains(line)).collect(),
            _ => Vec::new(),
        };
        Self {
            name: after.name.clone(),
            counts: after.counts.since(&before.counts),
            temperature_before_c: before.health.temperature_c.clone(),
            temperature_after_c: after.health.temperature_c.clone(),
            ceiling_before_bytes_per_s: before.link.ceiling_bytes_per_s.clone(),
            ceiling_after_bytes_per_s: after.link.ceiling_bytes_per_s.clone(),
            log,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::LogKind;

    #[test]
    fn only_what_both_readings_know_has_a_difference() {
        let known = |value| Fact::new(value, "log");
        let before = Counts { crc_errors: known(3), power_cycles: known(9), ..Counts::default() };
        let after = Counts {
            crc_errors: known(5),
            power_cycles: known(2),
            media_errors: known(1),
            ..Counts::default()
        };
        let since = after.since(&before);
        assert_eq!((since.crc_errors.get(), since.power_cycles.get()), (Some(2), Some(2)));
        assert!(since.media_errors.reason().is_some() && since.reads.is_not_queried());
        assert_eq!(before.since(&after).media_errors, Fact::NotQueried);
        assert_eq!(since.each().filter(|(_, count)| count.value().is_some()).count(), 2);
    }

    #[test]
    fn ceilings_are_those_of_the_standards() {
        for (gigabits, lanes, megabytes) in
            [(2.5, 1, 250), (5.0, 4, 2000), (8.0, 2, 1969), (8.0, 4, 3938), (16.0, 4, 7876), (32.0, 4, 15753)]
        {
            let bytes = pcie_bytes_per_s((gigabits * 1e9) as u64, lanes);
            assert_eq!(bytes / 1_000_000, megabytes, "{gigabits} GT/s x{lanes}");
        }
        assert_eq!(pcie_bytes_per_s(u64::MAX, u32::MAX), u64::MAX);
        assert_eq!(sata_bytes_per_s(6_000_000_000), 600_000_000);
        for (megabits, bytes) in
            [(12, 1_216_000), (480, 53_248_000), (5_000, 500_000_000), (10_000, 1_212_121_200)]
        {
            assert_eq!(usb_bytes_per_s(megabits * 1_000_000), bytes);
        }
    }

    fn facts(name: &str, throttled: u64, log: &[&str]) -> Facts {
        let line = |text: &&str| LogLine { at_s: 1.0, kind: LogKind::Heat, text: (*text).to_owned() };
        let mut drive = Drive { name: name.into(), ..Drive::default() };
        drive.counts.throttled_light_s = Fact::new(throttled, "SMART log");
        drive.log.lines = Fact::new(log.iter().map(line).collect(), "/dev/kmsg");
        Facts { drives: vec![drive], ..Facts::default() }
    }

    #[test]
    fn a_phase_has_what_was_counted_and_logged_in_it() {
        let since = facts("nvme0n1", 30, &["a", "b"]).since(&facts("nvme0n1", 10, &["a"]));
        let [drive] = &since.drives[..] else { panic!("one drive") };
        assert_eq!(drive.counts.throttled_light_s.get(), Some(20));
        assert_eq!(drive.log.iter().map(|line| &*line.text).collect::<Vec<_>>(), ["b"]);
        assert_eq!(facts("sda", 1, &[]).since(&facts("sdb", 1, &[])), FactsDelta::default());
    }
}
