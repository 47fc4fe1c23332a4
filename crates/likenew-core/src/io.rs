//! One I/O: the request to a drive, and its outcome.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::stamp::Stamp;
use crate::units::Nanos;
use crate::{serde_as_text, wording};

/// One of a lane's request slots, `0 .. depth`. A slot holds at most one I/O in flight and owns one buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Slot(pub u32);

impl Slot {
    /// The slot as an index.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// What an I/O does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[derive(strum::Display, strum::EnumString, strum::IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub enum Op {
    /// Read the range.
    Read,
    /// Write the range.
    Write,
    /// Discard the range (TRIM, deallocate; delete, for a file): its content is no longer needed.
    Trim,
    /// Make every write that completed before this one durable; offset and length are zero.
    Flush,
}

impl Op {
    /// Every op, in the order of [`Op::index`].
    pub const ALL: [Self; 4] = [Self::Read, Self::Write, Self::Trim, Self::Flush];

    /// The op as an index in `0 .. 4`, for tables.
    pub fn index(self) -> usize {
        self as usize
    }

    /// `read`, `write`, `trim` or `flush`.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// What is durable when a write or a flush ends (open(2), `O_DSYNC` and `O_SYNC`; fdatasync(2)). A block
/// device has no metadata, so both are the same there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Durability {
    /// The data, and the metadata needed to find it again.
    #[serde(rename = "dsync")]
    Data,
    /// Also all other metadata of the file.
    #[serde(rename = "sync")]
    File,
}

/// How compressible the bytes of a write are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum DataClass {
    /// All bytes zero.
    Zero,
    /// Fresh pseudo-random bytes for every write, which no compressor shortens.
    Random,
    /// Fresh bytes that a lossless compressor shortens to this share of their length, `0 < share < 1`.
    Ratio(f32),
    /// Stamped sectors, which no compressor shortens; reads with the same class are checked.
    Stamped(Stamp),
}

impl DataClass {
    /// Compressed length over length: 0 for zeros, 1 for random data.
    pub fn compressed_share(self) -> f64 {
        match self {
            Self::Zero => 0.0,
            Self::Random | Self::Stamped(_) => 1.0,
            Self::Ratio(share) => f64::from(share),
        }
    }
}

impl fmt::Display for DataClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Zero => f.pad("zero"),
            Self::Random => f.pad("random"),
            Self::Ratio(share) => share.fmt(f),
            Self::Stamped(stamp) => write!(f, "stamped:{stamp}"),
        }
    }
}

impl FromStr for DataClass {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "zero" => return Ok(Self::Zero),
            "random" => return Ok(Self::Random),
            _ => {}
        }
        if let Some(stamp) = text.strip_prefix("stamped:") {
            return stamp.parse().map(Self::Stamped);
        }
        match text.parse::<f32>() {
            Ok(0.0) => Ok(Self::Zero),
            Ok(1.0) => Ok(Self::Random),
            Ok(share) if share > 0.0 && share < 1.0 => Ok(Self::Ratio(share)),
            _ => Err(wording::not_a_data_class(text)),
        }
    }
}

serde_as_text!(DataClass);

/// A request to a target.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Io {
    /// The slot that carries it; its buffer is the source of a write and the destination of a read.
    pub slot: Slot,
    /// What to do.
    pub op: Op,
    /// First byte of the range; a multiple of the target's block.
    pub offset: u64,
    /// Bytes; a multiple of the target's block, zero only for a flush.
    pub length: u32,
    /// The data class of a write: all that a simulated drive needs if it stores no data.
    pub data: DataClass,
    /// What is durable when it ends: a write's own data, nothing if not set; after a flush all data, as
    /// [`Durability::Data`] if not set.
    pub sync: Option<Durability>,
}

/// How an I/O ended. A drive's error is a measured result, not a `TargetError`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// Every byte was moved.
    Done,
    /// The drive moved this many bytes, fewer than asked.
    Short(u32),
    /// The drive refused: the operating system's error number.
    Error(i32),
}

impl Outcome {
    /// Bytes that were moved, of `length` requested.
    pub fn bytes(self, length: u32) -> u32 {
        match self {
            Self::Done => length,
            Self::Short(bytes) => bytes,
            Self::Error(_) => 0,
        }
    }

    /// Whether it is about the address: short, or EIO, EILSEQ, ENODATA, EREMOTEIO, ETIMEDOUT, as Linux's
    /// block layer answers for a medium. Otherwise it is about the path to the address: a full file system,
    /// or a drive that is gone.
    pub fn is_about_the_medium(self) -> bool {
        const EIO: i32 = 5;
        const ENODATA: i32 = 61;
        const EILSEQ: i32 = 84;
        const ETIMEDOUT: i32 = 110;
        const EREMOTEIO: i32 = 121;
        match self {
            Self::Done => false,
            Self::Short(_) => true,
            Self::Error(errno) => [EIO, ENODATA, EILSEQ, ETIMEDOUT, EREMOTEIO].contains(&errno),
        }
    }
}

/// The end of one accepted I/O.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Completion {
    /// Its slot, which is free again.
    pub slot: Slot,
    /// When the target noticed its end.
    pub at: Nanos,
    /// How it ended.
    pub outcome: Outcome,
}

/// One I/O: what it did, and when it was due, left and ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sample {
    /// Index of the stream in its workload.
    pub stream: u16,
    /// What it did.
    pub op: Op,
    /// How it ended.
    pub outcome: Outcome,
    /// Bytes requested.
    pub length: u32,
    /// First byte of the range.
    pub offset: u64,
    /// When it was due. With a closed arrival every I/O is due at once, so this equals `sent`.
    pub due: Nanos,
    /// When it left.
    pub sent: Nanos,
    /// When it ended.
    pub done: Nanos,
}

impl Sample {
    /// `done − due`: how long a user waits, including for a late departure.
    pub fn latency(&self) -> Nanos {
        self.done.since(self.due)
    }

    /// Bytes that were moved.
    pub fn bytes(&self) -> u64 {
        u64::from(self.outcome.bytes(self.length))
    }

    /// The outcome as one number, as in io_uring's completions: bytes moved, or the negated error number. It
    /// equals `length` for a complete I/O.
    pub fn signed_outcome(&self) -> i64 {
        match self.outcome {
            Outcome::Done => i64::from(self.length),
            Outcome::Short(bytes) => i64::from(bytes),
            // Error numbers are positive. Another number is still an error, not a number of bytes.
            Outcome::Error(errno) => -i64::from(errno.unsigned_abs().max(1)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_classes_read_back_and_nonsense_does_not() {
        for text in ["zero", "random", "0.5", "0.25", "stamped:17:2"] {
            assert_eq!(text.parse::<DataClass>().unwrap().to_string(), text);
        }
        for text in ["", "half", "1.5", "-0.1", "NaN", "inf", "stamped", "stamped:", "stamped:x"] {
            assert!(text.parse::<DataClass>().is_err(), "{text}");
        }
    }
}
