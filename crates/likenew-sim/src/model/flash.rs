//! Reads the file of a flash drive: chips, firmware, FTL, and optional parts.

use likenew_core::units::Nanos;
use strum::{EnumString, VariantNames};

use super::{FlashModel, Identity};
use crate::drive_file::{RATE, Section, Site, parameters};
use crate::error::{Domain, FileError, SimError};
use crate::flash::compressing_map::CompressingParameters;
use crate::flash::log_block::{BastLogs, BastParameters, ClusterParameters, FastLogs, Replacements};
use crate::flash::map_cache::{HostShare, MapCacheParameters};
use crate::flash::nand::{CellTimes, DIES_MAX, NandParameters, ReadPart};
use crate::flash::policies::{BLOCKS_PER_DIE, PageMapParameters, SlcCacheParameters};
use crate::flash::thermal::ThermalParameters;
use crate::flash::{AgingParameters, FirmwareParameters, FlashGeometry, FlashParameters, LayoutError};
use crate::front::LinkParameters;
use crate::timeline::times;
use crate::wording;

/// The most flash pages supported. With more, the mapping tables alone would take 8 GiB of memory.
const FLASH_PAGES_MAX: u64 = 1 << 30;
/// The most sectors per mapping unit: the write buffer has a mask of 64 bits for them.
const PAGE_SECTORS_MAX: u32 = 64;

parameters! {
    /// The chips in data sheet terms.
    struct Chips {
        channels: u32 = whole("channels", 1..=64),
        dies_per_channel: u32 = whole("dies_per_channel", 1..=64),
        /// Dies that share control lines, have their own data lines and so work as one.
        dies_per_gang: u32 = whole_or("dies_per_gang", 1..=16, 1),
        planes: u32 = whole("planes", 1..=16),
        blocks_per_plane: u32 = whole("blocks_per_plane", 4..=1_000_000),
        pages_per_block: u32 = whole("pages_per_block", 1..=16_384),
        page_bytes: u32 = whole("page_bytes", 512..=65_536),
        page_spare_bytes: u32 = whole("page_spare_bytes", 0..=16_384),
        pages_per_program: u32 = whole("pages_per_program", 1..=16),
        cells: CellTimes = part(CellTimes::read),
        erase: Nanos = span("erase_ns"),
        channel_bytes_per_s: u64 = whole("channel_bytes_per_s", RATE),
        programs_max: u32 = whole("programs_max", 1..=DIES_MAX),
    }
}

fn read_chips(section: &mut Section<'_>) -> Result<Chips, SimError> {
    let chips = Chips::read(section)?;
    let (per_channel, per_gang) = (chips.dies_per_channel, chips.dies_per_gang);
    if !per_channel.is_multiple_of(per_gang) {
        let domain = Domain::DivisorOf { key: "nand.dies_per_channel", value: per_channel };
        return section.refuse("dies_per_gang", per_gang, domain);
    }
    let dies = chips.dies();
    if dies > DIES_MAX {
        return Err(section.error(FileError::TooManyDies { dies, most: DIES_MAX }));
    }
    Ok(chips)
}

impl Chips {
    /// Number of dies, where a gang counts as one.
    fn dies(&self) -> u32 {
        self.channels * self.gangs_per_channel()
    }

    fn gangs_per_channel(&self) -> u32 {
        self.dies_per_channel / self.dies_per_gang
    }

    /// Bytes per array read of a die or gang.
    fn row_bytes(&self) -> u32 {
        self.page_bytes * self.planes * self.dies_per_gang
    }

    /// Time to transfer user data over a channel, with its spare bytes. Dies of a gang transfer in parallel.
    fn transfer(&self, bytes: u32) -> Nanos {
        let wire_bytes = u64::from(bytes) * u64::from(self.page_bytes + self.page_spare_bytes)
            / u64::from(self.page_bytes)
            / u64::from(self.dies_per_gang);
        crate::timeline::transfer_time(wire_bytes, self.channel_bytes_per_s)
    }
}

impl From<LayoutError> for FileError {
    fn from(error: LayoutError) -> Self {
        Self::Layout(error.to_string())
    }
}

