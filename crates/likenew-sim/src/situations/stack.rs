//! The layers of situations around a mechanism.

use super::Situations;
use super::array;
use super::crypt::Crypt;
use super::damaged_link::DamagedLink;
use super::held::Held;
use super::places::Places;
use super::read_cache::ReadCache;
use super::restored::{self, Restored};
use super::scattered::Scattered;
use super::wake::Wake;
use crate::device::Device;
use crate::faults::neighbour::Neighbour;

/// What lies right around a mechanism of so many bytes: an array that reads it, a volume that is still fetched, sleep, a damaged link, a cache.
pub(crate) fn below(
    situations: &Situations,
    mut device: Box<dyn Device>,
    capacity: u64,
    saved: Option<&restored::Saved>,
) -> Box<dyn Device> {
    if let Some(bytes_per_s) = situations.array_bytes_per_s {
        device = Box::new(Neighbour::new(array::rebuilding(bytes_per_s), device, capacity));
    }
    if situations.restored == Some(true) {
        device = Box::new(Held::new(Restored::new(saved), device));
    }
    if let Some(wake) = situations.wake {
        device = Box::new(Held::new(Wake::new(wake), device));
    }
    if let Some(ios) = situations.damaged_every_ios {
        device = Box::new(Held::new(DamagedLink::new(ios), device));
    }
    if let Some(bytes) = situations.read_cache_bytes {
        device = Box::new(ReadCache::new(bytes, device));
    }
    device
}

/// What lies between the host and a drive of so many bytes: pieces of a file, encryption, a partition.
pub(crate) fn above(situations: &Situations, mut device: Box<dyn Device>, capacity: u64) -> Box<dyn Device> {
    if let Some(by) = situations.shift_bytes {
        device = Box::new(Scattered::new(Places::Shifted { capacity, by }, device));
    }
    if let Some(crypt) = situations.crypt {
        device = Box::new(Held::new(Crypt::new(crypt), device));
    }
    if let Some(piece) = situations.fragment_bytes {
        device = Box::new(Scattered::new(Places::Pieces { capacity, piece }, device));
    }
    device
}
