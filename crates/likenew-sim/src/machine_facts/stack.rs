//! The layers between the host and a simulated drive, as a kernel reports them.

use likenew_core::facts::{Fact, Layer, LayerKind};
use likenew_core::trim::{self, TrimPath};

use super::{DRIVE, fact};
use crate::model::{Mechanism, Model};
use crate::situations::array;
use crate::situations::link_standard::Bus;
use crate::spec::Spec;
use crate::spec::parameters::with_cache;
use crate::wording::host::{NOT_REPORTED, ORIGIN};

/// Start of a partition that is not shifted: usual since Advanced Format.
const PARTITION_BYTES: u64 = 1 << 20;
/// The most that one TRIM covers (Linux: `discard_max_bytes` of SATA and NVMe drives is 2 GiB and more).
const DISCARD_BYTES_MAX: u64 = 2 << 30;

/// From the top.
pub(super) fn layers(spec: &Spec, own: &Model, model: &Model, trim_path: &TrimPath) -> Vec<Layer> {
    let below = bottom_up(spec, own, model, trim_path);
    let mut layers: Vec<Layer> = Vec::new();
    for layer in below {
        let on = layers.last().map(|below| below.name.clone());
        // A layer passes on no more than the one below it takes.
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
    let capacity_bytes = fact(model.capacity_bytes);
    if model.situations.array_bytes_per_s.is_some() {
        layers.push(Layer {
            name: "md0".to_owned(),
            kind: LayerKind::Array,
            capacity_bytes: capacity_bytes.clone(),
            level: fact("raid1".to_owned()),
            members_missing: fact(1),
            busy_with: fact(array::MD_ACTION.to_owned()),
            ..passing()
        });
    }
    if let Some(shift) = model.situations.shift_bytes {
        let start = PARTITION_BYTES + shift;
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

/// What is between the host and the drive itself.
fn middle_layer(model: &Model, announced: &trim::Layer) -> Layer {
    let layer = Layer {
        name: announced.kind.clone(),
        kind: LayerKind::Other,
        label: fact(announced.kind.clone()),
        capacity_bytes: fact(model.capacity_bytes),
        ..passing()
    };
    if announced.passes == Some(false) { without_trim(layer) } else { layer }
}

/// The drive as a device of the kernel.
fn bottom(spec: &Spec, own: &Model, model: &Model, announced: &trim::Layer) -> Layer {
    let bus = model.situations.link.or(own.link_standard).map(|link| link.bus);
    let (kind, write_cache, rotates) = match &model.mechanism {
        Mechanism::Volume(_) => (LayerKind::VirtualDisk, false, false),
        Mechanism::Disk(disk) => (LayerKind::Disk, with_cache(spec, *disk).write_cache_bytes > 0, true),
        Mechanism::Flash(flash) => (LayerKind::Disk, !flash.parameters.power_loss_protection, false),
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
        takes_trim: Fact::from_option(announced.passes, NOT_REPORTED, ORIGIN),
        discard_bytes_max: fact(if takes { DISCARD_BYTES_MAX } else { 0 }),
        discard_granularity_bytes: fact(if takes { model.sector_bytes.into() } else { 0 }),
        write_cache: fact(if write_cache { "write back" } else { "write through" }.to_owned()),
        rotates: fact(rotates),
        ..Layer::default()
    }
}

/// Flash hides its mapping unit.
fn physical_block_bytes(model: &Model) -> u64 {
    let sector = u64::from(model.sector_bytes);
    match &model.mechanism {
        Mechanism::Disk(disk) => sector * disk.physical_sectors,
        Mechanism::Flash(_) | Mechanism::Volume(_) => sector,
    }
}
