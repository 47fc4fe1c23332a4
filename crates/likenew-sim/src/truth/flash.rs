//! The true internals of a flash drive, for [`truth`](super).

use super::{TrueValue, Truth};
use crate::faults::{DriveFaults, TrimDefect};
use crate::flash::policies::{SlcCacheParameters, WhenFull};
use crate::flash::translation_layer::Work;
use crate::flash::{FlashParameters, Trim};
use crate::model::{FlashModel, Layer};
use crate::spec::{Spec, past, with_trim};
use crate::state::{DriveTreatment, State};
use crate::timeline::{times, transfer_time};

/// A limit shows only if it is below this share of all others. Chosen: smaller differences cannot be
/// measured.
const SHOWS_BELOW: f64 = 0.9;

/// Collisions show only if the second of two reads reaches its die within this share of the first one's time.
const COLLISIONS_SHOW_BELOW: f64 = 0.75;

pub(super) fn truth(spec: &Spec, flash: &FlashModel, faults: Option<&DriveFaults>) -> Truth {
    let parameters = with_trim(spec, flash.parameters);
    let page = f64::from(parameters.page_bytes);
    let is_empty = spec.state == State::New && spec.fill.is_none_or(|fill| fill == 0.0);
    let trim_fault = faults.and_then(|faults| faults.trim);
    let may_be_emptied = is_empty || (parameters.firmware.trim.works() && trim_fault.is_none());
    let slc = SlcInside::from_flash(flash, may_be_emptied);
    let absent = TrueValue::Absent;
    Truth {
        medium: TrueValue::Word("flash"),
        mapping: TrueValue::Word(match flash.layer {
            Layer::Page(_) | Layer::Compressing(_) => "page",
            Layer::Bast(_) | Layer::Fast(_) => "hybrid",
            Layer::Block(_) => "block",
        }),
        // If a unit cannot be written in part, no write has to read the rest.
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
        trim: match (parameters.firmware.trim, trim_fault) {
            (Trim::Ignored, _) | (_, Some(TrimDefect::Hidden)) => absent,
            (_, Some(TrimDefect::Dropped)) => TrueValue::Word("ignored"),
            (Trim::Immediate, None) => TrueValue::Word("immediate"),
            (Trim::Lazy, None) => TrueValue::Word("idle"),
        },
        idle_collection_ns: if works_in_idle_time(flash) {
            TrueValue::Number(parameters.firmware.idle_after.0 as f64)
        } else {
            absent
        },
        old_data_read_ratio: old_data_read_ratio(&parameters, past(spec, flash)),
        map_cache_bytes: map_cache(&parameters, flash),
        ..Truth::unknown()
    }
}

/// Data pages of one erase block on every die that advances with the others.
fn erase_unit_pages(flash: &FlashModel) -> f64 {
    match &flash.layer {
        Layer::Page(page) => f64::from(page.flash.pages_per_block) * f64::from(page.flash.dies),
        Layer::Compressing(map) => {
            let pages = f64::from(map.block_granules()) / f64::from(map.granules_per_page);
            pages * f64::from(map.flash.dies)
        }
        layer => f64::from(layer.clusters().expect("the rest map clusters").cluster_pages()),
    }
}

/// Single-page reads show all dies only if the drive accepts enough of them and nothing else limits them first.
fn parallelism(flash: &FlashModel) -> TrueValue {
    let FlashParameters { link, nand, page_bytes, firmware, .. } = flash.parameters;
    let dies = f64::from(nand.dies());
    let read_s = (nand.native.read + nand.page_transfer).as_secs_f64();
    let link_s = transfer_time(page_bytes.into(), link.bytes_per_s).as_secs_f64();
    let bounds = [
        f64::from(nand.channels) / nand.page_transfer.as_secs_f64(),
        1.0 / firmware.read_command.as_secs_f64(),
        1.0 / link_s,
    ];
    let others = bounds.into_iter().fold(f64::INFINITY, f64::min);
    // Commands hit dies at random; twice as many commands as dies keep nearly all dies busy.
    let slots = f64::from(link.command_slots);
    if dies / read_s < SHOWS_BELOW * others && (slots >= 2.0 * dies || dies == 1.0) {
        return TrueValue::Number(dies);
    }
    TrueValue::Hidden { low: (others * read_s).min(slots).min(dies).max(1.0).floor(), high: dies }
}

fn stripe(flash: &FlashModel, has_slc_cache: bool) -> TrueValue {
    let page = f64::from(flash.parameters.page_bytes);
    let (row, unit) = (f64::from(flash.flash.row_pages), f64::from(flash.flash.unit_pages));
    if flash.parameters.nand.dies() == 1 {
        return TrueValue::Absent;
    }
    if flash.layer.clusters().is_some() {
        return TrueValue::number(page, collisions_show(flash));
    }
    if has_slc_cache && row < unit {
        TrueValue::Hidden { low: row * page, high: unit * page }
    } else {
        TrueValue::number(unit * page, collisions_show(flash))
    }
}

