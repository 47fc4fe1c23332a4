//! Explains a compressing map.

use likenew_core::io::DataClass;

use super::explanation::LayerBox;
use super::value::{Fact, Value};
use crate::flash::compressing_parameters::CompressingParameters;
use crate::model::FlashModel;

/// The layer, with what pages of some data take.
pub(crate) fn explain(map: &CompressingParameters, model: &FlashModel) -> LayerBox {
    let page = f64::from(model.parameters.page_bytes);
    let taken = |data| {
        let share = f64::from(map.size(data)) / f64::from(map.granules_per_page);
        Value::text(format!("{} of {page} B ({:.0}%)", (share * page).round(), share * 100.0))
    };
    let facts = vec![
        Fact::new("a page of zeros takes", taken(DataClass::Zero)),
        Fact::new("a page that compresses to a half", taken(DataClass::Ratio(0.5))),
        Fact::new("a page that does not compress", taken(DataClass::Random)),
        Fact::new("granules of a page", Value::Count(map.granules_per_page.into())),
        Fact::new("kept erased on each die", Value::Count(map.free_blocks_min.into())),
        Fact::new(
            "parity",
            match map.parity_stripe_units {
                0 => Value::text("none"),
                units => Value::text(format!("one program unit of {units}")),
            },
        ),
    ];
    let description = "Compresses each page, packs what is left of it end to end, and collects the blocks that hold least of it. What \
                compresses leaves spare, never capacity.";
    LayerBox::new("compression and translation layer", description, facts)
}
