//! Explains a compressing map.

use likenew_core::io::DataClass;

use super::explanation::LayerBox;
use super::value::{Fact, Value};
use super::wording;
use crate::flash::compressing_parameters::CompressingParameters;
use crate::model::FlashModel;

/// The layer, with what pages of some data take.
pub(super) fn explain(map: &CompressingParameters, model: &FlashModel) -> LayerBox {
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
