//! The layers of situations around a mechanism.

use super::Situations;
use super::crypt::Crypt;
use super::held::Held;
use super::places::Places;
use super::restored::{self, Restored};
use super::scattered::Scattered;
use super::wake::Wake;
use crate::device::Device;

/// What lies right around the drive's mechanism: a volume that is still fetched, and sleep.
pub(crate) fn below(
    situations: &Situations,
    mut device: Box<dyn Device>,
    saved: Option<&restored::Saved>,
) -> Box<dyn Device> {
    if situations.restored == Some(true) {
        device = Box::new(Held::new(Restored::new(saved), device));
    }
    if let Some(wake) = situations.wake {
        device = Box::new(Held::new(Wake::new(wake), device));
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
