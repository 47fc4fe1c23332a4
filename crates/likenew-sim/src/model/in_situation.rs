//! Which situations a drive can be in, and how they change its parameters, wear of flash included.

use likenew_core::units::Nanos;

use super::{FlashModel, Layer, Mechanism, Model};
use crate::error::SituationError;
use crate::flash::WearRetries;
use crate::situations::link_standard::Bus;
use crate::situations::{Situations, add_slow_region, granted_cache};

impl Model {
    /// Checks that the drive can be in these situations.
    ///
    /// # Errors
    /// A situation does not apply; the error says what to do.
    pub(crate) fn check_situations(&self, situations: &Situations) -> Result<(), SituationError> {
        let model = || self.model.clone();
        let refuse_if = |does_not_apply: bool, error: fn(String) -> SituationError| {
            if does_not_apply { Err(error(model())) } else { Ok(()) }
        };
        let is_volume = matches!(self.mechanism, Mechanism::Volume(_));
        refuse_if(situations.link.is_some() && is_volume, SituationError::VolumeWithoutLink)?;
        if let (Some(link), Some(own)) = (situations.link, self.link_standard)
            && own.bus != link.bus
            && link.bus != Bus::Usb
        {
            let (own_bus, link) = (own.bus.name(), link.to_string());
            return Err(SituationError::OtherBus { model: model(), own_bus, link });
        }
        let bus = situations.link.or(self.link_standard).map(|link| link.bus);
        let corrects = is_volume || bus == Some(Bus::Pcie);
        refuse_if(situations.damaged_every_ios.is_some() && corrects, SituationError::CorrectingLink)?;
        refuse_if(situations.firmware.is_some() && is_volume, SituationError::NoFirmware)?;
        let addresses = situations.addresses(self.capacity_bytes);
        let (sector, capacity) = (u64::from(self.sector_bytes), addresses.end - addresses.start);
        for (key, bytes) in [("shift", situations.shift_bytes), ("fragments", situations.fragment_bytes)] {
            if let Some(bytes) = bytes.filter(|bytes| !bytes.is_multiple_of(sector) || *bytes >= capacity) {
                return Err(SituationError::OddBytes { key, bytes, model: model(), sector, capacity });
            }
        }
        let has_host_memory = self.mechanism.host_share().is_some();
        refuse_if(situations.host_memory_bytes.is_some() && !has_host_memory, SituationError::NoHostMemory)?;
        refuse_if(situations.from_snapshot.is_some() && !is_volume, SituationError::NotAVolume)?;
        let is_flash = matches!(self.mechanism, Mechanism::Flash(_));
        refuse_if(situations.wear.is_some() && !is_flash, SituationError::NoWear)?;
        let is_disk = matches!(self.mechanism, Mechanism::Disk(_));
        refuse_if(situations.slow_region_share.is_some() && !is_disk, SituationError::NoSlowRegion)
    }

    /// The model with the parameters that situations change. Situations that are layers are added elsewhere.
    pub(crate) fn in_situations(&self, situations: &Situations) -> Self {
        let mut model = Self { situations: situations.clone(), ..self.clone() };
        if let Some(link) = situations.link {
            let own = model.mechanism.link_mut();
            *own = link.narrow(*own);
        }
        if let Mechanism::Flash(flash) = &mut model.mechanism {
            if let (Some(offered), Some(cache)) =
                (situations.host_memory_bytes, &mut flash.parameters.map_cache)
                && let Some(host) = cache.host
            {
                *cache = granted_cache(*cache, host, offered);
            }
            if let Some(share) = situations.wear {
                *flash = apply_wear(*flash, share);
            }
        }
        if let (Mechanism::Disk(disk), Some(share)) = (&model.mechanism, situations.slow_region_share) {
            add_slow_region(model.faults.get_or_insert_default(), disk, model.capacity_bytes, share);
        }
        if let Some(stall) = situations.firmware {
            model.faults.get_or_insert_default().stall = Some(stall);
        }
        model
    }
}

// Worn flash: more read retries, slower erases and programs, less spare.
//
// Errors grow with wear, so reads need retries, and erases take ever longer. This was measured many times
// (Grupp and others, "Characterizing Flash Memory: Anomalies, Observations, and Applications", MICRO 2009;
// Park and others, "Reducing Solid-State Drive Latency by Optimizing Read-Retry", ASPLOS 2021). The numbers
// here are assumed.

/// Growth of the erase time over the rated life; 1 doubles it (assumed).
const ERASE_GROWTH: f64 = 1.0;
/// Growth of the program time over the rated life, as firmware uses finer steps (assumed; the cells alone
/// become faster).
const PROGRAM_GROWTH: f64 = 0.25;
/// Share of the spare blocks that has failed by then (assumed: drives warn at 10 % left).
const FAILED_SPARE_SHARE: f64 = 0.75;

/// Remaining spare blocks in whole percent, as drives report them.
pub(crate) fn spare_percent(share: f64) -> f64 {
    (100.0 * (1.0 - FAILED_SPARE_SHARE * share.min(1.0))).round()
}

/// The drive after a share of its rated life.
pub(crate) fn apply_wear(mut flash: FlashModel, share: f64) -> FlashModel {
    let longer = |span: Nanos, growth: f64| Nanos((span.0 as f64 * (1.0 + growth * share)).round() as u64);
    let nand = &mut flash.parameters.nand;
    nand.native.program = longer(nand.native.program, PROGRAM_GROWTH);
    nand.slc.program = longer(nand.slc.program, PROGRAM_GROWTH);
    nand.erase = longer(nand.erase, ERASE_GROWTH);
    flash.parameters.wear_retries = Some(WearRetries { share });
    lose_spare(&mut flash, share);
    flash
}

/// Removes failed blocks from a page map, as many as it can spare. Block maps keep all.
fn lose_spare(flash: &mut FlashModel, share: f64) {
    let Layer::Page(page) = flash.layer else { return };
    let held = flash.flash.user_pages.div_ceil(flash.flash.dies).div_ceil(flash.flash.pages_per_block);
    let spare = flash.flash.blocks_per_die.saturating_sub(held);
    let lost = (f64::from(spare) * FAILED_SPARE_SHARE * share.min(1.0)) as u32;
    for lost in (1..=lost).rev() {
        let mut fewer = page;
        fewer.flash.blocks_per_die -= lost;
        if fewer.check().is_ok() {
            let page_bytes = flash.physical_bytes / flash.flash.pages();
            (flash.flash, flash.layer) = (fewer.flash, Layer::Page(fewer));
            flash.physical_bytes = fewer.flash.pages() * page_bytes;
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Mechanism;

    #[test]
    fn wear_takes_spare_and_time_and_never_more_than_the_map_can_spare() {
        let entry = crate::catalog().iter().find(|entry| entry.name == "tiny-flash").unwrap();
        let Mechanism::Flash(new) = entry.model.mechanism else { panic!("it is flash") };
        let old = apply_wear(new, 1.0);
        assert_eq!(old.parameters.nand.erase.0, 2 * new.parameters.nand.erase.0);
        assert!(old.flash.blocks_per_die < new.flash.blocks_per_die);
        assert!(old.physical_bytes < new.physical_bytes);
        let Layer::Page(page) = old.layer else { panic!("it maps pages") };
        page.check().unwrap();
        assert_eq!(apply_wear(new, 0.0).flash, new.flash);
        assert_eq!((spare_percent(0.0), spare_percent(1.0), spare_percent(3.0)), (100.0, 25.0, 25.0));
    }
}
