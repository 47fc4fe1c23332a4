//! Explains a pseudo-SLC write cache, and how fast it takes writes.

use likenew_core::units::amount;

use super::explanation::{Bound, LayerBox};
use super::flash_times::transfer;
use super::value::{Fact, Value};
use super::wording;
use crate::flash::page_map_parameters::PageMapParameters;
use crate::flash::slc_cache_parameters::{SlcCacheParameters, WhenFull};
use crate::model::{FlashModel, Layer};

fn cache(model: &FlashModel) -> Option<SlcCacheParameters> {
    match model.layer {
        Layer::Page(PageMapParameters { slc_cache, .. }) => slc_cache,
        _ => None,
    }
}

/// The layer, if the drive has it.
pub(super) fn explain(model: &FlashModel) -> Option<LayerBox> {
    let (slc, flash, nand) = (cache(model)?, model.flash, model.parameters.nand);
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

/// What bounds writes into it.
pub(super) fn programs(model: &FlashModel, programming: u32) -> Option<Bound> {
    cache(model)?;
    let (flash, nand) = (model.flash, model.parameters.nand);
    let bytes = u64::from(flash.row_pages) * u64::from(model.parameters.page_bytes);
    let row = transfer(&nand, flash.row_pages);
    let rate = f64::from(programming) * bytes as f64 / (row + nand.slc.program).as_secs_f64();
    let how = format!("{programming} × {} / ({row} + tPROG {})", amount(bytes), nand.slc.program);
    Some(Bound::new("dies, SLC cells", how, Value::BytesPerSecond(rate)))
}
