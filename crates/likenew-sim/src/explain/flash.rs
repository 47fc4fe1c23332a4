//! Explains a flash drive.

use likenew_core::units::{Nanos, amount};

use super::explanation::{Bound, Ceiling, LayerBox, Picture};
use super::flash_times::transfer;
use super::value::{Fact, Value};
use super::{
    Parts, RANDOM_READ, RANDOM_WRITE, SEQUENTIAL_READ, SEQUENTIAL_WRITE, cluster_map, compressing_map,
    page_map, slc_cache, wording,
};
use crate::flash::flash_parameters::FlashParameters;
use crate::flash::nand_parameters::NandParameters;
use crate::host_link::LinkParameters;
use crate::model::{FlashModel, Layer};
use crate::spec::Spec;
use crate::spec::parameters::with_trim;
use crate::timeline::transfer_time;
use crate::wording::drive;

/// Sequential I/Os are taken to have this length where the time of a command matters.
const SEQUENTIAL_BYTES: u64 = 128 << 10;
pub(super) const RANDOM_BYTES: u64 = 4096;

pub(super) fn explain(model: &FlashModel, state: String, spec: &Spec) -> Parts {
    let parameters = with_trim(spec, model.parameters);
    let mut layers = vec![link(&parameters.link), firmware(&parameters), buffer(model)];
    layers.extend(slc_cache::explain(model));
    layers.extend([translation_layer(model), dies(model)]);
    layers.extend(extras(&parameters));
    let reading = parameters.read_command + parameters.nand.native.read + parameters.nand.page_transfer;
    let crossing = transfer_time(RANDOM_BYTES, parameters.link.bytes_per_s);
    let times = vec![
        Fact::new(wording::READ_QD1, Value::Span(reading + crossing)),
        Fact::new(wording::WRITE_QD1, Value::Span(parameters.write_command + crossing)),
    ];
    Parts { state, layers, ceilings: ceilings(model), times }
}

/// The cable, of any drive.
pub(super) fn link(link: &LinkParameters) -> LayerBox {
    let facts = vec![
        Fact::new("rate", Value::BytesPerSecond(link.bytes_per_s as f64)),
        Fact::new("queue depth", Value::Count(link.command_slots.into())),
        Fact::new("4 KiB transfer", Value::Span(transfer_time(RANDOM_BYTES, link.bytes_per_s))),
    ];
    LayerBox::new("host link", wording::link(link.duplex), facts)
}

fn firmware(parameters: &FlashParameters) -> LayerBox {
    let facts = vec![
        Fact::new("read command", Value::Span(parameters.read_command)),
        Fact::new("write command", Value::Span(parameters.write_command)),
        Fact::new("TRIM or flush", Value::Span(parameters.other_command)),
        Fact::new("TRIM", Value::text(drive::trim(parameters.trim))),
        Fact::new("idle work starts", Value::text(wording::after_idle(parameters.idle_after))),
    ];
    LayerBox::new("firmware", wording::ONE_COMMAND, facts)
}

fn buffer(model: &FlashModel) -> LayerBox {
    let FlashParameters { buffer_pages, page_bytes, unit_pages, .. } = model.parameters;
    let mut facts = vec![
        Fact::new("size", Value::Bytes(u64::from(buffer_pages) * u64::from(page_bytes))),
        Fact::new(wording::UNITS, Value::Count(u64::from(buffer_pages / unit_pages))),
    ];
    if let Some(writes) = model.parameters.writes_per_unit {
        facts.push(Fact::new(wording::WRITES_PER_UNIT, Value::Count(writes.into())));
    }
    LayerBox::new("write buffer", wording::WRITE_BUFFER, facts)
}

fn translation_layer(model: &FlashModel) -> LayerBox {
    match &model.layer {
        Layer::Page(page) => page_map::explain(page, model),
        Layer::Compressing(map) => compressing_map::explain(map, model),
        Layer::Block(clusters) => cluster_map::explain_block(clusters, model),
        Layer::Bast(bast) => cluster_map::explain_bast(bast, model),
        Layer::Fast(clusters) => cluster_map::explain_fast(clusters, model),
    }
}

