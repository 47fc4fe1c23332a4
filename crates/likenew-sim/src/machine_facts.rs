//! What a machine would report about a simulated drive, the layers above it and other I/O. What no machine
//! could know stays hidden: a counterfeit drive reports its pretended capacity, a drive-managed shingled disk
//! does not identify itself, and no internals show.

use std::ops::Range;

use likenew_core::facts::drive::Drive;
use likenew_core::facts::{
    Cloud, Counts, Database, DriveKind, Fact, Facts, FileSystem, Files, Health, Hop, HostMemory, Identity,
    Layer, LayerKind, Link, Machine, Power, Space, Trimming, Zones,
};
use likenew_core::probe::{self, TrimPath};
use likenew_core::units::Nanos;

use crate::model::in_situation::spare_percent;
use crate::model::{Mechanism, Model};
use crate::situations::link_standard::{Bus, LinkStandard};
use crate::situations::{ARRAY_ACTION, FIRMWARE_WARNING, PARTITION_ALIGNMENT, host_memory_used};
use crate::spec::{Spec, with_cache};
use crate::truth::trims_nothing;
use crate::wording;
use crate::wording::{LINK_WITHOUT_STANDARD, NOT_REPORTED, ORIGIN};

/// The name of the drive's own layer.
const DRIVE: &str = "drive";

/// A fact that the drive reports.
pub(crate) fn fact<T>(value: T) -> Fact<T> {
    Fact::new(value, ORIGIN)
}

/// A fact that the drive may report.
pub(crate) fn reported<T>(value: Option<T>) -> Fact<T> {
    Fact::from_option(value, NOT_REPORTED, ORIGIN)
}

fn unknown<T>(reason: &str) -> Fact<T> {
    Fact::unknown(reason, ORIGIN)
}

/// Facts that do not change while the drive is open. In this module, `own` is the drive's model as in its
/// file, and `model` the same with its situations.
pub(crate) struct StaticFacts {
    pub(crate) facts: Facts,
    /// Age of the oldest data when the drive was opened.
    pub(crate) age: Nanos,
}

impl StaticFacts {
    pub(crate) fn new(spec: &Spec, own: &Model, model: &Model, trim_path: &TrimPath) -> Self {
        let facts = Facts {
            machine: machine(model),
            stack: layers(spec, own, model, trim_path),
            file_system: Some(file_system(spec, model)),
            drives: vec![drive(own, model, trim_path)],
            files: Some(files(model)),
            reported: None,
        };
        Self { facts, age: spec.age }
    }
}

fn machine(model: &Model) -> Machine {
    let is_volume = matches!(model.mechanism, Mechanism::Volume(_));
    let guest = model.situations.hypervisor_cache.map(|_| "KVM");
    Machine {
        root: fact(true),
        container: fact(None),
        virtual_machine: fact(guest.or(is_volume.then_some("cloud VM")).map(str::to_owned)),
        ..Machine::default()
    }
}

/// Used space is known only if the target specifies how much of the drive holds data.
fn file_system(spec: &Spec, model: &Model) -> FileSystem {
    let is_known = spec.fill.is_some() || spec.deleted > 0.0 || spec.state == crate::State::New;
    let Range { start, end } = model.situations.addresses(model.capacity_bytes);
    let total = end - start;
    let used_bytes = ((model.capacity_bytes as f64 * spec.in_use()) as u64).saturating_sub(start);
    let used = is_known.then_some(used_bytes);
    let silent = wording::USED_SPACE_NOT_REPORTED;
    let to_fact = |amount: Option<u64>| Fact::from_option(amount, silent, ORIGIN);
    FileSystem {
        point: "/simulated".to_owned(),
        kind: fact("simulated".to_owned()),
        total_bytes: fact(total),
        used_bytes: to_fact(used),
        free_bytes: to_fact(used.map(|used| total - used)),
        used_percent: Fact::from_option(used.map(|used| 100.0 * used as f64 / total as f64), silent, ORIGIN),
        trimming: Trimming {
            immediate: fact(match &model.mechanism {
                Mechanism::Flash(flash) => !trims_nothing(spec, flash),
                Mechanism::Disk(_) | Mechanism::Volume(_) => true,
            }),
            timer_enabled: fact(false),
            ..Trimming::default()
        },
        compresses: fact(false),
        ..FileSystem::default()
    }
}

