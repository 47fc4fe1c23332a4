//! A flash drive: its parameters and geometry, how its data ages, and how wear slows its reads. Each layer
//! has its own module.

pub mod compressing_map;
mod contents;
pub(crate) mod drive;
mod history;
pub mod log_block;
pub mod map_cache;
pub mod nand;
pub mod page_map;
pub mod policies;
pub mod thermal;
pub mod translation_layer;
mod victims;
mod write_buffer;

use likenew_core::units::Nanos;
use serde::{Deserialize, Serialize};
use strum::{EnumString, VariantNames};

use crate::drive_file::{Section, parameters};
use crate::front::LinkParameters;
use crate::value::Value;
use map_cache::MapCacheParameters;
use nand::NandParameters;
use thermal::ThermalParameters;
use translation_layer::PhysicalPage;

/// The parameters of a flash drive.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FlashParameters {
    /// The link to the host.
    pub link: LinkParameters,
    /// How its firmware handles commands.
    pub firmware: FirmwareParameters,
    /// Bytes per sector, the smallest addressable unit.
    pub sector_bytes: u32,
    /// Bytes per mapping unit.
    pub page_bytes: u32,
    /// Capacity of the write buffer in mapping units.
    pub buffer_pages: u32,
    /// The largest program unit, in mapping units.
    pub unit_pages: u32,
    /// The chips.
    pub nand: NandParameters,
    /// Cache for the mapping table, on drives whose memory cannot hold all of it.
    pub map_cache: Option<MapCacheParameters>,
    /// How data ages, if it does.
    pub aging: Option<AgingParameters>,
    /// How wear slows reads, if the flash is worn.
    pub wear_retries: Option<WearRetries>,
    /// How the drive heats up and throttles, if that is simulated.
    pub thermal: Option<ThermalParameters>,
}

parameters! {
    /// How the firmware of a flash drive handles commands.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct FirmwareParameters {
        /// Time per read command.
        pub read_command: Nanos = span("read_command_ns") => ("read command", Value::Span),
        /// Time per write command.
        pub write_command: Nanos = span("write_command_ns") => ("write command", Value::Span),
        /// Time per TRIM or flush command.
        pub other_command: Nanos = span("other_command_ns") => ("TRIM or flush", Value::Span),
        /// Capacity of the write buffer in bytes.
        pub buffer_bytes: u64 = whole("buffer_bytes", 512..=1 << 32),
        /// The most non-contiguous host writes that may share a program unit; `None` for no limit.
        pub writes_per_unit: Option<u8> = whole_or_none("writes_per_unit", 1..=64),
        /// Idle time after which the drive starts background work.
        pub idle_after: Nanos = span("idle_after_ns"),
        /// What the drive does with TRIM.
        pub trim: Trim = one_of("trim"),
        /// Whether the write buffer survives a power loss, so that a flush need not wait.
        pub power_loss_protection: bool = or_default("power_loss_protection", Section::truth),
    }
}

/// What a drive does with TRIM.
#[derive(Clone, Copy, Debug, PartialEq, Eq, EnumString, VariantNames)]
#[strum(serialize_all = "lowercase")]
pub enum Trim {
    /// Unmaps the pages before it acknowledges.
    Immediate,
    /// Takes a note, and unmaps the pages when idle or before they are written again.
    Lazy,
    /// Acknowledges TRIM and does nothing.
    Ignored,
}

impl Trim {
    /// Whether TRIM ever has an effect.
    pub fn works(self) -> bool {
        self != Self::Ignored
    }
}

/// How many dies, blocks and pages there are. A page is a mapping unit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FlashGeometry {
    /// Dies.
    pub dies: u32,
    /// Erase blocks per die; planes that are erased together count as one.
    pub blocks_per_die: u32,
    /// Pages per erase block.
    pub pages_per_block: u32,
    /// Pages per array read.
    pub row_pages: u32,
    /// Pages per program operation.
    pub unit_pages: u32,
    /// Pages that the host can address.
    pub user_pages: u32,
}

impl FlashGeometry {
    /// Erase blocks in the drive.
    pub fn blocks(&self) -> u32 {
        self.dies * self.blocks_per_die
    }

    /// Flash pages per die.
    pub fn pages_per_die(&self) -> u64 {
        u64::from(self.blocks_per_die) * u64::from(self.pages_per_block)
    }

    /// Flash pages in the drive.
    pub fn pages(&self) -> u64 {
        u64::from(self.dies).saturating_mul(self.pages_per_die())
    }

