//! From a model and a state to a drive, and what a report says of it.

use likenew_core::drive::{Identity, Kind};
use likenew_core::units::{Nanos, amount};

use crate::device::Device;
use crate::disk::disk_drive::DiskDrive;
use crate::disk::disk_parameters::DiskParameters;
use crate::flash::compressing_map::CompressingMap;
use crate::flash::flash_drive::FlashDrive;
use crate::flash::flash_parameters::{FlashParameters, Trim};
use crate::flash::log_block::{Bast, BlockMap, Fast};
use crate::flash::page_map::PageMap;
use crate::flash::translation_layer::TranslationLayer;
use crate::model::{FlashModel, Layer, Mechanism, Model};
use crate::sim_drive::{Origin, SimDrive};
use crate::spec::Spec;
use crate::state::{self, Past, State};

/// A used shingled disk was overwritten in pieces of so much.
const OVERWRITE_BYTES: u64 = 4096;

type Facts = Vec<(String, String)>;

/// Makes the drive that a spec asks for out of its file, with the past that the spec says, or as it was saved.
///
/// # Errors
/// A sentence, if what was saved is no such drive.
pub(crate) fn drive(
    spec: &Spec,
    model: &Model,
    text: String,
    saved: Option<&[u8]>,
) -> Result<SimDrive, String> {
    let (device, trims, facts): (Box<dyn Device>, bool, Facts) = match &model.mechanism {
        Mechanism::Flash(flash) => {
            let trim = match spec.trim {
                None => flash.parameters.trim,
                Some(true) => Trim::Immediate,
                Some(false) => Trim::Ignored,
            };
            let parameters = FlashParameters { trim, ..flash.parameters };
            let past = past(spec, flash);
            let facts = flash_facts(flash, &parameters, spec.state, past);
            let device = flash_device(flash.layer, parameters, past, saved)?;
            (device, trim.works(), facts)
        }
        Mechanism::Disk(parameters) => {
            let parameters =
                if spec.cache == Some(false) { parameters.without_write_cache() } else { *parameters };
            let disk = match saved {
                None => made_disk(parameters, spec, model),
                Some(state) => DiskDrive::restore(parameters, state)?,
            };
            (Box::new(disk), false, disk_facts(&parameters, spec, model))
        }
    };
    let mut all = vec![fact("technology", &model.technology)];
    all.extend(facts);
    let identity = Identity {
        name: spec.text.clone(),
        kind: Kind::Simulated,
        model: Some(model.model.clone()),
        engine: "simulation".into(),
        capacity_bytes: model.capacity_bytes,
        block_bytes: model.sector_bytes,
        facts: all,
        caveats: vec![caveat(model)],
        accounting: None,
    };
    let carries_data = spec.data || device.keeps_data();
    Ok(SimDrive::new(identity, trims, carries_data, device, Origin { spec: spec.text.clone(), text }))
}

/// A flash drive around its translation layer, with its past or as it was saved.
fn flash_device(
    layer: Layer,
    parameters: FlashParameters,
    past: Past,
    saved: Option<&[u8]>,
) -> Result<Box<dyn Device>, String> {
    match layer {
        Layer::Page(page) => around(|| PageMap::new(page), parameters, past, saved),
        Layer::Compressing(map) => around(|| CompressingMap::new(map), parameters, past, saved),
        Layer::Block(block) => around(|| BlockMap::new(block), parameters, past, saved),
        Layer::Bast(bast) => around(|| Bast::new(bast), parameters, past, saved),
        Layer::Fast(fast) => around(|| Fast::new(fast), parameters, past, saved),
    }
}

fn around<L: TranslationLayer + 'static>(
    new: impl FnOnce() -> L,
    parameters: FlashParameters,
    past: Past,
    saved: Option<&[u8]>,
) -> Result<Box<dyn Device>, String> {
    Ok(match saved {
        None => Box::new(FlashDrive::new(parameters, state::make(new(), parameters.nand.dies(), past))),
        Some(state) => Box::new(FlashDrive::<L>::restore(parameters, state)?),
    })
}

/// The share of its addresses that a drive holds data in, and the share of that which was overwritten.
fn past(spec: &Spec, flash: &FlashModel) -> Past {
    let (fill, overwritten_share) = match spec.state {
        State::New => (0.0, 0.0),
        State::Used => (1.0, flash.overwritten_share),
    };
    Past { fill: spec.fill.unwrap_or(fill), overwritten_share, age: spec.age }
}

