//! A drive model as its file describes it: identity, advertised figures and the parameters of its mechanism.

use likenew_core::units::Nanos;

use crate::disk::disk_parameters::DiskParameters;
use crate::disk::platters::PlatterParameters;
use crate::error::SimError;
use crate::flash::die_set::DIES_MAX;
use crate::flash::flash_parameters::FlashParameters;
use crate::flash::ftl::FtlGeometry;
use crate::flash::nand::NandParameters;
use crate::host_link::LinkParameters;
use crate::section::{Section, Sourced, Text};

/// What the maker or a reviewer says of a new drive; never used by the simulation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Advertised {
    /// Sequential read, bytes per second.
    pub read_bytes_per_s: Option<u64>,
    /// Sequential write, bytes per second.
    pub write_bytes_per_s: Option<u64>,
    /// Random 4 KiB reads per second.
    pub random_read_iops: Option<u64>,
    /// Random 4 KiB writes per second.
    pub random_write_iops: Option<u64>,
}

/// How a flash drive is built, and how it is used before it counts as used.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FlashModel {
    /// The mechanism.
    pub parameters: FlashParameters,
    /// Bytes of flash for user data and spare together.
    pub physical_bytes: u64,
    /// A used drive was overwritten at random, without TRIM, for this share of what it holds.
    pub overwritten_share: f64,
}

/// The mechanism of a drive.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Mechanism {
    /// Flash chips.
    Flash(FlashModel),
    /// Platters.
    Disk(DiskParameters),
}

/// A drive model.
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    /// Maker and model.
    pub model: String,
    /// Such as `50 nm MLC flash`.
    pub technology: String,
    /// Bytes that the host can address.
    pub capacity_bytes: u64,
    /// Smallest unit of address.
    pub sector_bytes: u32,
    /// What others say of it.
    pub advertised: Advertised,
    /// How it works.
    pub mechanism: Mechanism,
    /// Every value of the file with its source.
    pub sources: Vec<Sourced>,
}

/// Flash pages of the map that are supported: with more, the maps alone would take 8 GiB of memory.
const FLASH_PAGES_MAX: u64 = 1 << 30;
const SECOND_NS: u64 = 1_000_000_000;
const RATE: std::ops::RangeInclusive<u64> = 1_000_000..=100_000_000_000;

struct Identity {
    model: String,
    technology: String,
    capacity_bytes: u64,
    sector_bytes: u32,
}

impl Model {
    /// Reads the text of a drive's file; `file` names it in messages.
    ///
    /// # Errors
    /// The text is no TOML, has an unknown or missing key, a value out of its range or without a source, or describes
    /// a drive that can not be built. The error names file, line, key, what was found and what is allowed.
    pub fn parse(file: &str, text: &str) -> Result<Self, SimError> {
        let mut sources = Vec::new();
        let mut root = Section::parse(Text { file, text })?;
        let kind = root.word("kind", &["flash", "disk"])?;
        let identity = finish(root.section("identity")?, &mut sources, read_identity)?;
        let advertised = finish(root.section("advertised")?, &mut sources, read_advertised)?;
        let link = finish(root.section("link")?, &mut sources, read_link)?;
        let mechanism = if kind == "flash" {
            Mechanism::Flash(read_flash(&mut root, &identity, link, &mut sources)?)
        } else {
            Mechanism::Disk(read_disk(&mut root, &identity, link, &mut sources)?)
        };
        root.finish()?;
        let Identity { model, technology, capacity_bytes, sector_bytes } = identity;
        Ok(Self { model, technology, capacity_bytes, sector_bytes, advertised, mechanism, sources })
    }
}

/// Reads a table completely: keys that `read` does not take are refused.
fn finish<'a, T>(
    mut section: Section<'a>,
    sources: &mut Vec<Sourced>,
    read: impl FnOnce(&mut Section<'a>) -> Result<T, SimError>,
) -> Result<T, SimError> {
    let value = read(&mut section)?;
    sources.extend(section.finish()?);
    Ok(value)
}

fn read_identity(section: &mut Section<'_>) -> Result<Identity, SimError> {
    let identity = Identity {
        model: section.line("model")?,
        technology: section.line("technology")?,
        capacity_bytes: section.whole("capacity_bytes", 1 << 20..=1 << 44)?,
        sector_bytes: section.count("sector_bytes", 512..=4096)?,
    };
    if !identity.sector_bytes.is_power_of_two() {
        let found = identity.sector_bytes;
        return Err(section.error(format!("identity.sector_bytes is {found}: it takes a power of two")));
    }
    if !identity.capacity_bytes.is_multiple_of(u64::from(identity.sector_bytes)) {
        let why = "identity.capacity_bytes is no multiple of identity.sector_bytes";
        return Err(section.error(why));
    }
    Ok(identity)
}