pub(super) fn read(
    root: &mut Section<'_>,
    identity: &Identity,
    link: LinkParameters,
) -> Result<FlashModel, SimError> {
    let firmware = root.table("firmware", FirmwareParameters::read)?;
    let map = root.table("map", read_map)?;
    let (site, chips) = root.table("nand", |section| Ok((section.site(), read_chips(section)?)))?;
    let overwritten_share = root.table("used", |section| section.number("overwritten_share", 0.0..=100.0))?;
    let map_cache = root.table_or_none("map_cache", read_map_cache)?;
    let aging = root.table_or_none("aging", AgingParameters::read)?;
    let thermal = root.table_or_none("thermal", read_thermal)?;
    let slc_cache = root.table_or_none("slc_cache", read_slc_cache)?;
    let mut model = build_flash(identity, link, firmware, map, &chips, overwritten_share)
        .map_err(|reason| site.error(reason))?;
    let parameters = &mut model.parameters;
    (parameters.map_cache, parameters.aging, parameters.thermal) = (map_cache, aging, thermal);
    if let Some((site, slc, times)) = slc_cache {
        let Layer::Page(page) = &mut model.layer else {
            return Err(site.error(FileError::SlcCacheWithoutPageMap));
        };
        page.slc_cache = Some(slc);
        page.check().map_err(|reason| site.error(reason))?;
        parameters.nand.slc = times;
    }
    Ok(model)
}

/// Converts data sheet terms into those of the simulator, whose pages are mapping units.
fn build_flash(
    identity: &Identity,
    link: LinkParameters,
    firmware: FirmwareParameters,
    map: Map,
    chips: &Chips,
    overwritten_share: f64,
) -> Result<FlashModel, FileError> {
    let page = map.page_bytes;
    check_sizes(identity, page, chips)?;
    let row_pages = (chips.row_bytes() / page).max(1);
    // A mapping unit larger than a row spans several.
    let rows_per_page = page.div_ceil(chips.row_bytes());
    let block_pages = u64::from(chips.pages_per_block / rows_per_page) * u64::from(row_pages);
    let dies = chips.dies();
    let pages = u64::from(dies) * u64::from(chips.blocks_per_plane) * block_pages;
    let user_pages = identity.capacity_bytes.div_ceil(u64::from(page));
    if pages > FLASH_PAGES_MAX || user_pages >= pages {
        let (page_bytes, most) = (page, FLASH_PAGES_MAX);
        return Err(FileError::FlashPages { pages, page_bytes, user_pages, most });
    }
    let flash = FlashGeometry {
        dies,
        blocks_per_die: chips.blocks_per_plane,
        pages_per_block: u32::try_from(block_pages).expect("at most 2³⁰ pages"),
        row_pages,
        unit_pages: row_pages * chips.pages_per_program,
        user_pages: u32::try_from(user_pages).expect("fewer than 2³⁰ pages"),
    };
    let layer = map.layer.over(flash)?;
    let buffer_pages = u32::try_from(firmware.buffer_bytes / u64::from(page)).expect("at most 2²³ pages");
    let unit_pages_max = layer.unit_pages_max();
    if buffer_pages < 2 * unit_pages_max {
        let unit_bytes = u64::from(unit_pages_max) * u64::from(page);
        return Err(FileError::SmallBuffer { bytes: firmware.buffer_bytes, unit_bytes });
    }
    let parameters = FlashParameters {
        link,
        firmware,
        sector_bytes: identity.sector_bytes,
        page_bytes: page,
        buffer_pages,
        unit_pages: flash.unit_pages,
        nand: nand_parameters(page, map.copy, chips, layer.size_max()),
        map_cache: None,
        aging: None,
        wear_retries: None,
        thermal: None,
    };
    Ok(FlashModel { parameters, flash, layer, physical_bytes: pages * u64::from(page), overwritten_share })
}

/// The chips in the simulator's terms, for mapping units of `page` bytes.
fn nand_parameters(page: u32, copy: Nanos, chips: &Chips, page_size: u32) -> NandParameters {
    let rows_per_page = page.div_ceil(chips.row_bytes());
    let part_bytes = chips.page_bytes;
    let read_part = (page > part_bytes).then(|| ReadPart {
        bytes: part_bytes,
        transfer: chips.transfer(part_bytes),
        rows: u16::try_from(rows_per_page).expect("a mapping unit has at most 64 sectors"),
        row_parts: u16::try_from(chips.row_bytes() / part_bytes).expect("at most 16 planes of 16 dies"),
    });
    let cell_times = CellTimes {
        read: times(chips.cells.read, rows_per_page),
        program: times(chips.cells.program, rows_per_page),
    };
    NandParameters {
        channels: chips.channels,
        dies_per_channel: chips.gangs_per_channel(),
        native: cell_times,
        slc: cell_times,
        page_size,
        copy,
        erase: chips.erase,
        page_transfer: chips.transfer(page),
        programs_max: chips.programs_max,
        read_part,
    }
}