/// The whole target as one file. Its age is added when facts are requested.
fn files(model: &Model) -> Files {
    let Range { start, end } = model.situations.addresses(model.capacity_bytes);
    let pieces = model.situations.fragment_bytes.map_or(1, |bytes| (end - start).div_ceil(bytes));
    let mib = (end - start) as f64 / f64::from(1 << 20);
    Files {
        files: fact(1),
        bytes: fact(end - start),
        is_part: fact(false),
        files_mapped: fact(1),
        extents_per_mib: fact((pieces - 1) as f64 / mib),
        extents_max: fact(pieces),
        ..Files::default()
    }
}

/// The present link of the drive, and the drive's own.
fn link(own: &Model, model: &Model) -> Link {
    let parameters = model.mechanism.link();
    let queue_depth = fact(parameters.command_slots.into());
    let Some(now) = model.situations.link.or(own.link_standard) else {
        // For a link without a standard, only the queue depth is known.
        return Link { bus: unknown(LINK_WITHOUT_STANDARD), queue_depth, ..Link::default() };
    };
    let best = best(now, own.link_standard);
    Link {
        bus: fact(now.bus.name().to_owned()),
        driver: fact(driver(now).to_owned()),
        hops: vec![hop(DRIVE, "the drive", now, best), hop("port", "the port above", now, best)],
        ceiling_bytes_per_s: fact(now.ceiling_bytes_per_s()),
        possible_bytes_per_s: fact(now.ceiling_bytes_per_s().max(best.ceiling_bytes_per_s())),
        queue_depth,
        queues: Fact::NotQueried,
    }
}

/// The best link that drive and port support. A USB bridge hides the drive's own link. It supports 5 Gb/s at
/// least (assumed), unless the drive itself has USB 2.0.
fn best(now: LinkStandard, own: Option<LinkStandard>) -> LinkStandard {
    match own {
        Some(own) if own.bus == now.bus => own,
        _ if now.bus == Bus::Usb && now.line_bits_per_s < 5_000_000_000 => {
            LinkStandard::by_name("usb3.0").expect("it is one of the names")
        }
        _ => now,
    }
}

fn driver(link: LinkStandard) -> &'static str {
    match (link.bus, link.one_command) {
        (Bus::Pcie, _) => "nvme",
        (Bus::Sata, _) => "ahci",
        (Bus::Usb, true) => "usb-storage",
        (Bus::Usb, false) => "uas",
    }
}

fn hop(name: &str, kind: &str, now: LinkStandard, best: LinkStandard) -> Hop {
    Hop {
        name: name.to_owned(),
        kind: kind.to_owned(),
        line_bits_per_s: fact(now.line_bits_per_s),
        line_bits_per_s_max: fact(best.line_bits_per_s.max(now.line_bits_per_s)),
        lanes: fact(now.lanes),
        lanes_max: fact(best.lanes.max(now.lanes)),
        bytes_per_s: fact(now.ceiling_bytes_per_s()),
        bytes_per_s_max: fact(best.ceiling_bytes_per_s().max(now.ceiling_bytes_per_s())),
    }
}

/// Remaining spare, in percent, below which drives warn (usual for NVMe).
const SPARE_THRESHOLD_PERCENT: f64 = 10.0;
/// Bytes of a slow region per pending sector. Half as many sectors were reallocated. Assumed.
const BYTES_PER_PENDING_SECTOR: u64 = 64 << 20;

