//! How fast native cells can be programmed.

use crate::flash::flash_parameters::FlashParameters;
use crate::model::{FlashModel, Layer};
use crate::timeline::times;

/// Bytes a second that are programmed into native cells without any collection: the least of what link,
/// channels and dies do, of which only as many program as the buffer feeds.
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
            let all = f64::from(map.flash.pages_per_block) * f64::from(map.granules_per_page);
            f64::from(map.block_granules()) / all
        }
        _ => 1.0,
    };
    (programs.min(channels) * data_share).min(link.bytes_per_s as f64)
}
