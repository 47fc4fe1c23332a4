//! Why a drive cannot be in a situation.

/// Which it cannot be in, and what to do.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum SituationError {
    #[error("the {model} is a cloud volume, which has no such link; leave out link=")]
    VolumeWithoutLink { model: String },
    #[error("the {model} is connected by {own_bus}; {link} is another bus; leave out link=")]
    OtherBus { model: String, own_bus: &'static str, link: String },
    #[error(
        "the {model} is connected by a link that corrects errors itself within microseconds; leave out crc="
    )]
    CorrectingLink { model: String },
    #[error("the {model} has no firmware of its own; leave out firmware=")]
    NoFirmware { model: String },
    #[error(
        "{key} is {bytes}: of the {model} it takes a multiple of its sectors, {sector} bytes, below its {capacity} bytes"
    )]
    OddBytes { key: &'static str, bytes: u64, model: String, sector: u64, capacity: u64 },
    #[error("the {model} keeps no part of its mapping table in host memory; leave out hmb=")]
    NoHostMemory { model: String },
    #[error("the {model} is not a volume that could be restored from a snapshot; leave out lazy=")]
    NotAVolume { model: String },
    #[error("the {model} has no flash that wears out; leave out wear=")]
    NoWear { model: String },
    #[error("the {model} is not a hard disk, so it has no slow region; leave out slow_region=")]
    NoSlowRegion { model: String },
}
