//! Why a drive cannot be in a situation.

/// Which it cannot be in, and what to do.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum SituationError {
    #[error("the {model} is a network volume, which has no such link: leave link= out")]
    VolumeWithoutLink { model: String },
    #[error("the {model} is connected by {own_bus}; {link} is another bus: leave link= out")]
    OtherBus { model: String, own_bus: &'static str, link: String },
    #[error(
        "the {model} is connected by a link that corrects errors itself within microseconds: leave crc= out"
    )]
    CorrectingLink { model: String },
    #[error("the {model} has no firmware of its own: leave firmware= out")]
    NoFirmware { model: String },
    #[error(
        "{key} is {bytes}: of the {model} it takes a multiple of its sectors, {sector} bytes, below its {capacity} bytes"
    )]
    OddBytes { key: &'static str, bytes: u64, model: String, sector: u64, capacity: u64 },
    #[error("the {model} keeps no part of its mapping table in host memory: leave hmb= out")]
    NoHostMemory { model: String },
    #[error("the {model} is not a volume that could be restored from a snapshot: leave lazy= out")]
    NotAVolume { model: String },
    #[error("the {model} has no flash that wears out: leave wear= out")]
    NoWear { model: String },
    #[error("the {model} is not a hard disk, so it has no slow region: leave slow_region= out")]
    NoSlowRegion { model: String },
}