    /// Checks that flash can have this geometry.
    ///
    /// # Errors
    /// The values contradict each other.
    pub fn check(&self) -> Result<(), LayoutError> {
        let counts = [self.dies, self.blocks_per_die, self.pages_per_block, self.row_pages, self.unit_pages];
        if counts.contains(&0) || self.user_pages == 0 {
            return Err(LayoutError::ZeroCount);
        }
        if self.dies > u32::from(u16::MAX) || self.pages_per_block > u32::from(u16::MAX) {
            let (dies, pages_per_block) = (self.dies, self.pages_per_block);
            return Err(LayoutError::LargeDivision { dies, pages_per_block });
        }
        if self.pages() >= u64::from(u32::MAX) {
            return Err(LayoutError::TooManyPages { pages: self.pages() });
        }
        if !self.pages_per_block.is_multiple_of(self.row_pages)
            || !self.pages_per_block.is_multiple_of(self.unit_pages)
        {
            return Err(LayoutError::OddBlock {
                pages_per_block: self.pages_per_block,
                row: self.row_pages,
                unit: self.unit_pages,
            });
        }
        Ok(())
    }
}

// Old data reads slowly.
//
// Charge leaks out of cells. Data that was programmed long ago no longer reads correctly at the first attempt,
// and the array is read again with shifted thresholds. The shift grows with the logarithm of the retention time
// (Cai and others, "Data Retention in MLC NAND Flash Memory: Characterization, Optimization, and Recovery",
// HPCA 2015), and so does the number of retries. Programming the page again makes its data new.

parameters! {
    /// How the age of data slows reads.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct AgingParameters {
        /// Age in seconds up to which data needs no retries; 1 at least.
        pub onset_s: u64 = whole("onset_s", 1..=10_000_000_000),
        /// Retries added by each further tenfold age.
        pub retries_per_decade: f64 = number("retries_per_decade", 0.0..=1000.0),
        /// The most retries, for the oldest data.
        pub retries_max: u32 = whole("retries_max", 0..=1000),
    }
}

impl AgingParameters {
    /// Array reads for data of this age, the first attempt included.
    pub(crate) fn senses(&self, age_s: i64) -> u32 {
        let decades = (age_s as f64 / self.onset_s as f64).log10();
        // The logarithm is negative or −∞ for young data; both give zero.
        1 + (decades * self.retries_per_decade).ceil().clamp(0.0, f64::from(self.retries_max)) as u32
    }
}

/// Mean retries at the end of the rated life (assumed); they grow with the square of wear.
const RETRIES_AT_END: f64 = 4.0;

/// How wear slows reads.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WearRetries {
    /// Share of the rated life that is used up.
    pub share: f64,
}

impl WearRetries {
    /// Mean retries per row.
    pub fn retries_mean(&self) -> f64 {
        RETRIES_AT_END * self.share * self.share
    }

