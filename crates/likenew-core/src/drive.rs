//! A drive: opened once, measured through lanes, and described in reports by its identity.

use crate::target::{Geometry, Target};
use crate::target_error::TargetError;
use std::io;

use auto_impl::auto_impl;
use serde::{Deserialize, Serialize};

use crate::counters::{Counters, FlashCounters};
use crate::probe::{Probe, ProbeResult};
use crate::units::Nanos;
use crate::wording;
use crate::workload::Access;

/// What a workload requires of a drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LaneRequirements {
    /// Lanes in use at once, each on its own thread.
    pub lanes: u32,
    /// Most I/Os in flight on one lane.
    pub depth: u32,
    /// The longest I/O, in bytes.
    pub length_max: u32,
}

/// Something that can be measured.
pub trait Drive {
    /// Describes the drive for reports.
    fn identity(&self) -> Identity;

    /// The geometry of its lanes.
    fn geometry(&self) -> Geometry;

    /// Most lanes that may be open at once: 1 for a simulated drive, whose single clock serves all I/O.
    fn lanes_max(&self) -> u32;

    /// Opens `need.lanes ≤ lanes_max` lanes for one workload. Dropping the lanes releases what they hold,
    /// after their last I/O in flight has ended. The drive keeps its state and its clock.
    ///
    /// # Errors
    /// The target cannot be measured any further.
    fn lanes<'a>(&'a mut self, need: &LaneRequirements) -> Result<Vec<Lane<'a>>, TargetError>;

    /// Sets how lanes opened from now on reach the drive; the default is direct. `cold` first makes written
    /// data durable and drops it from the page cache, so that no read comes from memory. Only caches of files
    /// that we may write can be dropped.
    ///
    /// # Errors
    /// The drive cannot be reached that way, its cache may not be dropped, or the target cannot be measured any further.
    fn prepare_access(&mut self, access: Access, cold: bool) -> Result<(), TargetError> {
        if access == Access::Direct && !cold {
            return Ok(());
        }
        Err(TargetError::Unsuitable(wording::no_page_cache(&self.identity().name)))
    }

    /// Switches its addresses to the owner's old files, which are read-only, or back to its own. The first
    /// switch searches for the files; switching back closes them.
    ///
    /// # Errors
    /// The drive has no old files.
    fn use_old_files(&mut self, turn: bool) -> Result<(), TargetError> {
        if !turn {
            return Ok(());
        }
        Err(TargetError::Unsuitable(wording::no_old_files(&self.identity().name)))
    }

    /// Counters of the devices below the drive since they were attached. `None` where no device counts, such
    /// as below a file system in memory or on another machine. No lane is open.
    fn counters(&mut self) -> Option<Counters> {
        None
    }

    /// Sets the clock to `now`, which is never earlier than its current time: a resumed run continues the
    /// interrupted run's time. A virtual clock advances only by waiting, so a simulated drive does nothing.
    fn resume_clock_at(&mut self, _now: Nanos) {}

    /// Finds something out about the drive without timing I/O. No lane is open. The result is
    /// [`ProbeResult::Unknown`] where it cannot be found out.
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

/// The kind of a drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TargetKind {
    /// A folder: our temporary files in its free space.
    Folder,
    /// An existing file.
    File,
    /// A block device.
    Device,
    /// A simulated drive.
    Simulated,
    /// No drive at all, to measure the program itself.
    Nop,
}

/// Describes a drive in a report.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Identity {
    /// As the user names it: a path, or `sim:NAME`.
    pub name: String,
    /// What kind of drive it is.
    pub kind: TargetKind,
    /// Maker and model, where known.
    pub model: Option<String>,
    /// What carries the I/O: `io_uring`, `posix`, `nop` or `simulation`.
    pub engine: String,
    /// Bytes that can be addressed.
    pub capacity_bytes: u64,
    /// Smallest addressable unit, in bytes.
    pub block_bytes: u32,
    /// Further properties as name and value, such as the file system or the state of a simulated drive.
    pub facts: Vec<(String, String)>,
    /// What limits the trust in its measurements, in sentences.
    pub caveats: Vec<String>,
    /// Flash counters of a simulated drive at the end of the run.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub accounting: Option<FlashCounters>,
}

impl Identity {
    /// The fact of a drive that rotates, where the system knows.
    pub const ROTATES: (&'static str, &'static str) = ("rotating", "yes");

    /// The fact of a target in memory, on no drive.
    pub const IN_MEMORY: (&'static str, &'static str) = ("medium", "memory");

    /// The fact of files that are written in place although their file system usually writes elsewhere (copy on write).
    pub const IN_PLACE: (&'static str, &'static str) = ("written", "in place");

    /// Whether its facts include this name with this value.
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

/// Storage that is read and written in whole blocks, with a volatile cache that can be flushed.
#[auto_impl(&mut)]
pub trait BlockStore {
    /// Its size in bytes, a multiple of [`BlockStore::block`].
    fn bytes(&self) -> u64;

    /// The block size in bytes, a power of two and at least 512. Offsets and lengths are multiples of it.
    fn block(&self) -> u32;

    /// Fills `into` with the bytes from `offset` on. A buffer aligned to 4096 bytes may save a copy.
    ///
    /// # Errors
    /// The system's error; the contents of `into` are then undefined.
    fn read_at(&mut self, offset: u64, into: &mut [u8]) -> io::Result<()>;

    /// Writes all of `bytes` at `offset`. They are durable after the next successful [`BlockStore::flush`].
    ///
    /// # Errors
    /// The system's error; any of the blocks may then have been written. With [`io::ErrorKind::ResourceBusy`]
    /// nothing was written: another program is about to use the store, so leave it alone.
    fn write_at(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()>;

    /// Returns once everything written would survive a loss of power.
    ///
    /// # Errors
    /// The system's error; nothing written since the last flush may then be relied upon.
    fn flush(&mut self) -> io::Result<()>;

    /// Who may use the store. Callers ask before each read of a few hundred milliseconds, and before each write.
    fn lease_state(&mut self) -> LeaseState {
        LeaseState::Active
    }

    /// Makes other data of the store durable, such as the times of a file. This is the last step before its
    /// journal is removed.
    ///
    /// # Errors
    /// As for [`BlockStore::flush`].
    fn finish(&mut self) -> io::Result<()> {
        self.flush()
    }
}

/// Who may use a store now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LeaseState {
    /// Only the holder, and no other program waits for the store.
    Active,
    /// Only the holder, but another program waits for the store: start nothing new, and give the store back
    /// once nothing is in flight.
    BreakRequested,
    /// Other programs may already have written to the store: write nothing more to it.
    Lost,
}