/// Checks that a mapping unit is a part of a chip page, or as many pages as one operation of a die or gang reads.
fn check_sizes(identity: &Identity, page: u32, chips: &Chips) -> Result<(), FileError> {
    let (sector, chip_page, row) = (identity.sector_bytes, chips.page_bytes, chips.row_bytes());
    if !page.is_multiple_of(sector) || page / sector > PAGE_SECTORS_MAX {
        let domain = Domain::Sectors { most: PAGE_SECTORS_MAX, sector_bytes: sector };
        return Err(FileError::wrong_value("map.page_bytes", page, domain));
    }
    let divides = chip_page.is_multiple_of(page);
    let spans = page.is_multiple_of(chip_page) && (row.is_multiple_of(page) || page.is_multiple_of(row));
    if spans && !chips.pages_per_block.is_multiple_of(page.div_ceil(row)) {
        let domain = Domain::MultipleOfRows { rows: page.div_ceil(row) };
        return Err(FileError::wrong_value("nand.pages_per_block", chips.pages_per_block, domain));
    }
    if !divides && !spans {
        let domain = Domain::ChipPage { map_page: page, row };
        return Err(FileError::wrong_value("nand.page_bytes", chip_page, domain));
    }
    Ok(())
}

/// The kind of translation layer, with its parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Layer {
    /// Page map: any page may be anywhere.
    Page(PageMapParameters),
    /// Page map with compression.
    Compressing(CompressingParameters),
    /// Block map: every page has a fixed offset in a block.
    Block(ClusterParameters),
    /// BAST: a block map with a log block for some clusters.
    Bast(BastParameters),
    /// FAST: a block map with shared log blocks.
    Fast(ClusterParameters),
}

impl Layer {
    /// Size of a page that is not compressed; see
    /// [`size_max`](crate::flash::translation_layer::TranslationLayer::size_max).
    pub(super) fn size_max(&self) -> u32 {
        match self {
            Self::Page(_) | Self::Block(_) | Self::Bast(_) | Self::Fast(_) => 1,
            Self::Compressing(compressing) => compressing.granules_per_page,
        }
    }

    /// The most host pages in a program unit.
    pub(super) fn unit_pages_max(&self) -> u32 {
        match self {
            Self::Page(page) => page.flash.unit_pages,
            // These program one page at a time.
            Self::Block(_) | Self::Bast(_) | Self::Fast(_) => 1,
            Self::Compressing(compressing) => compressing.unit_pages_max(),
        }
    }

    /// Its clusters, if it has any.
    pub(crate) fn clusters(&self) -> Option<&ClusterParameters> {
        match self {
            Self::Page(_) | Self::Compressing(_) => None,
            Self::Block(clusters) | Self::Fast(clusters) => Some(clusters),
            Self::Bast(bast) => Some(&bast.clusters),
        }
    }

    /// Its cluster layout in words, if it has clusters, for pages of `page_bytes`.
    pub(crate) fn summary(&self, page_bytes: u64) -> Option<String> {
        let clusters = self.clusters()?;
        let (name, logs) = match self {
            Self::Block(_) => ("block map", "replacement blocks"),
            Self::Bast(_) => ("BAST", "log blocks"),
            _ => ("FAST", "log blocks"),
        };
        let cluster_bytes = u64::from(clusters.cluster_pages()) * page_bytes;
        let (groups, count) = (clusters.groups(), clusters.log_blocks);
        Some(wording::cluster_map(name, cluster_bytes, groups, logs, count))
    }

    /// The layer with its geometry. An unspecified stripe is as long as a cluster.
    ///
    /// # Errors
    /// The parameters contradict each other.
    fn over(mut self, flash: FlashGeometry) -> Result<Self, LayoutError> {
        flash.check()?;
        let put = |clusters: &mut ClusterParameters| {
            clusters.flash = flash;
            if clusters.stripe_pages == 0 {
                clusters.stripe_pages = clusters.cluster_pages();
            }
        };
        match &mut self {
            Self::Page(page) => {
                page.flash = flash;
                page.check()?;
            }
            Self::Compressing(compressing) => {
                compressing.flash = flash;
                compressing.check()?;
            }
            Self::Block(clusters) => {
                put(clusters);
                clusters.check::<Replacements>()?;
            }
            Self::Bast(bast) => {
                put(&mut bast.clusters);
                bast.clusters.check::<BastLogs>()?;
            }
            Self::Fast(clusters) => {
                put(clusters);
                clusters.check::<FastLogs>()?;
            }
        }
        Ok(self)
    }
}