/// The facts of the drive that do not change.
fn drive(own: &Model, model: &Model, trim_path: &TrimPath) -> Drive {
    let bus = model.situations.link.or(own.link_standard).map(|link| link.bus);
    let mut drive = Drive {
        name: DRIVE.to_owned(),
        kind: DriveKind::Simulated,
        identity: identity(model, trim_path),
        link: link(own, model),
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
    let guest = model.situations.hypervisor_cache.map(|_| "virtio");
    let volume = matches!(model.mechanism, Mechanism::Volume(_)).then_some("cloud provider");
    let virtual_by = guest.or(volume).map(str::to_owned);
    Identity {
        model: fact(model.model.clone()),
        capacity_bytes: fact(model.capacity_bytes),
        rotation_rpm: fact(rotation_rpm),
        virtual_by: fact(virtual_by),
        knows_trim: reported(trim_path.layers.last().and_then(|layer| layer.passes)),
        ..Identity::default()
    }
}

/// Power saving of host and drive, in the terms of the bus.
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

/// The host memory buffer for the mapping table, on drives that can use one.
fn host_memory(own: &Model, model: &Model) -> Option<HostMemory> {
    let (Mechanism::Flash(before), Mechanism::Flash(now)) = (&own.mechanism, &model.mechanism) else {
        return None;
    };
    let host = own.mechanism.host_share()?;
    let given = host_memory_used(now.parameters.map_cache?, before.parameters.map_cache?, host);
    Some(HostMemory {
        wanted_bytes: fact(host.bytes),
        least_bytes: fact(host.bytes_least),
        given_bytes: fact(given),
        limit_bytes: reported(model.situations.host_memory_bytes),
    })
}

/// Why the drive's health data cannot be read, if so.
fn hidden_health_reason(model: &Model, bus: Option<Bus>) -> Option<&'static str> {
    match (&model.mechanism, bus) {
        (Mechanism::Volume(_), _) => Some(wording::VOLUME_WITHOUT_HEALTH),
        (_, Some(Bus::Usb)) => Some(wording::BRIDGE_HIDES_HEALTH),
        (_, None) => Some(wording::NOTHING_PASSES_HEALTH),
        (_, Some(Bus::Pcie | Bus::Sata)) => None,
    }
}

fn health(model: &Model, bus: Option<Bus>) -> Health {
    if let Some(reason) = hidden_health_reason(model, bus) {
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
                used_percent: reported(share.map(|share| 100.0 * share)),
                spare_percent: fact(share.map_or(100.0, spare_percent)),
                spare_threshold_percent: fact(SPARE_THRESHOLD_PERCENT),
                temperature_warning_c: reported(warning),
                ..health
            }
        }
        Mechanism::Disk(_) | Mechanism::Volume(_) => {
            Health { pending_sectors: fact(pending_sectors(model)), ..health }
        }
    }
}

/// Pending sectors of a disk, from the ranges that need retries or cannot be read.
fn pending_sectors(model: &Model) -> u64 {
    let faults = model.faults.iter();
    let ranges = faults.flat_map(|faults| faults.slow.iter().chain(&faults.unreadable));
    ranges.map(|range| (range.end - range.start).div_ceil(BYTES_PER_PENDING_SECTOR)).sum()
}

