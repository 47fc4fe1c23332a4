//! From a spec to its model, its explanation and its drive. Open this to see in which order the layers of a
//! drive are put together.

use std::io;
use std::path::Path;

use likenew_core::drive::{Identity, TargetKind};
use likenew_core::probe::{Layer as TrimLayer, TrimPath};

use crate::catalog::{Entry, catalog, names_of};
use crate::device::{Device, SavedLayer, SnapshotError};
use crate::disk::{DiskDrive, DiskParameters};
use crate::drive_file::replace_values;
use crate::error::{FileError, SettingError, SimError};
use crate::explain::Explanation;
use crate::faults::neighbor::Neighbor;
use crate::faults::{FaultyDevice, TrimDefect};
use crate::flash::FlashParameters;
use crate::flash::compressing_map::CompressingMap;
use crate::flash::drive::FlashDrive;
use crate::flash::log_block::{Bast, BlockMap, Fast};
use crate::flash::page_map::PageMap;
use crate::flash::translation_layer::TranslationLayer;
use crate::generator::{GeneratedDrive, generate};
use crate::host::MEMORY_BYTES;
use crate::machine_facts::StaticFacts;
use crate::memory::reserve;
use crate::model::{Layer, Mechanism, Model};
use crate::sim_drive::{Origin, SimDrive};
use crate::spec::{OVERWRITE_BYTES, Spec, SpecName, faults, past, with_cache, with_trim};
use crate::stamps::StampKeeper;
use crate::state::{DriveTreatment, State};
use crate::truth::{causes, inside};
use crate::volume::{NetworkVolume, VolumeParameters};
use crate::{explain, facts, situations, snapshot, state, wording};

/// Where a drive comes from.
struct Source {
    /// The file's name, for messages.
    file: String,
    /// The file's text.
    text: String,
    /// The model in the file.
    model: Model,
    /// For a saved drive: the spec that it was made from, and its packed state.
    saved: Option<(String, Vec<u8>)>,
}

impl Spec {
    /// Reads the drive's file, and the state of a saved drive.
    ///
    /// # Errors
    /// A file cannot be read or is invalid.
    fn source(&self, read_file: impl Fn(&Path) -> io::Result<Vec<u8>>) -> Result<Source, SimError> {
        let source = |file: String, text: String| {
            Model::parse(&file, &text).map(|model| Source { file, text, model, saved: None })
        };
        match &self.drive {
            SpecName::Catalog(name) => {
                let Entry { text, model, .. } = entry(name);
                let (file, text, model) = (format!("{name}.toml"), (*text).to_owned(), model.clone());
                Ok(Source { file, text, model, saved: None })
            }
            SpecName::Generated(seed) => {
                let GeneratedDrive { name, file, .. } = generate(*seed);
                source(format!("{name}.toml"), file)
            }
            SpecName::File(path) => source(path.display().to_string(), read_text(path, read_file)?),
            SpecName::Snapshot(path) => {
                let bytes = read(path, read_file)?;
                let (header, state) = snapshot::read_header(&bytes).map_err(read_error(path))?;
                let saved = Some((header.spec, state.to_vec()));
                Ok(Source { saved, ..source(path.display().to_string(), header.text)? })
            }
        }
    }

    /// The model in the drive's file. `read_file` reads a file that is not in the catalog.
    ///
    /// # Errors
    /// The file cannot be read or is invalid.
    pub fn model(&self, read_file: impl Fn(&Path) -> io::Result<Vec<u8>>) -> Result<Model, SimError> {
        Ok(self.source(read_file)?.model)
    }

    /// Bytes of the target: all of the drive, or of its partition.
    ///
    /// # Errors
    /// The same as for [`model`](Self::model).
    pub fn capacity_bytes(&self, read_file: impl Fn(&Path) -> io::Result<Vec<u8>>) -> Result<u64, SimError> {
        let Source { model, saved, .. } = self.source(read_file)?;
        let made = saved.map(|(spec, _)| Self::parse(&spec)).transpose()?;
        let situations = made.as_ref().unwrap_or(self).situations.merge_with(&model.situations);
        let addresses = situations.addresses(model.capacity_bytes);
        Ok(addresses.end - addresses.start)
    }