fn dies(model: &FlashModel) -> LayerBox {
    let nand = &model.parameters.nand;
    let flash = &model.flash;
    let bytes = |pages: u32| Value::Bytes(u64::from(pages) * u64::from(model.parameters.page_bytes));
    let user = f64::from(flash.user_pages) * f64::from(model.parameters.page_bytes);
    let physical = model.physical_bytes as f64;
    let facts = vec![
        Fact::new("raw flash", Value::Bytes(model.physical_bytes)),
        Fact::new("over-provisioning (T − U)/U", Value::Share((physical - user) / user)),
        Fact::new("spare share (T − U)/T", Value::Share((physical - user) / physical)),
        Fact::new("one read (row)", bytes(flash.row_pages)),
        Fact::new("tR", Value::Span(nand.native.read)),
        Fact::new("one program (unit)", bytes(flash.unit_pages)),
        Fact::new("tPROG", Value::Span(nand.native.program)),
        Fact::new("tBERS", Value::Span(nand.erase)),
        Fact::new(wording::UNIT_TRANSFER, Value::Span(transfer(nand, flash.unit_pages))),
        Fact::new(wording::PROGRAMMING_DIES, Value::Count(programming(nand).into())),
    ];
    let name = wording::dies(nand.dies(), nand.channels);
    let picture = Picture::Dies { channels: nand.channels, dies_per_channel: nand.dies_per_channel };
    LayerBox { picture: Some(picture), ..LayerBox::new(&name, wording::DIES, facts) }
}

fn ceilings(model: &FlashModel) -> Vec<Ceiling> {
    let FlashParameters { read_command, write_command, .. } = model.parameters;
    let programs = native_programs(model);
    // What programs the host's writes of a new drive first.
    let cached = slc_cache::programs(model, programming(&model.parameters.nand));
    let first = cached.clone().unwrap_or_else(|| programs.clone());
    let mut ceilings = vec![
        Ceiling::new(SEQUENTIAL_READ, sequential(model, read_command, row_reads(model))),
        Ceiling::new(SEQUENTIAL_WRITE, sequential(model, write_command, first)),
        Ceiling::new(RANDOM_READ, random_reads(model)),
        Ceiling::new(RANDOM_WRITE, random_writes(model)),
    ];
    if cached.is_some() {
        let past_the_cache = sequential(model, write_command, programs);
        ceilings.push(Ceiling::new(wording::WRITE_PAST_SLC_CACHE, past_the_cache));
    }
    ceilings
}

/// What bounds sequential I/Os whose command takes this long, besides what the dies do.
fn sequential(model: &FlashModel, command: Nanos, dies: Bound) -> Vec<Bound> {
    let FlashParameters { link, nand, page_bytes, .. } = model.parameters;
    let page_bytes = u64::from(page_bytes);
    vec![
        Bound::new("host link", "its rate", Value::BytesPerSecond(link.bytes_per_s as f64)),
        Bound::new(
            "firmware",
            format!("{} / {command} a command", amount(SEQUENTIAL_BYTES)),
            bytes_per_s(1, SEQUENTIAL_BYTES, command),
        ),
        Bound::new(
            "channels",
            format!("{} × {} / {}", nand.channels, amount(page_bytes), nand.page_transfer),
            bytes_per_s(nand.channels, page_bytes, nand.page_transfer),
        ),
        dies,
    ]
}

/// Array reads of all dies.
fn row_reads(model: &FlashModel) -> Bound {
    let nand = model.parameters.nand;
    let bytes = u64::from(model.flash.row_pages) * u64::from(model.parameters.page_bytes);
    let (dies, row) = (nand.dies(), transfer(&nand, model.flash.row_pages));
    let method = format!("{dies} × {} / (tR {} + {row})", amount(bytes), nand.native.read);
    Bound::new("dies", method, bytes_per_s(dies, bytes, nand.native.read + row))
}

/// Programs of as many dies as can at the same time, into cells as the chip is made for.
fn native_programs(model: &FlashModel) -> Bound {
    let nand = model.parameters.nand;
    let bytes = u64::from(model.flash.unit_pages) * u64::from(model.parameters.page_bytes);
    let (dies, unit) = (programming(&nand), transfer(&nand, model.flash.unit_pages));
    let method = format!("{dies} × {} / ({unit} + tPROG {})", amount(bytes), nand.native.program);
    Bound::new("dies", method, bytes_per_s(dies, bytes, nand.native.program + unit))
}

