//! Explains a flash drive.

use likenew_core::units::{Nanos, amount};

use super::explanation::{Bound, Ceiling, LayerBox, Picture};
use super::value::{Fact, Value};
use super::{Parts, RANDOM_READ, RANDOM_WRITE, SEQUENTIAL_READ, SEQUENTIAL_WRITE, slc_cache};
use crate::flash::flash_parameters::FlashParameters;
use crate::flash::nand_parameters::NandParameters;
use crate::flash::translation_layer::Work;
use crate::host_link::LinkParameters;
use crate::make;
use crate::model::FlashModel;
use crate::spec::Spec;
use crate::timeline::transfer_time;

/// Sequential I/Os are taken to have this length where the time of a command matters.
const SEQUENTIAL_BYTES: u64 = 128 << 10;
pub(super) const RANDOM_BYTES: u64 = 4096;

pub(super) fn explain(model: &FlashModel, state: String, spec: &Spec) -> Parts {
    let parameters = make::with_trim(spec, model.parameters);
    let mut layers = vec![link(&parameters.link), firmware(&parameters), buffer(model)];
    layers.extend(slc_cache::explain(model));
    layers.extend([model.layer.explain(model), dies(model)]);
    layers.extend(extras(&parameters));
    let reading = parameters.read_command + parameters.nand.native.read + parameters.nand.page_transfer;
    let crossing = transfer_time(RANDOM_BYTES, parameters.link.bytes_per_s);
    let times = vec![
        Fact::new("a 4 KiB read at QD1", Value::Span(reading + crossing)),
        Fact::new("a 4 KiB write at QD1, into the buffer", Value::Span(parameters.write_command + crossing)),
    ];
    Parts { state, layers, ceilings: ceilings(model), times }
}

/// The cable, of any drive.
pub(super) fn link(link: &LinkParameters) -> LayerBox {
    let description = if link.duplex {
        "Transfers data in both directions at once."
    } else {
        "Transfers data in one direction at a time."
    };
    let facts = vec![
        Fact::new("rate", Value::BytesPerSecond(link.bytes_per_s as f64)),
        Fact::new("queue depth", Value::Count(link.command_slots.into())),
        Fact::new("4 KiB transfer", Value::Span(transfer_time(RANDOM_BYTES, link.bytes_per_s))),
    ];
    LayerBox::new("host link", description, facts)
}

fn firmware(parameters: &FlashParameters) -> LayerBox {
    let facts = vec![
        Fact::new("read command", Value::Span(parameters.read_command)),
        Fact::new("write command", Value::Span(parameters.write_command)),
        Fact::new("TRIM or flush", Value::Span(parameters.other_command)),
        Fact::new("TRIM", Value::text(parameters.trim.describe())),
        Fact::new("idle work starts", Value::text(format!("after {} without I/O", parameters.idle_after))),
    ];
    LayerBox::new("firmware", "Handles one command at a time.", facts)
}

fn buffer(model: &FlashModel) -> LayerBox {
    let FlashParameters { buffer_pages, page_bytes, unit_pages, .. } = model.parameters;
    let mut facts = vec![
        Fact::new("size", Value::Bytes(u64::from(buffer_pages) * u64::from(page_bytes))),
        Fact::new("capacity in program units", Value::Count(u64::from(buffer_pages / unit_pages))),
    ];
    if let Some(writes) = model.parameters.writes_per_unit {
        facts.push(Fact::new("separate writes in a unit, at most", Value::Count(writes.into())));
    }
    let description =
        "A write is acknowledged once all of it is in the buffer, where it waits for a free die.";
    LayerBox::new("write buffer", description, facts)
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
        Fact::new("a unit over the channel", Value::Span(transfer(nand, flash.unit_pages))),
        Fact::new("dies that program in parallel", Value::Count(programming(nand).into())),
    ];
    let name = format!("{} dies on {} channels", nand.dies(), nand.channels);
    let description = "A die does one operation at a time; the dies of a channel share its bus.";
    let picture = Picture::Dies { channels: nand.channels, dies_per_channel: nand.dies_per_channel };
    LayerBox { picture: Some(picture), ..LayerBox::new(&name, description, facts) }
}