    /// Retries of the row at this place. Each row always needs the same number: the mean, rounded down or up.
    pub(crate) fn retries(&self, place: &PhysicalPage) -> u32 {
        let draw = (place.row.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as f64 / f64::from(1 << 24);
        (self.retries_mean() + draw) as u32
    }
}

/// Why parameters do not fit together.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs, reason = "the sentence of each variant explains its fields")]
pub enum LayoutError {
    // Geometry
    #[error("every count is at least 1")]
    ZeroCount,
    #[error("{dies} dies and {pages_per_block} pages in a block are more than the 65535 that are supported")]
    LargeDivision { dies: u32, pages_per_block: u32 },
    #[error("{pages} flash pages are more than the 2³² − 2 that are supported")]
    TooManyPages { pages: u64 },
    #[error(
        "a block of {pages_per_block} pages is not a multiple of the {row} pages of a read and the {unit} pages of a program"
    )]
    OddBlock { pages_per_block: u32, row: u32, unit: u32 },

    // Page maps
    #[error("at least 2 blocks are kept free")]
    SmallReserve,
    #[error(
        "{user_pages} user pages leave too little spare: {pages} flash pages hold at most {usable} of them beside the reserve"
    )]
    LittleSpare { user_pages: u32, pages: u64, usable: u64 },
    #[error("collection from random choices takes at least 1 of them")]
    NoChoices,
    #[error("blocks are rated for at least 1 erasure")]
    NoEndurance,

    // SLC caches
    #[error("an SLC cache goes with map.streams \"separate\" and without map.endurance_erases")]
    PoliciesBesideSlcCache,
    #[error("{bits} bits in a cell: 2 to 5 are supported")]
    BitsPerCell { bits: u32 },
    #[error("an SLC cache has a static part, a dynamic part or both")]
    EmptySlcCache,
    #[error("{percent} percent of the free space: it takes 0 to 100")]
    DynamicShare { percent: u32 },
    #[error(
        "a block of {pages_per_block} pages in rows of {row} holds no row with one of {bits} bits in a cell"
    )]
    NoSlcRow { pages_per_block: u32, row: u32, bits: u32 },

    // Compressing maps
    #[error(
        "{user_pages} user pages leave too little spare: without compression, {pages} flash pages hold at most {usable} of them beside the reserve and the parity"
    )]
    LittleSpareUncompressed { user_pages: u32, pages: u64, usable: u64 },
    #[error(
        "a page of {granules} granules, compressed to {least} at least: a page has at most 255 granules and takes at least 1 of them"
    )]
    Granules { granules: u32, least: u32 },
    #[error(
        "one program unit of {stripe} holds parity: a block of {units} units takes a divisor of that, 2 at least, or 0 for none"
    )]
    ParityStripe { stripe: u32, units: u32 },
    #[error("a program of {unit} pages is not a multiple of the {row} pages of a read")]
    OddUnit { unit: u32, row: u32 },
    #[error(
        "{blocks} blocks of {granules} granules: at most 65535 in a block and 2³² − 2 in all are supported, so take fewer granules a page"
    )]
    TooManyGranules { blocks: u32, granules: u64 },

    // Cluster maps
    #[error(
        "a cluster map reads and programs one mapping unit at a time, not {row} and {unit}: set map.page_bytes to the size of a page over all planes"
    )]
    SeveralUnits { row: u32, unit: u32 },
    #[error("map.cluster_dies is {cluster_dies}: it takes a divisor of the {dies} dies")]
    ClusterDies { cluster_dies: u32, dies: u32 },
    #[error("a cluster of {pages} pages is larger than the 65534 that are supported")]
    LargeCluster { pages: u64 },
    #[error("a stripe of {stripe} pages is not a divisor of a cluster of {pages} pages")]
    OddStripe { stripe: u32, pages: u64 },
    #[error("a group of dies takes at least 1 log block")]
    NoLogBlock,
    #[error(
        "{blocks} blocks on each die are too few: {clusters} hold clusters, and {spare} more are needed for logs and merges"
    )]
    FewBlocks { blocks: u32, clusters: u32, spare: u32 },
}

#[cfg(test)]
mod tests {
    use super::*;

    mod aging {
        use super::*;

        #[test]
        fn each_decade_adds_retries_up_to_a_limit() {
            let aging = AgingParameters { onset_s: 1000, retries_per_decade: 4.0, retries_max: 7 };
            let senses = [-5, 0, 999, 1000, 1001, 10_000, 100_000, i64::MAX].map(|age| aging.senses(age));
            assert_eq!(senses, [1, 1, 1, 1, 2, 5, 8, 8]);
        }
    }

    mod wear_retries {
        use super::*;
        use likenew_core::units::Nanos;

        use super::page_map::PageMap;
        use super::translation_layer::TranslationLayer as _;
        use crate::model::{Layer, Mechanism};
        use crate::state::{DriveTreatment, make};

        #[test]
        fn a_page_always_takes_as_many_retries_and_all_of_them_the_mean() {
            let reads = WearRetries { share: 0.75 };
            assert_eq!(reads.retries_mean(), 2.25);
            let entry = crate::catalog().iter().find(|entry| entry.name == "tiny-flash").unwrap();
            let Mechanism::Flash(new) = entry.model.mechanism else { panic!("it is flash") };
            let Layer::Page(page) = new.layer else { panic!("it maps pages") };
            let past =
                DriveTreatment { fill: 0.2, overwritten_share: 0.0, age: Nanos::ZERO, writes_per_unit: None };
            let map = make(PageMap::new(page), new.flash.dies, past, &|| false);
            let retries: Vec<u32> =
                (0..10_000).filter_map(|page| map.find(page)).map(|place| reads.retries(&place)).collect();
            let mean = f64::from(retries.iter().sum::<u32>()) / retries.len() as f64;
            assert!(
                (mean - 2.25).abs() < 0.05 && retries.iter().all(|count| (2..=3).contains(count)),
                "{mean}"
            );
        }
    }
}
