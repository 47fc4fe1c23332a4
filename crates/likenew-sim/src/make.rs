//! From a model and a state to a drive, and what a report says of it.

use likenew_core::drive::{Identity, Kind};
use likenew_core::units::amount;

use crate::device::Device;
use crate::disk::disk_drive::DiskDrive;
use crate::disk::disk_parameters::DiskParameters;
use crate::flash::flash_drive::FlashDrive;
use crate::flash::flash_parameters::FlashParameters;
use crate::model::{FlashModel, Mechanism, Model};
use crate::sim_drive::SimDrive;
use crate::spec::Spec;
use crate::state::{self, State};

/// A used shingled disk was overwritten in pieces of so much.
const OVERWRITE_BYTES: u64 = 4096;

type Facts = Vec<(String, String)>;

/// Makes the drive that a spec asks for.
pub(crate) fn drive(spec: &Spec, model: &Model) -> SimDrive {
    let (device, trims, facts): (Box<dyn Device>, bool, Facts) = match &model.mechanism {
        Mechanism::Flash(flash) => {
            let parameters =
                FlashParameters { trims: spec.trim.unwrap_or(flash.parameters.trims), ..flash.parameters };
            let (fill, overwritten_share) = past(spec, flash);
            let ftl = state::make(parameters.ftl, fill, overwritten_share);
            let facts = flash_facts(flash, &parameters, spec.state, fill, overwritten_share);
            (Box::new(FlashDrive::new(parameters, ftl)), parameters.trims, facts)
        }
        Mechanism::Disk(parameters) => {
            let parameters =
                if spec.cache == Some(false) { parameters.without_write_cache() } else { *parameters };
            let mut disk = DiskDrive::new(parameters);
            let facts = disk_facts(&parameters, &mut disk, spec, model);
            (Box::new(disk), false, facts)
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
    SimDrive::new(identity, trims, device)
}

/// The share of its addresses that a drive holds data in, and the share of that which was overwritten.
fn past(spec: &Spec, flash: &FlashModel) -> (f64, f64) {
    match spec.state {
        State::New => (spec.fill.unwrap_or(0.0), 0.0),
        State::Used => (spec.fill.unwrap_or(1.0), flash.overwritten_share),
    }
}

fn fact(name: &str, value: impl Into<String>) -> (String, String) {
    (name.to_owned(), value.into())
}

fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}

fn flash_facts(
    flash: &FlashModel,
    parameters: &FlashParameters,
    state: State,
    fill: f64,
    overwritten_share: f64,
) -> Facts {
    let (ftl, nand) = (parameters.ftl, parameters.nand);
    let user = f64::from(ftl.user_pages) * f64::from(parameters.page_bytes);
    let physical = flash.physical_bytes as f64;
    let page = u64::from(parameters.page_bytes);
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
    vec![
        fact("state", held),
        fact("flash", amount(flash.physical_bytes)),
        fact("over-provisioning (T − U)/U", percent((physical - user) / user)),
        fact("spare share (T − U)/T", percent((physical - user) / physical)),
        fact("channels × dies", format!("{} × {}", nand.channels, nand.dies_per_channel)),
        fact("page of the map", amount(page)),
        fact("erase block", amount(u64::from(ftl.pages_per_block) * page)),
        fact("write buffer", amount(u64::from(parameters.buffer_pages) * page)),
        fact("command slots", parameters.link.command_slots.to_string()),
        fact("TRIM", if parameters.trims { "works at once" } else { "is ignored" }),
    ]
}

/// Gives a disk its past, and says what it is.
fn disk_facts(parameters: &DiskParameters, disk: &mut DiskDrive, spec: &Spec, model: &Model) -> Facts {
    let held = match (spec.state, disk.shingles_mut()) {
        (State::New, None) => "new".into(),
        (State::New, Some(_)) => "new: the persistent cache is empty".into(),
        (State::Used, None) => {
            "used: nothing in a disk slows down by use, so it is the same as a new one".into()
        }
        (State::Used, Some(shingles)) => {
            let share = spec.fill.unwrap_or(1.0);
            let span = (model.capacity_bytes as f64 * share) as u64 / u64::from(model.sector_bytes);
            shingles.overwrite_at_random(span, OVERWRITE_BYTES / u64::from(model.sector_bytes));
            format!(
                "used: writes of {} at random over the first {} have filled the persistent cache",
                amount(OVERWRITE_BYTES),
                percent(share)
            )
        }
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
