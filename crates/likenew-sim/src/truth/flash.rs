//! The true internals of a flash drive.

use super::native_speed::native_bytes_per_s;
use super::slc_cache;
use super::{TrueValue, Truth};
use crate::faults::drive_faults::{DriveFaults, TrimDefect};
use crate::flash::flash_parameters::{FlashParameters, Trim};
use crate::flash::log_block::ClusterParameters;
use crate::model::{FlashModel, Layer};
use crate::spec::Spec;
use crate::spec::parameters::{past, with_trim};
use crate::state::{DriveTreatment, State};
use crate::timeline::{times, transfer_time};

/// A limit shows only if it is below this share of the others. Chosen: a smaller difference cannot be
/// measured.
const SHOWS_BELOW: f64 = 0.9;

/// The second of two reads has to reach its die within this share of the first.
const COLLISIONS_SHOW_BELOW: f64 = 0.75;

pub(super) fn truth(spec: &Spec, flash: &FlashModel, faults: Option<&DriveFaults>) -> Truth {
    let parameters = with_trim(spec, flash.parameters);
    let page = f64::from(parameters.page_bytes);
    let is_empty = spec.state == State::New && spec.fill.is_none_or(|fill| fill == 0.0);
    let trim_fault = faults.and_then(|faults| faults.trim);
    let may_be_emptied = is_empty || (parameters.trim.works() && trim_fault.is_none());
    let slc = slc_cache::SlcInside::from_flash(flash, may_be_emptied);
    let absent = TrueValue::Absent;
    Truth {
        medium: TrueValue::Word("flash"),
        mapping: TrueValue::Word(match flash.layer {
            Layer::Page(_) | Layer::Compressing(_) => "page",
            Layer::Bast(_) | Layer::Fast(_) => "hybrid",
            Layer::Block(_) => "block",
        }),
        // If a unit cannot be written in part, writes never read the rest of it.
        map_page_bytes: TrueValue::number(page, parameters.page_bytes > parameters.sector_bytes),
        erase_unit_bytes: TrueValue::Number(page * erase_unit_pages(flash)),
        write_buffer_bytes: TrueValue::number(
            page * f64::from(parameters.buffer_pages),
            native_bytes_per_s(flash) < SHOWS_BELOW * parameters.link.bytes_per_s as f64,
        ),
        slc_cache_bytes: slc.map_or(absent, |slc| slc.bytes),
        slc_speed_after_bytes_per_s: slc.map_or(absent, |slc| slc.speed_after_bytes_per_s),
        slc_recovery_ns: slc.map_or(absent, |slc| slc.recovery_ns),
        parallelism: parallelism(flash),
        stripe_bytes: stripe(flash, slc.is_some()),
        over_provisioning_percent: over_provisioning(flash),
        compression: TrueValue::Word(if matches!(flash.layer, Layer::Compressing(_)) { "yes" } else { "no" }),
        trim: match (parameters.trim, trim_fault) {
            (Trim::Ignored, _) | (_, Some(TrimDefect::Hidden)) => absent,
            (_, Some(TrimDefect::Dropped)) => TrueValue::Word("ignored"),
            (Trim::Immediate, None) => TrueValue::Word("immediate"),
            (Trim::Lazy, None) => TrueValue::Word("idle"),
        },
        idle_collection_ns: match works_in_idle_time(flash) {
            true => TrueValue::Number(parameters.idle_after.0 as f64),
            false => absent,
        },
        old_data_read_ratio: old_data_read_ratio(&parameters, past(spec, flash)),
        map_cache_bytes: map_cache(&parameters, flash),
        ..Truth::UNKNOWN
    }
}

fn clusters(layer: &Layer) -> Option<&ClusterParameters> {
    match layer {
        Layer::Page(_) | Layer::Compressing(_) => None,
        Layer::Block(clusters) | Layer::Fast(clusters) => Some(clusters),
        Layer::Bast(bast) => Some(&bast.clusters),
    }
}

/// Data pages of an erase block on every die that advances with the others.
fn erase_unit_pages(flash: &FlashModel) -> f64 {
    match &flash.layer {
        Layer::Page(page) => f64::from(page.flash.pages_per_block) * f64::from(page.flash.dies),
        Layer::Compressing(map) => {
            let pages = f64::from(map.block_granules()) / f64::from(map.granules_per_page);
            pages * f64::from(map.flash.dies)
        }
        layer => f64::from(clusters(layer).expect("the rest map clusters").cluster_pages()),
    }
}

