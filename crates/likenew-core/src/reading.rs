//! All drives at one moment, as the kernel counts them.

use std::sync::Arc;

use crate::stat::Stat;
use crate::units::Nanos;

/// Every drive that was there when the counters were read.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reading {
    /// When, on the reader's clock.
    pub at: Nanos,
    /// In no particular order, each name once.
    pub drives: Vec<DriveReading>,
}

/// One drive, partition or layer.
#[derive(Clone, Debug, PartialEq)]
pub struct DriveReading {
    /// The kernel's name for it: `sda`, `nvme0n1p2`, `dm-0`.
    pub name: String,
    /// Distinguishes it from an earlier drive of the same name; 0 from kernels before 5.15.
    pub instance: u64,
    /// When exactly its counters were read, on the reader's clock.
    pub at: Nanos,
    /// What was counted until then.
    pub stat: Stat,
    /// Reads and writes in flight, where the kernel counts them separately.
    pub in_flight: Option<[u64; 2]>,
    /// Degrees Celsius, where its driver reports them.
    pub temperature_c: Option<f64>,
    /// What changes seldom.
    pub facts: Arc<DriveFacts>,
}

/// What is known of a drive without asking it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DriveFacts {
    /// As it is given to a command: `/dev/sda`.
    pub path: String,
    /// What kind of device it is.
    pub role: Role,
    /// Maker and model; of a layer its own name, of a loop device its file.
    pub model: Option<String>,
    /// Its size in bytes; 0 where no medium is in it.
    pub capacity_bytes: u64,
    /// Where it, or a layer on it, is mounted, or that it is swap.
    pub used_by: Vec<String>,
    /// The layers below and above it, itself included, from the bottom.
    pub stack: Vec<Layer>,
    /// More, as name and value: bus, scheduler, depth of the queue, write cache …
    pub facts: Vec<(String, String)>,
    /// What limits the trust in its counters, in sentences.
    pub caveats: Vec<String>,
}

/// What kind of device a name stands for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Role {
    /// A drive, real or of a virtual machine.
    #[default]
    Drive,
    /// A part of one.
    Partition,
    /// Built on others: device mapper, RAID.
    Layer,
    /// A file (loop) or memory (ram, zram) that looks like one.
    Virtual,
}

/// One line of what carries what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layer {
    /// How many are below it.
    pub level: u16,
    /// The kernel's name.
    pub name: String,
    /// Size, model and use, in words.
    pub words: String,
}
