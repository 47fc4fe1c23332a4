//! The rates that drives are sold and remembered by.

use likenew_core::io::Op;

/// A rate with a reference. More is better; for random I/O it is a number per second.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Metric {
    /// Bytes a second of sequential reads.
    SequentialRead,
    /// Bytes a second of sequential writes, before any cache is full.
    SequentialWrite,
    /// Bytes a second at the end of all sequential writes.
    SustainedWrite,
    /// 4 KiB random reads a second at queue depth 1.
    RandomRead,
    /// 4 KiB random writes a second at queue depth 1.
    RandomWrite,
    /// 4 KiB random reads a second at queue depth 32.
    RandomReadQd32,
}

impl Metric {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::SequentialRead,
        Self::SequentialWrite,
        Self::SustainedWrite,
        Self::RandomRead,
        Self::RandomWrite,
        Self::RandomReadQd32,
    ];

    /// The operation.
    pub fn op(self) -> Op {
        match self {
            Self::SequentialRead | Self::RandomRead | Self::RandomReadQd32 => Op::Read,
            Self::SequentialWrite | Self::SustainedWrite | Self::RandomWrite => Op::Write,
        }
    }

    /// Its unit: `bytes/s`, or `1/s` for I/Os.
    pub fn unit(self) -> &'static str {
        match self {
            Self::SequentialRead | Self::SequentialWrite | Self::SustainedWrite => "bytes/s",
            Self::RandomRead | Self::RandomWrite | Self::RandomReadQd32 => "1/s",
        }
    }
}
