//! A flash drive as its file describes it.

use likenew_core::units::Nanos;

use super::extras::{read_aging, read_map_cache, read_thermal};
use super::flash_model::FlashModel;
use super::layer::{self, Map};
use super::{Identity, RATE, finish, finish_optional, slc_cache, span};
use crate::error::SimError;
use crate::file_error::FileError;
use crate::flash::die_set::DIES_MAX;
use crate::flash::flash_geometry::FlashGeometry;
use crate::flash::flash_parameters::{FlashParameters, Trim};
use crate::flash::nand_parameters::{CellTimes, NandParameters, ReadPart};
use crate::host_link::LinkParameters;
use crate::section::{Section, SourceEntry};
use crate::timeline::times;
use crate::wording::domain::Domain;

/// Flash pages of the map that are supported: with more, the maps alone would take 8 GiB of memory.
const FLASH_PAGES_MAX: u64 = 1 << 30;
/// Sectors of a page of the map that are supported: the write buffer knows those of a page by a mask of 64 bits.
const PAGE_SECTORS_MAX: u32 = 64;

struct Firmware {
    read_command: Nanos,
    write_command: Nanos,
    other_command: Nanos,
    buffer_bytes: u64,
    writes_per_unit: Option<u8>,
    idle_after: Nanos,
    trim: Trim,
    power_loss_protection: bool,
}

fn read_firmware(section: &mut Section<'_>) -> Result<Firmware, SimError> {
    Ok(Firmware {
        read_command: span(section, "read_command_ns")?,
        write_command: span(section, "write_command_ns")?,
        other_command: span(section, "other_command_ns")?,
        buffer_bytes: section.integer("buffer_bytes", 512..=1 << 32)?,
        writes_per_unit: section.integer_or_none("writes_per_unit", 1..=64)?.map(|writes| writes as u8),
        idle_after: span(section, "idle_after_ns")?,
        trim: Trim::ALL[section.choice("trim", &Trim::WORDS)?],
        power_loss_protection: section.truth_or_none("power_loss_protection")?.unwrap_or(false),
    })
}

/// The chips in the terms of their data sheets.
struct Chips {
    channels: u32,
    dies_per_channel: u32,
    /// Dies that share their control lines and have data lines of their own, so that they work as one.
    dies_per_gang: u32,
    planes: u32,
    blocks_per_plane: u32,
    pages_per_block: u32,
    page_bytes: u32,
    page_spare_bytes: u32,
    pages_per_program: u32,
    read: Nanos,
    program: Nanos,
    erase: Nanos,
    channel_bytes_per_s: u64,
    programs_max: u32,
}

fn read_chips(section: &mut Section<'_>) -> Result<Chips, SimError> {
    let chips = Chips {
        channels: section.count("channels", 1..=64)?,
        dies_per_channel: section.count("dies_per_channel", 1..=64)?,
        dies_per_gang: section.integer_or_none("dies_per_gang", 1..=16)?.unwrap_or(1) as u32,
        planes: section.count("planes", 1..=16)?,
        blocks_per_plane: section.count("blocks_per_plane", 4..=1_000_000)?,
        pages_per_block: section.count("pages_per_block", 1..=16_384)?,
        page_bytes: section.count("page_bytes", 512..=65_536)?,
        page_spare_bytes: section.count("page_spare_bytes", 0..=16_384)?,
        pages_per_program: section.count("pages_per_program", 1..=16)?,
        read: span(section, "read_ns")?,
        program: span(section, "program_ns")?,
        erase: span(section, "erase_ns")?,
        channel_bytes_per_s: section.integer("channel_bytes_per_s", RATE)?,
        programs_max: section.count("programs_max", 1..=DIES_MAX)?,
    };
    let (per_channel, per_gang) = (chips.dies_per_channel, chips.dies_per_gang);
    if !per_channel.is_multiple_of(per_gang) {
        let domain = Domain::DivisorOf { key: "nand.dies_per_channel", value: per_channel };
        return Err(section.error(FileError::wrong_value("nand.dies_per_gang", per_gang, domain)));
    }
    let dies = chips.dies();
    if dies > DIES_MAX {
        return Err(section.error(FileError::TooManyDies { dies, most: DIES_MAX }));
    }
    Ok(chips)
}

impl Chips {
    /// Dies as the mechanism knows them: a gang is one.
    fn dies(&self) -> u32 {
        self.channels * self.gangs_per_channel()
    }

    fn gangs_per_channel(&self) -> u32 {
        self.dies_per_channel / self.dies_per_gang
    }

