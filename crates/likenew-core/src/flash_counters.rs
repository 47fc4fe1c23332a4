//! What a simulated drive counts of its flash: bytes programmed, blocks erased, wear.

use serde::{Deserialize, Serialize};

/// Exact counts of a simulated drive since it was opened, without the writes that made its past.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct FlashCounters {
    /// Bytes the host has written.
    pub host_bytes_written: u64,
    /// Bytes programmed into flash, garbage collection included; for a disk, bytes put on the platters.
    pub flash_bytes_programmed: u64,
    /// Erase operations of blocks.
    pub erases: u64,
    /// `flash_bytes_programmed / host_bytes_written`; 1 before the first write.
    pub write_amplification: f64,
    /// Erased blocks ready to be written.
    pub free_blocks: u64,
    /// How worn the flash is, its past included; a disk has none.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub wear: Option<Wear>,
}

impl FlashCounters {
    /// Whether these counters are of flash; a disk or a volume has no blocks to erase.
    pub fn has_flash(&self) -> bool {
        self.wear.is_some()
    }
}

/// How often the erase blocks of a drive were erased since it was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Wear {
    /// The least worn block.
    pub erases_min: u32,
    /// The most worn block.
    pub erases_max: u32,
    /// Mean of all blocks.
    pub erases_mean: f64,
    /// Blocks that were taken out of use.
    pub bad_blocks: u32,
}

impl Wear {
    /// From the erase counts of all blocks.
    pub fn from_erases(erases: impl Iterator<Item = u32>, bad_blocks: u32) -> Self {
        let (mut blocks, mut sum, mut min, mut max) = (0u64, 0u64, u32::MAX, 0);
        for count in erases {
            (blocks, sum) = (blocks + 1, sum + u64::from(count));
            (min, max) = (min.min(count), max.max(count));
        }
        let erases_mean = sum as f64 / blocks.max(1) as f64;
        Self { erases_min: min.min(max), erases_max: max, erases_mean, bad_blocks }
    }
}
