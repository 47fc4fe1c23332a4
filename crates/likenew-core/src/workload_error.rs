//! Why a workload cannot run on a drive.

use crate::mix::Mix;

/// Each reason in a sentence that says what would fit, where something would.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub(crate) enum WorkloadError {
    #[error("it never ends: give until.elapsed, until.ops or until.bytes (a rest needs until.elapsed)")]
    Endless,
    #[error("{key} = {bytes} bytes is more than 64 PiB")]
    TooManyBytes { key: &'static str, bytes: u64 },
    #[error("until.ops = {ops} is more than 64 PiB of I/Os of {length} bytes: at most {most}")]
    TooManyIos { ops: u64, length: u64, most: u64 },
    #[error("it needs at least one lane and at most 65535 streams")]
    LanesOrStreams,
    #[error("a rest has no I/Os: leave out access and flush")]
    RestWithIos,
    #[error("samples = {samples} are more than the {most} that are kept one by one")]
    TooManySamples { samples: u32, most: u32 },
    #[error("window = 0 bytes is not a width: leave it out, or give one such as 1MiB")]
    EmptyWindow,
    #[error("{depth} I/Os in flight are more than the {most} that are supported")]
    TooDeep { depth: u64, most: u64 },
    #[error("streams that take turns share one pace: give all of them the same depth and per_second")]
    UnequalPaces,
    #[error("a pace needs a depth of at least 1")]
    NoDepth,
    #[error("an open pace of {0} per second is not in 0..10⁹")]
    ImpossibleRate(f64),
    #[error("a stream that takes turns needs a weight of at least 1")]
    NoWeight,
    #[error("Zipf's θ of {0} is not in 0..10")]
    ImpossibleTheta(f64),
    #[error("\"{0}\" would change this target, which is read-only")]
    ReadOnly(Mix),
    #[error("this target has no TRIM")]
    NoTrim,
    #[error("{0}")]
    Region(String),
    #[error(
        "I/Os of {bytes} bytes are not a multiple of the target's block of {block} bytes; use {}",
        bytes.next_multiple_of(*block)
    )]
    NotInBlocks { bytes: u32, block: u32 },
    #[error("I/Os of {bytes} bytes do not divide the files of {boundary} bytes")]
    AcrossFiles { bytes: u32, boundary: u64 },
    #[error("its region of {region} bytes is too small for I/Os of {bytes} bytes")]
    RegionTooSmall { region: u64, bytes: u32 },
    #[error("places {grain} bytes apart are not multiples of the target's block of {block} bytes")]
    PlacesNotInBlocks { grain: u64, block: u32 },
    #[error(
        "places {grain} bytes apart would cross the files of {boundary} bytes: give a region in one of them"
    )]
    PlacesAcrossFiles { grain: u64, boundary: u64 },
    #[error("stamped data could not be read back: this target keeps nothing")]
    StampsNotKept,
    #[error("stamped data is made of sectors of {sector} bytes, and this target's blocks are {block} bytes")]
    StampsNotInBlocks { sector: usize, block: u32 },
    #[error("a recording is replayed on one lane, and without streams beside it")]
    RecordingWithStreams,
    #[error("a recording needs a depth of at least 1")]
    RecordingWithoutDepth,
    #[error("its writes would change this target, which is read-only: replay reads only")]
    RecordingWrites,
    #[error("length_max = {length} bytes is not a multiple of {block} in {block}..16MiB")]
    RecordingLength { length: u64, block: u64 },
    #[error("its region of {region} bytes holds no I/O of {length}")]
    RecordingRegion { region: u64, length: u64 },
    #[error("speed = {0} is not in 0.001..1000000")]
    RecordingSpeed(f64),
    #[error("a recording is written over and over, so its data is never stamped")]
    RecordingStamped,
    #[error("{count} applications are more than the {most} that are told apart")]
    TooManyApplications { count: usize, most: usize },
}
