//! The description of a simulated drive in a report, as names and values.

use likenew_core::quantity::Iops;
use likenew_core::units::{Number, amount, rate};

use crate::disk::DiskParameters;
use crate::flash::Trim;
use crate::flash::policies::PageMapParameters;
use crate::model::{FlashModel, Layer, Mechanism, Model};
use crate::spec::{OVERWRITE_BYTES, Spec, faults, past, with_cache, with_trim};
use crate::state::State;
use crate::volume::VolumeParameters;
use crate::wording;
use crate::wording::percent;

type Facts = Vec<(String, String)>;

/// All facts about a spec's drive that a report should show.
pub(crate) fn facts(spec: &Spec, model: &Model) -> Facts {
    let mut facts = vec![fact("technology", &model.technology)];
    facts.extend(match &model.mechanism {
        Mechanism::Flash(flash) => flash_facts(spec, flash),
        Mechanism::Disk(disk) => disk_facts(spec, &with_cache(spec, *disk), model.sector_bytes),
        Mechanism::Volume(volume) => {
            let trims = spec.trim.unwrap_or(volume.trims);
            volume_facts(&VolumeParameters { trims, ..*volume }, spec.state)
        }
    });
    facts.extend(spec.memory.map(|bytes| fact("host memory", amount(bytes))));
    let met = model.situations.describe().into_iter();
    facts.extend(met.map(|(name, value)| fact(name, value)));
    if let Some(faults) = faults(spec, model) {
        let described = faults.describe().into_iter();
        facts.extend(described.map(|(name, value)| fact(name, value)));
    }
    facts
}

/// The caveat on measurements of this drive: how many of its parameters are assumed.
pub(crate) fn caveat(model: &Model) -> String {
    let assumed = model.sources.iter().filter(|sourced| sourced.is_assumed()).count();
    wording::caveat(assumed, model.sources.len())
}

/// The history of a flash drive, in words.
pub(crate) fn flash_state(spec: &Spec, flash: &FlashModel) -> String {
    let unit_bytes = u64::from(flash.parameters.page_bytes);
    wording::flash_past(spec.state, &past(spec, flash), unit_bytes, spec.deleted)
}

/// The history of a disk, in words.
pub(crate) fn disk_state(spec: &Spec, disk: &DiskParameters) -> String {
    match disk.shingles {
        None => wording::disk_past(spec.state).to_owned(),
        Some(_) => wording::shingled_disk_past(spec.state, OVERWRITE_BYTES, spec.fill.unwrap_or(1.0)),
    }
}

fn flash_facts(spec: &Spec, flash: &FlashModel) -> Facts {
    let parameters = with_trim(spec, flash.parameters);
    let (division, nand) = (flash.flash, parameters.nand);
    let (over_user, over_all) = flash.spare_shares();
    let page = u64::from(parameters.page_bytes);
    let mut facts = vec![
        fact("state", flash_state(spec, flash)),
        fact("flash", amount(flash.physical_bytes)),
        fact("over-provisioning (T − U)/U", percent(over_user)),
        fact("spare share (T − U)/T", percent(over_all)),
        fact("channels × dies", format!("{} × {}", nand.channels, nand.dies_per_channel)),
        fact("mapping unit", amount(page)),
        fact("erase block", amount(u64::from(division.pages_per_block) * page)),
        fact("write buffer", amount(u64::from(parameters.buffer_pages) * page)),
        fact("queue depth", count(parameters.link.command_slots.into())),
        fact("TRIM", wording::trim(parameters.firmware.trim)),
    ];
    facts.extend(slc_cache(flash.layer, page).map(|size| fact("SLC cache", size)));
    facts.extend(parameters.map_cache.map(|cache| fact("mapping (FTL) cache", amount(cache.bytes))));
    if parameters.firmware.power_loss_protection {
        facts.push(fact("power loss", wording::BUFFER_SURVIVES));
    }
    facts.extend(flash.layer.summary(page).map(|summary| fact("map", summary)));
    facts
}

/// The size of the pseudo-SLC cache in words, if there is one.
fn slc_cache(layer: Layer, page_bytes: u64) -> Option<String> {
    let Layer::Page(PageMapParameters { flash, slc_cache: Some(slc), .. }) = layer else {
        return None;
    };
    let always =
        u64::from(slc.pages_per_block(&flash)) * u64::from(slc.static_blocks) * u64::from(flash.dies);
    Some(wording::slc_cache(always * page_bytes, slc.dynamic_percent_max, slc.bits_per_cell))
}

fn disk_facts(spec: &Spec, disk: &DiskParameters, sector_bytes: u32) -> Facts {
    let turns_per_minute = 60e9 / disk.platters.revolution.0 as f64;
    let write_cache = match (disk.cache.write_cache_bytes, spec.cache) {
        (0, Some(_)) => "off".into(),
        (0, None) => "none".into(),
        (bytes, _) => format!("on, {}", amount(bytes)),
    };
    let mut facts = vec![
        fact("state", disk_state(spec, disk)),
        fact("rotation", format!("{} rpm", count(turns_per_minute.round() as u64))),
        fact("heads", disk.platters.heads.to_string()),
        fact("average seek", disk.read_seek.average.to_string()),
        fact("write cache", write_cache),
        fact("queue depth", count(disk.link.command_slots.into())),
        fact("TRIM", wording::trim(Trim::Ignored)),
    ];
    if let Some(shingles) = disk.shingles {
        let bytes = |sectors: u64| amount(sectors * u64::from(sector_bytes));
        facts.push(fact("persistent cache", bytes(shingles.log_sectors)));
        facts.push(fact("shingled band", bytes(shingles.band_sectors)));
    }
    facts
}

fn volume_facts(volume: &VolumeParameters, state: State) -> Facts {
    let credits = volume.credits;
    vec![
        fact("state", wording::volume_past(state)),
        fact("baseline", Iops(credits.baseline_iops as f64).to_string()),
        fact("burst", Iops(credits.iops_max() as f64).to_string()),
        fact("credits", count(credits.credits_max)),
        fact("counted as one I/O", format!("up to {}", amount(volume.counting.io_bytes))),
        fact("throughput limit", rate(volume.bytes_per_s as f64)),
        fact("latency", format!("{} (median)", volume.latency.median)),
        fact("queue depth", count(volume.link.command_slots.into())),
        fact("TRIM", wording::trim(if volume.trims { Trim::Immediate } else { Trim::Ignored })),
    ]
}

fn count(number: u64) -> String {
    Number(number as f64).to_string()
}

fn fact(name: &str, value: impl Into<String>) -> (String, String) {
    (name.to_owned(), value.into())
}
