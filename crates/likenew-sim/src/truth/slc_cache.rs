//! A pseudo-SLC cache as seen from outside: how much it takes, what comes after, and when it is back.

use super::TrueValue;
use super::native_speed::native_bytes_per_s;
use crate::flash::slc_cache_parameters::{SlcCacheParameters, WhenFull};
use crate::flash::translation_layer::Work;
use crate::model::{FlashModel, Layer};
use crate::timeline::times;

/// A cache as an X-ray should find it.
#[derive(Clone, Copy)]
pub(super) struct SlcInside {
    pub(super) bytes: TrueValue,
    pub(super) speed_after_bytes_per_s: TrueValue,
    pub(super) recovery_ns: TrueValue,
}

/// The cache of one die of an empty drive. Pages are units of the map.
struct DieCache<'a> {
    flash: &'a FlashModel,
    slc: SlcCacheParameters,
    /// Pages of a native block, and of the same block with one bit a cell.
    block: f64,
    slc_block: f64,
    static_blocks: f64,
    dynamic_blocks: f64,
}

impl SlcInside {
    /// The cache of a drive, if it has one; `may_be_emptied` says whether a measurement can have all of it.
    pub(super) fn from_flash(flash: &FlashModel, may_be_emptied: bool) -> Option<Self> {
        let Layer::Page(page) = flash.layer else { return None };
        let cache = DieCache::new(flash, page.slc_cache?);
        let bytes = f64::from(flash.flash.dies) * cache.pages() * f64::from(flash.parameters.page_bytes)
            + cache.buffered_bytes();
        let shows = may_be_emptied || cache.dynamic_blocks == 0.0;
        Some(Self {
            bytes: TrueValue::number(bytes, shows),
            // On a used drive that nothing empties collection slows it down, too.
            speed_after_bytes_per_s: TrueValue::number(cache.speed_after(), may_be_emptied),
            recovery_ns: cache
                .recovery_ns()
                .map_or(TrueValue::Absent, |ns| TrueValue::number(ns, may_be_emptied)),
        })
    }
}

impl<'a> DieCache<'a> {
    /// Static blocks come first. Native blocks are reserved for what they hold, as is the open native block;
    /// of the rest of the host's part of the die, a share becomes dynamic blocks.
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

    /// What the host has written beyond what the cache holds when it becomes slower: what the write buffer
    /// holds then. If the link is slower than the cache the buffer is empty until then, and fills while
    /// native cells take a part away.
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

    /// What each folded dynamic block takes of the cache for good: its pages, natively, less what may be lent of them.
    fn lost_by_folding(&self) -> f64 {
        f64::from(self.slc.dynamic_percent_max) / 100.0 * self.slc_block / self.block
    }

    /// Nanoseconds of folding one full block while all dies of its channel do the same.
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

    /// Straight to native cells as long as there is native space that no dynamic block holds. Otherwise each
    /// SLC block that is written waits for one that is folded, or for each native block for as many as give
    /// it back.
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

    /// Folding begins after the idle time and continues on all dies at once, the oldest blocks first, which
    /// are the static ones. `None` if so many are left unfolded that half of it never comes back.
    fn recovery_ns(&self) -> Option<f64> {
        let half = (self.static_blocks + self.dynamic_blocks) / 2.0;
        let lost = self.lost_by_folding();
        let blocks = if half <= self.static_blocks {
            half
        } else {
            // Data written to static blocks again takes native space, too, so that fewer dynamic blocks are
            // lent.
            self.static_blocks + (half - self.static_blocks + lost * self.static_blocks) / (1.0 - lost)
        };
        let folded_at_most = self.static_blocks + self.dynamic_blocks - f64::from(self.slc.idle_kept_blocks);
        let idle = self.flash.parameters.idle_after.0 as f64;
        // The fold that has begun when the rest ends is brought to its end.
        (blocks <= folded_at_most).then(|| idle + (blocks.ceil() - 1.0).max(0.0) * self.fold_ns())
    }
}