/// Reads of one page each, as many as the drive takes at once, show all dies only if nothing else bounds them first.
fn parallelism(flash: &FlashModel) -> TrueValue {
    let FlashParameters { link, nand, page_bytes, read_command, .. } = flash.parameters;
    let dies = f64::from(nand.dies());
    let one = (nand.native.read + nand.page_transfer).as_secs_f64();
    let link_s = transfer_time(page_bytes.into(), link.bytes_per_s).as_secs_f64();
    let bounds = [
        f64::from(nand.channels) / nand.page_transfer.as_secs_f64(),
        1.0 / read_command.as_secs_f64(),
        1.0 / link_s,
    ];
    let others = bounds.into_iter().fold(f64::INFINITY, f64::min);
    // Commands wait for dies that are drawn at random: twice as many keep nearly all busy.
    let slots = f64::from(link.command_slots);
    if dies / one < SHOWS_BELOW * others && (slots >= 2.0 * dies || dies == 1.0) {
        return TrueValue::Number(dies);
    }
    TrueValue::Hidden { low: (others * one).min(slots).min(dies).max(1.0).floor(), high: dies }
}

fn stripe(flash: &FlashModel, has_slc_cache: bool) -> TrueValue {
    let page = f64::from(flash.parameters.page_bytes);
    let (row, unit) = (f64::from(flash.flash.row_pages), f64::from(flash.flash.unit_pages));
    if flash.parameters.nand.dies() == 1 {
        return TrueValue::Absent;
    }
    if clusters(&flash.layer).is_some() {
        return TrueValue::number(page, collisions_show(flash));
    }
    match has_slc_cache && row < unit {
        true => TrueValue::Hidden { low: row * page, high: unit * page },
        false => TrueValue::number(unit * page, collisions_show(flash)),
    }
}

/// Two reads that are given together take longer on the same die than on two, unless the second is handed to
/// its die only when the first is nearly through.
fn collisions_show(flash: &FlashModel) -> bool {
    let FlashParameters { link, nand, read_command, .. } = flash.parameters;
    let one = (nand.native.read + nand.page_transfer).as_secs_f64();
    link.command_slots >= 2 && read_command.as_secs_f64() < COLLISIONS_SHOW_BELOW * one
}

fn over_provisioning(flash: &FlashModel) -> TrueValue {
    let user = f64::from(flash.flash.user_pages);
    let total = match &flash.layer {
        Layer::Page(page) => {
            let native = page.flash.blocks_per_die - page.slc_cache.map_or(0, |slc| slc.static_blocks);
            f64::from(native) * f64::from(page.flash.dies) * f64::from(page.flash.pages_per_block)
        }
        Layer::Compressing(map) => f64::from(map.flash.blocks_per_die) * erase_unit_pages(flash),
        Layer::Block(_) | Layer::Bast(_) | Layer::Fast(_) => return TrueValue::Absent,
    };
    TrueValue::Number((total - user) / user * 100.0)
}

/// Whether idle time frees any space for writes.
fn works_in_idle_time(flash: &FlashModel) -> bool {
    match &flash.layer {
        Layer::Page(page) => page.slc_cache.is_some() || page.idle_free_blocks > page.reserve_blocks(),
        Layer::Compressing(map) => map.idle_free_blocks > map.free_blocks_min,
        layer => clusters(layer).is_some_and(|clusters| clusters.idle_merges),
    }
}

/// A read alone: command, array reads, transfer over channel and link.
fn old_data_read_ratio(parameters: &FlashParameters, past: DriveTreatment) -> TrueValue {
    let Some(aging) = parameters.aging else { return TrueValue::Absent };
    let senses = if past.fill > 0.0 { aging.senses(past.age.as_secs_f64() as i64) } else { 1 };
    if senses == 1 {
        return TrueValue::Absent;
    }
    let nand = &parameters.nand;
    let bytes = parameters.page_bytes.max(4096);
    let pages = bytes / parameters.page_bytes;
    let rest = parameters.read_command
        + times(nand.page_transfer, pages)
        + transfer_time(bytes.into(), parameters.link.bytes_per_s);
    let time = |senses| (rest + times(nand.native.read, senses)).as_secs_f64();
    TrueValue::Number(time(senses) / time(1))
}

/// Entries of four bytes in whole segments.
fn map_cache(parameters: &FlashParameters, flash: &FlashModel) -> TrueValue {
    let Some(cache) = parameters.map_cache else { return TrueValue::Absent };
    let segments = (cache.bytes / u64::from(cache.segment_bytes)).max(1);
    let pages = segments * u64::from(cache.segment_bytes / 4);
    if pages >= u64::from(flash.flash.user_pages) {
        return TrueValue::Absent;
    }
    TrueValue::Number(pages as f64 * f64::from(parameters.page_bytes))
}