fn ceilings(model: &FlashModel) -> Vec<Ceiling> {
    let FlashParameters { link, nand, page_bytes, read_command, write_command, .. } = model.parameters;
    let flash = &model.flash;
    let page_bytes = u64::from(page_bytes);
    let (row, unit) = (transfer(&nand, flash.row_pages), transfer(&nand, flash.unit_pages));
    let (row_bytes, unit_bytes) =
        (u64::from(flash.row_pages) * page_bytes, u64::from(flash.unit_pages) * page_bytes);
    let (dies, programming) = (nand.dies(), programming(&nand));
    let bytes_per_s = |many: u32, bytes, span: Nanos| Value::BytesPerSecond(rate(many, span) * bytes as f64);
    let channels = Bound::new(
        "channels",
        format!("{} × {} / {}", nand.channels, amount(page_bytes), nand.page_transfer),
        bytes_per_s(nand.channels, page_bytes, nand.page_transfer),
    );
    let wire = Bound::new("host link", "its rate", Value::BytesPerSecond(link.bytes_per_s as f64));
    let commands = |span: Nanos| {
        let how = format!("{} / {span} a command", amount(SEQUENTIAL_BYTES));
        Bound::new("firmware", how, bytes_per_s(1, SEQUENTIAL_BYTES, span))
    };
    let reads = Bound::new(
        "dies",
        format!("{dies} × {} / (tR {} + {row})", amount(row_bytes), nand.native.read),
        bytes_per_s(dies, row_bytes, nand.native.read + row),
    );
    let programs = Bound::new(
        "dies",
        format!("{programming} × {} / ({unit} + tPROG {})", amount(unit_bytes), nand.native.program),
        bytes_per_s(programming, unit_bytes, nand.native.program + unit),
    );
    // What programs the host's writes of a new drive first.
    let (programs, past_the_cache) = match slc_cache::programs(model, programming) {
        Some(cached) => (cached, Some(programs)),
        None => (programs, None),
    };
    // A random write programs a page of the map at least, and a read moves one.
    let room = (unit_bytes / page_bytes.max(RANDOM_BYTES)).max(1) as u32;
    let writes_per_unit = model.parameters.writes_per_unit.map_or(room, |most| u32::from(most).min(room));
    let small = |bottleneck, method: String, many: u32, span: Nanos| {
        Bound::new(bottleneck, method, Value::PerSecond(rate(many, span)))
    };
    let small_wire = link_iops(&link);
    let past_the_cache = past_the_cache.map(|native| {
        let bounds = vec![wire.clone(), commands(write_command), channels.clone(), native];
        Ceiling::new("sequential write past the SLC cache, before it folds", bounds)
    });
    let mut ceilings = vec![
        Ceiling::new(SEQUENTIAL_READ, vec![wire.clone(), commands(read_command), channels.clone(), reads]),
        Ceiling::new(
            SEQUENTIAL_WRITE,
            vec![wire.clone(), commands(write_command), channels.clone(), programs],
        ),
        Ceiling::new(
            RANDOM_READ,
            vec![
                small_wire.clone(),
                small("firmware", format!("1 / {read_command}"), 1, read_command),
                small(
                    "dies",
                    format!("{dies} / (tR {} + {})", nand.native.read, nand.page_transfer),
                    dies,
                    nand.native.read + nand.page_transfer,
                ),
            ],
        ),
        Ceiling::new(
            RANDOM_WRITE,
            vec![
                small_wire,
                small("firmware", format!("1 / {write_command}"), 1, write_command),
                small(
                    "dies, before GC",
                    format!("{programming} × {writes_per_unit} / ({unit} + tPROG {})", nand.native.program),
                    programming * writes_per_unit,
                    nand.native.program + unit,
                ),
            ],
        ),
    ];
    ceilings.extend(past_the_cache);
    ceilings
}

/// Layers that only some drives have.
fn extras(parameters: &FlashParameters) -> Vec<LayerBox> {
    let mut boxes = Vec::new();
    if let Some(cache) = parameters.map_cache {
        let facts = vec![
            Fact::new("size", Value::Bytes(cache.bytes)),
            Fact::new("segment", Value::Bytes(cache.segment_bytes.into())),
            Fact::new(
                "host data that it maps",
                Value::Bytes(cache.bytes / 4 * u64::from(parameters.page_bytes)),
            ),
        ];
        let description =
            "Holds a part of the mapping table; other entries are read from flash before the data.";
        boxes.push(LayerBox::new("mapping (FTL) cache", description, facts));
    }
    if let Some(aging) = parameters.aging {
        let facts = vec![
            Fact::new("reads at once until it is", Value::seconds(aging.onset_s as f64)),
            Fact::new("retries per tenfold age", Value::text(aging.retries_per_decade.to_string())),
            Fact::new("retries at most", Value::Count(aging.retries_max.into())),
        ];
        boxes.push(LayerBox::new("aging", "Old data is read with retries.", facts));
    }
    if let Some(thermal) = parameters.thermal {
        let facts = vec![
            Fact::new("air", Value::text(format!("{} °C", thermal.ambient_c))),
            Fact::new("throttles above", Value::text(format!("{} °C", thermal.throttle_c))),
            Fact::new("until below", Value::text(format!("{} °C", thermal.resume_c))),
            Fact::new("moves meanwhile", Value::BytesPerSecond(thermal.throttled_bytes_per_s as f64)),
        ];
        boxes.push(LayerBox::new("heat", "Warms up with what it reads and programs.", facts));
    }
    boxes
}

/// Small I/Os that a link carries.
pub(super) fn link_iops(link: &LinkParameters) -> Bound {
    let value = Value::PerSecond(link.bytes_per_s as f64 / RANDOM_BYTES as f64);
    Bound::new("host link", format!("its rate / {}", amount(RANDOM_BYTES)), value)
}

/// How often a second as many do something that takes this long.
fn rate(many: u32, span: Nanos) -> f64 {
    f64::from(many) / span.as_secs_f64()
}

fn programming(nand: &NandParameters) -> u32 {
    nand.dies().min(nand.programs_max)
}

/// Pages of the map over a channel.
pub(super) fn transfer(nand: &NandParameters, pages: u32) -> Nanos {
    Nanos(nand.page_transfer.0 * u64::from(pages))
}

/// How long a die takes for undisturbed work.
pub(super) fn work_time(nand: &NandParameters, work: &Work) -> Nanos {
    nand.copying_time(work) + Nanos(nand.erase.0 * u64::from(work.erases))
}
