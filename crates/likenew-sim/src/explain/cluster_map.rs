//! Explains block maps, and what their merges cost.

use super::explanation::LayerBox;
use super::flash::work_time;
use super::value::{Fact, Value};
use crate::flash::log_block::{BastParameters, ClusterParameters};
use crate::flash::translation_layer::Work;
use crate::model::FlashModel;

/// A block map.
pub(crate) fn explain_block(clusters: &ClusterParameters, model: &FlashModel) -> LayerBox {
    let description =
        "A cluster is mapped as a whole: a write that does not continue the last one copies all of it.";
    LayerBox::new(
        "translation layer: block map",
        description,
        facts(clusters, "replacement blocks of a group", model),
    )
}

/// BAST.
pub(crate) fn explain_bast(bast: &BastParameters, model: &FlashModel) -> LayerBox {
    let description = "A cluster has its place as a whole, and the clusters written last have a log block each: a write to another one \
                merges one of those first.";
    LayerBox::new(
        "translation layer: BAST",
        description,
        facts(&bast.clusters, "log blocks of a group", model),
    )
}

/// FAST.
pub(crate) fn explain_fast(clusters: &ClusterParameters, model: &FlashModel) -> LayerBox {
    let description = "A cluster has its place as a whole, and all share the log: when it is full, every cluster in its oldest block is \
                merged.";
    LayerBox::new("translation layer: FAST", description, facts(clusters, "log blocks of a group", model))
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
        Fact::new("a full merge, alone", Value::Span(work_time(&model.parameters.nand, &merge))),
        Fact::new("merges in idle time", Value::text(if clusters.idle_merges { "yes" } else { "no" })),
    ]
}
