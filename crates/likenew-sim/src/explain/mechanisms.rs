//! Explains each kind of mechanism, for [`explain`](super::explain).

use likenew_core::io::DataClass;
use likenew_core::quantity::Iops;
use likenew_core::units::{Nanos, amount};

use super::{
    Bound, Ceiling, Fact, LayerBox, Parts, Picture, RANDOM_READ, RANDOM_WRITE, SEQUENTIAL_READ,
    SEQUENTIAL_WRITE, Value, wording,
};
use crate::disk::arm::Platters;
use crate::disk::shingles::ShingleParameters;
use crate::disk::{CacheParameters, DiskParameters};
use crate::flash::compressing_map::CompressingParameters;
use crate::flash::log_block::{BastParameters, ClusterParameters};
use crate::flash::nand::NandParameters;
use crate::flash::policies::{PageMapParameters, SlcCacheParameters, WhenFull};
use crate::flash::translation_layer::Work;
use crate::flash::{FirmwareParameters, FlashParameters};
use crate::front::LinkParameters;
use crate::model::{FlashModel, Layer};
use crate::spec::{Spec, with_trim};
use crate::state::State;
use crate::timeline::transfer_time;
use crate::value::Explained as _;
use crate::volume::VolumeParameters;

/// Assumed length of sequential I/Os, where the time per command matters.
const SEQUENTIAL_BYTES: u64 = 128 << 10;
const RANDOM_BYTES: u64 = 4096;

pub(super) fn explain_flash(model: &FlashModel, state: String, spec: &Spec) -> Parts {
    let parameters = with_trim(spec, model.parameters);
    let mut layers = vec![link(&parameters.link), flash_firmware(&parameters), buffer(model)];
    layers.extend(slc_cache_box(model));
    layers.extend([translation_layer(model), dies(model)]);
    layers.extend(extras(&parameters));
    let reading =
        parameters.firmware.read_command + parameters.nand.native.read + parameters.nand.page_transfer;
    let crossing = transfer_time(RANDOM_BYTES, parameters.link.bytes_per_s);
    let times = vec![
        Fact::new("a 4 KiB read at QD1", Value::Span(reading + crossing)),
        Fact::new(wording::WRITE_QD1, Value::Span(parameters.firmware.write_command + crossing)),
    ];
    Parts { state, layers, ceilings: flash_ceilings(model), times }
}

/// The link of any kind of drive.
fn link(link: &LinkParameters) -> LayerBox {
    let mut facts = link.facts();
    facts.push(Fact::new("4 KiB transfer", Value::Span(transfer_time(RANDOM_BYTES, link.bytes_per_s))));
    LayerBox::new("host link", wording::link(link.duplex), facts)
}

fn flash_firmware(parameters: &FlashParameters) -> LayerBox {
    let mut facts = parameters.firmware.facts();
    facts.extend([
        Fact::new("TRIM", Value::text(crate::wording::trim(parameters.firmware.trim))),
        Fact::new("idle work starts", Value::text(wording::after_idle(parameters.firmware.idle_after))),
    ]);
    LayerBox::new("firmware", wording::ONE_COMMAND, facts)
}

fn buffer(model: &FlashModel) -> LayerBox {
    let FlashParameters { buffer_pages, page_bytes, unit_pages, .. } = model.parameters;
    let mut facts = vec![
        Fact::new("size", Value::Bytes(u64::from(buffer_pages) * u64::from(page_bytes))),
        Fact::new(wording::UNITS, Value::Count(u64::from(buffer_pages / unit_pages))),
    ];
    if let Some(writes) = model.parameters.firmware.writes_per_unit {
        facts.push(Fact::new(wording::WRITES_PER_UNIT, Value::Count(writes.into())));
    }
    LayerBox::new("write buffer", wording::WRITE_BUFFER, facts)
}

