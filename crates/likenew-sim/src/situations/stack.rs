//! The layers of situations around a mechanism.

use super::Situations;
use super::address_remap::AddressRemap;
use super::array;
use super::crypt::Crypt;
use super::damaged_link::DamagedLink;
use super::io_hook::HookedDevice;
use super::read_cache::ReadCache;
use super::remapped_device::RemappedDevice;
use super::snapshot_restore::{self, SnapshotRestore};
use super::wake::Wake;
use crate::device::Device;
use crate::faults::neighbor::Neighbor;

/// The layers right around a mechanism of so many bytes: an array that reads it, a volume that is still
/// fetched, sleep, a damaged link, a cache.
pub(crate) fn wrap_below(
    situations: &Situations,
    mut device: Box<dyn Device>,
    capacity: u64,
    saved: Option<&snapshot_restore::SavedState>,
) -> Box<dyn Device> {
    if let Some(bytes_per_s) = situations.array_bytes_per_s {
        device = Box::new(Neighbor::new(array::rebuilding(bytes_per_s), device, capacity));
    }
    if situations.from_snapshot == Some(true) {
        device = Box::new(HookedDevice::new(SnapshotRestore::new(saved), device));
    }
    if let Some(wake) = situations.wake {
        device = Box::new(HookedDevice::new(Wake::new(wake), device));
    }
    if let Some(ios) = situations.damaged_every_ios {
        device = Box::new(HookedDevice::new(DamagedLink::new(ios), device));
    }
    if let Some(bytes) = situations.read_cache_bytes {
        device = Box::new(ReadCache::new(bytes, device));
    }
    device
}

/// The layers between the host and a drive of so many bytes: pieces of a file, encryption, a partition.
pub(crate) fn wrap_above(
    situations: &Situations,
    mut device: Box<dyn Device>,
    capacity: u64,
) -> Box<dyn Device> {
    if let Some(by) = situations.shift_bytes {
        device = Box::new(RemappedDevice::new(AddressRemap::Shifted { capacity, by }, device));
    }
    if let Some(crypt) = situations.crypt {
        device = Box::new(HookedDevice::new(Crypt::new(crypt), device));
    }
    if let Some(piece) = situations.fragment_bytes {
        device = Box::new(RemappedDevice::new(AddressRemap::Pieces { capacity, piece }, device));
    }
    device
}
