//! Reads the file of a hard disk.

use likenew_core::units::Nanos;

use super::{Identity, RATE, SECOND_NS, span};
use crate::disk::arm::PlatterParameters;
use crate::disk::shingles::ShingleParameters;
use crate::disk::{DiskParameters, SeekTimes};
use crate::drive_file::Section;
use crate::error::{FileError, SimError};
use crate::front::LinkParameters;

const MEMORY: std::ops::RangeInclusive<u64> = 0..=1 << 32;

pub(super) fn read(
    root: &mut Section<'_>,
    identity: &Identity,
    link: LinkParameters,
) -> Result<DiskParameters, SimError> {
    let (command, aging_per_mille) = root.table("firmware", |section| {
        Ok((span(section, "command_ns")?, section.count("aging_per_mille", 0..=1_000_000)?))
    })?;
    let shingles = root.table_or_none("shingles", |section| read_shingles(section, identity))?;
    let (site, mechanics) = root
        .table("mechanics", |section| Ok((section.site(), read_mechanics(section, identity, shingles)?)))?;
    let parameters = root.table("cache", |section| {
        Ok(DiskParameters {
            link,
            command,
            aging_per_mille,
            platters: mechanics.platters,
            physical_sectors: mechanics.physical_sectors,
            read_seek: mechanics.read_seek,
            write_seek: mechanics.write_seek,
            head_switch: mechanics.head_switch,
            memory_bytes: section.integer("memory_bytes", MEMORY)?,
            segment_bytes: section.integer("segment_bytes", MEMORY)?,
            segments: section.count("segments", 1..=1024)?,
            write_cache_bytes: section.integer("write_cache_bytes", MEMORY)?,
            write_cache_extents: section.count("write_cache_extents", 1..=65_536)?,
            shingles,
        })
    })?;
    parameters.check().map_err(|reason| site.error(reason))?;
    Ok(parameters)
}

struct Mechanics {
    platters: PlatterParameters,
    physical_sectors: u64,
    read_seek: SeekTimes,
    write_seek: SeekTimes,
    head_switch: Nanos,
}

fn read_mechanics(
    section: &mut Section<'_>,
    identity: &Identity,
    shingles: Option<ShingleParameters>,
) -> Result<Mechanics, SimError> {
    let head_switch = span(section, "head_switch_ns")?;
    let read_seek = SeekTimes {
        track: span(section, "track_seek_ns")?,
        average: span(section, "average_seek_ns")?,
        full: span(section, "full_seek_ns")?,
    };
    let write_seek = SeekTimes {
        track: span(section, "write_track_seek_ns")?,
        average: span(section, "write_average_seek_ns")?,
        full: span(section, "write_full_seek_ns")?,
    };
    let addressed = identity.capacity_bytes / u64::from(identity.sector_bytes);
    let settle = write_seek.track.since(read_seek.track);
    let platters = PlatterParameters {
        sectors: shingles.map_or(addressed, |shingles| shingles.sectors_for(addressed)),
        sector_bytes: identity.sector_bytes,
        revolution: Nanos(60 * SECOND_NS / section.integer("rotations_per_minute", 1000..=30_000)?),
        heads: section.count("heads", 1..=64)?,
        zones: section.count("zones", 1..=256)?,
        outer_bytes_per_s: section.integer("outer_bytes_per_s", RATE)?,
        inner_bytes_per_s: section.integer("inner_bytes_per_s", RATE)?,
        // Long enough for a write that continues across the change.
        head_skew: head_switch + settle,
        cylinder_skew: read_seek.track.max(head_switch) + settle,
    };
    if platters.inner_bytes_per_s > platters.outer_bytes_per_s {
        let (key, limit) = ("mechanics.inner_bytes_per_s", "outer_bytes_per_s");
        return Err(section.error(FileError::Above { key, limit }));
    }
    let (sector_key, sector) = identity.sector();
    let physical =
        section.multiple_or_none("physical_sector_bytes", sector..=65_536, (sector_key, sector))?;
    let physical_sectors = physical.map_or(1, |bytes| bytes / sector);
    Ok(Mechanics { platters, physical_sectors, read_seek, write_seek, head_switch })
}

fn read_shingles(section: &mut Section<'_>, identity: &Identity) -> Result<ShingleParameters, SimError> {
    let (sector_key, sector) = identity.sector();
    let sectors = |section: &mut Section<'_>, key, least: u64, most| {
        section.multiple(key, least * sector..=most, (sector_key, sector)).map(|bytes| bytes / sector)
    };
    Ok(ShingleParameters {
        log_sectors: sectors(section, "media_cache_bytes", 1, 1 << 40)?,
        band_sectors: sectors(section, "band_bytes", 1, 1 << 32)?,
        map_entries: section.count("map_entries", 4..=100_000_000)?,
        append_sectors_max: sectors(section, "append_bytes_max", 1, 1 << 32)?,
        header_sectors: sectors(section, "header_bytes", 0, 1 << 20)?,
        gather: span(section, "gather_ns")?,
        idle_after: span(section, "idle_after_ns")?,
    })
}
