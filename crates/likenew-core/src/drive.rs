//! A drive: what is opened once and measured through lanes, and how it is introduced in a report.

use crate::target::{Geometry, Target};
use crate::target_error::TargetError;
use std::io;

use serde::{Deserialize, Serialize};

use crate::counters::{Counters, FlashCounters};
use crate::probe::{Probe, ProbeResult};
use crate::units::Nanos;
use crate::wording;
use crate::workload::Access;

/// What a workload needs of a drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LaneRequirements {
    /// Lanes that will be driven at once, each from one thread.
    pub lanes: u32,
    /// I/Os in flight on one lane at most.
    pub depth: u32,
    /// The longest I/O, in bytes.
    pub length_max: u32,
}

/// Something that can be measured.
pub trait Drive {
    /// What it is.
    fn identity(&self) -> Identity;

    /// The geometry that its lanes will have.
    fn geometry(&self) -> Geometry;

    /// Lanes that may be open at once: 1 for a simulated drive, whose single clock serves everyone.
    fn lanes_max(&self) -> u32;

    /// Opens `need.lanes ≤ lanes_max` lanes for one workload. Dropping them releases what they hold, after
    /// the last I/O in flight has ended. The drive keeps its state and its clock.
    ///
    /// # Errors
    /// The target cannot be measured any further.
    fn lanes<'a>(&'a mut self, need: &LaneRequirements) -> Result<Vec<Lane<'a>>, TargetError>;

    /// Sets how lanes opened from now on reach the drive; direct is how it starts. `cold` first makes durable
    /// what was written and drops it from the page cache, so that nothing comes from memory; only caches of
    /// files we may write are ours to drop.
    ///
    /// # Errors
    /// It cannot be reached that way, or its cache is not ours to drop; or the target cannot be measured any further.
    fn prepare_access(&mut self, access: Access, cold: bool) -> Result<(), TargetError> {
        if access == Access::Direct && !cold {
            return Ok(());
        }
        Err(TargetError::Unsuitable(wording::no_page_cache(&self.identity().name)))
    }

    /// Switches its addresses to the owner's old files, which can only be read, or back to its own. The files
    /// are searched for if they have not been, and closed once the addresses are its own again.
    ///
    /// # Errors
    /// It has none.
    fn use_old_files(&mut self, turn: bool) -> Result<(), TargetError> {
        if !turn {
            return Ok(());
        }
        Err(TargetError::Unsuitable(wording::no_old_files(&self.identity().name)))
    }

    /// What the devices below it have counted since they were attached; `None` where no device counts, such
    /// as below a file system in memory or on another machine. No lane is open.
    fn counters(&mut self) -> Option<Counters> {
        None
    }

    /// Sets its clock to `now`, which is never earlier than what it reads: a resumed run continues the time
    /// of the interrupted one. A virtual clock advances only by waiting, so a drive with one does nothing.
    fn resume_clock_at(&mut self, _now: Nanos) {}

    /// Finds something out about the drive other than by timing I/O. No lane is open during that. What cannot
    /// be found out is [`ProbeResult::Unknown`].
    ///
    /// # Errors
    /// The target cannot be measured any further.
    fn probe(&mut self, _probe: &Probe) -> Result<ProbeResult, TargetError> {
        Ok(ProbeResult::Unknown(wording::CANNOT_BE_QUERIED.to_owned()))
    }

    /// Flash counters of a simulated drive.
    fn flash_counters(&self) -> Option<FlashCounters> {
        None
    }
}

/// A target that one thread drives.
pub type Lane<'a> = Box<dyn Target + Send + 'a>;

/// What kind of thing a drive is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TargetKind {
    /// A folder: our own files in its free space.
    Folder,
    /// An existing file.
    File,
    /// A block device.
    Device,
    /// A simulated drive.
    Simulated,
    /// Nothing at all: measures the instrument.
    Nop,
}

