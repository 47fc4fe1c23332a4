//! From a model and a state to a drive.

use likenew_core::drive::{Identity, Kind};
use likenew_core::trim::{Layer as TrimLayer, TrimPath};

use crate::device::Device;
use crate::disk::disk_drive::DiskDrive;
use crate::disk::disk_parameters::DiskParameters;
use crate::facts;
use crate::faults::drive_faults::{DriveFaults, TrimDefect};
use crate::faults::faulty_device::FaultyDevice;
use crate::faults::neighbor::Neighbor;
use crate::flash::compressing_map::CompressingMap;
use crate::flash::flash_drive::FlashDrive;
use crate::flash::flash_parameters::FlashParameters;
use crate::flash::log_block::{Bast, BlockMap, Fast};
use crate::flash::page_map::PageMap;
use crate::flash::translation_layer::TranslationLayer;
use crate::host::page_cache_parameters::PageCacheParameters;
use crate::machine_facts::StaticFacts;
use crate::model::{Layer, Mechanism, Model};
use crate::sim_drive::{Origin, SimDrive};
use crate::situations;
use crate::situations::snapshot_restore::SnapshotRestore;
use crate::snapshot_error::SnapshotError;
use crate::spec::Spec;
use crate::spec::parameters::{OVERWRITE_BYTES, faults, past, with_cache, with_trim};
use crate::stamps::stamp_keeper::StampKeeper;
use crate::state::{self, DriveTreatment, State};
use crate::volume::network_volume::NetworkVolume;
use crate::volume::volume_parameters::VolumeParameters;
use crate::wording::host as wording;

/// Makes the drive of a spec from its file, with the past in the spec, or as it was saved.
///
/// # Errors
/// The saved state is not of such a drive.
pub(crate) fn drive(
    spec: &Spec,
    model: &Model,
    text: String,
    saved: Option<&[u8]>,
) -> Result<SimDrive, SnapshotError> {
    let own = model;
    let model = &spec.in_situation(own);
    let faults = faults(spec, model);
    let (device, trims) = match &faults {
        None => {
            let (inner, trims) = mechanism_with_situations(spec, model, saved)?;
            (with_stamps(inner, spec.data, trims), trims)
        }
        Some(faults) => {
            let saved_state = saved.map(FaultyDevice::unpack).transpose()?;
            let (inner, trims) = mechanism_with_situations(
                spec,
                model,
                saved_state.as_ref().map(|saved| saved.inner.as_slice()),
            )?;
            let inner = with_neighbor(inner, faults, model);
            let inner = with_stamps(inner, spec.data, trims);
            let device: Box<dyn Device> =
                Box::new(FaultyDevice::new(faults.clone(), inner, saved_state.as_ref()));
            (device, trims)
        }
    };
    let device = situations::wrap_above(&model.situations, device, model.capacity_bytes);
    let identity = Identity {
        name: spec.text.clone(),
        kind: Kind::Simulated,
        model: Some(model.model.clone()),
        engine: "simulation".into(),
        capacity_bytes: model.capacity_bytes,
        block_bytes: model.sector_bytes,
        facts: facts::facts(spec, model),
        caveats: vec![facts::caveat(model)],
        accounting: None,
    };
    let carries_data = spec.data || device.keeps_data();
    let host = PageCacheParameters::default();
    let host = spec.memory.map_or(host, |bytes| host.with_bytes(bytes));
    let origin = Origin { spec: spec.text.clone(), text };
    let trim_path = trim_path(model, trims);
    let static_facts = spec.facts.then(|| StaticFacts::new(spec, own, model, &trim_path));
    let drive = SimDrive::new(identity, trim_path, static_facts, carries_data, device, host, origin);
    Ok(drive.with_free(spec.free(model.capacity_bytes)))
}

/// A mechanism that also serves another program, if that is one of the faults.
fn with_neighbor(mechanism: Box<dyn Device>, faults: &DriveFaults, model: &Model) -> Box<dyn Device> {
    let Some(neighbor) = faults.neighbor else { return mechanism };
    let capacity = faults.real_capacity_bytes.unwrap_or(model.capacity_bytes);
    Box::new(Neighbor::new(neighbor, mechanism, capacity))
}

/// What the drive reports of TRIM, and what is between it and the host.
fn trim_path(model: &Model, trims: bool) -> TrimPath {
    let layer = |kind: &str, passes, evidence: &str| TrimLayer {
        name: model.model.clone(),
        kind: kind.to_owned(),
        passes: Some(passes),
        discard_max_bytes: None,
        granularity_bytes: None,
        evidence: evidence.to_owned(),
        remedy: None,
    };
    let between = model.faults.as_ref().and_then(|faults| faults.trim).map(|defect| match defect {
        TrimDefect::Hidden => TrimLayer {
            remedy: Some(wording::CONNECT_WITHOUT_BRIDGE.to_owned()),
            ..layer("bridge", false, wording::BRIDGE_HIDES_TRIM)
        },
        TrimDefect::Dropped => layer("bridge", true, wording::ANNOUNCES_TRIM),
    });
    let says = if trims { wording::ANNOUNCES_TRIM } else { wording::ANNOUNCES_NO_TRIM };
    let kind = if matches!(model.mechanism, Mechanism::Volume(_)) { "volume" } else { "drive" };
    let crypt = model
        .situations
        .crypt
        .map(|_| TrimLayer { name: "dm-0".to_owned(), ..layer("dm-crypt", true, wording::ALLOWS_DISCARDS) });
    let layers = crypt.into_iter().chain(between).chain([layer(kind, trims, says)]).collect();
    let rotates = Some(matches!(model.mechanism, Mechanism::Disk(_)));
    TrimPath { layers, immediate: None, rotates, medium_bytes: Some(model.capacity_bytes) }
}

