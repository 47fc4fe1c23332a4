//! Reads the faults in a drive's file.

use std::ops::Range;

use likenew_core::region::Region;
use likenew_core::units::Nanos;

use super::{Identity, RATE, SECOND_NS};
use crate::drive_file::Section;
use crate::error::SimError;
use crate::faults::{
    DriveFaults, NeighborParameters, OutlierParameters, StallParameters, ThrottleParameters, TrimDefect,
};
use crate::wording::Domain;

/// Range of a time span in a file that may exceed an I/O by far.
const SPAN: std::ops::RangeInclusive<u64> = 1..=100 * 86_400 * SECOND_NS;

/// Reads the table `[faults]`, whose keys are all optional.
pub(super) fn read(section: &mut Section<'_>, identity: &Identity) -> Result<DriveFaults, SimError> {
    let real_capacity_bytes = section.integer_or_none("real_capacity_bytes", 1 << 20..=1 << 44)?;
    if let Some(real) = real_capacity_bytes {
        check_real_capacity(section, identity, real)?;
    }
    let wrap_bytes = match real_capacity_bytes {
        Some(real) => section.multiple_or_none("wrap_bytes", real..=1 << 50, identity.sector())?,
        None => None,
    };
    let flipped = ranges(section, "flipped", identity)?;
    let flipped_bits = if flipped.is_empty() { 0 } else { section.count("flipped_bits", 1..=4096)? };
    let lost_write_every = section.integer_or_none("lost_write_every", 1..=u64::MAX >> 1)?;
    let unreadable = ranges(section, "unreadable", identity)?;
    let slow = ranges(section, "slow", identity)?;
    let bad_places = !unreadable.is_empty() || !slow.is_empty();
    let (retry, retries_max) = if bad_places {
        (Nanos(section.integer("retry_ns", 0..=100 * SECOND_NS)?), section.count("retries_max", 1..=1000)?)
    } else {
        (Nanos::ZERO, 0)
    };
    let read_only_after_bytes = section.integer_or_none("read_only_after_bytes", 0..=u64::MAX >> 1)?;
    let stall = read_stall(section)?;
    let trim = section.one_of_or_none("trim", &TrimDefect::WORDS)?;
    Ok(DriveFaults {
        real_capacity_bytes,
        wrap_bytes,
        flipped,
        flipped_bits,
        lost_write_every,
        unreadable,
        slow,
        retry,
        retries_max,
        read_only_after_bytes,
        stall,
        trim,
        neighbor: read_neighbor(section, identity)?,
        outliers: read_outliers(section)?,
        throttle: read_throttle(section)?,
    })
}

fn check_real_capacity(section: &Section<'_>, identity: &Identity, real: u64) -> Result<(), SimError> {
    let Identity { capacity_bytes, sector_bytes, .. } = *identity;
    if real >= capacity_bytes || !real.is_multiple_of(u64::from(sector_bytes)) {
        let domain = Domain::SectorsBelowCapacity { sector_bytes, capacity_bytes };
        return section.refuse("real_capacity_bytes", real, domain);
    }
    Ok(())
}

fn ranges(
    section: &mut Section<'_>,
    key: &'static str,
    identity: &Identity,
) -> Result<Vec<Range<u64>>, SimError> {
    let domain = Domain::Ranges { capacity_bytes: identity.capacity_bytes };
    let parse = |text: &str| -> Option<Vec<Range<u64>>> {
        let region = |part: &str| part.trim().parse::<Region>().ok();
        let resolve = |region: Region| region.resolve(identity.capacity_bytes, identity.sector_bytes).ok();
        text.split(',').map(|part| region(part).and_then(resolve)).collect()
    };
    Ok(section.parsed_or_none(key, domain, parse)?.unwrap_or_default())
}

fn read_stall(section: &mut Section<'_>) -> Result<Option<StallParameters>, SimError> {
    let every_ios = section.integer_or_none("stall_every_ios", 1..=u64::MAX >> 1)?;
    let interval = section.integer_or_none("stall_every_ns", SPAN)?.map(Nanos);
    if every_ios.is_none() && interval.is_none() {
        return Ok(None);
    }
    let span = Nanos(section.integer("stall_ns", SPAN)?);
    if interval.is_some_and(|interval| interval <= span) {
        let domain = Domain::LessThan { key: "faults.stall_every_ns" };
        return section.refuse("stall_ns", span.0, domain);
    }
    Ok(Some(StallParameters { every_ios, interval, span }))
}

fn read_neighbor(
    section: &mut Section<'_>,
    identity: &Identity,
) -> Result<Option<NeighborParameters>, SimError> {
    let Some(ios_per_s) = section.integer_or_none("neighbor_ios_per_s", 1..=1_000_000)? else {
        return Ok(None);
    };
    let io_bytes = section.count("neighbor_io_bytes", 512..=16 << 20)?;
    let sector = identity.sector_bytes;
    if !io_bytes.is_multiple_of(sector) || u64::from(io_bytes) > identity.capacity_bytes {
        let domain = Domain::SectorsWithinDrive { sector_bytes: sector };
        return section.refuse("neighbor_io_bytes", io_bytes, domain);
    }
    let write_percent = section.count("neighbor_write_percent", 0..=100)?;
    let ios_per_s = u32::try_from(ios_per_s).expect("at most a million");
    Ok(Some(NeighborParameters { ios_per_s, io_bytes, write_percent }))
}

fn read_outliers(section: &mut Section<'_>) -> Result<Option<OutlierParameters>, SimError> {
    let Some(every_ios) = section.integer_or_none("outlier_every_ios", 1..=u64::MAX >> 1)? else {
        return Ok(None);
    };
    let span = Nanos(section.integer("outlier_ns", SPAN)?);
    Ok(Some(OutlierParameters { every_ios, span }))
}

fn read_throttle(section: &mut Section<'_>) -> Result<Option<ThrottleParameters>, SimError> {
    let Some(every) = section.integer_or_none("throttle_every_ns", SPAN)? else { return Ok(None) };
    let span = section.integer("throttle_ns", SPAN)?;
    if every <= span {
        let domain = Domain::LessThan { key: "faults.throttle_every_ns" };
        return section.refuse("throttle_ns", span, domain);
    }
    let bytes_per_s = section.integer("throttled_bytes_per_s", RATE)?;
    Ok(Some(ThrottleParameters { interval: Nanos(every), span: Nanos(span), bytes_per_s }))
}
