//! What only some flash drives have: a mapping cache, data that ages, heat.

use super::{RATE, Section};
use crate::error::SimError;
use crate::file_error::FileError;
use crate::flash::aging::AgingParameters;
use crate::flash::map_cache::{HostShare, MapCacheParameters};
use crate::flash::thermal::ThermalParameters;

/// Reads the table `[map_cache]`.
pub(super) fn read_map_cache(section: &mut Section<'_>) -> Result<MapCacheParameters, SimError> {
    let bytes = section.integer("bytes", 512..=1 << 36)?;
    let segment_bytes = section.count("segment_bytes", 64..=65_536)?;
    let host = match section.integer_or_none("host_bytes", 1..=bytes)? {
        None => None,
        Some(host) => {
            Some(HostShare { bytes: host, bytes_least: section.integer("host_bytes_least", 0..=host)? })
        }
    };
    Ok(MapCacheParameters { bytes, segment_bytes, host })
}

/// Reads the table `[aging]`.
pub(super) fn read_aging(section: &mut Section<'_>) -> Result<AgingParameters, SimError> {
    Ok(AgingParameters {
        onset_s: section.integer("onset_s", 1..=10_000_000_000)?,
        retries_per_decade: section.number("retries_per_decade", 0.0..=1000.0)?,
        retries_max: section.count("retries_max", 0..=1000)?,
    })
}

/// Reads the table `[thermal]`.
pub(super) fn read_thermal(section: &mut Section<'_>) -> Result<ThermalParameters, SimError> {
    let thermal = ThermalParameters {
        ambient_c: section.number("ambient_c", -50.0..=100.0)?,
        resistance_k_per_w: section.number("resistance_k_per_w", 0.01..=1000.0)?,
        capacity_j_per_k: section.number("capacity_j_per_k", 0.01..=100_000.0)?,
        idle_w: section.number("idle_w", 0.0..=100.0)?,
        read_nj_per_byte: section.number("read_nj_per_byte", 0.0..=1000.0)?,
        program_nj_per_byte: section.number("program_nj_per_byte", 0.0..=1000.0)?,
        throttle_c: section.number("throttle_c", 0.0..=200.0)?,
        resume_c: section.number("resume_c", 0.0..=200.0)?,
        throttled_bytes_per_s: section.integer("throttled_bytes_per_s", RATE)?,
    };
    if thermal.resume_c > thermal.throttle_c {
        let (key, limit) = ("thermal.resume_c", "thermal.throttle_c");
        return Err(section.error(FileError::Above { key, limit }));
    }
    Ok(thermal)
}