/// A mechanism that keeps no data remembers stamps at least.
fn with_stamps(mechanism: Box<dyn Device>, keeps_data: bool, trims: bool) -> Box<dyn Device> {
    if keeps_data || mechanism.keeps_data() {
        return mechanism;
    }
    Box::new(StampKeeper::new(mechanism, trims))
}

/// The mechanism and the layers right around it.
fn mechanism_with_situations(
    spec: &Spec,
    model: &Model,
    saved: Option<&[u8]>,
) -> Result<(Box<dyn Device>, bool), SnapshotError> {
    let is_restored = model.situations.from_snapshot == Some(true);
    let from_snapshot = saved.filter(|_| is_restored).map(SnapshotRestore::unpack).transpose()?;
    let saved = from_snapshot.as_ref().map_or(saved, |from_snapshot| Some(&from_snapshot.inner));
    let (inner, trims) = mechanism(spec, model, saved)?;
    let capacity = model.faults.as_ref().and_then(|faults| faults.real_capacity_bytes);
    let capacity = capacity.unwrap_or(model.capacity_bytes);
    Ok((situations::wrap_below(&model.situations, inner, capacity, from_snapshot.as_ref()), trims))
}

/// The mechanism without its faults, and whether TRIM does anything.
fn mechanism(
    spec: &Spec,
    model: &Model,
    saved: Option<&[u8]>,
) -> Result<(Box<dyn Device>, bool), SnapshotError> {
    Ok(match &model.mechanism {
        Mechanism::Flash(flash) => {
            let parameters = with_trim(spec, flash.parameters);
            (flash_device(flash.layer, parameters, past(spec, flash), saved)?, parameters.trim.works())
        }
        Mechanism::Disk(parameters) => {
            let parameters = with_cache(spec, *parameters);
            let disk = match saved {
                None => disk_with_past(parameters, spec, model),
                Some(state) => DiskDrive::restore(parameters, state)?,
            };
            (Box::new(disk), false)
        }
        Mechanism::Volume(parameters) => {
            let parameters = VolumeParameters { trims: spec.trim.unwrap_or(parameters.trims), ..*parameters };
            let volume = match saved {
                None => NetworkVolume::new(parameters, spec.state == State::New, model.sector_bytes),
                Some(state) => NetworkVolume::restore(parameters, model.sector_bytes, state)?,
            };
            (Box::new(volume), parameters.trims)
        }
    })
}

/// A flash drive around its translation layer, with its past or as it was saved.
fn flash_device(
    layer: Layer,
    parameters: FlashParameters,
    past: DriveTreatment,
    saved: Option<&[u8]>,
) -> Result<Box<dyn Device>, SnapshotError> {
    match layer {
        Layer::Page(page) => wrap_mechanism(|| PageMap::new(page), parameters, past, saved),
        Layer::Compressing(map) => wrap_mechanism(|| CompressingMap::new(map), parameters, past, saved),
        Layer::Block(block) => wrap_mechanism(|| BlockMap::new(block), parameters, past, saved),
        Layer::Bast(bast) => wrap_mechanism(|| Bast::new(bast), parameters, past, saved),
        Layer::Fast(fast) => wrap_mechanism(|| Fast::new(fast), parameters, past, saved),
    }
}

fn wrap_mechanism<L: TranslationLayer + 'static>(
    new: impl FnOnce() -> L,
    parameters: FlashParameters,
    past: DriveTreatment,
    saved: Option<&[u8]>,
) -> Result<Box<dyn Device>, SnapshotError> {
    Ok(match saved {
        None => Box::new(FlashDrive::new(parameters, state::make(new(), parameters.nand.dies(), past))),
        Some(state) => Box::new(FlashDrive::<L>::restore(parameters, state)?),
    })
}

fn disk_with_past(parameters: DiskParameters, spec: &Spec, model: &Model) -> DiskDrive {
    let mut disk = DiskDrive::new(parameters);
    if let (State::Used, Some(shingles)) = (spec.state, disk.shingles_mut()) {
        let sector = u64::from(model.sector_bytes);
        let span = (model.capacity_bytes as f64 * spec.fill.unwrap_or(1.0)) as u64 / sector;
        shingles.overwrite_at_random(span, OVERWRITE_BYTES / sector);
    }
    disk
}