/// How a drive is introduced in a report.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Identity {
    /// As the user names it: a path, or `sim:NAME`.
    pub name: String,
    /// What kind of thing it is.
    pub kind: TargetKind,
    /// Maker and model, where known.
    pub model: Option<String>,
    /// `io_uring`, `posix`, `nop` or `simulation`: what carries the I/O.
    pub engine: String,
    /// Bytes that can be addressed.
    pub capacity_bytes: u64,
    /// Smallest unit of address, in bytes.
    pub block_bytes: u32,
    /// Further properties as name and value: file system, state of a simulated drive …
    pub facts: Vec<(String, String)>,
    /// What limits the trust in numbers measured on it, in sentences.
    pub caveats: Vec<String>,
    /// Flash counters of a simulated drive at the end of the run.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub accounting: Option<FlashCounters>,
}

impl Identity {
    /// How its facts say whether it rotates, where the system knows.
    pub const ROTATES: (&'static str, &'static str) = ("rotating", "yes");

    /// How its facts say that it lies in memory, and on no drive.
    pub const IN_MEMORY: (&'static str, &'static str) = ("medium", "memory");

    /// How its facts say that its files are written in place although their file system writes others elsewhere.
    pub const IN_PLACE: (&'static str, &'static str) = ("written", "in place");

    /// Whether its facts hold this name with this value.
    pub fn has(&self, fact: (&str, &str)) -> bool {
        self.facts.iter().any(|(name, value)| (name.as_str(), value.as_str()) == fact)
    }

    /// Whether it lies in memory.
    pub fn is_memory(&self) -> bool {
        self.has(Self::IN_MEMORY)
    }

    /// Whether it is known to rotate.
    pub fn rotates(&self) -> bool {
        self.has(Self::ROTATES)
    }
}

/// Bytes that are read and written in whole blocks, with a volatile cache that can be flushed.
pub trait BlockStore {
    /// All its bytes: a multiple of [`BlockStore::block`].
    fn bytes(&self) -> u64;

    /// Offsets and lengths are multiples of this: a power of two, 512 at least.
    fn block(&self) -> u32;

    /// Reads all of `into` from there on. Buffers at multiples of 4096 bytes may be spared a copy.
    ///
    /// # Errors
    /// The system's; the contents of `into` are then undefined.
    fn read_at(&mut self, offset: u64, into: &mut [u8]) -> io::Result<()>;

    /// Writes all of `bytes` there. It is durable after the next [`BlockStore::flush`] that succeeds.
    ///
    /// # Errors
    /// The system's error; any of the blocks may then have been written. With [`io::ErrorKind::ResourceBusy`]
    /// nothing was written: another program is about to use the store, so leave it alone.
    fn write_at(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()>;

    /// Returns when everything written would survive a loss of power.
    ///
    /// # Errors
    /// The system's; nothing written since the last flush may then be relied upon.
    fn flush(&mut self) -> io::Result<()>;

    /// Who may use it. Asked before each read of a few hundred milliseconds, and before each write.
    fn lease_state(&mut self) -> LeaseState {
        LeaseState::Active
    }

    /// Makes durable what belongs to it beside its bytes, such as the times of a file. This is done last
    /// before its journal is removed.
    ///
    /// # Errors
    /// As [`BlockStore::flush`].
    fn finish(&mut self) -> io::Result<()> {
        self.flush()
    }
}

impl<G: BlockStore + ?Sized> BlockStore for &mut G {
    fn bytes(&self) -> u64 {
        (**self).bytes()
    }

    fn block(&self) -> u32 {
        (**self).block()
    }

    fn read_at(&mut self, offset: u64, into: &mut [u8]) -> io::Result<()> {
        (**self).read_at(offset, into)
    }

    fn write_at(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        (**self).write_at(offset, bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        (**self).flush()
    }

    fn lease_state(&mut self) -> LeaseState {
        (**self).lease_state()
    }

    fn finish(&mut self) -> io::Result<()> {
        (**self).finish()
    }
}

/// Who may use a store at this moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LeaseState {
    /// The holder alone, and no other program waits for it.
    Active,
    /// The holder alone, but another program waits for it: start nothing new, and give the store back once
    /// nothing is in flight.
    BreakRequested,
    /// Other programs may have written to it by now: nothing is written to it any more.
    Lost,
}
