//! Why a hard disk cannot be built in some way.

use likenew_core::units::Nanos;

/// What does not fit.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs, reason = "the sentence of each variant explains its fields")]
pub enum LayoutError {
    #[error(
        "{sectors} sectors at these rates and heads need {cylinders} cylinders: at most {most} are supported"
    )]
    TooManyCylinders { sectors: u64, cylinders: u64, most: u64 },
    #[error(
        "no seek curve rises from {track} for a track over {average} on average to {full} for the full stroke"
    )]
    SeekCurve { track: Nanos, average: Nanos, full: Nanos },
    #[error(
        "cache.memory_bytes is {memory}: it has to hold write_cache_bytes and one segment, {needed} together"
    )]
    SmallMemory { memory: u64, needed: u64 },
    #[error("shingles.append_bytes_max is above band_bytes, {band}")]
    LongAppends { band: u64 },
    #[error("shingles.media_cache_bytes has to hold two appends of {append} bytes")]
    SmallMediaCache { append: u64 },
    #[error(
        "cache.write_cache_bytes is {write_cache}: it has to hold two bands of {band} bytes, one to fill while another is written"
    )]
    SmallWriteCache { write_cache: u64, band: u64 },
    #[error("shingles.map_entries is {entries}: at least four times cache.write_cache_extents, {extents}")]
    SmallMap { entries: u32, extents: u32 },
}
