//! Which situations a drive can be in, and what they make of its parameters.

use super::{Mechanism, Model, wear};
use crate::situation_error::SituationError;
use crate::situations::link_standard::Bus;
use crate::situations::{Situations, firmware, host_memory, slow_region};

impl Model {
    /// Whether the drive can be in these situations.
    ///
    /// # Errors
    /// Which not, and what to do.
    pub(crate) fn check_situations(&self, situations: &Situations) -> Result<(), SituationError> {
        let model = || self.model.clone();
        let (is_flash, is_disk, is_volume) = match &self.mechanism {
            Mechanism::Flash(_) => (true, false, false),
            Mechanism::Disk(_) => (false, true, false),
            Mechanism::Volume(_) => (false, false, true),
        };
        if let Some(link) = situations.link {
            if is_volume {
                return Err(SituationError::VolumeWithoutLink { model: model() });
            }
            if let Some(own) = self.link_standard.filter(|own| own.bus != link.bus && link.bus != Bus::Usb) {
                let (own_bus, link) = (own.bus.name(), link.to_string());
                return Err(SituationError::OtherBus { model: model(), own_bus, link });
            }
        }
        let bus = situations.link.or(self.link_standard).map(|link| link.bus);
        if situations.damaged_every_ios.is_some() && (is_volume || bus == Some(Bus::Pcie)) {
            return Err(SituationError::CorrectingLink { model: model() });
        }
        if situations.firmware.is_some() && is_volume {
            return Err(SituationError::NoFirmware { model: model() });
        }
        let (sector, capacity) = (u64::from(self.sector_bytes), self.capacity_bytes);
        for (key, bytes) in [("shift", situations.shift_bytes), ("fragments", situations.fragment_bytes)] {
            if let Some(bytes) = bytes.filter(|bytes| !bytes.is_multiple_of(sector) || *bytes >= capacity) {
                return Err(SituationError::OddBytes { key, bytes, model: model(), sector, capacity });
            }
        }
        if situations.host_memory_bytes.is_some() && self.mechanism.host_share().is_none() {
            return Err(SituationError::NoHostMemory { model: model() });
        }
        if situations.from_snapshot.is_some() && !is_volume {
            return Err(SituationError::NotAVolume { model: model() });
        }
        if situations.wear.is_some() && !is_flash {
            return Err(SituationError::NoWear { model: model() });
        }
        if situations.weak.is_some() && !is_disk {
            return Err(SituationError::NoSlowRegion { model: model() });
        }
        Ok(())
    }

    /// The drive in these situations, as far as they change its parameters; layers around it come in addition.
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
                *cache = host_memory::granted_cache(*cache, host, offered);
            }
            if let Some(share) = situations.wear {
                *flash = wear::apply_wear(*flash, share);
            }
        }
        if let (Mechanism::Disk(disk), Some(share)) = (&model.mechanism, situations.weak) {
            model.faults =
                Some(slow_region::with_slow_region(model.faults.take(), disk, model.capacity_bytes, share));
        }
        if let Some(stall) = situations.firmware {
            model.faults = Some(firmware::with_stalls(model.faults.take(), stall));
        }
        model
    }
}
