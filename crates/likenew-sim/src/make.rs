//! From a model and a state to a drive, and what a report says of it.

use likenew_core::drive::{Identity, Kind};
use likenew_core::units::{amount, rate};

use crate::device::Device;
use crate::disk::disk_drive::DiskDrive;
use crate::disk::disk_parameters::DiskParameters;
use crate::faults::faulty::Faulty;
use crate::flash::flash_drive::FlashDrive;
use crate::flash::flash_parameters::{FlashParameters, Trim};
use crate::flash::page_map::PageMap;
use crate::flash::translation_layer::TranslationLayer;
use crate::model::{FlashModel, Layer, Mechanism, Model};
use crate::sim_drive::SimDrive;
use crate::spec::Spec;
use crate::state::{self, State};
use crate::volume::network_volume::NetworkVolume;
use crate::volume::volume_parameters::VolumeParameters;

type Facts = Vec<(String, String)>;

/// Makes the drive that a spec asks for.
pub(crate) fn drive(spec: &Spec, model: &Model) -> SimDrive {
    let (device, trims, facts): (Box<dyn Device>, bool, Facts) = match &model.mechanism {
        Mechanism::Flash(flash) => {
            let parameters = with_trim(spec, flash.parameters);
            let (fill, overwritten_share) = past(spec, flash);
            let facts = flash_facts(spec, flash, &parameters);
            (flash_device(parameters, flash.layer, fill, overwritten_share), parameters.trim.works(), facts)
        }
        Mechanism::Disk(parameters) => {
            (Box::new(DiskDrive::new(*parameters)), false, disk_facts(parameters, spec.state))
        }
        Mechanism::Volume(parameters) => {
            let parameters = VolumeParameters { trims: spec.trim.unwrap_or(parameters.trims), ..*parameters };
            let volume = NetworkVolume::new(parameters, spec.state == State::New);
            (Box::new(volume), parameters.trims, volume_facts(&parameters, spec.state))
        }
    };
    let mut all = vec![fact("technology", &model.technology)];
    all.extend(facts);
    let device: Box<dyn Device> = match &model.faults {
        None => device,
        Some(faults) => {
            all.extend(
                faults.describe().into_iter().map(|(name, value)| fact(&format!("fault: {name}"), value)),
            );
            Box::new(Faulty::new(faults.clone(), device))
        }
    };
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

/// What TRIM does to the drive that a spec asks for.
pub(crate) fn with_trim(spec: &Spec, parameters: FlashParameters) -> FlashParameters {
    let trim = match spec.trim {
        None => parameters.trim,
        Some(true) => Trim::Immediate,
        Some(false) => Trim::Ignored,
    };
    FlashParameters { trim, ..parameters }
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

/// What a flash drive has been through, in words.
pub(crate) fn flash_state(spec: &Spec, flash: &FlashModel) -> String {
    let (fill, overwritten_share) = past(spec, flash);
    match (spec.state, fill > 0.0) {
        (State::New, false) => "new: erased, nothing written".into(),
        (State::New, true) => format!("new, then the first {} written once in order", percent(fill)),
        (State::Used, _) => format!(
            "used: the first {} written once in order, then {} of that overwritten at random in units of {}, without TRIM",
            percent(fill),
            percent(overwritten_share),
            amount(u64::from(flash.parameters.page_bytes))
        ),
    }
}

/// What a disk has been through, in words.
pub(crate) fn disk_state(state: State) -> &'static str {
    match state {
        State::New => "new",
        State::Used => "used: nothing in a disk slows down by use, so it is the same as a new one",
    }
}

/// What a volume has been through, in words.
pub(crate) fn volume_state(state: State) -> &'static str {
    match state {
        State::New => "new: the bucket of credits is full",
        State::Used => "used: the bucket of credits is empty",
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

fn flash_facts(spec: &Spec, flash: &FlashModel, parameters: &FlashParameters) -> Facts {
    let (division, nand) = (flash.flash, parameters.nand);
    let user = f64::from(division.user_pages) * f64::from(parameters.page_bytes);
    let physical = flash.physical_bytes as f64;
    let page = u64::from(parameters.page_bytes);
    vec![
        fact("state", flash_state(spec, flash)),
        fact("flash", amount(flash.physical_bytes)),
        fact("over-provisioning (T − U)/U", percent((physical - user) / user)),
        fact("spare share (T − U)/T", percent((physical - user) / physical)),
        fact("channels × dies", format!("{} × {}", nand.channels, nand.dies_per_channel)),
        fact("page of the map", amount(page)),
        fact("erase block", amount(u64::from(division.pages_per_block) * page)),
        fact("write buffer", amount(u64::from(parameters.buffer_pages) * page)),
        fact("command slots", parameters.link.command_slots.to_string()),
        fact("TRIM", parameters.trim.describe()),
    ]
}

fn disk_facts(parameters: &DiskParameters, state: State) -> Facts {
    let turns_per_minute = 60e9 / parameters.platters.turn.0 as f64;
    vec![
        fact("state", disk_state(state)),
        fact("rotation", format!("{turns_per_minute:.0} turns a minute")),
        fact("heads", parameters.platters.heads.to_string()),
        fact("average seek", parameters.average_seek.to_string()),
        fact("write cache", amount(parameters.write_cache_bytes)),
        fact("command slots", parameters.link.command_slots.to_string()),
        fact("TRIM", "is ignored"),
    ]
}

fn volume_facts(parameters: &VolumeParameters, state: State) -> Facts {
    let credits = parameters.credits;
    vec![
        fact("state", volume_state(state)),
        fact("baseline", format!("{} I/Os a second", credits.baseline_iops)),
        fact("burst", format!("{} I/Os a second", credits.iops_max())),
        fact("credits", credits.credits_max.to_string()),
        fact("counted as one I/O", format!("up to {}", amount(parameters.counting.io_bytes))),
        fact("throughput limit", rate(parameters.bytes_per_s as f64)),
        fact("latency", format!("{} (median)", parameters.latency.median)),
        fact("command slots", parameters.link.command_slots.to_string()),
        fact("TRIM", if parameters.trims { "works at once" } else { "is ignored" }),
    ]
}

fn caveat(model: &Model) -> String {
    let assumed = model.sources.iter().filter(|sourced| sourced.is_assumed()).count();
    format!(
        "This drive is simulated (assumed parameters: {assumed} of {}), and no number measured here comes from a real one.",
        model.sources.len()
    )
}
