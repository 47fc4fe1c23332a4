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
    let mut disk = DiskParameters { link, ..DiskParameters::default() };
    root.table("firmware", |section| {
        disk.command = span(section, "command_ns")?;
        disk.aging_per_mille = section.whole("aging_per_mille", 0..=1_000_000)?;
        Ok(())
    })?;
    disk.shingles = root.table_or_none("shingles", |section| read_shingles(section, identity))?;
    let site = root.table("mechanics", |section| {
        read_mechanics(section, identity, &mut disk)?;
        Ok(section.site())
    })?;
    root.table("cache", |section| {
        disk.memory_bytes = section.whole("memory_bytes", MEMORY)?;
        disk.segment_bytes = section.whole("segment_bytes", MEMORY)?;
        disk.segments = section.whole("segments", 1..=1024)?;
        disk.write_cache_bytes = section.whole("write_cache_bytes", MEMORY)?;
        disk.write_cache_extents = section.whole("write_cache_extents", 1..=65_536)?;
        Ok(())
    })?;
    disk.check().map_err(|reason| site.error(reason))?;
    Ok(disk)
}

fn read_mechanics(
    section: &mut Section<'_>,
    identity: &Identity,
    disk: &mut DiskParameters,
) -> Result<(), SimError> {
    disk.head_switch = span(section, "head_switch_ns")?;
    disk.read_seek = SeekTimes {
        track: span(section, "track_seek_ns")?,
        average: span(section, "average_seek_ns")?,
        full: span(section, "full_seek_ns")?,
    };
    disk.write_seek = SeekTimes {
        track: span(section, "write_track_seek_ns")?,
        average: span(section, "write_average_seek_ns")?,
        full: span(section, "write_full_seek_ns")?,
    };
    let addressed = identity.capacity_bytes / u64::from(identity.sector_bytes);
    let settle = disk.write_seek.track.since(disk.read_seek.track);
    disk.platters = PlatterParameters {
        sectors: disk.shingles.map_or(addressed, |shingles| shingles.sectors_for(addressed)),
        sector_bytes: identity.sector_bytes,
        revolution: Nanos(60 * SECOND_NS / section.whole("rotations_per_minute", 1000..=30_000)?),
        heads: section.whole("heads", 1..=64)?,
        zones: section.whole("zones", 1..=256)?,
        outer_bytes_per_s: section.whole("outer_bytes_per_s", RATE)?,
        inner_bytes_per_s: section.whole("inner_bytes_per_s", RATE)?,
        // Long enough for a write that continues across the change.
        head_skew: disk.head_switch + settle,
        cylinder_skew: disk.read_seek.track.max(disk.head_switch) + settle,
    };
    if disk.platters.inner_bytes_per_s > disk.platters.outer_bytes_per_s {
        let (key, limit) = ("mechanics.inner_bytes_per_s", "outer_bytes_per_s");
        return Err(section.error(FileError::Above { key, limit }));
    }
    let (sector_key, sector) = identity.sector();
    let physical = section.optional("physical_sector_bytes", |section, key| {
        section.multiple(key, sector..=65_536, (sector_key, sector))
    })?;
    disk.physical_sectors = physical.map_or(1, |bytes| bytes / sector);
    Ok(())
}

fn read_shingles(section: &mut Section<'_>, identity: &Identity) -> Result<ShingleParameters, SimError> {
    let (sector_key, sector) = identity.sector();
    let sectors = |section: &mut Section<'_>, key, least: u64, most| {
        section.multiple(key, least * sector..=most, (sector_key, sector)).map(|bytes| bytes / sector)
    };
    Ok(ShingleParameters {
        log_sectors: sectors(section, "media_cache_bytes", 1, 1 << 40)?,
        band_sectors: sectors(section, "band_bytes", 1, 1 << 32)?,
        map_entries: section.whole("map_entries", 4..=100_000_000)?,
        append_sectors_max: sectors(section, "append_bytes_max", 1, 1 << 32)?,
        header_sectors: sectors(section, "header_bytes", 0, 1 << 20)?,
        gather: span(section, "gather_ns")?,
        idle_after: span(section, "idle_after_ns")?,
    })
}