fn fact(name: &str, value: impl Into<String>) -> (String, String) {
    (name.to_owned(), value.into())
}

fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}

fn flash_facts(flash: &FlashModel, parameters: &FlashParameters, state: State, past: Past) -> Facts {
    let (division, nand) = (flash.flash, parameters.nand);
    let user = f64::from(division.user_pages) * f64::from(parameters.page_bytes);
    let physical = flash.physical_bytes as f64;
    let page = u64::from(parameters.page_bytes);
    let Past { fill, overwritten_share, age } = past;
    let held = match (state, fill > 0.0) {
        (State::New, false) => "new: erased, nothing written".into(),
        (State::New, true) => format!("new, then the first {} written once in order", percent(fill)),
        (State::Used, _) => format!(
            "used: the first {} written once in order, then {} of that overwritten at random in units of {}, without TRIM",
            percent(fill),
            percent(overwritten_share),
            amount(page)
        ),
    };
    let held = if age > Nanos::ZERO { format!("{held}; all of that {age} ago") } else { held };
    let mut facts = vec![
        fact("state", held),
        fact("flash", amount(flash.physical_bytes)),
        fact("over-provisioning (T − U)/U", percent((physical - user) / user)),
        fact("spare share (T − U)/T", percent((physical - user) / physical)),
        fact("channels × dies", format!("{} × {}", nand.channels, nand.dies_per_channel)),
        fact("page of the map", amount(page)),
        fact("erase block", amount(u64::from(division.pages_per_block) * page)),
        fact("write buffer", amount(u64::from(parameters.buffer_pages) * page)),
        fact("command slots", parameters.link.command_slots.to_string()),
        fact(
            "TRIM",
            match parameters.trim {
                Trim::Immediate => "works at once",
                Trim::Lazy => "works in idle time",
                Trim::Ignored => "is ignored",
            },
        ),
    ];
    facts.extend(flash.layer.summary(page).map(|summary| fact("map", summary)));
    facts
}

/// A disk with its past.
fn made_disk(parameters: DiskParameters, spec: &Spec, model: &Model) -> DiskDrive {
    let mut disk = DiskDrive::new(parameters);
    if let (State::Used, Some(shingles)) = (spec.state, disk.shingles_mut()) {
        let sector = u64::from(model.sector_bytes);
        let span = (model.capacity_bytes as f64 * spec.fill.unwrap_or(1.0)) as u64 / sector;
        shingles.overwrite_at_random(span, OVERWRITE_BYTES / sector);
    }
    disk
}

fn disk_facts(parameters: &DiskParameters, spec: &Spec, model: &Model) -> Facts {
    let held = match (spec.state, parameters.shingles) {
        (State::New, None) => "new".into(),
        (State::New, Some(_)) => "new: the persistent cache is empty".into(),
        (State::Used, None) => {
            "used: nothing in a disk slows down by use, so it is the same as a new one".into()
        }
        (State::Used, Some(_)) => format!(
            "used: writes of {} at random over the first {} have filled the persistent cache",
            amount(OVERWRITE_BYTES),
            percent(spec.fill.unwrap_or(1.0))
        ),
    };
    let turns_per_minute = 60e9 / parameters.platters.turn.0 as f64;
    let write_cache = match (parameters.write_cache_bytes, spec.cache) {
        (0, Some(_)) => "off".into(),
        (0, None) => "none".into(),
        (bytes, _) => format!("on, {}", amount(bytes)),
    };
    let mut facts = vec![
        fact("state", held),
        fact("rotation", format!("{turns_per_minute:.0} turns a minute")),
        fact("heads", parameters.platters.heads.to_string()),
        fact("average seek", parameters.read_seek.average.to_string()),
        fact("write cache", write_cache),
        fact("command slots", parameters.link.command_slots.to_string()),
        fact("TRIM", "is ignored"),
    ];
    if let Some(shingles) = parameters.shingles {
        let bytes = |sectors: u64| amount(sectors * u64::from(model.sector_bytes));
        facts.push(fact("persistent cache", bytes(shingles.log_sectors)));
        facts.push(fact("shingled band", bytes(shingles.band_sectors)));
    }
    facts
}

fn caveat(model: &Model) -> String {
    let assumed = model.sources.iter().filter(|sourced| sourced.source.contains("assumed")).count();
    format!(
        "This drive is simulated (assumed parameters: {assumed} of {}), and no number measured here comes from a real one.",
        model.sources.len()
    )
}