fn translation_layer(model: &FlashModel) -> LayerBox {
    match &model.layer {
        Layer::Page(page) => page_map_box(page, model),
        Layer::Compressing(map) => compressing_box(map, model),
        Layer::Block(clusters) => {
            let facts = cluster_facts(clusters, wording::REPLACEMENT_BLOCKS, model);
            LayerBox::new(wording::BLOCK_MAP_NAME, wording::BLOCK_MAP, facts)
        }
        Layer::Bast(BastParameters { clusters, .. }) => {
            let facts = cluster_facts(clusters, wording::LOG_BLOCKS, model);
            LayerBox::new("translation layer: BAST", wording::BAST, facts)
        }
        Layer::Fast(clusters) => {
            let facts = cluster_facts(clusters, wording::LOG_BLOCKS, model);
            LayerBox::new("translation layer: FAST", wording::FAST, facts)
        }
    }
}

fn dies(model: &FlashModel) -> LayerBox {
    let nand = &model.parameters.nand;
    let flash = &model.flash;
    let bytes = |pages: u32| Value::Bytes(u64::from(pages) * u64::from(model.parameters.page_bytes));
    let (over_user, over_all) = model.spare_shares();
    let facts = vec![
        Fact::new("raw flash", Value::Bytes(model.physical_bytes)),
        Fact::new("over-provisioning (T − U)/U", Value::Share(over_user)),
        Fact::new("spare share (T − U)/T", Value::Share(over_all)),
        Fact::new("one read (row)", bytes(flash.row_pages)),
        Fact::new("tR", Value::Span(nand.native.read)),
        Fact::new("one program (unit)", bytes(flash.unit_pages)),
        Fact::new("tPROG", Value::Span(nand.native.program)),
        Fact::new("tBERS", Value::Span(nand.erase)),
        Fact::new("unit transfer, channel", Value::Span(transfer(nand, flash.unit_pages))),
        Fact::new(wording::PROGRAMMING_DIES, Value::Count(programming(nand).into())),
    ];
    let name = wording::dies(nand.dies(), nand.channels);
    let picture = Picture::Dies { channels: nand.channels, dies_per_channel: nand.dies_per_channel };
    LayerBox { picture: Some(picture), ..LayerBox::new(&name, wording::DIES, facts) }
}

