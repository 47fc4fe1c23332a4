//! The few figures that a drive is sold and remembered by.

use likenew_core::io::Op;
use likenew_core::units::{Nanos, rate, three_digits};

/// What is compared with a reference. More is better; of an access it is how many there are in a second.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Metric {
    /// Bytes a second of reads in order.
    SequentialRead,
    /// Bytes a second of writes in order, before anything in the drive is exhausted.
    SequentialWrite,
    /// Bytes a second of writes in order at the end of as many as were asked for.
    SustainedWrite,
    /// Reads of 4 KiB anywhere in a second, one at a time.
    RandomRead,
    /// Writes of 4 KiB anywhere in a second, one at a time.
    RandomWrite,
    /// Reads of 4 KiB anywhere in a second, 32 at a time.
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

    /// What is done.
    pub fn op(self) -> Op {
        match self {
            Self::SequentialRead | Self::RandomRead | Self::RandomReadQd32 => Op::Read,
            Self::SequentialWrite | Self::SustainedWrite | Self::RandomWrite => Op::Write,
        }
    }

    /// As the subject of a sentence.
    pub fn words(self) -> &'static str {
        match self {
            Self::SequentialRead => "reads in order",
            Self::SequentialWrite => "writes in order",
            Self::SustainedWrite => "long writes in order",
            Self::RandomRead => "small reads one at a time",
            Self::RandomWrite => "small writes one at a time",
            Self::RandomReadQd32 => "small reads 32 at a time",
        }
    }

    /// What it counts a second of: `bytes/s`, or `1/s` for I/Os.
    pub fn unit(self) -> &'static str {
        match self {
            Self::SequentialRead | Self::SequentialWrite | Self::SustainedWrite => "bytes/s",
            Self::RandomRead | Self::RandomWrite | Self::RandomReadQd32 => "1/s",
        }
    }

    /// A value of it as people write it.
    pub fn format_value(self, value: f64) -> String {
        match self {
            Self::SequentialRead | Self::SequentialWrite | Self::SustainedWrite => rate(value),
            Self::RandomRead | Self::RandomWrite => format!("{} each", Nanos::from_secs_f64(1.0 / value)),
            Self::RandomReadQd32 => format!("{} a second", three_digits(value)),
        }
    }
}
