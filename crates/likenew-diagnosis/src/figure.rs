//! The few figures that a drive is sold and remembered by.

use likenew_core::io::Op;
use likenew_core::units::{Nanos, rate, three_digits};

/// What is compared with a reference. More is better; of an access it is how many there are in a second.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Figure {
    /// Bytes a second of reads in order.
    ReadInOrder,
    /// Bytes a second of writes in order, before anything in the drive is exhausted.
    WriteInOrder,
    /// Bytes a second of writes in order at the end of as many as were asked for.
    WriteOnAndOn,
    /// Reads of 4 KiB anywhere in a second, one at a time.
    ReadAnywhere,
    /// Writes of 4 KiB anywhere in a second, one at a time.
    WriteAnywhere,
    /// Reads of 4 KiB anywhere in a second, 32 at a time.
    ReadAnywhereDeep,
}

impl Figure {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::ReadInOrder,
        Self::WriteInOrder,
        Self::WriteOnAndOn,
        Self::ReadAnywhere,
        Self::WriteAnywhere,
        Self::ReadAnywhereDeep,
    ];

    /// What is done.
    pub fn op(self) -> Op {
        match self {
            Self::ReadInOrder | Self::ReadAnywhere | Self::ReadAnywhereDeep => Op::Read,
            Self::WriteInOrder | Self::WriteOnAndOn | Self::WriteAnywhere => Op::Write,
        }
    }

    /// As the subject of a sentence.
    pub fn words(self) -> &'static str {
        match self {
            Self::ReadInOrder => "reads in order",
            Self::WriteInOrder => "writes in order",
            Self::WriteOnAndOn => "long writes in order",
            Self::ReadAnywhere => "small reads one at a time",
            Self::WriteAnywhere => "small writes one at a time",
            Self::ReadAnywhereDeep => "small reads 32 at a time",
        }
    }

    /// What it counts a second of: `bytes/s`, or `1/s` for I/Os.
    pub fn unit(self) -> &'static str {
        match self {
            Self::ReadInOrder | Self::WriteInOrder | Self::WriteOnAndOn => "bytes/s",
            Self::ReadAnywhere | Self::WriteAnywhere | Self::ReadAnywhereDeep => "1/s",
        }
    }

    /// A value of it as people write it.
    pub fn said(self, value: f64) -> String {
        match self {
            Self::ReadInOrder | Self::WriteInOrder | Self::WriteOnAndOn => rate(value),
            Self::ReadAnywhere | Self::WriteAnywhere => format!("{} each", Nanos::from_secs_f64(1.0 / value)),
            Self::ReadAnywhereDeep => format!("{} a second", three_digits(value)),
        }
    }
}