/// Whether two reads sent together take longer on one die than on two. They do not if the second reaches its
/// die only when the first is nearly done.
fn collisions_show(flash: &FlashModel) -> bool {
    let FlashParameters { link, nand, firmware, .. } = flash.parameters;
    let read_s = (nand.native.read + nand.page_transfer).as_secs_f64();
    link.command_slots >= 2 && firmware.read_command.as_secs_f64() < COLLISIONS_SHOW_BELOW * read_s
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
        layer => layer.clusters().is_some_and(|clusters| clusters.idle_merges),
    }
}

/// The ratio for a single read: command, array reads, and transfer over channel and link.
fn old_data_read_ratio(parameters: &FlashParameters, past: DriveTreatment) -> TrueValue {
    let Some(aging) = parameters.aging else { return TrueValue::Absent };
    let senses = if past.fill > 0.0 { aging.senses(past.age.as_secs_f64() as i64) } else { 1 };
    if senses == 1 {
        return TrueValue::Absent;
    }
    let nand = &parameters.nand;
    let bytes = parameters.page_bytes.max(4096);
    let pages = bytes / parameters.page_bytes;
    let overhead = parameters.firmware.read_command
        + times(nand.page_transfer, pages)
        + transfer_time(bytes.into(), parameters.link.bytes_per_s);
    let time = |senses| (overhead + times(nand.native.read, senses)).as_secs_f64();
    TrueValue::Number(time(senses) / time(1))
}

/// Entries of four bytes, in whole segments.
fn map_cache(parameters: &FlashParameters, flash: &FlashModel) -> TrueValue {
    let Some(cache) = parameters.map_cache else { return TrueValue::Absent };
    let segments = (cache.bytes / u64::from(cache.segment_bytes)).max(1);
    let pages = segments * u64::from(cache.segment_bytes / 4);
    if pages >= u64::from(flash.flash.user_pages) {
        return TrueValue::Absent;
    }
    TrueValue::Number(pages as f64 * f64::from(parameters.page_bytes))
}

/// Rate of native programs in bytes per second without garbage collection: the lowest of link, channels and
/// dies. No more dies program than the write buffer feeds.
pub(super) fn native_bytes_per_s(flash: &FlashModel) -> f64 {
    let FlashParameters { link, nand, page_bytes, buffer_pages, .. } = flash.parameters;
    let unit_pages = flash.flash.unit_pages;
    let dies = nand.dies().min(nand.programs_max).min((buffer_pages / unit_pages).max(1));
    let bytes = f64::from(unit_pages) * f64::from(page_bytes);
    let transfer = times(nand.page_transfer, unit_pages);
    let programs = f64::from(dies) * bytes / (transfer + nand.native.program).as_secs_f64();
    let channels = f64::from(nand.channels) * bytes / transfer.as_secs_f64();
    // Parity takes its share of the programs.
    let data_share = match &flash.layer {
        Layer::Compressing(map) => {
            let granules = f64::from(map.flash.pages_per_block) * f64::from(map.granules_per_page);
            f64::from(map.block_granules()) / granules
        }
        _ => 1.0,
    };
    (programs.min(channels) * data_share).min(link.bytes_per_s as f64)
}

/// The pseudo-SLC cache as `xray` should find it.
#[derive(Clone, Copy)]
pub(super) struct SlcInside {
    pub(super) bytes: TrueValue,
    pub(super) speed_after_bytes_per_s: TrueValue,
    pub(super) recovery_ns: TrueValue,
}

/// The cache of one die on an empty drive. A page is a mapping unit.
struct DieCache<'a> {
    flash: &'a FlashModel,
    slc: SlcCacheParameters,
    /// Pages per native block.
    block: f64,
    /// Pages of the same block with one bit per cell.
    slc_block: f64,
    static_blocks: f64,
    dynamic_blocks: f64,
}

impl SlcInside {
    /// The cache of a drive, if it has one. `may_be_emptied` says whether a measurement can use all of it.
    pub(super) fn from_flash(flash: &FlashModel, may_be_emptied: bool) -> Option<Self> {
        let Layer::Page(page) = flash.layer else { return None };
        let cache = DieCache::new(flash, page.slc_cache?);
        let bytes = f64::from(flash.flash.dies) * cache.pages() * f64::from(flash.parameters.page_bytes)
            + cache.buffered_bytes();
        let shows = may_be_emptied || cache.dynamic_blocks == 0.0;
        Some(Self {
            bytes: TrueValue::number(bytes, shows),
            // On a used drive that nothing empties, garbage collection slows writes down, too.
            speed_after_bytes_per_s: TrueValue::number(cache.speed_after(), may_be_emptied),
            recovery_ns: cache
                .recovery_ns()
                .map_or(TrueValue::Absent, |ns| TrueValue::number(ns, may_be_emptied)),
        })
    }
}

