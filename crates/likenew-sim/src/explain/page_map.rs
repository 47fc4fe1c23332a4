//! Explains a page map, and what its garbage collection costs.

use super::explanation::LayerBox;
use super::flash_times::work_time;
use super::value::{Fact, Value};
use super::wording;
use crate::flash::page_map_parameters::PageMapParameters;
use crate::flash::translation_layer::Work;
use crate::model::FlashModel;

/// The layer, with the time of one collection.
pub(super) fn explain(page_map: &PageMapParameters, model: &FlashModel) -> LayerBox {
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
    for (name, valid) in [(wording::COLLECT_EMPTY, 0.0), (wording::COLLECT_HALF, 0.5)] {
        let work = collection(page_map, valid);
        facts.push(Fact::new(name, Value::Span(work_time(&model.parameters.nand, &work))));
    }
    LayerBox::new(wording::PAGE_MAP_NAME, &wording::page_map(page_map.policies.collection), facts)
}

/// What collecting a block takes of which a share is valid, at random pages.
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