fn read_advertised(section: &mut Section<'_>) -> Result<Advertised, SimError> {
    const IOPS: std::ops::RangeInclusive<u64> = 1..=100_000_000;
    Ok(Advertised {
        read_bytes_per_s: section.whole_or_none("read_bytes_per_s", RATE)?,
        write_bytes_per_s: section.whole_or_none("write_bytes_per_s", RATE)?,
        random_read_iops: section.whole_or_none("random_read_iops", IOPS)?,
        random_write_iops: section.whole_or_none("random_write_iops", IOPS)?,
    })
}

fn read_link(section: &mut Section<'_>) -> Result<LinkParameters, SimError> {
    Ok(LinkParameters {
        bytes_per_s: section.whole("bytes_per_s", RATE)?,
        duplex: section.truth("duplex")?,
        command_slots: section.count("command_slots", 1..=65_535)?,
    })
}

fn span(section: &mut Section<'_>, key: &'static str) -> Result<Nanos, SimError> {
    section.whole(key, 0..=10 * SECOND_NS).map(Nanos)
}

struct Firmware {
    read_command: Nanos,
    write_command: Nanos,
    other_command: Nanos,
    buffer_bytes: u64,
    page_bytes: u32,
    free_blocks_min: u32,
    idle_after: Nanos,
    idle_free_blocks: u32,
    trims: bool,
}

fn read_firmware(section: &mut Section<'_>) -> Result<Firmware, SimError> {
    Ok(Firmware {
        read_command: span(section, "read_command_ns")?,
        write_command: span(section, "write_command_ns")?,
        other_command: span(section, "other_command_ns")?,
        buffer_bytes: section.whole("buffer_bytes", 512..=1 << 32)?,
        page_bytes: section.count("map_page_bytes", 512..=65_536)?,
        free_blocks_min: section.count("free_blocks_min_per_die", 2..=1000)?,
        idle_after: span(section, "idle_after_ns")?,
        idle_free_blocks: section.count("idle_free_blocks_per_die", 0..=1_000_000)?,
        trims: section.truth("trims")?,
    })
}

/// The chips in the terms of their data sheets.
struct Chips {
    channels: u32,
    dies_per_channel: u32,
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
        planes: section.count("planes", 1..=16)?,
        blocks_per_plane: section.count("blocks_per_plane", 4..=1_000_000)?,
        pages_per_block: section.count("pages_per_block", 1..=16_384)?,
        page_bytes: section.count("page_bytes", 512..=65_536)?,
        page_spare_bytes: section.count("page_spare_bytes", 0..=16_384)?,
        pages_per_program: section.count("pages_per_program", 1..=16)?,
        read: span(section, "read_ns")?,
        program: span(section, "program_ns")?,
        erase: span(section, "erase_ns")?,
        channel_bytes_per_s: section.whole("channel_bytes_per_s", RATE)?,
        programs_max: section.count("programs_max", 1..=DIES_MAX)?,
    };
    let dies = chips.channels * chips.dies_per_channel;
    if dies > DIES_MAX {
        let why =
            format!("nand.channels × nand.dies_per_channel is {dies}: at most {DIES_MAX} dies are supported");
        return Err(section.error(why));
    }
    Ok(chips)
}

fn read_flash(
    root: &mut Section<'_>,
    identity: &Identity,
    link: LinkParameters,
    sources: &mut Vec<Sourced>,
) -> Result<FlashModel, SimError> {
    let firmware = finish(root.section("firmware")?, sources, read_firmware)?;
    let nand = root.section("nand")?;
    let site = nand.site();
    let chips = finish(nand, sources, read_chips)?;
    let overwritten_share =
        finish(root.section("used")?, sources, |section| section.number("overwritten_share", 0.0..=100.0))?;
    build_flash(identity, link, &firmware, &chips, overwritten_share).map_err(|why| site.error(why))
}