    /// Bytes that one array read of a die or gang delivers.
    fn row_bytes(&self) -> u32 {
        self.page_bytes * self.planes * self.dies_per_gang
    }

    /// The time to move this much of the host's data over a channel, the spare bytes with it. The dies of a gang
    /// move at the same time.
    fn transfer(&self, bytes: u32) -> Nanos {
        let wire_bytes = u64::from(bytes) * u64::from(self.page_bytes + self.page_spare_bytes)
            / u64::from(self.page_bytes)
            / u64::from(self.dies_per_gang);
        crate::timeline::transfer_time(wire_bytes, self.channel_bytes_per_s)
    }
}

pub(super) fn read(
    root: &mut Section<'_>,
    identity: &Identity,
    link: LinkParameters,
    sources: &mut Vec<SourceEntry>,
) -> Result<FlashModel, SimError> {
    let firmware = finish(root.section("firmware")?, sources, read_firmware)?;
    let map = finish(root.section("map")?, sources, layer::read)?;
    let nand = root.section("nand")?;
    let site = nand.site();
    let chips = finish(nand, sources, read_chips)?;
    let overwritten_share =
        finish(root.section("used")?, sources, |section| section.number("overwritten_share", 0.0..=100.0))?;
    let map_cache = finish_optional(root.section_or_none("map_cache")?, sources, read_map_cache)?;
    let aging = finish_optional(root.section_or_none("aging")?, sources, read_aging)?;
    let thermal = finish_optional(root.section_or_none("thermal")?, sources, read_thermal)?;
    let slc_cache = slc_cache::read(root, sources)?;
    let mut model = build_flash(identity, link, &firmware, &map, &chips, overwritten_share)
        .map_err(|reason| site.error(reason))?;
    (model.parameters.map_cache, model.parameters.aging, model.parameters.thermal) =
        (map_cache, aging, thermal);
    if let Some(slc_cache) = slc_cache {
        slc_cache.add_to(&mut model)?;
    }
    Ok(model)
}

/// Brings the terms of the data sheets into those of the mechanism, whose pages are units of the map.
fn build_flash(
    identity: &Identity,
    link: LinkParameters,
    firmware: &Firmware,
    map: &Map,
    chips: &Chips,
    overwritten_share: f64,
) -> Result<FlashModel, FileError> {
    let page = map.page_bytes;
    check_sizes(identity, page, chips)?;
    let row_pages = (chips.row_bytes() / page).max(1);
    // A mapping unit larger than a row takes several of them.
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
    flash.check()?;
    let layer = map.family.build(flash)?;
    let buffer_pages = u32::try_from(firmware.buffer_bytes / u64::from(page)).expect("at most 2²³ pages");
    let unit_pages_max = layer.unit_pages_max();
    if buffer_pages < 2 * unit_pages_max {
        let unit_bytes = u64::from(unit_pages_max) * u64::from(page);
        return Err(FileError::SmallBuffer { bytes: firmware.buffer_bytes, unit_bytes });
    }
    let nand = nand_parameters(page, map.copy, chips, layer.size_max());
    let parameters = FlashParameters {
        link,
        read_command: firmware.read_command,
        write_command: firmware.write_command,
        other_command: firmware.other_command,
        sector_bytes: identity.sector_bytes,
        page_bytes: page,
        buffer_pages,
        unit_pages: flash.unit_pages,
        writes_per_unit: firmware.writes_per_unit,
        nand,
        idle_after: firmware.idle_after,
        trim: firmware.trim,
        map_cache: None,
        aging: None,
        wear_retries: None,
        thermal: None,
        power_loss_protection: firmware.power_loss_protection,
    };
    Ok(FlashModel { parameters, flash, layer, physical_bytes: pages * u64::from(page), overwritten_share })
}

/// The chips as the mechanism knows them, for mapping units of so many bytes.
fn nand_parameters(page: u32, copy: Nanos, chips: &Chips, page_size: u32) -> NandParameters {
    let rows_per_page = page.div_ceil(chips.row_bytes());
    let part_bytes = chips.page_bytes;
    let read_part = (page > part_bytes).then(|| ReadPart {
        bytes: part_bytes,
        transfer: chips.transfer(part_bytes),
        rows: u16::try_from(rows_per_page).expect("a mapping unit has at most 64 sectors"),
        row_parts: u16::try_from(chips.row_bytes() / part_bytes).expect("at most 16 planes of 16 dies"),
    });
    let cell_times =
        CellTimes { read: times(chips.read, rows_per_page), program: times(chips.program, rows_per_page) };
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

/// A mapping unit is a part of a chip's page, or as many pages as one operation of a die or gang reads.
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