/// The families of translation layers, by their names in files.
#[derive(EnumString, VariantNames)]
#[strum(serialize_all = "lowercase")]
enum Family {
    Page,
    Compressing,
    Block,
    Bast,
    Fast,
}

/// The contents of the table `[map]`.
struct Map {
    /// Bytes per mapping unit.
    page_bytes: u32,
    /// Firmware time for each page that a die copies.
    copy: Nanos,
    /// The layer, without its geometry.
    layer: Layer,
}

/// Reads the table `[map]`.
fn read_map(section: &mut Section<'_>) -> Result<Map, SimError> {
    let page_bytes = section.whole("page_bytes", 512..=65_536)?;
    let mut copy = Nanos::ZERO;
    let mut clusters = |section: &mut Section<'_>| {
        let clusters = read_clusters(section, page_bytes)?;
        // The firmware handles one page of a group at a time.
        copy = times(section.span("copy_page_ns")?, clusters.cluster_dies);
        Ok(clusters)
    };
    let layer = match section.one_of("family")? {
        Family::Page => Layer::Page(PageMapParameters::read(section)?),
        Family::Compressing => Layer::Compressing(CompressingParameters::read(section)?),
        Family::Block => Layer::Block(clusters(section)?),
        Family::Bast => Layer::Bast(BastParameters {
            clusters: clusters(section)?,
            eviction: section.one_of("eviction")?,
            partial_merges: section.truth("partial_merges")?,
        }),
        Family::Fast => Layer::Fast(clusters(section)?),
    };
    Ok(Map { page_bytes, copy, layer })
}

fn read_clusters(section: &mut Section<'_>, page_bytes: u32) -> Result<ClusterParameters, SimError> {
    let page = u64::from(page_bytes);
    let stripe_bytes = section.optional("stripe_bytes", |section, key| {
        section.multiple(key, 512..=1 << 32, ("map.page_bytes", page))
    })?;
    let stripe_pages = u32::try_from(stripe_bytes.unwrap_or(0) / page).expect("at most 2²³ pages");
    Ok(ClusterParameters { stripe_pages, ..ClusterParameters::read(section)? })
}

/// The kinds of pseudo-SLC caches, by their names in files.
#[derive(EnumString, VariantNames)]
#[strum(serialize_all = "lowercase")]
enum SlcCacheKind {
    Static,
    Dynamic,
    Hybrid,
}

/// Reads the table `[slc_cache]`: its position in the file, the cache, and the times of SLC cells.
fn read_slc_cache<'a>(
    section: &mut Section<'a>,
) -> Result<(Site<'a>, SlcCacheParameters, CellTimes), SimError> {
    let kind: SlcCacheKind = section.one_of("kind")?;
    let parameters = SlcCacheParameters {
        bits_per_cell: section.whole("bits_per_cell", 2..=5)?,
        static_blocks: match kind {
            SlcCacheKind::Dynamic => 0,
            _ => section.whole("static_blocks_per_die", 1..=1_000_000)?,
        },
        dynamic_percent_max: match kind {
            SlcCacheKind::Static => 0,
            _ => section.whole("dynamic_percent_max", 1..=100)?,
        },
        when_full: section.one_of("when_full")?,
        idle_kept_blocks: section.whole("idle_kept_blocks_per_die", BLOCKS_PER_DIE)?,
    };
    Ok((section.site(), parameters, CellTimes::read(section)?))
}

/// Reads the table `[map_cache]`.
fn read_map_cache(section: &mut Section<'_>) -> Result<MapCacheParameters, SimError> {
    let cache = MapCacheParameters::read(section)?;
    let host = section.optional("host_bytes", |section, key| {
        let bytes = section.whole(key, 1..=cache.bytes)?;
        Ok(HostShare { bytes, bytes_least: section.whole("host_bytes_least", 0..=bytes)? })
    })?;
    Ok(MapCacheParameters { host, ..cache })
}

/// Reads the table `[thermal]`.
fn read_thermal(section: &mut Section<'_>) -> Result<ThermalParameters, SimError> {
    let thermal = ThermalParameters::read(section)?;
    if thermal.resume_c > thermal.throttle_c {
        let (key, limit) = ("thermal.resume_c", "thermal.throttle_c");
        return Err(section.error(FileError::Above { key, limit }));
    }
    Ok(thermal)
}