fn random_reads(model: &FlashModel) -> Vec<Bound> {
    let FlashParameters { link, nand, read_command, .. } = model.parameters;
    let dies = nand.dies();
    let method = format!("{dies} / (tR {} + {})", nand.native.read, nand.page_transfer);
    vec![
        link_iops(&link),
        Bound::new("firmware", format!("1 / {read_command}"), per_s(1, read_command)),
        Bound::new("dies", method, per_s(dies, nand.native.read + nand.page_transfer)),
    ]
}

fn random_writes(model: &FlashModel) -> Vec<Bound> {
    let FlashParameters { link, nand, page_bytes, write_command, writes_per_unit, .. } = model.parameters;
    let page_bytes = u64::from(page_bytes);
    let unit_bytes = u64::from(model.flash.unit_pages) * page_bytes;
    // A random write programs a page of the map at least.
    let room = (unit_bytes / page_bytes.max(RANDOM_BYTES)).max(1) as u32;
    let writes_per_unit = writes_per_unit.map_or(room, |most| u32::from(most).min(room));
    let (dies, unit) = (programming(&nand), transfer(&nand, model.flash.unit_pages));
    let method = format!("{dies} × {writes_per_unit} / ({unit} + tPROG {})", nand.native.program);
    vec![
        link_iops(&link),
        Bound::new("firmware", format!("1 / {write_command}"), per_s(1, write_command)),
        Bound::new("dies, before GC", method, per_s(dies * writes_per_unit, nand.native.program + unit)),
    ]
}

/// Layers that only some drives have.
fn extras(parameters: &FlashParameters) -> Vec<LayerBox> {
    let mut boxes = Vec::new();
    if let Some(cache) = parameters.map_cache {
        let facts = vec![
            Fact::new("size", Value::Bytes(cache.bytes)),
            Fact::new("segment", Value::Bytes(cache.segment_bytes.into())),
            Fact::new(wording::MAPPED_DATA, Value::Bytes(cache.bytes / 4 * u64::from(parameters.page_bytes))),
        ];
        boxes.push(LayerBox::new("mapping (FTL) cache", wording::MAP_CACHE, facts));
    }
    if let Some(aging) = parameters.aging {
        let facts = vec![
            Fact::new(wording::AGING_ONSET, Value::seconds(aging.onset_s as f64)),
            Fact::new(wording::AGING_RETRIES, Value::text(aging.retries_per_decade.to_string())),
            Fact::new("retries at most", Value::Count(aging.retries_max.into())),
        ];
        boxes.push(LayerBox::new("aging", wording::AGING, facts));
    }
    if let Some(thermal) = parameters.thermal {
        let facts = vec![
            Fact::new("air", Value::text(format!("{} °C", thermal.ambient_c))),
            Fact::new("throttles above", Value::text(format!("{} °C", thermal.throttle_c))),
            Fact::new("until below", Value::text(format!("{} °C", thermal.resume_c))),
            Fact::new("moves meanwhile", Value::BytesPerSecond(thermal.throttled_bytes_per_s as f64)),
        ];
        boxes.push(LayerBox::new("heat", wording::HEAT, facts));
    }
    boxes
}

/// Small I/Os that a link carries.
pub(super) fn link_iops(link: &LinkParameters) -> Bound {
    let value = Value::PerSecond(link.bytes_per_s as f64 / RANDOM_BYTES as f64);
    Bound::new("host link", format!("its rate / {}", amount(RANDOM_BYTES)), value)
}

/// How often a second as many do something that takes this long.
fn per_s(many: u32, span: Nanos) -> Value {
    Value::PerSecond(f64::from(many) / span.as_secs_f64())
}

/// How many bytes a second as many move, each so many in this time.
fn bytes_per_s(many: u32, bytes: u64, span: Nanos) -> Value {
    Value::BytesPerSecond(f64::from(many) / span.as_secs_f64() * bytes as f64)
}

fn programming(nand: &NandParameters) -> u32 {
    nand.dies().min(nand.programs_max)
}