    /// Explains the drive without making it.
    ///
    /// # Errors
    /// The same as for [`model`](Self::model).
    pub fn explain(&self, read_file: impl Fn(&Path) -> io::Result<Vec<u8>>) -> Result<Explanation, SimError> {
        let Source { model, saved, .. } = self.source(read_file)?;
        // The spec that a saved drive was made from describes its history.
        let made = match saved {
            Some((spec, _)) => Self { text: self.text.clone(), ..Self::parse(&spec)? },
            None => {
                self.check_settings(&model)?;
                self.clone()
            }
        };
        let explanation = explain::explain(&made, &model);
        Ok(Explanation { inside: inside(&made, &model), causes: causes(&made, &model), ..explanation })
    }

    /// Makes the drive in its state, without advancing its clock. Large used drives take seconds.
    ///
    /// # Errors
    /// The same as for [`model`](Self::model), or a setting has no effect on this drive.
    pub fn open(&self, read_file: impl Fn(&Path) -> io::Result<Vec<u8>>) -> Result<SimDrive, SimError> {
        self.open_unless(read_file, &|| false)
    }

    /// Like [`open`](Self::open), but checks from time to time whether it should stop.
    ///
    /// # Errors
    /// The same as for [`open`](Self::open), or it was stopped.
    pub fn open_unless(
        &self,
        read_file: impl Fn(&Path) -> io::Result<Vec<u8>>,
        is_stopped: &dyn Fn() -> bool,
    ) -> Result<SimDrive, SimError> {
        let Source { text, model, saved, file } = self.source(read_file)?;
        let Some((spec, state)) = saved else { return self.new_drive(&model, text, is_stopped) };
        let made = Self::parse(&spec)?;
        // Faults that change bytes can make the mechanism keep data, too.
        let keeps_data = made.data || faults(&made, &model).is_some();
        let most = snapshot::state_bytes_max(&model, keeps_data);
        let drive = snapshot::read_state(&state, most)
            .and_then(|state| make_drive(&made, &model, text, Some(&state), is_stopped))
            .map_err(read_error(Path::new(&file)))?;
        Ok(drive.with_name(&self.text))
    }

    /// Like [`open`](Self::open), but replaces values in the drive's file, such as `("nand.program_ns",
    /// "800000")`. Each value is checked like one in the file, its range included.
    ///
    /// # Errors
    /// The same as for [`open`](Self::open), the file has no such key, or the drive is a saved one.
    pub fn open_with(
        &self,
        values: &[(&str, &str)],
        read_file: impl Fn(&Path) -> io::Result<Vec<u8>>,
    ) -> Result<SimDrive, SimError> {
        let (file, text) = self.text(read_file)?;
        let text = replace_values(&file, &text, values)?;
        let model = Model::parse(&file, &text)?;
        self.new_drive(&model, text, &|| false)
    }

    /// Name and text of the drive's file; a generated drive's file is made here.
    ///
    /// # Errors
    /// The file cannot be read or is invalid, or the drive is a saved one.
    pub fn text(
        &self,
        read_file: impl Fn(&Path) -> io::Result<Vec<u8>>,
    ) -> Result<(String, String), SimError> {
        if matches!(self.drive, SpecName::Snapshot(_)) {
            return Err(self.refuse(SettingError::ValueOfSavedDrive));
        }
        let Source { file, text, .. } = self.source(read_file)?;
        Ok((file, text))
    }

    /// Refuses settings that have no effect on this drive.
    fn check_settings(&self, model: &Model) -> Result<(), SimError> {
        model.check_situations(&self.situations).map_err(|error| self.refuse(error.into()))?;
        self.impossible(model).map_or(Ok(()), |error| Err(self.refuse(error)))
    }

    fn refuse(&self, reason: SettingError) -> SimError {
        SimError::Spec { text: self.text.clone(), reason: reason.to_string() }
    }

    /// Why a setting has no effect on this drive, if one has none.
    fn impossible(&self, model: &Model) -> Option<SettingError> {
        // Name every field, so that a new setting is not forgotten here. Fields with `_` apply to every
        // drive.
        let Self { text: _, drive: _, state: _, fill: _, deleted: _, trim, age: _, data: _, cache, .. } =
            self;
        let Self { memory: _, busy: _, outliers: _, throttle: _, situations: _, facts: _, .. } = self;
        let (model, mechanism) = (model.model.clone(), &model.mechanism);
        let others = |which: fn(&Mechanism) -> bool| names_of(|model| which(&model.mechanism)).join(", ");
        if cache.is_some() && !mechanism.can_switch_write_cache() {
            let others = others(Mechanism::can_switch_write_cache);
            return Some(SettingError::NoWriteCache { model, others });
        }
        if trim.is_some() && !mechanism.can_trim() {
            return Some(SettingError::NoTrim { model });
        }
        if self.types("age") && !mechanism.ages() {
            let others = others(Mechanism::ages);
            return Some(SettingError::DoesNotAge { model, others });
        }
        (self.types("age") && self.filled_share() == 0.0).then_some(SettingError::AgeWithoutData)
    }