fn flash_ceilings(model: &FlashModel) -> Vec<Ceiling> {
    let FirmwareParameters { read_command, write_command, .. } = model.parameters.firmware;
    let programs = native_programs(model);
    // These programs take the host's writes first on a new drive.
    let cached = slc_programs(model, programming(&model.parameters.nand));
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

/// The bounds on sequential I/Os: `dies`, and what link, firmware and channels allow.
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

/// The bound of all dies reading.
fn row_reads(model: &FlashModel) -> Bound {
    let nand = model.parameters.nand;
    let bytes = u64::from(model.flash.row_pages) * u64::from(model.parameters.page_bytes);
    let (dies, row) = (nand.dies(), transfer(&nand, model.flash.row_pages));
    let method = format!("{dies} × {} / (tR {} + {row})", amount(bytes), nand.native.read);
    Bound::new("dies", method, bytes_per_s(dies, bytes, nand.native.read + row))
}

/// The bound of native programs, on as many dies as may program at once.
fn native_programs(model: &FlashModel) -> Bound {
    let nand = model.parameters.nand;
    let bytes = u64::from(model.flash.unit_pages) * u64::from(model.parameters.page_bytes);
    let (dies, unit) = (programming(&nand), transfer(&nand, model.flash.unit_pages));
    let method = format!("{dies} × {} / ({unit} + tPROG {})", amount(bytes), nand.native.program);
    Bound::new("dies", method, bytes_per_s(dies, bytes, nand.native.program + unit))
}

fn random_reads(model: &FlashModel) -> Vec<Bound> {
    let FlashParameters { link, nand, firmware: FirmwareParameters { read_command, .. }, .. } =
        model.parameters;
    let dies = nand.dies();
    let method = format!("{dies} / (tR {} + {})", nand.native.read, nand.page_transfer);
    vec![
        small_ios("host link", link.bytes_per_s),
        Bound::new("firmware", format!("1 / {read_command}"), per_s(1, read_command)),
        Bound::new("dies", method, per_s(dies, nand.native.read + nand.page_transfer)),
    ]
}

fn random_writes(model: &FlashModel) -> Vec<Bound> {
    let FlashParameters { link, nand, page_bytes, firmware, .. } = model.parameters;
    let FirmwareParameters { write_command, writes_per_unit, .. } = firmware;
    let page_bytes = u64::from(page_bytes);
    let unit_bytes = u64::from(model.flash.unit_pages) * page_bytes;
    // A random write programs at least one mapping unit.
    let room = (unit_bytes / page_bytes.max(RANDOM_BYTES)).max(1) as u32;
    let writes_per_unit = writes_per_unit.map_or(room, |most| u32::from(most).min(room));
    let (dies, unit) = (programming(&nand), transfer(&nand, model.flash.unit_pages));
    let method = format!("{dies} × {writes_per_unit} / ({unit} + tPROG {})", nand.native.program);
    vec![
        small_ios("host link", link.bytes_per_s),
        Bound::new("firmware", format!("1 / {write_command}"), per_s(1, write_command)),
        Bound::new("dies, before GC", method, per_s(dies * writes_per_unit, nand.native.program + unit)),
    ]
}

/// Layers that not every drive has.
fn extras(parameters: &FlashParameters) -> Vec<LayerBox> {
    let mut boxes = Vec::new();
    if let Some(cache) = parameters.map_cache {
        let mapped = Value::Bytes(cache.bytes / 4 * u64::from(parameters.page_bytes));
        let mut facts = cache.facts();
        facts.push(Fact::new(wording::MAPPED_DATA, mapped));
        boxes.push(LayerBox::new("mapping (FTL) cache", wording::MAP_CACHE, facts));
    }
    if let Some(aging) = parameters.aging {
        let facts = vec![
            Fact::new("no retries until", Value::seconds(aging.onset_s as f64)),
            Fact::new(wording::AGING_RETRIES, Value::text(aging.retries_per_decade.to_string())),
            Fact::new("retries at most", Value::Count(aging.retries_max.into())),
        ];
        boxes.push(LayerBox::new("aging", wording::AGING, facts));
    }
    boxes.extend(parameters.thermal.map(|thermal| LayerBox::new("heat", wording::HEAT, thermal.facts())));
    boxes
}

/// 4 KiB I/Os per second at a rate.
fn small_ios(bottleneck: &str, bytes_per_s: u64) -> Bound {
    let value = Value::PerSecond(bytes_per_s as f64 / RANDOM_BYTES as f64);
    Bound::new(bottleneck, format!("its rate / {}", amount(RANDOM_BYTES)), value)
}

/// Operations per second when `many` units take `span` each.
fn per_s(many: u32, span: Nanos) -> Value {
    Value::PerSecond(f64::from(many) / span.as_secs_f64())
}

/// Bytes per second when `many` units move `bytes` in each `span`.
fn bytes_per_s(many: u32, bytes: u64, span: Nanos) -> Value {
    Value::BytesPerSecond(f64::from(many) / span.as_secs_f64() * bytes as f64)
}

fn programming(nand: &NandParameters) -> u32 {
    nand.dies().min(nand.programs_max)
}

/// Time to transfer mapping units over a channel.
fn transfer(nand: &NandParameters, pages: u32) -> Nanos {
    Nanos(nand.page_transfer.0 * u64::from(pages))
}

/// How long undisturbed work keeps a die busy.
fn work_time(nand: &NandParameters, work: &Work) -> Nanos {
    nand.copying_time(work) + Nanos(nand.erase.0 * u64::from(work.erases))
}

fn slc_parameters(model: &FlashModel) -> Option<SlcCacheParameters> {
    match model.layer {
        Layer::Page(PageMapParameters { slc_cache, .. }) => slc_cache,
        _ => None,
    }
}

fn slc_cache_box(model: &FlashModel) -> Option<LayerBox> {
    let (slc, flash, nand) = (slc_parameters(model)?, model.flash, model.parameters.nand);
    let page = u64::from(model.parameters.page_bytes);
    let always =
        u64::from(slc.static_blocks) * u64::from(flash.dies) * u64::from(slc.pages_per_block(&flash));
    let lent =
        u64::from(flash.user_pages) * u64::from(slc.dynamic_percent_max) / 100 / u64::from(slc.bits_per_cell);
    let facts = vec![
        Fact::new("always", Value::Bytes(always * page)),
        Fact::new(wording::SLC_DYNAMIC, Value::Bytes(lent * page)),
        Fact::new("one program (row)", Value::Bytes(u64::from(flash.row_pages) * page)),
        Fact::new("tR", Value::Span(nand.slc.read)),
        Fact::new("tPROG", Value::Span(nand.slc.program)),
        Fact::new(
            wording::SLC_FULL,
            Value::text(match slc.when_full {
                WhenFull::Direct => wording::SLC_DIRECT,
                WhenFull::Fold => wording::SLC_FOLD,
            }),
        ),
        Fact::new(wording::SLC_KEPT, Value::Count(slc.idle_kept_blocks.into())),
    ];
    Some(LayerBox::new("SLC cache", wording::SLC_CACHE, facts))
}

/// The bound of programs into the SLC cache.
fn slc_programs(model: &FlashModel, programming: u32) -> Option<Bound> {
    slc_parameters(model)?;
    let (flash, nand) = (model.flash, model.parameters.nand);
    let bytes = u64::from(flash.row_pages) * u64::from(model.parameters.page_bytes);
    let row = transfer(&nand, flash.row_pages);
    let rate = f64::from(programming) * bytes as f64 / (row + nand.slc.program).as_secs_f64();
    let how = format!("{programming} × {} / ({row} + tPROG {})", amount(bytes), nand.slc.program);
    Some(Bound::new("dies, SLC cells", how, Value::BytesPerSecond(rate)))
}

/// The layer, including the time to garbage-collect one block.
fn page_map_box(page_map: &PageMapParameters, model: &FlashModel) -> LayerBox {
    let flash = page_map.flash;
    let page_bytes = u64::from(model.parameters.page_bytes);
    let block_bytes = u64::from(flash.pages_per_block) * page_bytes;
    let kept = u64::from(flash.dies) * u64::from(page_map.free_blocks_min) * u64::from(flash.pages_per_block);
    let spare = flash.pages().saturating_sub(kept + u64::from(flash.user_pages));
    let mut facts = vec![
        Fact::new("mapping unit", Value::Bytes(page_bytes)),
        Fact::new("pages mapped", Value::Count(flash.user_pages.into())),
        Fact::new("erase block", Value::Bytes(block_bytes)),
        Fact::new("erase blocks", Value::Count(flash.blocks().into())),
        Fact::new(wording::KEPT_ERASED, blocks(page_map.free_blocks_min)),
        Fact::new("spare beside those", Value::Share(spare as f64 / f64::from(flash.user_pages))),
        Fact::new(
            "idle garbage collection",
            Value::text(wording::idle_collection(page_map.idle_free_blocks)),
        ),
    ];
    for (name, valid) in [(wording::COLLECT_EMPTY, 0.0), ("garbage-collecting a half-valid block", 0.5)] {
        let work = collection(page_map, valid);
        facts.push(Fact::new(name, Value::Span(work_time(&model.parameters.nand, &work))));
    }
    LayerBox::new(wording::PAGE_MAP_NAME, &wording::page_map(page_map.policies.collection), facts)
}

/// The work of garbage-collecting a block of which a share is valid, at random pages.
fn collection(page_map: &PageMapParameters, valid: f64) -> Work {
    let flash = page_map.flash;
    let pages = f64::from(flash.pages_per_block) * valid;
    let rows = f64::from(flash.pages_per_block) / f64::from(flash.row_pages);
    let touched = rows * (1.0 - (1.0 - valid).powi(flash.row_pages as i32));
    Work {
        rows: touched.round() as u32,
        moved: pages.round() as u32,
        programs: (pages / f64::from(flash.unit_pages)).ceil() as u32,
        erases: 1,
        ..Work::NONE
    }
}

fn blocks(count: u32) -> Value {
    Value::text(if count == 1 { "1 block".into() } else { format!("{count} blocks") })
}

/// The layer, including the space that some kinds of data take.
fn compressing_box(map: &CompressingParameters, model: &FlashModel) -> LayerBox {
    let page = f64::from(model.parameters.page_bytes);
    let taken = |data: DataClass| {
        let share = f64::from(map.size(data)) / f64::from(map.granules_per_page);
        Value::text(wording::compressed(share, page))
    };
    let pages = wording::COMPRESSED_PAGES.into_iter().map(|(name, data)| Fact::new(name, taken(data)));
    let mut facts: Vec<Fact> = pages.collect();
    facts.extend([
        Fact::new("granules of a page", Value::Count(map.granules_per_page.into())),
        Fact::new(wording::KEPT_ERASED, Value::Count(map.free_blocks_min.into())),
        Fact::new("parity", Value::text(wording::parity(map.parity_stripe_units))),
    ]);
    LayerBox::new(wording::COMPRESSING_MAP_NAME, wording::COMPRESSING_MAP, facts)
}

fn cluster_facts(clusters: &ClusterParameters, logs: &str, model: &FlashModel) -> Vec<Fact> {
    let page_bytes = u64::from(model.parameters.page_bytes);
    // The dies of a group do this side by side.
    let pages = clusters.flash.pages_per_block;
    let merge = Work { rows: pages, moved: pages, programs: pages, erases: 2, ..Work::NONE };
    vec![
        Fact::new("mapping unit", Value::Bytes(page_bytes)),
        Fact::new("cluster", Value::Bytes(u64::from(clusters.cluster_pages()) * page_bytes)),
        Fact::new("groups of dies", Value::Count(clusters.groups().into())),
        Fact::new("clusters of a group", Value::Count(clusters.clusters_per_group().into())),
        Fact::new(logs, Value::Count(clusters.log_blocks.into())),
        Fact::new("a full merge, alone", Value::Span(work_time(&model.parameters.nand, &merge))),
        Fact::new(wording::IDLE_MERGES, Value::text(if clusters.idle_merges { "yes" } else { "no" })),
    ]
}

// Hard disks

/// Number of equal parts of the address space for which a rate is shown.
const PARTS: u64 = 32;

pub(super) fn explain_disk(disk: &DiskParameters, state: &str) -> Parts {
    let platters = Platters::new(disk.platters);
    let whole = Nanos(platters.place(platters.parameters.sectors - 1).end);
    let bytes = platters.parameters.sectors * u64::from(disk.platters.sector_bytes);
    let passing = whole.max(transfer_time(bytes, disk.link.bytes_per_s));
    let access = disk.command + disk.read_seek.average + Nanos(disk.platters.revolution.0 / 2);
    let mut layers = vec![link(&disk.link), disk_firmware(disk), cache(&disk.cache)];
    layers.extend(disk.shingles.as_ref().map(|shingles| shingle_box(shingles, disk.platters.sector_bytes)));
    layers.extend([arm(disk), surface(disk, &platters, whole)]);
    let times = vec![
        Fact::new(wording::RANDOM_READ_ALONE, Value::Span(access)),
        Fact::new(
            wording::RANDOM_WRITE_ALONE,
            Value::Span(disk.command + disk.write_seek.average + Nanos(disk.platters.revolution.0 / 2)),
        ),
        Fact::new(wording::READ_ALL, Value::Span(passing)),
        Fact::new(wording::WRITE_ALL, Value::Span(passing)),
    ];
    Parts { state: state.into(), layers, ceilings: disk_ceilings(disk, access), times }
}

fn disk_firmware(disk: &DiskParameters) -> LayerBox {
    let facts = vec![
        Fact::new("command", Value::Span(disk.command)),
        Fact::new("TRIM", Value::text("not supported")),
    ];
    LayerBox::new("firmware", wording::ONE_COMMAND, facts)
}

fn cache(cache: &CacheParameters) -> LayerBox {
    LayerBox::new("cache", wording::disk_cache(cache.write_cache_bytes > 0), cache.facts())
}

fn shingle_box(shingles: &ShingleParameters, sector_bytes: u32) -> LayerBox {
    let bytes = |sectors: u64| Value::Bytes(sectors * u64::from(sector_bytes));
    let facts = vec![
        Fact::new("persistent cache", bytes(shingles.log_sectors)),
        Fact::new("write segments", Value::Count(shingles.map_entries.into())),
        Fact::new("band", bytes(shingles.band_sectors)),
        Fact::new("cleans", Value::text(wording::cleaning(shingles.idle_after))),
    ];
    LayerBox::new("shingles", wording::SHINGLES, facts)
}

fn arm(disk: &DiskParameters) -> LayerBox {
    let facts = vec![
        Fact::new("track-to-track seek, read", Value::Span(disk.read_seek.track)),
        Fact::new("write", Value::Span(disk.write_seek.track)),
        Fact::new("average seek, read", Value::Span(disk.read_seek.average)),
        Fact::new("write", Value::Span(disk.write_seek.average)),
        Fact::new("full stroke, read", Value::Span(disk.read_seek.full)),
        Fact::new("write", Value::Span(disk.write_seek.full)),
        Fact::new("head switch", Value::Span(disk.head_switch)),
    ];
    LayerBox::new("seeks", wording::SEEKS, facts)
}

fn surface(disk: &DiskParameters, platters: &Platters, whole: Nanos) -> LayerBox {
    let revolution = disk.platters.revolution;
    let bytes = (platters.parameters.sectors * u64::from(disk.platters.sector_bytes)) as f64;
    let facts = vec![
        Fact::new("rpm", Value::Count((60e9 / revolution.0 as f64).round() as u64)),
        Fact::new("one revolution", Value::Span(revolution)),
        Fact::new("heads", Value::Count(disk.platters.heads.into())),
        Fact::new("cylinders", Value::Count(platters.cylinders.into())),
        Fact::new("zones", Value::Count(disk.platters.zones.into())),
        Fact::new("outer edge", Value::BytesPerSecond(disk.platters.outer_bytes_per_s as f64)),
        Fact::new("inner edge", Value::BytesPerSecond(disk.platters.inner_bytes_per_s as f64)),
        Fact::new(wording::MEAN_RATE, Value::BytesPerSecond(bytes / whole.as_secs_f64())),
    ];
    let picture = Picture::BytesPerSByAddress(rates(disk, platters));
    LayerBox { picture: Some(picture), ..LayerBox::new("platters and zones", wording::PLATTERS, facts) }
}

/// Mean rate of each part of the address space.
fn rates(disk: &DiskParameters, platters: &Platters) -> Vec<f64> {
    let parts = PARTS.min(platters.parameters.sectors);
    let at =
        |part: u64| (u128::from(platters.parameters.sectors) * u128::from(part) / u128::from(parts)) as u64;
    let rate = |part: u64| {
        let (from, to) = (at(part), at(part + 1));
        let span = platters.place(to - 1).end - platters.place(from).start;
        ((to - from) * u64::from(disk.platters.sector_bytes)) as f64 / Nanos(span).as_secs_f64()
    };
    (0..parts).map(rate).collect()
}

fn disk_ceilings(disk: &DiskParameters, access: Nanos) -> Vec<Ceiling> {
    let wire = Bound::new("host link", "its rate", Value::BytesPerSecond(disk.link.bytes_per_s as f64));
    let outer = Value::BytesPerSecond(disk.platters.outer_bytes_per_s as f64);
    let medium = Bound::new("platters", "the outer edge", outer);
    let alone =
        Bound::new("seeks", format!("1 / {access}, at QD1"), Value::PerSecond(1.0 / access.as_secs_f64()));
    vec![
        Ceiling::new(SEQUENTIAL_READ, vec![wire.clone(), medium.clone()]),
        Ceiling::new(SEQUENTIAL_WRITE, vec![wire, medium]),
        Ceiling::new(RANDOM_READ, vec![small_ios("host link", disk.link.bytes_per_s), alone]),
    ]
}

// Network volumes

pub(super) fn explain_volume(volume: &VolumeParameters, spec: &Spec) -> Parts {
    let trims = spec.trim.unwrap_or(volume.trims);
    let layers = vec![link(&volume.link), bucket(volume), throughput(volume), store(volume, trims)];
    let transfers = transfer_time(RANDOM_BYTES, volume.bytes_per_s)
        + transfer_time(RANDOM_BYTES, volume.link.bytes_per_s);
    let mut times =
        vec![Fact::new("a 4 KiB I/O, alone (median)", Value::Span(volume.latency.median + transfers))];
    if let Some(span) = volume.credits.burst_span() {
        times.push(Fact::new(wording::BURST_SPAN, Value::Span(span)));
        times.push(Fact::new(wording::REFILL_SPAN, Value::Span(volume.credits.refill_span())));
    }
    Parts {
        state: crate::wording::volume_past(spec.state).into(),
        layers,
        ceilings: volume_ceilings(volume, spec.state),
        times,
    }
}

fn bucket(volume: &VolumeParameters) -> LayerBox {
    let (credits, counting) = (volume.credits, volume.counting);
    let merged = wording::merged_ios(counting.io_bytes, counting.small_io_bytes, counting.small_merge_bytes);
    let mut facts = vec![
        Fact::new("baseline", Value::PerSecond(credits.baseline_iops as f64)),
        Fact::new("burst", Value::PerSecond(credits.iops_max() as f64)),
    ];
    facts.extend(credits.facts());
    facts.extend(counting.facts());
    facts.push(Fact::new("sequential I/Os merge", Value::Text(merged)));
    LayerBox::new("burst credits", wording::credits(credits.burst_span().is_some()), facts)
}

fn throughput(volume: &VolumeParameters) -> LayerBox {
    let facts = vec![
        Fact::new("rate", Value::BytesPerSecond(volume.bytes_per_s as f64)),
        Fact::new(
            "the largest I/O takes",
            Value::Span(transfer_time(volume.counting.io_bytes, volume.bytes_per_s)),
        ),
    ];
    LayerBox::new("throughput limit", wording::THROUGHPUT, facts)
}

fn store(volume: &VolumeParameters, trims: bool) -> LayerBox {
    let mut facts = volume.latency.facts();
    facts.extend([
        Fact::new("latency, mean", Value::Span(Nanos(volume.latency.mean_ns() as u64))),
        Fact::new("distribution", Value::text("log-normal")),
        Fact::new("TRIM", Value::text(wording::volume_trim(trims))),
    ]);
    LayerBox::new("store", wording::STORE, facts)
}

fn volume_ceilings(volume: &VolumeParameters, state: State) -> Vec<Ceiling> {
    let (iops, reason) = match state {
        State::New => (volume.credits.iops_max(), "burst"),
        State::Used => (volume.credits.baseline_iops, "baseline"),
    };
    let io_bytes = volume.counting.io_bytes;
    let large = vec![
        Bound::new("host link", "its rate", Value::BytesPerSecond(volume.link.bytes_per_s as f64)),
        Bound::new("throughput limit", "its rate", Value::BytesPerSecond(volume.bytes_per_s as f64)),
        Bound::new(
            "credits",
            format!("{reason}, {} × {}", Iops(iops as f64), amount(io_bytes)),
            Value::BytesPerSecond(iops as f64 * io_bytes as f64),
        ),
    ];
    let slots = f64::from(volume.link.command_slots);
    let small = vec![
        small_ios("host link", volume.link.bytes_per_s),
        small_ios("throughput limit", volume.bytes_per_s),
        Bound::new("credits", format!("{reason} rate"), Value::PerSecond(iops as f64)),
        Bound::new(
            "store",
            wording::store_limit(slots),
            Value::PerSecond(slots / (volume.latency.mean_ns() / 1e9)),
        ),
    ];
    vec![
        Ceiling::new(SEQUENTIAL_READ, large.clone()),
        Ceiling::new(SEQUENTIAL_WRITE, large),
        Ceiling::new(RANDOM_READ, small.clone()),
        Ceiling::new(RANDOM_WRITE, small),
    ]
}