/// Brings the terms of the data sheets into those of the mechanism, whose pages are units of the map.
fn build_flash(
    identity: &Identity,
    link: LinkParameters,
    firmware: &Firmware,
    chips: &Chips,
    overwritten_share: f64,
) -> Result<FlashModel, String> {
    let page = firmware.page_bytes;
    check_sizes(identity, page, chips.page_bytes)?;
    let pages_per_page = chips.page_bytes / page;
    let row_pages = chips.planes * pages_per_page;
    let block_pages = u64::from(chips.pages_per_block) * u64::from(row_pages);
    let dies = chips.channels * chips.dies_per_channel;
    let pages = u64::from(dies) * u64::from(chips.blocks_per_plane) * block_pages;
    let user_pages = identity.capacity_bytes / u64::from(page);
    if pages > FLASH_PAGES_MAX || user_pages >= pages {
        return Err(format!(
            "{pages} flash pages of {page} bytes for {user_pages} user pages: there have to be more flash pages than user pages, and at most {FLASH_PAGES_MAX}"
        ));
    }
    let ftl = FtlGeometry {
        dies,
        blocks_per_die: chips.blocks_per_plane,
        pages_per_block: u32::try_from(block_pages).expect("at most 2³⁰ pages"),
        row_pages,
        unit_pages: row_pages * chips.pages_per_program,
        user_pages: u32::try_from(user_pages).expect("fewer than 2³⁰ pages"),
        free_blocks_min: firmware.free_blocks_min,
    };
    ftl.check()?;
    let buffer_pages = u32::try_from(firmware.buffer_bytes / u64::from(page)).expect("at most 2²³ pages");
    if buffer_pages < 2 * ftl.unit_pages {
        return Err(format!(
            "firmware.buffer_bytes is {}: it has to hold two program units of {} bytes",
            firmware.buffer_bytes,
            u64::from(ftl.unit_pages) * u64::from(page)
        ));
    }
    let wire_bytes = u64::from(chips.page_bytes + chips.page_spare_bytes) / u64::from(pages_per_page);
    let nand = NandParameters {
        channels: chips.channels,
        dies_per_channel: chips.dies_per_channel,
        read: chips.read,
        program: chips.program,
        erase: chips.erase,
        page_transfer: crate::timeline::transfer_time(wire_bytes, chips.channel_bytes_per_s),
        programs_max: chips.programs_max,
    };
    let parameters = FlashParameters {
        link,
        read_command: firmware.read_command,
        write_command: firmware.write_command,
        other_command: firmware.other_command,
        sector_bytes: identity.sector_bytes,
        page_bytes: page,
        buffer_pages,
        ftl,
        nand,
        idle_after: firmware.idle_after,
        idle_free_blocks: firmware.idle_free_blocks,
        trims: firmware.trims,
    };
    Ok(FlashModel { parameters, physical_bytes: pages * u64::from(page), overwritten_share })
}

fn check_sizes(identity: &Identity, page: u32, chip_page: u32) -> Result<(), String> {
    let sector = identity.sector_bytes;
    if !page.is_multiple_of(sector) || page / sector > 64 {
        return Err(format!("firmware.map_page_bytes is {page}: it takes 1 to 64 sectors of {sector} bytes"));
    }
    if !chip_page.is_multiple_of(page) {
        return Err(format!(
            "nand.page_bytes is {chip_page}: it takes a multiple of firmware.map_page_bytes, {page}"
        ));
    }
    if !identity.capacity_bytes.is_multiple_of(u64::from(page)) {
        return Err(format!(
            "identity.capacity_bytes is {}: it takes a multiple of firmware.map_page_bytes, {page}",
            identity.capacity_bytes
        ));
    }
    Ok(())
}

fn read_disk(
    root: &mut Section<'_>,
    identity: &Identity,
    link: LinkParameters,
    sources: &mut Vec<Sourced>,
) -> Result<DiskParameters, SimError> {
    let command = finish(root.section("firmware")?, sources, |section| span(section, "command_ns"))?;
    let mechanics = root.section("mechanics")?;
    let site = mechanics.site();
    let parameters = finish(mechanics, sources, |section| read_mechanics(section, identity, link, command))?;
    let parameters = finish(root.section("cache")?, sources, |section| {
        Ok(DiskParameters {
            segment_bytes: section.whole("segment_bytes", 0..=1 << 32)?,
            segments: section.count("segments", 1..=1024)?,
            write_cache_bytes: section.whole("write_cache_bytes", 0..=1 << 32)?,
            write_cache_extents: section.count("write_cache_extents", 1..=65_536)?,
            ..parameters
        })
    })?;
    parameters.check().map_err(|why| site.error(why))?;
    Ok(parameters)
}

fn read_mechanics(
    section: &mut Section<'_>,
    identity: &Identity,
    link: LinkParameters,
    command: Nanos,
) -> Result<DiskParameters, SimError> {
    let head_switch = span(section, "head_switch_ns")?;
    let write_settle = span(section, "write_settle_ns")?;
    let track_seek = span(section, "track_seek_ns")?;
    let platters = PlatterParameters {
        sectors: identity.capacity_bytes / u64::from(identity.sector_bytes),
        sector_bytes: identity.sector_bytes,
        turn: Nanos(60 * SECOND_NS / section.whole("rotations_per_minute", 1000..=30_000)?),
        heads: section.count("heads", 1..=64)?,
        zones: section.count("zones", 1..=256)?,
        outer_bytes_per_s: section.whole("outer_bytes_per_s", RATE)?,
        inner_bytes_per_s: section.whole("inner_bytes_per_s", RATE)?,
        // Long enough for a write that goes on across the change.
        head_skew: head_switch + write_settle,
        cylinder_skew: track_seek.max(head_switch) + write_settle,
    };
    if platters.inner_bytes_per_s > platters.outer_bytes_per_s {
        return Err(section.error("mechanics.inner_bytes_per_s is above outer_bytes_per_s"));
    }
    Ok(DiskParameters {
        link,
        command,
        platters,
        track_seek,
        average_seek: span(section, "average_seek_ns")?,
        full_seek: span(section, "full_seek_ns")?,
        head_switch,
        write_settle,
        segment_bytes: 0,
        segments: 1,
        write_cache_bytes: 0,
        write_cache_extents: 1,
    })
}
