//! Reads the file of a network volume.

use likenew_core::units::Nanos;

use super::{Identity, RATE, SECOND_NS};
use crate::drive_file::Section;
use crate::error::{FileError, SimError};
use crate::front::LinkParameters;
use crate::volume::{CountingParameters, CreditParameters, LatencyParameters, VolumeParameters};
use crate::wording::Domain;

const IOPS: std::ops::RangeInclusive<u64> = 1..=10_000_000;
const IO_BYTES: std::ops::RangeInclusive<u64> = 512..=1 << 30;

pub(super) fn read(
    root: &mut Section<'_>,
    identity: &Identity,
    link: LinkParameters,
) -> Result<VolumeParameters, SimError> {
    let credits = root.table("credits", |section| read_credits(section, identity))?;
    let counting = root.table("counting", read_counting)?;
    let bytes_per_s = root.table("throughput", |section| read_throughput(section, identity))?;
    let (latency, trims) = root.table("store", read_store)?;
    Ok(VolumeParameters { link, credits, counting, bytes_per_s, latency, trims })
}

fn read_credits(section: &mut Section<'_>, identity: &Identity) -> Result<CreditParameters, SimError> {
    let iops_per_gib = section.integer("iops_per_gib", 0..=1_000_000)?;
    let (iops_min, iops_max) = (section.integer("iops_min", IOPS)?, section.integer("iops_max", IOPS)?);
    if iops_min > iops_max {
        let domain = Domain::AtMost { key: "credits.iops_max", value: iops_max };
        return section.refuse("iops_min", iops_min, domain);
    }
    let by_size = (u128::from(identity.capacity_bytes) * u128::from(iops_per_gib)) >> 30;
    let by_size = u64::try_from(by_size).expect("at most 2⁴⁴ bytes and 10⁶ I/Os for a GiB");
    Ok(CreditParameters {
        baseline_iops: by_size.clamp(iops_min, iops_max),
        burst_iops: section.integer("burst_iops", IOPS)?,
        credits_max: section.integer("credits_max", 0..=1_000_000_000_000)?,
    })
}

fn read_counting(section: &mut Section<'_>) -> Result<CountingParameters, SimError> {
    let counting = CountingParameters {
        io_bytes: section.integer("io_bytes", IO_BYTES)?,
        small_io_bytes: section.integer("small_io_bytes", 0..=1 << 30)?,
        small_merge_bytes: section.integer("small_merge_bytes", IO_BYTES)?,
    };
    let CountingParameters { io_bytes, small_io_bytes, small_merge_bytes } = counting;
    if small_io_bytes.max(small_merge_bytes) > io_bytes {
        let (small_io, small_merge, io) = (small_io_bytes, small_merge_bytes, io_bytes);
        return Err(section.error(FileError::LargeSmallIos { small_io, small_merge, io }));
    }
    Ok(counting)
}

fn read_throughput(section: &mut Section<'_>, identity: &Identity) -> Result<u64, SimError> {
    let small_capacity_max = section.integer("small_capacity_bytes_max", 0..=1 << 44)?;
    let small = section.integer("small_bytes_per_s", RATE)?;
    let large = section.integer("large_bytes_per_s", RATE)?;
    Ok(if identity.capacity_bytes <= small_capacity_max { small } else { large })
}

fn read_store(section: &mut Section<'_>) -> Result<(LatencyParameters, bool), SimError> {
    let latency = 1..=10 * SECOND_NS;
    let median = Nanos(section.integer("latency_ns_median", latency.clone())?);
    let p99 = Nanos(section.integer("latency_ns_p99", latency)?);
    // With a wider spread, single I/Os could take years.
    if p99 < median || p99.0 / median.0 > 100 {
        let domain = Domain::Times { most: 100, key: "store.latency_ns_median", value: median.0 };
        return section.refuse("latency_ns_p99", p99.0, domain);
    }
    Ok((LatencyParameters { median, p99 }, section.truth("trim")?))
}
