//! The parameters of a flash drive.

use super::layer::Layer;
use crate::flash::flash_geometry::FlashGeometry;
use crate::flash::flash_parameters::FlashParameters;

/// The parameters of a flash drive, and how much use makes it a used one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FlashModel {
    /// The mechanism.
    pub parameters: FlashParameters,
    /// How its flash is divided.
    pub flash: FlashGeometry,
    /// The translation layer.
    pub layer: Layer,
    /// Bytes of flash for user data and spare together.
    pub physical_bytes: u64,
    /// A used drive was overwritten at random, without TRIM, for this share of what it holds.
    pub overwritten_share: f64,
}
