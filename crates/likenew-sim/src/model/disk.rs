//! A hard disk as its file describes it.

use likenew_core::units::Nanos;

use super::{Identity, RATE, SECOND_NS, finish, span};
use crate::disk::disk_parameters::DiskParameters;
use crate::disk::platters::PlatterParameters;
use crate::error::SimError;
use crate::host_link::LinkParameters;
use crate::section::{Section, Sourced};

pub(super) fn read(
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