/// The drive's counters that stay constant during a run. The others are read on request.
fn counts(model: &Model, bus: Option<Bus>) -> Counts {
    let mut counts = Counts::default();
    if hidden_health_reason(model, bus).is_some() {
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

/// The most bytes per TRIM (Linux: `discard_max_bytes` of SATA and NVMe drives is 2 GiB and more).
const DISCARD_BYTES_MAX: u64 = 2 << 30;

/// The layers, from top to bottom.
fn layers(spec: &Spec, own: &Model, model: &Model, trim_path: &TrimPath) -> Vec<Layer> {
    let below = bottom_up(spec, own, model, trim_path);
    let mut layers: Vec<Layer> = Vec::new();
    for layer in below {
        let on = layers.last().map(|below| below.name.clone());
        // A layer cannot take TRIM if the one below does not.
        let blocked = layers.last().is_some_and(|below| below.takes_trim.value() == Some(&false));
        let layer = Layer { on: on.into_iter().collect(), ..layer };
        layers.push(if blocked { without_trim(layer) } else { layer });
    }
    layers.reverse();
    layers
}

fn bottom_up(spec: &Spec, own: &Model, model: &Model, trim_path: &TrimPath) -> Vec<Layer> {
    let announced = trim_path.layers.iter().rev().filter(|layer| layer.kind != "dm-crypt");
    let mut layers: Vec<Layer> = announced
        .enumerate()
        .map(|(at, announced)| match at {
            0 => bottom(spec, own, model, announced),
            _ => middle_layer(model, announced),
        })
        .collect();
    if model.situations.array_bytes_per_s.is_some() {
        layers.push(Layer {
            name: "md0".to_owned(),
            kind: LayerKind::Array,
            capacity_bytes: fact(model.capacity_bytes),
            level: fact("raid1".to_owned()),
            members_missing: fact(1),
            busy_with: fact(ARRAY_ACTION.to_owned()),
            ..passing()
        });
    }
    let addresses = model.situations.addresses(model.capacity_bytes);
    let capacity_bytes = fact(addresses.end - addresses.start);
    let shift = model.situations.shift_bytes;
    if shift.is_some() || addresses.start > 0 {
        let start = addresses.start.max(PARTITION_ALIGNMENT) + shift.unwrap_or(0);
        let physical = physical_block_bytes(model);
        let offset = (physical - start % physical) % physical;
        layers.push(Layer {
            name: format!("{DRIVE}1"),
            kind: LayerKind::Partition,
            capacity_bytes: capacity_bytes.clone(),
            start_bytes: fact(start),
            alignment_offset_bytes: fact(i64::try_from(offset).expect("less than a block")),
            ..passing()
        });
    }
    if model.situations.crypt.is_some() {
        layers.push(Layer {
            name: "dm-0".to_owned(),
            kind: LayerKind::Crypt,
            capacity_bytes,
            options: fact(vec!["allow_discards".to_owned()]),
            ..passing()
        });
    }
    layers
}

fn passing() -> Layer {
    Layer { takes_trim: fact(true), discard_bytes_max: fact(DISCARD_BYTES_MAX), ..Layer::default() }
}

fn without_trim(layer: Layer) -> Layer {
    Layer { takes_trim: fact(false), discard_bytes_max: fact(0), ..layer }
}

/// A layer between the host and the drive.
fn middle_layer(model: &Model, announced: &probe::Layer) -> Layer {
    let layer = Layer {
        name: announced.kind.clone(),
        kind: LayerKind::Other,
        label: fact(announced.kind.clone()),
        capacity_bytes: fact(model.capacity_bytes),
        ..passing()
    };
    if announced.passes == Some(false) { without_trim(layer) } else { layer }
}

/// The drive as a block device of the kernel.
fn bottom(spec: &Spec, own: &Model, model: &Model, announced: &probe::Layer) -> Layer {
    let bus = model.situations.link.or(own.link_standard).map(|link| link.bus);
    let (kind, write_cache, rotates) = match &model.mechanism {
        // A hypervisor presents its cache as the disk's own.
        _ if model.situations.hypervisor_cache.is_some() => (LayerKind::VirtualDisk, true, false),
        Mechanism::Volume(_) => (LayerKind::VirtualDisk, false, false),
        Mechanism::Disk(disk) => (LayerKind::Disk, with_cache(spec, *disk).cache.write_cache_bytes > 0, true),
        Mechanism::Flash(flash) => (LayerKind::Disk, !flash.parameters.firmware.power_loss_protection, false),
    };
    let takes = announced.passes.unwrap_or(false);
    Layer {
        name: DRIVE.to_owned(),
        kind: if bus == Some(Bus::Usb) { LayerKind::UsbDisk } else { kind },
        label: fact(announced.kind.clone()),
        capacity_bytes: fact(model.capacity_bytes),
        alignment_offset_bytes: fact(0),
        logical_block_bytes: fact(model.sector_bytes.into()),
        physical_block_bytes: fact(physical_block_bytes(model)),
        takes_trim: reported(announced.passes),
        discard_bytes_max: fact(if takes { DISCARD_BYTES_MAX } else { 0 }),
        discard_granularity_bytes: fact(if takes { model.sector_bytes.into() } else { 0 }),
        write_cache: fact(if write_cache { "write back" } else { "write through" }.to_owned()),
        rotates: fact(rotates),
        ..Layer::default()
    }
}

/// Bytes of a physical block. Flash does not report its mapping unit.
fn physical_block_bytes(model: &Model) -> u64 {
    let sector = u64::from(model.sector_bytes);
    match &model.mechanism {
        Mechanism::Disk(disk) => sector * disk.physical_sectors,
        Mechanism::Flash(_) | Mechanism::Volume(_) => sector,
    }
}
