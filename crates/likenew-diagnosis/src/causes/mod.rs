//! All causes, one file pair each.

use super::case::BACKGROUND_SHARE_MAX;
use super::{Case, Cause, Hint, LogOdds, Measured, Metric, Origin, wording};
use commands::shell_quote;

mod background_io;
mod commands;
mod compression;
mod counterfeit;
mod degraded_array;
mod encryption;
mod firmware;
mod fragmentation;
mod heat;
mod host_memory;
mod lazy_volume;
mod link_errors;
mod misalignment;
mod narrow_link;
mod nearly_full;
mod no_trim;
mod old_data;
mod power_saving;
mod read_cache;
mod scattered_data;
mod shingled;
mod slc_cache;
mod slow_region;
mod slow_usb;
mod token_bucket;
mod worn_out;
mod write_cache_off;

/// Every cause.
pub const ALL: &[&dyn Cause] = &[
    &slc_cache::SlcCache,
    &no_trim::NoTrim,
    &scattered_data::ScatteredData,
    &old_data::OldData,
    &slow_region::SlowRegionCause,
    &heat::Heat,
    &narrow_link::NarrowLink,
    &slow_usb::SlowUsb,
    &host_memory::NoHostMemory,
    &encryption::Encryption,
    &token_bucket::TokenBucket,
    &lazy_volume::LazyVolume,
    &shingled::Shingled,
    &read_cache::ReadCache,
    &misalignment::Misalignment,
    &fragmentation::Fragmentation,
    &counterfeit::Counterfeit,
    &background_io::BackgroundIo,
    &firmware::Firmware,
    &power_saving::PowerSaving,
    &nearly_full::NearlyFull,
    &worn_out::WornOut,
    &write_cache_off::WriteCacheOff,
    &compression::Compression,
    &link_errors::LinkErrors,
    &degraded_array::DegradedArray,
];

/// The cause of this name.
pub fn by_name(name: &str) -> Option<&'static dyn Cause> {
    ALL.iter().copied().find(|cause| cause.descriptor().name == name)
}

/// Whether it is a hard disk: evidence for causes that need one, or that need flash.
fn hard_disk_evidence(log_odds: &mut LogOdds, case: &Case<'_>) {
    let is_known = case.measurements.access_ns.is_some() || case.drive().is_some();
    let is_disk = is_known.then(|| case.is_disk());
    log_odds.add_fact("hard_disk", is_disk, wording::hard_disk, wording::READ_AT_RANDOM);
}

/// Whether other I/O keeps the drive busy: evidence against causes that only show by how slow something is.
fn background_evidence(log_odds: &mut LogOdds, case: &Case<'_>) {
    log_odds.add_measured(
        "background_io",
        case.measurements.background_share,
        BACKGROUND_SHARE_MAX,
        wording::old_data::background_io,
        Hint::NONE,
    );
}

/// What slows down any I/O, and writes most where they are slow anyway: other I/O and repeated transfers. Evidence
/// against causes that only show by how slow something is.
fn disturbance_evidence(log_odds: &mut LogOdds, case: &Case<'_>) {
    background_evidence(log_odds, case);
    log_odds.add_count("crc_during", case.had_link_errors(), wording::link_errors::during, Hint::NONE);
}

/// The time of a 4K random write over that of a read on a hard disk: evidence on what takes its writes.
fn small_writes_evidence(log_odds: &mut LogOdds, case: &Case<'_>, evidence_id: &'static str, threshold: f64) {
    let writes = case.measurements.metric(Metric::RandomWrite);
    let write_ns = writes.map(|iops| Measured::with_interval(1e9, 0.0).divide_by(iops));
    // Flash without a cache is as fast as its medium; an arm has to move to each place.
    let both = write_ns.zip(case.measurements.access_ns).filter(|_| case.is_disk());
    let hint = if writes.is_some() { Hint::NONE } else { wording::WRITE_AT_RANDOM };
    let say = |_: Measured| {
        let (write, read) = both.expect("what is put into words was measured");
        wording::small_writes(write.value, read.value)
    };
    let ratio = both.map(|(write, read)| write.divide_by(read));
    log_odds.add_measured(evidence_id, ratio, threshold, say, hint);
}

/// The speed of the slowest writes over that of sequential reads, each relative to its reference: writes wait
/// for garbage collection, reads hardly do.
fn slowest_writes(case: &Case<'_>) -> Option<Measured> {
    Some(slowest(case, &WRITES)?.divide_by(slowest(case, &[Metric::SequentialRead])?))
}

/// Writes over reads, each as a share of its reference, from which on reads are what is slow. Chosen: above the
/// scatter of checks.
const READS_BELOW: f64 = 1.2;

/// The speed of the slowest writes over that of the slowest reads, each relative to its reference. A full link
/// slows down the reads that fill it, whatever the drive does.
fn writes_over_reads(case: &Case<'_>) -> Option<Measured> {
    const READS: [Metric; 3] = [Metric::RandomRead, Metric::SequentialRead, Metric::RandomReadQd32];
    let reads = if case.reads_fill_link() { &READS[..1] } else { &READS };
    Some(slowest(case, &WRITES)?.divide_by(slowest(case, reads)?))
}

const WRITES: [Metric; 3] = [Metric::SequentialWrite, Metric::SustainedWrite, Metric::RandomWrite];

/// The slowest of some metrics relative to what the drive could do. A link carries reads and writes alike, which says
/// nothing of a drive that never wrote as fast as it reads.
fn slowest(case: &Case<'_>, metrics: &[Metric]) -> Option<Measured> {
    let shares = metrics.iter().filter_map(|metric| case.shortfall(*metric));
    let shares = shares.filter(|(_, reference)| reference.origin != Origin::Link).map(|(share, _)| share);
    shares.min_by(|one, other| one.value.total_cmp(&other.value))
}
