//! From a model and a state to a drive, and what a report says of it.

use likenew_core::drive::{Identity, Kind};
use likenew_core::units::amount;

use crate::device::Device;
use crate::disk::disk_drive::DiskDrive;
use crate::disk::disk_parameters::DiskParameters;
use crate::flash::flash_drive::FlashDrive;
use crate::flash::flash_parameters::{FlashParameters, Trim};
use crate::flash::page_map::{PageMap, PageMapParameters};
use crate::flash::translation_layer::TranslationLayer;
use crate::model::{FlashModel, Layer, Mechanism, Model};
use crate::sim_drive::SimDrive;
use crate::spec::Spec;
use crate::state::{self, State};

type Facts = Vec<(String, String)>;

/// Makes the drive that a spec asks for.
pub(crate) fn drive(spec: &Spec, model: &Model) -> SimDrive {
    let (device, trims, facts): (Box<dyn Device>, bool, Facts) = match &model.mechanism {
        Mechanism::Flash(flash) => {
            let trim = match spec.trim {
                None => flash.parameters.trim,
                Some(true) => Trim::Immediate,
                Some(false) => Trim::Ignored,
            };
            let parameters = FlashParameters { trim, ..flash.parameters };
            let (fill, overwritten_share) = past(spec, flash);
            let facts = flash_facts(flash, &parameters, spec.state, fill, overwritten_share);
            (flash_device(parameters, flash.layer, fill, overwritten_share), trim.works(), facts)
        }
        Mechanism::Disk(parameters) => {
            (Box::new(DiskDrive::new(*parameters)), false, disk_facts(parameters, spec.state))
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

/// A flash drive with its past.
fn flash_device(
    parameters: FlashParameters,
    layer: Layer,
    fill: f64,
    overwritten_share: f64,
) -> Box<dyn Device> {
    fn around<L: TranslationLayer + 'static>(
        layer: L,
        parameters: FlashParameters,
        fill: f64,
        overwritten_share: f64,
    ) -> Box<dyn Device> {
        let layer = state::make(layer, parameters.nand.dies(), fill, overwritten_share);
        Box::new(FlashDrive::new(parameters, layer))
    }
    match layer {
        Layer::Page(page) => around(PageMap::new(page), parameters, fill, overwritten_share),
    }
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
    let (division, nand) = (flash.flash, parameters.nand);
    let user = f64::from(division.user_pages) * f64::from(parameters.page_bytes);
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
        fact("erase block", amount(u64::from(division.pages_per_block) * page)),
        fact("write buffer", amount(u64::from(parameters.buffer_pages) * page)),
        fact("command slots", parameters.link.command_slots.to_string()),
        fact("SLC cache", slc_cache(flash.layer, page)),
        fact("write buffer survives power loss", if parameters.power_loss_protection { "yes" } else { "no" }),
        fact(
            "TRIM",
            match parameters.trim {
                Trim::Immediate => "works at once",
                Trim::Lazy => "works in idle time",
                Trim::Ignored => "is ignored",
            },
        ),
    ]
}

/// How large the write cache of SLC cells is, in words.
fn slc_cache(layer: Layer, page_bytes: u64) -> String {
    let Layer::Page(PageMapParameters { flash, slc_cache: Some(slc), .. }) = layer else {
        return "none".into();
    };
    let always =
        u64::from(slc.pages_per_block(&flash)) * u64::from(slc.static_blocks) * u64::from(flash.dies);
    let always = (always > 0).then(|| amount(always * page_bytes));
    let (percent, bits) = (slc.dynamic_percent_max, slc.bits_per_cell);
    let at_times = (percent > 0).then(|| format!("1/{bits} of {percent} % of the capacity without data"));
    [always, at_times].into_iter().flatten().collect::<Vec<_>>().join(" and ")
}

fn disk_facts(parameters: &DiskParameters, state: State) -> Facts {
    let held = match state {
        State::New => "new",
        State::Used => "used: nothing in a disk slows down by use, so it is the same as a new one",
    };
    let turns_per_minute = 60e9 / parameters.platters.turn.0 as f64;
    vec![
        fact("state", held),
        fact("rotation", format!("{turns_per_minute:.0} turns a minute")),
        fact("heads", parameters.platters.heads.to_string()),
        fact("average seek", parameters.average_seek.to_string()),
        fact("write cache", amount(parameters.write_cache_bytes)),
        fact("command slots", parameters.link.command_slots.to_string()),
        fact("TRIM", "is ignored"),
    ]
}

fn caveat(model: &Model) -> String {
    let assumed = model.sources.iter().filter(|sourced| sourced.source.contains("assumed")).count();
    format!(
        "This drive is simulated (assumed parameters: {assumed} of {}), and no number measured here comes from a real one.",
        model.sources.len()
    )
}
