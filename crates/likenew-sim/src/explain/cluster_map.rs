//! Explains block maps, and what their merges cost.

use super::explanation::LayerBox;
use super::flash_times::work_time;
use super::value::{Fact, Value};
use super::wording;
use crate::flash::log_block::{BastParameters, ClusterParameters};
use crate::flash::translation_layer::Work;
use crate::model::FlashModel;

/// A block map.
pub(super) fn explain_block(clusters: &ClusterParameters, model: &FlashModel) -> LayerBox {
    let facts = facts(clusters, wording::REPLACEMENT_BLOCKS, model);
    LayerBox::new(wording::BLOCK_MAP_NAME, wording::BLOCK_MAP, facts)
}

/// BAST.
pub(super) fn explain_bast(bast: &BastParameters, model: &FlashModel) -> LayerBox {
    let facts = facts(&bast.clusters, wording::LOG_BLOCKS, model);
    LayerBox::new(wording::BAST_NAME, wording::BAST, facts)
}

/// FAST.
pub(super) fn explain_fast(clusters: &ClusterParameters, model: &FlashModel) -> LayerBox {
    let facts = facts(clusters, wording::LOG_BLOCKS, model);
    LayerBox::new(wording::FAST_NAME, wording::FAST, facts)
}

fn facts(clusters: &ClusterParameters, logs: &str, model: &FlashModel) -> Vec<Fact> {
    let page_bytes = u64::from(model.parameters.page_bytes);
    // On each die of the group, side by side.
    let pages = clusters.flash.pages_per_block;
    let merge = Work { rows: pages, moved: pages, programs: pages, erases: 2, ..Work::NONE };
    vec![
        Fact::new("mapping unit", Value::Bytes(page_bytes)),
        Fact::new("cluster", Value::Bytes(u64::from(clusters.cluster_pages()) * page_bytes)),
        Fact::new("groups of dies", Value::Count(clusters.groups().into())),
        Fact::new("clusters of a group", Value::Count(clusters.clusters_per_group().into())),
        Fact::new(logs, Value::Count(clusters.log_blocks.into())),
        Fact::new(wording::FULL_MERGE, Value::Span(work_time(&model.parameters.nand, &merge))),
        Fact::new(wording::IDLE_MERGES, Value::text(if clusters.idle_merges { "yes" } else { "no" })),
    ]
}