    /// Whether the user typed this setting; generated drives have settings of their own.
    fn types(&self, key: &str) -> bool {
        let query = self.text.split_once('?').map_or("", |(_, query)| query);
        query.split('&').any(|setting| setting.split('=').next() == Some(key))
    }

    /// Makes a drive with its history.
    fn new_drive(
        &self,
        model: &Model,
        text: String,
        is_stopped: &dyn Fn() -> bool,
    ) -> Result<SimDrive, SimError> {
        self.check_settings(model)?;
        self.check_memory(model)?;
        let drive = make_drive(self, model, text, None, is_stopped);
        let drive = drive.expect("only a saved state can be refused");
        if is_stopped() { Err(SimError::Stopped) } else { Ok(drive) }
    }
}

impl Spec {
    /// Refuses a drive that needs more memory than the process can get, before its tables are made.
    fn check_memory(&self, model: &Model) -> Result<(), SimError> {
        let Mechanism::Flash(flash) = &model.mechanism else { return Ok(()) };
        let (user, physical) = match flash.layer {
            Layer::Page(page) => (page.flash.user_pages.into(), page.flash.pages()),
            _ => (model.capacity_bytes / PAGE_BYTES, model.capacity_bytes / PAGE_BYTES),
        };
        let tables = [user, physical].map(|pages: u64| pages * size_of::<u32>() as u64);
        let others = ((tables[0] + tables[1]) as f64 * OTHER_MEMORY) as u64;
        reserve(&[tables[0], tables[1], others]).map_err(|source| {
            let bytes = tables[0] + tables[1] + others;
            SimError::Memory { text: self.text.clone(), bytes, source }
        })
    }
}

/// Bytes per page on most drives.
const PAGE_BYTES: u64 = 4096;
/// Memory besides the two mapping tables, as a share of theirs. Measured: 0.3 on used drives of 80 GB and 1 TB.
const OTHER_MEMORY: f64 = 0.3;

fn entry(name: &str) -> &'static Entry {
    let entry = catalog().iter().find(|entry| entry.name == name);
    entry.expect("the name was looked up when the spec was read")
}

fn read(path: &Path, read_file: impl Fn(&Path) -> io::Result<Vec<u8>>) -> Result<Vec<u8>, SimError> {
    read_file(path).map_err(|source| SimError::Read { path: path.to_owned(), source })
}

fn read_text(path: &Path, read_file: impl Fn(&Path) -> io::Result<Vec<u8>>) -> Result<String, SimError> {
    String::from_utf8(read(path, read_file)?).map_err(|error| {
        let good = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = 1 + good.iter().filter(|byte| **byte == b'\n').count();
        SimError::Catalog { file: path.display().to_string(), line, reason: FileError::NotText.to_string() }
    })
}

fn read_error(path: &Path) -> impl Fn(SnapshotError) -> SimError + '_ {
    move |reason| SimError::Snapshot { path: path.to_owned(), reason: reason.to_string() }
}

/// Makes a drive from its spec and file, with the history in the spec or a saved state.
///
/// # Errors
/// The saved state does not fit the drive.
fn make_drive(
    spec: &Spec,
    model: &Model,
    text: String,
    saved: Option<&[u8]>,
    is_stopped: &dyn Fn() -> bool,
) -> Result<SimDrive, SnapshotError> {
    let own = model;
    let model = &spec.in_situation(own);
    let faults = faults(spec, model);
    let faulty = saved.filter(|_| faults.is_some()).map(SavedLayer::unpack).transpose()?;
    let saved = faulty.as_ref().map_or(saved, |faulty| Some(&faulty.inner));
    let (mut device, trims) = mechanism_with_situations(spec, model, saved, is_stopped)?;
    if let Some(neighbor) = faults.as_ref().and_then(|faults| faults.neighbor) {
        device = Box::new(Neighbor::new(neighbor, device, mechanism_bytes(model)));
    }
    // A mechanism that keeps no data still keeps stamped sectors.
    if !spec.data && !device.keeps_data() {
        device = Box::new(StampKeeper::new(device, trims));
    }
    if let Some(faults) = faults {
        device = Box::new(FaultyDevice::new(faults, device, faulty.map(|faulty| faulty.layer)));
    }
    let mut device = situations::wrap_above(&model.situations, device, model.capacity_bytes);
    if spec.data && !device.keeps_data() {
        device.keep_data();
    }
    let addresses = model.situations.addresses(model.capacity_bytes);
    let identity = Identity {
        name: spec.text.clone(),
        kind: TargetKind::Simulated,
        model: Some(model.model.clone()),
        engine: "simulation".into(),
        capacity_bytes: addresses.end - addresses.start,
        block_bytes: model.sector_bytes,
        facts: facts::facts(spec, model),
        caveats: vec![facts::caveat(model)],
        accounting: None,
    };
    let origin = Origin { spec: spec.text.clone(), text };
    let trim_path = trim_path(model, trims);
    let static_facts = spec.facts.then(|| StaticFacts::new(spec, own, model, &trim_path));
    let free = spec.free(model.capacity_bytes);
    let in_target = |address: u64| address.saturating_sub(addresses.start);
    let (host_bytes, free) =
        (spec.memory.unwrap_or(MEMORY_BYTES), in_target(free.start)..in_target(free.end));
    let drive = SimDrive::new(identity, trim_path, static_facts, device, host_bytes, free, origin);
    Ok(drive.behind(model.situations.hypervisor_cache))
}

