//! What a simulated drive reports of itself while it is open.

use likenew_core::facts::drive::Drive;
use likenew_core::facts::{
    Cloud, Counts, Database, DriveKind, Fact, Health, HostMemory, Identity, Power, Space, Zones,
};
use likenew_core::trim::TrimPath;

use super::{DRIVE, fact, link, unknown};
use crate::model::{Mechanism, Model, wear};
use crate::situations::link_standard::Bus;
use crate::situations::{FIRMWARE_WARNING, host_memory};
use crate::wording::host::{self as wording, NOT_REPORTED, ORIGIN};

/// Drives warn below this (usual for NVMe).
const SPARE_THRESHOLD_PERCENT: f64 = 10.0;
/// Bytes of a slow region per pending sector; half as many sectors were reallocated. Assumed.
const BYTES_PER_PENDING_SECTOR: u64 = 64 << 20;

/// Everything but what changes.
pub(super) fn drive(own: &Model, model: &Model, trim_path: &TrimPath) -> Drive {
    let bus = model.situations.link.or(own.link_standard).map(|link| link.bus);
    let mut drive = Drive {
        name: DRIVE.to_owned(),
        kind: DriveKind::Simulated,
        identity: identity(model, trim_path),
        link: link::link(own, model),
        power: power(model, bus),
        host_memory: host_memory(own, model),
        health: health(model, bus),
        counts: counts(model, bus),
        database: Database {
            warning: fact(model.situations.firmware.map(|_| FIRMWARE_WARNING.to_owned())),
            ..Database::default()
        },
        space: Space {
            allocated_bytes: unknown(wording::GIVES_SIZE_INSTEAD),
            zones: Zones { model: fact("none".to_owned()), ..Zones::default() },
            ..Space::default()
        },
        ..Drive::default()
    };
    if matches!(model.mechanism, Mechanism::Volume(_)) {
        drive.cloud = Some(Cloud { volume: fact(model.model.clone()), ..Cloud::default() });
    }
    drive
}

fn identity(model: &Model, trim_path: &TrimPath) -> Identity {
    let rotation_rpm = match &model.mechanism {
        Mechanism::Disk(disk) => (60e9 / disk.platters.revolution.0 as f64).round() as u32,
        Mechanism::Flash(_) | Mechanism::Volume(_) => 0,
    };
    let virtual_by = matches!(model.mechanism, Mechanism::Volume(_)).then(|| "cloud provider".to_owned());
    Identity {
        model: fact(model.model.clone()),
        capacity_bytes: fact(model.capacity_bytes),
        rotation_rpm: fact(rotation_rpm),
        virtual_by: fact(virtual_by),
        knows_trim: Fact::from_option(
            trim_path.layers.last().and_then(|layer| layer.passes),
            NOT_REPORTED,
            ORIGIN,
        ),
        ..Identity::default()
    }
}

/// Whether host and drive save power, in the words of the bus.
fn power(model: &Model, bus: Option<Bus>) -> Power {
    let wake = model.situations.wake;
    let word = |saves: &str, does_not: &str| fact(if wake.is_some() { saves } else { does_not }.to_owned());
    match bus {
        Some(Bus::Pcie) => Power {
            aspm_policy: word("powersupersave", "performance"),
            wake_us_max: fact(wake.map_or(0, |wake| wake.time.0.div_ceil(1000))),
            ..Power::default()
        },
        Some(Bus::Sata) => Power { link_policy: word("min_power", "max_performance"), ..Power::default() },
        Some(Bus::Usb) => Power { runtime: word("auto", "on"), ..Power::default() },
        None => Power::default(),
    }
}

/// Host memory that its mapping table has, of drives that can use some.
fn host_memory(own: &Model, model: &Model) -> Option<HostMemory> {
    let (Mechanism::Flash(before), Mechanism::Flash(now)) = (&own.mechanism, &model.mechanism) else {
        return None;
    };
    let host = own.mechanism.host_share()?;
    let given = host_memory::used(now.parameters.map_cache?, before.parameters.map_cache?, host);
    Some(HostMemory {
        wanted_bytes: fact(host.bytes),
        least_bytes: fact(host.bytes_least),
        given_bytes: fact(given),
        limit_bytes: Fact::from_option(model.situations.host_memory_bytes, NOT_REPORTED, ORIGIN),
    })
}

/// Why a drive's own data cannot be read, if so.
fn mute(model: &Model, bus: Option<Bus>) -> Option<&'static str> {
    match (&model.mechanism, bus) {
        (Mechanism::Volume(_), _) => Some(wording::VOLUME_WITHOUT_HEALTH),
        (_, Some(Bus::Usb)) => Some(wording::BRIDGE_HIDES_HEALTH),
        (_, None) => Some(wording::NOTHING_PASSES_HEALTH),
        (_, Some(Bus::Pcie | Bus::Sata)) => None,
    }
}

fn health(model: &Model, bus: Option<Bus>) -> Health {
    if let Some(reason) = mute(model, bus) {
        return Health {
            failing: unknown(reason),
            temperature_c: unknown(reason),
            used_percent: unknown(reason),
            spare_percent: unknown(reason),
            ..Health::default()
        };
    }
    let health = Health { failing: fact(false), warnings: fact(Vec::new()), ..Health::default() };
    match &model.mechanism {
        Mechanism::Flash(flash) => {
            let share = model.situations.wear;
            let warning = flash.parameters.thermal.map(|thermal| thermal.throttle_c);
            Health {
                used_percent: Fact::from_option(share.map(|share| 100.0 * share), NOT_REPORTED, ORIGIN),
                spare_percent: fact(share.map_or(100.0, wear::spare_percent)),
                spare_threshold_percent: fact(SPARE_THRESHOLD_PERCENT),
                temperature_warning_c: Fact::from_option(warning, NOT_REPORTED, ORIGIN),
                ..health
            }
        }
        Mechanism::Disk(_) | Mechanism::Volume(_) => {
            Health { pending_sectors: fact(pending_sectors(model)), ..health }
        }
    }
}

/// Of the ranges of a disk that are read with retries or not at all.
fn pending_sectors(model: &Model) -> u64 {
    let faults = model.faults.iter();
    let ranges = faults.flat_map(|faults| faults.slow.iter().chain(&faults.unreadable));
    ranges.map(|range| (range.end - range.start).div_ceil(BYTES_PER_PENDING_SECTOR)).sum()
}

/// The drive's own counters that do not change during a run; the others are read when they are asked for.
fn counts(model: &Model, bus: Option<Bus>) -> Counts {
    let mut counts = Counts::default();
    if mute(model, bus).is_some() {
        return counts;
    }
    if matches!(model.mechanism, Mechanism::Disk(_)) {
        counts.reallocated_sectors = fact(pending_sectors(model) / 2);
        counts.uncorrectable_sectors = fact(0);
    }
    match bus {
        Some(Bus::Sata) => counts.crc_errors = fact(0),
        Some(Bus::Pcie) => {
            counts.pcie_corrected_errors = fact(0);
            counts.pcie_uncorrected_errors = fact(0);
        }
        Some(Bus::Usb) | None => {}
    }
    counts
}
