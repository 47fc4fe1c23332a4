//! How long parts of a flash drive take.

use likenew_core::units::Nanos;

use crate::flash::nand_parameters::NandParameters;
use crate::flash::translation_layer::Work;

/// Pages of the map over a channel.
pub(super) fn transfer(nand: &NandParameters, pages: u32) -> Nanos {
    Nanos(nand.page_transfer.0 * u64::from(pages))
}

/// How long a die takes for undisturbed work.
pub(super) fn work_time(nand: &NandParameters, work: &Work) -> Nanos {
    nand.copying_time(work) + Nanos(nand.erase.0 * u64::from(work.erases))
}