/// Capacity of the mechanism: that of a counterfeit drive is less than the drive reports.
fn mechanism_bytes(model: &Model) -> u64 {
    let real = model.faults.as_ref().and_then(|faults| faults.real_capacity_bytes);
    real.unwrap_or(model.capacity_bytes)
}

/// What the drive and the layers above it report about TRIM.
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

/// The mechanism with the layers directly around it.
fn mechanism_with_situations(
    spec: &Spec,
    model: &Model,
    saved: Option<&[u8]>,
    is_stopped: &dyn Fn() -> bool,
) -> Result<(Box<dyn Device>, bool), SnapshotError> {
    let is_restored = model.situations.from_snapshot == Some(true);
    let from_snapshot = saved.filter(|_| is_restored).map(SavedLayer::<Vec<u64>>::unpack).transpose()?;
    let saved = from_snapshot.as_ref().map_or(saved, |from_snapshot| Some(&from_snapshot.inner));
    let chunks = from_snapshot.as_ref().map(|from_snapshot| &from_snapshot.layer[..]);
    let (inner, trims) = mechanism(spec, model, saved, is_stopped)?;
    Ok((situations::wrap_below(&model.situations, inner, mechanism_bytes(model), chunks), trims))
}

/// The bare mechanism, and whether TRIM has an effect.
fn mechanism(
    spec: &Spec,
    model: &Model,
    saved: Option<&[u8]>,
    is_stopped: &dyn Fn() -> bool,
) -> Result<(Box<dyn Device>, bool), SnapshotError> {
    Ok(match &model.mechanism {
        Mechanism::Flash(flash) => {
            let parameters = with_trim(spec, flash.parameters);
            (
                flash_device(flash.layer, parameters, past(spec, flash), saved, is_stopped)?,
                parameters.firmware.trim.works(),
            )
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

/// A flash drive with its FTL, either saved or with a history.
fn flash_device(
    layer: Layer,
    parameters: FlashParameters,
    past: DriveTreatment,
    saved: Option<&[u8]>,
    is_stopped: &dyn Fn() -> bool,
) -> Result<Box<dyn Device>, SnapshotError> {
    match layer {
        Layer::Page(page) => wrap_mechanism(|| PageMap::new(page), parameters, past, saved, is_stopped),
        Layer::Compressing(map) => {
            wrap_mechanism(|| CompressingMap::new(map), parameters, past, saved, is_stopped)
        }
        Layer::Block(block) => wrap_mechanism(|| BlockMap::new(block), parameters, past, saved, is_stopped),
        Layer::Bast(bast) => wrap_mechanism(|| Bast::new(bast), parameters, past, saved, is_stopped),
        Layer::Fast(fast) => wrap_mechanism(|| Fast::new(fast), parameters, past, saved, is_stopped),
    }
}

fn wrap_mechanism<L: TranslationLayer + 'static>(
    new: impl FnOnce() -> L,
    parameters: FlashParameters,
    past: DriveTreatment,
    saved: Option<&[u8]>,
    is_stopped: &dyn Fn() -> bool,
) -> Result<Box<dyn Device>, SnapshotError> {
    Ok(match saved {
        None => {
            let layer = state::make(new(), parameters.nand.dies(), past, is_stopped);
            Box::new(FlashDrive::new(parameters, layer))
        }
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
