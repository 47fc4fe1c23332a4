//! How a flash drive is built: everything that its mechanism needs to know.

use likenew_core::units::Nanos;

use super::aging::AgingParameters;
use super::map_cache::MapCacheParameters;
use super::nand_parameters::NandParameters;
use super::thermal::ThermalParameters;
use super::wear_retries::WearRetries;
use crate::host_link::LinkParameters;

/// How a flash drive is built.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FlashParameters {
    /// The cable.
    pub link: LinkParameters,
    /// Firmware time of one read command.
    pub read_command: Nanos,
    /// Firmware time of one write command.
    pub write_command: Nanos,
    /// Firmware time of one TRIM or flush command.
    pub other_command: Nanos,
    /// Bytes of a sector, the smallest unit of address.
    pub sector_bytes: u32,
    /// Bytes of a page of the map.
    pub page_bytes: u32,
    /// Pages in the write buffer.
    pub buffer_pages: u32,
    /// The largest program unit in pages.
    pub unit_pages: u32,
    /// Host writes that do not continue each other in address and share a program unit, at most; without, as many as fit.
    pub writes_per_unit: Option<u8>,
    /// The chips.
    pub nand: NandParameters,
    /// A drive without anything to do starts to look after itself after this long.
    pub idle_after: Nanos,
    /// What TRIM does.
    pub trim: Trim,
    /// Memory for a part of the map, where it does not hold all of it.
    pub map_cache: Option<MapCacheParameters>,
    /// How data ages, if it does.
    pub aging: Option<AgingParameters>,
    /// What wear does to reads, if the flash is worn.
    pub wear_retries: Option<WearRetries>,
    /// How the drive warms up, if that matters.
    pub thermal: Option<ThermalParameters>,
    /// What is in the write buffer survives a loss of power, so that a flush has nothing to wait for.
    pub power_loss_protection: bool,
}

/// What a drive does with TRIM.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trim {
    /// It forgets the pages before it answers.
    Immediate,
    /// It takes a note, and forgets the pages when it has nothing to do, or when they are written again.
    Lazy,
    /// Nothing.
    Ignored,
}

impl Trim {
    /// As files spell them, in the order of the variants.
    pub(crate) const WORDS: [&str; 3] = ["immediate", "lazy", "ignored"];
    pub(crate) const ALL: [Self; 3] = [Self::Immediate, Self::Lazy, Self::Ignored];

    /// Whether it is ever obeyed.
    pub fn works(self) -> bool {
        self != Self::Ignored
    }
}