impl<'a> DieCache<'a> {
    /// Static blocks come first. Native space is reserved for their data and for the open native block. A
    /// share of what remains of the host's part of the die becomes dynamic blocks.
    fn new(flash: &'a FlashModel, slc: SlcCacheParameters) -> Self {
        let block = f64::from(flash.flash.pages_per_block);
        let slc_block = f64::from(slc.pages_per_block(&flash.flash));
        let static_blocks = f64::from(slc.static_blocks);
        let host = f64::from(flash.flash.user_pages / flash.flash.dies);
        let free = (host - block - static_blocks * slc_block).max(0.0);
        let dynamic_blocks = (free * f64::from(slc.dynamic_percent_max) / 100.0 / block).floor();
        Self { flash, slc, block, slc_block, static_blocks, dynamic_blocks }
    }

    fn pages(&self) -> f64 {
        (self.static_blocks + self.dynamic_blocks) * self.slc_block
    }

    /// Data in the write buffer at the moment when writes become slower, which the host has written beyond
    /// the cache. If the link is slower than the cache, the buffer is empty until then, and fills while
    /// native cells program part of the data.
    fn buffered_bytes(&self) -> f64 {
        let (parameters, flash) = (&self.flash.parameters, &self.flash.flash);
        let buffer = f64::from(parameters.buffer_pages) * f64::from(parameters.page_bytes);
        let link = parameters.link.bytes_per_s as f64;
        let row = times(parameters.nand.page_transfer, flash.row_pages);
        let bytes = f64::from(flash.row_pages) * f64::from(parameters.page_bytes);
        let dies = f64::from(parameters.nand.dies().min(parameters.nand.programs_max));
        let channels = f64::from(parameters.nand.channels) * bytes / row.as_secs_f64();
        let cache = (dies * bytes / (row + parameters.nand.slc.program).as_secs_f64()).min(channels);
        let native = native_bytes_per_s(self.flash);
        if link < cache && native < link { buffer * link / (link - native) } else { buffer }
    }

    /// What each folded dynamic block costs the cache for good: native space for its pages, less the part
    /// that may be borrowed.
    fn lost_by_folding(&self) -> f64 {
        f64::from(self.slc.dynamic_percent_max) / 100.0 * self.slc_block / self.block
    }

    /// Time to fold a full block while all dies of its channel fold, in nanoseconds.
    fn fold_ns(&self) -> f64 {
        let (nand, flash) = (&self.flash.parameters.nand, &self.flash.flash);
        let moved = self.slc_block as u32;
        let work = Work {
            slc_rows: moved / flash.row_pages,
            moved,
            programs: moved / flash.unit_pages,
            erases: 1,
            ..Work::NONE
        };
        let alone = nand.copying_time(&work) + nand.erase;
        let channel = times(nand.page_transfer, 2 * moved * nand.dies_per_channel);
        alone.max(channel).0 as f64
    }

    /// Native speed as long as there is native space that no dynamic block holds. Otherwise each SLC block
    /// waits for the folding of another, or each native block for the folding of as many as make room for it.
    fn speed_after(&self) -> f64 {
        let native = native_bytes_per_s(self.flash);
        let (flash, nand) = (&self.flash.flash, &self.flash.parameters.nand);
        let page = f64::from(self.flash.parameters.page_bytes);
        let host = f64::from(flash.user_pages / flash.dies);
        let free = host - self.block - self.dynamic_blocks * self.block - self.static_blocks * self.slc_block;
        let dies = f64::from(nand.dies());
        match self.slc.when_full {
            WhenFull::Direct if free >= 2.0 * self.block => native,
            WhenFull::Direct => {
                let folds = self.block / (self.block - self.slc_block);
                let programs = self.block / f64::from(flash.unit_pages)
                    * (times(nand.page_transfer, flash.unit_pages) + nand.native.program).0 as f64;
                let bytes = dies * self.block * page;
                native.min(bytes / ((programs + folds * self.fold_ns()) / 1e9))
            }
            WhenFull::Fold => {
                let folds = 1.0 / (1.0 - if self.static_blocks > 0.0 { 0.0 } else { self.lost_by_folding() });
                let rows = self.slc_block / f64::from(flash.row_pages);
                let programs =
                    rows * (times(nand.page_transfer, flash.row_pages) + nand.slc.program).0 as f64;
                dies * self.slc_block * page / ((programs + folds * self.fold_ns()) / 1e9)
            }
        }
    }

    /// Idle time until half of the cache is free again. All dies fold at once, the oldest blocks first, which
    /// are static. `None` if so many blocks stay unfolded that half is never free.
    fn recovery_ns(&self) -> Option<f64> {
        let half = (self.static_blocks + self.dynamic_blocks) / 2.0;
        let lost = self.lost_by_folding();
        let blocks = if half <= self.static_blocks {
            half
        } else {
            // Rewritten data of static blocks also takes native space, so fewer dynamic blocks can be
            // borrowed.
            self.static_blocks + (half - self.static_blocks + lost * self.static_blocks) / (1.0 - lost)
        };
        let folded_at_most = self.static_blocks + self.dynamic_blocks - f64::from(self.slc.idle_kept_blocks);
        let idle = self.flash.parameters.firmware.idle_after.0 as f64;
        // A fold that has begun is completed even if the idle time ends.
        (blocks <= folded_at_most).then(|| idle + (blocks.ceil() - 1.0).max(0.0) * self.fold_ns())
    }
}
